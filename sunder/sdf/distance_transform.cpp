#include "sunder/sdf/distance_transform.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sunder::sdf {

namespace {

// A site while it is looked for: 2 bits for its own distance (0: no site), 15 for y, 15 for x.
using PackedSite = uint32_t;
constexpr uint32_t kCoordinateBits = 15;
constexpr uint32_t kCoordinateMask = (1u << kCoordinateBits) - 1;
constexpr uint32_t kKindShift = 2 * kCoordinateBits;
constexpr float kOwnDistance[4] = {std::numeric_limits<float>::infinity(), 0.5f, 0.70710678f, 0.86602540f};

constexpr size_t kTile = 16;  // neighbouring lines worked on together: a cache line of packed sites

int32_t siteX(PackedSite s) { return int32_t(s & kCoordinateMask); }
int32_t siteY(PackedSite s) { return int32_t(s >> kCoordinateBits & kCoordinateMask); }

// Sites of 64 voxels of a row: those with a differing face, edge or corner neighbour, each class without the
// ones before it.
struct SiteWord {
  uint64_t face, edge, corner;
};

SiteWord sitesOf(const VoxelGrid& grid, size_t w, uint32_t j, uint32_t k) {
  const std::array<uint32_t, 3>& n = grid.dims();
  const uint64_t valid = grid.validBits(w);
  const uint64_t own = grid.row(j, k)[w];
  // Voxels whose lower or upper neighbour along x exists.
  const uint64_t hasLower = w == 0 ? valid & ~uint64_t(1) : valid;
  const bool last = w + 1 == grid.rowWords();
  const uint64_t hasUpper = last ? valid & ~(uint64_t(1) << ((n[0] - 1) % 64)) : valid;
  uint64_t differ[4] = {0, 0, 0, 0};  // by the number of axes in which the neighbour is displaced
  for (int dk = -1; dk <= 1; ++dk) {
    if ((dk < 0 && k == 0) || (dk > 0 && k + 1 == n[2])) continue;
    for (int dj = -1; dj <= 1; ++dj) {
      if ((dj < 0 && j == 0) || (dj > 0 && j + 1 == n[1])) continue;
      const std::span<const uint64_t> row = grid.row(uint32_t(int(j) + dj), uint32_t(int(k) + dk));
      const uint64_t middle = row[w];
      const uint64_t lower = middle << 1 | (w > 0 ? row[w - 1] >> 63 : 0);
      const uint64_t upper = middle >> 1 | (last ? 0 : row[w + 1] << 63);
      const int displaced = (dj != 0) + (dk != 0);
      differ[displaced] |= middle ^ own;
      differ[displaced + 1] |= ((lower ^ own) & hasLower) | ((upper ^ own) & hasUpper);
    }
  }
  return {differ[1], differ[2] & ~differ[1], differ[3] & ~differ[2] & ~differ[1]};
}

// Row by row: the nearest site along x.
void sweepRow(const VoxelGrid& grid, uint32_t j, uint32_t k, PackedSite* out) {
  const auto n = int32_t(grid.dims()[0]);
  int32_t begin = 0, previousX = -1;
  PackedSite previous = 0;
  for (size_t w = 0; w < grid.rowWords(); ++w) {
    const SiteWord sites = sitesOf(grid, w, j, k);
    for (uint64_t all = sites.face | sites.edge | sites.corner; all != 0; all &= all - 1) {
      const int bit = std::countr_zero(all);
      const uint32_t kind = sites.face >> bit & 1 ? 1u : sites.edge >> bit & 1 ? 2u : 3u;
      const int32_t x = int32_t(64 * w) + bit;
      // The middle goes to the lower one.
      const int32_t end = previousX < 0 ? 0 : (previousX + x) / 2 + 1;
      std::fill(out + begin, out + end, previous);
      begin = end;
      previousX = x;
      previous = kind << kKindShift | uint32_t(x);
    }
  }
  std::fill(out + begin, out + n, previous);
}

// Sites that may be nearest on a line, by line coordinate t, with their squared distance g from the line.
struct Envelope {
  std::vector<int32_t> t, g;
  std::vector<PackedSite> site;
  int32_t size = 0;

