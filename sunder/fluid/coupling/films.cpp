#include "sunder/fluid/coupling/films.h"

#include "sunder/base/profiler.h"
#include "sunder/fluid/boundary/near_points.h"
#include "sunder/fluid/boundary/surface_samples.h"

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
constexpr float kBetween = 2;     // power of norms: of bodies on opposite sides it is less

// Fluid at rest along a wall: the sum of volumes times the slopes of the map, over the area. It makes forces
// of particles into pressures. 0.49 on a plane, 0.54 around a box of five to ten diameters.
constexpr double kSlopeOfAWall = 0.54;

// Which body covers each patch of the surface samples, most of all; none: kNobody.
constexpr uint32_t kNobody = ~uint32_t(0);

// What presses on a body: the mean pressure of the particles around it, where that is and their density; and
// the force of those between it and other bodies, which have too little room to be right.
struct Surroundings {
  double pressure = 0, density = 0;
  Vec3 place = Vec3::Zero(), between = Vec3::Zero();
};

struct FilmPressing {
  const FluidModel& model;
  const FluidState& state;
  double dt;
  BodyCoupling& coupling;

  bool isBetweenBodies(uint32_t particle) const {
    const DensityNorm* norm = coupling.norm(particle);
    return norm != nullptr && norm->power < kBetween;
  }
  bool mayHaveFilm(size_t b) const {
    return coupling.movable(b) && coupling.bodies[b].samples && coupling.touches(b);
  }
  Surroundings surroundings(size_t b) const;
  bool findCover(size_t b, std::span<const Box3> boxes, std::vector<uint32_t>& cover) const;
  void press(size_t b, std::span<const uint32_t> cover) const;
};

Surroundings FilmPressing::surroundings(size_t b) const {
  const BoundaryEntries& entries = coupling.entries;
  Surroundings mean;
  double sum = 0;
  for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e) {
    const uint32_t i = entries.particle[e];
    const Vec3 slope = entries.sample[e].head<3>().cast<double>();
    const double pressure = pressureOf(model, state, i);
    if (isBetweenBodies(i)) {
      mean.between += model.volume * pressure * slope;
      continue;
    }
    const double weight = slope.norm();
    sum += weight;
    mean.pressure += weight * pressure;
    mean.place += weight * state.positions[i];
    mean.density += weight * model.phases[state.phases[i]].density;
  }
  if (!(sum > 0)) return {};
  mean.pressure *= kSlopeOfAWall / sum;
  mean.place /= sum;
  mean.density /= sum;
  return mean;
}

// Whether another body covers a patch of this one.
bool FilmPressing::findCover(size_t b, std::span<const Box3> boxes, std::vector<uint32_t>& cover) const {
  const BoundaryBody& body = coupling.bodies[b];
  const size_t count = body.samples->points.size();
  // Of two wet bodies with surface samples, that with the smaller one has the film.
  const auto hasTheFilm = [&](size_t other) {
    if (!mayHaveFilm(other)) return true;
    const size_t theirs = coupling.bodies[other].samples->points.size();
    return count != theirs ? count < theirs : b < other;
  };
  std::vector<float> values(count), most(count, kCovered);
  std::vector<Vec4f> probes(count);
  cover.assign(count, kNobody);
  bool any = false;
  for (size_t o = 0; o < coupling.bodies.size(); ++o) {
    const BoundaryBody& other = coupling.bodies[o];
    if (o == b || !other.map || !other.map->exact() || !overlap(boxes[o], boxes[b]) || !hasTheFilm(o))
      continue;
    for (size_t k = 0; k < count; ++k) {
      const Vec3 p =
          body.rotation * (body.samples->points[k] + kGap * model.diameter * body.samples->normals[k]) +
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
  return any;
}

void FilmPressing::press(size_t b, std::span<const uint32_t> cover) const {
  const double diameter = model.diameter;
  const BoundaryEntries& entries = coupling.entries;
  const BoundaryBody& body = coupling.bodies[b];
  const SurfaceSamples& samples = *body.samples;
  const auto place = [&](size_t k) { return Vec3(body.rotation * samples.points[k] + body.position); };
  std::vector<Vec3> near;
  for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e)
    if (const uint32_t i = entries.particle[e]; !isBetweenBodies(i)) near.push_back(state.positions[i]);
  const NearPoints particles(near, kWets * diameter);
  const auto wet = [&](size_t k) {
    const Vec3 normal = body.rotation * samples.normals[k], eye = place(k) - 0.5 * diameter * normal;
    return particles.any(eye, [&](uint32_t i) {
      const Vec3 way = near[i] - eye;
      const double far = way.norm();
      return far < kWets * diameter && way.dot(normal) > 0.5 * far;
    });
  };
  const Surroundings around = surroundings(b);
  const auto forceOn = [&](size_t k) {
    const double depth = model.settings.gravity.dot(place(k) - around.place);
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
    if (wet(k) || particles.any(point, [&](uint32_t i) { return (near[i] - point).norm() < diameter; }))
      continue;
    inner += force;
    film.push_back(k);
    where.push_back(point);
  }
  if (!(inner.squaredNorm() > 0)) return;
  const NearPoints films(where, kRim * diameter);
  size_t rim = 0, wetRim = 0;
  for (uint32_t k = 0; k < cover.size(); ++k) {
    if (cover[k] != kNobody) continue;
    const Vec3 p = place(k);
    if (!films.any(p, [&](uint32_t f) { return (p - where[f]).norm() < kRim * diameter; })) continue;
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
    coupling.addImpulse(b, where[f], impulse);
    coupling.addImpulse(cover[film[f]], where[f], -impulse);
  }
}

}  // namespace

void applyFilms(const FluidModel& model, const FluidState& state, double dt, BodyCoupling& coupling) {
  if (!coupling.touchesMovable()) return;
  const ProfileScope scope("films");
  const std::vector<BoundaryBody>& bodies = coupling.bodies;
  std::vector<Box3> boxes(bodies.size());
  for (size_t b = 0; b < bodies.size(); ++b)
    if (bodies[b].map) boxes[b] = worldBounds(bodies[b]);
  const FilmPressing films{model, state, dt, coupling};
  std::vector<uint32_t> cover;
  for (size_t b = 0; b < bodies.size(); ++b)
    if (bodies[b].map && films.mayHaveFilm(b) && films.findCover(b, boxes, cover)) films.press(b, cover);
}

}  // namespace sunder::fluid
