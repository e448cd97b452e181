// Bodies whose kind is "deformable", and their block "soft".
#include "sunder/world/scene/scene_soft.h"

#include "sunder/base/json.h"
#include "sunder/base/json_pointer.h"
#include "sunder/world/scene/joint_words.h"
#include "sunder/world/scene/scene_reader.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kSamePose = 1e-9;  // of a place in metres, and of an angle in radians

// What rigid bodies have and deformable ones do not, and what to do instead.
constexpr std::array<std::pair<const char*, const char*>, 9> kNotSoft{{
    {"mass", "\"density\" in \"soft\", or the material, says how heavy it is"},
    {"linearDamping", "\"massDamping\" and \"stiffnessDamping\" in \"soft\" slow it down"},
    {"angularDamping", "\"massDamping\" and \"stiffnessDamping\" in \"soft\" slow it down"},
    {"group", "leave it out"},
    {"sleep", "leave it out"},
    {"fracture", "\"tear\" in \"soft\" lets it tear"},
    {"cut", "cut the mesh before ('sunder cut'), or make the body dynamic"},
    {"keyFrames", "\"pins\" in \"soft\" have key frames"},
    {"repeat", "\"pins\" in \"soft\" have it"},
}};

fem::ElasticModel modelOf(const std::string& name) {
  return name == "linear"        ? fem::ElasticModel::Linear
         : name == "stvk"        ? fem::ElasticModel::SaintVenantKirchhoff
         : name == "neo-hookean" ? fem::ElasticModel::NeoHookean
                                 : fem::ElasticModel::Corotated;
}

PinSpec readPin(const SceneNode& node) {
  PinSpec pin;
  pin.pointer = node.pointer();
  pin.box = node.box();
  if (node.has("body") && node.has("keyFrames"))
    node["keyFrames"].fail("a pin is held by a \"body\" or follows \"keyFrames\", not both",
                           "leave one of them out");
  pin.repeat = node.flag("repeat", false);
  if (pin.repeat && !node.has("keyFrames")) node["repeat"].fail("is for pins that follow \"keyFrames\"");
  if (node.has("until")) pin.until = node["until"].positive(kTime);
  return pin;
}

AttachSpec readAttach(const SceneNode& node) {
  AttachSpec attach;
  attach.pointer = node.pointer();
  attach.box = node.box();
  if (node.has("strength")) attach.strength = node["strength"].positive(kForce);
  attach.collide = node.flag("collide", true);
  return attach;
}

TearSpec readTear(const SceneNode& node) {
  TearSpec tear;
  if (node.has("strength")) tear.strength = node["strength"].positive(kPressure);
  if (node.has("surfaceEnergy")) tear.surfaceEnergy = node["surfaceEnergy"].notNegative(kSurfaceEnergy);
  tear.mostSplits = static_cast<uint32_t>(node.whole("mostSplits", tear.mostSplits));
  return tear;
}

bool samePose(const rigid::Pose& a, const rigid::Pose& b) {
  return (a.position - b.position).norm() <= kSamePose * (1 + a.position.norm()) &&
         a.rotation.angularDistance(b.rotation) <= kSamePose;
}

}  // namespace

SoftSpec readSoft(const SceneNode& node) {
  SoftSpec soft;
  soft.pointer = node.pointer();
  soft.model = modelOf(node.text("model", "corotated"));
  if (node.has("young")) soft.young = node["young"].positive(kPressure);
  if (node.has("poisson")) soft.poisson = node["poisson"].quantity(kPlain);
  if (node.has("density")) soft.density = node["density"].positive(kDensity);
  soft.massDamping = node.notNegative("massDamping", kRate, 0);
  soft.stiffnessDamping = node.notNegative("stiffnessDamping", kTime, 0);
  soft.tets = static_cast<uint32_t>(node.whole("tets", soft.tets));
  soft.cage = node.text("cage", "");
  soft.cageHash = node.text("cageHash", "");
  if (node.has("cage") && soft.cage.empty()) node["cage"].fail("names no file");
  if (node.has("cage") && node.has("tets"))
    node["tets"].fail("a cage that is given has as many as it has", "leave out \"tets\", or \"cage\"");
  if (node.has("cageHash") && soft.cage.empty()) node["cageHash"].fail("goes with a \"cage\"");
  soft.selfContact = node.flag("selfContact", true);
  if (node.has("spheres")) soft.spheres = node["spheres"].positive(kLength);
  if (node.has("fibre")) {
    soft.fibre = node["fibre"]["direction"].direction();
    soft.fibreYoung = node["fibre"]["young"].positive(kPressure);
  }
  if (node.has("tear")) soft.tear = readTear(node["tear"]);
  if (node.has("pins"))
    for (size_t i = 0; i < node["pins"].size(); ++i) soft.pins.push_back(readPin(node["pins"][i]));
  if (node.has("attach"))
    for (size_t i = 0; i < node["attach"].size(); ++i) soft.attach.push_back(readAttach(node["attach"][i]));
  return soft;
}

