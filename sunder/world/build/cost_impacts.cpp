#include "sunder/world/build/cost_impacts.h"

#include "sunder/fracture/model/adaptive_fracture.h"
#include "sunder/world/build/cost_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace sunder::world {

namespace {

using rigid::BodyKind;

constexpr double kBreakingStress =
    0.2;                          // nominal, of the strength: a point of contact has several times as much
constexpr double kContacts = 4;   // that an impact is spread over
constexpr double kCalmSpeed = 1;  // m/s: what is struck faster than that does not stay where it stands
constexpr size_t kMostStrikers = 64, kMostStacked = 2000, kMostFlights = 24, kMostAnchors = 4;
constexpr double kMostImpactTests = 2e7;
constexpr double kHollow = 0.4;     // of its box that a mesh or field fills: others may fall into it
constexpr double kTouching = 0.02;  // of its size: the gap below a body that stands

// A body as a box that moves.
struct Flyer {
  uint32_t body = 0;
  Box3 box;
  Vec3 velocity = Vec3::Zero(), gravity = Vec3::Zero();
  double mass = 1;
  double fall = 0;       // m, until something stops it; infinite: nothing does
  double energetic = 0;  // m/s: the most that its energy allows
  bool held = false;     // by a joint
};

struct Firm {
  Box3 box;          // empty: a plane
  rigid::Pose pose;  // of a plane
  bool hollow = false;
  double speed = 0;  // m/s, of one that follows key frames
};

// How far a box moves along a direction until it meets another; 0 where they overlap, infinite where they
// never do. `far`: the side of the other one that is met last.
double wayTo(const Box3& box, const Vec3& direction, const Box3& other, bool far) {
  double enter = 0, leave = Box3::kInfinity, last = 0;
  for (int k = 0; k < 3; ++k) {
    const double low = other.lower[k] - box.upper[k], high = other.upper[k] - box.lower[k];
    if (std::abs(direction[k]) < 1e-9) {
      if (low > 0 || high < 0) return Box3::kInfinity;
      continue;
    }
    const double a = low / direction[k], b = high / direction[k];
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
    // Until the faces that look the same way meet.
    const double inner = direction[k] > 0 ? other.upper[k] - box.upper[k] : other.lower[k] - box.lower[k];
    last = std::max(last, std::abs(direction[k]) > 0.5 ? inner / direction[k] : 0.0);
  }
  if (enter > leave) return Box3::kInfinity;
  return far ? std::max(enter, last) : enter;
}

double wayToPlane(const Box3& box, const Vec3& direction, const rigid::Pose& plane) {
  const Vec3 normal = plane.direction(Vec3::UnitY());
  const double towards = -normal.dot(direction);
  if (towards < 1e-6) return Box3::kInfinity;
  const double above = normal.dot(box.center() - plane.position) - 0.5 * box.extent().dot(normal.cwiseAbs());
  return std::max(0.0, above) / towards;
}

double wayToFirm(const Box3& box, const Vec3& direction, const Firm& firm) {
  if (firm.box.empty()) return wayToPlane(box, direction, firm.pose);
  const double near = wayTo(box, direction, firm.box, false);
  if (!firm.hollow || !std::isfinite(near)) return near;
  // What stands on it stays there; what is inside or above falls in.
  const bool stands = near < kTouching * box.diagonal() && !overlap(box, firm.box);
  return stands ? near : wayTo(box, direction, firm.box, true);
}

Box3 shifted(const Box3& box, const Vec3& by) { return {box.lower + by, box.upper + by}; }

class FateForecaster {
 public:
  FateForecaster(const Scene& scene, std::span<const ShapeSize> sizes)
      : scene_(scene), sizes_(sizes), slowest_(rigid::slowestImpact(scene.world.simulation)) {
    seconds_ = scene.world.frameTime(scene.world.frames);
    collect();
    fallAll();
  }

