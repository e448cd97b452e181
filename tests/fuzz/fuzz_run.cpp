// The reader of run files on random bytes: it may open or throw sunder::Error, and every item it offers may
// be read or throw.
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
    Frame frame;
    for (size_t i = 0; i < run.frameCount(); ++i) {
      require(i == 0 || run.frameNumber(i) > run.frameNumber(i - 1));
      fuzzAttempt([&] {
        run.readFrame(i, frame);
        require(frame.bodies.size() <= run.bodies().size());
        for (const BodyPoints& points : frame.points) require(points.body < frame.bodies.size());
      });
    }
    for (size_t i = 0; i < run.checkpointCount(); ++i) fuzzAttempt([&] { run.checkpoint(i); });
    run.lastGoodCheckpoint();
    findLosses(run).names();
    fuzzAttempt([&] { run.resumePoint(); });
    for (const RunReader::Resumed& resumed : run.resumed())
      fuzzAttempt([&] { RunReader(path, resumed.epochAt).verify(); });
    require(!run.refresh());
  });
  return 0;
}
