#include "sunder/world/parts/soft_part.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace sunder::world {

namespace {

constexpr uint32_t kMostRounds = 25, kMostIterations = 150;  // of contacts and Newton, in a step
// Of conjugate gradients, in an iteration of Newton: they take tens where contacts are few. Where a heap of
// splinters is pressed together, a rough direction for each of many iterations is worth more than few exact
// ones.
constexpr uint32_t kMostSolverIterations = 300;
constexpr double kForEver = std::numeric_limits<double>::infinity();

using geometry::u32;

}  // namespace

SoftPart::SoftPart(const Scene& scene, const std::vector<BuiltShape>& shapes, Ledger& ledger)
    : scene_(scene) {
  const ProfileScope scope("soft bodies");
  Work work("soft bodies", scene.softBodies.size(), "bodies");
  const auto made = buildSoftBodies(scene, shapes, [&](size_t, const std::string&) { work.step(); });
  for (size_t b = 0; b < made.size(); ++b) {
    auto kind = std::find(built_.begin(), built_.end(), made[b]);
    if (kind == built_.end()) {
      for (const std::string& problem : made[b]->problems)
        ledger.add("soft bodies with defects", 1, 0, fmt::format("{}: {}", scene.softBodies[b].id, problem));
      built_.push_back(made[b]);
      shapeOf_.push_back(scene.softBodies[b].shape);
      kind = built_.end() - 1;
    }
    kindOf_.push_back(u32(size_t(kind - built_.begin())));
  }
  populate();
}

// All cages in one mesh, at rest in the frames of their shapes; where they are is the state of the motion.
void SoftPart::populate() {
  if (scene_.fluid) boundary_ = std::make_unique<SoftBoundary>(motion_);
  geometry::TetMesh rest;
  std::vector<fem::SolidMaterial> materials;
  std::vector<uint16_t> materialOf;
  std::vector<double> fractions;
  std::vector<Vec3> positions, velocities;
  std::vector<soft::ContactSphere> spheres;
  std::vector<soft::ContactBody> touched;
  for (uint32_t b = 0; b < scene_.softBodies.size(); ++b) {
    const SoftBodySpec& spec = scene_.softBodies[b];
    const BuiltSoftPtr& built = built_[kindOf_[b]];
    Body body;
    body.built = built;
    body.firstTet = u32(rest.tets.size());
    body.torn = soft::Torn(built->cage);
    const auto first = u32(rest.positions.size());
    const geometry::TetMesh& cage = built->cage.rest;
    for (const geometry::Tetrahedron& t : cage.tets)
      rest.tets.push_back({t[0] + first, t[1] + first, t[2] + first, t[3] + first});
    for (uint32_t v = 0; v < cage.positions.size(); ++v) {
      rest.positions.push_back(cage.positions[v]);
      positions.push_back(spec.pose.point(cage.positions[v]));
      body.vertices.push_back(first + v);
      bodyOf_.push_back(b);
    }
    const Material material = softMaterial(scene_, spec);
    try {
      materials.push_back(solidMaterial(scene_, spec));
    } catch (const Error& error) {
      scene_.document.rethrow(error, spec.pointer);
    }
    materialOf.insert(materialOf.end(), cage.tets.size(), static_cast<uint16_t>(materials.size() - 1));
    fractions.insert(fractions.end(), built->fractions.begin(), built->fractions.end());
    for (size_t s = 0; s < built->spheres.size(); ++s) {
      soft::ContactSphere sphere{
          .tet = body.firstTet + built->spheres.tets[s], .radius = built->spheres.radii[s], .body = b};
      for (int k = 0; k < 4; ++k) sphere.weights[size_t(k)] = built->spheres.weights[s][k];
      spheres.push_back(sphere);
    }
    if (boundary_) boundary_->add(built->points, body.firstTet);
    touched.push_back({.friction = material.friction,
                       .restitution = std::clamp(material.restitution, 0.0, 1.0),
                       .young = material.young,
                       .self = spec.soft.selfContact});
    if (spec.soft.tear) {
      body.law = {.strength = material.strength, .surfaceEnergy = material.surfaceEnergy};
      body.tear =
          soft::TearSettings{.strength = soft::effectiveStrength(body.law, material.young, built->edge),
                             .mostSplits = spec.soft.tear->mostSplits};
      body.law.strength = body.tear->strength;
    }
    body.pinOf.assign(cage.positions.size(), kNoIndex);
    for (uint32_t p = 0; p < spec.soft.pins.size(); ++p) {
      const PinSpec& pin = spec.soft.pins[p];
      bool any = false;
      for (uint32_t v = 0; v < cage.positions.size(); ++v) {
        if (!pin.box.contains(cage.positions[v])) continue;
        any = true;
        if (!pin.body) body.pinOf[v] = p;
      }
      if (any) continue;
      throw scene_.document.error(pin.pointer, "no vertex of the cage is in this box")
          .hint(
              "the box is in the frame of the shape, before it is moved; make it larger, or give the body "
              "more "
              "\"tets\"");
    }
    bodies_.push_back(std::move(body));
  }
  solid_.set(rest, materials, materialOf, fractions);
  fem::MotionSettings settings;
  settings.mostRounds = kMostRounds;
  settings.mostIterations = kMostIterations;
  settings.mostSolverIterations = kMostSolverIterations;
  motion_.set(solid_, positions, settings);
  velocities.resize(positions.size());
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    const SoftBodySpec& spec = scene_.softBodies[b];
    Vec3 centre = Vec3::Zero();
    double mass = 0;
    for (const uint32_t v : bodies_[b].vertices) {
      centre += solid_.masses()[v] * positions[v];
      mass += solid_.masses()[v];
    }
    centre /= mass;
    for (const uint32_t v : bodies_[b].vertices)
      velocities[v] = spec.velocity + spec.angularVelocity.cross(positions[v] - centre);
  }
  motion_.setState(positions, velocities);
  contacts_.set(rest, spheres, touched);
  addTies();
  attachments_.set(rest, allTies_);
  giveCorners();
}

