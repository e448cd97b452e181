#include "sunder/sdf/field_combine.h"

#include "sunder/base/error.h"
#include "sunder/sdf/gradient_noise.h"
#include "sunder/sdf/near_field.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

namespace sunder::sdf {

namespace {

constexpr size_t kCombinedBlock = 128;

void checkPart(const FieldPtr& part) {
  if (!part) throw Error(ErrorKind::Usage, "a combination of fields lacks one of its parts");
}

void checkPositive(double size, const char* what) {
  if (!(size > 0) || !std::isfinite(size))
    throw Error(ErrorKind::Usage, fmt::format("{} must be positive and finite, not {}", what, size));
}

// Calls body(begin, size) for blocks of at most kCombinedBlock points, so that parts answer in blocks.
template <class Body>
void byBlocks(size_t count, Body&& body) {
  for (size_t begin = 0; begin < count; begin += kCombinedBlock)
    body(begin, std::min(kCombinedBlock, count - begin));
}

FieldSample negated(const FieldSample& s) { return {-s.value, -s.gradient}; }

// Parts joined pairwise from the first to the last by join(a, b), for values and samples alike.
template <class Join>
class Joined final : public FormulaField {
 public:
  Joined(std::vector<FieldPtr> parts, Join join) : parts_(std::move(parts)), join_(join) {
    for (const FieldPtr& part : parts_) checkPart(part);
    if (parts_.empty()) throw Error(ErrorKind::Usage, "a combination of fields needs at least one part");
  }

  void values(std::span<const Vec3> points, std::span<double> out) const override {
    assert(points.size() == out.size());
    byBlocks(points.size(), [&](size_t begin, size_t count) {
      std::array<double, kCombinedBlock> next;
      const std::span<const Vec3> block = points.subspan(begin, count);
      parts_[0]->values(block, out.subspan(begin, count));
      for (size_t p = 1; p < parts_.size(); ++p) {
        parts_[p]->values(block, {next.data(), count});
        for (size_t i = 0; i < count; ++i) out[begin + i] = join_.value(out[begin + i], next[i]);
      }
    });
  }
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override {
    assert(points.size() == out.size());
    byBlocks(points.size(), [&](size_t begin, size_t count) {
      std::array<FieldSample, kCombinedBlock> next;
      const std::span<const Vec3> block = points.subspan(begin, count);
      parts_[0]->samples(block, out.subspan(begin, count));
      for (size_t p = 1; p < parts_.size(); ++p) {
        parts_[p]->samples(block, {next.data(), count});
        for (size_t i = 0; i < count; ++i) out[begin + i] = join_.sample(out[begin + i], next[i]);
      }
    });
  }
  Box3 boundsAt(double level) const override { return join_.boundsAt(parts_, level); }
  std::unique_ptr<NearField> near(const Box3& domain, double spacing) const override;

 private:
  std::vector<FieldPtr> parts_;
  Join join_;
};

// Parts that answer from cached distance samples where they can.
template <class Join>
class JoinedNear final : public NearField {
 public:
  JoinedNear(const Field& whole, std::vector<FieldPtr> parts, Join join,
             std::vector<std::shared_ptr<const NearField>> near)
      : whole_(whole), joined_(std::move(parts), join), near_(std::move(near)) {}

  void values(std::span<const Vec3> points, std::span<double> out) const override {
    joined_.values(points, out);
  }
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override {
    whole_.samples(points, out);
  }
  Box3 bounds() const override { return whole_.bounds(); }
  size_t batchSize() const override { return kCombinedBlock; }
  std::vector<Vec3> thinPlaces(double thickness) const override { return whole_.thinPlaces(thickness); }
  uint64_t searches() const override {
    uint64_t sum = 0;
    for (const std::shared_ptr<const NearField>& part : near_) sum += part->searches();
    return sum;
  }

