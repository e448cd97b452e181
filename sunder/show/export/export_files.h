// The files of one export. Either all of them appear or none: a folder's files gather in a folder beside it
// and move into place with finish(); one file is written under another name and renamed. Where the object
// goes away before finish(), what was written and every folder that was made for it is taken away.
//
//   ExportFiles files("out/pile/export/vtk", ExportFiles::Folder);
//   files.write("frame_0000.vtp", [&](OutputFile& out) { ... });
//   files.finish();
#pragma once

#include "sunder/base/file.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sunder::show {

class ExportFiles {
 public:
  enum Shape { File, Folder };

  // Makes the folders that are missing. Throws Error (Usage, Write) where that cannot be.
  ExportFiles(std::filesystem::path target, Shape shape);
  ~ExportFiles();
  ExportFiles(const ExportFiles&) = delete;
  ExportFiles& operator=(const ExportFiles&) = delete;

  // `name` is a file's name in the folder; of the single file it is not used. Throws Error (Write) for a full
  // disk.
  void write(const std::string& name, const std::function<void(OutputFile&)>& content);
  void finish();

  const std::filesystem::path& target() const { return target_; }
  size_t count() const { return names_.size(); }
  uint64_t bytes() const { return bytes_; }
  // Files in the folder with a written one's ending and "frame_" before it that are not of this export: of an
  // earlier one with more frames. After finish().
  size_t leftFromBefore() const;

 private:
  void makeFolders(const std::filesystem::path& folder);
  void takeAway() noexcept;

  std::filesystem::path target_, staging_;   // staging_: empty for a single file
  std::vector<std::filesystem::path> made_;  // folders, outermost first
  std::vector<std::string> names_;
  uint64_t bytes_ = 0;
  bool finished_ = false;
};

// frame_0012.vtp; more digits where the number needs them.
std::string frameFileName(size_t frame, const char* ending);

}  // namespace sunder::show