  void prepare(size_t length) {
    if (t.size() >= length) return;
    t.resize(length);
    g.resize(length);
    site.resize(length);
  }

  // t ascending. The bisectors of a, b and of b, c meet the line at u(a, b) and u(b, c): b is nowhere the
  // nearest when u(a, b) > u(b, c).
  void push(int32_t tc, int32_t gc, PackedSite s) {
    while (size > 1) {
      const int32_t ta = t[size_t(size) - 2], tb = t[size_t(size) - 1];
      const int32_t ga = g[size_t(size) - 2], gb = g[size_t(size) - 1];
      const int64_t ab = int64_t(tb - ta) * (tb + ta) + gb - ga;
      const int64_t bc = int64_t(tc - tb) * (tc + tb) + gc - gb;
      if (ab * (tc - tb) <= bc * (tb - ta)) break;
      --size;
    }
    t[size_t(size)] = tc;
    g[size_t(size)] = gc;
    site[size_t(size)] = s;
    ++size;
  }

  int64_t squared(int32_t at, size_t index) const {
    const int64_t d = at - t[index];
    return d * d + g[index];
  }
};

struct Workspace {
  Envelope envelope;
  std::vector<PackedSite> lines;  // kTile lines, one after the other
  std::vector<float> phi;
  std::vector<uint32_t> sites;
};

Workspace& workspace(size_t length) {
  thread_local Workspace w;
  w.envelope.prepare(length);
  if (w.lines.size() < kTile * length) {
    w.lines.resize(kTile * length);
    w.phi.resize(kTile * length);
    w.sites.resize(kTile * length);
  }
  return w;
}

// One line of length n: lineSite(t) is what the line holds at t, offset(site) its squared distance from the
// line, store(t, index) takes the nearest's index in the envelope.
template <class Offset, class Store>
bool sweepLine(Envelope& envelope, const PackedSite* line, int32_t n, Offset&& offset, Store&& store) {
  envelope.size = 0;
  for (int32_t t = 0; t < n; ++t)
    if (line[t] != 0) envelope.push(t, offset(line[t]), line[t]);
  if (envelope.size == 0) return false;
  size_t index = 0;
  const auto last = size_t(envelope.size) - 1;
  for (int32_t t = 0; t < n; ++t) {
    int64_t nearest = envelope.squared(t, index);
    while (index < last) {
      const int64_t next = envelope.squared(t, index + 1);
      if (nearest <= next) break;
      nearest = next;
      ++index;
    }
    store(t, index, nearest);
  }
  return true;
}

// Lines side by side in memory -> one after the other, and back.
template <class T>
void gather(const T* from, size_t stride, size_t length, size_t lines, T* to) {
  for (size_t t = 0; t < length; ++t)
    for (size_t l = 0; l < lines; ++l) to[l * length + t] = from[t * stride + l];
}
template <class T>
void scatter(const T* from, size_t stride, size_t length, size_t lines, T* to) {
  for (size_t t = 0; t < length; ++t)
    for (size_t l = 0; l < lines; ++l) to[t * stride + l] = from[l * length + t];
}

// The columns of one slice: the nearest site of the slice.
void sweepColumns(PackedSite* slice, uint32_t nx, uint32_t ny) {
  Workspace& w = workspace(ny);
  for (uint32_t first = 0; first < nx; first += kTile) {
    const size_t lines = std::min<size_t>(kTile, nx - first);
    gather(slice + first, nx, ny, lines, w.lines.data());
    for (size_t l = 0; l < lines; ++l) {
      PackedSite* line = w.lines.data() + l * ny;
      const auto x = int32_t(first + l);
      sweepLine(
          w.envelope, line, int32_t(ny), [x](PackedSite s) { return (siteX(s) - x) * (siteX(s) - x); },
          [&](int32_t t, size_t index, int64_t) {
            line[t] = w.envelope.site[index] | uint32_t(w.envelope.t[index]) << kCoordinateBits;
          });
    }
    scatter(w.lines.data(), nx, ny, lines, slice + first);
  }
}

// The aisles of one row (j, all k): the nearest site of all, and the distance.
void sweepAisles(const VoxelGrid& grid, uint32_t j, const PackedSite* packed, DistanceVolume& out) {
  const auto [nx, ny, nz] = grid.dims();
  const size_t slice = size_t(nx) * ny;
  Workspace& w = workspace(nz);
  for (uint32_t first = 0; first < nx; first += kTile) {
    const size_t lines = std::min<size_t>(kTile, nx - first), start = size_t(nx) * j + first;
    gather(packed + start, slice, nz, lines, w.lines.data());
    for (size_t l = 0; l < lines; ++l) {
      const auto x = int32_t(first + l), y = int32_t(j);
      float* phi = w.phi.data() + l * nz;
      uint32_t* sites = w.sites.data() + l * nz;
      const bool found = sweepLine(
          w.envelope, w.lines.data() + l * nz, int32_t(nz),
          [x, y](PackedSite s) {
            const int32_t dx = siteX(s) - x, dy = siteY(s) - y;
            return dx * dx + dy * dy;
          },
          [&](int32_t t, size_t index, int64_t squared) {
            const PackedSite s = w.envelope.site[index];
            phi[t] = std::sqrt(float(squared)) + kOwnDistance[s >> kKindShift];
            sites[t] = uint32_t(siteX(s)) + nx * (uint32_t(siteY(s)) + ny * uint32_t(w.envelope.t[index]));
          });
      if (!found) {
        std::fill_n(phi, nz, std::numeric_limits<float>::infinity());
        std::fill_n(sites, nz, kNoSite);
      }
    }
    for (uint32_t k = 0; k < nz; ++k) {
      const std::span<const uint64_t> bits = grid.row(j, k);
      for (size_t l = 0; l < lines; ++l) {
        const float value = w.phi[l * nz + k];
        const size_t i = first + l;
        out.phi[slice * k + start + l] = bits[i / 64] >> (i % 64) & 1 ? -value : value;
        out.site[slice * k + start + l] = w.sites[l * nz + k];
      }
    }
  }
}

}  // namespace

