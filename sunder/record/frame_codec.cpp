#include "sunder/record/frame_codec.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/record/zigzag.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/core.h>

namespace sunder::record {

namespace {

enum Section : uint16_t {
  kPoses = 1,
  kRemoved = 2,
  kField = 3,
  kPoints = 4,
  kPointsGone = 5,
  kVertexFields = 6
};

constexpr uint32_t kComponentMask = (1u << 20) - 1;
constexpr float kComponentRange = 0.70710678f;  // the largest a component can be that is not the largest
constexpr size_t kPosePlanes = 3 * 4 + 3 * 3 + 6 * 2 + 1;

// Whole numbers in the order of the floats, so that near floats have near numbers.
uint32_t ordered(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
float unordered(uint32_t number) {
  return std::bit_cast<float>(number & 0x80000000u ? number & 0x7fffffffu : ~number);
}

uint32_t zigzag20(uint32_t difference) {
  difference &= kComponentMask;
  return ((difference << 1) ^ (0u - (difference >> 19))) & kComponentMask;
}
uint32_t unzigzag20(uint32_t number) { return ((number >> 1) ^ (0u - (number & 1))) & kComponentMask; }

// The bytes of one body, plane by plane: plane p of body i is at p * count + i.
struct Planes {
  char* at;
  size_t count;
  void put(size_t plane, size_t i, uint32_t byte) const { at[plane * count + i] = static_cast<char>(byte); }
};

void putBody(const Planes& out, size_t i, const QuantisedState& now, const QuantisedState& last) {
  size_t plane = 0;
  for (size_t k = 0; k < 3; ++k) {
    const uint32_t d = zigzag<uint32_t>(now.position[k] - last.position[k]);
    for (int shift = 0; shift < 32; shift += 8) out.put(plane++, i, d >> shift & 255);
  }
  for (size_t k = 0; k < 3; ++k) {
    const uint32_t d = zigzag20(now.rotation[k] - last.rotation[k]);
    for (int shift = 0; shift < 24; shift += 8) out.put(plane++, i, d >> shift & 255);
  }
  for (size_t k = 0; k < 6; ++k) {
    const auto d = zigzag<uint16_t>(static_cast<uint16_t>(now.velocity[k] - last.velocity[k]));
    out.put(plane++, i, d & 255);
    out.put(plane++, i, uint32_t(d) >> 8);
  }
  out.put(plane, i, now.rotation[0] >> 20);
}

QuantisedState getBody(std::string_view planes, size_t count, size_t i, const QuantisedState& last) {
  size_t plane = 0;
  const auto next = [&] { return uint32_t(uint8_t(planes[plane++ * count + i])); };
  QuantisedState now;
  for (size_t k = 0; k < 3; ++k) {
    uint32_t d = 0;
    for (int shift = 0; shift < 32; shift += 8) d |= next() << shift;
    now.position[k] = last.position[k] + unzigzag(d);
  }
  for (size_t k = 0; k < 3; ++k) {
    uint32_t d = 0;
    for (int shift = 0; shift < 24; shift += 8) d |= next() << shift;
    now.rotation[k] = (last.rotation[k] + unzigzag20(d)) & kComponentMask;
  }
  for (size_t k = 0; k < 6; ++k) {
    const auto low = next();
    const auto d = static_cast<uint16_t>(low | next() << 8);
    now.velocity[k] = static_cast<uint16_t>(last.velocity[k] + unzigzag(d));
  }
  now.rotation[0] |= (next() & 3) << 20;
  now.present = true;
  return now;
}

template <class Write>
void section(ByteWriter& out, Section number, Write&& write) {
  out.u16(number);
  const size_t lengthAt = out.size();
  out.u64(0);
  const size_t start = out.size();
  write();
  out.overwrite<uint64_t>(lengthAt, out.size() - start);
}

// Ascending indices as the steps between them.
void putIndices(ByteWriter& out, const std::vector<uint32_t>& indices) {
  uint32_t last = 0;
  for (const uint32_t i : indices) {
    out.u32(i - last);
    last = i;
  }
}

std::vector<uint32_t> getIndices(ByteReader& in, uint32_t count, size_t bodyLimit) {
  in.need(count, 4, "body indices");
  std::vector<uint32_t> indices(count);
  uint64_t last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t step = in.u32("body index");
    last += step;
    if (last >= bodyLimit || (i > 0 && step == 0))
      in.fail(fmt::format("a frame refers to body {}, but there are only {}", last, bodyLimit));
    indices[i] = static_cast<uint32_t>(last);
  }
  return indices;
}

void decodePoses(ByteReader& in, bool key, size_t bodyLimit, std::vector<QuantisedState>& states) {
  const uint32_t count = in.u32("number of bodies");
  const auto indices = getIndices(in, count, bodyLimit);
  in.need(count, kPosePlanes, "poses");
  const auto bytes = in.bytes(count * kPosePlanes, "poses");
  const std::string_view planes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!indices.empty() && states.size() <= indices.back()) states.resize(indices.back() + 1);
  static const QuantisedState kNone;
  for (uint32_t i = 0; i < count; ++i) {
    QuantisedState& state = states[indices[i]];
    state = getBody(planes, count, i, key || !state.present ? kNone : state);
  }
}

}  // namespace

