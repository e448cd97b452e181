#include "sunder/world/scene/scene_text.h"

#include "sunder/base/json_parse.h"
#include "sunder/world/scene/field_tree.h"
#include "sunder/world/scene/scene_materials.h"
#include "sunder/world/scene/value_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>

namespace sunder::world {

namespace {

class SceneWriter {
 public:
  explicit SceneWriter(const Scene& scene) : scene_(scene) {}

  std::string text() {
    if (scene_.sampled)
      throw Error(ErrorKind::Unsupported, "a sample of a scene cannot be written as a scene");
    Json json = Json::object();
    if (!scene_.title.empty()) json["title"] = scene_.title;
    json["world"] = worldJson(scene_.world);
    json["recording"] = recordingJson();
    nameShapes();
    Json bodies = Json::array();
    for (const BodySpec& body : scene_.bodies) bodies.push_back(bodyOf(body));
    for (const SoftBodySpec& body : scene_.softBodies) bodies.push_back(softBodyOf(body));
    json["bodies"] = std::move(bodies);
    if (!shapes_.empty()) json["shapes"] = std::move(shapes_);
    for (const JointSpec& joint : scene_.joints) json["joints"].push_back(jointOf(joint));
    for (const ForceSpec& force : scene_.forces) json["forces"].push_back(forceOf(force));
    if (scene_.fluid) json["fluid"] = fluidOf(*scene_.fluid);
    for (const PartBlock& block : scene_.parts) json[block.key] = readJson(block.text);
    json["materials"] = materials();
    return json.text({.indent = 1}) + "\n";
  }

 private:
  // A part that is refers to something that is not there.
  [[noreturn]] static void fail(const std::string& part, const std::string& what) {
    throw Error(ErrorKind::Usage, part + ": " + what);
  }

  const std::string& materialOf(uint32_t index, const std::string& part) {
    if (index >= scene_.materials.size()) fail(part, fmt::format("there is no material {}", index));
    used_.insert(index);
    return scene_.materials[index].name;
  }

  const std::string& idOf(uint32_t index, const std::string& part) const {
    if (index >= scene_.bodies.size()) fail(part, fmt::format("there is no body {}", index));
    return scene_.bodies[index].id;
  }

  // Shapes have their names where no other has it; else they are described in place.
  void nameShapes() {
    std::map<std::string, size_t> count;
    for (const ShapeSpec& shape : scene_.shapes) ++count[shape.name];
    named_.resize(scene_.shapes.size());
    for (size_t i = 0; i < named_.size(); ++i)
      named_[i] = !scene_.shapes[i].name.empty() && count[scene_.shapes[i].name] == 1;
  }

  Json shapeOf(uint32_t index, const std::string& part) {
    if (index >= scene_.shapes.size()) fail(part, fmt::format("there is no shape {}", index));
    const ShapeSpec& spec = scene_.shapes[index];
    if (const auto* mesh = std::get_if<MeshShape>(&spec.value); mesh && !mesh->cut.empty())
      throw Error(ErrorKind::Unsupported, part + ": is a piece already; write the scene before it is cut");
    if (named_[index] && shapes_.contains(spec.name)) return spec.name;
    Json json = shapeJson(spec.value);
    if (!spec.fileHash.empty()) json["hash"] = spec.fileHash;
    if (!named_[index]) return json;
    shapes_[spec.name] = std::move(json);
    return spec.name;
  }

  Json recordingJson() const {
    const RecordingSettings& r = scene_.recording;
    Json json = {{"keyEvery", r.keyEvery},
                 {"checkpointFrames", r.checkpointFrames},
                 {"checkpointSeconds", r.checkpointSeconds}};
    if (scene_.world.simulation.eventImpulse > 0) json["eventImpulse"] = scene_.world.simulation.eventImpulse;
    if (r.impulseField) json["fields"].push_back("impulse");
    if (r.asleepField) json["fields"].push_back("asleep");
    if (r.stressField) json["fields"].push_back("stress");
    return json;
  }

  Json bodyOf(const BodySpec& body) {
    const std::string part = "body " + body.id;
    Json json = bodyJson(body);
    json["shape"] = shapeOf(body.shape, part);
    json["material"] = materialOf(body.material, part);
    return json;
  }

