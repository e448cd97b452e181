#include "sunder/world/scene/import_splish.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/json_parse.h"
#include "sunder/base/json_places.h"
#include "sunder/base/math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace sunder::world {

namespace {

// Numbers beyond it cannot be what a scene means, and their squares would not be finite.
constexpr double kLargestNumber = 1e30;

// A block of the file, with its place for messages.
struct Block {
  const Json* json;
  std::string pointer;
  bool has(const char* key) const { return json->contains(key); }
  const Json& operator[](const char* key) const { return json->at(key); }
};

class Importer {
 public:
  Importer(const std::filesystem::path& file, std::filesystem::path folder)
      : file_(file), folder_(std::move(folder)) {}

  ImportedScene run() {
    text_ = readTextFile(file_);
    in_ = parseJson(text_, file_.string());
    if (!in_.isObject() || !in_.contains("Configuration"))
      throw Error(ErrorKind::Format, "has no \"Configuration\"")
          .inFile(file_.string())
          .hint("scenes of SPlisHSPlasH begin with one; scenes of ours run as they are");
    const Block top{&in_, ""};
    if (!in_["Configuration"].isObject()) fail(top, "Configuration", "is not an object");
    const Block config{&in_["Configuration"], "/Configuration"};
    if (flag(config, "sim2D"))
      throw Error(ErrorKind::Unsupported, "is a scene of two dimensions").inFile(file_.string());
    radius_ = number(config, "particleRadius", 0.025);
    if (!(radius_ > 0)) fail(config, "particleRadius", "must be more than 0");
    world(config);
    bodies();
    liquids(config);
    for (const auto& [key, value] : in_.members())
      if (std::set<std::string>{"Configuration", "Materials", "FluidBlocks", "RigidBodies", "Emitters",
                                "Simulation"}
                  .count(key) == 0 &&
          liquid_.count(key) == 0)
        note(fmt::format("\"{}\" was left out", key));
    // The title is the name of the file, which need not be UTF-8.
    return {out_.text({.indent = 2, .asCame = true}) + "\n", notes_};
  }

 private:
  void note(std::string text) {
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
  }

  [[noreturn]] void fail(const Block& block, const std::string& key, const std::string& what) const {
    throw Error(ErrorKind::Format, fmt::format("\"{}\" {}", key, what))
        .inFile(file_.string())
        .atLine(lineOfPointer(text_, block.pointer + "/" + key));
  }

  static bool isNumber(const Json& value) {
    return value.isNumber() && std::abs(value.number()) <= kLargestNumber;
  }

  double number(const Block& from, const char* key, double otherwise) const {
    if (!from.has(key)) return otherwise;
    if (!from[key].isNumber()) fail(from, key, "is not a number");
    if (!isNumber(from[key])) fail(from, key, fmt::format("is larger than {:g}", kLargestNumber));
    return from[key].number();
  }

  int method(const Block& from, const char* key, int otherwise) const {
    const double value = number(from, key, otherwise);
    if (value != std::floor(value) || std::abs(value) > 1000)
      fail(from, key, "is not the number of a method");
    return int(value);
  }

  bool flag(const Block& from, const char* key) const {
    if (!from.has(key)) return false;
    if (!from[key].isBoolean()) fail(from, key, "is neither true nor false");
    return from[key].boolean();
  }

  std::string text(const Block& from, const char* key) const {
    if (!from.has(key)) return "";
    if (!from[key].isString()) fail(from, key, "is not a text");
    return from[key].string();
  }

  // Colours may have a fourth number, which is left out.
  Vec3 vector(const Block& from, const char* key, const Vec3& otherwise, size_t most = 3) const {
    if (!from.has(key)) return otherwise;
    const Json& list = from[key];
    if (!list.isArray() || list.size() < 3 || list.size() > most ||
        !std::all_of(list.begin(), list.end(), isNumber))
      fail(from, key, "is not a list of three numbers");
    return {list[0].number(), list[1].number(), list[2].number()};
  }

  static Json list(const Vec3& v) { return Json::array({v.x(), v.y(), v.z()}); }

  std::vector<Block> entries(const char* key) const {
    std::vector<Block> blocks;
    if (!in_.contains(key)) return blocks;
    const Block top{&in_, ""};
    if (!in_[key].isArray()) fail(top, key, "is not a list");
    for (size_t i = 0; i < in_[key].size(); ++i) {
      const std::string place = fmt::format("{}/{}", key, i);
      if (!in_[key][i].isObject()) fail(top, place, "is not an object");
      blocks.push_back({&in_[key][i], "/" + place});
    }
    return blocks;
  }

