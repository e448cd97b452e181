#include "sunder/geometry/duplicates.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace sunder::geometry {

namespace {

using PositionBits = std::array<uint64_t, 3>;

PositionBits bitsOf(const Vec3& p) {
  // Adding zero turns -0 into 0.
  return {std::bit_cast<uint64_t>(p.x() + 0.0), std::bit_cast<uint64_t>(p.y() + 0.0),
          std::bit_cast<uint64_t>(p.z() + 0.0)};
}

uint64_t mix(uint64_t h) {  // the finaliser of MurmurHash3 (Appleby 2011)
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdull;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53ull;
  return h ^ h >> 33;
}

// The corners from the lowest vertex on, towards its lower neighbour.
void canonicalCorners(std::span<const uint32_t> face, std::vector<uint32_t>& out) {
  const size_t n = face.size();
  const size_t start = static_cast<size_t>(std::min_element(face.begin(), face.end()) - face.begin());
  const bool forward = face[(start + 1) % n] < face[(start + n - 1) % n];
  out.resize(n);
  for (size_t i = 0; i < n; ++i) out[i] = face[(start + (forward ? i : n - i)) % n];
}

}  // namespace

std::vector<uint32_t> coincidentVertices(std::span<const Vec3> positions) {
  const size_t n = positions.size();
  std::vector<uint32_t> result(n);
  if (n == 0) return result;
  const uint64_t mask = std::bit_ceil(n) - 1;
  std::vector<uint32_t> bucketOf(n);
  parallelFor(n, [&](size_t i) {
    const PositionBits b = bitsOf(positions[i]);
    bucketOf[i] = static_cast<uint32_t>(mix(b[0] + mix(b[1] + mix(b[2]))) & mask);
  });
  RowsOf<uint32_t> buckets = groupBy<uint32_t>(
      n, mask + 1, [&](size_t i) { return bucketOf[i]; }, [](size_t i) { return u32(i); });
  parallelFor(buckets.size(), [&](size_t b) {
    const auto begin = buckets.items.begin() + buckets.offsets[b];
    const auto end = buckets.items.begin() + buckets.offsets[b + 1];
    if (end - begin == 1) result[*begin] = *begin;
    if (end - begin < 2) return;
    std::sort(begin, end, [&](uint32_t i, uint32_t j) {
      const PositionBits pi = bitsOf(positions[i]), pj = bitsOf(positions[j]);
      return pi != pj ? pi < pj : i < j;
    });
    result[*begin] = *begin;
    for (auto i = begin + 1; i != end; ++i) {
      result[*i] = bitsOf(positions[*i]) == bitsOf(positions[*(i - 1)]) ? result[*(i - 1)] : *i;
    }
  });
  return result;
}

std::vector<uint32_t> coincidentFaces(const MeshView& mesh, const EdgeAdjacency& edges) {
  const size_t faceCount = mesh.faceCount();
  // Equal faces share the edge from their lowest vertex to its lower neighbour; only faces that meet there
  // are compared.
  std::vector<uint32_t> keyEdge(faceCount, kNoIndex);
  parallelFor(faceCount, [&](size_t f) {
    if (mesh.end(f) - mesh.begin(f) < 3 || repeatsVertex(mesh, f)) return;
    uint32_t lowest = mesh.begin(f);
    for (uint32_t c = lowest + 1; c < mesh.end(f); ++c) {
      if (mesh.corners[c] < mesh.corners[lowest]) lowest = c;
    }
    const uint32_t next = mesh.next(f, lowest), previous = mesh.previous(f, lowest);
    keyEdge[f] = edges.cornerEdge[mesh.corners[next] < mesh.corners[previous] ? lowest : previous];
  });
  std::vector<uint32_t> result(faceCount);
  parallelFor(faceCount, [&](size_t f) { result[f] = u32(f); });
  parallelBlocks(edges.size(), kDefaultGrain, [&](size_t begin, size_t end) {
    std::vector<std::pair<std::vector<uint32_t>, uint32_t>> candidates;
    for (size_t e = begin; e < end; ++e) {
      const auto uses = edges.uses.row(e);
      if (uses.size() < 2) continue;
      const auto count =
          std::count_if(uses.begin(), uses.end(), [&](const EdgeUse& use) { return keyEdge[use.face] == e; });
      if (count < 2) continue;
      candidates.clear();
      for (const EdgeUse& use : uses) {
        if (keyEdge[use.face] != e) continue;
        candidates.emplace_back(std::vector<uint32_t>(), use.face);
        canonicalCorners(mesh.face(use.face), candidates.back().first);
      }
      std::sort(candidates.begin(), candidates.end());
      for (size_t i = 1; i < candidates.size(); ++i) {
        if (candidates[i].first == candidates[i - 1].first) {
          result[candidates[i].second] = result[candidates[i - 1].second];
        }
      }
    }
  });
  return result;
}

}  // namespace sunder::geometry
