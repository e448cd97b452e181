// The block "joints" of a scene document, and names of bodies.
#include "sunder/base/text.h"
#include "sunder/world/scene/cost_item.h"
#include "sunder/world/scene/joint_words.h"
#include "sunder/world/scene/scene_reader.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr const char* kNoSoftInJoints =
    "joints hold rigid bodies, which have a frame; \"pins\" and \"attach\" in the block \"soft\" hold "
    "deformable ones";

}  // namespace

Error noSuchBody(const Scene& scene, const std::string& pointer, const std::string& id) {
  std::vector<std::string_view> known;
  std::string hint;
  for (const BodySpec& body : scene.bodies) {
    if (!body.cut.empty() && body.id == id)
      hint = fmt::format("it is cut: \"{}.0\", \"{}.1\" and so on are its pieces", id, id);
    if (known.size() < 500) known.push_back(body.id);
  }
  if (hint.empty())
    hint = known.size() > 20 ? std::string("see the ids of bodies and arrays") : suggestion(id, known);
  return scene.document.error(pointer, fmt::format("there is no body \"{}\"", id)).hint(hint);
}

Error noBodyLike(const Scene& scene, const std::string& pointer, const std::string& pattern) {
  return scene.document.error(pointer, fmt::format("no body has an id like \"{}\"", pattern));
}

void addJoints(Scene& scene, const JointSpec& said, rigid::BodyIndex a, std::span<const uint32_t> bodies) {
  const JointWords& words = *said.words;
  const auto fail = [&](const std::string& place, const std::string& message, const std::string& hint) {
    throw scene.document.error(said.pointer + place, message).hint(hint);
  };
  JointSpec spec = said;
  spec.words.reset();
  rigid::JointSettings& joint = spec.settings;
  joint.a = a;
  for (size_t i = 0; i < bodies.size(); ++i) {
    const BodySpec& b = scene.bodies[bodies[i]];
    if (a.valid() && a.value == bodies[i]) fail("/b", "a joint cannot hold a body to itself", "");
    if (b.kind != rigid::BodyKind::Dynamic &&
        (!a.valid() || scene.bodies[a.value].kind != rigid::BodyKind::Dynamic))
      fail("", "neither of the two can move", "one of them must be dynamic");
    joint.b = rigid::BodyIndex(bodies[i]);
    const Vec3 origin = words.relative ? b.pose.position : Vec3::Zero();
    joint.anchorA = words.anchor ? Vec3(origin + *words.anchor) : b.pose.position;
    joint.anchorB = words.anchorB ? Vec3(origin + *words.anchorB) : b.pose.position;
    spec.id = isPattern(words.b) ? fmt::format("{}[{}]", said.id, i) : said.id;
    scene.joints.push_back(spec);
  }
}

bool SceneReader::failedBefore(const std::string& id) const {
  return failed_.contains(id) || failed_.contains(id.substr(0, id.find_first_of("[.")));
}

bool SceneReader::namesPieces(const std::string& pattern) const {
  if (bodyById_.contains(pattern)) return false;
  return std::any_of(cuts_.begin(), cuts_.end(),
                     [&](const std::string& id) { return mayFitPiece(pattern, id); });
}

uint32_t SceneReader::needBody(const SceneNode& node, const char* ifSoft) const {
  const std::string id = node.text();
  if (const auto found = bodyById_.find(id); found != bodyById_.end()) return found->second;
  if (softById_.contains(id)) node.fail(fmt::format("the body \"{}\" is deformable", id), ifSoft);
  if (failedBefore(id)) throw FollowsFromAnother{};
  if (scene_.sampled) throw NamesOneLeftOut{};
  throw noSuchBody(scene_, node.pointer(), id);
}

