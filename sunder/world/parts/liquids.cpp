#include "sunder/world/parts/liquids.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/fluid/boundary/density_map.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::world {

namespace {

using rigid::BodyIndex;

constexpr double kMostSteps = 200;  // of the fluid in one of the bodies
constexpr double kRoom = 0.1;       // compression that may be left where bodies appear
constexpr uint32_t kRoomRounds = 30;

}  // namespace

Liquids::Liquids(const Scene& scene, const std::vector<BuiltShape>& shapes) : scene_(scene), shapes_(shapes) {
  if (!scene.fluid) return;
  const ProfileScope scope("boundary maps");
  Work work("boundary maps", scene.bodies.size(), "bodies");
  const FluidSpec& spec = *scene.fluid;
  fluid_ = std::make_unique<fluid::Fluid>(spec.settings);
  for (const LiquidSpec& liquid : spec.liquids) {
    fluid_->addPhase(liquid.phase);
    emitted_.emplace_back(liquid.emitters.size(), 0);
  }
  if (spec.tank) {
    fluid::BoundaryBody tank;
    tank.map = tankMap(*spec.tank);
    tank.friction = spec.friction;
    tank.noSlip = spec.noSlip;
    tank_ = fluid_->addBody(tank);
  }
  for (const BodySpec& body : scene.bodies) {
    work.step();
    const rigid::Shape* shape = shapes[body.shape].shape.get();
    if (body.liquid || maps_.contains(shape)) continue;
    try {
      const fluid::BoundaryMapPtr map = maps_[shape] = mapOf(*shape);
      const auto* density = dynamic_cast<const fluid::DensityMap*>(map.get());
      if (body.fracture && density)
        pieceOffset_ = std::min(pieceOffset_.value_or(0.5), density->settings().offset);
    } catch (const Error& error) {
      throw scene.document.error(body.pointer, error.message()).hint(error.hint());
    }
  }
}

const rigid::Shape* Liquids::shapeOf(const rigid::Simulation& simulation, uint32_t body) const {
  return body < scene_.bodies.size() ? shapes_[scene_.bodies[body].shape].shape.get()
                                     : simulation.shape(BodyIndex(body)).get();
}

// Bodies get a surface samples when they are wet for the first time.
void Liquids::giveSurfaceSamples(const rigid::Simulation& simulation) {
  const uint32_t first = tank_ ? 1 : 0;
  for (uint32_t b = 0; b < before_.size(); ++b) {
    fluid::BoundaryBody& body = fluid_->body(first + b);
    if (!body.map || body.samples || !fluid_->touches(first + b) ||
        simulation.kind(BodyIndex(b)) != rigid::BodyKind::Dynamic)
      continue;
    const rigid::Shape* shape = shapeOf(simulation, b);
    const bool own = b < scene_.bodies.size();
    if (own && !surfaceSamples_.contains(shape)) surfaceSamples_[shape] = surfaceSamplesOf(*shape);
    body.samples = own ? surfaceSamples_[shape] : surfaceSamplesOf(*shape);
  }
}

bool Liquids::follow(const rigid::Simulation& simulation) {
  const size_t known = before_.size();
  const uint32_t first = tank_ ? 1 : 0;
  for (uint32_t b = uint32_t(before_.size()); b < simulation.bodyCount(); ++b) {
    fluid::BoundaryBody body;
    const bool own = b < scene_.bodies.size();
    if (simulation.exists(BodyIndex(b)) && !(own && scene_.bodies[b].liquid)) {
      const rigid::Shape* shape = shapeOf(simulation, b);
      const auto made = maps_.find(shape);
      body.map = made != maps_.end() ? made->second : mapOf(*shape, pieceOffset_);
    }
    body.friction = scene_.fluid->friction;
    body.noSlip = scene_.fluid->noSlip;
    fluid_->addBody(body);
    before_.push_back(simulation.exists(BodyIndex(b)) ? simulation.pose(BodyIndex(b)) : rigid::Pose{});
  }
  for (uint32_t b = 0; b < before_.size(); ++b)
    if (fluid_->body(first + b).map && !simulation.exists(BodyIndex(b))) fluid_->removeBody(first + b);
  impulses_.resize(before_.size());
  drift_.assign(before_.size(), Vec3::Zero());
  return before_.size() > known;
}