void SoftPart::addTies() {
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    const SoftBodySpec& spec = scene_.softBodies[b];
    for (const PinSpec& pin : spec.soft.pins)
      if (pin.body)
        addTie(bodies_[b], spec, pin.box, pin.body, {}, pin.pointer,
               {.strength = kForEver, .until = pin.until});
    for (const AttachSpec& glue : spec.soft.attach) {
      if (!glue.collide && glue.body) contacts_.keepApart(b, *glue.body);
      if (!glue.collide && glue.softBody) contacts_.keepBodiesApart(b, *glue.softBody);
      addTie(bodies_[b], spec, glue.box, glue.body, glue.softBody, glue.pointer,
             {.strength = glue.strength, .until = kForEver});
    }
  }
}

// One for each vertex of the cage in the box. Bodies of the scene have the same numbers in the table.
void SoftPart::addTie(const Body& body, const SoftBodySpec& spec, const Box3& box,
                      std::optional<uint32_t> rigid, std::optional<uint32_t> soft, const std::string& pointer,
                      Tie tie) {
  tie.first = u32(allTies_.size());
  tie.body = u32(size_t(&body - bodies_.data()));
  if (soft) tie.other = *soft;
  const geometry::TetMesh& cage = body.built->cage.rest;
  std::vector<uint8_t> done(cage.positions.size(), 0);
  for (uint32_t t = 0; t < cage.tets.size(); ++t)
    for (int k = 0; k < 4; ++k) {
      const uint32_t v = cage.tets[t][k];
      if (done[v] || !box.contains(cage.positions[v])) continue;
      done[v] = 1;
      soft::Attachment attachment;
      attachment.point.tet = body.firstTet + t;
      attachment.point.weights = {0, 0, 0, 0};
      attachment.point.weights[size_t(k)] = 1;
      const Vec3 place = spec.pose.point(cage.positions[v]);
      if (rigid) {
        attachment.to = soft::Attachment::To::Obstacle;
        attachment.key = tie.obstacle = *rigid;
        attachment.place = scene_.bodies[*rigid].pose.localPoint(place);
      } else {
        attachment.to = soft::Attachment::To::Soft;
        attachment.other = nearestPoint(bodies_[*soft], place);
      }
      allTies_.push_back(attachment);
    }
  tie.last = u32(allTies_.size());
  if (tie.first == tie.last)
    throw scene_.document.error(pointer, "no vertex of the cage is in this box")
        .hint(
            "the box is in the frame of the shape, before it is moved; make it larger, or give the body more "
            "\"tets\"");
  ties_.push_back(tie);
}

