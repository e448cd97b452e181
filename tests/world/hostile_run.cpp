// hostile_run RUN FOLDER COUNT SHIFT: writes COUNT copies of a recording, FOLDER/000/run.sunder and so on,
// each with one number of its last checkpoint's state changed and all hashes made right again, that of the
// state too where it can be loaded at all. The places are spread evenly over the state, from byte SHIFT on.
// Prints a line for each copy: its number, the byte, the kind of change, and "loads" or "refused".
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/world/run/runner.h"
#include "sunder/world/world.h"

#include "record/rehash.h"
#include "world/hostile_numbers.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace {

using namespace sunder;

constexpr size_t kHashBytes = 8;  // before the state

// The hash that a state has once it is loaded; none where it cannot be, or is of another frame than its
// checkpoint, which a run does not resume from.
std::optional<uint64_t> hashOf(world::World& world, const std::string& state, uint64_t frame) {
  try {
    world.load(state, "state");
    if (world.frame() != frame) return std::nullopt;
    return world.hash();
  } catch (const Error&) {
    return std::nullopt;
  }
}

void write(const char* file, const std::filesystem::path& folder, size_t count, size_t shift) {
  const record::RunReader run(file);
  const record::Checkpoint last = run.checkpoint(run.checkpointCount() - 1);
  world::World world(world::recordedScene(run));
  const size_t stride = std::max<size_t>(1, (last.state.size() - shift) / count);
  for (size_t k = 0; k < count; ++k) {
    const size_t at = (shift + k * stride) % last.state.size(), kind = k % world::kHostileChanges;
    const std::string state = world::hostileChange(last.state, at, kind);
    const std::optional<uint64_t> hash = hashOf(world, state, last.frame);
    size_t checkpoint = 0;
    const std::string content = record::rehashed(run, [&](record::ChunkHead& head, std::string& payload) {
      if (head.type != record::ChunkType::Checkpoint || ++checkpoint < run.checkpointCount()) return;
      std::string fresh = payload.substr(0, kHashBytes);
      if (hash) ByteWriter(fresh).overwrite(0, *hash);
      payload = fresh + state;
    });
    const std::filesystem::path into = folder / fmt::format("{:03}", k);
    std::filesystem::create_directories(into);
    writeFile(into / "run.sunder", content);
    std::puts(fmt::format("{:03} {} {} {}", k, at, kind, hash ? "loads" : "refused").c_str());
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  try {
    write(words[1], words[2], size_t(std::atol(words[3])), size_t(std::atol(words[4])));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
