#include "sunder/fluid/boundary/boundary.h"

#include "sunder/base/parallel.h"

#include <algorithm>

namespace sunder::fluid {

namespace {

constexpr size_t kBoundaryBlock = 512;

}  // namespace

Box3 worldBounds(const BoundaryBody& body) {
  const Box3 box = body.map->bounds();
  if (!box.lower.allFinite() || !box.upper.allFinite())
    return {Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)};
  const Vec3 middle = body.rotation * box.center() + body.position;
  const Vec3 reach = body.rotation.cwiseAbs() * (0.5 * box.extent());
  return {middle - reach, middle + reach};
}

void BoundaryEntries::clear(size_t bodies) {
  bodyStart.assign(bodies + 1, 0);
  particle.clear();
  sample.clear();
  links.resize(bodies);
  for (SampleLinks& each : links) {
    each.start.clear();
    each.links.clear();
  }
}

void findEntries(std::span<const BoundaryBody> bodies, std::span<const Vec4f> place, const Vec3& origin,
                 BoundaryEntries& entries) {
  entries.clear(bodies.size());
  const size_t blocks = (place.size() + kBoundaryBlock - 1) / kBoundaryBlock;
  std::vector<Box3f> boxes(blocks);
  parallelFor(
      blocks,
      [&](size_t b) {
        for (size_t i = b * kBoundaryBlock; i < std::min(place.size(), (b + 1) * kBoundaryBlock); ++i)
          boxes[b].grow(place[i].head<3>());
      },
      16);
  struct Found {
    std::vector<uint32_t> particle;
    std::vector<Vec4f> sample;
  };
  std::vector<uint32_t> near;
  std::vector<Found> found;
  for (size_t k = 0; k < bodies.size(); ++k) {
    const BoundaryBody& body = bodies[k];
    entries.bodyStart[k + 1] = uint32_t(entries.particle.size());
    if (body.points) {
      std::vector<uint32_t> particles;
      std::vector<Vec4f> sums;
      findLinks(*body.points, place, origin, particles, sums, entries.links[k]);
      entries.particle.insert(entries.particle.end(), particles.begin(), particles.end());
      entries.sample.insert(entries.sample.end(), sums.begin(), sums.end());
      entries.bodyStart[k + 1] = uint32_t(entries.particle.size());
      continue;
    }
    if (!body.map) continue;
    const Box3 box = worldBounds(body);
    const Box3f reach{(box.lower - origin).cast<float>(), (box.upper - origin).cast<float>()};
    near.clear();
    for (size_t b = 0; b < blocks; ++b)
      if (overlap(boxes[b], reach)) near.push_back(uint32_t(b));
    found.assign(near.size(), {});
    const Eigen::Matrix3f turn = body.rotation.transpose().cast<float>(), back = body.rotation.cast<float>();
    const Vec3f shift = (body.rotation.transpose() * (origin - body.position)).cast<float>();
    parallelFor(
        near.size(),
        [&](size_t n) {
          std::vector<Vec4f> points, samples;
          Found& out = found[n];
          const size_t begin = near[n] * kBoundaryBlock, end = std::min(place.size(), begin + kBoundaryBlock);
          for (size_t i = begin; i < end; ++i) {
            const Vec3f p = place[i].head<3>();
            if (!reach.contains(p)) continue;
            points.push_back(withFourth(turn * p + shift, 0));
            out.particle.push_back(uint32_t(i));
          }
          samples.resize(points.size());
          body.map->samples(points, samples);
          size_t kept = 0;
          for (size_t i = 0; i < samples.size(); ++i) {
            if (!(samples[i].w() > 0)) continue;
            out.sample.push_back(withFourth(back * samples[i].head<3>(), samples[i].w()));
            out.particle[kept++] = out.particle[i];
          }
          out.particle.resize(kept);
        },
        1);
    for (const Found& f : found) {
      entries.particle.insert(entries.particle.end(), f.particle.begin(), f.particle.end());
      entries.sample.insert(entries.sample.end(), f.sample.begin(), f.sample.end());
    }
    entries.bodyStart[k + 1] = uint32_t(entries.particle.size());
  }
}

}  // namespace sunder::fluid
