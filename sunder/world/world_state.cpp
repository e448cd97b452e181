// The state of a world as bytes: the clock, the ledger, the table of bodies, what parts left for each other,
// inputs that wait, then the parts, each under its name.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/world.h"

#include <cmath>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr uint32_t kStateVersion = 5;
constexpr uint64_t kMostFrames = uint64_t(1) << 40;  // of a state: clocks and counts stay exact

void writeText(ByteWriter& out, std::string_view text) {
  out.u32(static_cast<uint32_t>(text.size()));
  out.string(text);
}

std::string readText(ByteReader& in, const char* what) {
  return std::string(in.string(in.u32("length"), what));
}

void saveInputs(ByteWriter& out, const std::deque<Input>& inputs) {
  out.u32(static_cast<uint32_t>(inputs.size()));
  for (const Input& input : inputs) {
    out.u64(input.step);
    writeText(out, input.part);
    writeText(out, input.what);
    out.u32(input.body);
    out.u32(static_cast<uint32_t>(input.values.size()));
    for (const double value : input.values) out.f64(value);
  }
}

}  // namespace

std::string World::save() const {
  std::string state;
  ByteWriter out(state);
  out.u32(kStateVersion);
  out.u64(identityOfScene(scene_));
  out.u64(frame_);
  ledger_.save(out);
  table_.save(out);
  exchange_.save(out);
  out.u64(nextInput_);
  saveInputs(out, inputs_);
  out.u32(static_cast<uint32_t>(parts_.size()));
  for (const auto& part : parts_) {
    writeText(out, part->name());
    part->save(out);
  }
  return state;
}

void World::loadInputs(ByteReader& in) {
  const uint64_t next = in.u64("number of the next input");
  const uint32_t count = in.u32("number of inputs");
  in.need(count, 24, "inputs");
  inputs_.clear();
  applied_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    Input input;
    input.step = in.u64("step of an input");
    input.part = readText(in, "part of an input");
    input.what = readText(in, "input");
    input.body = in.u32("body of an input");
    const uint32_t values = in.u32("number of values");
    in.need(values, 8, "values of an input");
    input.values.resize(values);
    for (double& value : input.values) value = in.boundedF64("value of an input");
    if (!inputs_.empty() && input.step < inputs_.back().step) in.fail("inputs are out of order");
    try {
      this->input(std::move(input));
    } catch (const Error& error) {
      in.fail(error.message());
    }
  }
  nextInput_ = next;
}

void World::load(std::string_view state, const std::string& fileName) {
  ByteReader in(std::as_bytes(std::span(state.data(), state.size())), fileName);
  if (in.u32("version of the state") != kStateVersion)
    throw Error(ErrorKind::Unsupported, "the checkpoint is of another version of the program")
        .inFile(fileName);
  if (in.u64("hash of the scene") != identityOfScene(scene_))
    throw Error(ErrorKind::Format, "the checkpoint is of another scene: bodies, shapes or joints differ")
        .inFile(fileName);
  const uint64_t frame = in.u64("frame");
  if (frame > kMostFrames) in.fail(fmt::format("the state is of frame {}", frame));
  Ledger ledger;
  ledger.load(in);
  table_ = startTable_;
  table_.load(in, static_cast<uint32_t>(parts_.size()), frame);
  exchange_.clearContacts();
  exchange_.load(in, table_.size());
  frame_ = frame;
  loadInputs(in);
  if (in.u32("number of parts") != parts_.size()) in.fail("the state has other parts than the scene");
  for (uint32_t p = 0; p < parts_.size(); ++p) {
    if (readText(in, "name of a part") != parts_[p]->name())
      in.fail("the parts of the state are not those of the scene");
    StepContext context = contextOf(p, step(), frame_);
    parts_[p]->load(in, context);
  }
  if (!in.atEnd()) in.fail(fmt::format("{} bytes more than the state of the scene", in.remaining()));
  ledger_ = std::move(ledger);
  events_.clear();
  meshChanges_.clear();
  changes_.clear();
}

bool World::savedByThisVersion(std::string_view state) {
  ByteReader in(std::as_bytes(std::span(state.data(), state.size())), "");
  return state.size() >= 4 && in.u32("version of the state") == kStateVersion;
}

// Not what was counted to be reported, nor the table, which follows from the parts: neither changes what
// comes. Nor inputs that wait: a replay is given them as late as they act.
uint64_t World::hash() const {
  Hasher hasher;
  hasher.update(frame_);
  for (const auto& part : parts_) part->hash(hasher);
  if (exchange_.wanted()) exchange_.hash(hasher);
  return hasher.digest();
}

}  // namespace sunder::world
