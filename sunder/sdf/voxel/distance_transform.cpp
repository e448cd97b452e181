#include "sunder/sdf/voxel/distance_transform.h"

#include "sunder/base/parallel.h"
#include "sunder/base/scratch_pool.h"

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

// For every place of a line the place on the line whose site is the nearest: the lower envelope of the
// parabolas (s - t)^2 + g[t]. Two of them cross at num / (2 den), where the bisector of the sites meets the
// line; a piece goes when its right neighbour crosses it before the left one. At equal
// distance the smaller t keeps the place. Squared distances are below 3 * 2^30, the products below 2^50.
struct Envelope {
  struct Piece {
    int32_t t, den;
    int64_t num;  // crossing with the piece before
  };
  std::vector<Piece> pieces;
  std::vector<uint32_t> g;
  std::vector<int32_t> owner;

  void prepare(size_t length) {
    if (g.size() >= length) return;
    pieces.resize(length);
    g.resize(length);
    owner.resize(length);
  }

  static uint32_t height(int32_t s, int32_t t, uint32_t g) { return uint32_t((s - t) * (s - t)) + g; }

  // Uses g of places with line[t] != 0; false where there are none.
  bool find(const PackedSite* line, int32_t n) {
    int32_t t = 0;
    while (t < n && line[t] == 0) ++t;
    if (t == n) return false;
    Piece* const first = pieces.data();
    Piece* last = first;
    *first = {t, 1, -(int64_t(1) << 34)};  // crosses nothing before any place: never goes
    for (++t; t < n; ++t) {
      if (line[t] == 0) continue;
      const int64_t own = int64_t(t) * t + g[size_t(t)];
      Piece next;
      for (;; --last) {
        next = {t, t - last->t, own - int64_t(last->t) * last->t - g[size_t(last->t)]};
        if (last->num * next.den <= next.num * last->den) break;
      }
      *++last = next;
    }
    std::fill_n(owner.data(), n, 0);
    owner[0] = first->t;
    for (const Piece* p = first + 1; p <= last; ++p) {
      // The first place behind the crossing; the quotient of integers this small is never rounded to or
      // across a whole number. Of pieces that begin at the same place the last one has it.
      const double crossing = double(p->num) / double(2 * p->den);
      if (crossing >= double(n - 1)) break;
      owner[size_t(crossing < 0 ? 0 : int32_t(crossing) + 1)] = p->t;
    }
    int32_t current = 0;
    for (int32_t s = 0; s < n; ++s) owner[size_t(s)] = current = std::max(current, owner[size_t(s)]);
    return true;
  }
};

struct RowWorkspace {
  Envelope envelope;
  std::vector<PackedSite> lines, results;  // kTile lines, one after the other
  std::vector<float> distances;

  void prepare(size_t length) {
    envelope.prepare(length);
    if (lines.size() >= kTile * length) return;
    lines.resize(kTile * length);
    results.resize(kTile * length);
    distances.resize(kTile * length);
  }
};

// Lines side by side in memory -> one after the other, and back.
void gather(const uint32_t* from, size_t stride, size_t length, size_t lines, uint32_t* to) {
  for (size_t t = 0; t < length; ++t)
    for (size_t l = 0; l < lines; ++l) to[l * length + t] = from[t * stride + l];
}
void scatter(const uint32_t* from, size_t stride, size_t length, size_t lines, uint32_t* to) {
  for (size_t t = 0; t < length; ++t)
    for (size_t l = 0; l < lines; ++l) to[t * stride + l] = from[l * length + t];
}

// The columns of one slice: the nearest site of the slice.
void sweepColumns(PackedSite* slice, uint32_t nx, uint32_t ny, RowWorkspace& w) {
  w.prepare(ny);
  Envelope& envelope = w.envelope;
  for (uint32_t first = 0; first < nx; first += kTile) {
    const size_t lines = std::min<size_t>(kTile, nx - first);
    gather(slice + first, nx, ny, lines, w.lines.data());
    for (size_t l = 0; l < lines; ++l) {
      const PackedSite* line = w.lines.data() + l * ny;
      PackedSite* result = w.results.data() + l * ny;
      const auto x = int32_t(first + l);
      for (uint32_t t = 0; t < ny; ++t) {
        const int32_t dx = siteX(line[t]) - x;
        envelope.g[t] = uint32_t(dx * dx);
      }
      if (envelope.find(line, int32_t(ny))) {
        for (uint32_t t = 0; t < ny; ++t) {
          const auto owner = size_t(envelope.owner[t]);
          result[t] = line[owner] | uint32_t(owner) << kCoordinateBits;
        }
      } else {
        std::fill_n(result, ny, 0u);
      }
    }
    scatter(w.results.data(), nx, ny, lines, slice + first);
  }
}

