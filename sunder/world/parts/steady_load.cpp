#include "sunder/world/parts/steady_load.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/geometry/mass_properties.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sunder::world {

namespace {

constexpr int kLoadSweeps = 20;        // up and down
constexpr double kLoadSettled = 1e-3;  // of the speed that gravity gives in a step: smaller changes end them

struct LoadedBody {
  double inverseMass = 0;
  Mat3 inverseInertia = Mat3::Zero();
  Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero(), spin = Vec3::Zero();
};

struct LoadedContact {
  size_t event;
  uint32_t a, b;            // in the list of bodies
  Vec3 normal, armA, armB;  // arms times the normal
  double inverseMass = 0;   // of both bodies, along the normal
  double impulse = 0, most = 0;
};

class LoadProblem {
 public:
  LoadProblem(const rigid::Simulation& simulation, std::span<const rigid::ContactEvent> events,
              const std::function<double(uint32_t)>& gravityScale)
      : simulation_(simulation), events_(events), gravityScale_(gravityScale) {}

  void add(size_t event, double slow) {
    const rigid::ContactEvent& e = events_[event];
    LoadedContact c;
    c.event = event;
    c.a = indexOf(e.a);
    c.b = indexOf(e.b);
    c.normal = e.normal;
    c.armA = (e.point - bodies_[c.a].centre).cross(e.normal);
    c.armB = (e.point - bodies_[c.b].centre).cross(e.normal);
    for (const auto& [body, arm] : {std::pair{c.a, c.armA}, std::pair{c.b, c.armB}})
      c.inverseMass += bodies_[body].inverseMass + arm.dot(bodies_[body].inverseInertia * arm);
    if (!(c.inverseMass > 0)) return;
    c.most = e.impulse;
    if (e.approach < slow) push(c, c.most);
    contacts_.push_back(c);
  }

  void solve() {
    const double settled =
        kLoadSettled * simulation_.settings().gravity.norm() * simulation_.settings().timeStep;
    for (int sweep = 0; sweep < kLoadSweeps; ++sweep) {
      double largest = 0;
      for (size_t i = 0; i < contacts_.size(); ++i) largest = std::max(largest, relax(contacts_[i]));
      for (size_t i = contacts_.size(); i-- > 0;) largest = std::max(largest, relax(contacts_[i]));
      if (!(largest > settled)) return;
    }
  }

  std::span<const LoadedContact> contacts() const { return contacts_; }

 private:
  uint32_t indexOf(rigid::BodyIndex body) {
    const auto [found, added] = known_.try_emplace(body.value, uint32_t(bodies_.size()));
    if (!added) return found->second;
    LoadedBody& out = bodies_.emplace_back();
    if (simulation_.kind(body) != rigid::BodyKind::Dynamic) return found->second;
    const double mass = simulation_.mass(body);
    const geometry::MassProperties& shape = simulation_.shape(body)->mass();
    const Mat3 turn = simulation_.pose(body).rotation.toRotationMatrix();
    out.inverseMass = 1 / mass;
    out.inverseInertia = turn * (shape.inertia * (mass / shape.mass)).inverse() * turn.transpose();
    out.centre = simulation_.centre(body);
    out.velocity =
        gravityScale_(body.value) * simulation_.settings().timeStep * simulation_.settings().gravity;
    return found->second;
  }

  void push(LoadedContact& c, double impulse) {
    LoadedBody &a = bodies_[c.a], &b = bodies_[c.b];
    c.impulse += impulse;
    a.velocity -= a.inverseMass * impulse * c.normal;
    a.spin -= impulse * (a.inverseInertia * c.armA);
    b.velocity += b.inverseMass * impulse * c.normal;
    b.spin += impulse * (b.inverseInertia * c.armB);
  }

  // How much it changed the speed at the contact.
  double relax(LoadedContact& c) {
    const LoadedBody &a = bodies_[c.a], &b = bodies_[c.b];
    const double speed = c.normal.dot(b.velocity - a.velocity) + c.armB.dot(b.spin) - c.armA.dot(a.spin);
    const double change = std::clamp(c.impulse - speed / c.inverseMass, 0.0, c.most) - c.impulse;
    push(c, change);
    return std::abs(change) * c.inverseMass;
  }

  const rigid::Simulation& simulation_;
  std::span<const rigid::ContactEvent> events_;
  const std::function<double(uint32_t)>& gravityScale_;
  std::map<uint32_t, uint32_t> known_;
  std::vector<LoadedBody> bodies_;
  std::vector<LoadedContact> contacts_;
};

// Dynamic bodies that touch have the same root.
class TouchingGroups {
 public:
  TouchingGroups(const rigid::Simulation& simulation, std::span<const rigid::ContactEvent> events)
      : simulation_(simulation), sets_(simulation.bodyCount()) {
    for (const rigid::ContactEvent& e : events)
      if (dynamic(e.a) && dynamic(e.b)) sets_.unite(e.a.value, e.b.value);
  }
  uint32_t root(uint32_t body) { return sets_.find(body); }
  uint32_t rootOf(const rigid::ContactEvent& e) { return root((dynamic(e.a) ? e.a : e.b).value); }

 private:
  bool dynamic(rigid::BodyIndex body) const { return simulation_.kind(body) == rigid::BodyKind::Dynamic; }

  const rigid::Simulation& simulation_;
  DisjointSets sets_;
};

}  // namespace

std::vector<double> steadyImpulses(const rigid::Simulation& simulation,
                                   std::span<const rigid::ContactEvent> events,
                                   std::span<const uint32_t> bodies,
                                   const std::function<double(uint32_t)>& gravityScale, double slow) {
  std::vector<double> steady(events.size(), 0.0);
  if (bodies.empty()) return steady;
  TouchingGroups groups(simulation, events);
  std::vector<uint32_t> wanted;
  for (const uint32_t body : bodies) wanted.push_back(groups.root(body));
  std::sort(wanted.begin(), wanted.end());
  LoadProblem problem(simulation, events, gravityScale);
  for (size_t i = 0; i < events.size(); ++i)
    if (std::binary_search(wanted.begin(), wanted.end(), groups.rootOf(events[i]))) problem.add(i, slow);
  problem.solve();
  for (const LoadedContact& c : problem.contacts()) steady[c.event] = c.impulse;
  return steady;
}

}  // namespace sunder::world
