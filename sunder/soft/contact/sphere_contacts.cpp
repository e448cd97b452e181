#include "sunder/soft/contact/sphere_contacts.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

namespace sunder::soft {

double frictionOf(double a, double b) { return std::sqrt(a * b); }

double restitutionOf(double a, double b) { return std::max(a, b); }

double frictionUse(const Contact& contact) {
  const double most = contact.friction * contact.normalForce;
  return most > 0 ? std::min(1.0, contact.frictionForce.norm() / most) : 0;
}

SphereContacts::SphereContacts(ObstacleBodies& obstacles, const ContactSettings& settings)
    : obstacles_(obstacles), settings_(settings) {
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(settings.tolerance) || !positive(settings.stiffness) || settings.mostRounds == 0 ||
      !(settings.bounceSpeed >= 0))
    throw Error(
        ErrorKind::Usage,
        fmt::format("contacts with tolerance {}, stiffness {}, {} rounds, bounce speed {}",
                    settings.tolerance, settings.stiffness, settings.mostRounds, settings.bounceSpeed))
        .hint("all must be positive, the last may be zero");
}

void SphereContacts::set(const geometry::TetMesh& rest, std::span<const ContactSphere> spheres,
                         std::span<const ContactBody> bodies) {
  geometry::requireValid(rest);
  for (size_t i = 0; i < bodies.size(); ++i) {
    const ContactBody& b = bodies[i];
    if (!(b.friction >= 0) || !std::isfinite(b.friction) || !(b.restitution >= 0 && b.restitution <= 1) ||
        !(b.young > 0) || !std::isfinite(b.young))
      throw Error(ErrorKind::Usage, fmt::format("soft body {} has friction {}, restitution {}, modulus {} Pa",
                                                i, b.friction, b.restitution, b.young))
          .hint("friction is from 0 on, restitution from 0 to 1, the modulus positive");
  }
  for (size_t i = 0; i < spheres.size(); ++i) {
    const ContactSphere& s = spheres[i];
    const double sum = s.weights[0] + s.weights[1] + s.weights[2] + s.weights[3];
    if (s.tet >= rest.tets.size() || s.body >= bodies.size())
      throw Error(ErrorKind::Usage, fmt::format("sphere {} is in tetrahedron {} of {} and body {} of {}", i,
                                                s.tet, rest.tets.size(), s.body, bodies.size()));
    if (!(std::abs(sum - 1) <= 1e-6) || !(s.radius > 0) || !std::isfinite(s.radius))
      throw Error(ErrorKind::Usage,
                  fmt::format("sphere {} has weights that add up to {} and radius {}", i, sum, s.radius))
          .hint("they must add up to 1, and the radius must be positive");
  }
  spheres_.assign(spheres.begin(), spheres.end());
  bodies_.assign(bodies.begin(), bodies.end());
  present_.assign(bodies_.size(), 1);
  restTets_ = tets_ = rest.tets;
  pieceOf_.assign(tets_.size(), 0);
  pieceSizes_.assign(tets_.size(), 0);
  sizes_.resize(tets_.size());
  for (size_t t = 0; t < tets_.size(); ++t)
    sizes_[t] =
        std::cbrt(std::abs(geometry::signedVolume(rest.positions[tets_[t][0]], rest.positions[tets_[t][1]],
                                                  rest.positions[tets_[t][2]], rest.positions[tets_[t][3]])));
  largestRadii_.assign(bodies_.size(), 0);
  for (const ContactSphere& s : spheres_) largestRadii_[s.body] = std::max(largestRadii_[s.body], s.radius);
  restCentres_.resize(spheres_.size());
  for (size_t i = 0; i < spheres_.size(); ++i) restCentres_[i] = centre(i, rest.positions);
  inverseMasses_.assign(rest.positions.size(), 0);
  kept_.clear();
  apart_.clear();
  contacts_.clear();
  report_ = {};
}

void SphereContacts::keepApart(uint32_t body, uint64_t obstacle) {
  if (body >= bodies_.size())
    throw Error(ErrorKind::Usage, fmt::format("soft body {} of {}", body, bodies_.size()));
  const Apart apart{body, true, obstacle};
  apart_.insert(std::upper_bound(apart_.begin(), apart_.end(), apart), apart);
}

void SphereContacts::keepBodiesApart(uint32_t body, uint32_t other) {
  if (std::max(body, other) >= bodies_.size())
    throw Error(ErrorKind::Usage, fmt::format("soft body {} of {}", std::max(body, other), bodies_.size()));
  const Apart apart{std::min(body, other), false, std::max(body, other)};
  apart_.insert(std::upper_bound(apart_.begin(), apart_.end(), apart), apart);
}