// The aisles of one row (j, all k): the nearest site of all, and the distance. `packed` becomes the sites.
void sweepAisles(const VoxelGrid& grid, uint32_t j, PackedSite* packed, float* phi, RowWorkspace& w) {
  const auto dims = grid.dims();
  const uint32_t nx = dims[0], ny = dims[1], nz = dims[2];
  const size_t slice = size_t(nx) * ny;
  w.prepare(nz);
  Envelope& envelope = w.envelope;
  for (uint32_t first = 0; first < nx; first += kTile) {
    const size_t lines = std::min<size_t>(kTile, nx - first), start = size_t(nx) * j + first;
    gather(packed + start, slice, nz, lines, w.lines.data());
    for (size_t l = 0; l < lines; ++l) {
      const auto x = int32_t(first + l), y = int32_t(j);
      PackedSite* line = w.lines.data() + l * nz;
      uint32_t* sites = w.results.data() + l * nz;
      float* distance = w.distances.data() + l * nz;
      for (uint32_t t = 0; t < nz; ++t) {
        const int32_t dx = siteX(line[t]) - x, dy = siteY(line[t]) - y;
        envelope.g[t] = uint32_t(dx * dx + dy * dy);
      }
      if (envelope.find(line, int32_t(nz))) {
        for (uint32_t t = 0; t < nz; ++t) {
          const auto owner = size_t(envelope.owner[t]);
          const PackedSite s = line[owner];
          const uint32_t squared = Envelope::height(int32_t(t), int32_t(owner), envelope.g[owner]);
          distance[t] = std::sqrt(float(squared)) + kOwnDistance[s >> kKindShift];
          sites[t] = uint32_t(siteX(s)) + nx * (uint32_t(siteY(s)) + ny * uint32_t(owner));
        }
      } else {
        std::fill_n(distance, nz, std::numeric_limits<float>::infinity());
        std::fill_n(sites, nz, kNoSite);
      }
    }
    scatter(w.results.data(), slice, nz, lines, packed + start);
    for (uint32_t k = 0; k < nz; ++k) {
      const std::span<const uint64_t> bits = grid.row(j, k);
      for (size_t l = 0; l < lines; ++l) {
        const float value = w.distances[l * nz + k];
        const size_t i = first + l;
        phi[slice * k + start + l] = bits[i / 64] >> (i % 64) & 1 ? -value : value;
      }
    }
  }
}

}  // namespace

DistanceVolume distanceTransform(const VoxelGrid& grid) {
  const auto dims = grid.dims();
  const uint32_t nx = dims[0], ny = dims[1], nz = dims[2];
  DistanceVolume out;
  out.frame = grid.frame();
  out.phi.resize(grid.voxelCount());
  out.site.resize(grid.voxelCount());  // packed sites until the last sweep
  if (out.phi.empty()) return out;
  const size_t slice = size_t(nx) * ny;
  ScratchPool<RowWorkspace> workspaces;
  parallelFor(
      nz,
      [&](size_t k) {
        PackedSite* sites = out.site.data() + slice * k;
        for (uint32_t j = 0; j < ny; ++j) sweepRow(grid, j, uint32_t(k), sites + size_t(nx) * j);
        sweepColumns(sites, nx, ny, *ScratchPool<RowWorkspace>::Loan(workspaces));
      },
      1);
  parallelFor(
      ny,
      [&](size_t j) {
        const ScratchPool<RowWorkspace>::Loan workspace(workspaces);
        sweepAisles(grid, uint32_t(j), out.site.data(), out.phi.data(), *workspace);
      },
      1);
  return out;
}

namespace {

Vec3 unit(const Vec3& v) {
  const double squared = v.squaredNorm();
  return squared > 0 && squared < std::numeric_limits<double>::infinity() ? Vec3(v / std::sqrt(squared))
                                                                          : Vec3::Zero();
}

}  // namespace

Vec3 DistanceVolume::gradient(uint32_t i, uint32_t j, uint32_t k) const {
  const uint32_t nx = frame.dims[0], ny = frame.dims[1], nz = frame.dims[2];
  const size_t row = nx, slice = row * ny;
  const float* here = phi.data() + frame.number(i, j, k);
  // Away from the border all three have the same divisor, which does not matter.
  if (i - 1 < nx - 2 && j - 1 < ny - 2 && k - 1 < nz - 2)
    return unit({double(here[1]) - here[-1], double(here[row]) - *(here - row),
                 double(here[slice]) - *(here - slice)});
  const std::array<uint32_t, 3> voxel{i, j, k};
  const size_t strides[3] = {1, row, slice};
  Vec3 result = Vec3::Zero();
  for (size_t d = 0; d < 3; ++d) {
    const bool below = voxel[d] > 0, above = voxel[d] + 1 < frame.dims[d];
    if (!below && !above) continue;
    const double low = *(here - (below ? strides[d] : 0)), high = here[above ? strides[d] : 0];
    result[int(d)] = (high - low) / (int(below) + int(above));
  }
  return unit(result);
}

}  // namespace sunder::sdf
