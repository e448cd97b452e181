// changing_run FOLDER: writes a run of bodies whose shapes change (record/changing_run.h), for the tests of
// what shows them. There is no physics in it.
#include "record/changing_run.h"

#include <filesystem>

int main(int count, char** words) {
  if (count != 2) return 2;
  std::filesystem::create_directories(words[1]);
  sunder::record::writeChanging(std::filesystem::path(words[1]) / "run.sunder");
}
