#include "sunder/base/error.h"

#include "export_sample.h"

#include <map>
#include <set>

namespace sunder::show {
namespace {

// A small reader of what we write of USD's text: prims with their attributes as text. Refuses brackets that
// do not match, text after values and names twice in one prim.
class UsdaFile {
 public:
  struct Prim {
    std::string type, references;
    std::map<std::string, std::string>
        attributes;  // "float3 xformOp:translate.timeSamples" -> text of the value
  };
  std::map<std::string, Prim> prims;  // by path
  std::string head;

  explicit UsdaFile(const std::filesystem::path& path) : text_(fileText(path)) {
    EXPECT_TRUE(text_.starts_with("#usda 1.0\n"));
    at_ = 10;
    blanks();
    head = bracketed();
    while (blanks(), at_ < text_.size()) prim("");
  }

  // The samples of an attribute by time; a plain value is one at time 0.
  std::map<double, std::string> samples(const std::string& path, const std::string& attribute) const {
    const Prim& p = prims.at(path);
    if (const auto plain = p.attributes.find(attribute); plain != p.attributes.end())
      return {{0, plain->second}};
    const auto found = p.attributes.find(attribute + ".timeSamples");
    EXPECT_NE(found, p.attributes.end()) << path << " " << attribute;
    if (found == p.attributes.end()) return {};
    std::map<double, std::string> values;
    UsdaFile inner(found->second.substr(1, found->second.size() - 2), 0);
    while (inner.blanks(), inner.at_ < inner.text_.size()) {
      const size_t colon = inner.text_.find(':', inner.at_);
      const double time = std::stod(inner.text_.substr(inner.at_, colon));
      inner.at_ = colon + 1;
      inner.blanks();
      EXPECT_TRUE(values.empty() || values.rbegin()->first < time);
      values[time] = inner.value();
      EXPECT_EQ(inner.text_[inner.at_], ',');
      ++inner.at_;
    }
    return values;
  }
  static std::vector<float> numbers(const std::string& value) {
    std::vector<float> list;
    for (size_t i = 0; i < value.size();) {
      if (std::string("-0123456789").find(value[i]) == std::string::npos) {
        ++i;
        continue;
      }
      size_t used = 0;
      list.push_back(std::stof(value.substr(i, 40), &used));
      i += used;
    }
    return list;
  }

 private:
  UsdaFile(std::string text, size_t at) : text_(std::move(text)), at_(at) {}

  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::string word() {
    blanks();
    const size_t start = at_;
    while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string quotedText() {
    blanks();
    EXPECT_EQ(text_[at_], '"');
    const size_t start = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    return text_.substr(start, ++at_ - start);
  }
  std::string bracketed() {
    std::string open;
    const size_t start = at_;
    do {
      if (at_ >= text_.size()) throw std::runtime_error("a bracket is not closed");
      const char c = text_[at_];
      if (c == '"') {
        quotedText();
        continue;
      }
      if (c == '(' || c == '[' || c == '{') open += c;
      if (c == ')' || c == ']' || c == '}') {
        if (open.empty() || open.back() != (c == ')' ? '(' : c == ']' ? '[' : '{'))
          throw std::runtime_error("a bracket closes another kind");
        open.pop_back();
      }
      ++at_;
    } while (!open.empty());
    return text_.substr(start, at_ - start);
  }
  std::string value() {
    blanks();
    const char c = text_[at_];
    if (c == '"') return quotedText();
    if (c == '(' || c == '[' || c == '{') return bracketed();
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != ',') ++at_;
    return text_.substr(start, at_ - start);
  }
  void prim(const std::string& parent) {
    const std::string specifier = word();
    if (specifier != "def" && specifier != "class") throw std::runtime_error("no prim: " + specifier);
    const std::string type = word(), name = quotedText();
    const std::string path = parent + "/" + name.substr(1, name.size() - 2);
    for (const char c : path)
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/') << path;
    EXPECT_FALSE(prims.contains(path)) << path;
    Prim& made = prims[path];
    made.type = type;
    blanks();
    if (text_[at_] == '(') {
      const std::string meta = bracketed();
      const size_t reference = meta.find("references = <");
      if (reference != std::string::npos)
        made.references = meta.substr(reference + 14, meta.find('>', reference) - reference - 14);
      blanks();
    }
    if (text_[at_++] != '{') throw std::runtime_error("no body of " + path);
    while (blanks(), text_[at_] != '}') {
      if (text_.compare(at_, 4, "def ") == 0) {
        prim(path);
        continue;
      }
      const size_t end = text_.find_first_of("=\n", at_);
      std::string key = text_.substr(at_, end - at_);
      while (!key.empty() && key.back() == ' ') key.pop_back();
      at_ = end;
      std::string content;
      if (text_[end] == '=') {
        ++at_;
        content = value();
        blanks();
        if (text_[at_] == '(') bracketed();  // metadata of the attribute
      }
      EXPECT_TRUE(made.attributes.emplace(key, content).second) << path << " " << key;
    }
    ++at_;
  }