// By barycentric coordinates at the start; outside of all tetrahedra the one that it is least outside of.
soft::TetPoint SoftPart::nearestPoint(const Body& body, const Vec3& place) const {
  soft::TetPoint best;
  double least = kForEver;
  for (uint32_t t = 0; t < body.built->cage.rest.tets.size(); ++t) {
    const geometry::Tetrahedron& tet = solid_.tets()[body.firstTet + t];
    const auto x = motion_.positions();
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = x[tet[k + 1]] - x[tet[0]];
    const Vec3 w = edges.fullPivLu().solve(place - x[tet[0]]);
    const Vec4 weights(1 - w.sum(), w[0], w[1], w[2]);
    const double outside = -weights.minCoeff();
    if (!weights.allFinite() || outside >= least) continue;
    least = outside;
    best.tet = body.firstTet + t;
    for (int k = 0; k < 4; ++k) best.weights[size_t(k)] = weights[k];
  }
  return best;
}

// What holds the vertices at the end of a step. Copies that a tear made are held like what they come from.
void SoftPart::findPins(double time) {
  const std::vector<fem::Pin> before = std::move(pins_);
  pins_.clear();
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    const SoftBodySpec& spec = scene_.softBodies[b];
    if (spec.soft.pins.empty()) continue;
    const Body& body = bodies_[b];
    if (!body.present) continue;
    std::vector<rigid::Pose> poses;
    for (const PinSpec& pin : spec.soft.pins)
      poses.push_back(pin.keyFrames.empty() ? spec.pose : poseAt(pin.keyFrames, pin.repeat, time));
    for (uint32_t v = 0; v < body.vertices.size(); ++v) {
      const uint32_t origin = body.torn.origins()[v], pin = body.pinOf[origin];
      if (pin == kNoIndex || time > spec.soft.pins[pin].until) continue;
      pins_.push_back(
          {.vertex = body.vertices[v], .target = poses[pin].point(body.built->cage.rest.positions[origin])});
    }
  }
  for (const Body& body : bodies_)
    if (!body.present)
      for (const uint32_t v : body.vertices) pins_.push_back({.vertex = v, .target = motion_.positions()[v]});
  std::sort(pins_.begin(), pins_.end(),
            [](const fem::Pin& a, const fem::Pin& b) { return a.vertex < b.vertex; });
  const bool same = std::equal(pins_.begin(), pins_.end(), before.begin(), before.end(),
                               [](const fem::Pin& a, const fem::Pin& b) { return a.vertex == b.vertex; });
  if (!same) giveCorners();
}

// Everybody else learns of corners and masses as they are now.
void SoftPart::giveCorners() {
  masses_.assign(solid_.masses().begin(), solid_.masses().end());
  for (const fem::Pin& pin : pins_) masses_[pin.vertex] = kForEver;
  massDampings_.clear();
  stiffnessDampings_.clear();
  for (const SoftBodySpec& spec : scene_.softBodies)
    if (spec.soft.massDamping > 0 || spec.soft.stiffnessDamping > 0) {
      massDampings_.resize(masses_.size());
      stiffnessDampings_.resize(masses_.size());
    }
  for (size_t v = 0; v < massDampings_.size(); ++v) {
    massDampings_[v] = scene_.softBodies[bodyOf_[v]].soft.massDamping;
    stiffnessDampings_[v] = scene_.softBodies[bodyOf_[v]].soft.stiffnessDamping;
  }
  contacts_.setCorners(solid_.tets(), masses_);
  attachments_.setCorners(solid_.tets(), masses_);
  bonds_.setCorners(solid_.tets());
  if (boundary_) boundary_->setMasses(masses_);
}

void SoftPart::start(StepContext& context) {
  meshOf_.clear();
  for (size_t k = 0; k < built_.size(); ++k) {
    meshOf_.push_back(context.bodies.addMesh());
    context.bodies.addMesh();
  }
  for (const uint32_t kind : kindOf_) context.bodies.add(meshOf_[kind] + 1);
  if (boundary_) context.exchange.publish(*boundary_);
}

void SoftPart::accept(const Input& input, const StepContext& context) const {
  if (input.what != "impulse") return Part::accept(input, context);
  requireImpulse(input, context, "soft");
}

