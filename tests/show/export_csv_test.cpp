#include "sunder/show/export/export_tables.h"

#include "export_sample.h"

#include <map>

namespace sunder::show {
namespace {

// Rows of fields, with quotes undone.
std::vector<std::vector<std::string>> readCsv(const std::filesystem::path& path) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  const std::string text = fileText(path);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string& field = rows.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"')
      field += text[++i];
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == ',')
      rows.back().emplace_back();
    else if (!quoted && text[i] == '\n')
      rows.emplace_back(1);
    else
      field += text[i];
  }
  rows.pop_back();
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows.front().size()) << path;
  return rows;
}

TEST_F(ExportSample, CsvTablesHaveTheNumbersOfTheRun) {
  const ExportResult result = exportAs(ExportFormat::Csv, "csv");
  EXPECT_EQ(result.files, 3u);
  const auto statistics = readCsv(result.output / "statistics.csv");
  EXPECT_EQ(statistics[0], (std::vector<std::string>{"frame", "time", "energy", "contacts"}));
  ASSERT_EQ(statistics.size(), kSampleFrames + 1);
  EXPECT_EQ(statistics[8], (std::vector<std::string>{"7", "0.11666666666666667", "3", "1"}));
  const auto bodies = readCsv(result.output / "bodies.csv");
  ASSERT_EQ(bodies.size(), 4 * kSampleFrames + 1);
  EXPECT_EQ(bodies[0].back(), "impulse");
  record::Frame frame;
  size_t row = 1;
  for (size_t f = 0; f < kSampleFrames; ++f) {
    run().readFrame(f, frame);
    for (size_t b = 0; b < 5; ++b) {
      const record::BodyState& s = frame.bodies[b];
      if (!s.present) continue;
      const auto& fields = bodies[row++];
      EXPECT_EQ(fields[0], std::to_string(f));
      EXPECT_EQ(std::stod(fields[1]), frame.time);
      EXPECT_EQ(fields[2], std::to_string(b));
      EXPECT_EQ(fields[3], run().bodies()[b].name);
      for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(std::stof(fields[size_t(4 + k)]), s.position[k]);
        EXPECT_EQ(std::stof(fields[size_t(11 + k)]), s.velocity[k]);
        EXPECT_EQ(std::stof(fields[size_t(14 + k)]), s.angularVelocity[k]);
      }
      for (int k = 0; k < 4; ++k) EXPECT_EQ(std::stof(fields[size_t(7 + k)]), s.rotation.coeffs()[k]);
    }
  }
  const auto events = readCsv(result.output / "events.csv");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1][0], "5");
  EXPECT_EQ(events[1][2], "birth");
  EXPECT_EQ(events[1][3], "3");
  EXPECT_EQ(events[1][11], "0.5");
  EXPECT_EQ(events[1].back(), "broke, badly");
}

TEST(ExportTables, Names) {
  EXPECT_EQ(csvField("plain"), "plain");
  EXPECT_EQ(csvField("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(plainName("../etc/pile 1.json"), "_._etc_pile_1.json");
  EXPECT_EQ(oneLine("two\nlines\\"), "two_lines_");
}

}  // namespace
}  // namespace sunder::show
