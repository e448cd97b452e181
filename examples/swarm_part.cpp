#include "examples/swarm_part.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/world/part/part_kind.h"
#include "sunder/world/scene/scene_node.h"

#include <algorithm>
#include <cmath>

namespace sunder::examples {

namespace {

using namespace sunder::world;

// docs: values
// What the block "swarm" of a scene says.
struct SwarmValues : PartValues {
  std::vector<Vec3> points;  // where they start
  double radius = 0.01;      // m
  double mass = 0.001;       // kg, of each
  double friction = 0.5;
};

constexpr const char* kSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["count", "spacing"],
  "description": "points in a box that fall on bodies",
  "properties": {
    "count": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 100}, "minItems": 3, "maxItems": 3},
    "spacing": {"type": ["number", "string"], "description": "a length"},
    "position": {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 3, "maxItems": 3},
    "radius": {"type": ["number", "string"], "description": "a length"},
    "mass": {"type": ["number", "string"], "description": "a mass, of each point"},
    "friction": {"type": "number", "minimum": 0}
  }
})";

std::shared_ptr<const PartValues> parseSwarm(const SceneNode& node) {
  auto values = std::make_shared<SwarmValues>();
  values->radius = node.positive("radius", kLength, 0.01);
  values->mass = node.positive("mass", kMass, 0.001);
  values->friction = node.notNegative("friction", kPlain, 0.5);
  const double spacing = node["spacing"].positive(kLength);
  const Vec3 corner = node.vector("position", kLength, Vec3::Zero());
  const uint64_t nx = node["count"][size_t(0)].whole(), ny = node["count"][1].whole(),
                 nz = node["count"][2].whole();
  for (uint64_t i = 0; i < nx; ++i)
    for (uint64_t j = 0; j < ny; ++j)
      for (uint64_t k = 0; k < nz; ++k)
        values->points.push_back(corner + spacing * Vec3(double(i), double(j), double(k)));
  return values;
}
// docs: end

// docs: state
class SwarmPart : public Part {
 public:
  SwarmPart(const SwarmValues& values, const Vec3& gravity)
      : values_(values), gravity_(gravity), points_(values.points.size()) {
    for (size_t i = 0; i < points_.size(); ++i) points_[i].position = values.points[i];
  }

  const char* name() const override { return "swarm"; }
  // After the solids: they have solved our contacts by then.
  Stage stage() const override { return Stage::Touching; }
  bool meetsSolids() const override { return true; }

  // The whole swarm is one body of the table; it has points and no mesh.
  void start(StepContext& context) override { context.bodies.add(kNoIndex); }

 private:
  struct Point {
    Vec3 position = Vec3::Zero(), velocity = Vec3::Zero();
    uint32_t touched = kNoIndex;  // the body of the table that it touched in the last step
    double impulse = 0;           // that this contact ended with: the solver starts from it
    // Of the step that is being made.
    uint32_t site = kNoIndex, contact = kNoIndex;
  };
  const SwarmValues& values_;
  Vec3 gravity_;
  std::vector<Point> points_;
  uint64_t breaks_ = 0;  // of bodies beneath, which points followed
                         // docs: end

 public:
  // docs: touch
  // Before the solids move: which points touch which bodies. A point that may touch one in this step becomes
  // a site, and the contact goes into the solver of the solids.
  void touch(StepContext& context) override {
    for (Point& point : points_) {
      point.site = point.contact = kNoIndex;
      // As far as it may go in the step, or the body towards it.
      const double reach = values_.radius + (point.velocity.norm() + 1) * context.dt;
      double nearest = reach;
      uint32_t body = kNoIndex;
      Vec3 normal = Vec3::UnitY();
      const std::span<const MovingSolid> solids = context.exchange.solids();
      for (uint32_t b = 0; b < solids.size(); ++b) {
        if (!solids[b].present) continue;
        const auto [distance, outward] = distanceTo(solids[b], point.position, reach);
        if (distance >= nearest) continue;
        nearest = distance;
        normal = outward;
        body = b;
      }
      if (body == kNoIndex) {
        point.touched = kNoIndex;
        continue;
      }
      if (point.touched != body) point.impulse = 0;
      point.touched = body;
      point.site = context.exchange.addSite({point.position, point.velocity, gravity_, 1 / values_.mass});
      point.contact =
          context.exchange.addContact(point.site, body, normal, nearest - values_.radius,
                                      std::sqrt(values_.friction * solids[body].friction), point.impulse);
    }
  }
  // docs: end

  // docs: step
  // After the solids moved: sites went where the solver took them, the others fall.
  void step(StepContext& context) override {
    for (Point& point : points_) {
      if (point.site != kNoIndex) {
        const rigid::SiteMotion& motion = context.exchange.motion(point.site);
        point.position += motion.moved;
        point.velocity = motion.velocity;
        point.impulse = context.exchange.impulse(point.contact).last;
      } else {
        point.position += context.dt * point.velocity + 0.5 * context.dt * context.dt * gravity_;
        point.velocity += context.dt * gravity_;
      }
      if (!point.position.allFinite() || !point.velocity.allFinite())
        throw Error(ErrorKind::Numerical, "a point of the swarm is not finite");
    }
  }

