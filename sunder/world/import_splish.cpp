#include "sunder/world/import_splish.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sunder::world {

namespace {

using OrderedJson = nlohmann::ordered_json;

class Importer {
 public:
  Importer(const std::filesystem::path& file, std::filesystem::path folder)
      : file_(file), folder_(std::move(folder)) {}

  ImportedScene run() {
    try {
      in_ = OrderedJson::parse(readTextFile(file_), nullptr, true, true);
    } catch (const OrderedJson::parse_error& error) {
      throw Error(ErrorKind::Format, fmt::format("no JSON at byte {}", error.byte)).inFile(file_.string());
    }
    if (!in_.is_object() || !in_.contains("Configuration"))
      throw Error(ErrorKind::Format, "has no \"Configuration\"")
          .inFile(file_.string())
          .hint("scenes of SPlisHSPlasH begin with one; scenes of ours run as they are");
    config_ = in_["Configuration"];
    if (config_.value("sim2D", false))
      throw Error(ErrorKind::Unsupported, "is a scene of two dimensions").inFile(file_.string());
    radius_ = number(config_, "particleRadius", 0.025);
    world();
    bodies();
    liquids();
    for (const auto& [key, value] : in_.items())
      if (std::set<std::string>{"Configuration", "Materials", "FluidBlocks", "RigidBodies", "Emitters",
                                "Simulation"}
                  .count(key) == 0 &&
          liquid_.count(key) == 0)
        note(fmt::format("\"{}\" was left out", key));
    return {out_.dump(2) + "\n", notes_};
  }

 private:
  void note(std::string text) {
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
  }

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw Error(ErrorKind::Format, fmt::format("\"{}\" {}", key, what)).inFile(file_.string());
  }

  double number(const OrderedJson& from, const char* key, double otherwise) const {
    if (!from.contains(key)) return otherwise;
    if (!from[key].is_number()) fail(key, "is not a number");
    return from[key].get<double>();
  }

  Vec3 vector(const OrderedJson& from, const char* key, const Vec3& otherwise) const {
    if (!from.contains(key)) return otherwise;
    const OrderedJson& list = from[key];
    if (!list.is_array() || list.size() != 3 ||
        !std::all_of(list.begin(), list.end(), [](const OrderedJson& x) { return x.is_number(); }))
      fail(key, "is not a list of three numbers");
    return {list[0].get<double>(), list[1].get<double>(), list[2].get<double>()};
  }

  static OrderedJson list(const Vec3& v) { return OrderedJson::array({v.x(), v.y(), v.z()}); }

  std::vector<OrderedJson> entries(const char* key) const {
    if (!in_.contains(key)) return {};
    if (!in_[key].is_array()) fail(key, "is not a list");
    return {in_[key].begin(), in_[key].end()};
  }

  void world() {
    const double end = number(config_, "stopAt", -1);
    if (!(end > 0)) note("the scene has no end (\"stopAt\"); it will run for 5 s");
    out_["title"] = file_.stem().string();
    out_["world"] = {{"duration", end > 0 ? end : 5.0}, {"timeStep", "1/240 s"}};
    if (config_.contains("gravitation"))
      out_["world"]["gravity"] = list(vector(config_, "gravitation", Vec3::Zero()));
    OrderedJson& fluid = out_["fluid"];
    fluid["radius"] = radius_;
    fluid["longestStep"] = number(config_, "cflMethod", 1) == 0
                               ? number(config_, "timeStepSize", 0.001)
                               : number(config_, "cflMaxTimeStepSize", 0.005);
    fluid["courant"] = 0.4 * number(config_, "cflFactor", 0.5);
    fluid["densityTolerance"] = 0.01 * number(config_, "maxError", 0.01);
    fluid["divergenceTolerance"] = 0.01 * number(config_, "maxErrorV", 0.1);
    const int boundary = int(number(config_, "boundaryHandlingMethod", 2));
    if (boundary == 0) fluid["boundaries"] = "particles";
    if (boundary == 2) note("volume maps became density maps");
    constexpr std::array<const char*, 5> kSolvers{"", "predictive-corrective", "position-based", "implicit",
                                                  "divergence-free"};
    const int solver = int(number(config_, "simulationMethod", 4));
    if (solver >= 1 && solver <= 4)
      fluid["solver"] = kSolvers[size_t(solver)];
    else
      note(fmt::format("pressure solver {} is not ours; the divergence-free one takes its place", solver));
  }

