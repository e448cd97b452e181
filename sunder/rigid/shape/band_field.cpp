#include "sunder/rigid/shape/band_field.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

// Value and derivatives by cell coordinates of the eight numbers around a place.
template <class Load>
sdf::FieldSample trilinear(const double (&t)[3], const Load& load) {
  const double x = t[0], y = t[1], z = t[2];
  const double v000 = load(0, 0, 0), v100 = load(1, 0, 0), v010 = load(0, 1, 0), v110 = load(1, 1, 0);
  const double v001 = load(0, 0, 1), v101 = load(1, 0, 1), v011 = load(0, 1, 1), v111 = load(1, 1, 1);
  const double d00 = v100 - v000, d10 = v110 - v010, d01 = v101 - v001, d11 = v111 - v011;
  const double a00 = v000 + x * d00, a10 = v010 + x * d10, a01 = v001 + x * d01, a11 = v011 + x * d11;
  const double b0 = a00 + y * (a10 - a00), b1 = a01 + y * (a11 - a01);
  const double e0 = d00 + y * (d10 - d00), e1 = d01 + y * (d11 - d01);
  return {b0 + z * (b1 - b0),
          Vec3(e0 + z * (e1 - e0), (a10 - a00) + z * ((a11 - a01) - (a10 - a00)), b1 - b0)};
}

void requireFinite(std::span<const double> values) {
  for (const double v : values)
    if (!std::isfinite(v))
      throw Error(ErrorKind::Numerical, "the field of a solid has a value that is not finite");
}

}  // namespace

BandField::BandField(const sdf::Field& source, const Box3& domain, double step, double band)
    : domain_(domain) {
  const Vec3 sides = domain.extent();
  uint64_t fineNodes = 1;
  std::array<uint32_t, 3> fine;
  for (int d = 0; d < 3; ++d) {
    const auto k = size_t(d);
    cells_[k] = uint32_t(std::clamp(std::ceil(sides[d] / (kCells * step) - 1e-9), 1.0, 1e6));
    perCell_[d] = cells_[k] / sides[d];
    fine[k] = kCells * cells_[k] + 1;
    fineNodes *= fine[k];
  }
  if (fineNodes > uint64_t(1) << 28)
    throw Error(ErrorKind::Usage, "the lattice of a solid's field is too fine");
  const Vec3 cell = perCell_.cwiseInverse();
  const auto nodeAt = [&](double x, double y, double z) {
    return Vec3(domain.lower + cell.cwiseProduct(Vec3(x, y, z)));
  };

  const auto [nx, ny, nz] = cells_;
  std::vector<Vec3> places;
  std::vector<double> values;
  const auto sample = [&] {
    values.resize(places.size());
    sdf::valuesOf(source, places, values);
    requireFinite(values);
  };
  for (uint32_t z = 0; z <= nz; ++z)
    for (uint32_t y = 0; y <= ny; ++y)
      for (uint32_t x = 0; x <= nx; ++x) places.push_back(nodeAt(x, y, z));
  sample();
  coarse_.assign(values.begin(), values.end());
  places.clear();
  for (uint32_t z = 0; z < nz; ++z)
    for (uint32_t y = 0; y < ny; ++y)
      for (uint32_t x = 0; x < nx; ++x) places.push_back(nodeAt(x + 0.5, y + 0.5, z + 0.5));
  sample();

  // A cell is near where both its middle and its nearest corner allow it to be.
  const double reach = band + 0.5 * cell.norm();
  brickOf_.assign(places.size(), -1);
  constexpr float kUnset = -1e30f, kWanted = 1e30f;
  std::vector<float> lattice(fineNodes, kUnset);
  const auto fineIndex = [&](uint32_t x, uint32_t y, uint32_t z) {
    return x + size_t(fine[0]) * (y + size_t(fine[1]) * z);
  };
  std::vector<std::array<uint32_t, 3>> near;
  for (uint32_t z = 0, i = 0; z < nz; ++z)
    for (uint32_t y = 0; y < ny; ++y)
      for (uint32_t x = 0; x < nx; ++x, ++i) {
        if (std::abs(values[i]) > reach) continue;
        double least = Box3::kInfinity;
        for (uint32_t c = 0; c < 8; ++c)
          least = std::min(
              least,
              double(std::abs(
                  coarse_[x + (c & 1) + (nx + 1) * (y + (c >> 1 & 1) + size_t(ny + 1) * (z + (c >> 2)))])));
        if (least > reach) continue;
        brickOf_[i] = int32_t(near.size() * kBrick);
        near.push_back({kCells * x, kCells * y, kCells * z});
        for (uint32_t c = 0; c < kNodes; ++c)
          for (uint32_t b = 0; b < kNodes; ++b)
            for (uint32_t a = 0; a < kNodes; ++a)
              lattice[fineIndex(kCells * x + a, kCells * y + b, kCells * z + c)] = kWanted;
      }
  places.clear();
  std::vector<size_t> wanted;
  for (uint32_t z = 0; z < fine[2]; ++z)
    for (uint32_t y = 0; y < fine[1]; ++y)
      for (uint32_t x = 0; x < fine[0]; ++x)
        if (const size_t i = fineIndex(x, y, z); lattice[i] == kWanted) {
          wanted.push_back(i);
          places.push_back(nodeAt(double(x) / kCells, double(y) / kCells, double(z) / kCells));
        }
  sample();
  for (size_t i = 0; i < wanted.size(); ++i) {
    lattice[wanted[i]] = float(values[i]);
    if (values[i] <= 0) solid_.grow(places[i]);
  }
  // A node of a near cell is within a diagonal of its middle, which is within reach.
  const double largest = reach + cell.norm();
  unit_ = largest / 32767;
  const auto packed = [&](float v) {
    return int16_t(std::lround(std::clamp(double(v), -largest, largest) / unit_));
  };
  bricks_.reserve(near.size() * kBrick);
  for (const auto& [x, y, z] : near)
    for (uint32_t c = 0; c < kNodes; ++c)
      for (uint32_t b = 0; b < kNodes; ++b)
        for (uint32_t a = 0; a < kNodes; ++a)
          bricks_.push_back(packed(lattice[fineIndex(x + a, y + b, z + c)]));
  // The surface lies at most a cell beyond the nodes inside.
  if (!solid_.empty()) {
    solid_.lower = (solid_.lower - cell / kCells).cwiseMax(domain.lower);
    solid_.upper = (solid_.upper + cell / kCells).cwiseMin(domain.upper);
  }
}

