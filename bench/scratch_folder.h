// A folder for files that a benchmark writes; gone with all its content when the object is.
#pragma once

#include "sunder/base/error.h"

#include <filesystem>
#include <string>

#include <stdlib.h>

namespace sunder::bench {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sunder-bench-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw Error(ErrorKind::Write, "no temporary folder for the benchmark");
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace sunder::bench
