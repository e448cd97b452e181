#include "sunder/fluid/boundary/boundary_samples.h"

#include "sunder/base/box.h"
#include "sunder/base/parallel.h"
#include "sunder/fluid/boundary/near_points.h"
#include "sunder/fluid/kernel.h"

#include <algorithm>

namespace sunder::fluid {

namespace {

constexpr size_t kLinkBlock = 256;

struct Found {
  std::vector<uint32_t> particles;
  std::vector<Vec4f> sums;
  SampleLinks links;
};

}  // namespace

void BoundarySamples::resize(size_t count) {
  positions.resize(count, Vec3::Zero());
  velocities.resize(count, Vec3::Zero());
  volumes.resize(count, 0);
}

void SampleLinks::clear() {
  start.assign(1, 0);
  links.clear();
}

void findLinks(const BoundarySamples& samples, std::span<const Vec4f> place, const Vec3& origin,
               std::vector<uint32_t>& particles, std::vector<Vec4f>& sums, SampleLinks& links) {
  particles.clear();
  sums.clear();
  links.clear();
  const double support = samples.support;
  Box3f fluid;
  for (const Vec4f& p : place) fluid.grow(p.head<3>());
  fluid.lower.array() -= float(support);
  fluid.upper.array() += float(support);
  // Points out of reach of all particles are left out.
  std::vector<Vec3> points;
  std::vector<uint32_t> number;
  Box3f reach;
  for (uint32_t s = 0; s < samples.size(); ++s) {
    const Vec3 p = samples.positions[s] - origin;
    if (!(samples.volumes[s] > 0) || !fluid.contains(p.cast<float>())) continue;
    points.push_back(p);
    number.push_back(s);
    reach.grow(p.cast<float>());
  }
  if (points.empty()) return;
  reach.lower.array() -= float(support);
  reach.upper.array() += float(support);
  const NearPoints near(points, support);
  const CubicKernel kernel(support);
  std::vector<Found> found((place.size() + kLinkBlock - 1) / kLinkBlock);
  parallelBlocks(place.size(), kLinkBlock, [&](size_t begin, size_t end) {
    Found& out = found[begin / kLinkBlock];
    out.links.clear();
    for (size_t i = begin; i < end; ++i) {
      if (!reach.contains(place[i].head<3>())) continue;
      const Vec3 at = place[i].head<3>().cast<double>();
      Vec4f sum = Vec4f::Zero();
      near.any(at, [&](uint32_t k) {
        const Vec3 offset = at - points[k];
        const double distance = offset.norm();
        if (!(distance < support)) return false;
        const double volume = samples.volumes[number[k]];
        SampleLink link;
        link.sample = number[k];
        link.weight = float(volume * kernel.value(distance));
        link.gradient = (volume * kernel.gradientFactor(distance) * offset).cast<float>();
        sum.head<3>() += link.gradient;
        sum.w() += link.weight;
        out.links.links.push_back(link);
        return false;
      });
      if (out.links.links.size() == out.links.start.back()) continue;
      out.particles.push_back(uint32_t(i));
      out.sums.push_back(sum);
      out.links.start.push_back(uint32_t(out.links.links.size()));
    }
  });
  for (const Found& block : found) {
    const auto first = uint32_t(links.links.size());
    particles.insert(particles.end(), block.particles.begin(), block.particles.end());
    sums.insert(sums.end(), block.sums.begin(), block.sums.end());
    links.links.insert(links.links.end(), block.links.links.begin(), block.links.links.end());
    for (size_t k = 1; k < block.links.start.size(); ++k) links.start.push_back(first + block.links.start[k]);
  }
}

}  // namespace sunder::fluid
