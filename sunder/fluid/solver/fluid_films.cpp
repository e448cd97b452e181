// Films between solids under water. Where a body lies flat on another, no particle fits between them: the
// water presses the body down and nothing lifts it. In such places a film has the pressure of the fluid
// around the body, as far as the rim of the film is wet; it presses on both bodies alike.
#include "sunder/base/profiler.h"
#include "sunder/fluid/boundary/near_points.h"
#include "sunder/fluid/boundary/surface_samples.h"
#include "sunder/fluid/solver/fluid.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

constexpr float kCovered = 0.3f;  // of rest: what another body adds to the density where no particle fits
// Lengths in diameters.
constexpr double kGap = 1.5;      // in front of a patch, where that is asked: gaps of less than two are films
constexpr double kWets = 2.5;     // a particle nearer than that, in front of a patch, wets it
constexpr double kRim = 2.5;      // patches so far from a film are its rim
constexpr double kTooMuch = 0.1;  // that particles between bodies may press beyond the pressure around
constexpr float kBetween = 2;     // power of joints: of bodies on opposite sides it is less

// Fluid at rest along a wall: the sum of volumes times the slopes of the map, over the area. It makes forces
// of particles into pressures. 0.49 on a plane, 0.54 around a box of five to ten diameters.
constexpr double kSlopeOfAWall = 0.54;

// Which body covers each patch of the surface samples, most of all; none: kNobody.
constexpr uint32_t kNobody = ~uint32_t(0);

}  // namespace

// What presses on a body: the mean pressure of the particles around it, where that is and their density; and
// the force of those between it and other bodies, which have too little room to be right.
struct Fluid::Surroundings {
  double pressure = 0, density = 0;
  Vec3 place = Vec3::Zero(), between = Vec3::Zero();
};

bool Fluid::isBetweenBodies(uint32_t particle) const {
  return joint_[particle] != 0 && joints_[joint_[particle] - 1].power < kBetween;
}

Fluid::Surroundings Fluid::surroundings(size_t b) const {
  Surroundings mean;
  double sum = 0;
  for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e) {
    const uint32_t i = entries_.particle[e];
    const Vec3 slope = entries_.sample[e].head<3>().cast<double>();
    if (isBetweenBodies(i)) {
      mean.between += volume_ * pressure(i) * slope;
      continue;
    }
    const double weight = slope.norm();
    sum += weight;
    mean.pressure += weight * pressure(i);
    mean.place += weight * positions_[i];
    mean.density += weight * phases_[phase_[i]].density;
  }
  if (!(sum > 0)) return {};
  mean.pressure *= kSlopeOfAWall / sum;
  mean.place /= sum;
  mean.density /= sum;
  return mean;
}

void Fluid::pressFilms(double dt) {
  if (!anyMovable()) return;
  const ProfileScope scope("films");
  std::vector<Box3> boxes(bodies_.size());
  for (size_t b = 0; b < bodies_.size(); ++b)
    if (bodies_[b].map) boxes[b] = worldBounds(bodies_[b]);
  // Of two wet bodies with surface samples, that with the smaller one has the film.
  const auto first = [&](size_t a, size_t b) {
    if (!movable(b) || !bodies_[b].samples || !touches(uint32_t(b))) return true;
    const size_t ours = bodies_[a].samples->points.size(), theirs = bodies_[b].samples->points.size();
    return ours != theirs ? ours < theirs : a < b;
  };
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const BoundaryBody& body = bodies_[b];
    if (!body.map || !movable(b) || !body.samples || !touches(uint32_t(b))) continue;
    const size_t count = body.samples->points.size();
    std::vector<float> values(count), most(count, kCovered);
    std::vector<uint32_t> cover(count, kNobody);
    std::vector<Vec4f> probes(count);
    bool any = false;
    for (size_t o = 0; o < bodies_.size(); ++o) {
      const BoundaryBody& other = bodies_[o];
      if (o == b || !other.map || !other.map->exact() || !overlap(boxes[o], boxes[b]) || !first(b, o))
        continue;
      for (size_t k = 0; k < count; ++k) {
        const Vec3 p =
            body.rotation * (body.samples->points[k] + kGap * diameter_ * body.samples->normals[k]) +
            body.position;
        probes[k] = withFourth((other.rotation.transpose() * (p - other.position)).cast<float>(), 0);
      }
      other.map->values(probes, values);
      for (size_t k = 0; k < count; ++k) {
        if (!(values[k] > most[k])) continue;
        most[k] = values[k];
        cover[k] = uint32_t(o);
        any = true;
      }
    }
    if (any) pressFilm(b, cover, dt);
  }
}