// Remembered: many forces may act on the same of many bodies. `ifSoft` says what to do instead where only
// deformable ones fit; null: they may.
const std::vector<uint32_t>& SceneReader::bodiesLike(const SceneNode& node, const char* ifSoft) {
  const std::string pattern = node.text();
  const auto [known, added] = bodiesByPattern_.try_emplace(pattern);
  std::vector<uint32_t>& found = known->second;
  if (!added && !found.empty()) return found;
  for (uint32_t i = 0; i < scene_.bodies.size(); ++i)
    if (scene_.bodies[i].cut.empty() && fitsPattern(pattern, scene_.bodies[i].id)) found.push_back(i);
  if (!found.empty() || namesPieces(pattern)) return found;
  if (std::any_of(scene_.softBodies.begin(), scene_.softBodies.end(),
                  [&](const SoftBodySpec& body) { return fitsPattern(pattern, body.id); })) {
    if (!ifSoft) return found;
    node.fail(fmt::format("the bodies with an id like \"{}\" are deformable", pattern), ifSoft);
  }
  if (!failed_.empty()) throw FollowsFromAnother{};
  if (scene_.sampled) throw NamesOneLeftOut{};
  throw noBodyLike(scene_, node.pointer(), pattern);
}

void SceneReader::readJoint(const SceneNode& node, size_t number) {
  JointSpec spec;
  spec.pointer = node.pointer();
  spec.id = node.text("id", fmt::format("joint {}", number + 1));
  rigid::JointSettings& joint = spec.settings;
  const std::string kind = node["kind"].text();
  joint.kind = kind == "fixed"   ? rigid::JointKind::Fixed
               : kind == "ball"  ? rigid::JointKind::Ball
               : kind == "hinge" ? rigid::JointKind::Hinge
                                 : rigid::JointKind::Distance;
  const bool hinge = joint.kind == rigid::JointKind::Hinge,
             distance = joint.kind == rigid::JointKind::Distance;
  for (const char* key : {"axis", "limits", "motor"})
    if (node.has(key) && !hinge) node[key].fail("goes with a hinge");
  for (const char* key : {"slack", "anchorB"})
    if (node.has(key) && !distance) node[key].fail("goes with a distance");
  JointWords& words = spec.words.emplace();
  rigid::BodyIndex a;
  if (node.has("a")) {
    words.a = node["a"].text();
    if (!namesPieces(words.a)) a = rigid::BodyIndex(needBody(node["a"], kNoSoftInJoints));
  }
  if (node.has("axis")) joint.axis = node["axis"].direction();
  if (node.has("limits")) {
    joint.lowerAngle = node["limits"][size_t(0)].quantity(kAngle);
    joint.upperAngle = node["limits"][size_t(1)].quantity(kAngle);
    if (!(joint.lowerAngle <= joint.upperAngle))
      node["limits"].fail("the first angle must not be the larger one");
  }
  if (node.has("motor")) {
    joint.motorSpeed = node["motor"]["speed"].quantity(kAngularSpeed);
    joint.motorTorque = node["motor"]["torque"].positive(kTorque);
  }
  joint.slack = node.flag("slack", false);
  joint.collide = node.flag("collide", false);
  if (node.has("breakForce")) joint.breakForce = node["breakForce"].positive(kForce);
  if (node.has("breakTorque")) joint.breakTorque = node["breakTorque"].positive(kTorque);
  words.b = node["b"].text();
  words.relative = node.flag("relative", false);
  if (distance && !node.has("anchor")) node.fail("a distance needs an \"anchor\"");
  if (node.has("anchor")) words.anchor = node["anchor"].vector(kLength);
  if (node.has("anchorB")) words.anchorB = node["anchorB"].vector(kLength);
  if (namesPieces(words.a) || namesPieces(words.b)) {
    scene_.joints.push_back(std::move(spec));
    return;
  }
  const auto bodies = isPattern(words.b) ? bodiesLike(node["b"], kNoSoftInJoints)
                                         : std::vector<uint32_t>{needBody(node["b"], kNoSoftInJoints)};
  double more = 0;
  for (const uint32_t b : bodies) more += scene_.bodies[b].standsFor;
  jointsAsked_ += more;
  if (kBytesABody * jointsAsked_ > static_cast<double>(memory_))
    throw scene_.document
        .error(node.pointer() + "/b",
               fmt::format("\"{}\" makes {} joints more than the memory has room for", words.b,
                           countWords(more)),
               ErrorKind::Limit)
        .hint("a pattern that fits fewer bodies, or a higher limit (--memory)");
  addJoints(scene_, spec, a, bodies);
}

}  // namespace sunder::world
