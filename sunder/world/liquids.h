// The liquids of a scene: particles (room fluid) in the same clock as the bodies. Every body of the scene is
// a boundary, by a map of its shape; pieces get maps of their own in the step in which they appear.
//
// A step of the world: bodies move first, with the forces that the liquids gave them in the step before; then
// the liquids, in as many steps of their own as their speed asks for, between the poses of the bodies before
// and after. What they do to bodies acts in the next step.
#pragma once

#include "sunder/fluid/solver/fluid.h"
#include "sunder/record/recording.h"
#include "sunder/rigid/solver/simulation.h"
#include "sunder/world/scene.h"
#include "sunder/world/shape_library.h"

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

class Liquids {
 public:
  // Throws Error with the place in the scene.
  Liquids(const Scene& scene, const std::vector<BuiltShape>& shapes);

  bool any() const { return fluid_ != nullptr; }
  // Bodies of the scene are in the simulation: fills the blocks.
  void start(const rigid::Simulation& simulation);
  // Before a step of the bodies: what the liquids did to them.
  void push(rigid::Simulation& simulation);
  // After it. `time`: at its end.
  void step(const rigid::Simulation& simulation, double time);

  const LiquidsReport& report() const { return report_; }
  const fluid::Fluid* fluid() const { return fluid_.get(); }
  double mass(uint32_t liquid) const;
  // How liquids see a body of the scene.
  fluid::BoundaryMapPtr mapOf(const BodySpec& body) const;
  // Between parts of the body, m; infinite where there is none narrower than two supports.
  double narrowestGap(const BodySpec& body) const;
  // Of all liquids, for a recording.
  std::vector<record::BodyPoints> points() const;

  void save(ByteWriter& out) const;
  // `time`: of the bodies, after their last step. Throws Error (Format) for what is not of these liquids
  // then.
  void load(ByteReader& in, const rigid::Simulation& simulation, double time);

 private:
  // New bodies, and those that are gone. Returns whether some came.
  bool follow(const rigid::Simulation& simulation);
  void place(const rigid::Simulation& simulation, double part);
  // Bodies that may break move with a shape of their tetrahedra, but look like their own.
  const rigid::Shape* shapeOf(const rigid::Simulation& simulation, uint32_t body) const;
  void giveSurfaceSamples(const rigid::Simulation& simulation);
  void fill(const rigid::Simulation& simulation);
  std::vector<Vec3> poured(const BlockSpec& block, const rigid::Simulation& simulation) const;
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
  std::optional<double> pieceOffset_;             // of what breaks, which its pieces keep
  std::optional<uint32_t> tank_;                  // body of the fluid, before those of the simulation
  std::vector<rigid::Pose> before_;               // by body of the simulation
  std::vector<fluid::BoundaryImpulse> impulses_;  // on them, in the last step
  std::vector<Vec3> drift_;                       // of bodies by that, in the last step
  std::vector<std::vector<uint64_t>> emitted_;    // layers, by liquid and emitter
  LiquidsReport report_;
};

}  // namespace sunder::world
