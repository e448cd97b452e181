#include "sunder/sdf/near_mesh_field.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>

namespace sunder::sdf {

using spatial::D3;
using spatial::NearestLeaf;

namespace {

constexpr uint32_t kMostCells = 512;  // along an axis

D3 toD3(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

}  // namespace

struct NearMeshField::Scratch {
  std::vector<uint64_t> order;  // cell and point
  std::vector<Vec3> points;
  std::vector<double> values;
  std::vector<D3> plain;
  std::vector<NearestLeaf> leaves;
};

NearMeshField::NearMeshField(const MeshField& mesh, const Box3& domain, double spacing)
    : mesh_(mesh), lower_(domain.lower) {
  if (!(spacing > 0) || domain.empty() || !domain.extent().allFinite())
    throw Error(ErrorKind::Usage, "cached distance samples need a finite domain and a positive spacing");
  size_t corners = 1;
  for (int d = 0; d < 3; ++d) {
    const double wanted = std::max(1.0, std::ceil(domain.extent()[d] / spacing * (1 - 1e-12)));
    if (wanted > kMostCells)
      throw Error(ErrorKind::Usage, "cached distance samples " + std::to_string(spacing) +
                                        " apart are more than " + std::to_string(kMostCells) +
                                        " along an axis of the domain");
    cells_[size_t(d)] = static_cast<uint32_t>(wanted);
    edge_[d] = domain.extent()[d] / wanted;
    corners *= cells_[size_t(d)] + 1;
  }
  distanceSamples_ = std::make_unique<DistanceSample[]>(corners);
}

NearMeshField::~NearMeshField() = default;

const NearMeshField::DistanceSample& NearMeshField::distanceSample(std::array<uint32_t, 3> at) const {
  DistanceSample& mark =
      distanceSamples_[at[0] + (cells_[0] + size_t(1)) * (at[1] + (cells_[1] + size_t(1)) * at[2])];
  if (mark.block.load(std::memory_order_acquire) != UINT32_MAX) return mark;
  // Threads that meet here find the same; only one of them counts.
  const Vec3 point = lower_ + edge_.cwiseProduct(Vec3(at[0], at[1], at[2]));
  spatial::ClosestPoint closest;
  const uint32_t block = mesh_.query().closestBlock(point, closest);
  mark.distance.store(mesh_.signedNearest(point, closest).distance, std::memory_order_relaxed);
  uint32_t unknown = UINT32_MAX;
  if (mark.block.compare_exchange_strong(unknown, block, std::memory_order_release,
                                         std::memory_order_acquire))
    searches_.fetch_add(1, std::memory_order_relaxed);
  return mark;
}

void NearMeshField::cellValues(uint32_t cell, std::span<const Vec3> points, double* out,
                               Scratch& scratch) const {
  const std::array<uint32_t, 3> at{cell % cells_[0], cell / cells_[0] % cells_[1],
                                   cell / cells_[0] / cells_[1]};
  const double diagonal = edge_.norm();
  std::array<uint32_t, 8> blocks;
  size_t count = 0;
  double farthest = 0;  // of the corners, signed
  for (uint32_t c = 0; c < 8; ++c) {
    const DistanceSample& mark = distanceSample({at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)});
    const uint32_t block = mark.block.load(std::memory_order_relaxed);
    const double distance = mark.distance.load(std::memory_order_relaxed);
    if (std::abs(distance) > std::abs(farthest)) farthest = distance;
    if (std::find(blocks.begin(), blocks.begin() + count, block) == blocks.begin() + count)
      blocks[count++] = block;
  }
  const spatial::MeshQuery& query = mesh_.query();
  scratch.plain.resize(points.size());
  scratch.leaves.resize(points.size());
  for (size_t i = 0; i < points.size(); ++i) scratch.plain[i] = toD3(points[i]);
  // The distance changes by no more than the way: all of the cell is on one side.
  if (std::abs(farthest) > diagonal * (1 + 1e-9)) {
    query.nearestAmong({blocks.data(), count}, scratch.plain, scratch.leaves);
    for (size_t i = 0; i < points.size(); ++i)
      out[i] = std::copysign(std::sqrt(scratch.leaves[i].squared), farthest);
    return;
  }
  nearSurface({blocks.data(), count}, points, scratch.plain, scratch.leaves, out);
}

// From all blocks that can be nearest to one of the points, in two halves where they are too many.
void NearMeshField::nearSurface(std::span<const uint32_t> start, std::span<const Vec3> points,
                                std::span<const D3> plain, std::span<NearestLeaf> leaves, double* out) const {
  Box3 box;
  for (const Vec3& p : points) box.grow(p);
  const spatial::MeshQuery& query = mesh_.query();
  const Vec3 middle = box.center();
  const D3 plainMiddle = toD3(middle);
  NearestLeaf atMiddle;
  query.nearestAmong(start, {&plainMiddle, 1}, {&atMiddle, 1});
  // Whatever is nearest to a point of the box is nearer to its middle than this.
  const double reach = (std::sqrt(atMiddle.squared) + box.diagonal()) * (1 + 1e-9);
  std::array<uint32_t, spatial::MeshQuery::kMostBlocks> blocks;
  const size_t count = query.blocksWithin(middle, reach, blocks);
  if (count == SIZE_MAX && points.size() > 1) {
    const size_t half = points.size() / 2;
    nearSurface(start, points.first(half), plain.first(half), leaves.first(half), out);
    nearSurface(start, points.subspan(half), plain.subspan(half), leaves.subspan(half), out + half);
    return;
  }
  if (count == SIZE_MAX) {
    mesh_.values(points, {out, points.size()});
    searches_.fetch_add(points.size(), std::memory_order_relaxed);
    return;
  }
  query.nearestAmong({blocks.data(), count}, plain, leaves);
  double before = 0;
  bool inside = false;
  for (size_t i = 0; i < points.size(); ++i) {
    const double distance = std::sqrt(leaves[i].squared);
    // The surface is further from one of two points than they are from each other: both are on one side.
    const double free = std::max(distance, before) * (1 - 1e-5);
    if (i == 0 || !((points[i] - points[i - 1]).squaredNorm() < free * free))
      inside = mesh_.signedNearest(points[i], query.answer(points[i], leaves[i])).distance < 0;
    out[i] = inside ? -distance : distance;
    before = distance;
  }
}

void NearMeshField::values(std::span<const Vec3> points, std::span<double> out) const {
  if (points.size() != out.size()) throw Error(ErrorKind::Usage, "a field needs as many results as points");
  const ScratchPool<Scratch>::Loan loan(scratch_);
  Scratch& s = *loan;
  s.order.resize(points.size());
  bool sorted = true;
  for (size_t i = 0; i < points.size(); ++i) {
    uint64_t at[3];
    for (int d = 0; d < 3; ++d) {
      const double u = (points[i][d] - lower_[d]) / edge_[d];
      // Points outside of the domain are asked for at the rim only, by rounding.
      at[d] = static_cast<uint64_t>(std::clamp(std::floor(u), 0.0, cells_[size_t(d)] - 1.0));
    }
    s.order[i] = (at[0] + cells_[0] * (at[1] + cells_[1] * at[2])) << 32 | i;
    sorted = sorted && (i == 0 || s.order[i - 1] < s.order[i]);
  }
  if (!sorted) std::sort(s.order.begin(), s.order.end());
  s.points.resize(points.size());
  s.values.resize(points.size());
  for (size_t i = 0; i < points.size(); ++i) s.points[i] = points[static_cast<uint32_t>(s.order[i])];
  for (size_t begin = 0; begin < points.size();) {
    size_t end = begin + 1;
    while (end < points.size() && s.order[end] >> 32 == s.order[begin] >> 32) ++end;
    cellValues(static_cast<uint32_t>(s.order[begin] >> 32), std::span(s.points).subspan(begin, end - begin),
               s.values.data() + begin, s);
    begin = end;
  }
  for (size_t i = 0; i < points.size(); ++i) out[static_cast<uint32_t>(s.order[i])] = s.values[i];
}

std::unique_ptr<NearField> MeshField::near(const Box3& domain, double spacing) const {
  // Signs are carried from point to point, which needs a surface between inside and outside.
  const bool closed = report_.openEdges + report_.crowdedEdges + report_.flippedEdges == 0;
  if (!closed || report_.rule != SignRule::PseudoNormal) return nullptr;
  return std::make_unique<NearMeshField>(*this, domain, spacing);
}

}  // namespace sunder::sdf