  void world(const Block& config) {
    const double end = number(config, "stopAt", -1);
    if (!(end > 0)) note("the scene has no end (\"stopAt\"); it will run for 5 s");
    out_["title"] = file_.stem().string();
    out_["world"] = {{"duration", end > 0 ? end : 5.0}, {"timeStep", "1/240 s"}};
    if (config.has("gravitation"))
      out_["world"]["gravity"] = list(vector(config, "gravitation", Vec3::Zero()));
    Json& fluid = out_["fluid"];
    fluid["radius"] = radius_;
    fluid["longestStep"] = number(config, "cflMethod", 1) == 0 ? number(config, "timeStepSize", 0.001)
                                                               : number(config, "cflMaxTimeStepSize", 0.005);
    fluid["courant"] = 0.4 * number(config, "cflFactor", 0.5);
    fluid["densityTolerance"] = 0.01 * number(config, "maxError", 0.01);
    fluid["divergenceTolerance"] = 0.01 * number(config, "maxErrorV", 0.1);
    const int boundary = method(config, "boundaryHandlingMethod", 2);
    if (boundary == 0) fluid["boundaries"] = "particles";
    if (boundary == 2) note("volume maps became density maps");
    constexpr std::array<const char*, 5> kSolvers{"", "predictive-corrective", "position-based", "implicit",
                                                  "divergence-free"};
    const int solver = method(config, "simulationMethod", 4);
    if (solver >= 1 && solver <= 4)
      fluid["solver"] = kSolvers[size_t(solver)];
    else
      note(fmt::format("pressure solver {} is not ours; the divergence-free one takes its place", solver));
  }

  void bodies() {
    size_t count = 0;
    for (const Block& from : entries("RigidBodies")) {
      const std::string mesh = text(from, "geometryFile");
      const std::string name = std::filesystem::path(mesh).stem().string();
      const Vec3 scale = vector(from, "scale", Vec3::Ones()), at = vector(from, "translation", Vec3::Zero());
      const double angle = number(from, "rotationAngle", 0);
      const bool box = name == "UnitBox", inverted = flag(from, "mapInvert");
      if (box && (inverted || flag(from, "isWall"))) {
        if (angle != 0)
          note("a tank that is turned was left out");
        else if (out_["fluid"].contains("tank"))
          note("a second tank was left out");
        else
          out_["fluid"]["tank"] = {{"lower", list(at - 0.5 * scale)}, {"upper", list(at + 0.5 * scale)}};
        continue;
      }
      if (inverted) {
        note(fmt::format("{}: a hollow other than a box was left out", name));
        continue;
      }
      const bool even = (scale.array() == scale.x()).all();
      Json shape = Json::object();
      if (box) {
        shape = {{"box", {{"size", list(scale)}}}};
      } else if (name == "sphere" && even) {
        shape = {{"sphere", {{"radius", scale.x()}}}};
      } else if (even) {
        shape = {{"file", meshPath(from, mesh)}, {"scale", scale.x()}};
      } else {
        note(fmt::format("{}: a mesh stretched by different factors was left out", name));
        continue;
      }
      Json body{{"id", fmt::format("{}-{}", name.empty() ? "body" : name, ++count)},
                {"shape", shape},
                {"position", list(at)}};
      if (angle != 0)
        body["rotation"] = {{"axis", list(vector(from, "rotationAxis", Vec3::UnitX()))}, {"angle", angle}};
      if (flag(from, "isAnimated")) note("motion of animated bodies was left out");
      if (flag(from, "isDynamic")) {
        if (from.has("velocity")) body["velocity"] = list(vector(from, "velocity", Vec3::Zero()));
      } else {
        body["kind"] = "static";
      }
      const std::string material = fmt::format("solid-{}", count);
      Json& look = out_["materials"][material];
      look["density"] = number(from, "density", 1000);
      look["friction"] = number(from, "friction", 0.2);
      look["restitution"] = number(from, "restitution", 0.6);
      if (from.has("color")) look["colour"] = list(vector(from, "color", Vec3::Ones(), 4));
      body["material"] = material;
      out_["bodies"].push_back(body);
    }
    for (const Block& from : entries("RigidBodies"))
      if (number(from, "mapThickness", 0) != 0) note("thickness of maps was left out");
  }

  // Relative to the folder of the scene that is made, where that can be told.
  std::string meshPath(const Block& from, const std::string& mesh) {
    if (mesh.empty()) fail(from, "geometryFile", "is empty");
    namespace fs = std::filesystem;
    std::error_code code;
    const fs::path here = fs::absolute(file_, code), there = fs::absolute(folder_, code);
    if (code) return mesh;
    const fs::path path = here.parent_path() / mesh;
    if (!fs::exists(path, code)) note(fmt::format("there is no {}", path.generic_string()));
    const fs::path relative = fs::relative(path, there, code);
    return code || relative.empty() ? path.generic_string() : relative.generic_string();
  }

