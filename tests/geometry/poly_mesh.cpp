#include "geometry/poly_mesh.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/adjacency.h"

#include <algorithm>

#include <fmt/format.h>

namespace sunder::geometry {

namespace {

constexpr const char* kSplitHint = "cleaning with splitNonManifold cuts it apart";

void requirePolygons(const MeshView& mesh) {
  const Tally bad = tally(
      mesh.faceCount(), [&](size_t f) { return mesh.end(f) - mesh.begin(f) < 3 || repeatsVertex(mesh, f); });
  if (bad.count == 0) return;
  const uint32_t f = bad.first[0];
  throw Error(ErrorKind::Geometry, mesh.face(f).size() < 3
                                       ? fmt::format("face {} has only {} corners", f, mesh.face(f).size())
                                       : fmt::format("face {} has the same vertex at two corners", f))
      .hint("cleaning drops degenerate faces");
}

void requireManifoldEdges(const MeshView& mesh, const EdgeAdjacency& edges) {
  const Tally bad = tally(
      edges.size(), [&](size_t e) { return edges.uses.row(e).size() != 1 && !isRegular(mesh, edges, e); });
  if (bad.count == 0) return;
  const uint32_t e = bad.first[0];
  const auto uses = edges.uses.row(e);
  const std::string edge = fmt::format("edge {}-{}", edges.edges[e][0], edges.edges[e][1]);
  if (uses.size() == 2) {
    throw Error(ErrorKind::Geometry, fmt::format("{} is run along in the same direction by faces {} and {}",
                                                 edge, uses[0].face, uses[1].face))
        .hint("cleaning with orient turns faces the same way");
  }
  std::string faces;
  for (size_t i = 0; i < std::min<size_t>(uses.size(), 8); ++i) {
    faces += fmt::format("{}{}", i == 0 ? "" : ", ", uses[i].face);
  }
  throw Error(ErrorKind::Geometry, fmt::format("{} is shared by {} faces ({}{})", edge, uses.size(), faces,
                                               uses.size() > 8 ? ", ..." : ""))
      .hint(kSplitHint);
}

}  // namespace

PolyMesh::PolyMesh(const MeshView& mesh) : positions_(mesh.positions.begin(), mesh.positions.end()) {
  requireValid(mesh);
  requirePolygons(mesh);
  const EdgeAdjacency edges = edgeAdjacency(mesh);
  requireManifoldEdges(mesh, edges);

  const size_t cornerCount = mesh.corners.size(), faces = mesh.faceCount();
  size_t total = cornerCount;
  for (size_t e = 0; e < edges.size(); ++e) total += edges.uses.row(e).size() == 1 ? 1 : 0;
  if (total >= kNoIndex)
    throw Error(ErrorKind::Limit, "the mesh has more half-edges than 32-bit indices can name");
  next_.resize(total);
  twin_.resize(total);
  origin_.resize(total);
  face_.resize(total);
  faceHalfedge_.resize(faces);
  faceSource_.resize(faces);
  vertexHalfedge_.resize(positions_.size());

  parallelFor(faces, [&](size_t f) {
    faceHalfedge_[f] = HalfedgeIndex(mesh.begin(f));
    faceSource_[f] = u32(f);
    for (uint32_t c = mesh.begin(f); c < mesh.end(f); ++c) {
      next_[c] = HalfedgeIndex(mesh.next(f, c));
      origin_[c] = VertexIndex(mesh.corners[c]);
      face_[c] = FaceIndex(u32(f));
    }
  });

  uint32_t open = u32(cornerCount);
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto uses = edges.uses.row(e);
    const uint32_t c = uses[0].corner;
    const uint32_t other = uses.size() == 2 ? uses[1].corner : open++;
    twin_[c] = HalfedgeIndex(other);
    twin_[other] = HalfedgeIndex(c);
    if (uses.size() == 2) continue;
    const VertexIndex from = origin_[next_[c].value];
    origin_[other] = from;
    if (vertexHalfedge_[from.value].valid()) {
      throw Error(ErrorKind::Geometry,
                  fmt::format("vertex {} joins faces that share no edge there", from.value))
          .hint(kSplitHint);
    }
    vertexHalfedge_[from.value] = HalfedgeIndex(other);
  }
  for (uint32_t h = u32(cornerCount); h < total; ++h) {
    next_[h] = vertexHalfedge_[origin_[twin_[h].value].value];
    // Every boundary half-edge that enters a vertex is followed by one that leaves it: each fan has one of
    // both.
    assert(next_[h].valid());
  }
  for (uint32_t c = 0; c < cornerCount; ++c) {
    HalfedgeIndex& start = vertexHalfedge_[mesh.corners[c]];
    if (!start.valid()) start = HalfedgeIndex(c);
  }

