#include "sunder/world/world.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/forces.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sunder::world {

namespace {

using rigid::BodyIndex;
using Json = nlohmann::json;

constexpr uint32_t kStateVersion = 4;
constexpr uint64_t kMostFrames = uint64_t(1) << 40;  // of a state: clocks and counts stay exact
constexpr const char* kCoarse = "pieces are shown as coarse as their tetrahedra";

record::BodyKind recordKind(rigid::BodyKind kind) {
  switch (kind) {
    case rigid::BodyKind::Static:
      return record::BodyKind::Static;
    case rigid::BodyKind::Kinematic:
      return record::BodyKind::Kinematic;
    case rigid::BodyKind::Dynamic:
      break;
  }
  return record::BodyKind::Dynamic;
}

// What breaks must hear of every contact.
rigid::SimulationSettings settingsOf(const Scene& scene) {
  rigid::SimulationSettings settings = scene.world.simulation;
  const bool breaks = std::any_of(scene.bodies.begin(), scene.bodies.end(),
                                  [](const BodySpec& b) { return b.fracture.has_value(); });
  if (breaks) settings.eventImpulse = std::numeric_limits<double>::min();
  return settings;
}

}  // namespace

rigid::Pose poseAt(const BodySpec& body, double time) {
  const auto& keys = body.keyFrames;
  if (keys.empty()) return body.pose;
  const double first = keys.front().time, last = keys.back().time;
  if (body.repeat && last > first && time > last) time = first + std::fmod(time - first, last - first);
  if (time <= first) return keys.front().pose;
  if (time >= last) return keys.back().pose;
  const auto after = std::upper_bound(keys.begin(), keys.end(), time,
                                      [](double t, const KeyFrame& key) { return t < key.time; });
  const KeyFrame &a = *(after - 1), &b = *after;
  const double s = (time - a.time) / (b.time - a.time);
  return {a.pose.position + s * (b.pose.position - a.pose.position),
          a.pose.rotation.slerp(s, b.pose.rotation).normalized()};
}

World::World(Scene scene, const Progress& progress)
    : scene_(readyScene(std::move(scene))),
      shapes_([&] {
        const ProfileScope scope("build");
        const size_t count = scene_.shapes.size();
        return buildShapes(scene_, [&](size_t i, const std::string& name) {
          if (progress) progress(i, count, name);
        });
      }()),
      breakage_(scene_, shapes_),
      liquids_(scene_, shapes_),
      simulation_(settingsOf(scene_)) {
  const ProfileScope scope("build");
  for (size_t i = 0; i < shapes_.size(); ++i)
    if (!shapes_[i].problems.empty())
      degrade("meshes with defects", 1, 0,
              fmt::format("{}: {}", shapeTitle(scene_.shapes[i]), shapes_[i].problems.front()));
  degrade(kCoarse, breakage_.report().coarse, 0, "");
  populate();
  liquids_.start(simulation_);
  degrade("particles of blocks would have been in bodies and were left out", liquids_.report().buried, 0, "");
}

void World::populate() {
  breakable_.clear();
  forces_ = scene_.forces;
  for (uint32_t b = 0; b < scene_.bodies.size(); ++b) {
    const BodySpec& spec = scene_.bodies[b];
    rigid::BodySettings body = bodySettings(scene_, spec);
    body.shape = breakage_.wholeShape(b);
    if (body.shape)
      breakable_.push_back(b);
    else
      body.shape = shapes_[spec.shape].shape;
    try {
      simulation_.addBody(body);
    } catch (const Error& error) {
      throw scene_.document.error(spec.pointer, error.message()).hint(error.hint());
    }
  }
  for (const JointSpec& spec : scene_.joints) {
    try {
      simulation_.addJoint(spec.settings);
    } catch (const Error& error) {
      throw scene_.document.error(spec.pointer, error.message()).hint(error.hint());
    }
  }
  brokenJoints_.assign(scene_.joints.size(), 0);
}

void World::degrade(const char* what, uint64_t count, uint64_t frame, const std::string& example) {
  if (count == 0) return;
  for (Degradation& d : degradations_) {
    if (d.what != what) continue;
    d.count += count;
    return;
  }
  degradations_.push_back({what, count, frame, example});
}

std::vector<rigid::Simulation::Overlap> World::noteOverlaps() {
  auto overlaps = simulation_.overlaps();
  if (!overlaps.empty())
    degrade("pairs of bodies overlap at the start", overlaps.size(), frame_,
            fmt::format("{} and {} by {:.3g} m", simulation_.name(overlaps[0].a),
                        simulation_.name(overlaps[0].b), overlaps[0].depth));
  return overlaps;
}

