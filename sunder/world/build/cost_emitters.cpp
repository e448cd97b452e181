// How many particles of an emitter are there at a time. Each is followed from the nozzle as a stone that is
// thrown: into a sink or out of the world it is gone when it gets there; where it lands on something, the
// liquid spreads from there on, and is gone where it meets a sink. What spreads without meeting one stays.
#include "sunder/base/text.h"
#include "sunder/world/build/cost_fluid_parts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr int kMostFlightSteps = 400, kMostParts = 10, kDirections = 32;
constexpr double kMostEmitters = 2000;  // that are compared with each other
constexpr size_t kMostObstacles = 50;   // bodies that a jet may land on
constexpr double kFlightStep = 0.01;    // s
constexpr double kSlowestSpread = 0.5,
                 kSlowedSpread = 0.5;   // m/s at least, and part of the speed of landing, along a floor
constexpr double kFarthestSpread = 50;  // m
constexpr double kSpreadWidth = 1.3;    // what a jet that falls apart takes longer than its middle
constexpr double kManyTimes = 10;       // that a tank is filled
constexpr double kFilm = 4;             // diameters of liquid on a floor that drains

// What a jet may land on.
struct Obstacle {
  rigid::Pose pose;
  Box3 bounds;  // of the shape; empty for planes
  Box3 place;   // in the world
};
using Obstacles = std::shared_ptr<const std::vector<Obstacle>>;

// Where and when a particle ends its flight.
struct Landing {
  double seconds = 0;
  bool gone = false;  // in a sink, or out of the world
  Vec3 point = Vec3::Zero();
  double speed = 0;
  std::optional<Box3> vessel;  // the body that it lands on
  bool inTank = false;
};

bool isGone(const Scene& scene, const Vec3& p) {
  if (scene.world.bounds && !scene.world.bounds->contains(p)) return true;
  return std::any_of(scene.fluid->sinks.begin(), scene.fluid->sinks.end(),
                     [&](const Box3& sink) { return sink.contains(p); });
}

// Planes first, then bodies in their order.
Obstacles obstaclesOf(const Scene& scene, std::span<const ShapeSize> sizes) {
  std::vector<Obstacle> list;
  for (const bool plane : {true, false})
    for (const BodySpec& body : scene.bodies) {
      const ShapeSize& size = sizes[body.shape];
      if (size.bounds.empty() == plane && list.size() < kMostObstacles)
        list.push_back({body.pose, size.bounds, startBox(body, size)});
    }
  return std::make_shared<const std::vector<Obstacle>>(std::move(list));
}

Landing flight(const Scene& scene, const Obstacles& obstacles, const EmitterSpec& emitter, double seconds) {
  Landing end;
  const Vec3 gravity = scene.fluid->settings.gravity;
  const auto place = [&](double t) {
    return Vec3(emitter.position + t * emitter.speed * emitter.direction + 0.5 * t * t * gravity);
  };
  // Bodies that the nozzle is in, or above as in a bowl, are where it lands once it has come that far.
  const double clear = 2 * std::max({emitter.radius, 0.5 * emitter.width, 0.5 * emitter.height});
  // Steps grow with the time that has gone, so that few do for a long fall.
  double t = 0;
  for (int n = 0; n < kMostFlightSteps && t < seconds; ++n) {
    const double step = kFlightStep * (1 + t);
    const Vec3 now = place(t), next = place(t + step);
    // A fast jet passes a thin sink between two steps.
    const int parts = int(std::clamp((next - now).norm() / 0.02, 1.0, double(kMostParts)));
    for (int i = 0; i < parts; ++i) {
      const double at = t + step * i / parts;
      const Vec3 p = place(at);
      end.seconds = at;
      end.point = p;
      end.speed = (emitter.speed * emitter.direction + at * gravity).norm();
      if (isGone(scene, p)) {
        end.gone = true;
        return end;
      }
      if (scene.fluid->tank && !scene.fluid->tank->contains(p)) {
        end.inTank = true;
        return end;
      }
      if ((p - emitter.position).norm() < clear) continue;
      for (const Obstacle& body : *obstacles) {
        const Vec3 local = body.pose.localPoint(p);
        const bool plane = body.bounds.empty();
        if (plane ? local.y() >= 0 : !body.bounds.contains(local)) continue;
        if (!plane) end.vessel = body.place;
        end.inTank = scene.fluid->tank.has_value();
        return end;
      }
    }
    t += step;
  }
  end.seconds = seconds;
  return end;
}

