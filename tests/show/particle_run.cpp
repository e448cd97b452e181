// particle_run FOLDER PARTICLES FRAMES: writes a run with a sheet that waves and particles that circle, for
// the tests of what shows them. There is no physics in it.
#include "sunder/record/run_writer.h"

#include "show/particle_sample.h"

#include <cstdlib>
#include <filesystem>

int main(int count, char** words) {
  if (count != 4) return 2;
  std::filesystem::create_directories(words[1]);
  sunder::show::writeParticleRun(std::filesystem::path(words[1]) / "run.sunder", size_t(std::atol(words[2])),
                                 uint64_t(std::atol(words[3])));
}
