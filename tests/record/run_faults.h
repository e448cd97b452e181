// A run with births, a disk that fails as asked, and everything a recording holds as one text: for tests that
// break recordings and resume them.
#pragma once

#include "sunder/base/bytes.h"
#include "sunder/base/random.h"

#include "record/sample_run.h"

#include <cerrno>
#include <functional>
#include <memory>

#include <fmt/format.h>

namespace sunder::record {

inline constexpr uint64_t kBirthFrames = 15;

// Pieces are born in the frames 2, 6, 7, 10 and 13; checkpoints come in the frames 0, 4, 8 and 12.
inline uint32_t bodiesAt(uint64_t frame) {
  uint32_t count = 3;
  for (const uint64_t birth : {2u, 6u, 7u, 10u, 13u}) count += frame >= birth;
  return count;
}

inline MeshEntry birthMesh(uint32_t index) {
  MeshEntry mesh = sampleMesh();
  mesh.name = fmt::format("piece {}", index);
  for (Vec3f& p : mesh.positions) p *= float(1 + index);
  return mesh;
}

// As the runner does: what the writer does not have yet, then the frame.
inline void writeBirths(RunWriter& writer, uint64_t from, uint64_t to) {
  writer.setKeyInterval(5);
  for (uint64_t f = from; f < to; ++f) {
    const uint32_t bodies = bodiesAt(f);
    while (writer.meshCount() < bodies) writer.addMesh(birthMesh(writer.meshCount()));
    while (writer.bodyCount() < bodies) {
      const uint32_t b = writer.bodyCount();
      writer.addBody({fmt::format("body[{}]", b), b < 3 ? kNoIndex : b - 3, "glass", b, 1.0 + b,
                      b == 1 ? BodyKind::Fluid : BodyKind::Dynamic, f});
    }
    auto statistics = sampleStatistics(f);
    if (f >= 9) statistics.push_back({"late", double(f)});
    BodyPoints points;
    points.body = 1;
    points.radius = 0.01f;
    for (uint64_t i = 0; i < 5 + f % 3; ++i) points.positions.emplace_back(float(i), float(f), 0.5f);
    const std::vector<BodyField> fields{{"impulse", {float(f), 1}}};
    writer.frame(f, double(f) / 60, sampleStates(f, bodies), fields, statistics, sampleEvents(f),
                 std::span(&points, 1));
    if (f % 4 == 0) writer.checkpoint(sampleCheckpoint(f), double(f) / 60);
  }
}

inline void finishBirths(RunWriter& writer) { writer.finish({EndKind::Finished, "", 77, "{}"}); }

// A file in memory that notes what is not synced yet, and whose n-th operation fails.
class FaultyOutput final : public RunOutput {
 public:
  struct State {
    std::string bytes;                                   // as programs see it
    std::string synced;                                  // as it was at the last sync
    std::vector<std::pair<size_t, std::string>> writes;  // since
    size_t operations = 0;
    size_t failAt = SIZE_MAX;  // operation
    size_t keep = 0;           // bytes of a failing write that reach the file
    bool published = false;
  };
  explicit FaultyOutput(State& state) : state_(state) {}

  const std::filesystem::path& path() const override { return path_; }
  uint64_t size() const override { return state_.bytes.size(); }
  Written append(std::string_view bytes) override {
    const bool failing = state_.operations++ == state_.failAt;
    const size_t count = failing ? std::min(state_.keep, bytes.size()) : bytes.size();
    state_.writes.emplace_back(state_.bytes.size(), std::string(bytes.substr(0, count)));
    state_.bytes.append(bytes.substr(0, count));
    return {count, failing ? ENOSPC : 0};
  }
  // A disk that is full may as well fail here; what is left must do.
  int cut(uint64_t) override { return EIO; }
  int sync() override {
    if (state_.operations++ == state_.failAt) return EIO;
    state_.synced = state_.bytes;
    state_.writes.clear();
    return 0;
  }
  bool published() const override { return state_.published; }
  int publish() override {
    state_.published = true;
    return 0;
  }

 private:
  State& state_;
  std::filesystem::path path_ = "memory";
};

// All that can be read of a recording. Throws Error where something cannot.
inline std::string everything(const RunReader& run) {
  std::string out;
  ByteWriter writer(out);
  const auto text = [&](std::string_view t) {
    writer.u32(uint32_t(t.size()));
    writer.string(t);
  };
  text(run.info().program + run.info().sceneName + run.info().scene);
  writer.u64(run.bodies().size());
  for (size_t b = 0; b < run.bodies().size(); ++b) {
    const BodyEntry& body = run.bodies()[b];
    text(body.name);
    text(body.material);
    writer.u32(body.parent);
    writer.u32(body.mesh);
    writer.f64(body.mass);
    writer.u8(uint8_t(body.kind));
    writer.u64(body.born);
    writer.u8(run.bodyLost(b));
  }
  writer.u64(run.meshCount());
  for (size_t m = 0; m < run.meshCount(); ++m) {
    const MeshEntry mesh = run.mesh(m);
    text(mesh.name);
    for (const Vec3f& p : mesh.positions)
      for (int k = 0; k < 3; ++k) writer.f32(p[k]);
    for (const auto& t : mesh.triangles) writer.writeArray(std::span<const uint32_t>(t));
    for (const auto& t : mesh.tets) writer.writeArray(std::span<const uint32_t>(t));
    writer.writeArray(std::span(mesh.interior));
  }
  writer.u64(run.frameCount());
  Frame frame;
  for (size_t i = 0; i < run.frameCount(); ++i) {
    run.readFrame(i, frame);
    writer.u64(frame.number);
    writer.f64(frame.time);
    writer.u64(frame.bodies.size());
    for (const BodyState& s : frame.bodies) {
      writer.u8(s.present);
      for (const Vec3f& v : {s.position, s.velocity, s.angularVelocity})
        for (int k = 0; k < 3; ++k) writer.f32(v[k]);
      for (int k = 0; k < 4; ++k) writer.f32(s.rotation.coeffs()[k]);
    }
    for (const BodyField& field : frame.fields) {
      text(field.name);
      writer.writeArray(std::span(field.values));
    }
    for (const BodyPoints& points : frame.points) {
      writer.u32(points.body);
      for (const Vec3f& p : points.positions)
        for (int k = 0; k < 3; ++k) writer.f32(p[k]);
    }
    for (const Event& e : run.events(i)) {
      writer.u8(uint8_t(e.kind));
      writer.u32(e.a);
      writer.u32(e.b);
      writer.f32(e.impulse);
      text(e.text);
    }
    for (const Statistic& s : run.statistics(i)) {
      text(s.name);
      writer.f64(s.value);
    }
  }
  if (run.end()) {
    text(run.end()->message + run.end()->report);
    writer.u64(run.end()->hash);
  }
  return out;
}

}  // namespace sunder::record
