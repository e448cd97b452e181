#include "sunder/base/error.h"
#include "sunder/record/losses.h"
#include "sunder/record/repair.h"
#include "sunder/record/tables.h"

#include "record/rehash.h"
#include "record/run_faults.h"
#include "temporary_folder.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace sunder::record {
namespace {

// Every number differs from that of the others and from the defaults.
std::vector<material::Material> sampleMaterials() {
  std::vector<material::Material> table(3);
  for (size_t m = 0; m < table.size(); ++m) {
    table[m].name = m == 1 ? "green glass" : m == 2 ? "" : "Stück";
    for (size_t p = 0; p < material::properties().size(); ++p) {
      const material::Property& property = material::properties()[p];
      const double part = double(m * 20 + p + 1) / 101;
      table[m].*property.value = property.least + part * (std::min(property.most, 3e11) - property.least);
    }
    table[m].colour = Vec3(0.1, 0.2, 0.1 + 0.2 * double(m));
  }
  table[0].inside = "green glass";
  return table;
}

class MaterialTable : public testing::Test {
 protected:
  MaterialTable() {
    RunWriter writer(path_, sampleInfo());
    for (const material::Material& m : sampleMaterials()) writer.addMaterial(m);
    writeBirths(writer, 0, kBirthFrames);
    finishBirths(writer);
  }
  void change(const std::function<void(ChunkHead&, std::string&)>& change) {
    writeBytes(bad_, rehashed(RunReader(path_), change));
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "run.sunder", bad_ = folder_ / "bad.sunder";
};

TEST_F(MaterialTable, ComesBackBitForBit) {
  const RunReader run(path_);
  EXPECT_EQ(run.materials(), sampleMaterials());
  EXPECT_FALSE(findLosses(run).any());
  EXPECT_EQ(run.version(), 2u);
}

TEST_F(MaterialTable, RecordingsWithoutOneHaveNone) {
  writeSample(bad_, 3, 2);
  const RunReader run(bad_);
  EXPECT_TRUE(run.materials().empty());
  EXPECT_FALSE(findLosses(run).any());
}

TEST_F(MaterialTable, ALostRowIsNamedAndTheOthersStay) {
  const RunReader whole(path_);
  const std::string bytes = fileBytes(path_);
  size_t row = 0;
  for (const Chunk& chunk : whole.chunks()) {
    if (chunk.head.type != ChunkType::Material) continue;
    for (const size_t at : {size_t(12), kChunkHeadSize + 4}) {
      std::string broken = bytes.substr(0, bytes.size() - 1);  // without the index
      broken[chunk.offset + at] = static_cast<char>(broken[chunk.offset + at] ^ 1);
      writeBytes(bad_, broken);
      const RunReader run(bad_);
      const Losses losses = findLosses(run);
      EXPECT_TRUE(losses.any());
      for (size_t m = 0; m < run.materials().size(); ++m) {
        EXPECT_EQ(run.materialLost(m), m == row) << m;
        if (m != row) {
          EXPECT_EQ(run.materials()[m], sampleMaterials()[m]);
        }
      }
      // Also where a head is gone at the end of the table: commits say how many rows there were.
      EXPECT_EQ(losses.materials.size(), 1u);
      EXPECT_EQ(losses.names()[0], "material " + std::to_string(row));
      EXPECT_TRUE(losses.frames.empty() && losses.bodies.empty() && losses.meshes.empty());
      const Repaired repaired = repairRun(bad_, folder_ / "new.sunder");
      EXPECT_EQ(RunReader(repaired.output).materials().size(), sampleMaterials().size() - 1);
      std::filesystem::remove(folder_ / "new.sunder");
    }
    ++row;
  }
  EXPECT_EQ(row, 3u);
}

// Hashes are right from here on.

TEST_F(MaterialTable, RowsThatAreNoneAreRefusedByName) {
  const std::string good = encode(sampleMaterials()[0], 0);
  const auto reads = [](const std::string& payload) {
    try {
      decodeMaterial(payload, "x");
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Format);
      return false;
    }
  };
  EXPECT_TRUE(reads(good));
  for (size_t length = 0; length < good.size(); ++length) EXPECT_FALSE(reads(good.substr(0, length)));
  // A number of values, or a length of a name, that the bytes do not have.
  std::string many = good;
  const size_t count = 4 + 4 + sampleMaterials()[0].name.size() + 4 + sampleMaterials()[0].inside.size();
  ByteWriter(many).overwrite<uint32_t>(count, 0xffffffff);
  EXPECT_FALSE(reads(many));
  std::string longName = good;
  ByteWriter(longName).overwrite<uint32_t>(4, 0x7fffffff);
  EXPECT_FALSE(reads(longName));
  for (const material::Property& property : material::properties())
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -3.0}) {
      material::Material m = sampleMaterials()[0];
      m.*property.value = bad;
      EXPECT_FALSE(reads(encode(m, 0))) << property.name << " " << bad;
    }
  material::Material m = sampleMaterials()[0];
  m.colour.y() = 2;
  EXPECT_FALSE(reads(encode(m, 0)));
}