  Json softBodyOf(const SoftBodySpec& body) {
    const std::string part = "body " + body.id;
    Json json = softBodyJson(body);
    json["shape"] = shapeOf(body.shape, part);
    json["material"] = materialOf(body.material, part);
    const SoftSpec& soft = body.soft;
    for (size_t i = 0; i < soft.pins.size(); ++i)
      if (soft.pins[i].body) json["soft"]["pins"][i]["body"] = idOf(*soft.pins[i].body, part);
    for (size_t i = 0; i < soft.attach.size(); ++i) {
      const AttachSpec& attach = soft.attach[i];
      Json& words = json["soft"]["attach"][i];
      if (attach.body) words["body"] = idOf(*attach.body, part);
      if (attach.softBody && *attach.softBody >= scene_.softBodies.size())
        fail(part, fmt::format("there is no soft body {}", *attach.softBody));
      if (attach.softBody) words["body"] = scene_.softBodies[*attach.softBody].id;
    }
    return json;
  }

  Json jointOf(const JointSpec& joint) const {
    const std::string part = "joint " + joint.id;
    Json json = jointJson(joint);
    if (joint.words) return json;
    if (joint.settings.a.valid()) json["a"] = idOf(joint.settings.a.value, part);
    json["b"] = idOf(joint.settings.b.value, part);
    return json;
  }

  Json forceOf(const ForceSpec& force) const {
    Json json = forceJson(force);
    std::vector<uint32_t> all;
    for (uint32_t b = 0; b < scene_.bodies.size(); ++b)
      if (scene_.bodies[b].kind == rigid::BodyKind::Dynamic && scene_.bodies[b].cut.empty()) all.push_back(b);
    const bool allPieces = std::find(force.pieces.begin(), force.pieces.end(), "*") != force.pieces.end();
    const bool allSoft = force.softBodies.size() == scene_.softBodies.size();
    if (force.bodies == all && allSoft && (allPieces || !scene_.anyCuts())) return json;
    Json bodies = Json::array();
    for (const uint32_t b : force.bodies) bodies.push_back(idOf(b, "force " + force.id));
    for (const uint32_t b : force.softBodies) {
      if (b >= scene_.softBodies.size())
        fail("force " + force.id, fmt::format("there is no soft body {}", b));
      bodies.push_back(scene_.softBodies[b].id);
    }
    for (const std::string& pattern : force.pieces) bodies.push_back(pattern);
    json["bodies"] = std::move(bodies);
    return json;
  }

  Json fluidOf(const FluidSpec& fluid) {
    Json json = fluidJson(fluid);
    for (const LiquidSpec& liquid : fluid.liquids) {
      const std::string part = "liquid " + liquid.id;
      Json own = liquidJson(liquid);
      own["material"] = materialOf(liquid.material, part);
      for (const BlockSpec& block : liquid.blocks) {
        Json place = blockJson(block);
        if (block.container) place["pour"] = idOf(*block.container, part);
        own["blocks"].push_back(std::move(place));
      }
      json["liquids"].push_back(std::move(own));
    }
    return json;
  }

  // Those that are used, with those that they look like inside; and others that are no presets.
  Json materials() {
    for (const uint32_t first : std::set<uint32_t>(used_))
      for (uint32_t i = first;;) {
        i = static_cast<uint32_t>(&material::insideOf(scene_.materials, scene_.materials[i]) -
                                  scene_.materials.data());
        if (!used_.insert(i).second) break;
      }
    Json table = Json::object();
    for (uint32_t i = 0; i < scene_.materials.size(); ++i) {
      const Material& own = scene_.materials[i];
      const Material* preset = material::find(material::presets(), own.name);
      if (used_.contains(i) || !preset || materialJson(*preset) != materialJson(own))
        table[own.name] = materialJson(own);
    }
    return table;
  }

  const Scene& scene_;
  Json shapes_ = Json::object();
  std::vector<bool> named_;  // by shape: under its name in `shapes_`
  std::set<uint32_t> used_;  // materials
};

}  // namespace

std::string sceneText(const Scene& scene) { return SceneWriter(scene).text(); }

std::string shapeText(const ShapeValue& shape) { return shapeJson(shape).text({.strict = true}); }

}  // namespace sunder::world
