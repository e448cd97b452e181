#include "sunder/soft/tear/tear.h"

#include "sunder/base/bytes.h"
#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

using geometry::u32;

double faceArea(const Cage& cage, uint32_t tet, int face) {
  const geometry::Tetrahedron& t = cage.rest.tets[tet];
  const Vec3& a = cage.rest.positions[t[(face + 1) & 3]];
  const Vec3& b = cage.rest.positions[t[(face + 2) & 3]];
  const Vec3& c = cage.rest.positions[t[(face + 3) & 3]];
  return (b - a).cross(c - a).norm() / 2;
}

}  // namespace

Torn::Torn(const Cage& cage) : cage_(&cage), tets_(cage.rest.tets) {
  const size_t vertices = cage.rest.positions.size();
  origin_.resize(vertices);
  for (size_t v = 0; v < vertices; ++v) origin_[v] = u32(v);
  std::vector<uint32_t> counts(vertices + 1, 0);
  for (const geometry::Tetrahedron& t : tets_)
    for (const uint32_t v : t) ++counts[v];
  geometry::countsToOffsets(counts);
  stars_.offsets = counts;
  stars_.items.resize(tets_.size() * 4);
  for (size_t t = 0; t < tets_.size(); ++t)
    for (uint32_t k = 0; k < 4; ++k) stars_.items[counts[tets_[t][k]]++] = u32(4 * t) + k;
  exposed_.assign(tets_.size(), 0);
  for (size_t t = 0; t < tets_.size(); ++t)
    for (int k = 0; k < 4; ++k)
      if (cage.neighbours[t][k] == kNoIndex) exposed_[t] |= static_cast<uint8_t>(1 << k);
}

// The corners that hold a vertex now are among those that held its origin at rest.
std::vector<uint32_t> Torn::starOf(uint32_t vertex) const {
  std::vector<uint32_t> corners;
  for (const uint32_t c : stars_.row(origin_[vertex]))
    if (tets_[c >> 2][c & 3] == vertex) corners.push_back(c);
  return corners;
}

uint8_t Torn::disagrees(uint32_t tet, int face) const {
  const uint32_t other = cage_->neighbours[tet][face];
  if (other == kNoIndex) return 0;
  const geometry::Tetrahedron& rest = cage_->rest.tets[tet];
  uint8_t bits = 0;
  for (int k = 0; k < 4; ++k) {
    if (k == face) continue;
    const int there = cornerOf(cage_->rest.tets[other], rest[k]);
    if (tets_[tet][k] != tets_[other][there]) bits |= static_cast<uint8_t>(1 << k);
  }
  return bits;
}

void Torn::give(uint32_t tet, int corner, uint32_t vertex, TearOutcome& outcome) {
  tets_[tet][corner] = vertex;
  outcome.corners.push_back({tet, static_cast<uint8_t>(corner), vertex});
}

void Torn::splitOff(uint32_t vertex, std::span<const uint32_t> corners, TearOutcome& outcome) {
  const uint32_t copy = u32(origin_.size());
  origin_.push_back(origin_[vertex]);
  outcome.sources.push_back(vertex);
  for (const uint32_t c : corners) give(c >> 2, static_cast<int>(c & 3), copy, outcome);
}

bool Torn::splitByPlane(uint32_t vertex, const Vec3& normal, std::span<const Vec3> positions,
                        TearOutcome& outcome) {
  const std::vector<uint32_t> star = starOf(vertex);
  std::vector<uint32_t> away;
  for (const uint32_t c : star) {
    Vec3 centre = Vec3::Zero();
    for (const uint32_t v : tets_[c >> 2]) {
      // Copies made a moment ago are where they come from.
      uint32_t at = v;
      while (at >= positions.size()) at = outcome.sources[at - outcome.firstNew];
      centre += positions[at] / 4;
    }
    if (!(normal.dot(centre - positions[vertex]) > 0)) away.push_back(c);
  }
  if (away.empty() || away.size() == star.size()) return false;
  splitOff(vertex, away, outcome);
  return true;
}

