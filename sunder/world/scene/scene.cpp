#include "sunder/world/scene/scene.h"

#include "sunder/base/json.h"
#include "sunder/base/text.h"
#include "sunder/world/scene/scene_materials.h"
#include "sunder/world/scene/scene_reader.h"
#include "sunder/world/scene/scene_text.h"
#include "sunder/world/scene/shape_reader.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr uint64_t kLeastSample = 64;  // bodies of an array

template <class Body>
uint32_t bodyIndexOf(const std::vector<Body>& bodies, std::string_view id) {
  std::vector<std::string_view> known;
  for (uint32_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].id == id) return i;
    if (known.size() < 500) known.push_back(bodies[i].id);
  }
  throw Error(ErrorKind::Usage, fmt::format("there is no body \"{}\"", id)).hint(suggestion(id, known));
}

}  // namespace

SceneReader::SceneReader(Scene& scene, uint64_t most)
    : scene_(scene), root_(scene.document, std::as_const(scene.document).json(), ""), mostBodies_(most) {}

void SceneReader::run() {
  scene_.title = root_.text("title", "");
  if (root_.has("world")) attempt("", [&] { readWorld(root_["world"]); });
  materialsRead_ = attempt("", [&] { readMaterials(root_, scene_.materials); });
  if (root_.has("recording")) attempt("", [&] { readRecording(root_["recording"]); });
  each("bodies", [&](const SceneNode& node, size_t) { readBody(node); });
  if (root_.has("arrays")) {
    const SceneNode arrays = root_["arrays"];
    double all = 0;
    for (size_t i = 0; i < arrays.size(); ++i) attempt("", [&] { all += arrayCount(arrays[i]); });
    if (mostBodies_ != UINT64_MAX && all > double(mostBodies_))
      mostOfArray_ = std::max<uint64_t>(kLeastSample, mostBodies_ / arrays.size());
  }
  each("arrays", [&](const SceneNode& node, size_t) { readArray(node); });
  holdSoftBodies();
  if (root_.has("fluid")) attempt("", [&] { readLiquids(root_["fluid"]); });
  readBlocks();
  each("joints", [&](const SceneNode& node, size_t i) { readJoint(node, i); });
  each("forces", [&](const SceneNode& node, size_t i) { readForce(node, i); });
  if (root_.has("shapes"))
    for (const std::string& name : root_["shapes"].keys())
      attempt("", [&] { requireShape(root_["shapes"][name.c_str()], name); });
  errors_.throwIfAny();
}

void SceneReader::readBlocks() {
  for (const BlockKind& kind : registeredBlocks()) {
    if (!root_.has(kind.key.c_str())) continue;
    const SceneNode node = root_[kind.key.c_str()];
    attempt("", [&] {
      PartBlock block{kind.key, node.pointer(), node.json().text(), kind.parse(node)};
      if (kind.estimate) block.bytes = kind.estimate(*block.values);
      scene_.parts.push_back(std::move(block));
    });
  }
}