void World::advance() {
  events_.clear();
  Work work(fmt::format("frame {}", frame_ + 1), scene_.world.stepsPerFrame, "steps");
  try {
    for (uint32_t i = 0; i < scene_.world.stepsPerFrame; ++i) {
      step();
      work.step();
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Limit) throw;
    std::string message = fmt::format("frame {}: {}", frame_ + 1, error.message());
    std::string hint = error.hint();
    // What the step relies on refused a number of its own making: somebody has left every sensible place.
    if (error.kind() != ErrorKind::Numerical) {
      const BodyIndex body = farthestBody();
      if (body.valid())
        message += fmt::format("; the farthest is body {} '{}', {:.3g} m from the origin at {:.3g} m/s",
                               body.value, simulation_.name(body), simulation_.centre(body).norm(),
                               simulation_.velocity(body).norm());
      hint = "look for extreme forces and speeds; \"bounds\" of the world removes what flies away";
    }
    throw Error(ErrorKind::Numerical, message).hint(hint);
  }
  ++frame_;
  removeLost();
}

BodyIndex World::farthestBody() const {
  BodyIndex farthest;
  double most = -1;
  for (uint32_t i = 0; i < simulation_.bodyCount(); ++i) {
    const BodyIndex body(i);
    if (!simulation_.exists(body) || simulation_.kind(body) != rigid::BodyKind::Dynamic) continue;
    const double way = simulation_.centre(body).norm() + simulation_.velocity(body).norm();
    if (most >= way) continue;
    most = way;
    farthest = body;
  }
  return farthest;
}

void World::step() {
  const uint64_t done = simulation_.stepsDone();
  const double dt = scene_.world.simulation.timeStep;
  {
    const ProfileScope scope("forces");
    for (uint32_t i = 0; i < scene_.bodies.size(); ++i) {
      const BodySpec& body = scene_.bodies[i];
      if (body.keyFrames.size() < 2) continue;
      const rigid::Pose target = poseAt(body, static_cast<double>(done + 1) * dt);
      const rigid::Pose now = simulation_.pose(BodyIndex(i));
      if (target.position != now.position || target.rotation.coeffs() != now.rotation.coeffs())
        simulation_.moveTo(BodyIndex(i), target);
    }
    applyForces(forces_, simulation_, done);
    liquids_.push(simulation_);
  }
  {
    const ProfileScope scope("step");
    if (breakage_.any()) breakage_.watch(simulation_);
    simulation_.step();
  }
  gather();
  breakBodies();
  if (!liquids_.any()) return;
  liquids_.step(simulation_, static_cast<double>(done + 1) * dt);
  const LiquidsReport& now = liquids_.report();
  degrade("steps of the fluid left more compression than asked for", now.missedDensity - wet_.missedDensity,
          frame_ + 1, "");
  degrade("steps of the fluid left more divergence than asked for",
          now.missedDivergence - wet_.missedDivergence, frame_ + 1, "");
  degrade("steps of the fluid were longer than its speed asks for", now.rushed - wet_.rushed, frame_ + 1, "");
  degrade("particles of the fluid were held back: there was no room for them, or the step was too long",
          now.heldBack - wet_.heldBack, frame_ + 1, "");
  degrade("steps of the fluid left viscosity unsolved", now.missedViscosity - wet_.missedViscosity,
          frame_ + 1, "");
  wet_ = now;
}

void World::breakBodies() {
  if (!breakage_.any()) return;
  const uint32_t before = simulation_.bodyCount();
  const uint64_t cutShort = breakage_.report().cutShort;
  for (const BreakRecord& broke : breakage_.act(simulation_, frame_ + 1)) {
    const size_t pieces = broke.change.appeared.size();
    events_.push_back({record::EventKind::Fracture, broke.body, kNoIndex, Vec3f::Zero(), Vec3f::Zero(), 0, 0,
                       pieces > 1 ? fmt::format("{} pieces", pieces) : "cracked, in one piece"});
  }
  adoptPieces(before);
  const BreakageReport& now = breakage_.report();
  degrade("pieces too small to go their own way stayed with a neighbour", now.tinyParts - tiny_, frame_ + 1,
          "");
  degrade("breaks could not be made", now.refused - refused_, frame_ + 1, now.refusal);
  refused_ = now.refused;
  degrade("analyses of impacts were ended by their limit of work: cracks may be missing",
          now.cutShort - cutShort, frame_ + 1, "");
  degrade("splinters fly on but touch nothing", now.splinters - splinters_, frame_ + 1, "");
  tiny_ = now.tinyParts;
  splinters_ = now.splinters;
}