  Json& liquid(const Block& from, const Block& config) {
    const std::string id = from.has("id") ? text(from, "id") : "Fluid";
    if (const auto known = liquid_.find(id); known != liquid_.end())
      return out_["fluid"]["liquids"][known->second];
    Block settings = config;
    if (in_.contains(id) && in_[id].isObject()) settings = {&in_[id], "/" + id};
    for (const Block& m : entries("Materials"))
      if (text(m, "id") == id) settings = m;
    Json& all = out_["fluid"]["liquids"];
    liquid_[id] = all.size();
    const std::string material = "liquid-" + id;
    out_["materials"][material] = {{"like", "water"}, {"density", number(settings, "density0", 1000)}};
    Json made{{"id", id}, {"material", material}};
    const double viscosity = number(settings, "viscosity", 0.01);
    const int viscous = method(settings, "viscosityMethod", 1);
    if (viscous == 2)
      made["smoothing"] = std::min(viscosity, 1.0);
    else if (viscous != 0)
      made["viscosity"] = viscosity;
    if (viscous > 2) note("viscosity is that of our own implicit solver");
    if (number(settings, "surfaceTensionMethod", 0) == 2)
      made["tension"] = number(settings, "surfaceTension", 0.05);
    else if (number(settings, "surfaceTensionMethod", 0) != 0)
      note("surface tension other than that of Akinci et al. was left out");
    for (const char* key : {"vorticityMethod", "dragMethod", "elasticityMethod"})
      if (number(settings, key, 0) != 0) note(fmt::format("\"{}\" was left out", key));
    all.push_back(made);
    return all.back();
  }

  void liquids(const Block& config) {
    out_["fluid"]["liquids"] = Json::array();
    for (const Block& block : entries("FluidBlocks")) {
      const Vec3 scale = vector(block, "scale", Vec3::Ones()),
                 move = vector(block, "translation", Vec3::Zero());
      Json made{{"lower", list(vector(block, "start", Vec3::Zero()).cwiseProduct(scale) + move)},
                {"upper", list(vector(block, "end", Vec3::Ones()).cwiseProduct(scale) + move)}};
      if (block.has("initialVelocity"))
        made["velocity"] = list(vector(block, "initialVelocity", Vec3::Zero()));
      if (number(block, "denseMode", 0) != 0) note("dense samplings became plain ones");
      liquid(block, config)["blocks"].push_back(made);
    }
    for (const Block& from : entries("Emitters")) {
      const double diameter = 2 * radius_, width = number(from, "width", 5),
                   height = number(from, "height", 5);
      const Vec3 axis = vector(from, "rotationAxis", Vec3::UnitZ());
      // Along x, as high as y and as wide as z, then turned.
      Vec3 direction = Vec3::UnitX(), up = Vec3::UnitY();
      if (axis.norm() > 0) {
        const Eigen::AngleAxisd turn(number(from, "rotationAngle", 0), axis.normalized());
        direction = turn * direction;
        up = turn * up;
      }
      direction = vector(from, "direction", direction);
      double speed = 1;
      if (from.has("velocity"))
        speed = from["velocity"].isArray() ? vector(from, "velocity", Vec3::Zero()).norm()
                                           : number(from, "velocity", 1);
      Json made{{"position", list(vector(from, "translation", Vec3::Zero()))},
                {"direction", list(direction)}};
      if (number(from, "type", 0) == 1) {
        made["radius"] = 0.5 * width * diameter;
      } else {
        made["size"] = {width * diameter, height * diameter};
        if (up.cross(direction).norm() > 1e-6) made["up"] = list(up);
      }
      made["speed"] = speed;
      if (from.has("emitStartTime")) made["from"] = number(from, "emitStartTime", 0);
      if (number(from, "emitEndTime", 1e9) < 1e8) made["until"] = number(from, "emitEndTime", 0);
      liquid(from, config)["emitters"].push_back(made);
    }
    if (out_["fluid"]["liquids"].empty())
      throw Error(ErrorKind::Unsupported, "has neither \"FluidBlocks\" nor \"Emitters\"")
          .inFile(file_.string())
          .hint("particle files (\"FluidModels\") are not read");
  }

  std::filesystem::path file_, folder_;
  std::string text_;
  Json in_;
  Json out_ = Json::object();
  double radius_ = 0;
  std::map<std::string, size_t> liquid_;  // place of each among the liquids
  std::vector<std::string> notes_;
};

}  // namespace

ImportedScene importSplish(const std::filesystem::path& file, const std::filesystem::path& folder) {
  return Importer(file, folder).run();
}

}  // namespace sunder::world