// Bodies between where they were (0) and where they are (1).
void Liquids::place(const rigid::Simulation& simulation, double part) {
  const uint32_t first = tank_ ? 1 : 0;
  for (uint32_t b = 0; b < before_.size(); ++b) {
    fluid::BoundaryBody& body = fluid_->body(first + b);
    if (!body.map) continue;
    const BodyIndex index(b);
    const rigid::Pose now = simulation.pose(index);
    body.position = before_[b].position + part * (now.position - before_[b].position);
    body.rotation = before_[b].rotation.slerp(part, now.rotation).toRotationMatrix();
    body.velocity = simulation.velocity(index);
    body.spin = simulation.angularVelocity(index);
    body.centre = body.position + body.rotation * simulation.shape(index)->mass().centre;
    if (simulation.kind(index) != rigid::BodyKind::Dynamic) continue;
    // What the liquids have done to it since the step of the bodies, which will know of it in the next one.
    body.position += drift_[b];
    body.centre += drift_[b];
    const rigid::Shape& shape = *simulation.shape(index);
    const double mass = simulation.mass(index);
    const Mat3 frame = body.rotation * shape.massFrame().rotation.toRotationMatrix();
    const Vec3 inertia = shape.principalInertia() * (mass / shape.mass().volume);
    body.inverseMass = 1 / mass;
    body.inverseInertia = frame * inertia.cwiseInverse().asDiagonal() * frame.transpose();
    body.velocity += body.inverseMass * impulses_[b].linear;
    body.spin += body.inverseInertia * impulses_[b].angular;
  }
}

void Liquids::start(const rigid::Simulation& simulation) {
  if (!any()) return;
  const ProfileScope scope("liquids");
  follow(simulation);
  place(simulation, 1);
  fill(simulation);
  emit(0);
  fluid_->prepare();
  for (size_t i = 0; i < fluid_->size(); ++i)
    report_.crowding = std::max(report_.crowding, fluid_->density(i) - 1);
  fluid_->relax();
}

void Liquids::drain() {
  const FluidSpec& spec = *scene_.fluid;
  if (spec.sinks.empty() && !scene_.world.bounds) return;
  std::vector<uint8_t> gone(fluid_->size(), 0);
  uint64_t count = 0;
  for (size_t i = 0; i < gone.size(); ++i) {
    const Vec3& p = fluid_->positions()[i];
    gone[i] = scene_.world.bounds && !scene_.world.bounds->contains(p);
    for (const Box3& sink : spec.sinks) gone[i] |= sink.contains(p);
    count += gone[i];
  }
  if (count == 0) return;
  report_.removed += count;
  fluid_->remove(gone);
}

void Liquids::push(rigid::Simulation& simulation) {
  if (!any()) return;
  const double dt = scene_.world.simulation.timeStep;
  for (uint32_t b = 0; b < impulses_.size(); ++b) {
    const BodyIndex index(b);
    if (!simulation.exists(index) || simulation.kind(index) != rigid::BodyKind::Dynamic) continue;
    const fluid::BoundaryImpulse& impulse = impulses_[b];
    if (impulse.linear.isZero(0) && impulse.angular.isZero(0)) continue;
    simulation.wake(index);
    simulation.addForce(index, impulse.linear / dt);
    simulation.addTorque(index, impulse.angular / dt);
  }
}

