// Bodies, their shapes and arrays of a scene document.
#include "sunder/base/json.h"
#include "sunder/base/text.h"
#include "sunder/world/scene/cost_item.h"
#include "sunder/world/scene/scene_fluid.h"
#include "sunder/world/scene/scene_materials.h"
#include "sunder/world/scene/scene_reader.h"
#include "sunder/world/scene/scene_soft.h"
#include "sunder/world/scene/shape_reader.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::world {

namespace {

// As people name bodies, or as those of arrays are called: "wall[3]".
bool isBodyId(std::string_view id) {
  if (id.ends_with(']')) {
    const size_t open = id.rfind('[');
    if (open == std::string_view::npos || open + 2 >= id.size()) return false;
    const std::string_view number = id.substr(open + 1, id.size() - open - 2);
    if (number.find_first_not_of("0123456789") != std::string_view::npos) return false;
    id = id.substr(0, open);
  }
  return !id.empty() && id.find_first_of("*[]") == std::string_view::npos;
}

bool isDeformable(const SceneNode& node) { return node.text("kind", "dynamic") == "deformable"; }

MeshShape letterShape(char letter, const LetterSettings& letters) {
  MeshShape shape;
  shape.make = "letters";
  shape.with = {{"text", std::string(1, letter)},
                {"height", Json(letters.height).text()},
                {"depth", Json(letters.depth).text()}};
  return shape;
}

}  // namespace

uint32_t SceneReader::needMaterial(const SceneNode& node) const {
  if (!materialsRead_ && !material::find(scene_.materials, node.text())) throw FollowsFromAnother{};
  return materialIndex(node, scene_.materials);
}

uint32_t SceneReader::needShape(const SceneNode& node) {
  if (!node.json().isString()) {
    requireShape(node, "");
    return shapeIndex("", node);
  }
  const std::string name = node.text();
  if (!root_.has("shapes") || !root_["shapes"].has(name.c_str())) {
    std::vector<std::string> names;
    if (root_.has("shapes")) names = root_["shapes"].keys();
    const std::vector<std::string_view> known(names.begin(), names.end());
    node.fail(fmt::format("there is no shape \"{}\"", name),
              known.empty() ? "describe it under \"shapes\"" : suggestion(name, known));
  }
  const SceneNode shape = root_["shapes"][name.c_str()];
  requireShape(shape, name);
  return shapeIndex(name, shape);
}

// The hash of a file is no part of what the shape is: a recording states it, the scene it was made from
// not.
uint32_t SceneReader::shapeIndex(const std::string& name, const SceneNode& node) {
  Json json = node.json();
  const Json* const given = json.find("hash");
  const std::string hash = given ? given->string() : "";
  json.erase("hash");
  std::string written = json.text({.strict = true});
  if (const auto found = shapeByWords_.find(written); found != shapeByWords_.end()) return found->second;
  return addShape({.name = name,
                   .value = readShape(node),
                   .written = std::move(written),
                   .pointer = node.pointer(),
                   .fileHash = hash});
}

uint32_t SceneReader::addShape(ShapeSpec spec) {
  const auto index = static_cast<uint32_t>(scene_.shapes.size());
  const auto [found, added] = shapeByWords_.try_emplace(spec.written, index);
  if (added) scene_.shapes.push_back(std::move(spec));
  return found->second;
}

FractureSpec SceneReader::readFracture(const SceneNode& node, rigid::BodyKind kind) {
  if (kind != rigid::BodyKind::Dynamic)
    node.fail("only a dynamic body can break", "leave it out, or make the body dynamic");
  FractureSpec spec;
  spec.pointer = node.pointer();
  if (node.has("edge")) spec.edge = node["edge"].positive(kLength);
  if (node.has("young")) spec.young = node["young"].positive(kPressure);
  if (node.has("poisson")) spec.poisson = node["poisson"].quantity(kPlain);
  if (node.has("strength")) spec.strength = node["strength"].positive(kPressure);
  if (node.has("surfaceEnergy")) spec.surfaceEnergy = node["surfaceEnergy"].positive(kSurfaceEnergy);
  spec.cycles = static_cast<uint32_t>(node.whole("cycles", spec.cycles));
  spec.arrest = node.flag("arrest", spec.arrest);
  spec.fine = node.flag("fine", spec.fine);
  spec.noise = node.notNegative("noise", kLength, spec.noise);
  spec.leastPart = node.notNegative("leastPart", kPlain, spec.leastPart);
  spec.mostCracks = static_cast<uint32_t>(node.whole("mostCracks", spec.mostCracks));
  const bool voronoi = node.text("model", "adaptive-stress") == "voronoi";
  if (voronoi) spec.sites = static_cast<uint32_t>(node.whole("pieces", 12));
  for (const char* key : {"pieces", "impulse", "focus"})
    if (!voronoi && node.has(key))
      node[key].fail("only the model \"voronoi\" has it", "leave it out, or set \"model\"");
  spec.impulse = node.notNegative("impulse", kImpulse, spec.impulse);
  spec.focus = node.notNegative("focus", kPlain, spec.focus);
  return spec;
}