DistanceVolume distanceTransform(const VoxelGrid& grid) {
  const auto [nx, ny, nz] = grid.dims();
  DistanceVolume out;
  out.frame = grid.frame();
  out.phi.resize(grid.voxelCount());
  out.site.resize(grid.voxelCount());
  if (out.phi.empty()) return out;
  const size_t slice = size_t(nx) * ny;
  std::vector<PackedSite> packed(grid.voxelCount());
  parallelFor(
      nz,
      [&](size_t k) {
        PackedSite* sites = packed.data() + slice * k;
        for (uint32_t j = 0; j < ny; ++j) sweepRow(grid, j, uint32_t(k), sites + size_t(nx) * j);
        sweepColumns(sites, nx, ny);
      },
      1);
  parallelFor(
      ny, [&](size_t j) { sweepAisles(grid, uint32_t(j), packed.data(), out); }, 1);
  return out;
}

Vec3 DistanceVolume::gradient(uint32_t i, uint32_t j, uint32_t k) const {
  const std::array<uint32_t, 3> voxel{i, j, k};
  const size_t strides[3] = {1, frame.dims[0], size_t(frame.dims[0]) * frame.dims[1]};
  const size_t here = frame.number(i, j, k);
  Vec3 result = Vec3::Zero();
  for (size_t d = 0; d < 3; ++d) {
    const bool below = voxel[d] > 0, above = voxel[d] + 1 < frame.dims[d];
    if (!below && !above) continue;
    const double low = phi[here - (below ? strides[d] : 0)], high = phi[here + (above ? strides[d] : 0)];
    result[int(d)] = (high - low) / (int(below) + int(above));
  }
  const double norm = result.norm();
  return norm > 0 && std::isfinite(norm) ? Vec3(result / norm) : Vec3::Zero();
}

}  // namespace sunder::sdf
