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

constexpr double kMostSteps = 200;  // of the fluid in one of the bodies
constexpr double kRoom = 0.1;       // compression that may be left where bodies appear
constexpr uint32_t kRoomRounds = 30;

}  // namespace

Liquids::Liquids(const Scene& scene, const std::vector<BuiltShape>& shapes) : scene_(scene), shapes_(shapes) {
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
    if (maps_.contains(shape)) continue;
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

// Bodies get surface samples when they are wet for the first time.
void Liquids::giveSurfaceSamples(const Exchange& exchange) {
  for (const Boundary& boundary : boundaries_) {
    fluid::BoundaryBody& body = fluid_->body(boundary.fluidBody);
    const MovingSolid& solid = exchange.solid(boundary.body);
    if (!body.map || body.samples || !fluid_->touches(boundary.fluidBody) || !solid.movable()) continue;
    const rigid::Shape* shape = solid.shape.get();
    if (!boundary.ofScene) {
      body.samples = surfaceSamplesOf(*shape);
      continue;
    }
    if (!surfaceSamples_.contains(shape)) surfaceSamples_[shape] = surfaceSamplesOf(*shape);
    body.samples = surfaceSamples_[shape];
  }
}

void Liquids::addBoundaries(const StepContext& context, uint32_t first) {
  for (uint32_t b = first; b < context.exchange.solids().size(); ++b) {
    const MovingSolid& solid = context.exchange.solid(b);
    if (!solid.shape) continue;  // no solid
    fluid::BoundaryBody body;
    if (solid.present) {
      const auto made = maps_.find(solid.shape.get());
      body.map = made != maps_.end() ? made->second : mapOf(*solid.shape, pieceOffset_);
    }
    body.friction = scene_.fluid->friction;
    body.noSlip = scene_.fluid->noSlip;
    const bool ofScene = context.bodies.all()[b].parent == kNoIndex;
    boundaries_.push_back({b, fluid_->addBody(body), Vec3::Zero(), ofScene});
  }
}

void Liquids::addDeforming(const Exchange& exchange) {
  for (DeformingSolid* matter : exchange.deforming()) {
    fluid::BoundaryBody body;
    body.points = std::make_shared<fluid::BoundarySamples>();
    body.points->support = fluid_->support();
    body.points->response = matter;
    body.friction = scene_.fluid->friction;
    body.noSlip = scene_.fluid->noSlip;
    matter->place(1, 1, *body.points);
    deforming_.push_back({matter, fluid_->addBody(body)});
  }
}

void Liquids::placeDeforming(double from, double to) {
  for (const Deforming& each : deforming_) each.matter->place(from, to, *fluid_->body(each.fluidBody).points);
}

void Liquids::follow(const BodyChange& change, StepContext& context) {
  for (const uint32_t body : change.disappeared) {
    const auto found = std::lower_bound(boundaries_.begin(), boundaries_.end(), body,
                                        [](const Boundary& b, uint32_t number) { return b.body < number; });
    if (found != boundaries_.end() && found->body == body) fluid_->removeBody(found->fluidBody);
  }
  if (change.appeared.empty()) return;
  const size_t known = boundaries_.size();
  addBoundaries(context, boundaries_.empty() ? 0 : boundaries_.back().body + 1);
  crowded_ |= boundaries_.size() > known;
}

void Liquids::place(const Exchange& exchange, double part) {
  for (const Boundary& boundary : boundaries_) {
    fluid::BoundaryBody& body = fluid_->body(boundary.fluidBody);
    if (!body.map) continue;
    const MovingSolid& solid = exchange.solid(boundary.body);
    body.position = solid.before.position + part * (solid.after.position - solid.before.position);
    body.rotation = solid.before.rotation.slerp(part, solid.after.rotation).toRotationMatrix();
    body.velocity = solid.velocity;
    body.spin = solid.angularVelocity;
    body.centre = body.position + body.rotation * solid.centre;
    if (!solid.movable()) continue;
    // What the liquids have done to it since the step of the solids, which will know of it in the next one.
    body.position += boundary.drift;
    body.centre += boundary.drift;
    body.inverseMass = solid.inverseMass();
    body.inverseInertia = solid.inverseInertia(body.rotation);
    body.velocity += body.inverseMass * solid.linear;
    body.spin += body.inverseInertia * solid.angular;
  }
}

void Liquids::start(StepContext& context) {
  const ProfileScope scope("liquids");
  for (size_t l = 0; l < scene_.fluid->liquids.size(); ++l) context.bodies.add(kNoIndex);
  addDeforming(context.exchange);
  addBoundaries(context, 0);
  place(context.exchange, 1);
  fill(context.exchange);
  emit(0);
  fluid_->prepare();
  for (size_t i = 0; i < fluid_->size(); ++i)
    report_.crowding = std::max(report_.crowding, fluid_->density(i) - 1);
  fluid_->relax();
  context.ledger.add("particles of blocks would have been in bodies and were left out", report_.buried, 0);
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

void Liquids::step(StepContext& context) {
  const ProfileScope scope("liquids");
  Exchange& exchange = context.exchange;
  const double dt = context.dt, time = context.endTime();
  emit(time);
  drain();
  if (crowded_) {
    // Maps of pieces overlap along their cracks: particles there make room first, and gain no speed by it.
    for (Boundary& boundary : boundaries_) boundary.drift.setZero();
    place(exchange, 0);
    placeDeforming(0, 0);
    fluid_->relax(kRoom, kRoomRounds);
    crowded_ = false;
  }
  for (Boundary& boundary : boundaries_) boundary.drift.setZero();
  const LiquidsReport before = report_;
  double done = 0;
  Work work("liquids", 0, "steps");
  while (done < dt * (1 - 1e-9)) {
    const double wanted = fluid_->stepLimit(), least = dt / kMostSteps;
    report_.rushed += wanted < least;
    const double most = std::max(least, std::min(wanted, scene_.fluid->longestStep));
    const double count = std::ceil((dt - done) / most * (1 - 1e-9));
    const double step = (dt - done) / std::max(count, 1.0), begun = std::min(done / dt, 1.0);
    done += step;
    for (Boundary& boundary : boundaries_)
      boundary.drift +=
          step * fluid_->body(boundary.fluidBody).inverseMass * exchange.solid(boundary.body).linear;
    place(exchange, std::min(done / dt, 1.0));
    placeDeforming(begun, std::min(done / dt, 1.0));
    giveSurfaceSamples(exchange);
    drive(time);
    report_.last = fluid_->step(step);
    ++report_.steps;
    work.step();
    report_.missedDensity += report_.last.densityMissed;
    report_.missedDivergence += report_.last.divergenceMissed;
    report_.missedViscosity += report_.last.viscosityMissed;
    report_.heldBack += report_.last.heldBack;
    for (const Boundary& boundary : boundaries_) {
      const fluid::BoundaryImpulse& impulse = fluid_->impulses()[boundary.fluidBody];
      exchange.pushCentre(boundary.body, impulse.linear, impulse.angular);
    }
    for (const Deforming& each : deforming_) each.matter->push(fluid_->sampleImpulses(each.fluidBody));
  }
  for (const Deforming& each : deforming_) each.matter->finish();
  Ledger& ledger = context.ledger;
  const uint64_t frame = context.frame;
  ledger.add("steps of the fluid left more compression than asked for",
             report_.missedDensity - before.missedDensity, frame);
  ledger.add("steps of the fluid left more divergence than asked for",
             report_.missedDivergence - before.missedDivergence, frame);
  ledger.add("steps of the fluid were longer than its speed asks for", report_.rushed - before.rushed, frame);
  ledger.add("particles of the fluid were held back: there was no room for them, or the step was too long",
             report_.heldBack - before.heldBack, frame);
  ledger.add("steps of the fluid left viscosity unsolved", report_.missedViscosity - before.missedViscosity,
             frame);
}

double Liquids::mass(uint32_t liquid) const {
  double sum = 0;
  for (size_t i = 0; i < fluid_->size(); ++i)
    if (fluid_->phases()[i] == liquid) sum += fluid_->mass(i);
  return sum;
}

record::BodyEntry Liquids::body(uint32_t local) const {
  const LiquidSpec& liquid = scene_.fluid->liquids[local];
  record::BodyEntry body;
  body.name = liquid.id;
  body.material = scene_.materials[liquid.material].name;
  body.kind = record::BodyKind::Fluid;
  body.mass = mass(local);
  return body;
}

void Liquids::states(const PartBodies& bodies, std::span<record::BodyState> out) const {
  for (uint32_t l = 0; l < scene_.fluid->liquids.size(); ++l) out[bodies.number(l)].present = true;
}

void Liquids::statistics(std::vector<record::Statistic>& out) const {
  const auto number = [](uint64_t value) { return static_cast<double>(value); };
  out.push_back({"fluid.particles", number(fluid_->size())});
  out.push_back({"fluid.steps", number(report_.steps)});
  out.push_back({"fluid.iterations.density", number(report_.last.densityIterations)});
  out.push_back({"fluid.iterations.divergence", number(report_.last.divergenceIterations)});
  out.push_back({"fluid.error.density", report_.last.densityError});
  out.push_back({"fluid.fastest", report_.last.fastest});
}

void Liquids::points(const PartBodies& bodies, std::vector<record::BodyPoints>& out) const {
  const auto radius = float(scene_.fluid->settings.radius);
  // By age: the same one in the same place.
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (uint32_t i = 0; i < fluid_->size(); ++i) order.emplace_back(fluid_->ids()[i], i);
  std::sort(order.begin(), order.end());
  for (uint32_t l = 0; l < scene_.fluid->liquids.size(); ++l) {
    record::BodyPoints points;
    points.body = bodies.number(l);
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
}

void Liquids::save(ByteWriter& out) const {
  fluid_->save(out);
  out.u64(report_.steps);
  out.u64(report_.removed);
  for (const auto& liquid : emitted_)
    for (const uint64_t layers : liquid) out.u64(layers);
  out.u32(uint32_t(boundaries_.size()));
  for (const Boundary& boundary : boundaries_)
    for (const double x : boundary.drift) out.f64(x);
  for (const Deforming& each : deforming_) {
    const fluid::BoundarySamples& points = *fluid_->body(each.fluidBody).points;
    for (const Vec3& p : points.positions)
      for (const double x : p) out.f64(x);
    for (const double volume : points.volumes) out.f64(volume);
  }
}

void Liquids::load(ByteReader& in, StepContext& context) {
  fluid_->load(in);
  report_.steps = in.u64("steps of the fluid");
  report_.removed = in.u64("particles removed");
  for (auto& liquid : emitted_)
    for (uint64_t& layers : liquid) layers = in.u64("layers of an emitter");
  checkEmitted(in, static_cast<double>(context.step) * context.dt);
  if (context.bodies.count() != scene_.fluid->liquids.size()) in.fail("the table has other liquids");
  boundaries_.clear();
  fluid_->keepBodies(uint32_t((tank_ ? 1 : 0) + deforming_.size()));
  addBoundaries(context, 0);
  crowded_ = false;
  const uint32_t count = in.u32("bodies in the fluid");
  if (count != boundaries_.size()) in.fail("the checkpoint has other bodies in the fluid");
  for (Boundary& boundary : boundaries_)
    for (double& x : boundary.drift) x = in.boundedF64("the way of a body in the fluid");
  for (const Deforming& each : deforming_) {
    fluid::BoundarySamples& points = *fluid_->body(each.fluidBody).points;
    for (Vec3& p : points.positions)
      for (double& x : p) x = in.boundedF64("a point of a soft body in the fluid");
    for (double& volume : points.volumes) volume = in.boundedF64("the volume of a point in the fluid");
  }
  place(context.exchange, 1);
  fluid_->prepare();
}

}  // namespace sunder::world
