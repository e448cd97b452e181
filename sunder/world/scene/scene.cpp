#include "sunder/world/scene/scene.h"

#include "sunder/base/memory_limit.h"
#include "sunder/base/text.h"
#include "sunder/world/build/cost_parts.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/scene/scene_arrays.h"
#include "sunder/world/scene/scene_fluid.h"
#include "sunder/world/scene/scene_materials.h"
#include "sunder/world/scene/scene_node.h"
#include "sunder/world/scene/shape_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sunder::world {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kLeastSample = 64;  // bodies of an array

// Thrown where a sample lacks a body that the scene names.
struct NamesOneLeftOut {};

class SceneReader {
 public:
  // `most`: bodies of all arrays together, beyond which samples of them are read.
  explicit SceneReader(Scene& scene, uint64_t most = UINT64_MAX)
      : scene_(scene), root_(scene.document, std::as_const(scene.document).json(), ""), mostBodies_(most) {}

  // Parts that do not depend on each other are read on after an error, so that one report names all of them.
  void run() {
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
    if (root_.has("fluid")) attempt("", [&] { addLiquids(root_["fluid"]); });
    each("joints", [&](const SceneNode& node, size_t i) { readJoint(node, i); });
    each("forces", [&](const SceneNode& node, size_t i) { readForce(node, i); });
    if (root_.has("shapes"))
      for (const std::string& name : root_["shapes"].keys())
        attempt("", [&] { requireShape(root_["shapes"][name.c_str()], name); });
    errors_.throwIfAny();
  }

 private:
  // Thrown where a part names one that has an error itself: nothing new for the reader.
  struct FollowsFromAnother {};

