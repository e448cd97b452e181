// A run as the page in the browser reads it (viewer/src/source.ts has the other side): JSON about the run and
// the events of a frame, little-endian numbers for meshes and frames. Serves a file that is still being
// written: refresh() looks for more. Safe to call from several threads.
#pragma once

#include "sunder/record/run_reader.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace sunder::show {

class ViewData {
 public:
  // Throws as RunReader does.
  explicit ViewData(const std::filesystem::path& run);
  ~ViewData();

  std::string info();  // JSON; what was written since is read first
  // The other calls throw Error (Usage) for numbers that are not there.
  std::string mesh(size_t index);
  std::string frames(size_t first, size_t last);  // at most kMostFrames; Error (Limit) above kMostBytes
  std::string events(size_t frame);               // JSON
  std::string fronts(size_t frame);               // of cracks, JSON
  std::string points(size_t frame);  // particles and vertices of the frame's own; of cages, these
  // The mesh of a body that shows several: version 0 is that of its first frame, version k that of the k-th
  // frame in "changes" of info().
  std::string shape(size_t body, size_t version);
  // A mesh that is embedded in a cage, for the shader (soft_asset.h), and which corners of its tetrahedra a
  // version of a body changes: u32 number of the mesh, u32 1 where the changes are those from the mesh, 0
  // from the version before, u32 vertices of the cage, u32 how many of them are new since, their positions
  // at rest, the changes.
  std::string soft(size_t mesh);
  std::string tear(size_t body, size_t version);
  // What collision detection sees of a mesh (overlay.h).
  std::string boxes(size_t mesh, uint32_t level);
  std::string spheres(size_t mesh, uint32_t level);
  std::string slice(size_t mesh, uint32_t axis, double share);
  size_t frameCount();
  // A call of frames() that is under way and all later ones throw Error (Limit). For any thread, at any time.
  void cancel();

  static constexpr size_t kMostFrames = 512;
  static constexpr size_t kMostBytes = size_t(1) << 30;  // that a browser takes at once

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The page with a run inside, to be opened from disk without a server: the frames given, or all. `page` is
// viewer.html. Throws Error (Limit) where the data would be larger than a browser takes (1 GB), Error (Usage)
// for a frame that is not there. `progress` is told as frames are read and packed, two steps a frame; it may
// throw.
std::string selfContainedPage(std::string_view page, const std::filesystem::path& run,
                              std::span<const size_t> frames = {},
                              const std::function<void(size_t done, size_t of)>& progress = {});

// viewer.html as it was when the program was built; empty where it was built without.
std::string_view viewerPage();

}  // namespace sunder::show
