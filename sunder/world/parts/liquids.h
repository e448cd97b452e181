// The liquids of a scene as a part of the world: particles (room fluid) in the same clock as the bodies.
// Every solid of the world is a boundary, by a map of its shape; pieces get maps of their own in the step in
// which they appear. Soft bodies are one by points that move with them (part/deforming_solid.h). A liquid is
// a body of the table without a mesh; its local number is that of the liquid.
//
// A step of the world: solids move first, with the impulses that the liquids left for them in the step
// before; then the liquids, in as many steps of their own as their speed asks for, between the poses of the
// solids before and after. What they do to solids acts in the next step; soft bodies give way at once.
#pragma once

#include "sunder/fluid/solver/fluid.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/part/part.h"
#include "sunder/world/scene/scene.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::world {

struct LiquidsReport {
  uint64_t steps = 0;   // of the fluid, since the start
  uint64_t buried = 0;  // particles of blocks that would have been in bodies, left out
  uint64_t missedDensity = 0, missedDivergence = 0, missedViscosity = 0;  // steps above their tolerances
  uint64_t rushed = 0;    // steps that were longer than the fastest particle asks for
  double crowding = 0;    // the largest density at the start, before particles made room, less that at rest
  uint64_t heldBack = 0;  // particles that would have gone too far in a step, by step
  uint64_t removed = 0;   // by sinks, or out of the world's bounds
  fluid::FluidStep last;
};

class Liquids : public Part {
 public:
  // For a scene with a fluid. Throws Error with the place in the scene.
  Liquids(const Scene& scene, const std::vector<BuiltShape>& shapes);

  const char* name() const override { return "liquids"; }
  Stage stage() const override { return Stage::Flowing; }
  bool meetsSolids() const override { return true; }
  // Solids are published: fills the blocks.
  void start(StepContext& context) override;
  void step(StepContext& context) override;
  void follow(const BodyChange& change, StepContext& context) override;

  record::BodyEntry body(uint32_t local) const override;
  void states(const PartBodies& bodies, std::span<record::BodyState> out) const override;
  void points(const PartBodies& bodies, std::vector<record::BodyPoints>& out) const override;
  void statistics(std::vector<record::Statistic>& out) const override;
  void save(ByteWriter& out) const override;
  void load(ByteReader& in, StepContext& context) override;

  const LiquidsReport& report() const { return report_; }
  const fluid::Fluid* fluid() const { return fluid_.get(); }
  double mass(uint32_t liquid) const;
  // How liquids see a body of the scene.
  fluid::BoundaryMapPtr mapOf(const BodySpec& body) const;
  // Between parts of the body, m; infinite where there is none narrower than two supports.
  double narrowestGap(const BodySpec& body) const;

 private:
  // A solid that liquids meet.
  struct Boundary {
    uint32_t body = 0;          // of the table
    uint32_t fluidBody = 0;     // of fluid_
    Vec3 drift = Vec3::Zero();  // by what the liquids did to it, in the last step
    bool ofScene = true;        // else a piece
  };
  // Adds the solids of the table from `first` on.
  void addBoundaries(const StepContext& context, uint32_t first);
  // Matter that deforms.
  struct Deforming {
    DeformingSolid* matter = nullptr;
    uint32_t fluidBody = 0;
  };
  void addDeforming(const Exchange& exchange);
  // Solids between where they were (0) and where they are (1).
  void place(const Exchange& exchange, double part);
  void placeDeforming(double from, double to);
  void giveSurfaceSamples(const Exchange& exchange);
  void fill(const Exchange& exchange);
  std::vector<Vec3> poured(const BlockSpec& block, const Exchange& exchange) const;
  // Marks points in bodies: where one adds more than `most` to the density.
  void findBuried(std::span<const Vec3> points, double most, std::span<uint8_t> buried) const;
  void emit(double time);
  // Throws Error (Limit) with the place in the scene where so many particles more do not fit the memory.
  void requireRoom(size_t more, const std::string& pointer) const;
  // Throws where emitters have not done at `time` what they would have: what is missing would come at once.
  void checkEmitted(const ByteReader& in, double time) const;
  void drive(double time);  // what is still in the nozzle of an emitter
  void drain();
  // Pieces keep the distance from liquids that the whole had: `offset`.
  fluid::BoundaryMapPtr mapOf(const rigid::Shape& shape, std::optional<double> offset = {}) const;
  fluid::SurfaceSamplesPtr surfaceSamplesOf(const rigid::Shape& shape) const;
  fluid::BoundaryMapPtr tankMap(Box3 box) const;
  fluid::BoundaryMapPtr particlesOf(const geometry::TriMesh& surface) const;

  const Scene& scene_;
  const std::vector<BuiltShape>& shapes_;
  std::unique_ptr<fluid::Fluid> fluid_;
  std::map<const rigid::Shape*, fluid::BoundaryMapPtr> maps_;  // of the scene's shapes
  std::map<const rigid::Shape*, fluid::SurfaceSamplesPtr> surfaceSamples_;
  std::optional<double> pieceOffset_;           // of what breaks, which its pieces keep
  std::optional<uint32_t> tank_;                // body of the fluid, before those of the solids
  std::vector<Deforming> deforming_;            // before those of the solids
  std::vector<Boundary> boundaries_;            // by ascending body
  bool crowded_ = false;                        // pieces appeared since the last step
  std::vector<std::vector<uint64_t>> emitted_;  // layers, by liquid and emitter
  LiquidsReport report_;
};

}  // namespace sunder::world
