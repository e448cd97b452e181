// Points of the pieces: those of the parent that are in them, and new ones on the corners of crack faces.
#include "sunder/base/parallel.h"
#include "sunder/fracture/pieces/fragment_shape.h"
#include "sunder/fracture/pieces/sphere_forest.h"

#include <algorithm>

namespace sunder::fracture::steps {

namespace {

// Where more than one face meets, points are moved this part of the way to the middle of their own: the
// nearest face of a neighbour is then the one that they touch.
constexpr double kInset = 0.01;

// New points of one piece.
struct PointMaker {
  const FragmentPart& part;
  const FragmentField& field;
  const FragmentField& parent;
  std::span<const uint32_t> parentRank;  // by vertex of the parent
  std::vector<NewPoint> points = {};
  std::vector<PointOrigin> origins = {};
  std::vector<Vec3> normals = {};
  // Points listed by the vertex that they hang below.
  enum class Kind : uint8_t { Alone, Rim, Crossing };  // no other face meets it, the surface, another crack
  struct Known {
    uint32_t other, surface, next;  // the vertex beyond a cut edge, or the other crack
    Kind kind;
  };
  std::vector<uint32_t> first = {};
  std::vector<Known> known = {};  // one a point

  void run() {
    first.assign(part.mesh.mesh.positions.size(), kNoIndex);
    for (uint32_t t = 0; t < field.tetCount(); ++t) {
      if (field.cutCount(t) == 0) continue;
      const uint32_t old = parent.cutCount(part.tetSource[t]);
      for (const CutCell::Face& face : part.cells[t].faces)
        if (face.plane >= 4 + old) addFace(t, face);
    }
    for (Vec3& n : normals) n.normalize();
  }

  void addFace(uint32_t t, const CutCell::Face& face) {
    const CutCell& cell = part.cells[t];
    const Cut& cut = part.mesh.cuts[t][face.plane - 4u];
    const uint32_t surface = cut.surface;
    const HalfSpace* flat = field.halfSpaces().of(surface);
    // The gradient of the crack's function is defined better than that of small polygons.
    const Vec3 normal = flat ? flat->normal
                             : Vec3(field.rest().gradient(field.rootTets()[t], cut.phi).normalized() *
                                    (cut.side > 0 ? -1.0 : 1.0));
    Vec3 middle = Vec3::Zero();
    for (const uint8_t c : cell.cornersOf(face)) middle += cell.corners[c].position;
    middle /= double(face.count);
    for (const uint8_t c : cell.cornersOf(face)) {
      const CutCell::Corner& corner = cell.corners[c];
      // On an edge of the tetrahedron: on two of its faces. On one of them: where two cracks cross.
      const bool onEdge = corner.planes[1] < 4, onFace = corner.planes[0] < 4;
      uint32_t below = kNoIndex, other = kNoIndex;
      if (onEdge) {
        for (uint8_t i = 0; i < 4; ++i) {
          if (i == corner.planes[0] || i == corner.planes[1]) continue;
          const uint32_t v = field.tet(t)[i];
          (field.corners(t) >> i & 1 && below == kNoIndex ? below : other) = v;
        }
      } else {
        below = nearestVertex(t, corner);
        const uint8_t crossing = corner.planes[corner.planes[1] == face.plane ? 2 : 1];
        if (onFace) other = part.mesh.cuts[t][crossing - 4u].surface;
      }
      const auto surfaceVertex = [&](uint32_t v) {
        const uint32_t root = v == kNoIndex ? kNoIndex : field.rootVertices()[v];
        return root != kNoIndex && field.rest().onSurface(root);
      };
      const Kind kind = !onEdge                                        ? Kind::Crossing
                        : surfaceVertex(below) && surfaceVertex(other) ? Kind::Rim
                                                                       : Kind::Alone;
      const auto number = uint32_t(points.size());
      if (below != kNoIndex && (onEdge || onFace)) {
        // One a vertex is as dense as the surface is; where cracks reach the surface all are kept.
        uint32_t k = first[below];
        while (k != kNoIndex && (known[k].surface != surface || known[k].kind != kind ||
                                 (kind != Kind::Alone && known[k].other != other)))
          k = known[k].next;
        if (k != kNoIndex) {
          if (known[k].other == other && onEdge) normals[k] += normal;
          continue;
        }
        known.push_back({other, surface, first[below], kind});
        first[below] = number;
      } else {
        known.push_back({other, surface, kNoIndex, kind});
        if (onEdge) below = nearestVertex(t, corner);
      }
      Vec3 at =
          kind == Kind::Alone ? corner.position : Vec3(corner.position + kInset * (middle - corner.position));
      // Where the crack bends around a vertex: all pieces have their points on the plane.
      if (flat) at -= flat->height(at) * flat->normal;
      points.push_back({at, below == kNoIndex ? kNoIndex : parentRank[part.vertexSource[below]]});
      origins.push_back({kNoIndex, t});
      normals.push_back(normal);
    }
  }