const char* name(BodyKind kind) {
  static constexpr std::array<const char*, 6> kNames{"static",     "kinematic", "dynamic",
                                                     "deformable", "particles", "fluid"};
  return kNames[static_cast<size_t>(kind)];
}

const char* name(EventKind kind) {
  static constexpr std::array<const char*, 6> kNames{"contact",     "birth",    "death",
                                                     "joint break", "fracture", "cut"};
  return kNames[static_cast<size_t>(kind)];
}

const char* name(EndKind kind) {
  static constexpr std::array<const char*, 3> kNames{"finished", "stopped", "diverged"};
  return kNames[static_cast<size_t>(kind)];
}

uint16_t halfFromFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const float size = std::abs(value);
  if (!(size < 65504.0f)) return static_cast<uint16_t>(sign | 0x7bffu);
  if (size < 0x1p-14f) return static_cast<uint16_t>(sign | uint32_t(std::lrint(size * 0x1p24f)));
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
}

float floatFromHalf(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 31u, mantissa = half & 1023u;
  if (exponent == 0) {
    const float size = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -size : size;
  }
  return std::bit_cast<float>(sign | (exponent + 112u) << 23 | mantissa << 13);
}

QuantisedState quantise(const BodyState& state) {
  QuantisedState q;
  if (!state.present) return q;
  q.present = true;
  for (int k = 0; k < 3; ++k) q.position[size_t(k)] = ordered(state.position[k]);
  const Eigen::Vector4f c = state.rotation.coeffs();
  int largest = 0;
  for (int k = 1; k < 4; ++k)
    if (std::abs(c[k]) > std::abs(c[largest])) largest = k;
  const float sign = c[largest] < 0 ? -1.0f : 1.0f;
  size_t slot = 0;
  for (int k = 0; k < 4; ++k) {
    if (k == largest) continue;
    const float unit = (sign * c[k] / kComponentRange + 1) / 2;
    q.rotation[slot++] =
        static_cast<uint32_t>(std::lrint(std::clamp(unit, 0.0f, 1.0f) * static_cast<float>(kComponentMask)));
  }
  q.rotation[0] |= uint32_t(largest) << 20;
  for (int k = 0; k < 3; ++k) {
    q.velocity[size_t(k)] = halfFromFloat(state.velocity[k]);
    q.velocity[size_t(k) + 3] = halfFromFloat(state.angularVelocity[k]);
  }
  return q;
}

BodyState restore(const QuantisedState& q) {
  BodyState state;
  if (!q.present) return state;
  state.present = true;
  for (int k = 0; k < 3; ++k) state.position[k] = unordered(q.position[size_t(k)]);
  const auto largest = static_cast<int>(q.rotation[0] >> 20 & 3);
  Eigen::Vector4f c;
  float rest = 1;
  size_t slot = 0;
  for (int k = 0; k < 4; ++k) {
    if (k == largest) continue;
    const auto number = static_cast<float>(q.rotation[slot++] & kComponentMask);
    c[k] = (2 * number / static_cast<float>(kComponentMask) - 1) * kComponentRange;
    rest -= c[k] * c[k];
  }
  c[largest] = std::sqrt(std::max(rest, 0.0f));
  state.rotation.coeffs() = c.normalized();
  for (int k = 0; k < 3; ++k) {
    state.velocity[k] = floatFromHalf(q.velocity[size_t(k)]);
    state.angularVelocity[k] = floatFromHalf(q.velocity[size_t(k) + 3]);
  }
  return state;
}