  std::vector<FateForecast> run() {
    std::vector<FateForecast> fates(scene_.bodies.size());
    const size_t brittle =
        size_t(std::count_if(scene_.bodies.begin(), scene_.bodies.end(),
                             [](const BodySpec& body) { return body.fracture.has_value(); }));
    const double each = double(firm_.size() + kMostFlights * strikers_.size() + 1);
    const size_t stride = 1 + size_t(double(brittle) * each / kMostImpactTests);
    // Of many alike every n-th is looked at.
    size_t number = 0;
    FateForecast last;
    const std::string* group = nullptr;
    for (const Flyer& flyer : flyers_) {
      const BodySpec& body = scene_.bodies[flyer.body];
      if (!body.fracture) continue;
      if (number++ % stride == 0 || !group || *group != body.pointer) last = forecast(flyer);
      group = &body.pointer;
      fates[flyer.body] = last;
    }
    return fates;
  }

 private:
  void collect() {
    std::vector<bool> held(scene_.bodies.size(), false);
    for (const JointSpec& joint : scene_.joints) {
      if (joint.settings.a.valid()) held[joint.settings.a.value] = true;
      held[joint.settings.b.value] = true;
    }
    std::vector<Vec3> pull(scene_.bodies.size(), Vec3::Zero());
    push_.assign(scene_.bodies.size(), 0);
    for (const ForceSpec& force : scene_.forces)
      for (const uint32_t b : force.bodies) {
        if (force.kind == ForceKind::Gravity) pull[b] += force.vector;
        if (force.kind == ForceKind::Wind) push_[b] = std::max(push_[b], force.vector.norm());
        if (force.kind == ForceKind::Explosion) push_[b] += force.strength / massOf(scene_.bodies[b]);
        if (force.kind == ForceKind::Attractor)
          push_[b] += std::sqrt(2 * std::abs(force.strength) * force.radius);
      }
    for (uint32_t b = 0; b < scene_.bodies.size(); ++b) {
      const BodySpec& body = scene_.bodies[b];
      const ShapeSize& size = sizes_[body.shape];
      if (size.bounds.empty()) {
        if (size.kind == ShapeSize::Kind::Plane) firm_.push_back({Box3{}, body.pose});
        continue;
      }
      const Box3 box = startBox(body, size);
      if (!box.extent().allFinite()) continue;
      if (body.kind != BodyKind::Dynamic) {
        const bool mesh = size.kind == ShapeSize::Kind::Mesh || size.kind == ShapeSize::Kind::Field;
        firm_.push_back({box, body.pose, mesh && size.volume < kHollow * box.extent().prod(), 0});
        addKeyFrames(body, size);
        continue;
      }
      Flyer flyer;
      flyer.body = b;
      flyer.box = box;
      flyer.velocity = body.velocity;
      flyer.gravity = body.gravityScale * scene_.world.simulation.gravity + pull[b];
      flyer.mass = massOf(body);
      flyer.held = held[b];
      flyers_.push_back(flyer);
    }
  }

  double massOf(const BodySpec& body) const {
    return body.mass.value_or(scene_.materials[body.material].density *
                              std::max(1e-30, sizes_[body.shape].volume));
  }

  // Where one that follows key frames comes by, with its speed from one to the next.
  void addKeyFrames(const BodySpec& body, const ShapeSize& size) {
    for (size_t i = 1; i < body.keyFrames.size(); ++i) {
      BodySpec moved = body;
      moved.pose = body.keyFrames[i - 1].pose;
      Box3 swept = startBox(moved, size);
      const double reach = 0.5 * swept.diagonal();
      moved.pose = body.keyFrames[i].pose;
      swept.grow(startBox(moved, size));
      const double time = body.keyFrames[i].time - body.keyFrames[i - 1].time;
      const double turn =
          body.keyFrames[i - 1].pose.rotation.angularDistance(body.keyFrames[i].pose.rotation);
      const double speed =
          ((body.keyFrames[i].pose.position - body.keyFrames[i - 1].pose.position).norm() + reach * turn) /
          time;
      sweeps_.push_back({swept, {}, false, speed});
      fastestSweep_ = std::max(fastestSweep_, speed);
    }
  }