void SoftPart::apply(const Input& input, StepContext& context) {
  const Body& body = bodies_[context.bodies.local(input.body)];
  if (!body.present) return;  // who acts on what has left acts on nothing
  const Vec3 impulse = Eigen::Map<const Vec3>(input.values.data());
  std::vector<Vec3> velocities(motion_.velocities().begin(), motion_.velocities().end());
  if (input.values.size() == 3) {
    double mass = 0;
    for (const uint32_t v : body.vertices) mass += solid_.masses()[v];
    for (const uint32_t v : body.vertices) velocities[v] += impulse / mass;
  } else {
    const soft::TetPoint at = nearestPoint(body, Eigen::Map<const Vec3>(input.values.data() + 3));
    Vec4 weights;
    for (int k = 0; k < 4; ++k) weights[k] = std::clamp(at.weights[size_t(k)], 0.0, 1.0);
    weights /= weights.sum();
    for (int k = 0; k < 4; ++k) {
      const uint32_t v = solid_.tets()[at.tet][k];
      velocities[v] += weights[k] / solid_.masses()[v] * impulse;
    }
  }
  const std::vector<Vec3> positions(motion_.positions().begin(), motion_.positions().end());
  motion_.setState(positions, velocities);
}

std::vector<Box3> SoftPart::boxes(double h) const {
  std::vector<Box3> out;
  for (const Body& body : bodies_) {
    if (!body.present) continue;
    Box3 box;
    double fastest = 0, pull = 0;
    for (const uint32_t v : body.vertices) {
      box.grow(motion_.positions()[v]);
      fastest = std::max(fastest, motion_.velocities()[v].norm());
      pull = std::max(pull, accelerations_[v].norm());
    }
    const double reach = fastest * h + pull * h * h + 0.05 * body.built->size;
    box.lower -= Vec3::Constant(reach);
    box.upper += Vec3::Constant(reach);
    out.push_back(box);
  }
  return out;
}

