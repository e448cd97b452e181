// soft_run FOLDER [CELLS HALVINGS]: writes a run of a ball in a cage that twists and tears
// (record/soft_run.h), for the tests of the page. There is no physics in it.
#include "record/soft_run.h"

#include <cstdlib>
#include <filesystem>

int main(int count, char** words) {
  if (count != 2 && count != 4) return 2;
  std::filesystem::create_directories(words[1]);
  sunder::record::SoftSettings settings;
  if (count == 4) {
    settings.cells = uint32_t(std::atoi(words[2]));
    settings.halvings = uint32_t(std::atoi(words[3]));
  }
  sunder::record::writeSoft(std::filesystem::path(words[1]) / "run.sunder", settings);
}
