// Continuous collision tests, one thread, mean time per query on a fixed mix as a broad phase hands it over:
// the swept boxes overlap, the features are of size 1 and move by about half of that with some turning and
// stretching, and 5 to 10 % of the pairs meet. `ccd/vf` and `ccd/ee` go through the batch functions,
// `ccd/vf-single` and `ccd/ee-single` call the test for each pair.
#include "sunder/base/box.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/ccd/ccd.h"

#include "bench.h"

#include <cstdio>
#include <vector>

namespace sunder::bench {
namespace {

using spatial::CcdHit;
using spatial::CcdPair;

struct Stream {  // splitmix64: a counter through a mixing function
  uint64_t counter;
  double uniform() {  // in [-1, 1)
    uint64_t z = (counter += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return double(z >> 11) * 0x1p-52 - 1;
  }
  Vec3 vector(double size) { return size * Vec3(uniform(), uniform(), uniform()); }
};

struct Mix {
  std::vector<Vec3> start, end;  // four vertices per pair
  std::vector<CcdPair> pairs;
};

// `first` vertices belong to the first feature, the rest of the four to the second.
Mix makeMix(uint32_t count, uint32_t first, double apart, uint64_t seed) {
  Stream random{seed};
  Mix mix;
  while (mix.pairs.size() < count) {
    Vec3 start[4], end[4];
    Box3 boxes[2];
    Vec3 centre = Vec3::Zero(), motion = Vec3::Zero();
    for (uint32_t i = 0; i < 4; ++i) {
      if (i == 0 || i == first) {
        centre = random.vector(apart);
        motion = random.vector(0.5);
      }
      start[i] = centre + random.vector(0.5);
      end[i] = start[i] + motion + random.vector(0.1);
      boxes[i >= first].grow(start[i]);
      boxes[i >= first].grow(end[i]);
    }
    if (!overlap(boxes[0], boxes[1])) continue;
    const uint32_t base = uint32_t(mix.start.size());
    mix.start.insert(mix.start.end(), start, start + 4);
    mix.end.insert(mix.end.end(), end, end + 4);
    mix.pairs.push_back({base, base + 1, base + 2, base + 3});
  }
  return mix;
}

using Batch = void (*)(std::span<const Vec3>, std::span<const Vec3>, std::span<const CcdPair>,
                       std::span<CcdHit>, const spatial::CcdSettings&);
using Single = CcdHit (*)(const Vec3&, const Vec3&, const Vec3&, const Vec3&, const Vec3&, const Vec3&,
                          const Vec3&, const Vec3&, const spatial::CcdSettings&);

void measure(Report& report, const Options& options, const char* name, const Mix& mix, Batch batch,
             Single single) {
  if (!options.wants(name)) return;
  const ThreadLimit one(1);
  const size_t n = mix.pairs.size();
  std::vector<CcdHit> hits(n);
  const double batched = bestSeconds(options, [&] { batch(mix.start, mix.end, mix.pairs, hits, {}); });
  size_t found = 0, uncertain = 0;
  for (const CcdHit& h : hits) {
    found += h.hit;
    uncertain += h.hit && h.tolerance > 1e-12;  // not converged to rounding error: may be a false alarm
  }
  const double singly = bestSeconds(options, [&] {
    for (size_t i = 0; i < n; ++i) {
      const Vec3 *s = &mix.start[4 * i], *e = &mix.end[4 * i];
      hits[i] = single(s[0], s[1], s[2], s[3], e[0], e[1], e[2], e[3], {});
    }
    keep(hits[0]);
  });
  std::fprintf(stderr, "%s: %zu queries, %.2f %% hits, %zu of them possibly false alarms\n", name, n,
               100.0 * double(found) / double(n), uncertain);
  const auto add = [&](const std::string& label, double seconds) {
    Row row;
    row.name = label;
    row.size = n;
    row.metric = "time";
    row.value = seconds / double(n) * 1e6;
    row.unit = "us";
    report.add(row);
  };
  add(name, batched);
  add(std::string(name) + "-single", singly);
}

}  // namespace

SUNDER_BENCH("spatial", ccdVertexFace) {
  if (!options.wants("ccd/vf-single")) return;
  measure(report, options, "ccd/vf", makeMix(100'000, 1, 0.35, 1), spatial::vertexFaceBatch,
          spatial::vertexFace);
}

SUNDER_BENCH("spatial", ccdEdgeEdge) {
  if (!options.wants("ccd/ee-single")) return;
  measure(report, options, "ccd/ee", makeMix(100'000, 2, 0.6, 2), spatial::edgeEdgeBatch, spatial::edgeEdge);
}

}  // namespace sunder::bench