// Forces on a body act on its pieces.
void World::adoptPieces(uint32_t from) {
  for (uint32_t i = from; i < simulation_.bodyCount(); ++i)
    for (ForceSpec& force : forces_)
      if (std::binary_search(force.bodies.begin(), force.bodies.end(), breakage_.originOf(i)))
        force.bodies.push_back(i);
}

void World::gather() {
  const rigid::StepReport& report = simulation_.report();
  mostContacts_ = std::max(mostContacts_, report.contacts);
  degrade("times a fast body lost the rest of a step", report.stoppedBodies, frame_ + 1, "");
  degrade("times a row of impacts was cut off", report.slowImpacts, frame_ + 1, "");
  const double least = scene_.world.simulation.eventImpulse;
  for (const rigid::ContactEvent& event : simulation_.events())
    if (least > 0 && event.impulse >= least)
      events_.push_back({record::EventKind::Contact, event.a.value, event.b.value, event.point.cast<float>(),
                         event.normal.cast<float>(),
                         static_cast<float>(std::hypot(event.impulse, event.tangential.norm())),
                         static_cast<float>(event.approach), ""});
  if (report.brokenJoints == 0) return;
  for (uint32_t j = 0; j < brokenJoints_.size(); ++j) {
    if (brokenJoints_[j] || !simulation_.jointState(rigid::JointIndex(j)).broken) continue;
    brokenJoints_[j] = 1;
    const rigid::JointSettings& joint = scene_.joints[j].settings;
    events_.push_back({record::EventKind::JointBreak, joint.a.value, joint.b.value,
                       joint.anchorA.cast<float>(), Vec3f::Zero(), 0, 0, scene_.joints[j].id});
  }
}

void World::removeLost() {
  if (!scene_.world.bounds) return;
  for (uint32_t i = 0; i < simulation_.bodyCount(); ++i) {
    const BodyIndex body(i);
    if (!simulation_.exists(body) || simulation_.kind(body) != rigid::BodyKind::Dynamic) continue;
    const Vec3 centre = simulation_.centre(body);
    if (scene_.world.bounds->contains(centre)) continue;
    events_.push_back({record::EventKind::Death, i, kNoIndex, centre.cast<float>(), Vec3f::Zero(), 0, 0,
                       "left the bounds"});
    simulation_.removeBody(body);
    ++removed_;
  }
}

uint32_t World::meshCount() const {
  const size_t pieces = simulation_.bodyCount() - scene_.bodies.size();
  return static_cast<uint32_t>(shapes_.size() + breakable_.size() + pieces);
}

const fracture::FinePiece& World::shown(uint32_t piece) {
  ShownPieces& shown = breakage_.shown();
  shown.finish();
  for (const uint64_t frame : shown.coarseSince(shownBreaks_)) degrade(kCoarse, 1, frame, "");
  shownBreaks_ = std::max(shownBreaks_, shown.finished());
  return shown.piece(piece);
}

record::MeshEntry World::mesh(uint32_t index) {
  record::MeshEntry mesh;
  const geometry::TriMesh* surface = nullptr;
  if (index < shapes_.size()) {
    mesh.name = shapeTitle(scene_.shapes[index]);
    surface = &shapes_[index].shape->surface();
    mesh.interior = shapes_[index].interior;
  } else if (const size_t whole = index - shapes_.size(); whole < breakable_.size()) {
    mesh.name = scene_.bodies[breakable_[whole]].id;
    surface = &breakage_.wholeSurface(breakable_[whole]);
  } else {
    const auto piece = uint32_t(whole - breakable_.size());
    const fracture::FinePiece& looks = shown(piece);
    mesh.name = breakage_.spawned()[piece].name;
    surface = &looks.mesh;
    mesh.interior = looks.interior;
  }
  for (const Vec3& p : surface->positions) mesh.positions.push_back(p.cast<float>());
  mesh.triangles = surface->triangles;
  return mesh;
}