  void bodies() {
    size_t count = 0;
    for (const OrderedJson& from : entries("RigidBodies")) {
      const std::string mesh = from.value("geometryFile", "");
      const std::string name = std::filesystem::path(mesh).stem().string();
      const Vec3 scale = vector(from, "scale", Vec3::Ones()), at = vector(from, "translation", Vec3::Zero());
      const double angle = number(from, "rotationAngle", 0);
      const bool box = name == "UnitBox", inverted = from.value("mapInvert", false);
      if (box && (inverted || from.value("isWall", false))) {
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
      OrderedJson shape;
      if (box) {
        shape = {{"box", {{"size", list(scale)}}}};
      } else if (name == "sphere" && even) {
        shape = {{"sphere", {{"radius", scale.x()}}}};
      } else if (even) {
        const std::filesystem::path path = std::filesystem::absolute(file_).parent_path() / mesh;
        shape = {
            {"file", std::filesystem::relative(path, std::filesystem::absolute(folder_)).generic_string()},
            {"scale", scale.x()}};
        if (!std::filesystem::exists(path)) note(fmt::format("there is no {}", path.generic_string()));
      } else {
        note(fmt::format("{}: a mesh stretched by different factors was left out", name));
        continue;
      }
      OrderedJson body{{"id", fmt::format("{}-{}", name.empty() ? "body" : name, ++count)},
                       {"shape", shape},
                       {"position", list(at)}};
      if (angle != 0)
        body["rotation"] = {{"axis", list(vector(from, "rotationAxis", Vec3::UnitX()))}, {"angle", angle}};
      if (from.value("isAnimated", false)) note("motion of animated bodies was left out");
      if (from.value("isDynamic", false)) {
        if (from.contains("velocity")) body["velocity"] = list(vector(from, "velocity", Vec3::Zero()));
      } else {
        body["kind"] = "static";
      }
      const std::string material = fmt::format("solid-{}", count);
      OrderedJson& look = out_["materials"][material];
      look["density"] = number(from, "density", 1000);
      look["friction"] = number(from, "friction", 0.2);
      look["restitution"] = number(from, "restitution", 0.6);
      if (from.contains("color") && from["color"].is_array() && from["color"].size() >= 3)
        look["colour"] = OrderedJson::array({from["color"][0], from["color"][1], from["color"][2]});
      body["material"] = material;
      out_["bodies"].push_back(body);
    }
    for (const char* key : {"mapThickness"})
      for (const OrderedJson& from : entries("RigidBodies"))
        if (number(from, key, 0) != 0) note("thickness of maps was left out");
  }

  OrderedJson& liquid(const OrderedJson& from) {
    const std::string id =
        from.contains("id") && from["id"].is_string() ? from["id"].get<std::string>() : "Fluid";
    if (const auto known = liquid_.find(id); known != liquid_.end())
      return out_["fluid"]["liquids"][known->second];
    OrderedJson settings = in_.contains(id) && in_[id].is_object() ? in_[id] : config_;
    for (const OrderedJson& m : entries("Materials"))
      if (m.value("id", "") == id) settings = m;
    OrderedJson& all = out_["fluid"]["liquids"];
    liquid_[id] = all.size();
    const std::string material = "liquid-" + id;
    out_["materials"][material] = {{"like", "water"}, {"density", number(settings, "density0", 1000)}};
    OrderedJson made{{"id", id}, {"material", material}};
    const double viscosity = number(settings, "viscosity", 0.01);
    const int method = int(number(settings, "viscosityMethod", 1));
    if (method == 2)
      made["smoothing"] = std::min(viscosity, 1.0);
    else if (method != 0)
      made["viscosity"] = viscosity;
    if (method > 2) note("viscosity is that of our own implicit solver");
    if (number(settings, "surfaceTensionMethod", 0) == 2)
      made["tension"] = number(settings, "surfaceTension", 0.05);
    else if (number(settings, "surfaceTensionMethod", 0) != 0)
      note("surface tension other than that of Akinci et al. was left out");
    for (const char* key : {"vorticityMethod", "dragMethod", "elasticityMethod"})
      if (number(settings, key, 0) != 0) note(fmt::format("\"{}\" was left out", key));
    all.push_back(made);
    return all.back();
  }

  void liquids() {
    out_["fluid"]["liquids"] = OrderedJson::array();
    for (const OrderedJson& block : entries("FluidBlocks")) {
      const Vec3 scale = vector(block, "scale", Vec3::Ones()),
                 move = vector(block, "translation", Vec3::Zero());
      OrderedJson made{{"lower", list(vector(block, "start", Vec3::Zero()).cwiseProduct(scale) + move)},
                       {"upper", list(vector(block, "end", Vec3::Ones()).cwiseProduct(scale) + move)}};
      if (block.contains("initialVelocity"))
        made["velocity"] = list(vector(block, "initialVelocity", Vec3::Zero()));
      if (number(block, "denseMode", 0) != 0) note("dense samplings became plain ones");
      liquid(block)["blocks"].push_back(made);
    }
    for (const OrderedJson& from : entries("Emitters")) {
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
      if (from.contains("velocity"))
        speed = from["velocity"].is_array() ? vector(from, "velocity", Vec3::Zero()).norm()
                                            : number(from, "velocity", 1);
      OrderedJson made{{"position", list(vector(from, "translation", Vec3::Zero()))},
                       {"direction", list(direction)}};
      if (number(from, "type", 0) == 1) {
        made["radius"] = 0.5 * width * diameter;
      } else {
        made["size"] = {width * diameter, height * diameter};
        if (up.cross(direction).norm() > 1e-6) made["up"] = list(up);
      }
      made["speed"] = speed;
      if (from.contains("emitStartTime")) made["from"] = number(from, "emitStartTime", 0);
      if (number(from, "emitEndTime", 1e9) < 1e8) made["until"] = number(from, "emitEndTime", 0);
      liquid(from)["emitters"].push_back(made);
    }
    if (out_["fluid"]["liquids"].empty())
      throw Error(ErrorKind::Unsupported, "has neither \"FluidBlocks\" nor \"Emitters\"")
          .inFile(file_.string())
          .hint("particle files (\"FluidModels\") are not read");
  }

  std::filesystem::path file_, folder_;
  OrderedJson in_, config_, out_;
  double radius_ = 0;
  std::map<std::string, size_t> liquid_;  // place of each among the liquids
  std::vector<std::string> notes_;
};

}  // namespace

ImportedScene importSplish(const std::filesystem::path& file, const std::filesystem::path& folder) {
  return Importer(file, folder).run();
}

}  // namespace sunder::world
