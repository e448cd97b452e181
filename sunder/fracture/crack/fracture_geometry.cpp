#include "sunder/fracture/crack/fracture_geometry.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace sunder::fracture {

namespace {

std::vector<std::pair<uint32_t, int8_t>> sidesOf(const std::vector<Cut>& cuts) {
  std::vector<std::pair<uint32_t, int8_t>> sides;
  for (const Cut& cut : cuts) sides.emplace_back(cut.surface, cut.side);
  return sides;
}

}  // namespace

FractureGeometry::State::State(CrackedMesh m) : mesh(std::move(m)), slots(mesh.size()) {
  std::iota(slots.begin(), slots.end(), 0u);
  refresh();
}

void FractureGeometry::State::refresh() {
  cells = cellsOf(mesh);
  links = linksOf(mesh, cells);
  vertexSource.resize(mesh.mesh.positions.size());
  std::iota(vertexSource.begin(), vertexSource.end(), 0u);
}

PlannedMark FractureGeometry::State::planned(const Mark& mark) const {
  return {slots[mark.tet], sidesOf(mesh.cuts[mark.tet]), mark.phi};
}

void FractureGeometry::State::insert(const PlannedCrack& crack, std::vector<uint32_t>* source) {
  std::unordered_map<uint32_t, std::vector<const PlannedMark*>> bySlot;
  for (const PlannedMark& planned : crack.marks) bySlot[planned.slot].push_back(&planned);
  std::vector<Mark> marks;
  for (uint32_t t = 0; t < mesh.size(); ++t) {
    const auto found = bySlot.find(slots[t]);
    if (found == bySlot.end()) continue;
    for (const PlannedMark* planned : found->second)
      if (sidesOf(mesh.cuts[t]) == planned->sides) marks.push_back({t, planned->phi});
  }
  if (marks.size() != crack.marks.size())
    throw Error(ErrorKind::Usage, "a crack does not fit the mesh that it was made for");
  Dissection result = dissect(std::move(mesh), std::move(cells), links, crack.id, marks);
  std::vector<uint32_t> next(result.tetSource.size());
  for (size_t t = 0; t < next.size(); ++t) next[t] = slots[result.tetSource[t]];
  mesh = std::move(result.mesh);
  cells = std::move(result.cells);
  links = std::move(result.links);
  slots = std::move(next);
  std::vector<uint32_t> origin(result.vertexSource.size());
  for (size_t v = 0; v < origin.size(); ++v) origin[v] = vertexSource[result.vertexSource[v]];
  vertexSource = std::move(origin);
  if (source) *source = std::move(result.vertexSource);
}

void FractureGeometry::begin() {
  if (refinement_) return;
  std::vector<char> locked(body_.size(), 0);
  for (size_t t = 0; t < body_.size(); ++t) locked[t] = !body_.cuts[t].empty();
  refinement_.emplace(body_.mesh, locked);
  for (const PlannedCrack& crack : cracks_)
    for (const PlannedMark& mark : crack.marks) refinement_->setLocked(mark.slot, true);
}

FractureGeometry::State FractureGeometry::uncracked() const {
  if (!refinement_) return State(body_);
  State state;
  state.mesh.mesh = refinement_->mesh(&state.slots);
  state.mesh.cuts.resize(state.mesh.mesh.tets.size());
  // Cut tetrahedra of the body are locked, so they keep their slots; the order of their vertices too.
  for (size_t t = 0; t < state.slots.size(); ++t)
    if (state.slots[t] < body_.size()) state.mesh.cuts[t] = body_.cuts[state.slots[t]];
  state.refresh();
  return state;
}

const FractureGeometry::State& FractureGeometry::cracked() {
  if (!cracked_) {
    State state = uncracked();
    for (const PlannedCrack& crack : cracks_) state.insert(crack);
    cracked_ = std::move(state);
  }
  return *cracked_;
}

bool FractureGeometry::refine(std::span<const uint32_t> slots) {
  if (slots.empty()) return false;
  begin();
  std::vector<uint32_t> chosen(slots.begin(), slots.end());
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  std::vector<uint16_t> generation;
  for (const uint32_t slot : chosen) generation.push_back(refinement_->tets()[slot].generation);
  // Some operations leave the number of tetrahedra as it is.
  const auto operations = [&] {
    size_t sum = 0;
    for (size_t kind = 0; kind < tet::kRefineKinds; ++kind)
      sum += refinement_->opCount(tet::RefineKind(kind));
    return sum;
  };
  const size_t before = operations();
  for (size_t i = 0; i < chosen.size(); ++i) {
    // Neighbours that came first may have taken it along.
    const tet::RefinedTet& t = refinement_->tets()[chosen[i]];
    if (t.alive && !t.locked && t.generation == generation[i]) refinement_->refineFull(chosen[i]);
  }
  if (operations() == before) return false;
  cracked_.reset();
  return true;
}

void FractureGeometry::add(PlannedCrack crack) {
  if (refinement_)
    for (const PlannedMark& mark : crack.marks) refinement_->setLocked(mark.slot, true);
  if (cracked_) cracked_->insert(crack);
  cracks_.push_back(std::move(crack));
}

void FractureGeometry::coarsen() {
  if (refinement_ && refinement_->coarsenAll() > 0) cracked_.reset();
}

void FractureGeometry::setCracks(std::vector<PlannedCrack> cracks) {
  cracks_ = std::move(cracks);
  cracked_.reset();
}

}  // namespace sunder::fracture