  // A body broke beneath us, or is gone: what we knew of the contact is not true of its pieces.
  void follow(const BodyChange& change, StepContext&) override {
    for (const uint32_t body : change.disappeared)
      for (Point& point : points_)
        if (point.touched == body) {
          point.touched = kNoIndex;
          point.impulse = 0;
          ++breaks_;
        }
  }

  // "kick": 3 numbers, m/s, added to the velocity of every point.
  void accept(const Input& input, const StepContext& context) const override {
    if (input.what != "kick") return Part::accept(input, context);
    if (input.values.size() != 3) throw Error(ErrorKind::Usage, "a kick has three numbers");
  }
  void apply(const Input& input, StepContext&) override {
    for (Point& point : points_) point.velocity += Eigen::Map<const Vec3>(input.values.data());
  }
  // docs: end

  // docs: show
  record::BodyEntry body(uint32_t) const override {
    record::BodyEntry entry;
    entry.name = "swarm";
    entry.material = "default";
    entry.kind = record::BodyKind::Particles;
    entry.mass = values_.mass * double(points_.size());
    return entry;
  }

  void states(const PartBodies& bodies, std::span<record::BodyState> out) const override {
    out[bodies.number(0)].present = true;
  }

  void points(const PartBodies& bodies, std::vector<record::BodyPoints>& out) const override {
    record::BodyPoints shown;
    shown.body = bodies.number(0);
    shown.radius = float(values_.radius);
    shown.resolution = 0.01f * shown.radius;
    for (const Point& point : points_) shown.positions.push_back(point.position.cast<float>());
    out.push_back(std::move(shown));
  }

  void statistics(std::vector<record::Statistic>& out) const override {
    uint64_t touching = 0;
    for (const Point& point : points_) touching += point.touched != kNoIndex;
    out.push_back({"swarm.touching", double(touching)});
    out.push_back({"swarm.followed", double(breaks_)});
  }
  // docs: end

  // docs: save
  // All that the next step depends on, in a fixed order; the hash of the world covers it.
  void save(ByteWriter& out) const override {
    for (const Point& point : points_) {
      for (const Vec3* v : {&point.position, &point.velocity})
        for (const double x : *v) out.f64(x);
      out.u32(point.touched);
      out.f64(point.impulse);
    }
    out.u64(breaks_);
  }

  // Data may come from a damaged file: numbers are bounded, bodies must be there.
  void load(ByteReader& in, StepContext& context) override {
    for (Point& point : points_) {
      for (Vec3* v : {&point.position, &point.velocity})
        for (double& x : *v) x = in.boundedF64("a point of the swarm");
      point.touched = in.u32("a body that the swarm touches");
      if (point.touched != kNoIndex && point.touched >= context.bodies.all().size())
        in.fail("the swarm touches a body that is not there");
      point.impulse = in.boundedF64("an impulse of the swarm");
    }
    breaks_ = in.u64("breaks beneath the swarm");
  }
  // docs: end

 private:
  // Distance of a place from a solid and the direction away from it, where it is nearer than `reach`.
  static std::pair<double, Vec3> distanceTo(const MovingSolid& solid, const Vec3& place, double reach) {
    const Vec3 local = solid.before.localPoint(place);
    if (solid.shape->kind() == rigid::ShapeKind::Plane)
      return {local.y(), solid.before.direction(Vec3::UnitY())};
    Box3 box = solid.shape->localBounds();
    box.lower.array() -= reach;
    box.upper.array() += reach;
    if (!box.contains(local)) return {Box3::kInfinity, Vec3::UnitY()};
    const sdf::FieldSample sample = solid.shape->field().sample(local);
    const double steep = sample.gradient.norm();
    if (!(steep > 0)) return {Box3::kInfinity, Vec3::UnitY()};
    return {sample.value, solid.before.direction(sample.gradient / steep)};
  }
};

// docs: register
std::unique_ptr<Part> buildSwarm(const Scene& scene, const std::vector<BuiltShape>&, Ledger&) {
  for (const PartBlock& block : scene.parts)
    if (const auto* values = dynamic_cast<const SwarmValues*>(block.values.get()))
      return std::make_unique<SwarmPart>(*values, scene.world.simulation.gravity);
  return nullptr;
}

double estimateSwarm(const PartValues& values) {
  return 200.0 * double(dynamic_cast<const SwarmValues&>(values).points.size());
}

}  // namespace

void registerSwarm() {
  registerPart({.name = "swarm",
                .block = {.key = "swarm", .schema = kSchema, .parse = parseSwarm, .estimate = estimateSwarm},
                .build = buildSwarm});
}
// docs: end

}  // namespace sunder::examples