std::vector<KeyFrame> readKeyFrames(const SceneNode& list, const rigid::Pose& start) {
  std::vector<KeyFrame> keys;
  rigid::Pose last = start;
  for (size_t i = 0; i < list.size(); ++i) {
    KeyFrame key;
    key.time = list[i]["time"].notNegative(kTime);
    key.pose.position = list[i].vector("position", kLength, last.position);
    key.pose.rotation = list[i].has("rotation") ? list[i]["rotation"].rotation() : last.rotation;
    if (i > 0 && !(key.time > keys.back().time)) list[i]["time"].fail("times must grow from one to the next");
    last = key.pose;
    keys.push_back(key);
  }
  return keys;
}

SoftBodySpec SceneReader::readSoftSettings(const SceneNode& node) {
  for (const auto& [key, instead] : kNotSoft)
    if (node.has(key)) node[key].fail("a deformable body has none", instead);
  SoftBodySpec body;
  body.pointer = node.pointer();
  if (node.has("material")) body.material = needMaterial(node["material"]);
  body.pose.rotation = node.rotation("rotation");
  body.velocity = node.vector("velocity", kSpeed, Vec3::Zero());
  body.angularVelocity = node.vector("angularVelocity", kAngularSpeed, Vec3::Zero());
  body.gravityScale = node.quantity("gravityScale", kPlain, 1);
  if (node.has("soft")) body.soft = readSoft(node["soft"]);
  body.soft.pointer = node.pointer() + "/soft";
  return body;
}

// The first key is where the body is: a grip that is elsewhere would tear at it before the first step.
void SceneReader::readGrips(const SceneNode& node, SoftBodySpec& body) {
  for (size_t i = 0; i < body.soft.pins.size(); ++i) {
    const SceneNode pin = node["soft"]["pins"][i];
    if (!pin.has("keyFrames")) continue;
    std::vector<KeyFrame> keys = readKeyFrames(pin["keyFrames"], body.pose);
    if (keys.front().time > 0)
      keys.insert(keys.begin(), {0, body.pose});
    else if (!samePose(keys.front().pose, body.pose))
      pin["keyFrames"][size_t(0)].fail("the grip does not start where the body is",
                                       "leave out \"position\" and \"rotation\" at the time 0");
    keys.front().pose = body.pose;
    body.soft.pins[i].keyFrames = std::move(keys);
  }
}

void SceneReader::readSoftBody(const SceneNode& node) {
  SoftBodySpec body = readSoftSettings(node);
  body.id = readId(node["id"]);
  body.shape = needShape(node["shape"]);
  body.pose.position = node.vector("position", kLength, Vec3::Zero());
  readGrips(node, body);
  addBody(std::move(body), node);
}

void SceneReader::addBody(SoftBodySpec body, const SceneNode& place) {
  requireFreshId(body.id, place);
  if (std::holds_alternative<PlaneShape>(scene_.shapes[body.shape].value))
    place.fail("a plane has no end and cannot be deformed", "take a box, or set \"kind\" to \"static\"");
  const Material made = softMaterial(scene_, body);
  if (!(made.young > 0))
    place.fail(fmt::format("how stiff the material \"{}\" is, is not known", made.name),
               "give \"young\" in \"soft\" (jelly \"10 kPa\", flesh \"50 kPa\", rubber \"5 MPa\"), or in the "
               "material");
  if (body.soft.tear && !(made.strength > 0))
    place.fail(fmt::format("the strength of the material \"{}\" is not known", made.name),
               "give \"strength\" in \"tear\", or in the material");
  softById_.emplace(body.id, static_cast<uint32_t>(scene_.softBodies.size()));
  bodiesAsked_ += body.standsFor;
  scene_.softBodies.push_back(std::move(body));
}

// Pins and glue may name bodies that come after their own. Bodies of an array have theirs in common.
void SceneReader::holdSoftBodies() {
  const auto bodyAt = [&](const std::string& pointer) -> std::optional<SceneNode> {
    const Json* const found = findAt(root_.json(), pointer + "/body");
    if (!found) return std::nullopt;
    return SceneNode(scene_.document, *found, pointer + "/body");
  };
  const auto holdRigid = [&](const SceneNode& name, auto& holder) {
    if (namesPieces(name.text()))
      holder.piece = name.text();
    else
      holder.body = needBody(name, "pins hold to rigid bodies; \"attach\" sticks to deformable ones");
  };
  for (uint32_t b = 0; b < scene_.softBodies.size(); ++b) {
    SoftSpec& soft = scene_.softBodies[b].soft;
    for (PinSpec& pin : soft.pins)
      if (const auto name = bodyAt(pin.pointer)) attempt("", [&] { holdRigid(*name, pin); });
    for (AttachSpec& attach : soft.attach)
      attempt("", [&] {
        const SceneNode name = bodyAt(attach.pointer).value();
        const auto other = softById_.find(name.text());
        if (other == softById_.end()) return holdRigid(name, attach);
        if (other->second == b) name.fail("a body cannot stick to itself", "name another body");
        attach.softBody = other->second;
      });
  }
}

}  // namespace sunder::world
