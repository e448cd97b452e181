#include "sunder/record/frame_lists.h"

#include "sunder/record/payload.h"

namespace sunder::record {

namespace {

constexpr size_t kFrontPointSize = 53;  // bytes

bool isFinite(const FrontPoint& p) {
  return p.position.allFinite() && p.forward.allFinite() && p.normal.allFinite() && p.intensity.allFinite() &&
         std::isfinite(p.release);
}

}  // namespace

const char* name(FrontState state) {
  static constexpr std::array<const char*, 3> kNames{"growing", "arrested", "left"};
  return kNames[static_cast<size_t>(state)];
}

std::string encode(std::span<const Input> inputs) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(static_cast<uint32_t>(inputs.size()));
  for (const Input& input : inputs) {
    writer.u64(input.step);
    writer.u64(input.sequence);
    putName(writer, input.kind);
    putText(writer, input.data);
  }
  return out;
}

std::vector<Input> decodeInputs(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  const uint32_t count = in.u32("number of inputs");
  in.need(count, 24, "inputs");
  std::vector<Input> inputs(count);
  for (uint32_t i = 0; i < count; ++i) {
    Input& input = inputs[i];
    input.step = in.u64("step of an input");
    input.sequence = in.u64("number of an input");
    input.kind = getName(in, "kind of an input");
    input.data = getText(in, "values of an input");
    if (i > 0 && (input.sequence <= inputs[i - 1].sequence || input.step < inputs[i - 1].step))
      in.fail("inputs are not in order");
  }
  return inputs;
}

std::string encode(std::span<const CrackFront> fronts) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(static_cast<uint32_t>(fronts.size()));
  for (const CrackFront& front : fronts) {
    writer.u32(front.body);
    writer.u32(front.crack);
    writer.u8(front.closed);
    writer.u32(static_cast<uint32_t>(front.points.size()));
    for (const FrontPoint& point : front.points) {
      if (!isFinite(point))
        throw Error(ErrorKind::Usage,
                    fmt::format("the front of crack {} of body {} has a point that is not finite",
                                front.crack, front.body));
      putVector(writer, point.position);
      putVector(writer, point.forward);
      putVector(writer, point.normal);
      putVector(writer, point.intensity);
      writer.f32(point.release);
      writer.u8(static_cast<uint8_t>(point.state));
    }
  }
  return out;
}

std::vector<CrackFront> decodeFronts(std::string_view payload, size_t bodyLimit, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  const uint32_t count = in.u32("number of crack fronts");
  in.need(count, 13, "crack fronts");
  std::vector<CrackFront> fronts(count);
  for (CrackFront& front : fronts) {
    front.body = in.u32("body of a crack front");
    if (front.body >= bodyLimit)
      in.fail(fmt::format("a crack front refers to body {}, but there are only {}", front.body, bodyLimit));
    front.crack = in.u32("number of a crack");
    front.closed = in.u8("kind of crack front") != 0;
    const uint32_t points = in.u32("number of points");
    in.need(points, kFrontPointSize, "points of a crack front");
    front.points.resize(points);
    for (FrontPoint& point : front.points) {
      point.position = getFiniteVector(in, "position of a crack front");
      point.forward = getFiniteVector(in, "direction of a crack front");
      point.normal = getFiniteVector(in, "normal of a crack front");
      point.intensity = getFiniteVector(in, "stress intensity of a crack front");
      point.release = getFinite(in, "energy release rate of a crack front");
      point.state = getKind(in, FrontState::Left, "state of a crack front");
    }
  }
  return fronts;
}

}  // namespace sunder::record
