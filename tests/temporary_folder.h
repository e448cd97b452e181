// A folder of its own for one test, gone with it. Tests run side by side, so no test may write to a name
// another one could choose as well: rules/rooms.py refuses temp_directory_path() anywhere else.
#pragma once

#include "sunder/base/error.h"

#include <filesystem>
#include <string>

#include <stdlib.h>

namespace sunder {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sunder-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw Error(ErrorKind::Write, "no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace sunder