// How far a ray in the plane of the floor goes until it is over a box; nothing where it misses.
std::optional<double> distanceAlong(const Vec2& from, const Vec2& direction, const Box3& box, bool inside) {
  double enter = 0, leave = kFarthestSpread;
  for (int k = 0; k < 2; ++k) {
    const double low = box.lower[2 * k] - from[k], high = box.upper[2 * k] - from[k];
    if (std::abs(direction[k]) < 1e-9) {
      if (low > 0 || high < 0) return std::nullopt;
      continue;
    }
    const double a = low / direction[k], b = high / direction[k];
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  }
  if (enter > leave) return std::nullopt;
  return inside ? leave : enter;
}

// Seconds that what lands takes to a sink, on average over all directions, `seconds` where it meets none.
double secondsToSink(const Scene& scene, const Landing& landing, double seconds) {
  const double speed = std::max(kSlowestSpread, kSlowedSpread * landing.speed);
  const Vec2 from(landing.point.x(), landing.point.z());
  double sum = 0;
  for (int i = 0; i < kDirections; ++i) {
    const double angle = 2 * kPi * (i + 0.5) / kDirections;
    const Vec2 way(std::cos(angle), std::sin(angle));
    double least = kFarthestSpread;
    for (const Box3& sink : scene.fluid->sinks)
      if (sink.lower.y() <= landing.point.y() + 0.1)
        if (const auto far = distanceAlong(from, way, sink, false)) least = std::min(least, *far);
    if (scene.world.bounds)
      if (const auto far = distanceAlong(from, way, *scene.world.bounds, true)) least = std::min(least, *far);
    sum += least < kFarthestSpread ? std::min(seconds, least / speed) : seconds;
  }
  return sum / kDirections;
}

// Emitters that let liquid in at the same place, this one too: their particles are neighbours.
double emittersAt(const Scene& scene, const EmitterSpec& emitter) {
  const double reach = std::max(emitter.radius, 0.5 * std::min(emitter.width, emitter.height));
  double count = 0, looked = 0;
  for (const LiquidSpec& liquid : scene.fluid->liquids)
    for (const EmitterSpec& other : liquid.emitters)
      if (looked++ < kMostEmitters) count += (other.position - emitter.position).norm() < 0.5 * reach;
  return std::max(1.0, count);
}

double secondsOf(const Scene& scene, const EmitterSpec& emitter) {
  const double end = scene.world.frameTime(scene.world.frames);
  return std::max(0.0, std::min(emitter.until, end) - emitter.from);
}

