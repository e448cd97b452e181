#include "sunder/world/scene/field_tree.h"

#include "sunder/sdf/field_combine.h"

#include <array>

#include <nlohmann/json.hpp>

namespace sunder::world {

namespace {

using Json = nlohmann::json;

constexpr double kOctaveLeaves = 35;  // formulas that an octave of noise costs as much as

double octavesOf(const Json& noise) {
  const auto given = noise.is_object() ? noise.find("octaves") : noise.end();
  return given != noise.end() && given->is_number() ? given->get<double>() : sdf::NoiseSettings{}.octaves;
}

double leavesOf(const Json& json) {
  double leaves = 0;
  bool any = false;
  if (json.is_structured())
    for (const auto& [key, value] : json.items()) {
      if (!value.is_structured()) continue;
      if (value.is_array() && (value.empty() || !value.front().is_object())) continue;
      leaves += leavesOf(value);
      if (json.is_object() && key == "noise") leaves += kOctaveLeaves * octavesOf(value);
      any = true;
    }
  return any ? leaves : 1;
}

constexpr std::array<std::string_view, 15> kKinds{
    "sphere",       "box",        "cylinder",    "capsule", "torus", "ellipsoid", "plane", "union",
    "intersection", "difference", "smoothUnion", "offset",  "shell", "transform", "noise"};

std::vector<sdf::FieldPtr> parts(const SceneNode& list) {
  std::vector<sdf::FieldPtr> out;
  for (size_t i = 0; i < list.size(); ++i) out.push_back(makeField(list[i]));
  return out;
}

sdf::FieldPtr leaf(const std::string& kind, const SceneNode& node) {
  const Vec3 centre = node.has("centre") ? node["centre"].vector(kLength) : Vec3(Vec3::Zero());
  if (kind == "sphere") return sdf::makeSphereField(centre, node["radius"].positive(kLength));
  if (kind == "box") {
    const Vec3 half = node["size"].vector(kLength) / 2;
    const Box3 box{centre - half, centre + half};
    const double round = node.notNegative("round", kLength, 0);
    return round > 0 ? sdf::makeRoundedBoxField(box, round) : sdf::makeBoxField(box);
  }
  if (kind == "cylinder")
    return sdf::makeCylinderField(node["from"].vector(kLength), node["to"].vector(kLength),
                                  node["radius"].positive(kLength));
  if (kind == "capsule")
    return sdf::makeCapsuleField(node["from"].vector(kLength), node["to"].vector(kLength),
                                 node["radius"].positive(kLength));
  if (kind == "torus")
    return sdf::makeTorusField(centre, node.has("axis") ? node["axis"].direction() : Vec3(Vec3::UnitY()),
                               node["ring"].positive(kLength), node["tube"].positive(kLength));
  if (kind == "ellipsoid") return sdf::makeEllipsoidField(centre, node["radii"].vector(kLength));
  return sdf::makePlaneField(node["normal"].direction(), node.quantity("offset", kLength, 0));
}

sdf::FieldPtr combined(const std::string& kind, const SceneNode& node) {
  if (kind == "union") return sdf::makeUnion(parts(node));
  if (kind == "intersection") return sdf::makeIntersection(parts(node));
  if (kind == "difference") {
    const auto all = parts(node);
    sdf::FieldPtr taken = all[1];
    if (all.size() > 2) taken = sdf::makeUnion({all.begin() + 1, all.end()});
    return sdf::makeDifference(all[0], taken);
  }
  if (kind == "smoothUnion") {
    const auto all = parts(node["parts"]);
    const double width = node["width"].positive(kLength);
    sdf::FieldPtr field = all[0];
    for (size_t i = 1; i < all.size(); ++i) field = sdf::makeSmoothUnion(field, all[i], width);
    return field;
  }
  const sdf::FieldPtr part = makeField(node["of"]);
  if (kind == "offset") return sdf::makeOffset(part, node["distance"].quantity(kLength));
  if (kind == "shell") return sdf::makeShell(part, node["thickness"].positive(kLength));
  if (kind == "transform")
    return sdf::makeTransformed(part, node.rotation("rotation"),
                                node.vector("position", kLength, Vec3::Zero()),
                                node.positive("scale", kPlain, 1));
  sdf::NoiseSettings noise;
  noise.amplitude = node.positive("amplitude", kLength, noise.amplitude);
  noise.wavelength = node.positive("wavelength", kLength, noise.wavelength);
  noise.octaves = static_cast<int>(node.whole("octaves", static_cast<uint64_t>(noise.octaves)));
  noise.seed = node.whole("seed", noise.seed);
  return sdf::makeDisplaced(part, noise);
}

}  // namespace

double fieldLeaves(const SceneNode& node) { return leavesOf(node.json()); }

sdf::FieldPtr makeField(const SceneNode& node) {
  const std::string kind = node.oneOf(kKinds);
  const SceneNode part = node[kind.c_str()];
  try {
    for (size_t i = 0; i < 7; ++i)
      if (kKinds[i] == kind) return leaf(kind, part);
    return combined(kind, part);
  } catch (const Error& error) {
    if (!error.file().empty()) throw;
    part.rethrow(error);
  }
}

}  // namespace sunder::world
