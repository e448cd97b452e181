// The world that a scene describes: a clock and a list of parts (part/part.h). It owns the table of bodies,
// what parts exchange, the ledger of what went less well than asked, and inputs that wait for their step; it
// knows no kind of matter by name.
//
// Guarantees: the state after a frame depends on the scene and the inputs alone, not on the number of
// threads, nor on whether the run was interrupted: load() of what save() wrote goes on bit for bit. hash() is
// XXH3-64 over all that later frames depend on but inputs. A step that is not finite throws Error (Numerical)
// naming body and frame.
#pragma once

#include "sunder/record/recording.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/part/part.h"
#include "sunder/world/scene/scene.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::world {

class World {
 public:
  // `progress(done, of, what)` is called while shapes are built.
  using Progress = std::function<void(size_t done, size_t of, const std::string& what)>;
  explicit World(Scene scene, const Progress& progress = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Scene& scene() const { return scene_; }
  const std::vector<BuiltShape>& shapes() const { return shapes_; }

  // The part of a type, or nullptr where the scene has none.
  template <class P>
  const P* find() const {
    for (const auto& part : parts_)
      if (const auto* found = dynamic_cast<const P*>(part.get())) return found;
    return nullptr;
  }
  template <class P>
  P* find() {
    return const_cast<P*>(std::as_const(*this).find<P>());
  }

  uint64_t frame() const { return frame_; }
  uint64_t step() const { return frame_ * scene_.world.stepsPerFrame; }  // the next one
  double time() const { return scene_.world.frameTime(frame_); }
  // Waits for its step; those of one step act in the order in which they were given. Throws Error (Usage) for
  // a step that is over, for a part that the scene does not have, and for what the part refuses. Cost: that
  // of the inputs which wait for later steps.
  void input(Input input);
  const std::deque<Input>& waitingInputs() const { return inputs_; }
  const std::vector<Input>& appliedInputs() const { return applied_; }  // of the last frame, as they acted
  // To the next frame. After an Interrupted (base/stop.h) the world is in the middle of a frame: it can only
  // be loaded or dropped.
  void advance();

  // Looks for bodies that overlap and the like; for a world that has not been stepped. Counted as
  // degradation.
  void noteOverlaps();

  const std::vector<Degradation>& degradations() const { return ledger_.entries(); }
  Totals totals() const;
  uint64_t mostContacts() const { return totals().mostContacts; }  // in a step, so far

  // For recording. Meshes and bodies only ever grow. The surfaces of pieces are made when one of them is
  // asked for; advance() does not need them.
  const BodyTable& table() const { return table_; }
  uint32_t meshCount() const { return table_.meshCount(); }
  uint32_t bodyCount() const { return table_.size(); }
  record::MeshEntry mesh(uint32_t index);
  record::BodyEntry body(uint32_t index) const;
  // Where a mesh is a surface that a cage carries: how.
  std::optional<record::Embedding> embedding(uint32_t mesh) const;
  std::vector<record::MeshEntry> meshes();
  std::vector<record::BodyEntry> bodies() const;
  std::vector<record::BodyState> states() const;
  std::vector<record::BodyField> fields() const;
  std::vector<record::BodyPoints> points() const;
  const std::vector<record::Event>& events() const { return events_; }  // of the last frame
  // Meshes that changed in the last frame, of bodies that live on.
  const std::vector<record::MeshChange>& meshChanges() const { return meshChanges_; }
  std::vector<record::Statistic> statistics() const;  // of the last frame

  // The resolved scene with the hashes of the mesh files.
  std::string resolvedScene() const;

  std::string save() const;
  // Throws Error (Format) where the state is not of this scene.
  void load(std::string_view state, const std::string& fileName);
  uint64_t hash() const;
  // Whether save() of this version of the program wrote it: only then hashes can be compared.
  static bool savedByThisVersion(std::string_view state);

 private:
  StepContext contextOf(uint32_t part, uint64_t step, uint64_t frame);
  void makeStep(uint64_t step);
  // Tells every part of the changes that were made since the last call.
  void tellChanges(uint64_t step);
  void loadInputs(ByteReader& in);

  Scene scene_;
  std::vector<BuiltShape> shapes_;
  Ledger ledger_;
  std::vector<std::unique_ptr<Part>> parts_;
  BodyTable table_, startTable_;
  Exchange exchange_;
  std::deque<Input> inputs_;  // that wait, by ascending step
  std::vector<Input> applied_;
  uint64_t nextInput_ = 0;  // number
  std::vector<BodyChange> changes_;
  std::vector<record::Event> events_;
  std::vector<record::MeshChange> meshChanges_;
  uint64_t frame_ = 0;
};

}  // namespace sunder::world