// A vertex whose tetrahedra do not all hang together by faces that have it becomes one vertex for each group.
void Torn::partHinges(std::vector<uint32_t> vertices, TearOutcome& outcome) {
  for (const uint32_t vertex : vertices) {
    const std::vector<uint32_t> star = starOf(vertex);
    DisjointSets groups(star.size());
    for (uint32_t i = 0; i < star.size(); ++i) {
      const uint32_t t = star[i] >> 2;
      for (int face = 0; face < 4; ++face) {
        if (face == static_cast<int>(star[i] & 3)) continue;
        const uint32_t other = cage_->neighbours[t][face];
        if (other == kNoIndex || other > t || disagrees(t, face) != 0) continue;
        for (uint32_t j = 0; j < i; ++j)
          if (star[j] >> 2 == other) groups.unite(i, j);
      }
    }
    for (uint32_t root = 1; root < star.size(); ++root) {
      if (!groups.isRoot(root)) continue;  // the group of the first tetrahedron keeps the vertex
      std::vector<uint32_t> corners;
      for (uint32_t i = 0; i < star.size(); ++i)
        if (groups.find(i) == root) corners.push_back(star[i]);
      splitOff(vertex, corners, outcome);
      ++outcome.hinges;
    }
  }
}

void Torn::expose(std::span<const uint32_t> touched, TearOutcome& outcome) {
  for (const uint32_t t : touched) {
    for (int k = 0; k < 4; ++k) {
      const uint32_t other = cage_->neighbours[t][k];
      if (other == kNoIndex || disagrees(t, k) == 0) continue;
      int back = 0;
      while (cage_->neighbours[other][back] != t) ++back;
      if (!(exposed_[t] >> k & 1)) outcome.opened.push_back(std::min(4 * t + u32(k), 4 * other + u32(back)));
      exposed_[t] |= static_cast<uint8_t>(1 << k);
      exposed_[other] |= static_cast<uint8_t>(1 << back);
    }
  }
  std::sort(outcome.opened.begin(), outcome.opened.end());
}

// Exposure of the tetrahedra that changed, and the open area, summed afresh so that it does not depend on the
// way here.
void Torn::finish(TearOutcome& outcome) {
  std::vector<uint32_t> touched;
  for (const TornCorner& c : outcome.corners) touched.push_back(c.tet);
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  expose(touched, outcome);
  openArea_ = 0;
  for (uint32_t t = 0; t < tets_.size(); ++t) {
    if (exposed_[t] == 0) continue;
    for (int k = 0; k < 4; ++k) {
      const uint32_t other = cage_->neighbours[t][k];
      if (other == kNoIndex || other < t || !(exposed_[t] >> k & 1)) continue;
      openArea_ += faceArea(*cage_, t, k) * std::popcount(disagrees(t, k)) / 3;
    }
  }
}

TearOutcome Torn::split(uint32_t vertex, const Vec3& normal, std::span<const Vec3> positions,
                        bool partHinges) {
  if (vertex >= vertices() || positions.size() != vertices())
    throw Error(ErrorKind::Usage, fmt::format("a split of vertex {} of {}, with positions of {}", vertex,
                                              vertices(), positions.size()));
  TearOutcome outcome;
  outcome.firstNew = u32(vertices());
  if (splitByPlane(vertex, normal, positions, outcome)) {
    outcome.splits = 1;
    if (partHinges) {
      std::vector<uint32_t> around;
      for (const uint32_t c : stars_.row(origin_[vertex]))
        for (const uint32_t v : tets_[c >> 2]) around.push_back(v);
      std::sort(around.begin(), around.end());
      around.erase(std::unique(around.begin(), around.end()), around.end());
      this->partHinges(std::move(around), outcome);
    }
  }
  finish(outcome);
  return outcome;
}

TearOutcome Torn::tear(const TearSettings& settings, std::span<const Separation> separations,
                       std::span<const Vec3> positions) {
  if (separations.size() != vertices() || positions.size() != vertices())
    throw Error(ErrorKind::Usage,
                fmt::format("a tear of {} vertices with separations of {} and positions of {}", vertices(),
                            separations.size(), positions.size()));
  TearOutcome outcome;
  outcome.firstNew = u32(vertices());
  struct Candidate {
    double excess;
    uint32_t vertex;
  };
  std::vector<Candidate> candidates;
  for (uint32_t v = 0; v < separations.size(); ++v) {
    const Separation& s = separations[v];
    const double excess = settings.force > 0 ? s.force / settings.force : s.stress() / settings.strength;
    if (excess > 1) candidates.push_back({excess, v});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.excess != b.excess ? a.excess > b.excess : a.vertex < b.vertex;
  });
  std::vector<uint32_t> around;
  for (const Candidate& c : candidates) {
    if (outcome.splits == settings.mostSplits) break;
    if (!splitByPlane(c.vertex, separations[c.vertex].normal, positions, outcome)) continue;
    ++outcome.splits;
    for (const uint32_t corner : stars_.row(origin_[c.vertex]))
      for (const uint32_t v : tets_[corner >> 2]) around.push_back(v);
  }
  if (settings.partHinges) {
    std::sort(around.begin(), around.end());
    around.erase(std::unique(around.begin(), around.end()), around.end());
    partHinges(std::move(around), outcome);
  }
  finish(outcome);
  return outcome;
}

