// Brittle bodies of a scene: what happens when they are hit. Impacts are collected from the contacts of a
// step; those that are strong enough are analysed (adaptive_fracture.h), and what breaks is replaced by its
// pieces, which go on with the motion of what they were part of and may break again. Joints of a body hold
// the piece that has their anchor.
//
// Mass, momentum and angular momentum are those before, to rounding. Every break is one record of change
// (crack_change.h), which says what disappeared, what appeared and where all of it comes from; fields, trees,
// the lists of bodies, events and recordings take it from there. Beside it the list of tetrahedra that were
// cut is kept: replaying it makes the same pieces without any analysis, which is how a run resumes.
#pragma once

#include "sunder/base/error.h"
#include "sunder/fracture/model/fracture_model.h"
#include "sunder/fracture/pieces/fragment_shape.h"
#include "sunder/geometry/topology_change.h"
#include "sunder/rigid/solver/simulation.h"
#include "sunder/world/build/shape_library.h"
#include "sunder/world/part/ledger.h"
#include "sunder/world/parts/shown_pieces.h"
#include "sunder/world/scene/scene.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::world {

// A break. A body of the scene has its number as identity, pieces that of childId().
struct BreakRecord {
  uint64_t frame = 0;
  uint32_t body = 0;        // of the simulation, that broke
  uint32_t firstPiece = 0;  // pieces are the bodies from here on, in the order of change.appeared. A body
                            // that is cracked but still in one piece is its own
  geometry::TopologyChange change;
  // The strongest impact, in the world; all zero where load() repeated the break.
  Vec3 point = Vec3::Zero(), normal = Vec3::Zero();  // normal: of the impulse on the body, unit
  double impulse = 0;                                // N s
  double energy = 0;  // J: of the impact, half the impulse times the speed of approach

  bool intoPieces() const { return firstPiece != body; }
};
// Called for every break into pieces, while both the body and its pieces are in the simulation.
using BreakObserver = std::function<void(const BreakRecord&, const rigid::Simulation&)>;

// A body that was not in the scene; bodies by number of the simulation.
struct SpawnedBody {
  uint32_t parent = kNoIndex;  // the body it broke from
  uint32_t origin = 0;         // the scene's body that it is a part of
  uint64_t born = 0;           // frame
  std::string name;
  rigid::ShapePtr shape;
  double mass = 0;
};

struct BreakageReport {
  uint64_t analyses = 0, breaks = 0, cracks = 0;
  uint64_t tinyParts = 0;  // that stayed with a neighbour
  uint64_t splinters = 0;  // that found none and touch nothing
  uint64_t refused = 0;    // breaks that could not be made: the body stays as it is
  std::string refusal;     // the first of them
  uint64_t cutShort = 0;   // analyses that the limit of work ended: cracks may be missing
  uint64_t coarse = 0;     // bodies that are shown as coarse as their tetrahedra, against the scene's wish
  fracture::FractureStages seconds;
};

// Counted in the ledger where pieces, or bodies that may break, are not shown as finely as asked.
inline constexpr const char* kCoarsePieces = "pieces are shown as coarse as their tetrahedra";

struct BreakageCost {
  uint64_t bodies = 0, tets = 0;  // that may break; of their different shapes
  double secondsOnce = 0;         // if each of them is struck once
};

class Breakage {
 public:
  // Makes the objects of all bodies that may break: tetrahedra, field, tree. Throws Error with the place in
  // the scene for what has no inside, or a material that does not break.
  Breakage(const Scene& scene, const std::vector<BuiltShape>& shapes);

  bool any() const { return !objects_.empty(); }
  // The shape that a body of the scene moves with, or nullptr for one that does not break.
  rigid::ShapePtr wholeShape(uint32_t body) const;
  // What is seen of it before it breaks; for bodies that may.
  const geometry::TriMesh& wholeSurface(uint32_t body) const;

  // Back to the bodies of the scene.
  void reset();
  // Before a step: where they are.
  void watch(const rigid::Simulation& simulation);
  // After it: breaks what was hit hard enough. `frame`: the one that is being made. Returns what broke.
  std::span<const BreakRecord> act(rigid::Simulation& simulation, uint64_t frame, Ledger& ledger);
  // Makes the simulation report the contacts of bodies that may break.
  void listen(rigid::Simulation& simulation) const;

  // Of breaks that happen, not of those that load() repeats.
  void observe(BreakObserver observer) { observer_ = std::move(observer); }
  // All breaks since the start, in order; load() restores them.
  const std::vector<BreakRecord>& changes() const { return changes_; }
  // Those as one change from bodies of the scene to the pieces there are; each break costs time in proportion
  // to all of it.
  geometry::TopologyChange sinceStart() const;