 private:
  const Field& whole_;
  Joined<Join> joined_;
  std::vector<std::shared_ptr<const NearField>> near_;
};

template <class Join>
std::unique_ptr<NearField> Joined<Join>::near(const Box3& domain, double spacing) const {
  std::vector<FieldPtr> parts = parts_;
  std::vector<std::shared_ptr<const NearField>> found;
  for (FieldPtr& part : parts)
    if (std::shared_ptr<const NearField> quick = part->near(domain, spacing))
      part = found.emplace_back(quick);
  if (found.empty()) return nullptr;
  return std::make_unique<JoinedNear<Join>>(*this, std::move(parts), join_, std::move(found));
}

template <class Join>
FieldPtr makeJoined(std::vector<FieldPtr> parts, Join join = {}) {
  return std::make_shared<Joined<Join>>(std::move(parts), join);
}

Box3 boundsOfAny(const std::vector<FieldPtr>& parts, double level) {
  Box3 box;
  for (const FieldPtr& part : parts) {
    const Box3 one = boundsAt(*part, level);
    if (!one.empty()) box.grow(one);
  }
  return box;
}

struct Least {
  static double value(double a, double b) { return b < a ? b : a; }
  static FieldSample sample(const FieldSample& a, const FieldSample& b) { return b.value < a.value ? b : a; }
  static Box3 boundsAt(const std::vector<FieldPtr>& parts, double level) { return boundsOfAny(parts, level); }
};

struct Greatest {
  static double value(double a, double b) { return b > a ? b : a; }
  static FieldSample sample(const FieldSample& a, const FieldSample& b) { return b.value > a.value ? b : a; }
  static Box3 boundsAt(const std::vector<FieldPtr>& parts, double level) {
    Box3 box{Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)};
    for (const FieldPtr& part : parts) {
      const Box3 one = sdf::boundsAt(*part, level);
      box.lower = box.lower.cwiseMax(one.lower);
      box.upper = box.upper.cwiseMin(one.upper);
    }
    return box.empty() ? Box3{} : box;
  }
};

struct Without {
  static double value(double a, double b) { return Greatest::value(a, -b); }
  static FieldSample sample(const FieldSample& a, const FieldSample& b) {
    return Greatest::sample(a, negated(b));
  }
  static Box3 boundsAt(const std::vector<FieldPtr>& parts, double level) {
    return sdf::boundsAt(*parts[0], level);
  }
};

struct SmoothLeast {
  double width;

  double value(double a, double b) const {
    const double h = std::max(0.0, 1 - std::abs(a - b) / width);
    return std::min(a, b) - h * h * width / 4;
  }
  FieldSample sample(const FieldSample& a, const FieldSample& b) const {
    // The derivative is a mean of both: h / 2 of the larger one.
    const double h = std::max(0.0, 1 - std::abs(a.value - b.value) / width);
    const FieldSample &low = b.value < a.value ? b : a, &high = b.value < a.value ? a : b;
    return {value(a.value, b.value), (1 - h / 2) * low.gradient + h / 2 * high.gradient};
  }
  Box3 boundsAt(const std::vector<FieldPtr>& parts, double level) const {
    return boundsOfAny(parts, level + width / 4);
  }
};

// One part with its values changed by change(point, value or sample).
template <class Change>
class Changed final : public FormulaField {
 public:
  Changed(FieldPtr part, Change change) : part_(std::move(part)), change_(std::move(change)) {
    checkPart(part_);
  }

  void values(std::span<const Vec3> points, std::span<double> out) const override {
    assert(points.size() == out.size());
    part_->values(points, out);
    for (size_t i = 0; i < points.size(); ++i) out[i] = change_(points[i], {out[i], Vec3::Zero()}).value;
  }
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override {
    assert(points.size() == out.size());
    part_->samples(points, out);
    for (size_t i = 0; i < points.size(); ++i) out[i] = change_(points[i], out[i]);
  }
  Box3 boundsAt(double level) const override {
    const Box3 box = sdf::boundsAt(*part_, change_.partLevel(level));
    return box.empty() ? Box3{} : box;
  }

 private:
  FieldPtr part_;
  Change change_;
};

template <class Change>
FieldPtr makeChanged(FieldPtr part, Change change) {
  return std::make_shared<Changed<Change>>(std::move(part), std::move(change));
}

struct Offset {
  double distance;
  FieldSample operator()(const Vec3&, const FieldSample& s) const { return {s.value - distance, s.gradient}; }
  double partLevel(double level) const { return level + distance; }
};

struct Shell {
  double half;
  FieldSample operator()(const Vec3&, const FieldSample& s) const {
    const FieldSample away = s.value < 0 ? negated(s) : s;
    return {away.value - half, away.gradient};
  }
  double partLevel(double level) const { return level + half; }
};

struct Displacement {
  NoiseSettings noise;
  double height = 0, divisor = 1;

  explicit Displacement(const NoiseSettings& settings) : noise(settings) {
    // Heights 1, 1/2, ... of the octaves, made to sum to the amplitude; all have the same steepness.
    height = noise.amplitude / (2 - std::ldexp(1.0, 1 - noise.octaves));
    divisor = 1 + kNoiseSteepest * noise.octaves * height / noise.wavelength;
  }