std::string encodeFrame(const QuantisedFrame& last, const QuantisedFrame& now, bool key) {
  const std::vector<QuantisedState>&previous = last.states, &current = now.states;
  static const QuantisedState kNone;
  const auto before = [&](size_t i) -> const QuantisedState& {
    return !key && i < previous.size() && previous[i].present ? previous[i] : kNone;
  };
  std::vector<uint32_t> changed, removed;
  for (size_t i = 0; i < current.size(); ++i) {
    if (current[i].present ? key || !(current[i] == before(i)) : before(i).present)
      (current[i].present ? changed : removed).push_back(static_cast<uint32_t>(i));
  }
  for (size_t i = current.size(); !key && i < previous.size(); ++i)
    if (previous[i].present) removed.push_back(static_cast<uint32_t>(i));

  std::string out;
  ByteWriter writer(out);
  section(writer, kPoses, [&] {
    writer.u32(static_cast<uint32_t>(changed.size()));
    putIndices(writer, changed);
    const size_t start = out.size();
    out.resize(start + changed.size() * kPosePlanes);
    const Planes planes{out.data() + start, changed.size()};
    for (size_t i = 0; i < changed.size(); ++i) putBody(planes, i, current[changed[i]], before(changed[i]));
  });
  if (!removed.empty())
    section(writer, kRemoved, [&] {
      writer.u32(static_cast<uint32_t>(removed.size()));
      putIndices(writer, removed);
    });
  for (const BodyField& field : now.fields)
    section(writer, kField, [&] {
      writer.u16(static_cast<uint16_t>(field.name.size()));
      writer.string(field.name);
      writer.u32(static_cast<uint32_t>(field.values.size()));
      writer.writeArray(std::span(field.values));
    });
  for (const QuantisedPoints& points : now.points) {
    const QuantisedPoints* old = key ? nullptr : pointsOf(last.points, points.body);
    if (old && *old == points) continue;
    if (points.positions.empty() && !points.fields.empty() && !points.fields.front().values.empty())
      section(writer, kVertexFields, [&] { encodeVertexFields(writer, points); });
    else
      section(writer, kPoints, [&] { encodePoints(writer, old, points); });
  }
  for (const QuantisedPoints& points : last.points)
    if (!key && !pointsOf(now.points, points.body))
      section(writer, kPointsGone, [&] { writer.u32(points.body); });
  return out;
}

void decodeFrame(std::string_view payload, bool key, size_t bodyLimit, QuantisedFrame& frame,
                 const std::string& fileName) {
  std::vector<QuantisedState>& states = frame.states;
  if (key) states.clear();
  if (key) frame.points.clear();
  frame.fields.clear();
  ByteReader in(std::as_bytes(std::span(payload.data(), payload.size())), fileName);
  while (!in.atEnd()) {
    const uint16_t number = in.u16("section");
    const uint64_t length = in.u64("section length");
    in.need(length, 1, "section");
    ByteReader part(in.bytes(length, "section"), fileName);
    if (number == kPoses) {
      decodePoses(part, key, bodyLimit, states);
    } else if (number == kRemoved) {
      for (const uint32_t i : getIndices(part, part.u32("number of bodies"), bodyLimit))
        if (i < states.size()) states[i] = {};
    } else if (number == kField) {
      BodyField field;
      field.name = part.string(part.u16("length of a name"), "name of a field");
      const uint32_t count = part.u32("number of values");
      part.need(count, 4, "values of a field");
      field.values.resize(count);
      part.readArray(std::span(field.values), "values of a field");
      frame.fields.push_back(std::move(field));
    } else if (number == kPoints) {
      decodePoints(part, key, bodyLimit, frame.points);
    } else if (number == kVertexFields) {
      decodeVertexFields(part, bodyLimit, frame.points);
    } else if (number == kPointsGone) {
      const uint32_t body = part.u32("body without points");
      std::erase_if(frame.points, [&](const QuantisedPoints& p) { return p.body == body; });
    }
  }
}

}  // namespace sunder::record
