// The world that a scene describes, stepped frame by frame. Owns the simulation, applies forces and key
// frames, gathers events and counts everything that went less well than asked.
//
// Guarantees: the state after a frame depends on the scene alone, not on the number of threads, nor on
// whether the run was interrupted: load() of what save() wrote goes on bit for bit. hash() is XXH3-64 over
// all that later frames depend on: bodies, breaks, liquids with their emitters and the impulses that act in
// the next step. A step that is not finite throws Error (Numerical) naming body and frame.
#pragma once

#include "sunder/record/recording.h"
#include "sunder/rigid/solver/simulation.h"
#include "sunder/world/breakage.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/liquids.h"
#include "sunder/world/scene/scene.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::world {

// Something that went less well than asked.
struct Degradation {
  std::string what;  // "fast bodies lost the rest of a step"
  uint64_t count = 0;
  uint64_t firstFrame = 0;
  std::string example;  // a body, a shape
};

class World {
 public:
  // `progress(done, of, what)` is called while shapes are built.
  using Progress = std::function<void(size_t done, size_t of, const std::string& what)>;
  explicit World(Scene scene, const Progress& progress = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Scene& scene() const { return scene_; }
  const rigid::Simulation& simulation() const { return simulation_; }
  const std::vector<BuiltShape>& shapes() const { return shapes_; }
  const Breakage& breakage() const { return breakage_; }
  const Liquids& liquids() const { return liquids_; }
  void observeBreaks(BreakObserver observer) { breakage_.observe(std::move(observer)); }

  uint64_t frame() const { return frame_; }
  double time() const { return scene_.world.frameTime(frame_); }
  // To the next frame. After an Interrupted (base/stop.h) the world is in the middle of a frame: it can only
  // be loaded or dropped.
  void advance();

  // Looks for bodies that overlap; for a world that has not been stepped. Counted as degradation.
  std::vector<rigid::Simulation::Overlap> noteOverlaps();

  const std::vector<Degradation>& degradations() const { return degradations_; }
  uint64_t mostContacts() const { return mostContacts_; }  // in a step, so far

  // For recording. Meshes have the order of scene().shapes, then come those of bodies that may break and of
  // pieces; bodies that of scene().bodies and then of birth. Both only ever grow. The surfaces of pieces are
  // made when one of them is asked for; advance() does not need them.
  uint32_t meshCount() const;
  uint32_t bodyCount() const { return simulation_.bodyCount(); }
  record::MeshEntry mesh(uint32_t index);
  record::BodyEntry body(uint32_t index) const;
  std::vector<record::MeshEntry> meshes();
  std::vector<record::BodyEntry> bodies() const;
  std::vector<record::BodyState> states() const;
  std::vector<record::BodyField> fields() const;
  std::vector<record::BodyPoints> points() const { return liquids_.points(); }
  const std::vector<record::Event>& events() const { return events_; }  // of the last frame
  std::vector<record::Statistic> statistics() const;                    // of the last frame

  // The resolved scene with the hashes of the mesh files.
  std::string resolvedScene() const;

  std::string save() const;
  // Throws Error (Format) where the state is not of this scene.
  void load(std::string_view state, const std::string& fileName);
  uint64_t hash() const;

 private:
  void step();
  void breakBodies();
  void gather();
  void removeLost();
  rigid::BodyIndex farthestBody() const;  // or fastest; none where nothing moves
  const fracture::FinePiece& shown(uint32_t piece);
  void degrade(const char* what, uint64_t count, uint64_t frame, const std::string& example);

  // Bodies and joints of the scene, into an empty simulation.
  void populate();
  void adoptPieces(uint32_t from);

  Scene scene_;
  std::vector<BuiltShape> shapes_;
  Breakage breakage_;
  Liquids liquids_;
  rigid::Simulation simulation_;
  uint64_t frame_ = 0;
  uint64_t mostContacts_ = 0;
  uint64_t removed_ = 0;
  std::vector<uint32_t> breakable_;  // bodies of the scene, ascending
  std::vector<ForceSpec> forces_;    // of the scene, pieces included
  uint64_t tiny_ = 0, splinters_ = 0, refused_ = 0;
  LiquidsReport wet_;         // as far as it is counted
  uint64_t shownBreaks_ = 0;  // whose surfaces were made, and counted where they are coarse
  std::vector<char> brokenJoints_;
  std::vector<record::Event> events_;
  std::vector<Degradation> degradations_;
};

// Where a body with key frames is at a time: straight from key to key, turning at an even speed.
rigid::Pose poseAt(const BodySpec& body, double time);

}  // namespace sunder::world