record::BodyEntry World::body(uint32_t index) const {
  const BodySpec& spec = scene_.bodies[breakage_.originOf(index)];
  const size_t own = scene_.bodies.size();
  record::BodyEntry body;
  body.material = scene_.materials[spec.material].name;
  body.kind = recordKind(spec.kind);
  if (index < own) {
    body.name = spec.id;
    body.ground = spec.kind == rigid::BodyKind::Static &&
                  std::holds_alternative<PlaneShape>(scene_.shapes[spec.shape].value);
    body.mass = spec.kind == rigid::BodyKind::Dynamic ? simulation_.mass(BodyIndex(index)) : 0;
    const auto found = std::lower_bound(breakable_.begin(), breakable_.end(), index);
    body.mesh = spec.shape;
    if (spec.liquid) {
      body.kind = record::BodyKind::Fluid;
      body.mesh = kNoIndex;
      for (uint32_t l = 0; l < scene_.fluid->liquids.size(); ++l)
        if (scene_.fluid->liquids[l].body == index) body.mass = liquids_.mass(l);
    }
    if (found != breakable_.end() && *found == index)
      body.mesh = static_cast<uint32_t>(shapes_.size() + size_t(found - breakable_.begin()));
  } else {
    const SpawnedBody& piece = breakage_.spawned()[index - own];
    body.ground = false;
    body.name = piece.name;
    body.mass = piece.mass;
    body.parent = piece.parent;
    body.born = piece.born;
    body.mesh = static_cast<uint32_t>(shapes_.size() + breakable_.size() + index - own);
  }
  return body;
}

std::vector<record::MeshEntry> World::meshes() {
  std::vector<record::MeshEntry> out;
  for (uint32_t i = 0; i < meshCount(); ++i) out.push_back(mesh(i));
  return out;
}

std::vector<record::BodyEntry> World::bodies() const {
  std::vector<record::BodyEntry> out;
  for (uint32_t i = 0; i < bodyCount(); ++i) out.push_back(body(i));
  return out;
}

std::vector<record::BodyState> World::states() const {
  std::vector<record::BodyState> out(simulation_.bodyCount());
  for (uint32_t i = 0; i < out.size(); ++i) {
    const BodyIndex body(i);
    if (!simulation_.exists(body)) continue;
    const rigid::Pose pose = simulation_.pose(body);
    out[i] = {pose.position.cast<float>(), pose.rotation.cast<float>(),
              simulation_.velocity(body).cast<float>(), simulation_.angularVelocity(body).cast<float>(),
              true};
  }
  return out;
}

std::vector<record::BodyField> World::fields() const {
  std::vector<record::BodyField> out;
  const size_t count = simulation_.bodyCount();
  if (scene_.recording.impulseField) {
    record::BodyField field{"impulse", std::vector<float>(count)};
    for (const rigid::ContactView& contact : simulation_.contacts())
      for (const BodyIndex body : {contact.a, contact.b})
        if (body.valid()) field.values[body.value] += static_cast<float>(contact.impulse.norm());
    out.push_back(std::move(field));
  }
  if (scene_.recording.asleepField) {
    record::BodyField field{"asleep", std::vector<float>(count)};
    for (uint32_t i = 0; i < count; ++i)
      if (simulation_.exists(BodyIndex(i)) && !simulation_.awake(BodyIndex(i))) field.values[i] = 1;
    out.push_back(std::move(field));
  }
  return out;
}

std::vector<record::Statistic> World::statistics() const {
  const rigid::StepReport& report = simulation_.report();
  const rigid::Energy energy = simulation_.energy();
  const auto number = [](uint64_t value) { return static_cast<double>(value); };
  std::vector<record::Statistic> out{
      {"energy.kinetic", energy.kinetic},     {"energy.potential", energy.potential},
      {"bodies.awake", number(report.awake)}, {"bodies.removed", number(removed_)},
      {"pairs", number(report.pairs)},        {"contacts", number(report.contacts)},
      {"islands", number(report.islands)},    {"depth.deepest", report.deepest},
      {"depth.mean", report.meanDepth},       {"events", number(events_.size())}};
  if (liquids_.any()) {
    const LiquidsReport& wet = liquids_.report();
    out.push_back({"fluid.particles", number(liquids_.fluid()->size())});
    out.push_back({"fluid.steps", number(wet.steps)});
    out.push_back({"fluid.iterations.density", number(wet.last.densityIterations)});
    out.push_back({"fluid.iterations.divergence", number(wet.last.divergenceIterations)});
    out.push_back({"fluid.error.density", wet.last.densityError});
    out.push_back({"fluid.fastest", wet.last.fastest});
  }
  return out;
}

