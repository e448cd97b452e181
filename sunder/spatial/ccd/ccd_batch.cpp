#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/ccd/ccd.h"
#include "sunder/spatial/ccd/ccd_certificates.h"
#include "sunder/spatial/ccd/ccd_filter.h"

namespace sunder::spatial {

using namespace ccd;

namespace {

constexpr size_t kQueryGrain = 32 * kFilterBlock;  // queries per parallel block

Difference<3> differenceOf(const Vec3* s, const Vec3* e, const CcdPair& p, std::integral_constant<int, 3>) {
  return faceDifference(s[p[0]], s[p[1]], s[p[2]], s[p[3]], e[p[0]], e[p[1]], e[p[2]], e[p[3]]);
}
Difference<4> differenceOf(const Vec3* s, const Vec3* e, const CcdPair& p, std::integral_constant<int, 4>) {
  return edgeDifference(s[p[0]], s[p[1]], s[p[2]], s[p[3]], e[p[0]], e[p[1]], e[p[2]], e[p[3]]);
}

template <int N>
void put(FilterBlock<N>& block, size_t column, const Difference<N>& d) {
  int row = 0;
  const auto write = [&](V3 v) {
    block.rows[row++][column] = v.x;
    block.rows[row++][column] = v.y;
    block.rows[row++][column] = v.z;
  };
  for (int i = 0; i < N; ++i) {
    write(d.start[i]);
    write(d.end[i]);
  }
  for (const auto& side : d.side) {
    write(side[0]);
    write(side[1]);
  }
}

template <int N, class Single>
void run(std::span<const Vec3> start, std::span<const Vec3> end, std::span<const CcdPair> pairs,
         std::span<CcdHit> hits, const CcdSettings& settings, Single single) {
  if (start.size() != end.size())
    throw Error(ErrorKind::Usage, "start and end of the step have different numbers of vertices");
  if (pairs.size() != hits.size())
    throw Error(ErrorKind::Usage, "there must be as many slots for answers as there are pairs");
  for (const CcdPair& p : pairs)
    if (std::max({p[0], p[1], p[2], p[3]}) >= start.size())
      throw Error(ErrorKind::Usage, "a pair refers to a vertex that does not exist");

  const Vec3 *s = start.data(), *e = end.data();
  parallelBlocks(pairs.size(), kQueryGrain, [&](size_t begin, size_t blockEnd) {
    FilterBlock<N> block;
    uint8_t apart[kFilterBlock];
    for (size_t first = begin; first < blockEnd; first += kFilterBlock) {
      const size_t count = std::min(kFilterBlock, blockEnd - first);
      for (size_t q = 0; q < kFilterBlock; ++q) {  // the last query fills the columns that are left over
        const CcdPair& pair = pairs[first + std::min(q, count - 1)];
        put(block, q, differenceOf(s, e, pair, std::integral_constant<int, N>()));
      }
      filterApart(block, settings.minSeparation, apart);
      for (size_t q = 0; q < count; ++q) {
        const CcdPair& p = pairs[first + q];
        hits[first + q] = apart[q] ? CcdHit{false, settings.maxTime, 0}
                                   : single(s[p[0]], s[p[1]], s[p[2]], s[p[3]], e[p[0]], e[p[1]], e[p[2]],
                                            e[p[3]], settings);
      }
    }
  });
}

}  // namespace

void vertexFaceBatch(std::span<const Vec3> start, std::span<const Vec3> end, std::span<const CcdPair> pairs,
                     std::span<CcdHit> hits, const CcdSettings& settings) {
  run<3>(start, end, pairs, hits, settings, vertexFace);
}

void edgeEdgeBatch(std::span<const Vec3> start, std::span<const Vec3> end, std::span<const CcdPair> pairs,
                   std::span<CcdHit> hits, const CcdSettings& settings) {
  run<4>(start, end, pairs, hits, settings, edgeEdge);
}

}  // namespace sunder::spatial
