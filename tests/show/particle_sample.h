// A run with what frames bring points for: particles that circle, and a sheet that waves above them.
#pragma once

#include "sunder/base/math.h"
#include "sunder/record/run_writer.h"

#include <cmath>
#include <filesystem>

namespace sunder::show {

inline constexpr uint32_t kSheetSide = 9;

inline record::BodyPoints sampleParticles(size_t count, uint64_t frame) {
  record::BodyPoints points;
  points.body = 1;
  points.radius = float(0.8 / std::sqrt(double(count)));
  record::PointField velocity{"velocity", 3, {}}, density{"density", 1, {}};
  for (size_t i = 0; i < count; ++i) {
    const double share = (double(i) + 0.5) / double(count),
                 turn = 2.399963 * double(i) + 0.02 * double(frame);
    const double reach = std::sqrt(share), height = 0.3 + 0.2 * std::sin(6 * reach + 0.1 * double(frame));
    points.positions.push_back(
        Vec3f(float(reach * std::cos(turn)), float(height), float(reach * std::sin(turn))));
    velocity.values.insert(velocity.values.end(),
                           {float(-1.2 * reach * std::sin(turn)), 0, float(1.2 * reach * std::cos(turn))});
    density.values.push_back(float(1000 * share));
  }
  points.fields = {velocity, density};
  return points;
}

inline record::BodyPoints sampleSheet(uint64_t frame) {
  record::BodyPoints points;
  points.body = 2;
  for (uint32_t i = 0; i < kSheetSide * kSheetSide; ++i) {
    const double x = 0.25 * (i % kSheetSide) - 1, z = 0.25 * (i / kSheetSide) - 1;
    points.positions.push_back(
        Vec3f(float(x), float(1.2 + 0.15 * std::sin(3 * x + 0.2 * double(frame))), float(z)));
  }
  return points;
}

// Bodies: ground, particles, sheet.
inline void writeParticleRun(const std::filesystem::path& path, size_t particles, uint64_t frames) {
  using namespace record;
  RunWriter writer(
      path,
      {"sunder test", "particles",
       R"({"materials": {"water": {"colour": [0.1, 0.3, 0.7]}, "cloth": {"colour": [0.7, 0.2, 0.1]}}})", 60});
  const uint32_t ground = writer.addMesh(
      {"ground", {{-50, 0, -50}, {-50, 0, 50}, {50, 0, 50}, {50, 0, -50}}, {{0, 1, 2}, {0, 2, 3}}, {}, {}});
  MeshEntry sheet{"sheet", sampleSheet(0).positions, {}, {}, {}};
  for (uint32_t i = 0; i + 1 < kSheetSide; ++i)
    for (uint32_t j = 0; j + 1 < kSheetSide; ++j) {
      const uint32_t a = i * kSheetSide + j, b = a + 1, c = a + kSheetSide, d = c + 1;
      sheet.triangles.push_back({a, c, b});
      sheet.triangles.push_back({b, c, d});
    }
  const uint32_t cloth = writer.addMesh(sheet);
  writer.addBody({"ground", kNoIndex, "", ground, 0, BodyKind::Static, 0});
  writer.addBody({"water", kNoIndex, "water", kNoIndex, 1, BodyKind::Fluid, 0});
  writer.addBody({"cloth", kNoIndex, "cloth", cloth, 1, BodyKind::Deformable, 0});
  std::vector<BodyState> states(3);
  for (BodyState& s : states) s.present = true;
  for (uint64_t f = 0; f < frames; ++f) {
    const BodyPoints points[] = {sampleParticles(particles, f), sampleSheet(f)};
    const Statistic statistics[] = {{"particles", double(particles)}};
    writer.frame(f, double(f) / 60, states, {}, statistics, {}, points);
  }
  writer.finish({EndKind::Finished, "", 1, "{}"});
}

}  // namespace sunder::show
