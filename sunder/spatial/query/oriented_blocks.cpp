#include "sunder/spatial/query/oriented_blocks.h"

#include "sunder/base/parallel.h"
#include "sunder/spatial/query/float_point.h"

#include <algorithm>
#include <cmath>

namespace sunder::spatial {

namespace {

struct Frame {
  D3 axis[3];
};

constexpr Frame kAxes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

D3 asFloats(D3 v) { return {floatPart(v.x), floatPart(v.y), floatPart(v.z)}; }

// The mean normal, and across it the direction in which the corners spread most. False where there is no
// mean normal to speak of.
bool surfaceFrame(const PlainTriangle* triangles, size_t count, Frame& frame) {
  D3 normal{0, 0, 0}, mean{0, 0, 0};
  double area = 0;
  for (size_t i = 0; i < count; ++i) {
    const D3* c = triangles[i].corner;
    const D3 n = cross(c[1] - c[0], c[2] - c[0]);
    normal = normal + n;
    area += std::sqrt(dot(n, n));
    mean = mean + (c[0] + c[1] + c[2]);
  }
  const double length = std::sqrt(dot(normal, normal));
  if (!(length > 0.3 * area && length > 1e-200 && length < 1e200)) return false;
  normal = (1 / length) * normal;
  mean = (1 / (3 * static_cast<double>(count))) * mean;
  // Any two directions across the normal; the least coordinate of the normal keeps them well defined.
  const double x = std::abs(normal.x), y = std::abs(normal.y), z = std::abs(normal.z);
  const D3 least = x <= y && x <= z ? D3{1, 0, 0} : y <= z ? D3{0, 1, 0} : D3{0, 0, 1};
  D3 u = cross(normal, least);
  u = (1 / std::sqrt(dot(u, u))) * u;
  const D3 v = cross(normal, u);
  double uu = 0, uv = 0, vv = 0;
  for (size_t i = 0; i < count; ++i)
    for (const D3& c : triangles[i].corner) {
      const double a = dot(u, c - mean), b = dot(v, c - mean);
      uu += a * a;
      uv += a * b;
      vv += b * b;
    }
  // Eigenvector of the larger eigenvalue of [uu uv; uv vv].
  const double half = 0.5 * (uu - vv), root = std::sqrt(half * half + uv * uv);
  double cosine = half >= 0 ? root + half : uv, sine = half >= 0 ? uv : root - half;
  const double size = std::sqrt(cosine * cosine + sine * sine);
  if (!(size > 0)) cosine = 1, sine = 0;
  if (size > 0) cosine /= size, sine /= size;
  const D3 long_ = cosine * u + sine * v;
  frame = {{asFloats(normal), asFloats(long_), asFloats(cross(normal, long_))}};
  return true;
}

struct Fitted {
  Frame frame;
  D3 centre;
  double half[3];

  double size() const { return half[0] * half[1] + half[1] * half[2] + half[2] * half[0]; }
};

Fitted fit(const Frame& frame, const PlainTriangle* triangles, size_t count) {
  double lower[3], upper[3];
  for (int k = 0; k < 3; ++k) lower[k] = upper[k] = dot(frame.axis[k], triangles[0].corner[0]);
  for (size_t i = 0; i < count; ++i)
    for (const D3& c : triangles[i].corner)
      for (int k = 0; k < 3; ++k) {
        const double at = dot(frame.axis[k], c);
        lower[k] = std::min(lower[k], at);
        upper[k] = std::max(upper[k], at);
      }
  Fitted fitted{frame, {0, 0, 0}, {}};
  for (int k = 0; k < 3; ++k) fitted.centre = fitted.centre + (0.5 * (lower[k] + upper[k])) * frame.axis[k];
  fitted.centre = asFloats(fitted.centre);
  for (int k = 0; k < 3; ++k) {
    const double at = dot(frame.axis[k], fitted.centre);
    fitted.half[k] = std::max(upper[k] - at, at - lower[k]);
  }
  return fitted;
}

void store(OrientedBlock& block, uint32_t lane, const Fitted& fitted) {
  const double centre[3] = {fitted.centre.x, fitted.centre.y, fitted.centre.z};
  for (int k = 0; k < 3; ++k) {
    const D3 axis = fitted.frame.axis[k];
    block.centre[k][lane] = static_cast<float>(centre[k]);
    block.axis[k][0][lane] = static_cast<float>(axis.x);
    block.axis[k][1][lane] = static_cast<float>(axis.y);
    block.axis[k][2][lane] = static_cast<float>(axis.z);
    block.half[k][lane] = floatAbove(fitted.half[k]);
  }
}

}  // namespace

OrientedTree makeOrientedTree(const OiTree& tree, const PlainTriangle* triangles) {
  OrientedTree result;
  if (tree.empty()) return result;
  const OiLayout& layout = tree.layout();
  uint32_t blockCount = 0;
  for (uint32_t level = 0; level < layout.leafLevel(); ++level) {
    result.firstBlock.push_back(blockCount);
    blockCount += (layout.levelSize(level) + kBlockLanes - 1) / kBlockLanes;
  }
  result.blocks.resize(blockCount, OrientedBlock{});  // lanes of nobody are zero
  for (uint32_t level = 0; level < layout.leafLevel(); ++level)
    parallelFor((layout.levelSize(level) + kBlockLanes - 1) / kBlockLanes,
                [&](size_t b) {
                  const uint32_t first = static_cast<uint32_t>(b) * kBlockLanes;
                  const uint32_t count = std::min(kBlockLanes, layout.levelSize(level) - first);
                  for (uint32_t lane = 0; lane < count; ++lane) {
                    const OiLayout::Range leaves = layout.leavesBelow(level, first + lane);
                    const PlainTriangle* from = triangles + leaves.begin;
                    const size_t size = leaves.end - leaves.begin;
                    Fitted best = fit(kAxes, from, size);
                    Frame frame;
                    if (surfaceFrame(from, size, frame)) {
                      const Fitted other = fit(frame, from, size);
                      if (other.size() < best.size()) best = other;
                    }
                    store(result.blocks[result.firstBlock[level] + b], lane, best);
                  }
                },
                level + 3 < layout.leafLevel() ? 1 : 64);
  return result;
}

}  // namespace sunder::spatial
