// Families of continuous collision queries with integer coordinates, each from a seed: random ones from
// coarse grids (full of coincidences) to fine ones, and ones built around an exact contact at a chosen time.
#pragma once

#include "spatial/ccd_oracle.h"

namespace sunder::spatial::exact {

struct Stream {  // splitmix64
  uint64_t counter;
  uint64_t next() {
    uint64_t z = (counter += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return int64_t(next() % uint64_t(n)); }
  int64_t within(int64_t n) { return below(2 * n + 1) - n; }  // in [-n, n]
  double uniform() { return double(next() >> 11) * 0x1p-53; }
};

enum class Family {
  Coarse,  // grid of 2 to 8 steps: coincident points, parallel edges, motion within planes, contacts at 0 and
           // 1
  Fine,    // grid of 2^20
  Planar,  // all motion within one plane
  Linear,  // all motion along one line
  Still,   // nothing moves, or all moves alike
  Degenerate,   // features with coincident corners
  Parallel,     // edges parallel at the start, and often at the end
  NearContact,  // an exact contact, then one coordinate off by one or two parts in 2^24
  Sliding,      // face or edge swept past at a tiny distance
};
inline constexpr int kFamilies = 9;
inline const char* nameOf(Family f) {
  static constexpr const char* kNames[] = {"coarse",     "fine",     "planar",       "linear", "still",
                                           "degenerate", "parallel", "near contact", "sliding"};
  return kNames[int(f)];
}

// An exact contact at time m / 2^k with weights in quarters. `time` is not always the first contact.
struct Built {
  Query query;
  double time;
};
inline Built buildContact(Stream& random, bool edges, int64_t size) {
  Built built;
  Query& q = built.query;
  q.edges = edges;
  const int64_t k = random.below(5), whole = int64_t(1) << k;
  const int64_t m = random.below(8) == 0 ? (random.below(2) ? 0 : whole) : random.below(whole + 1);
  built.time = double(m) / double(whole);
  std::array<int64_t, 3> at[4], velocity[4];
  for (int i = 0; i < 4; ++i)
    for (size_t c = 0; c < 3; ++c) {
      at[i][c] = 4 * random.within(size);
      velocity[i][c] = random.below(6) == 0 ? 0 : random.within(size);
    }
  // Weights in quarters, corners and edges included; the last free point is moved onto the other feature.
  const int64_t u = random.below(5), v = edges ? random.below(5) : random.below(5 - u);
  for (size_t c = 0; c < 3; ++c) {
    if (edges) {
      const int64_t shift = ((4 - u) * at[0][c] + u * at[1][c] - (4 - v) * at[2][c] - v * at[3][c]) / 4;
      at[2][c] += shift;
      at[3][c] += shift;
    } else {
      at[0][c] = ((4 - u - v) * at[1][c] + u * at[2][c] + v * at[3][c]) / 4;
    }
  }
  for (size_t i = 0; i < 4; ++i)
    for (size_t c = 0; c < 3; ++c) {
      q.x[i][c] = at[i][c] - m * velocity[i][c];
      q.x[i + 4][c] = at[i][c] + (whole - m) * velocity[i][c];
    }
  return built;
}

inline Query makeCase(Family family, Stream& random) {
  Query q;
  q.edges = random.below(2) != 0;
  const auto fill = [&](int64_t size) {
    for (auto& x : q.x)
      for (int64_t& c : x) c = random.within(size);
  };
  const auto duplicate = [&] {
    const size_t a = size_t(random.below(4)), b = size_t(random.below(4));
    q.x[a] = q.x[b];
    q.x[a + 4] = q.x[b + 4];
  };
  switch (family) {
    case Family::Coarse:
      fill(1 + random.below(4));
      break;
    case Family::Fine:
      fill(1 << 20);
      break;
    case Family::Planar:
    case Family::Linear: {
      int64_t axis[2][3];
      for (auto& a : axis)
        for (int64_t& c : a) c = random.within(3);
      const int64_t size = random.below(2) ? 6 : 1000;
      for (auto& x : q.x) {
        const int64_t s = random.within(size), t = family == Family::Planar ? random.within(size) : 0;
        for (size_t c = 0; c < 3; ++c) x[c] = s * axis[0][c] + t * axis[1][c];
      }
      break;
    }
    case Family::Still: {
      fill(random.below(2) ? 2 : 50);
      std::array<int64_t, 3> motion;
      for (int64_t& c : motion) c = random.below(2) ? 0 : random.within(20);
      for (size_t i = 0; i < 4; ++i)
        for (size_t c = 0; c < 3; ++c) q.x[i + 4][c] = q.x[i][c] + motion[c];
      break;
    }
    case Family::Degenerate:
      if (random.below(2))
        q = buildContact(random, q.edges, 20).query;
      else
        fill(random.below(2) ? 3 : 100);
      duplicate();
      if (random.below(2)) duplicate();
      break;
    case Family::Parallel: {
      const int64_t size = random.below(2) ? 3 : 60;
      fill(size);
      for (size_t s = 0; s < (random.below(2) ? 2u : 1u); ++s) {
        const int64_t factor = random.below(2) ? 1 : -2;
        for (size_t c = 0; c < 3; ++c)
          q.x[4 * s + 3][c] = q.x[4 * s + 2][c] + factor * (q.x[4 * s + 1][c] - q.x[4 * s][c]);
      }
      break;
    }
    case Family::NearContact: {
      q = buildContact(random, q.edges, 1 << 22).query;
      if (random.below(4) != 0) q.x[size_t(random.below(8))][size_t(random.below(3))] += random.within(2);
      break;
    }
    case Family::Sliding: {
      // One feature in the plane z = 0, turning in it; the other one or two units above, or just beside.
      const int64_t size = 1 << 20;
      fill(size);
      const int64_t gap = random.within(2);
      const size_t first = q.edges ? 2 : 1;
      for (size_t i = 0; i < 8; ++i) q.x[i][2] = i % 4 < first ? gap : 0;
      if (random.below(3) == 0)
        for (auto& x : q.x) x[0] += x[2], x[1] -= 2 * x[2], x[2] += x[0] / 2 * 2;
      break;
    }
  }
  return q;
}

}  // namespace sunder::spatial::exact
