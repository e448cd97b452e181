// The one record of a change of topology. A cut, a crack, a split, a merge or a spawn says here what
// disappeared, what appeared, and where every vertex, face and tetrahedron of the new bodies came from;
// trees, distance fields, mass properties, recordings and viewers update from it instead of finding out
// again.
//
// The elements of all disappeared bodies are numbered one body after another, and so are those of the
// appeared ones; a map has, for each new element, the old one it comes from. That side of the map is a
// function (a cut face becomes several, never the reverse); descendants() gives the other side.
#pragma once

#include "sunder/geometry/rows.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sunder::geometry {

enum class ChangeKind : uint8_t { Cut, Crack, Split, Merge, Spawn, Remove, Several, Refine };

// A body and how many elements its meshes have.
struct BodyRecord {
  uint64_t id = 0;
  uint32_t vertices = 0, faces = 0, tets = 0;
  bool operator==(const BodyRecord&) const = default;
};

struct AppearedBody {
  BodyRecord body;
  std::vector<uint32_t> parents;  // ascending, into `disappeared`; none for a spawn, several for a merge
  uint32_t ordinal = 0;           // which child of its first parent it was when made; compose() keeps it
  bool operator==(const AppearedBody&) const = default;
};

struct TopologyChange {
  ChangeKind kind = ChangeKind::Cut;
  std::vector<BodyRecord> disappeared;
  std::vector<AppearedBody> appeared;
  // Per new element, all appeared bodies one after another: the old element, or kNoIndex where the change
  // made it.
  std::vector<uint32_t> vertexSource, faceSource, tetSource;
  bool operator==(const TopologyChange&) const = default;
};

// Identity of a child: a fixed mix of its parent's id and its number, so that it does not depend on when or
// by which thread the child was made.
uint64_t childId(uint64_t parent, uint32_t ordinal);

// Per old element, the new elements that come from it, ascending. `oldCount` is the total over the
// disappeared bodies.
Rows descendants(const std::vector<uint32_t>& source, size_t oldCount);

// The maps of each appeared body, in order.
struct BodySources {
  std::span<const uint32_t> vertices, faces, tets;
};
std::vector<BodySources> sourcesByBody(const TopologyChange& change);

// Empty when the record is consistent: ids are unique, parents exist, maps have one entry per new element,
// each pointing into a parent of the body it is in. Else what is wrong.
std::string validate(const TopologyChange& change);

// `first`, then `second`, as one change. Bodies that `first` made and `second` took away leave no trace but
// the links from their descendants to their ancestors. Throws Error (Usage) when the two do not fit: a body
// disappears twice, or has other counts than it appeared with.
TopologyChange compose(const TopologyChange& first, const TopologyChange& second);

}  // namespace sunder::geometry