void SphereContacts::setCorners(std::span<const geometry::Tetrahedron> tets, std::span<const double> masses) {
  if (tets.size() != restTets_.size())
    throw Error(ErrorKind::Usage,
                fmt::format("{} tetrahedra for contacts of {}", tets.size(), restTets_.size()));
  for (const geometry::Tetrahedron& tet : tets)
    for (const uint32_t v : tet)
      if (v >= masses.size()) throw Error(ErrorKind::Usage, fmt::format("vertex {} of {}", v, masses.size()));
  tets_.assign(tets.begin(), tets.end());
  DisjointSets pieces(masses.size());
  for (const geometry::Tetrahedron& tet : tets_)
    for (size_t k = 1; k < 4; ++k) pieces.unite(tet[0], tet[k]);
  pieceOf_.resize(tets_.size());
  std::vector<uint32_t> counts(masses.size(), 0);
  for (size_t t = 0; t < tets_.size(); ++t) ++counts[pieceOf_[t] = pieces.find(tets_[t][0])];
  pieceSizes_.resize(tets_.size());
  for (size_t t = 0; t < tets_.size(); ++t) pieceSizes_[t] = counts[pieceOf_[t]];
  inverseMasses_.resize(masses.size());
  for (size_t v = 0; v < masses.size(); ++v) inverseMasses_[v] = masses[v] > 0 ? 1 / masses[v] : 0;
}

void SphereContacts::setPresent(uint32_t body, bool present) {
  present_[body] = present;
  if (present) return;
  std::erase_if(kept_, [&](const Kept& kept) {
    return spheres_[kept.sphere].body == body || (!kept.obstacle && spheres_[kept.other].body == body);
  });
}

Vec3 SphereContacts::centre(size_t sphere, std::span<const Vec3> x) const {
  return blended(tets_[spheres_[sphere].tet], spheres_[sphere].weights, x);
}

// Slivers of a solid have tiny spheres, which need not be more exact than the others.
double SphereContacts::tolerated(const Contact& c) const {
  return settings_.tolerance * std::max(c.radius, 0.5 * largestRadii_[spheres_[c.sphere].body]);
}

double SphereContacts::inverseMassOf(uint32_t sphere) const {
  double sum = 0;
  for (size_t k = 0; k < 4; ++k) {
    const double w = spheres_[sphere].weights[k];
    sum += w * w * inverseMasses_[tets_[spheres_[sphere].tet][k]];
  }
  return sum;
}

// What the vertices offer against being moved in a step: their inertia, and about the stiffness of a
// tetrahedron.
double SphereContacts::leastStiffness(const Pair& pair, const Vec3& normal) const {
  const auto elastic = [&](uint32_t s) { return bodies_[spheres_[s].body].young * sizes_[spheres_[s].tet]; };
  double inverse = inverseMassOf(pair.sphere), stiffness = elastic(pair.sphere);
  if (pair.obstacle) {
    inverse += obstacles_.inverseMassAt(pair.other, startCentres_[pair.sphere], normal);
  } else {
    inverse += inverseMassOf(pair.other);
    const double other = elastic(pair.other);
    stiffness = stiffness * other / (stiffness + other);
  }
  return settings_.stiffness * (stiffness + (inverse > 0 ? 1 / (inverse * h_ * h_) : 0));
}

const SphereContacts::Kept* SphereContacts::keptOf(const Pair& pair) const {
  const uint64_t other = pair.obstacle ? obstacles_.bodies()[pair.other].key : pair.other;
  const auto at = std::lower_bound(kept_.begin(), kept_.end(), std::tie(pair.sphere, pair.obstacle, other),
                                   [](const Kept& kept, const auto& key) {
                                     return std::tie(kept.sphere, kept.obstacle, kept.other) < key;
                                   });
  if (at == kept_.end() || at->sphere != pair.sphere || at->obstacle != pair.obstacle || at->other != other)
    return nullptr;
  return &*at;
}

void SphereContacts::end(std::span<const Vec3> x, std::span<Vec3> velocities) {
  report_.pairs = static_cast<uint32_t>(pairs_.size());
  report_.stopped = held_;
  for (const Contact& c : contacts_) {
    if (c.depth > report_.deepest) report_.deepest = c.depth;
    report_.deepestOfRadius = std::max(report_.deepestOfRadius, c.depth / c.radius);
    report_.contacts += c.push != Vec3::Zero();
    if (!c.obstacle) continue;
    obstacles_.push(c.other, -h_ * c.push, centre(c.sphere, x));
    obstacles_.push(c.other, -h_ * c.drag, c.dragAt);
  }
  bounce(x, velocities);
  obstacles_.settle();
  remember();
}

void SphereContacts::remember() {
  kept_.clear();
  for (const Contact& c : contacts_) {
    if (!(c.normalForce > 0)) continue;
    const uint64_t other = c.obstacle ? obstacles_.bodies()[c.other].key : c.other;
    kept_.push_back({c.sphere, c.obstacle, other, c.normalForce, c.frictionForce});
  }
  std::sort(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) {
    return std::tie(a.sphere, a.obstacle, a.other) < std::tie(b.sphere, b.obstacle, b.other);
  });
}

}  // namespace sunder::soft