  // How far each falls until something firm stops it, or what stands there already.
  void fallAll() {
    std::vector<size_t> order(flyers_.size());
    std::iota(order.begin(), order.end(), size_t(0));
    const Vec3 up = -scene_.world.simulation.gravity;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return up.dot(flyers_[a].box.center()) < up.dot(flyers_[b].box.center());
    });
    const double tests = double(flyers_.size()) * double(firm_.size());
    const size_t stride = 1 + size_t(tests / kMostImpactTests);
    const bool stacked = flyers_.size() <= kMostStacked;
    double last = Box3::kInfinity;
    std::vector<double> onFirm(flyers_.size());
    for (size_t i = 0; i < order.size(); ++i) {
      Flyer& flyer = flyers_[order[i]];
      if (i % stride == 0) last = fallOf(flyer);
      onFirm[order[i]] = flyer.fall = last;
      if (!stacked || !(flyer.gravity.norm() > 0)) continue;
      const Vec3 down = flyer.gravity.normalized();
      for (size_t j = 0; j < i; ++j) {
        const Flyer& below = flyers_[order[j]];
        if (below.fall >= flyer.fall) continue;
        const double gap = wayTo(flyer.box, down, below.box, false);
        flyer.fall = std::min(flyer.fall, gap + below.fall);
      }
    }
    findStrikers();
    // What is struck does not stay: then everything falls to the firm ground.
    if (stacked && !isCalm()) {
      for (size_t i = 0; i < flyers_.size(); ++i) flyers_[i].fall = onFirm[i];
      findStrikers();
    }
    const bool level = onlyLevelGround();
    for (size_t i = 0; i < flyers_.size(); ++i) {
      Flyer& flyer = flyers_[i];
      const double g = flyer.gravity.norm(), start = flyer.velocity.norm() + push_[flyer.body];
      const double most = start + g * seconds_;
      const double height = level ? onFirm[i] : Box3::kInfinity;
      flyer.energetic = std::min(most, std::sqrt(start * start + 2 * g * height));
      fastest_ = std::max(fastest_, flyer.energetic);
    }
  }

  // One plane that is level and nothing else: nobody falls farther than to it.
  bool onlyLevelGround() const {
    const Vec3 gravity = scene_.world.simulation.gravity;
    return firm_.size() == 1 && firm_[0].box.empty() && gravity.norm() > 0 &&
           firm_[0].pose.direction(Vec3::UnitY()).dot(-gravity.normalized()) > 0.999;
  }

  double fallOf(const Flyer& flyer) const {
    if (!(flyer.gravity.norm() > 0)) return Box3::kInfinity;
    const Vec3 down = flyer.gravity.normalized();
    double way = Box3::kInfinity;
    for (const Firm& firm : firm_) way = std::min(way, wayToFirm(flyer.box, down, firm));
    return way;
  }

  // Whether nothing that moves comes to where others stand.
  bool isCalm() const {
    for (const double push : push_)
      if (push > kCalmSpeed) return false;
    for (const Firm& sweep : sweeps_)
      for (const Flyer& flyer : flyers_)
        if (sweep.speed > kCalmSpeed && overlap(sweep.box, flyer.box)) return false;
    for (const size_t i : strikers_)
      for (const Flyer& flyer : flyers_)
        if (flyer.body != flyers_[i].body && strikeSpeed(i, flyer) > kCalmSpeed) return false;
    return true;
  }

  // Those with the most momentum.
  void findStrikers() {
    strikers_.clear();
    for (size_t i = 0; i < flyers_.size(); ++i)
      if (impactSpeed(flyers_[i]) > slowest_ || flyers_[i].held) strikers_.push_back(i);
    const auto momentum = [&](size_t i) {
      return flyers_[i].mass * std::max(impactSpeed(flyers_[i]), flyers_[i].velocity.norm());
    };
    std::stable_sort(strikers_.begin(), strikers_.end(),
                     [&](size_t a, size_t b) { return momentum(a) > momentum(b); });
    if (strikers_.size() > kMostStrikers) strikers_.resize(kMostStrikers);
    anchors_.clear();
    for (const JointSpec& joint : scene_.joints)
      for (const size_t i : strikers_)
        if (joint.settings.b.value == flyers_[i].body ||
            (joint.settings.a.valid() && joint.settings.a.value == flyers_[i].body))
          if (auto& own = anchors_[i]; own.size() < kMostAnchors) own.push_back(joint.settings.anchorA);
  }

  // With which it meets what stops its fall; 0 where that is not within the run.
  double impactSpeed(const Flyer& flyer) const {
    const double g = flyer.gravity.norm();
    if (flyer.held || !(g > 0) || !std::isfinite(flyer.fall)) return 0;
    const double down = flyer.velocity.dot(flyer.gravity) / g;
    const double speed = std::sqrt(down * down + 2 * g * flyer.fall);
    return (speed - down) / g <= seconds_ ? speed : 0;
  }

  // Of its own flight, on firm things and on loose ones.
  double speedAlongVelocity(const Flyer& flyer) const {
    const double speed = flyer.velocity.norm();
    if (!(speed > slowest_)) return 0;
    const Vec3 ahead = flyer.velocity / speed;
    double most = 0;
    for (const Firm& firm : firm_) {
      const double way = firm.box.empty() ? wayToPlane(flyer.box, ahead, firm.pose)
                                          : wayTo(flyer.box, ahead, firm.box, false);
      if (!(way <= speed * seconds_)) continue;
      const Vec3 normal = firm.box.empty() ? firm.pose.direction(Vec3::UnitY()) : ahead;
      most = std::max(most, std::abs(normal.dot(flyer.velocity)));
    }
    return most;
  }

  // The speed with which one body strikes another; 0 where it does not come there.
  double strikeSpeed(size_t index, const Flyer& target) const {
    const Flyer& striker = flyers_[index];
    const double g = striker.gravity.norm();
    const Box3& there = target.box;
    if (striker.held) {
      // A pendulum: within its reach.
      double speed = 0;
      const auto found = anchors_.find(index);
      if (found == anchors_.end()) return 0;
      const Vec3 centre = striker.box.center();
      for (const Vec3& anchor : found->second) {
        const double length = (centre - anchor).norm();
        const Vec3 nearest = anchor.cwiseMax(there.lower).cwiseMin(there.upper);
        if ((nearest - anchor).norm() > length + 0.5 * striker.box.diagonal()) continue;
        const double drop = g > 0 ? std::max(0.0, length - (centre - anchor).dot(striker.gravity) / g) : 0;
        speed = std::max(speed, std::sqrt(striker.velocity.squaredNorm() + 2 * g * drop));
      }
      return speed;
    }
    // Thrown, until it is stopped.
    const double stop = impactSpeed(striker);
    const double down = g > 0 ? striker.velocity.dot(striker.gravity) / g : 0;
    const double margin = 0.5 * std::min(striker.box.extent().minCoeff(), there.extent().minCoeff());
    const double end = stop > 0 ? (stop - down) / g + margin / stop : seconds_;
    const double path = striker.velocity.norm() * end + 0.5 * g * end * end;
    if ((striker.box.center() - there.center()).norm() >
        path + 0.5 * (striker.box.diagonal() + there.diagonal()))
      return 0;
    const int steps = int(std::clamp(path / std::max(1e-9, margin), 1.0, double(kMostFlights)));
    Vec3 from = Vec3::Zero();
    for (int i = 1; i <= steps; ++i) {
      const double t = end * i / steps;
      const Vec3 to = t * striker.velocity + 0.5 * t * t * striker.gravity;
      const double way = (to - from).norm();
      if (way > 0 && wayTo(shifted(striker.box, from), (to - from) / way, there, false) <= way)
        return (striker.velocity + t * striker.gravity - target.velocity).norm();
      from = to;
    }
    return 0;
  }

  FateForecast forecast(const Flyer& target) const {
    const BodySpec& body = scene_.bodies[target.body];
    double speed = std::max(impactSpeed(target), speedAlongVelocity(target));
    if (push_[target.body] > 0) speed = std::max(speed, push_[target.body] + target.velocity.norm());
    FateForecast fate;
    fate.likely = fateOf(body, target, speed, target.mass);
    for (const Firm& sweep : sweeps_)
      if (overlap(sweep.box, target.box))
        fate.likely = std::max(fate.likely, fateOf(body, target, sweep.speed, target.mass));
    for (const size_t i : strikers_) {
      if (fate.likely == Fate::Broken) break;
      const Flyer& striker = flyers_[i];
      if (striker.body == target.body) continue;
      const double hit = strikeSpeed(i, target);
      const double mass = target.mass * striker.mass / (target.mass + striker.mass);
      if (hit > 0) fate.likely = std::max(fate.likely, fateOf(body, target, hit, mass));
    }
    // Whoever strikes it has no more than its energy.
    const double others = flyers_.size() > 1 || !sweeps_.empty() ? std::max(fastest_, fastestSweep_) : 0;
    const double most = target.energetic + others;
    const bool hopeless = fateOf(body, target, most, target.mass, 1) == Fate::Whole;
    fate.worst = hopeless ? fate.likely : Fate::Broken;
    return fate;
  }

  // What an impact of a speed does, `mass` being the part of it that is stopped.
  Fate fateOf(const BodySpec& body, const Flyer& target, double speed, double mass,
              double contacts = kContacts) const {
    const FractureSpec& spec = *body.fracture;
    const double impulse = mass * speed * (1 + scene_.materials[body.material].restitution) / contacts;
    if (speed < slowest_) return Fate::Whole;
    if (spec.sites > 0) return impulse >= spec.impulse ? Fate::Broken : Fate::Whole;
    const fracture::BrittleMaterial material = fracture::brittleMaterial(fractureMaterial(scene_, body));
    if (!(material.strength > 0) || !(material.elastic.young > 0))
      return Fate::Broken;  // building it will say so
    const Box3& bounds = sizes_[body.shape].bounds;
    fracture::Impact impact;
    impact.point = bounds.center() + Vec3(0, 0, 0.5 * bounds.diagonal());
    impact.impulse = Vec3(0, 0, impulse);
    impact.speed = speed;
    fracture::FractureSettings settings;
    if (fracture::AdaptiveFracture::hopeless(bounds, target.mass, material, impact, bounds.center(),
                                             settings))
      return Fate::Whole;
    settings.trigger = kBreakingStress;
    return fracture::AdaptiveFracture::hopeless(bounds, target.mass, material, impact, bounds.center(),
                                                settings)
               ? Fate::Analysed
               : Fate::Broken;
  }

  const Scene& scene_;
  std::span<const ShapeSize> sizes_;
  double slowest_;  // m/s, of an impact
  double seconds_ = 0;
  std::vector<Firm> firm_, sweeps_;
  std::vector<Flyer> flyers_;                    // in the order of bodies
  std::vector<double> push_;                     // m/s that forces add, by body
  std::vector<size_t> strikers_;                 // of flyers_
  std::map<size_t, std::vector<Vec3>> anchors_;  // of those that joints hold
  double fastest_ = 0, fastestSweep_ = 0;
};

}  // namespace

std::vector<FateForecast> forecastFates(const Scene& scene, std::span<const ShapeSize> sizes) {
  return FateForecaster(scene, sizes).run();
}

}  // namespace sunder::world