  // Of those that the cell has.
  uint32_t nearestVertex(uint32_t t, const CutCell::Corner& corner) const {
    uint32_t best = kNoIndex;
    double most = -1;
    for (size_t i = 0; i < 4; ++i)
      if (field.corners(t) >> i & 1 && corner.weights[i] > most) {
        most = corner.weights[i];
        best = field.tet(t)[i];
      }
    return best;
  }
};

}  // namespace

Points makePoints(const Fragment& parent, std::span<const FragmentPart> parts,
                  std::span<const std::shared_ptr<FragmentField>> fields) {
  const sdf::SphereTree& tree = parent.shape->points();
  const FragmentField& old = *parent.field;
  // Which piece has a vertex, and which tetrahedra came of one of the parent's.
  struct Copy {
    uint32_t part, tet, next;
  };
  std::vector<std::array<uint32_t, 2>> owner(old.rootVertices().size(), {kNoIndex, kNoIndex});
  std::vector<uint32_t> copies(old.tetCount(), kNoIndex);
  std::vector<Copy> list;
  for (uint32_t p = 0; p < parts.size(); ++p) {
    for (uint32_t v = 0; v < parts[p].vertexSource.size(); ++v)
      if (fields[p]->present(v)) owner[parts[p].vertexSource[v]] = {p, v};
    for (uint32_t t = 0; t < parts[p].tetSource.size(); ++t) {
      list.push_back({p, t, copies[parts[p].tetSource[t]]});
      copies[parts[p].tetSource[t]] = uint32_t(list.size()) - 1;
    }
  }
  std::vector<uint32_t> label(tree.pointCount(), kNoIndex), rankOfVertex(old.rootVertices().size(), kNoIndex);
  std::vector<PointOrigin> moved(tree.pointCount());
  for (uint32_t r = 0; r < tree.pointCount(); ++r) {
    const PointOrigin& origin = parent.origins[r];
    if (origin.vertex != kNoIndex) {
      rankOfVertex[origin.vertex] = r;
      label[r] = owner[origin.vertex][0];
      moved[r].vertex = owner[origin.vertex][1];
      continue;
    }
    const auto weights = old.rest().weights(old.rootTets()[origin.tet], tree.position[r]);
    for (uint32_t k = copies[origin.tet]; k != kNoIndex; k = list[k].next)
      if (fields[list[k].part]->onSides(list[k].tet, weights, old.cutCount(origin.tet))) {
        label[r] = list[k].part;
        moved[r].tet = list[k].tet;
      }
  }

  Points out;
  std::vector<std::vector<NewPoint>> added;
  std::vector<PointMaker> makers;
  for (size_t p = 0; p < parts.size(); ++p) makers.push_back({parts[p], *fields[p], old, rankOfVertex});
  parallelFor(
      parts.size(), [&](size_t p) { makers[p].run(); }, 1);
  for (PointMaker& maker : makers) added.push_back(std::move(maker.points));
  out.trees = splitForest(tree, label, added);
  out.origins.resize(parts.size());
  out.normals.resize(parts.size());
  for (uint32_t r = 0; r < tree.pointCount(); ++r) {
    if (label[r] == kNoIndex) continue;
    out.origins[label[r]].push_back(moved[r]);
    out.normals[label[r]].push_back(parent.shape->pointNormals()[r]);
  }
  for (size_t p = 0; p < parts.size(); ++p) {
    out.origins[p].insert(out.origins[p].end(), makers[p].origins.begin(), makers[p].origins.end());
    out.normals[p].insert(out.normals[p].end(), makers[p].normals.begin(), makers[p].normals.end());
  }
  return out;
}

}  // namespace sunder::fracture::steps
