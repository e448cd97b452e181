#include "sunder/show/run_summary.h"

#include "sunder/base/error.h"
#include "sunder/show/readable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace sunder::show {

namespace {

constexpr size_t kFramesLookedAt = 24;
constexpr size_t kPointsLookedAt = 1000;  // of a body

struct Weighed {
  float value, weight;
};

// Large bodies count more: splinters that fly far are not what one wants to see.
double percentile(std::vector<Weighed>& values, double part) {
  std::sort(values.begin(), values.end(),
            [](const Weighed& a, const Weighed& b) { return a.value < b.value; });
  double all = 0, sum = 0;
  for (const Weighed& v : values) all += double(v.weight);
  for (const Weighed& v : values) {
    sum += double(v.weight);
    if (sum >= part * all) return double(v.value);
  }
  return double(values.back().value);
}

MeshSummary summarise(const record::MeshEntry& mesh) {
  MeshSummary summary;
  Box3f box;
  for (const Vec3f& p : mesh.positions) box.grow(p);
  if (box.empty()) return summary;
  summary.centre = box.center();
  summary.half = box.extent() / 2;
  summary.radius = box.diagonal() / 2;
  if (mesh.triangles.size() == 2 && mesh.positions.size() == 4) {
    const auto& p = mesh.positions;
    summary.normal = (p[1] - p[0]).cross(p[2] - p[0]).normalized();
    summary.square = std::abs(summary.normal.dot(p[3] - p[0])) <= 1e-5f * box.diagonal();
  }
  return summary;
}

}  // namespace

bool isGround(const RunSummary& summary, const record::BodyEntry& body, const record::BodyState& state) {
  if (body.kind != record::BodyKind::Static || body.mesh >= summary.meshes.size()) return false;
  const auto level = [&](const Vec3f& normal) { return std::abs((state.rotation * normal).y()) > 0.99999f; };
  if (body.ground) return *body.ground && level(Vec3f::UnitY());
  const MeshSummary& mesh = summary.meshes[body.mesh];
  return mesh.square && level(mesh.normal);
}

RunSummary summarise(const record::RunReader& run) {
  RunSummary summary;
  summary.materials = materialsOf(run);
  for (size_t m = 0; m < run.meshCount(); ++m) summary.meshes.push_back(summarise(meshOrNone(run, m)));
  std::vector<Weighed> low[3], high[3];
  Box3 still;
  std::set<uint32_t> grounds;
  record::Frame frame;
  const size_t count = run.frameCount(), looked = std::min(count, kFramesLookedAt);
  for (size_t k = 0; k < looked; ++k) {
    try {
      run.readFrame(looked < 2 ? 0 : k * (count - 1) / (looked - 1), frame);
    } catch (const Error&) {
      continue;  // lost
    }
    for (const record::BodyPoints& points : frame.points) {
      const record::BodyState& state = frame.bodies[points.body];
      if (!showable(state) || !drawable(state.position)) continue;
      const size_t every = points.positions.size() / kPointsLookedAt + 1;
      float weight = float(every) * points.radius * points.radius;
      if (!(points.radius > 0)) {
        Box3f box;
        for (const Vec3f& p : points.positions)
          if (p.allFinite()) box.grow(p);
        if (box.empty()) continue;
        weight = float(every) * box.diagonal() * box.diagonal() / float(4 * points.positions.size());
      }
      for (size_t i = 0; i < points.positions.size(); i += every) {
        const Vec3f place = state.position + state.rotation * points.positions[i];
        if (!drawable(place)) continue;
        for (int axis = 0; axis < 3; ++axis) {
          low[axis].push_back({place[axis] - points.radius, weight});
          high[axis].push_back({place[axis] + points.radius, weight});
        }
      }
    }
    for (size_t b = 0; b < frame.bodies.size(); ++b) {
      const record::BodyEntry& body = run.bodies()[b];
      const record::BodyState& state = frame.bodies[b];
      if (record::hasPoints(body.kind)) continue;
      if (!showable(state) || !drawable(state.position) || body.mesh >= summary.meshes.size()) continue;
      const MeshSummary& mesh = summary.meshes[body.mesh];
      if (!drawable(mesh.half)) continue;
      if (isGround(summary, body, state)) {
        summary.ground = state.position.y();
        grounds.insert(uint32_t(b));
        continue;
      }
      const Vec3f centre = state.position + state.rotation * mesh.centre;
      if (body.kind == record::BodyKind::Static) {
        const Vec3f half = state.rotation.toRotationMatrix().cwiseAbs() * mesh.half;
        still.grow(Box3{(centre - half).cast<double>(), (centre + half).cast<double>()});
        continue;
      }
      for (int axis = 0; axis < 3; ++axis) {
        low[axis].push_back({centre[axis] - mesh.radius, mesh.radius * mesh.radius});
        high[axis].push_back({centre[axis] + mesh.radius, mesh.radius * mesh.radius});
      }
    }
  }
  if (low[0].empty()) {
    summary.action = still;
  } else {
    for (int axis = 0; axis < 3; ++axis) {
      summary.action.lower[axis] = percentile(low[axis], 0.05);
      summary.action.upper[axis] = percentile(high[axis], 0.95);
    }
  }
  summary.groundBodies.assign(grounds.begin(), grounds.end());
  if (!summary.ground && !still.empty()) summary.ground = still.lower.y();
  return summary;
}

}  // namespace sunder::show
