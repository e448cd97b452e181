#include "sunder/tet/refinement_history.h"

#include "sunder/base/error.h"
#include "sunder/tet/refinement.h"

#include <algorithm>
#include <string>

namespace sunder::tet {

uint64_t Refinement::historyWord(uint32_t tet) const {
  // From the tetrahedron back to the input; every operation sets bits of its own.
  uint64_t word = tets_[tet].generation;
  while (tets_[tet].madeBy != kNoIndex) {
    const RefineOp& op = ops_[tets_[tet].madeBy];
    const size_t place = size_t(std::find(op.out.begin(), op.out.end(), tet) - op.out.begin());
    const uint32_t parent = op.kind == RefineKind::EdgeCut ? op.in[place / 3] : op.in[0];
    static constexpr uint64_t kFaceEdges[3] = {0, 3, 1};  // (0, 1), (1, 2), (0, 2) of the parent
    uint64_t bits = 0;
    switch (op.kind) {
      case RefineKind::Split:
        bits = place == 0 ? 1 : 0;
        break;
      case RefineKind::FaceFlip:
      case RefineKind::FaceSplit:
        bits = (place == 0 ? 2u : 0u) | kFaceEdges[place] << 2;
        break;
      case RefineKind::EdgeCut:
        bits = place % 3 == 0 ? 32 : 0;
        break;
      case RefineKind::CornerFlip:
      case RefineKind::BoundaryCornerFlip:
        bits = place == 0 ? 64 : 0;
        break;
      case RefineKind::CornerMerge:
        break;
    }
    word |= bits << (6 + 7 * tets_[parent].cycle());
    tet = parent;
  }
  return word;
}

std::vector<Refinement::LoggedOp> Refinement::log() const {
  std::vector<LoggedOp> log;
  std::vector<uint32_t> number(tets_.size(), kNoIndex);  // of a slot when the log is replayed
  uint32_t next = 0;
  for (uint32_t t = 0; t < tets_.size(); ++t)
    if (tets_[t].madeBy == kNoIndex && (tets_[t].alive || tets_[t].usedBy != kNoIndex)) number[t] = next++;
  std::vector<bool> written(ops_.size(), false);
  std::vector<uint32_t> work;
  for (uint32_t first = 0; first < ops_.size(); ++first) {
    if (!ops_[first].alive) continue;
    work.push_back(first);
    while (!work.empty()) {
      const uint32_t o = work.back();
      const RefineOp& op = ops_[o];
      const size_t before = work.size();
      if (!written[o])
        for (const uint32_t t : op.in)
          if (tets_[t].madeBy != kNoIndex && !written[tets_[t].madeBy]) work.push_back(tets_[t].madeBy);
      if (work.size() != before) continue;
      work.pop_back();
      if (written[o]) continue;
      written[o] = true;
      log.push_back({op.kind, number[op.in[0]]});
      if (op.kind != RefineKind::EdgeCut) {
        for (const uint32_t t : op.out) number[t] = next++;
        continue;
      }
      // An edge cut replaces the tetrahedron it is asked for, then the others by ascending number.
      std::vector<size_t> order(op.in.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::sort(order.begin() + 1, order.end(),
                [&](size_t a, size_t b) { return number[op.in[a]] < number[op.in[b]]; });
      for (const size_t i : order)
        for (size_t k = 0; k < 3; ++k) number[op.out[3 * i + k]] = next++;
    }
  }
  return log;
}

Refinement Refinement::replay(const geometry::TetMesh& input, std::span<const LoggedOp> log) {
  Refinement result(input);
  for (size_t i = 0; i < log.size(); ++i) {
    const uint32_t t = log[i].tet;
    const size_t before = result.ops_.size();
    const bool fits = t < result.tets_.size() && result.tets_[t].alive &&
                      result.step(t) == RefineStatus::Done && result.ops_.size() == before + 1 &&
                      result.ops_.back().kind == log[i].kind;
    if (!fits)
      throw Error(ErrorKind::Usage,
                  "operation " + std::to_string(i) + " of the log does not fit the mesh it is replayed on");
  }
  return result;
}

}  // namespace sunder::tet
