// Where a RunWriter writes: a small interface, so that tests can let any write fail, tear or get lost, and
// its real implementation, a locked file.
//
// A new recording is written under the name `run.sunder.new` and published, which is renaming it to
// `run.sunder` and syncing the folder: at once where nothing is in its place, else at its first checkpoint.
// So what was there before stays until there is something to replace it.
//
// One writer a file. Writers lock the file they write, and those of new recordings lock `run.sunder.new`
// first and then what is to be replaced. A lock counts only if the locked file still has that name
// afterwards; else the other writer has renamed it in between and it is opened again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sunder::record {

class RunOutput {
 public:
  virtual ~RunOutput() = default;

  virtual const std::filesystem::path& path() const = 0;  // the name it has once it is published
  virtual uint64_t size() const = 0;

  // Numbers are those of errno, 0 for success.
  struct Written {
    size_t bytes = 0;  // that reached the file
    int code = 0;      // why not all
  };
  virtual Written append(std::string_view bytes) = 0;
  virtual int cut(uint64_t size) = 0;  // takes back what was appended behind `size`
  virtual int sync() = 0;              // everything appended is on the disk
  virtual bool published() const = 0;
  virtual int publish() = 0;  // under its name, and on the disk
};

// What becomes of a file that is already there. Kept aside, run.sunder becomes run.1.sunder, or the next
// number that is free; a run that holds no frame beyond its start is not worth that and is replaced.
enum class Existing { Replace, KeepAside };

class FileOutput final : public RunOutput {
 public:
  // An empty file to be published as `path`. Throws Error (Write) where it cannot be made, or another run
  // writes there.
  static std::unique_ptr<FileOutput> create(std::filesystem::path path, Existing existing);
  // The file at `path`, to append to.
  static std::unique_ptr<FileOutput> open(std::filesystem::path path);
  ~FileOutput() override;  // removes what was not published

  const std::filesystem::path& path() const override { return path_; }
  uint64_t size() const override { return size_; }
  Written append(std::string_view bytes) override;
  int cut(uint64_t size) override;
  int sync() override;
  bool published() const override { return draft_.empty(); }
  int publish() override;

  bool replaces() const { return old_ >= 0; }                  // something is in its place
  const std::filesystem::path& kept() const { return kept_; }  // where that is now; empty: nowhere
  std::pair<uint64_t, uint64_t> identity() const;              // device and inode

 private:
  explicit FileOutput(std::filesystem::path path) : path_(std::move(path)) {}
  // Opens and locks; -1 where there is no such file and `make` is false.
  int openLocked(const std::filesystem::path& path, bool make) const;
  int keepAside();

  std::filesystem::path path_, draft_, kept_;
  int descriptor_ = -1, old_ = -1;
  bool keep_ = false;
  uint64_t size_ = 0;
};

}  // namespace sunder::record