  // One fan per vertex: the walk around it must meet all of its half-edges.
  std::vector<uint32_t> outgoing(positions_.size(), 0);
  for (const VertexIndex v : origin_) ++outgoing[v.value];
  const Tally bad = tally(positions_.size(), [&](size_t v) {
    return outgoing[v] != 0 && valence(VertexIndex(u32(v))) != outgoing[v];
  });
  if (bad.count != 0) {
    throw Error(ErrorKind::Geometry,
                fmt::format("vertex {} joins faces that share no edge there", bad.first[0]))
        .hint(kSplitHint);
  }
}

HalfedgeIndex PolyMesh::previous(HalfedgeIndex h) const {
  HalfedgeIndex incoming = twin(h);
  while (next(incoming) != h) incoming = twin(next(incoming));
  return incoming;
}

HalfedgeIndex PolyMesh::find(VertexIndex from, VertexIndex to) const {
  for (const HalfedgeIndex h : star(from)) {
    if (target(h) == to) return h;
  }
  return {};
}

size_t PolyMesh::degree(FaceIndex f) const {
  size_t n = 0;
  for ([[maybe_unused]] const HalfedgeIndex h : corners(f)) ++n;
  return n;
}

size_t PolyMesh::valence(VertexIndex v) const {
  size_t n = 0;
  for ([[maybe_unused]] const HalfedgeIndex h : star(v)) ++n;
  return n;
}

std::vector<HalfedgeIndex> PolyMesh::boundaryLoops() const {
  std::vector<HalfedgeIndex> loops;
  std::vector<bool> seen(halfedgeCount(), false);
  for (uint32_t h = 0; h < halfedgeCount(); ++h) {
    if (seen[h] || face_[h].valid()) continue;
    loops.emplace_back(h);
    for (const HalfedgeIndex g : loop(HalfedgeIndex(h))) seen[g.value] = true;
  }
  return loops;
}

VertexIndex PolyMesh::addVertex(const Vec3& position) {
  positions_.push_back(position);
  vertexHalfedge_.emplace_back();
  return VertexIndex(u32(positions_.size() - 1));
}

HalfedgeIndex PolyMesh::addHalfedge(VertexIndex origin, FaceIndex face) {
  next_.emplace_back();
  twin_.emplace_back();
  origin_.push_back(origin);
  face_.push_back(face);
  return HalfedgeIndex(u32(next_.size() - 1));
}

VertexIndex PolyMesh::splitEdge(HalfedgeIndex h, const Vec3& position) {
  const HalfedgeIndex t = twin(h);
  const VertexIndex v = addVertex(position);
  const HalfedgeIndex onward = addHalfedge(v, face(h)), back = addHalfedge(v, face(t));
  next_[onward.value] = next(h);
  next_[back.value] = next(t);
  next_[h.value] = onward;
  next_[t.value] = back;
  twin_[h.value] = back;
  twin_[back.value] = h;
  twin_[t.value] = onward;
  twin_[onward.value] = t;
  vertexHalfedge_[v.value] = isBoundary(back) ? back : onward;
  return v;
}

FaceIndex PolyMesh::splitFace(HalfedgeIndex a, HalfedgeIndex b) {
  if (!face(a).valid() || face(a) != face(b)) {
    throw Error(ErrorKind::Usage, "splitting a face needs two corners of the same face");
  }
  if (a == b || next(a) == b || next(b) == a) {
    throw Error(ErrorKind::Usage,
                fmt::format("the corners to connect are neighbours in face {}", face(a).value));
  }
  if (find(origin(a), origin(b)).valid()) {
    throw Error(ErrorKind::Geometry, fmt::format("vertices {} and {} are joined by an edge already",
                                                 origin(a).value, origin(b).value));
  }
  const FaceIndex old = face(a), added(u32(faceCount()));
  const HalfedgeIndex beforeA = previous(a), beforeB = previous(b);
  const HalfedgeIndex closeA = addHalfedge(origin(b), old), closeB = addHalfedge(origin(a), added);
  next_[closeA.value] = a;
  next_[closeB.value] = b;
  next_[beforeB.value] = closeA;
  next_[beforeA.value] = closeB;
  twin_[closeA.value] = closeB;
  twin_[closeB.value] = closeA;
  faceHalfedge_[old.value] = a;
  faceHalfedge_.push_back(b);
  faceSource_.push_back(faceSource_[old.value]);
  for (const HalfedgeIndex h : loop(b)) face_[h.value] = added;
  return added;
}