// Particles that an emitter lets in while the run lasts, less those that have gone by then. A full tank stops
// no emitter.
double emitted(const Scene& scene, const EmitterSpec& emitter, const Landing& landing, double radius) {
  const double spacing = 2 * radius;
  const double seconds = secondsOf(scene, emitter);
  // Whole layers, one a diameter.
  const double layer = emitter.radius > 0
                           ? std::max(1.0, kPi * std::pow(emitter.radius / spacing, 2))
                           : particlesAlong(emitter.width, spacing) * particlesAlong(emitter.height, spacing);
  const double all = layer * std::ceil(seconds * emitter.speed / spacing);
  const auto room = [&](const Box3& box) { return particlesInBox(box.extent(), spacing); };
  if (scene.fluid->sinks.empty() && !scene.world.bounds) return all;

  const double rate = layer * emitter.speed / spacing;
  // What a step lets in is there until it ends, however soon it is gone then.
  const double step = scene.world.simulation.timeStep;
  double there = rate * std::max(step, kSpreadWidth * landing.seconds) + layer;
  if (!landing.gone) {
    // What it lands in fills first; a tank up to its lowest sink, with a film on top that drains.
    if (landing.vessel) there += kPartOfContainer * room(*landing.vessel);
    const double stay = seconds - std::min(seconds, landing.seconds);
    if (landing.inTank && !scene.fluid->sinks.empty()) {
      Box3 pool = *scene.fluid->tank;
      double level = Box3::kInfinity;
      for (const Box3& sink : scene.fluid->sinks)
        if (overlap(sink, pool)) level = std::min(level, std::max(sink.lower.y(), pool.lower.y()));
      if (!std::isfinite(level)) return all;
      pool.upper.y() = std::min(pool.upper.y(), level + kFilm * spacing);
      const double across = Vec2(pool.extent().x(), pool.extent().z()).norm();
      there += room(pool) +
               rate * std::min(stay, across / std::max(kSlowestSpread, kSlowedSpread * landing.speed));
    } else {
      there += rate * secondsToSink(scene, landing, stay);
    }
  }
  return std::min(all, there);
}

// How many times the tank, or the world, would be filled by so many particles: so many more neighbours each
// of them has.
double crowding(const Scene& scene, double count, double radius) {
  double room = Box3::kInfinity;
  for (const std::optional<Box3>& box : {scene.fluid->tank, scene.world.bounds})
    if (box) room = std::min(room, particlesInBox(box->extent(), 2 * radius));
  return std::max(1.0, count / room);
}

}  // namespace

void addEmitter(const Scene& scene, std::span<const ShapeSize> sizes, const LiquidSpec& liquid, size_t index,
                Cost& cost) {
  const EmitterSpec& emitter = liquid.emitters[index];
  const double radius = scene.fluid->settings.radius;
  const std::string pointer = fmt::format("{}/emitters/{}", liquid.pointer, index);
  const double times = emittersAt(scene, emitter);
  CostItem item;
  const Obstacles obstacles = obstaclesOf(scene, sizes);
  const Landing landing = flight(scene, obstacles, emitter, secondsOf(scene, emitter));
  item.count = emitted(scene, emitter, landing, radius);
  const auto bytesOf = [=, &scene](double count, double r) {
    return count * (kBytesAParticle + std::max(times, crowding(scene, count, r)) * kBytesOfNeighbours);
  };
  item.what = fmt::format("{} particles of {} from its emitter", countWords(item.count), liquid.id);
  if (times > 1.5) item.what += fmt::format(", which has the place of {:.0f}", times);
  item.kept = bytesOf(item.count, radius);
  const auto lever = [&](const char* key, double EmitterSpec::*member) {
    item.levers.push_back(
        {pointer + "/" + key,
         [v = emitter.*member](double s) { return s == 1 ? lengthText(v) : twoDigitsDown(v / s); },
         [=, &scene](double s) {
           EmitterSpec changed = emitter;
           changed.*member /= s;
           const Landing other = flight(scene, obstacles, changed, secondsOf(scene, changed));
           return bytesOf(emitted(scene, changed, other, radius), radius);
         }});
  };
  // Where the tank would be filled many times it is not the size of the particles that is wrong.
  const bool fast = crowding(scene, item.count, radius) > kManyTimes;
  if (fast) lever("speed", &EmitterSpec::speed);
  item.levers.push_back(
      radiusLever(radius, [=, &scene](double r) { return bytesOf(emitted(scene, emitter, landing, r), r); }));
  if (!fast) lever("speed", &EmitterSpec::speed);
  if (emitter.radius > 0) lever("radius", &EmitterSpec::radius);
  cost.particlesLater += item.count;
  cost.items.push_back(std::move(item));
}

}  // namespace sunder::world
