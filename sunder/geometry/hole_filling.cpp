#include "sunder/base/error.h"
#include "sunder/geometry/adjacency.h"
#include "sunder/geometry/mesh_clean.h"
#include "sunder/geometry/vector_area.h"

#include <algorithm>

namespace sunder::geometry {

namespace {

// A polygon counts as flat when its corners stay this close to its plane, relative to its size.
constexpr double kFlat = 1e-6;

// One boundary edge as its face runs along it: `corner` starts it, `target` is the corner where it ends.
struct RimEdge {
  uint32_t face, corner, target;
};

struct Rim {
  std::vector<RimEdge> edges;      // by ascending corner
  std::vector<uint32_t> byTarget;  // per vertex: the edge that ends there, kNoIndex, or kAmbiguous
  static constexpr uint32_t kAmbiguous = kNoIndex - 1;
};

Rim findRim(const MeshView& mesh) {
  const EdgeAdjacency adjacency = edgeAdjacency(mesh);
  Rim rim;
  for (size_t e = 0; e < adjacency.size(); ++e) {
    const auto uses = adjacency.uses.row(e);
    if (uses.size() == 1) {
      rim.edges.push_back({uses[0].face, uses[0].corner, mesh.next(uses[0].face, uses[0].corner)});
    }
  }
  std::sort(rim.edges.begin(), rim.edges.end(),
            [](const RimEdge& a, const RimEdge& b) { return a.corner < b.corner; });
  rim.byTarget.assign(mesh.positions.size(), kNoIndex);
  for (uint32_t i = 0; i < rim.edges.size(); ++i) {
    uint32_t& slot = rim.byTarget[mesh.corners[rim.edges[i].target]];
    slot = slot == kNoIndex ? i : Rim::kAmbiguous;
  }
  return rim;
}

bool isFlat(const std::vector<Vec3>& loop) {
  Vec3 normal = twiceVectorArea(loop.size(), [&](size_t i) -> const Vec3& { return loop[i]; });
  const double size = bounds(loop).diagonal();
  // Where the loop spans no area it lies on a line as nearly as on a plane.
  if (!(normal.norm() > kFlat * size * size)) return true;
  normal.normalize();
  return std::all_of(loop.begin(), loop.end(),
                     [&](const Vec3& p) { return std::abs(normal.dot(p - loop[0])) <= kFlat * size; });
}

// Appends faces to a soup whose attribute arrays must stay complete. A corner takes its texture coordinate
// from the rim's corner at the same vertex, and the new face's own normal.
class Filler {
 public:
  explicit Filler(PolygonSoup& soup) : soup_(soup) {}

  void polygon(const std::vector<RimEdge>& loop) {
    std::vector<uint32_t> vertices;
    std::vector<Vec2> uvs;
    for (const RimEdge& e : loop) {
      vertices.push_back(soup_.corners[e.target]);
      uvs.push_back(uv(e.target));
    }
    addFace(vertices, uvs, loop[0].face);
  }

  void fan(const std::vector<RimEdge>& loop) {
    const uint32_t centre = u32(soup_.positions.size());
    Vec3 sum = Vec3::Zero();
    Vec2 uvSum = Vec2::Zero();
    Vec4f colourSum = Vec4f::Zero();
    for (const RimEdge& e : loop) {
      sum += soup_.positions[soup_.corners[e.target]];
      uvSum += uv(e.target);
      if (!soup_.vertexColours.empty()) colourSum += soup_.vertexColours[soup_.corners[e.target]];
    }
    const double count = static_cast<double>(loop.size());
    soup_.positions.push_back(sum / count);
    if (!soup_.vertexColours.empty()) soup_.vertexColours.push_back(colourSum / static_cast<float>(count));
    for (size_t i = 0; i < loop.size(); ++i) {
      const uint32_t from = loop[i].target, to = loop[(i + 1) % loop.size()].target;
      addFace({soup_.corners[from], soup_.corners[to], centre}, {uv(from), uv(to), uvSum / count},
              loop[i].face);
    }
  }

 private:
  Vec2 uv(uint32_t corner) const {
    return soup_.cornerUvs.empty() ? Vec2(Vec2::Zero()) : soup_.cornerUvs[corner];
  }

  void addFace(const std::vector<uint32_t>& vertices, const std::vector<Vec2>& uvs, uint32_t neighbour) {
    soup_.addFace(vertices);
    if (!soup_.faceGroup.empty()) soup_.faceGroup.push_back(uint32_t(soup_.faceGroup[neighbour]));
    if (!soup_.cornerUvs.empty()) soup_.cornerUvs.insert(soup_.cornerUvs.end(), uvs.begin(), uvs.end());
    if (!soup_.cornerNormals.empty()) {
      const Vec3 normal = vectorArea(soup_, soup_.faceCount() - 1).stableNormalized();
      soup_.cornerNormals.resize(soup_.corners.size(), normal);
    }
  }

  PolygonSoup& soup_;
};

}  // namespace

HoleFill fillHoles(PolygonSoup& mesh, uint32_t maxEdges) {
  HoleFill result;
  const Rim rim = findRim(mesh);
  const size_t facesBefore = mesh.faceCount(), verticesBefore = mesh.positions.size();
  std::vector<uint8_t> seen(rim.edges.size(), 0);
  Filler filler(mesh);
  std::vector<RimEdge> loop;
  std::vector<Vec3> points;
  for (uint32_t start = 0; start < rim.edges.size(); ++start) {
    if (seen[start] != 0) continue;
    // The hole's own edges run against the faces', so the walk goes from an edge to the one that ends where
    // it starts.
    loop.clear();
    bool simple = true;
    for (uint32_t i = start; seen[i] == 0;) {
      seen[i] = 1;
      loop.push_back(rim.edges[i]);
      const uint32_t before = rim.byTarget[mesh.corners[rim.edges[i].corner]];
      if (before == kNoIndex || before == Rim::kAmbiguous) {
        simple = false;
        break;
      }
      i = before;
    }
    simple = simple && mesh.corners[loop.back().corner] == mesh.corners[loop.front().target];
    const bool alone =
        std::all_of(loop.begin(), loop.end(), [&](const RimEdge& e) { return e.face == loop[0].face; });
    if (!simple || alone || loop.size() < 3 || loop.size() > maxEdges) {
      ++result.kept;
      continue;
    }
    points.clear();
    for (const RimEdge& e : loop) points.push_back(mesh.positions[mesh.corners[e.target]]);
    if (isFlat(points)) {
      filler.polygon(loop);
    } else {
      filler.fan(loop);
    }
    ++result.filled;
  }
  result.faces = mesh.faceCount() - facesBefore;
  result.vertices = mesh.positions.size() - verticesBefore;
  return result;
}

}  // namespace sunder::geometry