  const std::vector<SpawnedBody>& spawned() const { return spawned_; }
  // The number of a body among the spawned ones; none for a body of the scene.
  std::optional<uint32_t> pieceNumber(uint32_t body) const;
  uint32_t originOf(uint32_t body) const;  // the body of the scene that it is, or is a piece of
  // What is looked at of them.
  ShownPieces& shown() { return shown_; }
  const BreakageReport& report() const { return report_; }
  // Strikes a copy of each body that may break and takes the time; nothing here changes.
  BreakageCost cost() const;

  void save(ByteWriter& out) const;
  // Reads the breaks and adds the bodies that they made, with whatever motion.
  void load(ByteReader& in, rigid::Simulation& simulation);

 private:
  struct Object {
    uint32_t body = 0;  // of the scene
    fracture::RestMeshPtr rest;
    fracture::FractureModelPtr model;
    double density = 0;                                 // kg/m^3
    double leastVolume = 0;                             // of a piece
    std::shared_ptr<const fracture::FineSurface> fine;  // none: as coarse as the tetrahedra
    uint32_t nextCrack = 1, nextFragment = 1;
  };
  struct Piece {
    uint32_t object = 0;
    std::shared_ptr<const fracture::CrackedMesh> mesh;
    fracture::Fragment fragment;
    rigid::Pose pose;  // before the step
    geometry::BodyRecord record;
    std::vector<uint32_t> faceCrack, faceTet;  // of the triangles of its surface
  };
  struct Break {
    uint32_t body = 0;
    uint64_t frame = 0;
    uint32_t nextCrack = 0;  // of the object, afterwards
    fracture::BreakPlan plan;
  };

  // A body that was hit hard enough, and what the analysis made of it.
  struct Struck {
    uint32_t body = 0;
    std::vector<fracture::Impact> impacts;
    fracture::BreakOutcome outcome;
    uint32_t nextCrack = 0;        // the first that is free, before; afterwards too
    std::optional<Error> refusal;  // instead of an outcome
  };
  // A break that could not be made: what the analysis or the cut says against it.
  void refuse(uint32_t body, const Error& error);
  // What a piece may lose at least, as a part of its volume; 1 where it is too small to break.
  double leastPart(const Piece& piece) const;
  // Of the tetrahedra of a body that has not cracked; else empty.
  std::span<const std::array<uint32_t, 4>> neighboursOf(uint32_t body, const Piece& piece) const;
  // `steady`: the part of each event's impulse that is no impact, as steadyImpulses() has it; empty: none.
  std::vector<fracture::Impact> impactsOn(uint32_t body, const Piece& piece,
                                          const rigid::Simulation& simulation,
                                          std::span<const rigid::ContactEvent> events,
                                          std::span<const double> steady) const;
  // As the body's model sees it.
  fracture::StruckBody struckBody(uint32_t body, const Piece& piece, double mass,
                                  std::span<const fracture::Impact> impacts) const;
  std::vector<Struck> struck(const rigid::Simulation& simulation) const;
  void analyse(Struck& hit, const rigid::Simulation& simulation) const;
  void tell(BreakRecord& record, const Struck& hit, const rigid::Pose& pose) const;
  void replace(rigid::Simulation& simulation, const Break& record, fracture::BrokenBody broken,
               const BreakObserver& observer);
  void note(const BreakRecord& change, fracture::BrokenBody& broken, std::span<const Piece> pieces);
  // Adds the pieces to the simulation and to the lists here.
  void spawn(rigid::Simulation& simulation, const BreakRecord& change, std::span<Piece> pieces);
  // Joints of a body go over to the pieces that hold their anchors; pieces are the last bodies.
  void moveJoints(rigid::Simulation& simulation, rigid::BodyIndex old, uint32_t firstPiece) const;

  const Scene& scene_;
  std::vector<Object> objects_;
  std::map<uint32_t, Piece> wholes_;  // by the scene's body
  std::map<uint32_t, Piece> pieces_;  // by body of the simulation
  uint32_t sceneBodies_ = 0;          // come first in the simulation; all others are spawned
  std::vector<SpawnedBody> spawned_;
  std::vector<Break> breaks_;
  std::vector<BreakRecord> changes_;  // one a break
  ShownPieces shown_;                 // in the order of spawned_
  BreakObserver observer_;
  BreakageReport report_;
};

}  // namespace sunder::world