void Fluid::pressFilm(size_t b, std::span<const uint32_t> cover, double dt) {
  const BoundaryBody& body = bodies_[b];
  const SurfaceSamples& samples = *body.samples;
  const auto place = [&](size_t k) { return Vec3(body.rotation * samples.points[k] + body.position); };
  std::vector<Vec3> near;
  for (uint32_t e = entries_.bodyStart[b]; e < entries_.bodyStart[b + 1]; ++e)
    if (const uint32_t i = entries_.particle[e]; !isBetweenBodies(i)) near.push_back(positions_[i]);
  const NearPoints particles(near, kWets * diameter_);
  const auto wet = [&](size_t k) {
    const Vec3 normal = body.rotation * samples.normals[k], eye = place(k) - 0.5 * diameter_ * normal;
    return particles.any(eye, [&](uint32_t i) {
      const Vec3 way = near[i] - eye;
      const double far = way.norm();
      return far < kWets * diameter_ && way.dot(normal) > 0.5 * far;
    });
  };
  const Surroundings around = surroundings(b);
  const auto forceOn = [&](size_t k) {
    const double depth = settings_.gravity.dot(place(k) - around.place);
    const double pressure = std::max(around.pressure + around.density * depth, 0.0);
    return Vec3(-pressure * samples.areas[k] * (body.rotation * samples.normals[k]));
  };
  // Next to the rim of a film particles lift the body themselves.
  Vec3 all = Vec3::Zero(), inner = Vec3::Zero();
  std::vector<uint32_t> film;
  std::vector<Vec3> where;
  for (uint32_t k = 0; k < cover.size(); ++k) {
    if (cover[k] == kNobody) continue;
    const Vec3 point = place(k), force = forceOn(k);
    all += force;
    if (wet(k) || particles.any(point, [&](uint32_t i) { return (near[i] - point).norm() < diameter_; }))
      continue;
    inner += force;
    film.push_back(k);
    where.push_back(point);
  }
  if (!(inner.squaredNorm() > 0)) return;
  const NearPoints films(where, kRim * diameter_);
  size_t rim = 0, wetRim = 0;
  for (uint32_t k = 0; k < cover.size(); ++k) {
    if (cover[k] != kNobody) continue;
    const Vec3 p = place(k);
    if (!films.any(p, [&](uint32_t f) { return (p - where[f]).norm() < kRim * diameter_; })) continue;
    ++rim;
    wetRim += wet(k);
  }
  if (wetRim == 0) return;
  // Particles between the bodies have too little room to press as they should: the film has what they lack,
  // or takes away what is too much.
  const double does = around.between.dot(inner), should = all.dot(inner);
  const double lacks = does < should ? should - does : std::min((1 + kTooMuch) * should - does, 0.0);
  const double part = dt * std::clamp(lacks / inner.squaredNorm(), -1.0, 1.0) * double(wetRim) / double(rim);
  for (size_t f = 0; f < film.size(); ++f) {
    const Vec3 impulse = part * forceOn(film[f]);
    const uint32_t other = cover[film[f]];
    impulses_[b].linear += impulse;
    impulses_[b].angular += (where[f] - body.centre).cross(impulse);
    impulses_[other].linear -= impulse;
    impulses_[other].angular -= (where[f] - bodies_[other].centre).cross(impulse);
  }
}

}  // namespace sunder::fluid