bool fitsPattern(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool mayFitPiece(std::string_view pattern, std::string_view id) {
  const std::string prefix = std::string(id) + ".";
  const size_t star = pattern.find('*');
  // Text before the first star must agree; what comes after the prefix is a number.
  const std::string_view fixed = pattern.substr(0, star);
  const size_t common = std::min(fixed.size(), prefix.size());
  if (fixed.substr(0, common) != std::string_view(prefix).substr(0, common)) return false;
  if (star != std::string_view::npos) return true;
  const std::string_view number = pattern.substr(common);
  return pattern.size() > prefix.size() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

rigid::BodySettings bodySettings(const Scene& scene, const BodySpec& spec) {
  const Material& material = scene.materials[spec.material];
  rigid::BodySettings body;
  body.kind = spec.kind;
  body.pose = spec.pose;
  body.velocity = spec.velocity;
  body.angularVelocity = spec.angularVelocity;
  body.density = material.density;
  body.mass = spec.mass;
  body.surface = {material.friction, material.restitution, material.rollingFriction};
  body.gravityScale = spec.gravityScale;
  body.linearDamping = spec.linearDamping;
  body.angularDamping = spec.angularDamping;
  body.group = spec.group;
  body.canSleep = spec.canSleep;
  body.name = spec.id;
  return body;
}

Scene readScene(const std::filesystem::path& path, const std::vector<std::string>& sets) {
  return readScene(SceneDocument::read(path, sets));
}

Scene readScene(SceneDocument document) {
  Scene scene;
  scene.document = std::move(document);
  SceneReader(scene).run();
  return scene;
}

Scene sampleScene(SceneDocument document, uint64_t most) {
  Scene scene;
  scene.document = std::move(document);
  try {
    SceneReader(scene, most).run();
  } catch (const NamesOneLeftOut&) {
    return readScene(std::move(scene.document));
  }
  return scene;
}

uint32_t Scene::addShape(ShapeValue value, std::string name) {
  ShapeSpec spec{.name = std::move(name), .value = std::move(value)};
  const std::string own = shapeText(spec.value);
  for (uint32_t i = 0; i < shapes.size(); ++i)
    if (shapes[i].name == spec.name && shapeText(shapes[i].value) == own) return i;
  shapes.push_back(std::move(spec));
  return static_cast<uint32_t>(shapes.size() - 1);
}

uint32_t Scene::addBody(BodySpec body) {
  bodies.push_back(std::move(body));
  return static_cast<uint32_t>(bodies.size() - 1);
}

uint32_t Scene::addSoftBody(SoftBodySpec body) {
  softBodies.push_back(std::move(body));
  return static_cast<uint32_t>(softBodies.size() - 1);
}

uint32_t Scene::materialNamed(std::string_view name) const {
  std::vector<std::string_view> known;
  for (uint32_t i = 0; i < materials.size(); ++i) {
    if (materials[i].name == name) return i;
    known.push_back(materials[i].name);
  }
  throw Error(ErrorKind::Usage, fmt::format("there is no material \"{}\"", name))
      .hint(suggestion(name, known));
}

uint32_t Scene::bodyNamed(std::string_view id) const { return bodyIndexOf(bodies, id); }

uint32_t Scene::softBodyNamed(std::string_view id) const { return bodyIndexOf(softBodies, id); }

bool Scene::anyCuts() const {
  return std::any_of(bodies.begin(), bodies.end(), [](const BodySpec& body) { return !body.cut.empty(); });
}

Material fractureMaterial(const Scene& scene, const BodySpec& body) {
  Material material = scene.materials[body.material];
  if (!body.fracture) return material;
  material.young = body.fracture->young.value_or(material.young);
  material.poisson = body.fracture->poisson.value_or(material.poisson);
  material.strength = body.fracture->strength.value_or(material.strength);
  material.surfaceEnergy = body.fracture->surfaceEnergy.value_or(material.surfaceEnergy);
  return material;
}

std::vector<uint32_t> Scene::usedMaterials() const {
  std::set<uint32_t> used;
  const auto use = [&](uint32_t i) {
    while (used.insert(i).second)
      i = static_cast<uint32_t>(&material::insideOf(materials, materials[i]) - materials.data());
  };
  for (const BodySpec& body : bodies) use(body.material);
  for (const SoftBodySpec& body : softBodies) use(body.material);
  if (fluid)
    for (const LiquidSpec& liquid : fluid->liquids) use(liquid.material);
  return {used.begin(), used.end()};
}

std::string Scene::resolvedText() const {
  if (document.empty()) return sceneText(*this);
  Json json = document.json();
  json.erase("$schema");
  Json table = Json::object();
  for (const uint32_t i : usedMaterials()) table[materials[i].name] = materialJson(materials[i]);
  json["materials"] = std::move(table);
  return json.text({.indent = 1}) + "\n";
}

}  // namespace sunder::world
