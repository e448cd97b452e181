#include "sunder/record/points_codec.h"

#include "sunder/base/error.h"
#include "sunder/record/frame_codec.h"
#include "sunder/record/zigzag.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace sunder::record {

namespace {

constexpr size_t kPointPlanes = 12;  // four bytes of three coordinates
constexpr uint8_t kMostComponents = 4;
constexpr uint8_t kWide = 0x80;  // in the byte of the components: values are floats
constexpr float kLargestHalf = 65504;
constexpr double kLargest = INT32_MAX;

// What point i is written as the difference to.
std::array<int32_t, 3> reference(const QuantisedPoints* previous, std::span<const std::array<int32_t, 3>> now,
                                 size_t i) {
  if (previous && i < previous->positions.size()) return previous->positions[i];
  return i > 0 ? now[i - 1] : std::array<int32_t, 3>{};
}

bool comparable(const QuantisedPoints& a, const QuantisedPoints& b) { return a.resolution == b.resolution; }

size_t placeOf(std::span<const QuantisedPoints> points, uint32_t body) {
  return size_t(std::lower_bound(points.begin(), points.end(), body,
                                 [](const QuantisedPoints& p, uint32_t b) { return p.body < b; }) -
                points.begin());
}

// Whether half floats cannot hold the values: stresses in Pa.
bool isWide(const PointField& field) {
  return std::any_of(field.values.begin(), field.values.end(),
                     [](float v) { return std::isfinite(v) && std::abs(v) > kLargestHalf; });
}

void putFields(ByteWriter& out, const std::vector<PointField>& fields) {
  out.u16(uint16_t(fields.size()));
  for (const PointField& field : fields) {
    out.u16(uint16_t(field.name.size()));
    out.string(field.name);
    const bool wide = isWide(field);
    out.u8(uint8_t(field.components | (wide ? kWide : 0)));
    const size_t values = field.values.size(), width = wide ? 4 : 2;
    std::string bytes(width * values, '\0');
    for (size_t i = 0; i < values; ++i) {
      const uint32_t bits =
          wide ? std::bit_cast<uint32_t>(field.values[i]) : uint32_t(halfFromFloat(field.values[i]));
      for (size_t k = 0; k < width; ++k) bytes[k * values + i] = char(bits >> 8 * k & 255);
    }
    out.string(bytes);
  }
}

void getFields(ByteReader& in, size_t count, std::vector<PointField>& out) {
  const uint16_t fields = in.u16("number of fields");
  for (uint16_t f = 0; f < fields; ++f) {
    PointField field;
    field.name = in.string(in.u16("length of a name"), "name of a field");
    const uint8_t kind = in.u8("components of a field");
    field.components = uint8_t(kind & ~kWide);
    if (field.components == 0 || field.components > kMostComponents) in.fail("a field has no values");
    const size_t values = size_t(field.components) * count, width = kind & kWide ? 4 : 2;
    in.need(values, width, "values of a field");
    const auto bytes = in.bytes(width * values, "values of a field");
    field.values.resize(values);
    for (size_t i = 0; i < values; ++i) {
      uint32_t bits = 0;
      for (size_t k = 0; k < width; ++k) bits |= uint32_t(bytes[k * values + i]) << 8 * k;
      field.values[i] = kind & kWide ? std::bit_cast<float>(bits) : floatFromHalf(uint16_t(bits));
      if (!std::isfinite(field.values[i])) in.fail("a value of a field is not finite");
    }
    out.push_back(std::move(field));
  }
}

QuantisedPoints getHead(ByteReader& in, size_t bodyLimit) {
  QuantisedPoints now;
  now.body = in.u32("body of points");
  if (now.body >= bodyLimit)
    in.fail(fmt::format("a frame refers to body {}, but there are only {}", now.body, bodyLimit));
  now.resolution = in.f32("resolution of points");
  now.radius = in.f32("radius of points");
  if (!(now.resolution > 0) || !std::isfinite(now.resolution)) in.fail("points have no resolution");
  if (!(now.radius >= 0) || !std::isfinite(now.radius)) in.fail("points have no radius");
  return now;
}

void replace(std::vector<QuantisedPoints>& known, QuantisedPoints now) {
  const size_t place = placeOf(known, now.body);
  if (place < known.size() && known[place].body == now.body)
    known[place] = std::move(now);
  else
    known.insert(known.begin() + std::ptrdiff_t(place), std::move(now));
}

}  // namespace

const QuantisedPoints* pointsOf(std::span<const QuantisedPoints> points, uint32_t body) {
  const size_t place = placeOf(points, body);
  return place < points.size() && points[place].body == body ? &points[place] : nullptr;
}

