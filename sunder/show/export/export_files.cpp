#include "sunder/show/export/export_files.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

namespace sunder::show {

namespace fs = std::filesystem;

namespace {

Error cannotWrite(const fs::path& path, const std::string& reason) {
  return Error(ErrorKind::Write, "cannot write: " + reason).inFile(path.string());
}

}  // namespace

ExportFiles::ExportFiles(fs::path target, Shape shape) : target_(std::move(target)) {
  // A slash at the end would make the folder beside it one inside it.
  if (!target_.has_filename()) target_ = target_.parent_path();
  std::error_code ignored;
  if (shape == Folder && fs::exists(target_, ignored) && !fs::is_directory(target_, ignored))
    throw Error(ErrorKind::Usage, "cannot write: it is a file")
        .inFile(target_.string())
        .hint("this format makes several files: name a folder");
  if (shape == File && fs::is_directory(target_, ignored))
    throw Error(ErrorKind::Usage, "cannot write: it is a folder")
        .inFile(target_.string())
        .hint("name a file inside it");
  try {
    if (shape == File) {
      makeFolders(target_.parent_path());
    } else {
      staging_ = target_;
      staging_ += ".part" + std::to_string(::getpid());
      fs::remove_all(staging_, ignored);
      makeFolders(staging_);
    }
  } catch (...) {
    takeAway();
    throw;
  }
}

ExportFiles::~ExportFiles() {
  if (!finished_) takeAway();
}

void ExportFiles::makeFolders(const fs::path& folder) {
  std::error_code code;
  if (folder.empty() || fs::is_directory(folder, code)) return;
  makeFolders(folder.parent_path());
  if (!fs::create_directory(folder, code) && code) throw cannotWrite(folder, code.message());
  made_.push_back(folder);
}

void ExportFiles::takeAway() noexcept {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
  // A folder that holds something else by now stays: this takes empty ones only.
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) fs::remove(*folder, ignored);
}

void ExportFiles::write(const std::string& name, const std::function<void(OutputFile&)>& content) {
  const fs::path path = staging_.empty() ? target_ : staging_ / name;
  try {
    OutputFile out(path);
    content(out);
    out.commit();
    bytes_ += out.size();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Write || staging_.empty()) throw;
    // The user knows the name it would have had, not where it gathers.
    throw Error(ErrorKind::Write, e.message()).inFile((target_ / name).string());
  }
  names_.push_back(name);
}

void ExportFiles::finish() {
  if (!staging_.empty()) {
    std::error_code code;
    if (!fs::exists(target_, code)) {
      fs::rename(staging_, target_, code);
      if (code) throw cannotWrite(target_, code.message());
    } else {
      for (const std::string& name : names_) {
        fs::rename(staging_ / name, target_ / name, code);
        if (code) throw cannotWrite(target_ / name, code.message());
      }
      fs::remove(staging_, code);
    }
  }
  finished_ = true;
}

size_t ExportFiles::leftFromBefore() const {
  if (staging_.empty() || names_.empty()) return 0;
  const std::set<std::string> names(names_.begin(), names_.end());
  const fs::path ending = fs::path(names_.front()).extension();
  size_t count = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(target_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("frame_") && entry.path().extension() == ending && !names.contains(name)) ++count;
  }
  return count;
}

std::string frameFileName(size_t frame, const char* ending) {
  return fmt::format("frame_{:04}{}", frame, ending);
}

}  // namespace sunder::show