  FieldSample operator()(const Vec3& p, const FieldSample& s) const {
    FieldSample sum = s;
    double scale = 1 / noise.wavelength, part = height;
    for (int octave = 0; octave < noise.octaves; ++octave) {
      const FieldSample n = gradientNoise(scale * p, noise.seed + uint64_t(octave));
      sum.value += part * n.value;
      sum.gradient += part * scale * n.gradient;
      scale *= 2;
      part /= 2;
    }
    return {sum.value / divisor, sum.gradient / divisor};
  }
  double partLevel(double level) const { return level * divisor + kNoiseLargest * noise.amplitude; }
};

class Transformed final : public FormulaField {
 public:
  Transformed(FieldPtr part, const Quat& rotation, const Vec3& translation, double scale)
      : part_(std::move(part)),
        rotation_(rotation.toRotationMatrix()),
        translation_(translation),
        scale_(scale) {}

  void values(std::span<const Vec3> points, std::span<double> out) const override {
    assert(points.size() == out.size());
    byBlocks(points.size(), [&](size_t begin, size_t count) {
      const std::array<Vec3, kCombinedBlock> local = toLocal(points.subspan(begin, count));
      part_->values({local.data(), count}, out.subspan(begin, count));
      for (size_t i = 0; i < count; ++i) out[begin + i] *= scale_;
    });
  }
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override {
    assert(points.size() == out.size());
    byBlocks(points.size(), [&](size_t begin, size_t count) {
      const std::array<Vec3, kCombinedBlock> local = toLocal(points.subspan(begin, count));
      part_->samples({local.data(), count}, out.subspan(begin, count));
      for (FieldSample& s : out.subspan(begin, count)) s = {s.value * scale_, rotation_ * s.gradient};
    });
  }
  Box3 boundsAt(double level) const override {
    const Box3 local = sdf::boundsAt(*part_, level / scale_);
    if (local.empty()) return {};
    Box3 box{translation_, translation_};
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        const double factor = scale_ * rotation_(row, column);
        if (factor == 0) continue;  // so that an infinite side does not give 0 * inf
        const double a = factor * local.lower[column], b = factor * local.upper[column];
        box.lower[row] += std::min(a, b);
        box.upper[row] += std::max(a, b);
      }
    }
    return box;
  }

 private:
  std::array<Vec3, kCombinedBlock> toLocal(std::span<const Vec3> points) const {
    std::array<Vec3, kCombinedBlock> local;
    for (size_t i = 0; i < points.size(); ++i)
      local[i] = rotation_.transpose() * (points[i] - translation_) / scale_;
    return local;
  }

  FieldPtr part_;
  Mat3 rotation_;
  Vec3 translation_;
  double scale_;
};

}  // namespace

FieldPtr makeUnion(std::vector<FieldPtr> parts) { return makeJoined<Least>(std::move(parts)); }

FieldPtr makeIntersection(std::vector<FieldPtr> parts) { return makeJoined<Greatest>(std::move(parts)); }

FieldPtr makeDifference(FieldPtr from, FieldPtr taken) {
  return makeJoined<Without>({std::move(from), std::move(taken)});
}

FieldPtr makeSmoothUnion(FieldPtr a, FieldPtr b, double width) {
  checkPositive(width, "the width of a smooth union");
  return makeJoined({std::move(a), std::move(b)}, SmoothLeast{width});
}

FieldPtr makeOffset(FieldPtr part, double distance) {
  if (!std::isfinite(distance)) throw Error(ErrorKind::Usage, "an offset must be finite");
  return makeChanged(std::move(part), Offset{distance});
}

FieldPtr makeShell(FieldPtr part, double thickness) {
  checkPositive(thickness, "a shell's thickness");
  return makeChanged(std::move(part), Shell{thickness / 2});
}

FieldPtr makeTransformed(FieldPtr part, const Quat& rotation, const Vec3& translation, double scale) {
  checkPart(part);
  checkPositive(scale, "a field's scale");
  checkPositive(rotation.norm(), "the norm of a field's rotation");
  if (!translation.allFinite()) throw Error(ErrorKind::Usage, "a field's translation must be finite");
  return std::make_shared<Transformed>(std::move(part), rotation.normalized(), translation, scale);
}

FieldPtr makeDisplaced(FieldPtr part, const NoiseSettings& settings) {
  checkPositive(settings.amplitude, "the amplitude of noise");
  checkPositive(settings.wavelength, "the wavelength of noise");
  if (settings.octaves < 1 || settings.octaves > 32)
    throw Error(ErrorKind::Usage, fmt::format("noise cannot have {} octaves", settings.octaves))
        .hint("1 to 32");
  return makeChanged(std::move(part), Displacement(settings));
}

}  // namespace sunder::sdf