// What bodies and the template of an array have in common.
BodySpec SceneReader::readSettings(const SceneNode& node) {
  BodySpec body;
  body.pointer = node.pointer();
  if (node.has("material")) body.material = needMaterial(node["material"]);
  const std::string kind = node.text("kind", "dynamic");
  if (node.has("soft"))
    node["soft"].fail("only a deformable body has it", "set \"kind\" to \"deformable\", or leave it out");
  body.kind = kind == "static"      ? rigid::BodyKind::Static
              : kind == "kinematic" ? rigid::BodyKind::Kinematic
                                    : rigid::BodyKind::Dynamic;
  body.pose.rotation = node.rotation("rotation");
  body.velocity = node.vector("velocity", kSpeed, Vec3::Zero());
  body.angularVelocity = node.vector("angularVelocity", kAngularSpeed, Vec3::Zero());
  if (body.kind != rigid::BodyKind::Dynamic)
    for (const char* key : {"velocity", "angularVelocity", "mass"})
      if (node.has(key))
        node[key].fail(fmt::format("a {} body has none", kind), "leave it out, or make the body dynamic");
  if (node.has("mass")) body.mass = node["mass"].positive(kMass);
  body.gravityScale = node.quantity("gravityScale", kPlain, 1);
  body.linearDamping = node.notNegative("linearDamping", kRate, 0);
  body.angularDamping = node.notNegative("angularDamping", kRate, 0);
  body.group = static_cast<uint32_t>(node.whole("group", 0));
  body.canSleep = node.flag("sleep", true);
  if (node.has("fracture")) body.fracture = readFracture(node["fracture"], body.kind);
  return body;
}

std::string SceneReader::readId(const SceneNode& node) {
  const std::string id = node.text();
  if (!isBodyId(id))
    node.fail(fmt::format("\"{}\" cannot be an id", id),
              "not empty, without *, and [ and ] only around a number at the end");
  return id;
}

void SceneReader::requireFreshId(const std::string& id, const SceneNode& place) const {
  if (bodyById_.contains(id) || softById_.contains(id) || cuts_.contains(id))
    place.fail(fmt::format("there are two bodies \"{}\"", id), "give one of them another id");
}

void SceneReader::addBody(BodySpec body, const SceneNode& place) {
  requireFreshId(body.id, place);
  if (body.cut.empty())
    bodyById_.emplace(body.id, static_cast<uint32_t>(scene_.bodies.size()));
  else
    cuts_.insert(body.id);
  if (body.kind == rigid::BodyKind::Dynamic &&
      std::holds_alternative<PlaneShape>(scene_.shapes[body.shape].value))
    place.fail("a plane cannot move", "set \"kind\" to \"static\"");
  bodiesAsked_ += body.standsFor;
  scene_.bodies.push_back(std::move(body));
}

void SceneReader::readBody(const SceneNode& node) {
  if (isDeformable(node)) return readSoftBody(node);
  BodySpec body = readSettings(node);
  body.id = readId(node["id"]);
  body.shape = needShape(node["shape"]);
  body.pose.position = node.vector("position", kLength, Vec3::Zero());
  if (node.has("keyFrames")) {
    if (body.kind != rigid::BodyKind::Kinematic)
      node["keyFrames"].fail("only a kinematic body follows key frames", "set \"kind\" to \"kinematic\"");
    body.keyFrames = readKeyFrames(node["keyFrames"], body.pose);
    if (!body.keyFrames.empty()) body.pose = body.keyFrames.front().pose;
  }
  body.repeat = node.flag("repeat", false);
  if (node.has("cut")) {
    if (!std::holds_alternative<MeshShape>(scene_.shapes[body.shape].value))
      node["cut"].fail("only meshes can be cut", "take a mesh file, or a procedural shape (\"make\")");
    body.cut = readCutPlanes(node["cut"]);
  }
  addBody(std::move(body), node);
}

