#include "sunder/fluid/coupling/body_density.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace sunder::fluid {

namespace {

void joinBodies(BodyCoupling& coupling) {
  std::vector<uint32_t>& number = coupling.normNumber;
  std::vector<DensityNorm>& norms = coupling.norms;
  std::vector<Vec4f>& density = coupling.density;
  norms.clear();
  const auto each = [&](bool exact, const auto& act) {
    for (size_t b = 0; b < coupling.bodies.size(); ++b) {
      if (coupling.bodies[b].exact() != exact) continue;
      for (uint32_t e = coupling.entries.bodyStart[b]; e < coupling.entries.bodyStart[b + 1]; ++e)
        act(coupling.entries.particle[e], coupling.entries.sample[e]);
    }
  };
  each(true, [&](uint32_t i, const Vec4f& sample) {
    if (density[i].w() > 0 && number[i] == 0) {  // the second body: entries are above zero
      norms.push_back({});
      number[i] = uint32_t(norms.size());
    }
    density[i] = sample;
  });
  const auto eachOfSeveral = [&](const auto& act) {
    if (norms.empty()) return;
    each(true, [&](uint32_t i, Vec4f& sample) {
      if (number[i] != 0) act(norms[number[i] - 1], i, sample);
    });
  };
  eachOfSeveral([](DensityNorm& norm, uint32_t, const Vec4f& sample) {
    norm.largest = std::max(norm.largest, sample.w());
    const float steep = sample.head<3>().norm();
    if (!(steep > 0)) return;
    norm.directions += sample.head<3>() / steep;
    norm.count += 1;
  });
  for (DensityNorm& norm : norms)
    if (norm.count > 0) norm.power = 1 + 3 * norm.directions.squaredNorm() / (norm.count * norm.count);
  eachOfSeveral([](DensityNorm& norm, uint32_t, const Vec4f& sample) { norm.sum += norm.term(sample.w()); });
  eachOfSeveral([&](DensityNorm& norm, uint32_t i, Vec4f& sample) {
    const float value = norm.value(norm.sum);
    sample.head<3>() *= std::pow(sample.w() / value, norm.power - 1);
    norm.gradient += sample.head<3>();
    density[i] = withFourth(norm.gradient, value);
  });
  each(false, [&](uint32_t i, const Vec4f& sample) { density[i] += sample; });
}

}  // namespace

void findBodies(std::span<const Vec4f> place, const Vec3& origin, BodyCoupling& coupling) {
  coupling.density.resize(place.size());
  parallelFor(place.size(), [&](size_t i) { coupling.density[i].setZero(); });
  coupling.normNumber.assign(place.size(), 0);
  coupling.sampleMotions.resize(coupling.bodies.size());
  for (size_t b = 0; b < coupling.bodies.size(); ++b) {
    const size_t count = coupling.bodies[b].points ? coupling.bodies[b].points->size() : 0;
    coupling.sampleMotions[b].impulses.resize(count, Vec3::Zero());
    coupling.sampleMotions[b].changes.resize(count, Vec3::Zero());
  }
  findEntries(coupling.bodies, place, origin, coupling.entries);
  joinBodies(coupling);
}

void addPredictedDensity(const BodyCoupling& coupling, double dt, std::span<const Vec3> positions,
                         std::span<const Vec4f> motion, std::span<float> density, std::span<float> scratch) {
  const BoundaryEntries& entries = coupling.entries;
  const std::span<float> terms = scratch;
  std::fill(terms.begin(), terms.end(), 0.0f);
  for (size_t b = 0; b < coupling.bodies.size(); ++b) {
    const BoundaryBody& body = coupling.bodies[b];
    const uint32_t first = entries.bodyStart[b], count = entries.bodyStart[b + 1] - first;
    if (count > 0 && !body.exact()) {
      parallelFor(count, [&](size_t e) {
        const uint32_t i = entries.particle[first + e];
        const Vec4f& sample = entries.sample[first + e];
        const auto away = float(coupling.rateAt(b, uint32_t(first + e), positions[i]));
        density[i] += sample.w() + float(dt) * (sample.head<3>().dot(motion[i].head<3>()) - away);
      });
      continue;
    }
    const Mat3 turn = body.rotation.transpose();
    const bool moves = coupling.movable(b);
    parallelBlocks(count, 512, [&](size_t begin, size_t end) {
      std::vector<Vec4f> points(end - begin);
      std::vector<float> values(end - begin);
      for (size_t e = begin; e < end; ++e) {
        const uint32_t i = entries.particle[first + e];
        Vec3 next = positions[i] + dt * motion[i].head<3>().cast<double>();
        if (moves) next -= dt * (coupling.velocityAt(b, next) - body.velocityAt(next));
        points[e - begin] = withFourth((turn * (next - body.position)).cast<float>(), 0);
      }
      body.map->values(points, values);
      for (size_t e = begin; e < end; ++e) {
        const uint32_t i = entries.particle[first + e];
        if (const DensityNorm* norm = coupling.norm(i))
          terms[i] += norm->term(values[e - begin]);
        else
          density[i] += values[e - begin];
      }
    });
  }
  parallelFor(density.size(), [&](size_t i) {
    if (const DensityNorm* norm = coupling.norm(i)) density[i] += norm->value(terms[i]);
  });
}

void findBodyRates(const BodyCoupling& coupling, std::span<const Vec3> positions, std::span<float> rates) {
  std::fill(rates.begin(), rates.end(), 0.0f);
  const BoundaryEntries& entries = coupling.entries;
  for (size_t b = 0; b < coupling.bodies.size(); ++b)
    for (uint32_t e = entries.bodyStart[b]; e < entries.bodyStart[b + 1]; ++e) {
      const uint32_t i = entries.particle[e];
      rates[i] += float(coupling.rateAt(b, e, positions[i]));
    }
}

}  // namespace sunder::fluid
