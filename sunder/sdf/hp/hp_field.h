// An hp-adaptive signed distance field ready for queries: four arrays (Koschier et al. 2017), with the
// normalisation of the basis folded into the coefficients and the coefficients ordered so that the innermost
// sum of the polynomial runs over neighbours.
//
// Outside its domain a point is moved to the nearest point of the domain and its distance to that added; the
// gradient is then the direction away from the domain. On a face between cells the upper one answers; the
// field jumps there by about its error unless it was made continuous (hp_continuity.h).
//
// Guarantee: a batch gives the bits of single calls, on every vector unit. Cost: batches are sorted by cell
// and evaluated several points at a time, tens of nanoseconds a point; single calls some 100 ns.
// Memory: 8 bytes a coefficient, 4 bytes a node, 6 bytes a leaf.
#pragma once

#include "sunder/sdf/field.h"
#include "sunder/sdf/hp/hp_forest.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace sunder::sdf {

class HpField : public Field {
 public:
  HpField() = default;  // nothing: an empty domain, to be assigned to
  // `solid` is a box that holds what is inside; the domain where it is empty.
  explicit HpField(const HpForest& forest, const Box3& solid = {});

  void values(std::span<const Vec3> points, std::span<double> out) const override;
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override;
  Box3 bounds() const override { return solid_; }
  size_t batchSize() const override { return kBatch; }
  static constexpr size_t kBatch = 65536;  // points that are sorted by cell together

  const Box3& domain() const { return forest_.domain; }
  size_t leafCount() const { return forest_.leafCount(); }
  size_t coefficientTotal() const { return forest_.coefficients.size(); }
  size_t bytes() const { return forest_.bytes(); }

  // What the field promises: the error it was built for and the error measured then. Lengths.
  double targetError = 0, measuredError = 0, measuredMax = 0;

  // Back to orthonormal coefficients: equal to those it was made of up to rounding.
  HpForest forest() const;

  // Cells and degrees, for pictures and reports; the coefficients are in the order of queries.
  const HpForest& cells() const { return forest_; }

  // File format .sdf: versioned, little-endian, with a checksum; docs/file-formats.md. Written at once or not
  // at all. read() throws Error (Format) naming what is wrong and where.
  void write(const std::filesystem::path& path) const;
  static HpField read(const std::filesystem::path& path);
  static HpField read(std::span<const std::byte> bytes, const std::string& name);  // of a file of that name
  static constexpr size_t kChecksumAt = 16;  // where in the file; of all bytes that come after its eight

 private:
  void prepare();

  HpForest forest_;  // coefficients folded and reordered
  Box3 solid_;
  Vec3 perCell_ = Vec3::Zero();
  std::vector<uint8_t> level_;  // per leaf
};

}  // namespace sunder::sdf
