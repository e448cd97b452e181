// A small run with everything that exports must carry: meshes that bodies share, glass, a fragment that is
// born and one that dies, fields, statistics, events and names with odd letters. And a scene whose vertices
// move by themselves.
#pragma once

#include "sunder/meshio/mesh_file.h"
#include "sunder/record/run_reader.h"
#include "sunder/record/run_writer.h"
#include "sunder/show/export/export.h"

#include "temporary_folder.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

namespace sunder::show {

inline constexpr size_t kSampleFrames = 12;
inline constexpr uint32_t kGround = 0, kBlock = 1, kVase = 2, kShard = 3, kTwin = 4;

inline record::MeshEntry boxMesh(const char* name, float size) {
  record::MeshEntry mesh;
  mesh.name = name;
  for (uint32_t i = 0; i < 8; ++i)
    mesh.positions.emplace_back(i & 1 ? size : -size, i & 2 ? size : -size, i & 4 ? size : -size);
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

inline record::MeshEntry tetMesh() {
  return {"shard",
          {Vec3f(0, 0, 0), Vec3f(0.3f, 0, 0), Vec3f(0, 0.2f, 0), Vec3f(0, 0, 0.25f)},
          {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}},
          {{0, 1, 2, 3}},
          {0, 0, 0, 1}};
}

// The vase is gone from frame 5 on, when its shard appears; the ground and the twin rest.
inline record::BodyState sampleState(uint32_t body, size_t frame) {
  record::BodyState state;
  state.present = body == kVase ? frame < 5 : body != kShard || frame >= 5;
  if (!state.present) return state;
  const float t = body == kBlock || body == kVase || body == kShard ? float(frame) / 60 : 0.0f;
  state.position = Vec3f(0.3f * float(body) + t, 1 - 4.9f * t * t + 0.1f * float(body), 0.01f * float(body));
  state.rotation =
      record::Quatf(Eigen::AngleAxisf(40 * t + 0.2f * float(body), Vec3f(1, 2, float(body)).normalized()));
  state.velocity = t > 0 ? Vec3f(1, -9.8f * t, 0) : Vec3f(0, 0, 0);
  state.angularVelocity = t > 0 ? Vec3f(0, 40, 0) : Vec3f(0, 0, 0);
  return state;
}

inline const char* const kSampleScene = R"({"materials": {
  "oak": {"colour": [0.4, 0.25, 0.1], "roughness": 0.6, "metallic": 0},
  "green glass": {"colour": [0.5, 0.9, 0.6], "roughness": 0.05, "transparency": 0.95, "refraction": 1.52},
  "steel": {"colour": [0.6, 0.6, 0.65], "roughness": 0.3, "metallic": 1}}})";

inline void writeSampleRun(const std::filesystem::path& path, size_t frames = kSampleFrames) {
  using record::BodyKind;
  record::RunWriter writer(path, {"sunder test", "sample", kSampleScene, 60});
  writer.addMesh(boxMesh("block", 0.1f));
  writer.addMesh(tetMesh());
  writer.addBody({"ground", kNoIndex, "steel", 0, 0, BodyKind::Static, 0});
  writer.addBody({"block[1]", kNoIndex, "oak", 0, 2.5, BodyKind::Dynamic, 0});
  writer.addBody({"vase, \"blue\"", kNoIndex, "green glass", 0, 1, BodyKind::Dynamic, 0});
  writer.addBody({"vase.shard", kVase, "green glass", 1, 0.5, BodyKind::Dynamic, 5});
  writer.addBody({"block[2]", kNoIndex, "oak", 0, 2.5, BodyKind::Dynamic, 0});
  for (size_t f = 0; f < frames; ++f) {
    std::vector<record::BodyState> states;
    for (uint32_t b = 0; b < 5; ++b) states.push_back(sampleState(b, f));
    const std::vector<record::BodyField> fields{{"impulse", {0, float(f), 2}}};
    const std::vector<record::Statistic> statistics{{"energy", 10.0 - double(f)},
                                                    {"contacts", double(f % 3)}};
    std::vector<record::Event> events;
    if (f == 5)
      events = {
          {record::EventKind::Birth, kShard, kVase, Vec3f(1, 2, 3), Vec3f(0, 1, 0), 0.5f, 2, "broke, badly"}};
    writer.frame(f, double(f) / 60, states, fields, statistics, events);
  }
  writer.finish({record::EndKind::Finished, "", 1, "{}"});
}