  std::string text_;
  size_t at_ = 0;
};

// What holds at a time: the last sample not after it, or the first.
const std::string& heldAt(const std::map<double, std::string>& samples, double time) {
  auto next = samples.upper_bound(time);
  return next == samples.begin() ? next->second : std::prev(next)->second;
}

TEST_F(ExportSample, UsdaPosesAndVisibilityAreThoseOfTheRun) {
  const UsdaFile usd(exportAs(ExportFormat::Usda, "sample.usda").openThis);
  EXPECT_NE(usd.head.find("defaultPrim = \"World\""), std::string::npos);
  EXPECT_NE(usd.head.find("timeCodesPerSecond = 60"), std::string::npos);
  EXPECT_NE(usd.head.find("endTimeCode = 11"), std::string::npos);
  const std::map<uint32_t, std::string> paths{{kGround, "ground"},
                                              {kBlock, "block_1"},
                                              {kVase, "vase___blue"},
                                              {kShard, "vase_shard"},
                                              {kTwin, "block_2"}};
  for (const auto& [b, name] : paths) {
    const std::string path = "/World/Bodies/" + name;
    ASSERT_TRUE(usd.prims.contains(path)) << path;
    const auto translate = usd.samples(path, "float3 xformOp:translate"),
               orient = usd.samples(path, "quatf xformOp:orient");
    const bool hides = b == kVase || b == kShard;
    EXPECT_EQ(usd.prims.at(path).attributes.contains("token visibility.timeSamples"), hides) << path;
    for (size_t f = 0; f < kSampleFrames; ++f) {
      record::Frame frame;
      run().readFrame(f, frame);
      const record::BodyState& state = frame.bodies[b];
      if (hides) {
        EXPECT_EQ(heldAt(usd.samples(path, "token visibility"), double(f)),
                  state.present ? "\"inherited\"" : "\"invisible\"");
      }
      if (!state.present) continue;
      // Frames without a sample lie between equal ones.
      const auto p = UsdaFile::numbers(heldAt(translate, double(f))),
                 q = UsdaFile::numbers(heldAt(orient, double(f)));
      ASSERT_EQ(p.size(), 3u);
      ASSERT_EQ(q.size(), 4u);
      EXPECT_EQ(Vec3f(p[0], p[1], p[2]), state.position) << path << " " << f;
      const record::Quatf turn(q[0], q[1], q[2], q[3]);
      EXPECT_LE(std::abs(std::abs(turn.dot(state.rotation)) - 1), 2e-7) << path << " " << f;
    }
  }
}

TEST_F(ExportSample, UsdaMeshesStandOnceAndLinksLeadSomewhere) {
  const UsdaFile usd(exportAs(ExportFormat::Usda, "sample.usda").openThis);
  size_t meshes = 0;
  std::set<std::string> prototypes;
  for (const auto& [path, prim] : usd.prims) {
    if (prim.type == "Mesh" && path.starts_with("/Prototypes/")) {
      ++meshes;
      const size_t points = UsdaFile::numbers(prim.attributes.at("point3f[] points")).size() / 3;
      for (const float i : UsdaFile::numbers(prim.attributes.at("int[] faceVertexIndices")))
        EXPECT_LT(i, points);
      EXPECT_EQ(UsdaFile::numbers(prim.attributes.at("normal3f[] normals")).size(),
                9 * UsdaFile::numbers(prim.attributes.at("int[] faceVertexCounts")).size());
    }
    if (!prim.references.empty()) {
      EXPECT_TRUE(usd.prims.contains(prim.references)) << path;
      prototypes.insert(prim.references);
      const std::string binding = prim.attributes.at("rel material:binding");
      EXPECT_TRUE(usd.prims.contains(binding.substr(1, binding.size() - 2))) << path << " " << binding;
    }
  }
  EXPECT_EQ(meshes, 2u);
  EXPECT_EQ(prototypes.size(), 2u);
  const auto& shard = usd.prims.at("/World/Bodies/vase_shard").attributes;
  EXPECT_EQ(shard.at("custom string sunder:parent"), "\"vase, \\\"blue\\\"\"");
  EXPECT_EQ(shard.at("custom int sunder:parentBody"), "2");
  EXPECT_EQ(shard.at("custom int sunder:body"), "3");
  const auto& glass = usd.prims.at("/World/Materials/green_glass/Surface").attributes;
  EXPECT_EQ(glass.at("uniform token info:id"), "\"UsdPreviewSurface\"");
  EXPECT_NEAR(UsdaFile::numbers(glass.at("float inputs:opacity"))[0], 0.2, 1e-6);
  EXPECT_NEAR(UsdaFile::numbers(glass.at("color3f inputs:diffuseColor"))[0], 0.5, 1e-6);
}

TEST(ExportUsda, VerticesAndTopologyThatChange) {
  TemporaryFolder folder;
  const UsdaFile usd(exportScene(deformingScene(), ExportFormat::Usda, folder / "sheet.usda").openThis);
  const std::string path = "/World/Bodies/sheet/Surface";
  const auto points = usd.samples(path, "point3f[] points"),
             corners = usd.samples(path, "int[] faceVertexIndices"),
             counts = usd.samples(path, "int[] faceVertexCounts");
  ASSERT_EQ(points.size(), 4u);
  for (const auto& [time, text] : points) EXPECT_EQ(UsdaFile::numbers(text)[1], 0.1f * float(time));
  ASSERT_EQ(corners.size(), 2u);  // changes once
  EXPECT_EQ(UsdaFile::numbers(heldAt(corners, 1)).size(), 6u);
  EXPECT_EQ(UsdaFile::numbers(heldAt(corners, 3)).size(), 3u);
  EXPECT_EQ(UsdaFile::numbers(heldAt(counts, 2)).size(), 1u);
  EXPECT_TRUE(usd.prims.at(path).references.empty());
  EXPECT_EQ(usd.prims.at("/World/Bodies/block/Surface").references, "/Prototypes/block");
}

}  // namespace
}  // namespace sunder::show