QuantisedPoints quantise(const BodyPoints& points) {
  if (!(points.resolution > 0) || !std::isfinite(points.resolution))
    throw Error(ErrorKind::Usage, fmt::format("points of body {} need a positive resolution", points.body));
  QuantisedPoints q;
  q.body = points.body;
  q.resolution = points.resolution;
  q.radius = points.radius;
  q.positions.resize(points.positions.size());
  for (size_t i = 0; i < q.positions.size(); ++i)
    for (size_t k = 0; k < 3; ++k) {
      const double multiple = double(points.positions[i][int(k)]) / double(points.resolution);
      q.positions[i][k] = std::isfinite(multiple)
                              ? int32_t(std::lround(std::clamp(multiple, -kLargest, kLargest)))
                              : kNotFinite;
    }
  q.fields = points.fields;
  const size_t count = pointCount(points);
  for (PointField& field : q.fields) {
    if (field.components == 0 || field.components > kMostComponents ||
        field.values.size() != field.components * count)
      throw Error(ErrorKind::Usage, fmt::format("field '{}' does not fit the {} points of body {}",
                                                field.name, count, points.body));
    const bool wide = isWide(field);
    for (float& value : field.values)
      if (!wide || !std::isfinite(value)) value = floatFromHalf(halfFromFloat(value));
  }
  return q;
}

BodyPoints restore(const QuantisedPoints& q) {
  BodyPoints points;
  points.body = q.body;
  points.resolution = q.resolution;
  points.radius = q.radius;
  points.positions.resize(q.positions.size());
  for (size_t i = 0; i < q.positions.size(); ++i)
    for (size_t k = 0; k < 3; ++k)
      points.positions[i][int(k)] = q.positions[i][k] == kNotFinite
                                        ? std::numeric_limits<float>::quiet_NaN()
                                        : float(double(q.positions[i][k]) * double(q.resolution));
  points.fields = q.fields;
  return points;
}

void encodePoints(ByteWriter& out, const QuantisedPoints* previous, const QuantisedPoints& now) {
  if (previous && !comparable(*previous, now)) previous = nullptr;
  const size_t count = now.positions.size();
  out.u32(now.body);
  out.f32(now.resolution);
  out.f32(now.radius);
  out.u32(uint32_t(count));
  out.u8(previous != nullptr);
  std::string planes(kPointPlanes * count, '\0');
  for (size_t i = 0; i < count; ++i) {
    const std::array<int32_t, 3> from = reference(previous, now.positions, i);
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t d = zigzag(uint32_t(now.positions[i][k]) - uint32_t(from[k]));
      for (size_t byte = 0; byte < 4; ++byte) planes[(4 * k + byte) * count + i] = char(d >> 8 * byte & 255);
    }
  }
  out.string(planes);
  putFields(out, now.fields);
}

void encodeVertexFields(ByteWriter& out, const QuantisedPoints& now) {
  out.u32(now.body);
  out.f32(now.resolution);
  out.f32(now.radius);
  out.u32(uint32_t(now.fields.front().values.size() / now.fields.front().components));
  putFields(out, now.fields);
}

void decodePoints(ByteReader& in, bool key, size_t bodyLimit, std::vector<QuantisedPoints>& known) {
  QuantisedPoints now = getHead(in, bodyLimit);
  const uint32_t count = in.u32("number of points");
  const bool follows = in.u8("kind of points") != 0;
  const QuantisedPoints* before = pointsOf(known, now.body);
  if (follows && (key || !before || !comparable(*before, now)))
    in.fail("points build on a frame that does not have them");
  const QuantisedPoints* previous = follows ? before : nullptr;
  in.need(count, kPointPlanes, "points");
  const auto planes = in.bytes(kPointPlanes * count, "points");
  now.positions.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const std::array<int32_t, 3> from = reference(previous, now.positions, i);
    for (size_t k = 0; k < 3; ++k) {
      uint32_t d = 0;
      for (size_t byte = 0; byte < 4; ++byte) d |= uint32_t(planes[(4 * k + byte) * count + i]) << 8 * byte;
      now.positions[i][k] = int32_t(uint32_t(from[k]) + unzigzag(d));
    }
  }
  getFields(in, count, now.fields);
  replace(known, std::move(now));
}

void decodeVertexFields(ByteReader& in, size_t bodyLimit, std::vector<QuantisedPoints>& known) {
  QuantisedPoints now = getHead(in, bodyLimit);
  const uint32_t count = in.u32("number of vertices");
  getFields(in, count, now.fields);
  if (now.fields.empty() || count == 0) in.fail("vertices have no values");
  replace(known, std::move(now));
}

}  // namespace sunder::record
