// The rigid bodies of a scene with their joints, forces, key frames and breaking, as a part of the world. Its
// bodies are solids that other parts may touch, and its solver takes the contacts of their sites.
//
// Local numbers are those of rigid::Simulation: first the bodies of the scene, in their order, then pieces.
#pragma once

#include "sunder/rigid/solver/simulation.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/part/part.h"
#include "sunder/world/parts/breakage.h"
#include "sunder/world/scene/scene.h"

#include <memory>
#include <string>
#include <vector>

namespace sunder::world {

class RigidPart : public Part {
 public:
  RigidPart(const Scene& scene, const std::vector<BuiltShape>& shapes, Ledger& ledger);

  const rigid::Simulation& simulation() const { return simulation_; }
  const Breakage& breakage() const { return breakage_; }
  void observeBreaks(BreakObserver observer) { breakage_.observe(std::move(observer)); }

  const char* name() const override { return "rigid"; }
  Stage stage() const override { return Stage::Solids; }
  void start(StepContext& context) override;
  void inspect(Ledger& ledger, uint64_t frame) const override;
  // "impulse": 3 numbers, N s, at the centre of mass, or 6, with the place in the world.
  void accept(const Input& input, const StepContext& context) const override;
  void apply(const Input& input, StepContext& context) override;
  void begin(StepContext& context) override;
  void step(StepContext& context) override;
  void change(StepContext& context) override;
  void endFrame(StepContext& context) override;
  void follow(const BodyChange& change, StepContext& context) override;

  record::BodyEntry body(uint32_t local) const override;
  record::MeshEntry mesh(uint32_t local, Ledger& ledger) override;
  void states(const PartBodies& bodies, std::span<record::BodyState> out) const override;
  void fields(const PartBodies& bodies, std::vector<record::BodyField>& out) const override;
  void statistics(std::vector<record::Statistic>& out) const override;
  void addTotals(Totals& totals) const override;
  std::string suspect() const override;

  void save(ByteWriter& out) const override;
  void load(ByteReader& in, StepContext& context) override;
  void hash(Hasher& hasher) const override;

 private:
  // What a mesh of this part is of.
  struct ShownMesh {
    enum class Of : uint8_t { Shape, Whole, Piece } of = Of::Shape;
    uint32_t index = 0;  // of the scene's shapes; of the scene's bodies; of the spawned ones
  };

  // Bodies and joints of the scene, into an empty simulation.
  void populate();
  void gather(StepContext& context);
  void addMesh(OwnBodies& bodies, ShownMesh mesh);
  const fracture::FinePiece& shownPiece(uint32_t piece, Ledger& ledger);
  // The body as others see it now. `born`: in this step, so that it was nowhere else before.
  void publish(StepContext& context, uint32_t local, bool born) const;
  void publishAll(StepContext& context, bool born) const;
  void publishMotion(StepContext& context) const;
  void takeImpulses(StepContext& context);
  void solveSites(StepContext& context);

  const Scene& scene_;
  const std::vector<BuiltShape>& shapes_;
  Breakage breakage_;
  rigid::Simulation simulation_;
  std::vector<ShownMesh> meshes_;
  std::vector<ForceSpec> forces_;  // of the scene, pieces included
  std::vector<char> brokenJoints_;
  uint64_t mostContacts_ = 0;
  uint64_t removed_ = 0;
  uint64_t shownBreaks_ = 0;  // whose surfaces were made, and counted where they are coarse
};

}  // namespace sunder::world