inline std::vector<size_t> allFrames(size_t count) {
  std::vector<size_t> frames(count);
  std::iota(frames.begin(), frames.end(), size_t(0));
  return frames;
}

// A sheet (body 0) that lifts and is cut in two triangles less in frame 2, a rigid block (body 1), a cloud of
// particles (body 2).
inline ExportScene deformingScene() {
  using record::BodyKind;
  ExportScene scene;
  scene.name = "sheet";
  scene.bodies = {{"sheet", kNoIndex, "cloth", 0, 1, BodyKind::Deformable, 0},
                  {"block", kNoIndex, "oak", 0, 1, BodyKind::Dynamic, 0},
                  {"water", kNoIndex, "water", kNoIndex, 1, BodyKind::Fluid, 0}};
  scene.meshes = {boxMesh("block", 0.5f)};
  scene.looks["oak"] = {.colour = {0.4f, 0.2f, 0.1f}};
  scene.frames = allFrames(4);
  scene.deforming = true;
  scene.readFrame = [](size_t f, ExportFrame& out) {
    out.state.number = f;
    out.state.time = double(f) / 60;
    out.state.bodies.assign(3, {});
    for (record::BodyState& s : out.state.bodies) s.present = true;
    out.state.bodies[1].position = Vec3f(0, 2, 0);
    out.state.bodies[2].position = Vec3f(0, 0, 1);
    FrameMesh sheet;
    const float lift = 0.1f * float(f);
    sheet.positions = {Vec3f(0, lift, 0), Vec3f(1, 0, 0), Vec3f(1, lift, 1), Vec3f(0, 0, 1)};
    sheet.triangles = {{0, 2, 1}, {0, 3, 2}};
    sheet.tets = {{0, 1, 2, 3}};
    if (f >= 2) sheet.triangles.pop_back();
    FrameMesh water;
    water.body = 2;
    for (int i = 0; i < 3; ++i) {
      water.positions.emplace_back(float(i), lift, 0);
      water.velocities.emplace_back(0, float(i), 6);
    }
    out.meshes = {sheet, water};
  };
  scene.statistics = [](size_t) { return std::vector<record::Statistic>(); };
  scene.events = [](size_t) { return std::vector<record::Event>(); };
  return scene;
}

// Where vertices of the sample run are, by another way than the exporters' own: matrices.
inline std::vector<Vec3> expectedVertices(const record::RunReader& run, size_t frame) {
  record::Frame state;
  run.readFrame(frame, state);
  std::vector<Vec3> all;
  for (size_t b = 0; b < state.bodies.size(); ++b) {
    if (!state.bodies[b].present) continue;
    const Mat3 turn = state.bodies[b].rotation.cast<double>().normalized().toRotationMatrix();
    for (const Vec3f& p : run.mesh(run.bodies()[b].mesh).positions)
      all.emplace_back(turn * p.cast<double>() + state.bodies[b].position.cast<double>());
  }
  return all;
}

inline std::string fileText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

struct ExportSample : testing::Test {
  ExportSample() { writeSampleRun(folder / "run.sunder"); }
  ExportResult exportAs(ExportFormat format, const std::string& name, std::vector<size_t> frames = {}) {
    if (frames.empty()) frames = allFrames(kSampleFrames);
    return exportRun(run(), format, {.output = folder / name, .frames = std::move(frames)});
  }
  const record::RunReader& run() {
    if (!reader) reader.emplace(folder / "run.sunder");
    return *reader;
  }
  TemporaryFolder folder;
  std::optional<record::RunReader> reader;
};

}  // namespace sunder::show