TEST_F(MaterialTable, ValuesOfOtherProgramsAreLeftOutOrKeepTheirDefaults) {
  std::string payload;
  ByteWriter writer(payload);
  const auto text = [&](std::string_view t) {
    writer.u32(uint32_t(t.size()));
    writer.string(t);
  };
  writer.u32(0);
  text("strange");
  text("");
  writer.u32(2);
  text("conductivity");
  writer.f64(-400);
  text("young");
  writer.f64(3e9);
  material::Material wanted;
  wanted.name = "strange";
  wanted.young = 3e9;
  EXPECT_EQ(decodeMaterial(payload, "x"), wanted);
}

TEST_F(MaterialTable, NumbersBeyondTheFileAndDoublesAreLeftOut) {
  for (const uint32_t number : {0u, 1u, 1000000u, 0xffffffffu}) {
    change([&](ChunkHead& head, std::string& payload) {
      if (head.type == ChunkType::Material && decodeIndex(payload, "x") == 2)
        ByteWriter(payload).overwrite<uint32_t>(0, number);
    });
    const RunReader run(bad_);
    EXPECT_EQ(run.materials().size(), 2u);
    EXPECT_EQ(run.materials()[0], sampleMaterials()[0]);
    EXPECT_EQ(run.materials()[1], sampleMaterials()[1]);
    EXPECT_FALSE(run.problems().empty());
  }
}

TEST_F(MaterialTable, RandomBytesNeverCrash) {
  RandomStream random(3, 0);
  for (int round = 0; round < 200; ++round) {
    change([&](ChunkHead& head, std::string& payload) {
      if (head.type != ChunkType::Material || payload.empty()) return;
      for (int k = 0; k < 3; ++k) {
        const uint32_t at = random.below(uint32_t(payload.size()));
        payload[at] = static_cast<char>(random.below(256));
      }
    });
    const RunReader run(bad_);
    EXPECT_LE(run.materials().size(), 3u + run.fileSize() / kChunkHeadSize);
    findLosses(run);
  }
}

TEST_F(MaterialTable, SurvivesResumeAndRepair) {
  {
    RunWriter writer(folder_ / "cut.sunder", sampleInfo());
    for (const material::Material& m : sampleMaterials()) writer.addMaterial(m);
    writeBirths(writer, 0, 7);
  }
  {
    const RunReader run(folder_ / "cut.sunder");
    RunWriter writer(run, run.resumePoint().value());
    EXPECT_EQ(writer.materialCount(), 3u);
    writeBirths(writer, 5, kBirthFrames);
    finishBirths(writer);
  }
  EXPECT_EQ(RunReader(folder_ / "cut.sunder").materials(), sampleMaterials());
  repairRun(path_, folder_ / "again.sunder");
  EXPECT_EQ(RunReader(folder_ / "again.sunder").materials(), sampleMaterials());
}

}  // namespace
}  // namespace sunder::record