std::string World::resolvedScene() const {
  Json json = Json::parse(scene_.resolvedText());
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i].fileHash.empty() || scene_.shapes[i].written.empty()) continue;
    // Every place that describes this file: equal descriptions are one shape.
    const Json spec = Json::parse(scene_.shapes[i].written);
    const std::function<void(Json&)> visit = [&](Json& node) {
      if (node.is_object() && node.contains("file")) {
        Json bare = node;
        bare.erase("hash");
        if (bare == spec) node["hash"] = shapes_[i].fileHash;
        return;
      }
      if (node.is_structured())
        for (Json& child : node) visit(child);
    };
    for (const char* key : {"shapes", "bodies", "arrays"})
      if (json.contains(key)) visit(json[key]);
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string World::save() const {
  std::string out;
  ByteWriter writer(out);
  writer.u32(kStateVersion);
  writer.u64(identityOfScene(scene_));
  writer.u64(frame_);
  writer.u64(mostContacts_);
  writer.u64(removed_);
  writer.u32(static_cast<uint32_t>(degradations_.size()));
  for (const Degradation& d : degradations_) {
    writer.u32(static_cast<uint32_t>(d.what.size()));
    writer.string(d.what);
    writer.u64(d.count);
    writer.u64(d.firstFrame);
    writer.u32(static_cast<uint32_t>(d.example.size()));
    writer.string(d.example);
  }
  writer.u64(shownBreaks_);
  breakage_.save(writer);
  simulation_.save(writer);
  liquids_.save(writer);
  return out;
}

void World::load(std::string_view state, const std::string& fileName) {
  ByteReader in(std::as_bytes(std::span(state.data(), state.size())), fileName);
  if (in.u32("version of the state") != kStateVersion)
    throw Error(ErrorKind::Unsupported, "the checkpoint is of another version of the program")
        .inFile(fileName);
  if (const uint64_t scene = in.u64("hash of the scene");
      scene != identityOfScene(scene_) && scene != identityByWords(scene_))
    throw Error(ErrorKind::Format, "the checkpoint is of another scene: bodies, shapes or joints differ")
        .inFile(fileName);
  const uint64_t frame = in.u64("frame"), most = in.u64("contacts"), removed = in.u64("removed bodies");
  if (frame > kMostFrames) in.fail(fmt::format("the state is of frame {}", frame));
  const uint32_t count = in.u32("number of degradations");
  in.need(count, 24, "degradations");
  std::vector<Degradation> degradations(count);
  for (Degradation& d : degradations) {
    d.what = in.string(in.u32("length"), "degradation");
    d.count = in.u64("degradation");
    d.firstFrame = in.u64("degradation");
    d.example = in.string(in.u32("length"), "degradation");
  }
  const uint64_t shownBreaks = in.u64("breaks that were looked at");
  if (breakage_.any()) {
    simulation_ = rigid::Simulation(settingsOf(scene_));
    populate();
  }
  breakage_.load(in, simulation_);
  if (shownBreaks > breakage_.changes().size())
    in.fail(fmt::format("{} breaks were looked at, of {}", shownBreaks, breakage_.changes().size()));
  adoptPieces(static_cast<uint32_t>(scene_.bodies.size()));
  splinters_ = breakage_.report().splinters;
  std::vector<uint32_t> broken;
  for (uint32_t b = 0; b < simulation_.bodyCount() && breakage_.any(); ++b)
    if (!simulation_.exists(BodyIndex(b))) broken.push_back(b);
  simulation_.load(in);
  for (const uint32_t b : broken)
    if (simulation_.exists(BodyIndex(b))) in.fail(fmt::format("body {} broke, but is still there", b));
  liquids_.load(in, simulation_,
                static_cast<double>(simulation_.stepsDone()) * scene_.world.simulation.timeStep);
  if (!in.atEnd()) in.fail(fmt::format("{} bytes more than the state of the scene", in.remaining()));
  wet_ = liquids_.report();
  frame_ = frame;
  mostContacts_ = most;
  removed_ = removed;
  degradations_ = std::move(degradations);
  shownBreaks_ = shownBreaks;
  events_.clear();
  for (uint32_t j = 0; j < brokenJoints_.size(); ++j)
    brokenJoints_[j] = simulation_.jointState(rigid::JointIndex(j)).broken ? 1 : 0;
}

// Not what was looked at so far, nor what was counted to be reported: neither changes what comes.
uint64_t World::hash() const {
  std::string state;
  ByteWriter writer(state);
  breakage_.save(writer);
  liquids_.save(writer);
  Hasher hasher;
  hasher.update(frame_);
  hasher.update(mostContacts_);
  hasher.update(removed_);
  hasher.update(simulation_.hash());
  hasher.updateSized(std::string_view(state));
  return hasher.digest();
}

}  // namespace sunder::world