std::string PolyMesh::validate() const {
  const size_t n = halfedgeCount();
  if (twin_.size() != n || origin_.size() != n || face_.size() != n)
    return "half-edge arrays differ in length";
  if (vertexHalfedge_.size() != vertexCount() || faceSource_.size() != faceCount())
    return "array lengths differ";
  std::vector<bool> entered(n, false);
  for (uint32_t i = 0; i < n; ++i) {
    if (next_[i].value >= n || twin_[i].value >= n) return fmt::format("half-edge {} leads nowhere", i);
    if (origin_[i].value >= vertexCount()) return fmt::format("half-edge {} starts nowhere", i);
    if (face_[i].valid() && face_[i].value >= faceCount())
      return fmt::format("half-edge {} has no such face", i);
    if (entered[next_[i].value]) return fmt::format("half-edge {} follows two others", next_[i].value);
    entered[next_[i].value] = true;
  }
  for (uint32_t i = 0; i < n; ++i) {
    const HalfedgeIndex h(i);
    if (twin(h) == h || twin(twin(h)) != h) return fmt::format("half-edge {} is not its twin's twin", i);
    if (origin(h) == target(h)) return fmt::format("half-edge {} ends where it starts", i);
    if (origin(next(h)) != target(h))
      return fmt::format("half-edge {} does not end where its next starts", i);
    if (face(next(h)) != face(h)) return fmt::format("half-edge {} and its next differ in face", i);
    if (isBoundary(h) && isBoundary(twin(h)))
      return fmt::format("half-edge {} has no face on either side", i);
  }
  size_t inFaces = 0, withFace = 0;
  for (uint32_t i = 0; i < n; ++i) withFace += face_[i].valid() ? 1 : 0;
  std::vector<uint32_t> around;
  for (uint32_t i = 0; i < faceCount(); ++i) {
    const FaceIndex f(i);
    if (halfedge(f).value >= n || face(halfedge(f)) != f)
      return fmt::format("face {} has a foreign half-edge", i);
    around.clear();
    for (const HalfedgeIndex h : corners(f)) around.push_back(origin(h).value);
    inFaces += around.size();
    if (around.size() < 3) return fmt::format("face {} has fewer than three corners", i);
    std::sort(around.begin(), around.end());
    if (std::adjacent_find(around.begin(), around.end()) != around.end()) {
      return fmt::format("face {} repeats a vertex", i);
    }
  }
  if (inFaces != withFace) return "a face has more than one loop";
  size_t inStars = 0;
  for (uint32_t i = 0; i < vertexCount(); ++i) {
    const VertexIndex v(i);
    if (!halfedge(v).valid()) continue;
    if (halfedge(v).value >= n || origin(halfedge(v)) != v)
      return fmt::format("vertex {} has a foreign half-edge", i);
    around.clear();
    size_t open = 0;
    for (const HalfedgeIndex h : star(v)) {
      around.push_back(target(h).value);
      open += isBoundary(h) ? 1 : 0;
    }
    inStars += around.size();
    if (open > 1) return fmt::format("vertex {} has two boundary gaps", i);
    if (open == 1 && !isBoundary(halfedge(v)))
      return fmt::format("vertex {} does not start at its boundary", i);
    std::sort(around.begin(), around.end());
    if (std::adjacent_find(around.begin(), around.end()) != around.end()) {
      return fmt::format("vertex {} has two edges to the same vertex", i);
    }
  }
  if (inStars != n) return "a vertex has more than one fan";
  return {};
}

PolygonSoup toSoup(const PolyMesh& mesh) {
  PolygonSoup soup;
  soup.positions.assign(mesh.positions().begin(), mesh.positions().end());
  soup.faceOffsets.reserve(mesh.faceCount() + 1);
  soup.corners.reserve(mesh.halfedgeCount());
  for (uint32_t f = 0; f < mesh.faceCount(); ++f) {
    for (const HalfedgeIndex h : mesh.corners(FaceIndex(f))) soup.corners.push_back(mesh.origin(h).value);
    soup.faceOffsets.push_back(u32(soup.corners.size()));
  }
  return soup;
}

}  // namespace sunder::geometry
