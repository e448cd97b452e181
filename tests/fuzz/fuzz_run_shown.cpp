// What shows recordings, on run files of random bytes: exports, pictures and the data of the page. They may
// refuse, with sunder::Error.
#include "sunder/show/export/export.h"
#include "sunder/show/picture/run_pictures.h"
#include "sunder/show/view/view_data.h"

#include "../temporary_folder.h"
#include "fuzz_run_file.h"

#include <algorithm>
#include <numeric>

using namespace sunder;
using namespace sunder::show;
using record::fuzzAttempt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMostFrames = 8;
  const std::string& path = record::fuzzRunFile(data, size);
  const TemporaryFolder folder;
  fuzzAttempt([&] {
    const record::RunReader run(path);
    std::vector<size_t> frames(std::min(run.frameCount(), kMostFrames));
    std::iota(frames.begin(), frames.end(), size_t(0));
    const ExportFormatInfo& format = exportFormats()[size % (exportFormats().size() - 1)];
    fuzzAttempt([&] { exportRun(run, format.format, {.output = folder / format.name, .frames = frames}); });
    fuzzAttempt([&] {
      RunPictures pictures(run);
      for (const size_t f : frames)
        fuzzAttempt([&] {
          pictures.render(pictures.shot(f, {.particles = true}), {.width = 8, .height = 6, .samples = 1});
        });
    });
  });
  fuzzAttempt([&] {
    ViewData view(path);
    view.info();
    for (size_t f = 0; f < std::min(view.frameCount(), kMostFrames); ++f) {
      view.frames(f, f);
      view.events(f);
      view.points(f);
      view.fronts(f);
      for (size_t b = 0; b < 4; ++b)
        for (size_t v = 0; v < 2; ++v) fuzzAttempt([&] { view.shape(b, v); });
    }
  });
  return 0;
}
