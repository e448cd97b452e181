// How build and search grow with the number of triangles, from 2^10 to 2^22 ("growth/..."), and what a line
// through the measurements says: the exponent is the least-squares slope of log time over log size, the
// coefficient the best c of time = c * size when errors count relative to the size, that is the mean of
// time / size. For the search the size is triangles + pairs: two rippled spheres, the second shifted by five
// edges or so, so that pairs grow as triangles do; and, as "growth/curve", by a fixed half radius, so that
// they meet along a curve, where pairs grow with the square root and only the exponent says something.
#include "sunder/base/parallel.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include "bench/bench.h"
#include "bench/spatial_meshes.h"

#include <cmath>
#include <string>
#include <vector>

namespace sunder::bench {
namespace {

using namespace spatial;

struct Fit {
  std::vector<double> sizes, seconds;

  void add(double size, double time) {
    sizes.push_back(size);
    seconds.push_back(time);
  }
  double exponent() const {
    double x = 0, y = 0, xx = 0, xy = 0;
    const auto n = double(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      const double a = std::log(sizes[i]), b = std::log(seconds[i]);
      x += a;
      y += b;
      xx += a * a;
      xy += a * b;
    }
    return (n * xy - x * y) / (n * xx - x * x);
  }
  double coefficient() const {
    double sum = 0;
    for (size_t i = 0; i < sizes.size(); ++i) sum += seconds[i] / sizes[i];
    return sum / double(sizes.size());
  }
};

void addFit(Report& report, const std::string& name, unsigned threads, const Fit& fit, const char* unit) {
  if (fit.sizes.size() < 2) return;
  report.add({.name = name + "/exponent",
              .size = fit.sizes.size(),
              .threads = threads,
              .metric = "count",
              .value = fit.exponent(),
              .unit = "power"});
  if (!unit) return;
  report.add({.name = name + "/coefficient",
              .size = fit.sizes.size(),
              .threads = threads,
              .metric = "time",
              .value = 1e9 * fit.coefficient(),
              .unit = unit});
}

}  // namespace

SUNDER_BENCH("experiments", growth) {
  if (!options.wants("growth/build") && !options.wants("growth/pairs") && !options.wants("growth/curve"))
    return;
  const std::vector<unsigned> threadCounts = options.threadCounts();
  std::vector<Fit> build(threadCounts.size()), pairs = build, curve = build;
  for (int power = 10; power <= 22; ++power) {
    const int n = static_cast<int>(std::lround(std::sqrt(std::exp2(power) / 8)));
    const size_t triangles = size_t(8) * size_t(n) * size_t(n);
    if (triangles > options.largest) break;
    const std::string suffix = "/2^" + std::to_string(power);
    const Vec3 edge = Vec3(1, 0.3, 0.2) / n;
    const geometry::TriMesh a = sphere(n), near = sphere(n, 5 * edge), far = sphere(n, {0.5, 0.15, 0.1});
    for (size_t t = 0; t < threadCounts.size(); ++t) {
      const unsigned threads = threadCounts[t];
      const ThreadLimit limit(threads);
      OiTree treeA, treeNear, treeFar;
      OiTreeBuilder builder;
      builder.build(treeNear, leavesOf(near));
      builder.build(treeFar, leavesOf(far));
      const auto add = [&](const std::string& name, size_t size, double seconds, Fit& fit) {
        fit.add(double(size), seconds);
        report.add({.name = name + suffix,
                    .size = size,
                    .threads = threads,
                    .metric = "time",
                    .value = 1e3 * seconds,
                    .unit = "ms"});
      };
      add("growth/build", triangles, bestSeconds(options, [&] { builder.build(treeA, leavesOf(a)); }),
          build[t]);
      PairList list;
      const double search = bestSeconds(options, [&] { overlapPairs(treeA, treeNear, list); });
      add("growth/pairs", 2 * triangles + list.size(), search, pairs[t]);
      const double along = bestSeconds(options, [&] { overlapPairs(treeA, treeFar, list); });
      add("growth/curve", 2 * triangles + list.size(), along, curve[t]);
    }
  }
  for (size_t t = 0; t < threadCounts.size(); ++t) {
    addFit(report, "growth/build", threadCounts[t], build[t], "ns/triangle");
    addFit(report, "growth/pairs", threadCounts[t], pairs[t], "ns/(triangle+pair)");
    addFit(report, "growth/curve", threadCounts[t], curve[t], nullptr);
  }
}

}  // namespace sunder::bench