Torn::Pieces Torn::pieces() const {
  DisjointSets sets(tets_.size());
  for (uint32_t t = 0; t < tets_.size(); ++t)
    for (int k = 0; k < 4; ++k) {
      const uint32_t other = cage_->neighbours[t][k];
      if (other != kNoIndex && other < t && disagrees(t, k) == 0) sets.unite(t, other);
    }
  Pieces pieces;
  pieces.of.resize(tets_.size());
  for (uint32_t t = 0; t < tets_.size(); ++t)
    pieces.of[t] = sets.isRoot(t) ? pieces.count++ : pieces.of[sets.find(t)];
  return pieces;
}

geometry::TopologyChange Torn::change(uint64_t body, const TearOutcome& outcome) const {
  geometry::TopologyChange change;
  change.kind = geometry::ChangeKind::Split;
  const uint32_t tets = u32(tets_.size());
  change.disappeared = {{body, outcome.firstNew, 4 * tets, tets}};
  change.appeared = {{{body, u32(vertices()), 4 * tets, tets}, {0}, 0}};
  change.vertexSource.resize(vertices());
  for (uint32_t v = 0; v < vertices(); ++v) {
    uint32_t source = v;
    while (source >= outcome.firstNew) source = outcome.sources[source - outcome.firstNew];
    change.vertexSource[v] = source;
  }
  change.faceSource.resize(size_t(4) * tets);
  for (uint32_t f = 0; f < 4 * tets; ++f) change.faceSource[f] = f;
  change.tetSource.resize(tets);
  for (uint32_t t = 0; t < tets; ++t) change.tetSource[t] = t;
  return change;
}

void Torn::save(ByteWriter& out) const {
  const uint32_t first = u32(cage_->rest.positions.size());
  out.u32(u32(vertices()) - first);
  for (uint32_t v = first; v < vertices(); ++v) out.u32(origin_[v]);
  uint32_t moved = 0;
  for (size_t t = 0; t < tets_.size(); ++t)
    for (int k = 0; k < 4; ++k) moved += tets_[t][k] != cage_->rest.tets[t][k];
  out.u32(moved);
  for (uint32_t t = 0; t < tets_.size(); ++t)
    for (uint32_t k = 0; k < 4; ++k)
      if (tets_[t][k] != cage_->rest.tets[t][k]) {
        out.u32(4 * t + k);
        out.u32(tets_[t][k]);
      }
}

void Torn::load(ByteReader& in) {
  Torn read(*cage_);
  const uint32_t added = in.u32("number of torn vertices");
  in.need(added, 4, "torn vertices");
  if (added > 4 * tets_.size())
    in.fail(fmt::format("{} torn vertices for {} tetrahedra", added, tets_.size()));
  const uint32_t first = u32(cage_->rest.positions.size());
  for (uint32_t i = 0; i < added; ++i) {
    const uint32_t origin = in.u32("origin of a torn vertex");
    if (origin >= first) in.fail(fmt::format("a torn vertex of vertex {} of {}", origin, first));
    read.origin_.push_back(origin);
  }
  TearOutcome outcome;
  const uint32_t moved = in.u32("number of torn corners");
  in.need(moved, 8, "torn corners");
  for (uint32_t i = 0; i < moved; ++i) {
    const uint32_t corner = in.u32("torn corner");
    const uint32_t vertex = in.u32("vertex of a torn corner");
    if (corner / 4 >= tets_.size() || vertex < first || vertex >= read.vertices() ||
        read.origin_[vertex] != cage_->rest.tets[corner / 4][corner % 4])
      in.fail(fmt::format("corner {} of {} given to vertex {}", corner, 4 * tets_.size(), vertex));
    read.give(corner / 4, static_cast<int>(corner % 4), vertex, outcome);
  }
  read.finish(outcome);
  *this = std::move(read);
}

}  // namespace sunder::soft