  // Whether a part was read. `id`: of the body or array that it is.
  template <class Part>
  bool attempt(const std::string& id, Part&& part) {
    try {
      part();
      return true;
    } catch (const FollowsFromAnother&) {
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Limit && errors_.empty()) throw;
      errors_.add(error);
    }
    failed_.insert(id);
    return false;
  }

  template <class Part>
  void each(const char* list, Part&& part) {
    if (!root_.has(list)) return;
    const SceneNode nodes = root_[list];
    for (size_t i = 0; i < nodes.size(); ++i) attempt(nodes[i].text("id", ""), [&] { part(nodes[i], i); });
  }

  // Whether a body could not be read, or the array or the cut body that it is one of: "id", "id[3]", "id.0".
  bool failedBefore(const std::string& id) const {
    return failed_.contains(id) || failed_.contains(id.substr(0, id.find_first_of("[.")));
  }

  void readWorld(const SceneNode& node) {
    WorldSettings& world = scene_.world;
    rigid::SimulationSettings& sim = world.simulation;
    sim.gravity = node.vector("gravity", kAcceleration, sim.gravity);
    world.frameRate = node.positive("frameRate", kRate, 60);
    const double interval = 1 / world.frameRate;
    const double step = node.positive("timeStep", kTime, interval);
    const double steps = std::round(interval / step);
    if (!(steps >= 1) || !(steps <= 1e6) || std::abs(interval / step - steps) > 1e-3 * steps)
      node["timeStep"].fail(
          fmt::format("{:g} s does not divide the {:g} s from frame to frame", step, interval),
          fmt::format("write \"1/{:g} s\", or a whole fraction of it", world.frameRate));
    world.stepsPerFrame = static_cast<uint32_t>(steps);
    sim.timeStep = interval / steps;
    sim.substeps = static_cast<uint32_t>(node.whole("substeps", sim.substeps));
    if (node.has("frames") && node.has("duration"))
      node["frames"].fail("has both \"frames\" and \"duration\"", "give one of them");
    const double frames = node.notNegative("duration", kTime, 5) * world.frameRate;
    if (!(frames <= 1e9)) node["duration"].fail("is more than a billion frames");
    world.frames = node.whole("frames", static_cast<uint64_t>(std::llround(frames)));
    world.seed = node.whole("seed", 1);
    sim.sleep = node.flag("sleep", sim.sleep);
    sim.sleepSpeed = node.positive("sleepSpeed", kSpeed, sim.sleepSpeed);
    sim.sleepTime = node.positive("sleepTime", kTime, sim.sleepTime);
    if (node.has("bounds")) {
      const Box3 box{node["bounds"]["lower"].vector(kLength), node["bounds"]["upper"].vector(kLength)};
      if (box.empty()) node["bounds"].fail("the upper corner must be above the lower one");
      world.bounds = box;
    }
    if (node.has("solver")) readSolver(node["solver"], sim);
  }

  static void readSolver(const SceneNode& node, rigid::SimulationSettings& sim) {
    sim.contactRate = node.positive("contactRate", kPlain, sim.contactRate);
    sim.contactDamping = node.notNegative("contactDamping", kPlain, sim.contactDamping);
    sim.pushSpeed = node.positive("pushSpeed", kSpeed, sim.pushSpeed);
    sim.slop = node.notNegative("slop", kPlain, sim.slop);
    sim.bounceSpeed = node.notNegative("bounceSpeed", kSpeed, sim.bounceSpeed);
    sim.continuous = node.flag("continuous", sim.continuous);
    sim.selection.firstLimit = static_cast<uint32_t>(node.whole("contacts", sim.selection.firstLimit));
    sim.selection.growth = static_cast<uint32_t>(node.whole("contactGrowth", sim.selection.growth));
    sim.selection.depthTolerance = node.notNegative("depthTolerance", kPlain, sim.selection.depthTolerance);
    sim.selection.full = node.flag("allContacts", sim.selection.full);
  }

  uint32_t needMaterial(const SceneNode& node) const {
    if (!materialsRead_ && !material::find(scene_.materials, node.text())) throw FollowsFromAnother{};
    return materialIndex(node, scene_.materials);
  }

  void readRecording(const SceneNode& node) {
    RecordingSettings& recording = scene_.recording;
    recording.keyEvery = static_cast<uint32_t>(node.whole("keyEvery", recording.keyEvery));
    recording.checkpointFrames = node.whole("checkpointFrames", recording.checkpointFrames);
    recording.checkpointSeconds = node.positive("checkpointSeconds", kTime, recording.checkpointSeconds);
    scene_.world.simulation.eventImpulse = node.notNegative("eventImpulse", kImpulse, 0);
    if (node.has("fields"))
      for (size_t i = 0; i < node["fields"].size(); ++i) {
        const std::string field = node["fields"][i].text();
        (field == "impulse" ? recording.impulseField : recording.asleepField) = true;
      }
  }

  uint32_t needShape(const SceneNode& node) {
    if (!node.json().is_string()) {
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
  uint32_t shapeIndex(const std::string& name, const SceneNode& node) {
    Json json = node.json();
    const std::string hash = json.value("hash", "");
    json.erase("hash");
    std::string identity = json.dump();
    if (const auto found = shapeByIdentity_.find(identity); found != shapeByIdentity_.end())
      return found->second;
    return addShape({.name = name,
                     .value = readShape(node),
                     .identity = std::move(identity),
                     .pointer = node.pointer(),
                     .fileHash = hash});
  }

  uint32_t addShape(ShapeSpec spec) {
    const auto index = static_cast<uint32_t>(scene_.shapes.size());
    const auto [found, added] = shapeByIdentity_.try_emplace(spec.identity, index);
    if (added) scene_.shapes.push_back(std::move(spec));
    return found->second;
  }

  FractureSpec readFracture(const SceneNode& node, rigid::BodyKind kind) {
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
  BodySpec readSettings(const SceneNode& node) {
    BodySpec body;
    body.pointer = node.pointer();
    if (node.has("material")) body.material = needMaterial(node["material"]);
    const std::string kind = node.text("kind", "dynamic");
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

  void addBody(BodySpec body, const SceneNode& place) {
    if (!bodyById_.try_emplace(body.id, static_cast<uint32_t>(scene_.bodies.size())).second)
      place.fail(fmt::format("there are two bodies \"{}\"", body.id), "give one of them another id");
    if (body.kind == rigid::BodyKind::Dynamic &&
        std::holds_alternative<PlaneShape>(scene_.shapes[body.shape].value))
      place.fail("a plane cannot move", "set \"kind\" to \"static\"");
    bodiesAsked_ += body.standsFor;
    scene_.bodies.push_back(std::move(body));
  }

  // A liquid has a place among the bodies, by which recordings know it.
  void addLiquids(const SceneNode& node) {
    scene_.fluid = readFluid(
        node, scene_, [&](const SceneNode& name) { return needMaterial(name); },
        [&](const SceneNode& name) { return needBody(name); });
    for (LiquidSpec& liquid : scene_.fluid->liquids) {
      const Json point = {{"sphere", {{"radius", scene_.fluid->settings.radius}}}};
      BodySpec body;
      body.id = liquid.id;
      body.pointer = liquid.pointer;
      body.kind = rigid::BodyKind::Static;
      body.material = liquid.material;
      body.shape = addShape({.name = "particle",
                             .value = SphereShape{scene_.fluid->settings.radius},
                             .identity = point.dump(),
                             .pointer = liquid.pointer,
                             .fileHash = ""});
      body.liquid = true;
      liquid.body = static_cast<uint32_t>(scene_.bodies.size());
      addBody(std::move(body), node);
    }
  }

  void readBody(const SceneNode& node) {
    BodySpec body = readSettings(node);
    body.id = node["id"].text();
    if (body.id.empty() || body.id.find_first_of("*[]") != std::string::npos)
      node["id"].fail(fmt::format("\"{}\" cannot be an id", body.id), "not empty and without *, [ and ]");
    const size_t shapes = scene_.shapes.size();
    body.shape = needShape(node["shape"]);
    body.pose.position = node.vector("position", kLength, Vec3::Zero());
    if (node.has("keyFrames")) readKeyFrames(node, body);
    body.repeat = node.flag("repeat", false);
    if (node.has("cut"))
      addPieces(body, shapes, node);
    else
      addBody(std::move(body), node);
  }

  // By piece: how many are larger.
  static std::vector<size_t> ranks(std::span<const double> volumes) {
    std::vector<size_t> order(volumes.size()), rank(volumes.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return volumes[a] > volumes[b]; });
    for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    return rank;
  }

  // A body that planes cut before the run: bodies "id.0", "id.1", ... in its place.
  void addPieces(const BodySpec& body, size_t shapesBefore, const SceneNode& node) {
    ShapeSpec whole = scene_.shapes[body.shape];
    if (body.shape >= shapesBefore) {  // nobody else has it: it need not be built
      shapeByIdentity_.erase(whole.identity);
      scene_.shapes.pop_back();
    }
    const auto* source = std::get_if<MeshShape>(&whole.value);
    if (!source)
      node["cut"].fail("only meshes can be cut", "take a mesh file, or a procedural shape (\"make\")");
    MeshShape cut = *source;
    cut.cut = readCutPlanes(node["cut"]);
    whole.value = cut;
    requireAffordableMesh(scene_, whole, memory_);
    // What the pieces take is compared with the memory before anything is cut.
    const geometry::TriMesh mesh = sourceMeshAt(scene_, whole, cut);
    const auto estimate = std::make_shared<const CutSize>(sizeOfPieces(mesh, cut.cut));
    std::vector<double> volumes;
    std::vector<size_t> estimated;  // by piece
    if (mostBodies_ != UINT64_MAX) {
      scene_.uncut = true;
      for (const PieceSize& piece : estimate->pieces) volumes.push_back(piece.volume);
      estimated.resize(volumes.size());
      std::iota(estimated.begin(), estimated.end(), size_t(0));
    } else {
      cutBytes_ += requireAffordablePieces(scene_, whole, *estimate, cutBytes_, memory_);
      try {
        volumes = pieceVolumes(mesh, cut.cut);
      } catch (const Error& error) {
        scene_.document.rethrow(error, whole.pointer);
      }
      estimated = ranks(volumes);
    }
    double sum = 0;
    for (const double v : volumes) sum += v;
    Json json = Json::parse(whole.identity);
    json["cut"] = node["cut"].json();
    for (size_t k = 0; k < volumes.size(); ++k) {
      json["piece"] = k;
      cut.piece = k;
      BodySpec piece = body;
      piece.id = fmt::format("{}.{}", body.id, k);
      if (body.mass) piece.mass = *body.mass * volumes[k] / sum;
      const std::string name = whole.name.empty() ? "" : fmt::format("{}.{}", whole.name, k);
      piece.shape = addShape({.name = name,
                              .value = cut,
                              .identity = json.dump(),
                              .pointer = whole.pointer,
                              .fileHash = whole.fileHash});
      scene_.shapes[piece.shape].cut = estimate;
      scene_.shapes[piece.shape].cutPiece = estimated[k];
      addBody(std::move(piece), node);
    }
  }

  static void readKeyFrames(const SceneNode& node, BodySpec& body) {
    const SceneNode list = node["keyFrames"];
    if (body.kind != rigid::BodyKind::Kinematic)
      list.fail("only a kinematic body follows key frames", "set \"kind\" to \"kinematic\"");
    rigid::Pose last = body.pose;
    for (size_t i = 0; i < list.size(); ++i) {
      KeyFrame key;
      key.time = list[i]["time"].notNegative(kTime);
      key.pose.position = list[i].vector("position", kLength, last.position);
      key.pose.rotation = list[i].has("rotation") ? list[i]["rotation"].rotation() : last.rotation;
      if (i > 0 && !(key.time > body.keyFrames.back().time))
        list[i]["time"].fail("times must grow from one to the next");
      last = key.pose;
      body.keyFrames.push_back(key);
    }
    body.pose = body.keyFrames.front().pose;
  }

  // Bodies are counted before they are made.
  void requireRoom(const SceneNode& array) const {
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

  static MeshShape letterShape(char letter, const LetterSettings& letters) {
    MeshShape shape;
    shape.make = "letters";
    shape.with = {{"text", std::string(1, letter)},
                  {"height", Json(letters.height).dump()},
                  {"depth", Json(letters.depth).dump()}};
    return shape;
  }

  void readArray(const SceneNode& node) {
    requireRoom(node);
    const std::string id = node["id"].text();
    if (id.empty() || id.find_first_of("*[]") != std::string::npos)
      node["id"].fail(fmt::format("\"{}\" cannot be an id", id), "not empty and without *, [ and ]");
    const SceneNode part = node["body"];
    const BodySpec settings = readSettings(part);
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
    for (const ArrayItem& item : items) {
      const uint64_t i = item.index;
      BodySpec body = settings;
      body.id = fmt::format("{}[{}]", id, i);
      body.pointer = node.pointer();
      body.pose = item.pose * settings.pose;
      body.standsFor = standsFor;
      if (text) {
        const Json shape = {
            {"make", "letters"},
            {"with",
             {{"text", std::string(1, item.letter)}, {"height", letters.height}, {"depth", letters.depth}}}};
        body.shape = addShape({.name = fmt::format("letter {}", item.letter),
                               .value = letterShape(item.letter, letters),
                               .identity = shape.dump(),
                               .pointer = node.pointer(),
                               .fileHash = ""});
      } else {
        body.shape = shapes[i % shapes.size()];
      }
      if (!materials.empty()) body.material = materials[i % materials.size()];
      addBody(std::move(body), node);
    }
  }

  uint32_t needBody(const SceneNode& node) const {
    const std::string id = node.text();
    if (const auto found = bodyById_.find(id); found != bodyById_.end()) return found->second;
    if (failedBefore(id)) throw FollowsFromAnother{};
    if (scene_.sampled || scene_.uncut) throw NamesOneLeftOut{};
    std::vector<std::string_view> known;
    for (const BodySpec& body : scene_.bodies)
      if (known.size() < 500) known.push_back(body.id);
    node.fail(fmt::format("there is no body \"{}\"", id),
              known.size() > 20 ? std::string("see the ids of bodies and arrays") : suggestion(id, known));
  }

  // Remembered: many forces may act on the same of many bodies.
  const std::vector<uint32_t>& bodiesLike(const SceneNode& node) {
    const std::string pattern = node.text();
    const auto [known, added] = bodiesByPattern_.try_emplace(pattern);
    std::vector<uint32_t>& found = known->second;
    if (!added) return found;
    for (uint32_t i = 0; i < scene_.bodies.size(); ++i)
      if (fitsPattern(pattern, scene_.bodies[i].id)) found.push_back(i);
    if (found.empty() && !failed_.empty()) throw FollowsFromAnother{};
    if (found.empty() && (scene_.sampled || scene_.uncut)) throw NamesOneLeftOut{};
    if (found.empty()) node.fail(fmt::format("no body has an id like \"{}\"", pattern));
    return found;
  }

  void readJoint(const SceneNode& node, size_t number) {
    JointSpec spec;
    spec.pointer = node.pointer();
    const std::string id = node.text("id", fmt::format("joint {}", number + 1));
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
    if (node.has("a")) joint.a = rigid::BodyIndex(needBody(node["a"]));
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
    const bool relative = node.flag("relative", false);
    const bool many = node["b"].text().find('*') != std::string::npos;
    if (distance && !node.has("anchor")) node.fail("a distance needs an \"anchor\"");
    const auto bodies = many ? bodiesLike(node["b"]) : std::vector<uint32_t>{needBody(node["b"])};
    double more = 0;
    for (const uint32_t b : bodies) more += scene_.bodies[b].standsFor;
    jointsAsked_ += more;
    if (kBytesABody * jointsAsked_ > static_cast<double>(memory_))
      throw scene_.document
          .error(node.pointer() + "/b",
                 fmt::format("\"{}\" makes {} joints more than the memory has room for", node["b"].text(),
                             countWords(more)),
                 ErrorKind::Limit)
          .hint("a pattern that fits fewer bodies, or a higher limit (--memory)");
    for (size_t i = 0; i < bodies.size(); ++i) {
      const BodySpec& b = scene_.bodies[bodies[i]];
      if (joint.a.valid() && joint.a.value == bodies[i])
        node["b"].fail("a joint cannot hold a body to itself");
      if (b.kind != rigid::BodyKind::Dynamic &&
          (!joint.a.valid() || scene_.bodies[joint.a.value].kind != rigid::BodyKind::Dynamic))
        node.fail("neither of the two can move", "one of them must be dynamic");
      joint.b = rigid::BodyIndex(bodies[i]);
      const Vec3 origin = relative ? b.pose.position : Vec3::Zero();
      joint.anchorA = node.has("anchor") ? Vec3(origin + node["anchor"].vector(kLength)) : b.pose.position;
      joint.anchorB = node.has("anchorB") ? Vec3(origin + node["anchorB"].vector(kLength)) : b.pose.position;
      spec.id = many ? fmt::format("{}[{}]", id, i) : id;
      scene_.joints.push_back(spec);
    }
  }

  void readForce(const SceneNode& node, size_t number) {
    static constexpr std::array<std::string_view, 5> kKinds{"gravity", "wind", "drag", "explosion",
                                                            "attractor"};
    const std::string kind = node.oneOf(kKinds);
    const SceneNode part = node[kind.c_str()];
    ForceSpec force;
    force.id = node.text("id", fmt::format("force {}", number + 1));
    force.from = node.notNegative("from", kTime, 0);
    force.until = node.notNegative("until", kTime, std::numeric_limits<double>::infinity());
    if (!(force.until > force.from)) node["until"].fail("must be after \"from\"");
    std::vector<bool> named(scene_.bodies.size(), !node.has("bodies"));
    if (node.has("bodies"))
      for (size_t i = 0; i < node["bodies"].size(); ++i)
        for (const uint32_t b : bodiesLike(node["bodies"][i])) named[b] = true;
    for (uint32_t b = 0; b < named.size(); ++b)
      if (named[b] && scene_.bodies[b].kind == rigid::BodyKind::Dynamic) force.bodies.push_back(b);
    if (kind == "gravity") {
      force.kind = ForceKind::Gravity;
      force.vector = part["acceleration"].vector(kAcceleration);
    } else if (kind == "wind") {
      force.kind = ForceKind::Wind;
      force.vector = part["velocity"].vector(kSpeed);
      force.density = part.positive("density", kDensity, 1.2);
      force.dragCoefficient = part.notNegative("dragCoefficient", kPlain, 0.5);
    } else if (kind == "drag") {
      force.kind = ForceKind::Drag;
      force.linear = part.notNegative("linear", kRate, 0);
      force.angular = part.notNegative("angular", kRate, 0);
    } else if (kind == "explosion") {
      force.kind = ForceKind::Explosion;
      force.vector = part["position"].vector(kLength);
      force.time = part["time"].notNegative(kTime);
      force.strength = part["impulse"].positive(kImpulse);
      force.radius = part["radius"].positive(kLength);
    } else {
      force.kind = ForceKind::Attractor;
      force.vector = part["position"].vector(kLength);
      force.strength = part["acceleration"].quantity(kAcceleration);
      force.radius = part["radius"].positive(kLength);
    }
    for (const uint32_t b : force.bodies) forceBodies_ += scene_.bodies[b].standsFor;
    if (8.0 * forceBodies_ > static_cast<double>(memory_))
      throw scene_.document
          .error(node.pointer(), "the forces act on more bodies than the memory has room for",
                 ErrorKind::Limit)
          .hint("name fewer bodies in \"bodies\", or raise the limit (--memory)");
    scene_.forces.push_back(std::move(force));
  }

  Scene& scene_;
  SceneNode root_;
  ErrorList errors_;
  std::set<std::string> failed_;  // ids of parts with errors; "" of parts that have none
  bool materialsRead_ = true;     // none has an error
  uint64_t memory_ = memoryLimit();
  double cutBytes_ = 0;  // of pieces so far
  double bodiesAsked_ = 0, jointsAsked_ = 0,
         forceBodies_ = 0;  // of the whole scene, also where a sample is read
  uint64_t mostBodies_, mostOfArray_ = UINT64_MAX;
  std::map<std::string, uint32_t> shapeByIdentity_, bodyById_;
  std::map<std::string, std::vector<uint32_t>> bodiesByPattern_;
};

}  // namespace

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
  if (spec.liquid) body.mask = 0;
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
  for (const BodySpec& body : bodies)
    for (uint32_t i = body.material; used.insert(i).second;)
      i = static_cast<uint32_t>(&material::insideOf(materials, materials[i]) - materials.data());
  return {used.begin(), used.end()};
}

std::string Scene::resolvedText() const {
  Json json = document.json();
  json.erase("$schema");
  Json table = Json::object();
  for (const uint32_t i : usedMaterials()) table[materials[i].name] = materialJson(materials[i]);
  json["materials"] = std::move(table);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sunder::world
