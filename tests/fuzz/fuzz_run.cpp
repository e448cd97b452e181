// The reader of run files on random bytes: it may open or throw sunder::Error, and every item it offers may
// be read or throw.
#include "sunder/record/body_meshes.h"
#include "sunder/record/losses.h"
#include "sunder/record/run_reader.h"

#include "fuzz_run_file.h"

using namespace sunder::record;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string& path = fuzzRunFile(data, size);
  fuzzAttempt([&] {
    RunReader run(path);
    require(run.bodies().size() <= run.fileSize() && run.meshCount() <= run.fileSize());
    require(run.changeCount() <= run.fileSize() && run.embeddingCount() <= run.fileSize());
    Frame frame;
    BodyMeshes meshes(run);
    for (size_t i = 0; i < run.frameCount(); ++i) {
      require(i == 0 || run.frameNumber(i) > run.frameNumber(i - 1));
      fuzzAttempt([&] {
        run.readFrame(i, frame);
        require(frame.bodies.size() <= run.bodies().size());
        for (const BodyPoints& points : frame.points) require(points.body < frame.bodies.size());
        for (uint32_t b = 0; b < frame.bodies.size(); ++b)
          fuzzAttempt([&] {
            const BodyShape shape = meshes.shape(frame, i, b);
            const size_t vertices = shape.mesh->positions.size();
            require(shape.positions.empty() || shape.positions.size() == vertices);
            for (const auto& t : shape.mesh->triangles)
              for (const uint32_t v : t) require(v < vertices);
            for (const PointField& field : shape.fields)
              require(field.values.size() == field.components * vertices);
          });
      });
      fuzzAttempt([&] { run.inputs(i); });
      fuzzAttempt([&] {
        for (const CrackFront& front : run.fronts(i)) require(front.body < run.bodies().size());
      });
    }
    for (size_t i = 0; i < run.checkpointCount(); ++i) fuzzAttempt([&] { run.checkpoint(i); });
    run.lastGoodCheckpoint();
    findLosses(run).names();
    fuzzAttempt([&] { run.resumePoint(); });
    run.branches();
    for (const RunReader::Resumed& resumed : run.resumed())
      fuzzAttempt([&] { RunReader(path, resumed.epochAt).verify(); });
    require(!run.refresh());
  });
  return 0;
}
