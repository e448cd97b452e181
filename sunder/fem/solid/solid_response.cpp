#include "sunder/base/parallel.h"
#include "sunder/fem/solid/response_kernel.h"
#include "sunder/fem/solid/solid.h"
#include "sunder/fem/solid/tangent_kernel.h"

#include <algorithm>
#include <cassert>
#include <functional>

namespace sunder::fem {

namespace {

constexpr size_t kSolidBatchGrain = 16, kSolidVertexGrain = 512, kSolidEntryGrain = 256;

kernels::solid::SolidView viewOf(const std::vector<ElementBatch>& batches,
                                 const std::vector<FibreBatch>& fibres, std::span<const Vec3> positions,
                                 const double* pressures) {
  return {batches.data(), fibres.data(), positions.data(), pressures};
}

// Grows only: what is there already is written over.
double* atLeast(std::vector<double>& values, size_t count) {
  if (values.size() < count) values.resize(count);
  return values.data();
}

}  // namespace

const double* Solid::pressures(std::span<const Vec3> positions) const {
  if (averages_.empty()) return nullptr;
  const size_t places = kBatchTets * batches_.size();
  double* ratios = atLeast(scratch_.ratios, places);
  double* nodal = atLeast(scratch_.nodal, averages_.stiffness.size());
  double* pressures = atLeast(scratch_.pressures, places);
  const auto view = viewOf(batches_, fibres_, positions, nullptr);
  parallelBlocks(batches_.size(), kSolidBatchGrain,
                 [&](size_t begin, size_t end) { kernels::solid::ratios(view, begin, end, ratios); });
  averages_.pressures({ratios, places}, {nodal, averages_.stiffness.size()}, {pressures, places});
  return pressures;
}

double Solid::energy(std::span<const Vec3> positions) const {
  assert(positions.size() == vertices());
  const auto view = viewOf(batches_, fibres_, positions, nullptr);
  const double own = parallelReduce(
      batches_.size(), 0.0,
      [&](size_t begin, size_t end) { return kernels::solid::energy(view, begin, end); }, std::plus<double>(),
      kSolidBatchGrain);
  if (averages_.empty()) return own;
  const size_t places = kBatchTets * batches_.size();
  double* ratios = atLeast(scratch_.ratios, places);
  double* nodal = atLeast(scratch_.nodal, averages_.stiffness.size());
  parallelBlocks(batches_.size(), kSolidBatchGrain,
                 [&](size_t begin, size_t end) { kernels::solid::ratios(view, begin, end, ratios); });
  return own + averages_.energy({ratios, places}, {nodal, averages_.stiffness.size()});
}

void Solid::addForces(std::span<const Vec3> positions, std::span<Vec3> forces) const {
  assert(positions.size() == vertices() && forces.size() == vertices());
  const auto view = viewOf(batches_, fibres_, positions, pressures(positions));
  double* records = atLeast(scratch_.records, 12 * kBatchTets * batches_.size());
  parallelBlocks(batches_.size(), kSolidBatchGrain,
                 [&](size_t begin, size_t end) { kernels::solid::forces(view, begin, end, records); });
  parallelFor(
      vertices(),
      [&](size_t v) {
        double x = 0, y = 0, z = 0;
        for (const uint32_t entry : gather_.stars.row(v)) {
          const double* from = records + 3 * size_t(entry);
          x += from[0];
          y += from[1];
          z += from[2];
        }
        forces[v] += Vec3(x, y, z);
      },
      kSolidVertexGrain);
}

void Solid::addTangent(std::span<const Vec3> positions, Tangent kind, double scale, BlockMatrix& matrix,
                       OuterTerms& outer) const {
  assert(positions.size() == vertices() && scale >= 0);
  assert(matrix.pattern().stamp() == pattern_.stamp());
  const auto view = viewOf(batches_, fibres_, positions, pressures(positions));
  const bool turned = hooke_ || (frozenHooke_ && kind == Tangent::Frozen);
  const size_t record = turned ? kernels::solid::kTurnedRecord : kernels::solid::kBlockRecord;
  double* records = atLeast(scratch_.records, record * kBatchTets * std::min(batches_.size(), kChunkBatches));
  static_assert(sizeof(Mat3) == 9 * sizeof(double));
  double* values = matrix.block(0).data();
  const kernels::solid::TangentKind how{kind != Tangent::Exact, kind == Tangent::Frozen};
  for (const GatherTables::Chunk& chunk : gather_.chunks) {
    parallelBlocks(chunk.lastBatch - chunk.firstBatch, kSolidBatchGrain, [&](size_t begin, size_t end) {
      const size_t first = chunk.firstBatch + begin, last = chunk.firstBatch + end;
      double* out = records + record * kBatchTets * begin;
      if (turned)
        kernels::solid::turnedGradients(view, first, last, scale, out);
      else
        kernels::solid::blocks(view, first, last, how, scale, out);
    });
    parallelBlocks(chunk.lastEntry - chunk.firstEntry, kSolidEntryGrain, [&](size_t begin, size_t end) {
      const size_t first = chunk.firstEntry + begin, last = chunk.firstEntry + end;
      if (!turned)
        kernels::solid::addBlocks(gather_, first, last, records, values);
      else if (oneRatio_)
        kernels::solid::addTurnedOfOneRatio(gather_, first, last, records, ratio_, values);
      else
        kernels::solid::addTurned(gather_, first, last, records, values);
    });
  }
  if (averages_.empty()) return;
  const size_t places = kBatchTets * batches_.size();
  double* gradients = atLeast(scratch_.gradients, 12 * places);
  parallelBlocks(batches_.size(), kSolidBatchGrain, [&](size_t begin, size_t end) {
    kernels::solid::ratioGradients(view, begin, end, gradients);
  });
  averages_.addOuter({gradients, 12 * places}, scale, outer);
}

void Solid::stresses(std::span<const Vec3> positions, std::span<Mat3> cauchy,
                     std::span<Mat3> rotations) const {
  assert(positions.size() == vertices() && cauchy.size() == tets_.size() && rotations.size() == tets_.size());
  const auto view = viewOf(batches_, fibres_, positions, pressures(positions));
  double* records = atLeast(scratch_.records, 18 * kBatchTets * batches_.size());
  parallelBlocks(batches_.size(), kSolidBatchGrain,
                 [&](size_t begin, size_t end) { kernels::solid::stresses(view, begin, end, records); });
  parallelFor(
      tets_.size(),
      [&](size_t t) {
        const double* from = records + 18 * size_t(place_[t]);
        const Mat3 s = Eigen::Map<const Mat3>(from);
        cauchy[t] = 0.5 * (s + s.transpose());
        rotations[t] = Eigen::Map<const Mat3>(from + 9);
      },
      kSolidVertexGrain);
}

}  // namespace sunder::fem