std::vector<uint32_t> SoftPart::tied() const {
  std::vector<uint32_t> out;
  for (const Tie& tie : ties_)
    if (tie.obstacle != kNoIndex) out.push_back(tie.obstacle);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void SoftPart::step(StepContext& context) {
  const ProfileScope scope("soft");
  const double h = context.dt;
  findPins(context.endTime());
  findAccelerations(context);
  letGo(context);
  around_.gather(context, scene_.world.simulation.gravity, boxes(h), tied(), obstacles_);
  fem::Loads loads;
  loads.accelerations = accelerations_;
  loads.pins = pins_;
  loads.massDamping = massDampings_;
  loads.stiffnessDamping = stiffnessDampings_;
  pressed_.clear();
  if (boundary_) boundary_->begin(h, pressed_);
  loads.forces = pressed_;
  fem::StepTerm* const terms[] = {&obstacles_, &contacts_, &attachments_, &bonds_};
  report_.last = motion_.step(h, terms, loads);
  if (boundary_) boundary_->end(loads);
  around_.giveBack(obstacles_, context);
  count(context);
}

// Ties end where their time is over or all that they hold pulls harder than they can.
void SoftPart::letGo(StepContext& context) {
  for (const Tie& tie : ties_) {
    if (attachments_.broken(tie.first)) continue;
    Vec3 force = Vec3::Zero();
    for (uint32_t i = tie.first; i < tie.last; ++i) force += attachments_.force(i);
    if (context.endTime() <= tie.until && !(force.norm() > tie.strength)) continue;
    for (uint32_t i = tie.first; i < tie.last; ++i) attachments_.release(i);
  }
}

void SoftPart::count(StepContext& context) {
  ++report_.steps;
  report_.mostContacts = std::max<uint64_t>(report_.mostContacts, contacts_.report().contacts);
  report_.missed += !report_.last.converged;
  report_.missedContacts += contacts_.report().notMet;
  context.ledger.add("steps of soft bodies ended above their tolerance", !report_.last.converged,
                     context.frame);
  context.ledger.add("contacts of soft bodies were left deeper than their tolerance",
                     contacts_.report().notMet, context.frame);
  if (context.step > 0) return;
  std::set<std::tuple<uint32_t, bool, uint32_t>> deep;
  const auto bodyAt = [&](uint32_t sphere) { return contacts_.spheres()[sphere].body; };
  for (const soft::Contact& c : contacts_.contacts())
    if (c.allowance > 0) deep.emplace(bodyAt(c.sphere), c.obstacle, c.obstacle ? c.other : bodyAt(c.other));
  context.ledger.add("soft bodies began deep in others, from which they part slowly", deep.size(),
                     context.frame);
}

void SoftPart::change(StepContext& context) { tearBodies(context); }

void SoftPart::tearBodies(StepContext& context) {
  if (std::none_of(bodies_.begin(), bodies_.end(), [](const Body& b) { return b.tear.has_value(); })) return;
  const ProfileScope scope("tear");
  const auto x = motion_.positions();
  const size_t tets = solid_.tets().size();
  std::vector<Mat3> stresses(tets), rotations(tets);
  solid_.stresses(x, stresses, rotations);
  // Cauchy's stress to that in the frame of rest: R^T P = R^T sigma cof(F).
  for (size_t t = 0; t < tets; ++t) {
    Mat3 f = Mat3::Zero();
    for (int k = 0; k < 4; ++k) f += x[solid_.tets()[t][k]] * solid_.elements()[t].gradient[k].transpose();
    Mat3 cofactor;
    cofactor << f.col(1).cross(f.col(2)), f.col(2).cross(f.col(0)), f.col(0).cross(f.col(1));
    const Mat3 biot = rotations[t].transpose() * stresses[t] * cofactor;
    stresses[t] = (biot + biot.transpose()) / 2;
  }
  std::vector<soft::Separation> separations(x.size());
  soft::separations(solid_.pattern(), solid_.elements(), stresses, rotations, separations);
  std::vector<geometry::Tetrahedron> corners(solid_.tets().begin(), solid_.tets().end());
  std::vector<uint32_t> sources;
  for (uint32_t b = 0; b < bodies_.size(); ++b) {
    Body& body = bodies_[b];
    if (!body.tear || !body.present) continue;
    std::vector<soft::Separation> own;
    std::vector<Vec3> places;
    for (const uint32_t v : body.vertices) {
      own.push_back(separations[v]);
      places.push_back(x[v]);
    }
    const soft::TearOutcome outcome = body.torn.tear(*body.tear, own, places);
    if (!outcome.any()) continue;
    for (const uint32_t source : outcome.sources) {
      sources.push_back(body.vertices[source]);
      body.vertices.push_back(u32(bodyOf_.size()));
      bodyOf_.push_back(b);
    }
    for (const soft::TornCorner& c : outcome.corners)
      corners[body.firstTet + c.tet][c.corner] = body.vertices[c.vertex];
    bonds_.follow(body.built->cage, body.torn, outcome, body.firstTet, body.law);
    report_.splits += outcome.splits;
    tellTear(b, outcome, context);
  }
  if (sources.empty()) return;
  motion_.setCorners(corners, sources);
  giveCorners();
}

void SoftPart::tellTear(uint32_t local, const soft::TearOutcome& outcome, StepContext& context) {
  const Body& body = bodies_[local];
  const uint32_t number = context.bodies.number(local);
  record::MeshChange change;
  change.body = number;
  change.frame = context.frame;
  Vec3 middle = Vec3::Zero();
  for (size_t i = 0; i < outcome.sources.size(); ++i) {
    const uint32_t origin = body.torn.origins()[outcome.firstNew + i];
    change.positions.push_back(body.built->cage.rest.positions[origin].cast<float>());
    // The new vertex is where its source is, which may be as new.
    uint32_t source = outcome.sources[i];
    while (source >= outcome.firstNew) source = outcome.sources[source - outcome.firstNew];
    middle += motion_.positions()[body.vertices[source]] / static_cast<double>(outcome.sources.size());
  }
  for (const soft::TornCorner& c : outcome.corners)
    change.tetCorners.push_back({4 * c.tet + c.corner, c.vertex});
  context.meshChanges.push_back(std::move(change));
  context.events.push_back({record::EventKind::Fracture, number, kNoIndex, middle.cast<float>(),
                            Vec3f::Zero(), 0, 0, fmt::format("tore at {} vertices", outcome.splits),
                            static_cast<float>(bonds_.spent())});
  context.changes.push_back({body.torn.change(number, outcome), {}, {}});
}

std::string SoftPart::suspect() const {
  double most = -1;
  size_t farthest = 0;
  for (size_t v = 0; v < motion_.vertices(); ++v) {
    const double way = motion_.positions()[v].norm() + motion_.velocities()[v].norm();
    if (!(most < way)) continue;
    most = way;
    farthest = v;
  }
  if (most < 0) return {};
  return fmt::format(
      "; the farthest vertex of soft bodies is one of '{}', {:.3g} m from the origin at {:.3g} m/s",
      scene_.softBodies[bodyOf_[farthest]].id, motion_.positions()[farthest].norm(),
      motion_.velocities()[farthest].norm());
}

}  // namespace sunder::world
