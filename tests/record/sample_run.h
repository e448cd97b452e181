// Small runs with known content, for the tests of the run file.
#pragma once

#include "sunder/record/run_reader.h"
#include "sunder/record/run_writer.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace sunder::record {

inline MeshEntry sampleMesh() {
  return {"tetrahedron",
          {Vec3f(0, 0, 0), Vec3f(1, 0, 0), Vec3f(0, 1, 0), Vec3f(0, 0, 1)},
          {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}},
          {{0, 1, 2, 3}},
          {0, 0, 1, 0}};
}

// Body b in frame f: every third rests, the last is born in frame 4 and gone in frame 9.
inline BodyState sampleState(uint64_t frame, uint32_t body, uint32_t bodies) {
  BodyState state;
  if (body + 1 == bodies && (frame < 4 || frame >= 9)) return state;
  state.present = true;
  const double t = body % 3 == 0 ? 0.0 : static_cast<double>(frame) / 60.0, phase = 0.7 * body;
  state.position = Vec3f(float(std::sin(3 * t + phase)), float(1 - 4.9 * t * t), float(0.01 * body - 100));
  state.rotation = Quatf(Eigen::AngleAxisf(float(2 * t + phase), Vec3f(1, 2, 3).normalized()));
  state.velocity = Vec3f(float(3 * std::cos(3 * t + phase)), float(-9.81 * t), 0);
  state.angularVelocity = 2 * Vec3f(1, 2, 3).normalized();
  return state;
}

inline std::vector<BodyState> sampleStates(uint64_t frame, uint32_t bodies) {
  std::vector<BodyState> states;
  for (uint32_t b = 0; b < bodies; ++b) states.push_back(sampleState(frame, b, bodies));
  return states;
}

inline std::vector<Statistic> sampleStatistics(uint64_t frame) {
  return {{"energy", 100.0 / static_cast<double>(frame + 1)}, {"contacts", static_cast<double>(frame % 7)}};
}

inline std::vector<Event> sampleEvents(uint64_t frame) {
  if (frame % 5 != 2) return {};
  return {{EventKind::Contact, 0, 1, Vec3f(1, 2, 3), Vec3f(0, 1, 0), float(frame), 0.5f, ""},
          {EventKind::JointBreak, 1, kNoIndex, Vec3f::Zero(), Vec3f::Zero(), 0, 0, "hinge"}};
}

inline Checkpoint sampleCheckpoint(uint64_t frame) {
  return {frame, 1000 + frame, "state of frame " + std::to_string(frame) + std::string(100, 'x')};
}

inline RunInfo sampleInfo() { return {"sunder test", "sample", "{\"world\": {}}", 60}; }

inline void writeFrames(RunWriter& writer, uint64_t from, uint64_t to, uint32_t bodies) {
  for (uint64_t f = from; f < to; ++f) {
    const auto states = sampleStates(f, bodies);
    const auto statistics = sampleStatistics(f);
    const auto events = sampleEvents(f);
    const std::vector<BodyField> fields{{"impulse", {float(f), 1}}};
    writer.frame(f, double(f) / 60, states, fields, statistics, events);
    if (f % 4 == 0) writer.checkpoint(sampleCheckpoint(f), double(f) / 60);
  }
}

inline void writeSample(const std::filesystem::path& path, uint64_t frames, uint32_t bodies,
                        bool finish = true, uint32_t keyInterval = 5) {
  RunWriter writer(path, sampleInfo());
  writer.setKeyInterval(keyInterval);
  writer.addMesh(sampleMesh());
  for (uint32_t b = 0; b < bodies; ++b)
    writer.addBody({"body[" + std::to_string(b) + "]", kNoIndex, "glass", 0, 1.5 * b, BodyKind::Dynamic, 0});
  writeFrames(writer, 0, frames, bodies);
  if (finish) writer.finish({EndKind::Finished, "", 77, "{}"});
}

inline std::string fileBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void writeBytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline void putByte(const std::filesystem::path& path, size_t at, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

}  // namespace sunder::record
