// Room base: sorts, scans, reductions, hashes, random numbers and what a parallel loop costs to start.
#include "sunder/base/bounds.h"
#include "sunder/base/hash.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/base/radix_sort.h"
#include "sunder/base/random.h"

#include "bench/bench.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>

#ifdef SUNDER_HAS_BOOST_SORT
#include <boost/sort/spreadsort/spreadsort.hpp>
#endif

namespace sunder::bench {

namespace {

template <class Key>
std::vector<Key> randomKeys(size_t n, unsigned bits) {
  RandomStream random(n);
  std::vector<Key> keys(n);
  for (Key& key : keys) key = static_cast<Key>(random.nextU64() >> (64 - bits));
  return keys;
}

template <class Key>
struct Pair {
  Key key;
  uint32_t payload;
  bool operator<(const Pair& other) const { return key < other.key; }
};

template <class Key>
struct PairKeyShift {
  Key operator()(const Pair<Key>& pair, unsigned offset) const {
    return static_cast<Key>(pair.key >> offset);
  }
};

double rate(size_t n, double seconds) { return static_cast<double>(n) / seconds; }

template <class Key>
void benchSort(Report& report, const Options& options, const std::string& name, unsigned bits) {
  if (!options.wants(name)) return;
  for (size_t n : options.sizes(10'000, 10'000'000)) {
    const std::vector<Key> keys = randomKeys<Key>(n, bits);
    std::vector<Pair<Key>> pairs(n);
    auto makePairs = [&] {
      for (size_t i = 0; i < n; ++i) pairs[i] = {keys[i], static_cast<uint32_t>(i)};
    };
    struct Peer {
      std::string name;
      unsigned threads;  // 0: any
      double seconds;
    };
    std::vector<Peer> peers;
    peers.push_back({"std::stable_sort", 1,
                     bestSeconds(
                         options, [&] { std::stable_sort(pairs.begin(), pairs.end()); }, makePairs)});
    peers.push_back({"std::sort", 1,
                     bestSeconds(
                         options, [&] { std::sort(pairs.begin(), pairs.end()); }, makePairs)});
#ifdef SUNDER_HAS_BOOST_SORT
    peers.push_back(
        {"boost::sort::spreadsort", 1,
         bestSeconds(
             options,
             [&] { boost::sort::spreadsort::integer_sort(pairs.begin(), pairs.end(), PairKeyShift<Key>()); },
             makePairs)});
#else
    report.missingPeer("Boost.Sort");
#endif
    for (unsigned threads : options.threadCounts()) {
      if (threads == 1) continue;
      ThreadLimit limit(threads);
      peers.push_back({"tbb::parallel_sort", threads,
                       bestSeconds(
                           options, [&] { tbb::parallel_sort(pairs.begin(), pairs.end()); }, makePairs)});
    }

    RadixScratch scratch;
    std::vector<Key> sortedKeys(n);
    std::vector<uint32_t> payload(n);
    for (unsigned threads : options.threadCounts()) {
      ThreadLimit limit(threads);
      const double ours = bestSeconds(
          options, [&] { radixSortPairs(std::span(sortedKeys), std::span(payload), scratch, bits); },
          [&] {
            sortedKeys = keys;
            std::iota(payload.begin(), payload.end(), 0u);
          });
      for (const Peer& peer : peers) {
        if (peer.threads != threads) continue;
        report.add({.name = name,
                    .size = n,
                    .threads = threads,
                    .value = rate(n, ours),
                    .unit = "pairs/s",
                    .peer = peer.name,
                    .peerValue = rate(n, peer.seconds)});
      }
    }
  }
}

}  // namespace

SUNDER_BENCH("base", sortPairs) {
  benchSort<uint32_t>(report, options, "sort/u32-30bit+payload", 30);
  benchSort<uint32_t>(report, options, "sort/u32+payload", 32);
  benchSort<uint64_t>(report, options, "sort/u64-63bit+payload", 63);
}

SUNDER_BENCH("base", sortMorton) {
  // The size of a large mesh's tree build, where milliseconds are counted.
  if (!options.wants("sort/morton-words")) return;
  for (size_t n : {size_t(50'000), size_t(500'000), size_t(5'000'000)}) {
    if (n > options.largest) continue;
    const std::vector<uint32_t> keys = randomKeys<uint32_t>(n, 30);
    std::vector<uint64_t> words(n);
    RadixScratch scratch;
    for (unsigned threads : options.threadCounts()) {
      ThreadLimit limit(threads);
      const double seconds = bestSeconds(
          options, [&] { keep(radixSortWords(words, 32, 30, scratch).data()); },
          [&] {
            for (size_t i = 0; i < n; ++i) words[i] = (uint64_t(keys[i]) << 32) | i;
          });
      report.add({.name = "sort/morton-words",
                  .size = n,
                  .threads = threads,
                  .metric = "time",
                  .value = 1e3 * seconds,
                  .unit = "ms"});
    }
  }
}

SUNDER_BENCH("base", sortKeys) {
  if (!options.wants("sort/u64")) return;
  for (size_t n : options.sizes(10'000, 10'000'000)) {
    const std::vector<uint64_t> keys = randomKeys<uint64_t>(n, 64);
    std::vector<uint64_t> work(n);
    auto reset = [&] { work = keys; };
    const double theirs = bestSeconds(
        options, [&] { std::sort(work.begin(), work.end()); }, reset);
    RadixScratch scratch;
    for (unsigned threads : options.threadCounts()) {
      ThreadLimit limit(threads);
      const double ours = bestSeconds(
          options, [&] { radixSort(std::span(work), scratch); }, reset);
      std::string peer = "std::sort";
      double peerSeconds = theirs;
      if (threads > 1) {
        peer = "tbb::parallel_sort";
        peerSeconds = bestSeconds(
            options, [&] { tbb::parallel_sort(work.begin(), work.end()); }, reset);
      }
      report.add({.name = "sort/u64",
                  .size = n,
                  .threads = threads,
                  .value = rate(n, ours),
                  .unit = "keys/s",
                  .peer = peer,
                  .peerValue = rate(n, peerSeconds)});
    }
  }
}

SUNDER_BENCH("base", scan) {
  if (!options.wants("scan/u32")) return;
  for (size_t n : options.sizes(10'000, 10'000'000)) {
    const std::vector<uint32_t> in = randomKeys<uint32_t>(n, 6);
    std::vector<uint32_t> out(n);
    const double theirs =
        bestSeconds(options, [&] { keep(*std::exclusive_scan(in.begin(), in.end(), out.begin(), 0u)); });
    for (unsigned threads : options.threadCounts()) {
      ThreadLimit limit(threads);
      const double ours = bestSeconds(options, [&] { keep(exclusiveScan(std::span(in), std::span(out))); });
      report.add({.name = "scan/u32",
                  .size = n,
                  .threads = threads,
                  .value = rate(n, ours),
                  .unit = "elements/s",
                  .peer = "std::exclusive_scan",
                  .peerValue = rate(n, theirs)});
    }
  }
}

SUNDER_BENCH("base", reduce) {
  if (!options.wants("reduce/double")) return;
  for (size_t n : options.sizes(10'000, 10'000'000)) {
    std::vector<double> values(n);
    RandomStream random(1);
    for (double& v : values) v = random.uniform();
    auto sum = [&](size_t begin, size_t end) {
      double s = 0;
      for (size_t i = begin; i < end; ++i) s += values[i];
      return s;
    };
    for (unsigned threads : options.threadCounts()) {
      ThreadLimit limit(threads);
      const double ours = bestSeconds(
          options, [&] { keep(parallelReduce(n, 0.0, sum, [](double a, double b) { return a + b; })); });
      const double theirs = bestSeconds(options, [&] {
        keep(tbb::parallel_deterministic_reduce(
            tbb::blocked_range<size_t>(0, n, kDefaultGrain), 0.0,
            [&](const tbb::blocked_range<size_t>& r, double s) { return s + sum(r.begin(), r.end()); },
            [](double a, double b) { return a + b; }));
      });
      report.add({.name = "reduce/double",
                  .size = n,
                  .threads = threads,
                  .value = rate(n, ours),
                  .unit = "elements/s",
                  .peer = "tbb::deterministic_reduce",
                  .peerValue = rate(n, theirs)});
    }
  }
}

SUNDER_BENCH("base", bounds) {
  if (!options.wants("bounds/points")) return;
  for (size_t n : options.sizes(10'000, 10'000'000)) {
    std::vector<Vec3> points(n);
    RandomStream random(2);
    for (Vec3& p : points) p = Vec3{random.uniform(), random.uniform(), random.uniform()};
    const double theirs = bestSeconds(options, [&] {
      Eigen::AlignedBox3d box;
      for (const Vec3& p : points) box.extend(p);
      keep(box);
    });
    for (unsigned threads : options.threadCounts()) {
      ThreadLimit limit(threads);
      const double ours = bestSeconds(options, [&] { keep(boundsOf(points)); });
      report.add({.name = "bounds/points",
                  .size = n,
                  .threads = threads,
                  .value = rate(n, ours),
                  .unit = "points/s",
                  .peer = "Eigen::AlignedBox",
                  .peerValue = rate(n, theirs)});
    }
  }
}

SUNDER_BENCH("base", hash) {
  if (!options.wants("hash/bytes")) return;
  for (size_t n : options.sizes(10'000, 10'000'000)) {
    const std::vector<uint8_t> bytes(n, 7);
    const double seconds = bestSeconds(options, [&] { keep(hash64(bytes)); });
    report.add({.name = "hash/bytes", .size = n, .value = rate(n, seconds), .unit = "bytes/s"});
  }
}

SUNDER_BENCH("base", randomNumbers) {
  if (!options.wants("random/uniform")) return;
  for (size_t n : options.sizes(1'000'000, 1'000'000)) {
    std::vector<double> out(n);
    RandomStream random(1);
    std::mt19937_64 twister(1);
    std::uniform_real_distribution<double> uniform;
    const double ours = bestSeconds(options, [&] {
      for (double& x : out) x = random.uniform();
      keep(out.data());
    });
    const double theirs = bestSeconds(options, [&] {
      for (double& x : out) x = uniform(twister);
      keep(out.data());
    });
    report.add({.name = "random/uniform",
                .size = n,
                .value = rate(n, ours),
                .unit = "numbers/s",
                .peer = "std::mt19937_64",
                .peerValue = rate(n, theirs)});
  }
}

SUNDER_BENCH("base", loopOverhead) {
  if (!options.wants("loop/overhead")) return;
  for (unsigned threads : options.threadCounts()) {
    ThreadLimit limit(threads);
    for (size_t blocks : {size_t(1), size_t(2), size_t(64)}) {
      constexpr int kLoops = 1000;
      const double seconds = bestSeconds(options, [&] {
        for (int loop = 0; loop < kLoops; ++loop) {
          parallelBlocks(blocks, 1, [](size_t begin, size_t end) { keep(end - begin); });
        }
      });
      report.add({.name = "loop/overhead",
                  .size = blocks,
                  .threads = threads,
                  .metric = "time",
                  .value = 1e6 * seconds / kLoops,
                  .unit = "us"});
    }
  }
}

}  // namespace sunder::bench