BandField::Place BandField::locate(const Vec3& point) const {
  Place place;
  uint32_t c[3];
  place.moved = false;
  for (int d = 0; d < 3; ++d) {
    const double raw = (point[d] - domain_.lower[d]) * perCell_[d], most = cells_[size_t(d)];
    const double u = std::min(std::max(raw, 0.0), most);
    place.moved |= u != raw;
    c[d] = std::min(uint32_t(u), cells_[size_t(d)] - 1);
    place.t[d] = u - c[d];
  }
  const uint32_t nx = cells_[0], ny = cells_[1];
  const int32_t brick = brickOf_[c[0] + nx * (c[1] + size_t(ny) * c[2])];
  place.near = brick >= 0;
  if (place.near) {
    uint32_t offset = 0;
    constexpr uint32_t kStride[3] = {1, kNodes, kNodes * kNodes};
    for (int d = 0; d < 3; ++d) {
      place.t[d] *= kCells;
      const uint32_t k = std::min(uint32_t(place.t[d]), kCells - 1);
      place.t[d] -= k;
      offset += k * kStride[d];
    }
    place.first = uint32_t(brick) + offset;
    __builtin_prefetch(bricks_.data() + place.first);
    __builtin_prefetch(bricks_.data() + place.first + kNodes * kNodes + kNodes + 1);
  } else {
    place.first = c[0] + (nx + 1) * (c[1] + size_t(ny + 1) * c[2]);
  }
  return place;
}

sdf::FieldSample BandField::at(const Vec3& point, const Place& place) const {
  sdf::FieldSample s;
  if (place.near) {
    const int16_t* v = bricks_.data() + place.first;
    s = trilinear(place.t, [v](uint32_t x, uint32_t y, uint32_t z) {
      return double(v[x + kNodes * y + kNodes * kNodes * z]);
    });
    s.value *= unit_;
    s.gradient = s.gradient.cwiseProduct(kCells * unit_ * perCell_);
  } else {
    const float* v = coarse_.data() + place.first;
    const size_t row = cells_[0] + 1, layer = row * (cells_[1] + 1);
    s = trilinear(place.t,
                  [=](uint32_t x, uint32_t y, uint32_t z) { return double(v[x + row * y + layer * z]); });
    s.gradient = s.gradient.cwiseProduct(perCell_);
  }
  if (place.moved) {
    const Vec3 away = point - point.cwiseMax(domain_.lower).cwiseMin(domain_.upper);
    const double distance = away.norm();
    s.value += distance;
    if (distance > 0) s.gradient = away / distance;
  }
  return s;
}

// Bricks are asked for a few points ahead: waiting for memory is most of the time of a query.
template <class Store>
void BandField::forEach(std::span<const Vec3> points, const Store& store) const {
  constexpr size_t kAhead = 16;
  Place places[kAhead];
  for (size_t first = 0; first < points.size(); first += kAhead) {
    const size_t count = std::min(kAhead, points.size() - first);
    for (size_t i = 0; i < count; ++i) places[i] = locate(points[first + i]);
    for (size_t i = 0; i < count; ++i) store(first + i, at(points[first + i], places[i]));
  }
}

void BandField::values(std::span<const Vec3> points, std::span<double> out) const {
  forEach(points, [&](size_t i, const sdf::FieldSample& s) { out[i] = s.value; });
}

void BandField::samples(std::span<const Vec3> points, std::span<sdf::FieldSample> out) const {
  forEach(points, [&](size_t i, const sdf::FieldSample& s) { out[i] = s; });
}

}  // namespace sunder::rigid
