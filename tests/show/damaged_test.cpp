#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/record/losses.h"
#include "sunder/record/repair.h"
#include "sunder/show/export/export.h"
#include "sunder/show/picture/run_pictures.h"
#include "sunder/show/readable.h"
#include "sunder/show/view/view_data.h"

#include "record/rehash.h"
#include "show/export_sample.h"
#include "show/particle_sample.h"
#include "temporary_folder.h"

#include <numeric>

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

template <class Call>
void attempt(Call&& call) {
  try {
    call();
  } catch (const Error&) {
  }
}

// Everything that reads a recording, on one that has the right hashes and the wrong content. It may refuse;
// it may not read beyond what is there (the address sanitizer sees that), nor take memory or time without
// end.
void useAll(const std::filesystem::path& path, const std::filesystem::path& folder, uint64_t seed) {
  attempt([&] { record::findLosses(record::RunReader(path)); });
  attempt([&] { record::RunReader(path).resumePoint(); });
  attempt([&] {
    const record::RunReader run(path);
    std::vector<size_t> frames(run.frameCount());
    std::iota(frames.begin(), frames.end(), size_t(0));
    const auto& format = exportFormats()[seed % (exportFormats().size() - 1)];  // the page comes below
    attempt([&] { exportRun(run, format.format, {.output = folder / format.name, .frames = frames}); });
    attempt([&] {
      exportRun(run, ExportFormat::Ply,
                {.output = folder / "surface", .frames = frames, .liquids = {.surfaces = true}});
    });
    attempt([&] {
      RunPictures pictures(run);
      for (const ColourBy by : {ColourBy::Material, ColourBy::Speed})
        attempt([&] {
          const Shot shot = pictures.shot(run.frameCount() - 1, {.colourBy = by});
          pictures.render(shot, {.width = 8, .height = 6, .samples = 1});
        });
    });
  });
  attempt([&] {
    ViewData data(path);
    data.info();
    const size_t count = data.frameCount();
    for (size_t f = 0; f < count; ++f) {
      attempt([&] { data.frames(f, f); });
      attempt([&] { data.events(f); });
      attempt([&] { data.points(f); });
    }
    for (size_t m = 0; m < 3; ++m) attempt([&] { data.mesh(m); });
  });
  attempt([&] { record::repairRun(path, folder / ("repaired" + std::to_string(seed))); });
}

void useDamaged(uint64_t rounds) {
  const TemporaryFolder folder;
  writeSampleRun(folder / "bodies.sunder");
  writeParticleRun(folder / "particles.sunder", 60, 6);
  for (uint64_t seed = 0; seed < rounds; ++seed)
    for (const char* name : {"bodies.sunder", "particles.sunder"}) {
      const record::RunReader run(folder / name);
      writeFile(folder / "bad.sunder", record::randomlyDamaged(run, seed, seed % 2 ? 4 : 20));
      useAll(folder / "bad.sunder", folder / "out", seed);
    }
}

TEST(Damaged, RehashedRecordingsHarmNobody) { useDamaged(12); }
TEST(Damaged, ARehashedRecordingHarmsNobody) { useDamaged(1); }
TEST(DamagedFull, RehashedRecordingsHarmNobody) { useDamaged(2000); }

}  // namespace
}  // namespace sunder::show