void Liquids::step(const rigid::Simulation& simulation, double time) {
  if (!any()) return;
  const ProfileScope scope("liquids");
  const double dt = scene_.world.simulation.timeStep;
  const uint32_t first = tank_ ? 1 : 0;
  emit(time);
  drain();
  if (follow(simulation)) {
    // Maps of pieces overlap along their cracks: particles there make room first, and gain no speed by it.
    place(simulation, 0);
    fluid_->relax(kRoom, kRoomRounds);
  }
  std::fill(impulses_.begin(), impulses_.end(), fluid::BoundaryImpulse{});
  drift_.assign(before_.size(), Vec3::Zero());
  double done = 0;
  Work work("liquids", 0, "steps");
  while (done < dt * (1 - 1e-9)) {
    const double wanted = fluid_->stepLimit(), least = dt / kMostSteps;
    report_.rushed += wanted < least;
    const double most = std::max(least, std::min(wanted, scene_.fluid->longestStep));
    const double count = std::ceil((dt - done) / most * (1 - 1e-9));
    const double step = (dt - done) / std::max(count, 1.0);
    done += step;
    for (uint32_t b = 0; b < impulses_.size(); ++b)
      drift_[b] += step * fluid_->body(first + b).inverseMass * impulses_[b].linear;
    place(simulation, std::min(done / dt, 1.0));
    giveSurfaceSamples(simulation);
    drive(time);
    report_.last = fluid_->step(step);
    ++report_.steps;
    work.step();
    report_.missedDensity += report_.last.densityMissed;
    report_.missedDivergence += report_.last.divergenceMissed;
    report_.missedViscosity += report_.last.viscosityMissed;
    report_.heldBack += report_.last.heldBack;
    for (uint32_t b = 0; b < impulses_.size(); ++b) {
      impulses_[b].linear += fluid_->impulses()[first + b].linear;
      impulses_[b].angular += fluid_->impulses()[first + b].angular;
    }
  }
  for (uint32_t b = 0; b < before_.size(); ++b)
    if (simulation.exists(BodyIndex(b))) before_[b] = simulation.pose(BodyIndex(b));
}

double Liquids::mass(uint32_t liquid) const {
  double sum = 0;
  for (size_t i = 0; i < fluid_->size(); ++i)
    if (fluid_->phases()[i] == liquid) sum += fluid_->mass(i);
  return sum;
}

std::vector<record::BodyPoints> Liquids::points() const {
  std::vector<record::BodyPoints> out;
  if (!any()) return out;
  const auto radius = float(scene_.fluid->settings.radius);
  // By age: the same one in the same place.
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (uint32_t i = 0; i < fluid_->size(); ++i) order.emplace_back(fluid_->ids()[i], i);
  std::sort(order.begin(), order.end());
  for (uint32_t l = 0; l < scene_.fluid->liquids.size(); ++l) {
    record::BodyPoints points;
    points.body = scene_.fluid->liquids[l].body;
    points.radius = radius;
    points.resolution = 0.01f * radius;
    record::PointField velocity{"velocity", 3, {}}, density{"density", 1, {}};
    const auto rest = float(scene_.fluid->liquids[l].phase.density);
    for (const auto& [id, i] : order) {
      if (fluid_->phases()[i] != l) continue;
      points.positions.push_back(fluid_->positions()[i].cast<float>());
      for (int k = 0; k < 3; ++k) velocity.values.push_back(fluid_->motion()[i][k]);
      density.values.push_back(rest * float(fluid_->density(i)));
    }
    points.fields = {std::move(velocity), std::move(density)};
    out.push_back(std::move(points));
  }
  return out;
}

void Liquids::save(ByteWriter& out) const {
  if (!any()) return;
  fluid_->save(out);
  out.u64(report_.steps);
  out.u64(report_.removed);
  for (const auto& liquid : emitted_)
    for (const uint64_t layers : liquid) out.u64(layers);
  out.u32(uint32_t(impulses_.size()));
  for (uint32_t b = 0; b < impulses_.size(); ++b)
    for (const Vec3& v : {impulses_[b].linear, impulses_[b].angular, drift_[b]})
      for (const double x : v) out.f64(x);
}

void Liquids::load(ByteReader& in, const rigid::Simulation& simulation, double time) {
  if (!any()) return;
  fluid_->load(in);
  report_.steps = in.u64("steps of the fluid");
  report_.removed = in.u64("particles removed");
  for (auto& liquid : emitted_)
    for (uint64_t& layers : liquid) layers = in.u64("layers of an emitter");
  checkEmitted(in, time);
  follow(simulation);
  const uint32_t count = in.u32("bodies in the fluid");
  if (count != impulses_.size()) in.fail("the checkpoint has other bodies in the fluid");
  for (uint32_t b = 0; b < count; ++b)
    for (Vec3* v : {&impulses_[b].linear, &impulses_[b].angular, &drift_[b]})
      for (double& x : *v) x = in.boundedF64("an impulse of the fluid");
  for (uint32_t b = 0; b < before_.size(); ++b)
    if (simulation.exists(BodyIndex(b))) before_[b] = simulation.pose(BodyIndex(b));
  place(simulation, 1);
  fluid_->prepare();
}

}  // namespace sunder::world
