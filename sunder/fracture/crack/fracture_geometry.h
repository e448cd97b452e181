// The mesh of a body while it is analysed and cracked: refined and coarsened by the reversible scheme, with
// cracks kept beside it as lists of cut tetrahedra, so that the cracked mesh can be made again whenever the
// mesh below it changed. Tetrahedra that are cut are locked and stay as they are. Not for use outside this
// room.
#pragma once

#include "sunder/fracture/crack/crack.h"
#include "sunder/tet/refinement.h"

#include <optional>
#include <span>
#include <vector>

namespace sunder::fracture {

class FractureGeometry {
 public:
  // A mesh with what follows from it; slots of its tetrahedra in the refinement.
  struct State {
    CrackedMesh mesh;
    std::vector<uint32_t> slots;
    std::vector<CutCell> cells;
    std::vector<Link> links;
    std::vector<uint32_t> vertexSource;  // of each vertex in the mesh without the cracks that were inserted

    State() = default;
    explicit State(CrackedMesh m);
    void refresh();
    PlannedMark planned(const Mark& mark) const;
    // `source`: the vertex of each new one just before.
    void insert(const PlannedCrack& crack, std::vector<uint32_t>* source = nullptr);
  };

  explicit FractureGeometry(const CrackedMesh& body) : body_(body) {}

  const CrackedMesh& body() const { return body_; }
  const std::vector<PlannedCrack>& cracks() const { return cracks_; }

  State uncracked() const;  // without the planned cracks
  const State& cracked();   // with all of them
  // One cycle for what the slots hold; false where nothing could be done.
  bool refine(std::span<const uint32_t> slots);
  void add(PlannedCrack crack);  // and locks what it cuts
  void coarsen();
  const tet::Refinement* refinement() const { return refinement_ ? &*refinement_ : nullptr; }
  // Others instead of the planned ones, which cut no other slots.
  void setCracks(std::vector<PlannedCrack> cracks);

 private:
  void begin();

  const CrackedMesh& body_;
  std::optional<tet::Refinement> refinement_;  // once it is needed
  std::vector<PlannedCrack> cracks_;
  std::optional<State> cracked_;
};

}  // namespace sunder::fracture