void SceneReader::readLiquids(const SceneNode& node) {
  scene_.fluid = readFluid(
      node, scene_, [&](const SceneNode& name) { return needMaterial(name); },
      [&](const SceneNode& name) -> std::optional<uint32_t> {
        if (namesPieces(name.text())) return std::nullopt;
        return needBody(name, "only rigid bodies hold liquids");
      });
  std::set<std::string> known;
  for (const LiquidSpec& liquid : scene_.fluid->liquids)
    if (bodyById_.contains(liquid.id) || softById_.contains(liquid.id) || !known.insert(liquid.id).second)
      node.fail(fmt::format("there are two bodies \"{}\"", liquid.id), "give one of them another id");
}

// Bodies are counted before they are made.
void SceneReader::requireRoom(const SceneNode& array) const {
  CostItem item;
  item.count = arrayCount(array);
  const double bytesEach = bytesABody(scene_.world);
  item.kept = bytesEach * item.count;
  const double others = bytesEach * bodiesAsked_;
  if (item.kept + others <= static_cast<double>(memory_)) return;
  item.what = fmt::format("{} bodies", countWords(item.count));
  item.levers.push_back(countLever(array, bytesEach));
  refuseItem(scene_.document, item, others, memory_);
}

void SceneReader::readArray(const SceneNode& node) {
  requireRoom(node);
  const std::string id = node["id"].text();
  if (id.empty() || id.find_first_of("*[]") != std::string::npos)
    node["id"].fail(fmt::format("\"{}\" cannot be an id", id), "not empty and without *, [ and ]");
  const SceneNode part = node["body"];
  const bool deformable = isDeformable(part);
  const BodySpec settings = deformable ? BodySpec{} : readSettings(part);
  const SoftBodySpec soft = deformable ? readSoftSettings(part) : SoftBodySpec{};
  for (size_t i = 0; i < soft.soft.pins.size(); ++i)
    if (const SceneNode pin = part["soft"]["pins"][i]; pin.has("keyFrames"))
      pin["keyFrames"].fail("bodies of an array start at places of their own",
                            "describe bodies that are gripped one by one");
  LetterSettings letters;
  const std::vector<ArrayItem> items = arrayItems(node, scene_.world.seed, letters, mostOfArray_);
  std::vector<uint32_t> shapes, materials;
  const bool text = !letters.text.empty();
  if (text + node.has("shapes") + part.has("shape") != 1)
    node.fail(text ? "letters are shapes already" : "the shape is not clear",
              text ? "leave out \"shape\" and \"shapes\"" : "give either body.shape or \"shapes\"");
  if (part.has("shape")) shapes.push_back(needShape(part["shape"]));
  if (node.has("shapes"))
    for (size_t i = 0; i < node["shapes"].size(); ++i) shapes.push_back(needShape(node["shapes"][i]));
  if (node.has("materials"))
    for (size_t i = 0; i < node["materials"].size(); ++i)
      materials.push_back(needMaterial(node["materials"][i]));
  const double all = text ? double(letters.count) : arrayCount(node);
  const double standsFor = items.empty() ? 1 : all / double(items.size());
  scene_.sampled |= standsFor > 1;
  const auto add = [&](auto body, const ArrayItem& item) {
    const uint64_t i = item.index;
    body.id = fmt::format("{}[{}]", id, i);
    body.pointer = node.pointer();
    body.pose = item.pose * body.pose;
    body.standsFor = standsFor;
    if (text) {
      const Json shape = {
          {"make", "letters"},
          {"with",
           {{"text", std::string(1, item.letter)}, {"height", letters.height}, {"depth", letters.depth}}}};
      body.shape = addShape({.name = fmt::format("letter {}", item.letter),
                             .value = letterShape(item.letter, letters),
                             .written = shape.text(),
                             .pointer = node.pointer()});
    } else {
      body.shape = shapes[i % shapes.size()];
    }
    if (!materials.empty()) body.material = materials[i % materials.size()];
    addBody(std::move(body), node);
  };
  for (const ArrayItem& item : items)
    if (deformable)
      add(soft, item);
    else
      add(settings, item);
}

}  // namespace sunder::world
