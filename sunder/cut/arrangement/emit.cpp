#include "sunder/cut/arrangement/emit.h"

#include "sunder/base/parallel.h"
#include "sunder/cut/arrangement/dissolve.h"
#include "sunder/cut/arrangement/doubled_edges.h"
#include "sunder/cut/arrangement/vertex_spaces.h"
#include "sunder/cut/kernel/ring_triangles.h"

#include <algorithm>
#include <atomic>

namespace sunder::cut {

namespace {

constexpr size_t kEmitGrain = 16384;
constexpr size_t kRegionGrain = 64;
constexpr int kMostSplittings = 16;  // of splitting edges that folded triangles doubled

class Emitter {
 public:
  Emitter(const Scene& scene, const std::vector<Use>& uses, bool triangles, CutResult& result)
      : scene_(scene), uses_(uses), triangles_(triangles), result_(result), spaces_(scene) {}

  void run() {
    countFaces();
    std::vector<std::span<const uint32_t>> kept;
    for (const Plan& plan : plans_) kept.push_back(plan.regions);
    spaces_.number(uses_, kept, result_);
    writeFaces();
  }

 private:
  struct Plan {
    std::vector<uint32_t> blockFace;  // per block of untouched faces: the first output face
    uint32_t firstFace = 0, firstCorner = 0;
    std::vector<uint32_t> regions;       // kept ones
    std::vector<uint32_t> face, corner;  // per kept region: the first output face and corner
  };

  // A ring in native order whose triangles have a vertex twice.
  struct Tangle {
    uint32_t region;  // index in the plan
    std::vector<uint32_t> ring;
  };

  const KernelMesh& mesh(const Use& u) const { return *scene_.mesh[u.mesh]; }
  const Parts& parts(const Use& u) const { return *scene_.parts[u.mesh]; }
  const Regions& regions(const Use& u) const { return *scene_.regions[u.mesh]; }

  void countFaces() {
    uint32_t faces = 0, corners = 0;
    for (const Use& u : uses_) {
      Plan& plan = plans_.emplace_back();
      plan.firstFace = faces;
      plan.firstCorner = corners;
      const size_t count = mesh(u).triangles.size();
      plan.blockFace.assign((count + kEmitGrain - 1) / kEmitGrain, 0);
      parallelBlocks(count, kEmitGrain, [&](size_t begin, size_t end) {
        uint32_t kept = 0;
        for (size_t f = begin; f < end; ++f) kept += fragmentOfFace(scene_, u, u32(f)) != kNoIndex;
        plan.blockFace[begin / kEmitGrain] = kept;
      });
      for (uint32_t& b : plan.blockFace) {
        const uint32_t kept = b;
        b = faces;
        faces += kept;
        corners += 3 * kept;
      }
      for (uint32_t r = 0; r < regions(u).size(); ++r) {
        if (u.fragment[parts(u).ofRegion[r]] == kNoIndex) continue;
        const uint32_t size = u32(regions(u).ring(r).size());
        // Between faces that lie on each other: what is left and right of it meets without it.
        if (size < 3) continue;
        plan.regions.push_back(r);
        plan.face.push_back(faces);
        plan.corner.push_back(corners);
        faces += triangles_ ? size - 2 : 1;
        corners += triangles_ ? 3 * (size - 2) : size;
      }
    }
    faces_ = faces;
    corners_ = corners;
  }

  void writeFaces() {
    geometry::PolygonSoup& soup = result_.mesh;
    soup.faceOffsets.resize(faces_ + 1);
    soup.corners.resize(corners_);
    result_.sourceFace.resize(faces_);
    result_.fromCutter.resize(faces_);
    result_.fragment.resize(faces_);
    soup.faceOffsets[faces_] = corners_;
    const bool dissolving =
        !triangles_ && (!scene_.mesh[0]->diagonal.empty() || !scene_.mesh[1]->diagonal.empty());
    // Else no edges of lids have the same ends.
    const bool hinged = uses_.size() == 3 && spaces_.lidsMeet();
    if (dissolving) marks_.diagonal.assign(corners_, kNoIndex);
    if (dissolving) marks_.use.assign(faces_, 0);
    for (size_t i = 0; i < uses_.size(); ++i) {
      writeUntouched(i, dissolving);
      writeRegions(i, dissolving);
    }
    if (dissolving) restorePolygons();
    for (const auto& [use, tangle] : tangles_) untangle(use, tangle);
    // Diagonals of polygons are edges of their own in triangles only.
    const bool doubled = triangles_ && (scene_.mesh[kMesh]->doubled || scene_.mesh[kCutter]->doubled);
    const SeamEdges seamEdges = doubledSegments(*scene_.seam);
    if (doubled || !seamEdges.empty() || repeatsDiagonal()) degenerate_.store(true);
    if (hinged || degenerate_.load()) splitEdges(seamEdges, dissolving, doubled);
  }

  void splitEdges(const SeamEdges& seamEdges, bool dissolved, bool everywhere) {
    const geometry::PolygonSoup& soup = result_.mesh;
    FaceOrigin origin;
    if (dissolved) {
      origin.use = std::move(marks_.use);
      origin.piece.resize(origin.use.size());
      for (uint32_t f = 0; f < origin.piece.size(); ++f) origin.piece[f] = f;
    } else {
      origin.use.assign(faces_, 0);
      origin.piece.assign(faces_, kNoIndex);
      for (size_t i = 0; i < plans_.size(); ++i) {
        const uint32_t end = i + 1 < plans_.size() ? plans_[i + 1].firstFace : faces_;
        for (uint32_t f = plans_[i].firstFace; f < end; ++f) origin.use[f] = static_cast<uint8_t>(i);
        // Whole faces of the cutter count too: two lids may share all their vertices.
        if (uses_[i].mesh == kCutter || everywhere)
          for (uint32_t f = plans_[i].firstFace; f < end; ++f) origin.piece[f] = f;
        for (size_t j = 0; j < plans_[i].face.size(); ++j) {
          const uint32_t last = j + 1 < plans_[i].face.size() ? plans_[i].face[j + 1] : end;
          for (uint32_t f = plans_[i].face[j]; f < last; ++f) origin.piece[f] = plans_[i].face[j];
        }
      }
    }
    origin.use.insert(origin.use.end(), more_.use.begin(), more_.use.end());
    origin.piece.insert(origin.piece.end(), more_.piece.begin(), more_.piece.end());
    std::vector<uint8_t> suspect(soup.positions.size(), degenerate_.load() ? 1 : 0);
    if (!degenerate_.load()) {
      // Vertices that both lids have.
      for (size_t f = 0; f < origin.use.size(); ++f)
        if (origin.use[f] > 0)
          for (const uint32_t v : soup.face(f)) suspect[v] |= origin.use[f];
      for (uint8_t& s : suspect) s = s == 3;
    }
    for (int round = 0;
         round < kMostSplittings && splitDoubledEdges(seamEdges, origin, suspect, triangles_, result_);)
      ++round;
  }

  void restorePolygons() {
    geometry::PolygonSoup& soup = result_.mesh;
    marks_.removable.assign(soup.positions.size(), 0);
    marks_.across.assign(soup.positions.size(), kNoIndex);
    for (uint32_t x = 0; x < scene_.seam->points.size(); ++x) {
      const SeamPoint& p = scene_.seam->points[x];
      const std::array<uint32_t, 2> copies = spaces_.copiesOf(x);
      for (size_t i = 0; i < 2; ++i) {
        if (copies[i] == kNoIndex) continue;
        marks_.removable[copies[i]] = scene_.mesh[p.edgeOf]->isFlatDiagonal(p.halfedge);
        marks_.across[copies[i]] = copies[1 - i];
      }
    }
    // A seam vertex has a face of either mesh, or of one where there is nothing to seal.
    marks_.facesAtPlainVertex = uses_.size() > 1 ? 2 : 1;
    dissolve(marks_, result_);
  }

  void writeFaceRow(uint32_t face, uint32_t corner, const Use& u, uint32_t triangle, uint32_t fragment) {
    result_.mesh.faceOffsets[face] = corner;
    result_.sourceFace[face] = mesh(u).sourceOf(triangle);
    result_.fromCutter[face] = u.mesh == kCutter;
    result_.fragment[face] = fragment;
  }

  void writeUntouched(size_t i, bool dissolving) {
    const Use& u = uses_[i];
    const KernelMesh& m = mesh(u);
    parallelBlocks(m.triangles.size(), kEmitGrain, [&](size_t begin, size_t end) {
      uint32_t face = plans_[i].blockFace[begin / kEmitGrain];
      for (uint32_t f = u32(begin); f < end; ++f) {
        const uint32_t fragment = fragmentOfFace(scene_, u, f);
        if (fragment == kNoIndex) continue;
        const uint32_t corner = 3 * (face - plans_[i].firstFace) + plans_[i].firstCorner;
        writeFaceRow(face, corner, u, f, fragment);
        for (uint32_t k = 0; k < 3; ++k) {
          const uint32_t from = u.reversed ? 2 - k : k, v = m.triangles[f][from];
          result_.mesh.corners[corner + k] = spaces_.vertex(u, v);
          // The edge that leaves a corner of the reversed face arrives there in the native one.
          const uint32_t h = 3 * f + (u.reversed ? (from + 2) % 3 : from);
          if (dissolving && m.isDiagonal(h)) marks_.diagonal[corner + k] = edgeOf(m, h);
        }
        if (dissolving) marks_.use[face] = static_cast<uint8_t>(i);
        ++face;
      }
    });
  }

  // The edge of a face along which its ring leaves a corner.
  uint32_t edgeFrom(const Use& u, uint32_t face, const RingCorner& corner) const {
    if (corner.point) return scene_.seam->points[corner.id].halfedge;
    const geometry::Triangle& t = mesh(u).triangles[face];
    return edgeOf(mesh(u), 3 * face + (corner.id == t[0] ? 0 : corner.id == t[1] ? 1 : 2));
  }

  void writeRegions(size_t i, bool dissolving) {
    const Use& u = uses_[i];
    const Plan& plan = plans_[i];
    std::vector<std::vector<Tangle>> tangled((plan.regions.size() + kRegionGrain - 1) / kRegionGrain);
    std::vector<std::vector<uint64_t>> diagonals(tangled.size());
    parallelBlocks(plan.regions.size(), kRegionGrain, [&](size_t begin, size_t end) {
      std::vector<uint32_t> ring;
      std::vector<Vec3> positions;
      for (size_t j = begin; j < end; ++j) {
        const uint32_t r = plan.regions[j];
        const auto corners = regions(u).ring(r);
        const size_t n = corners.size();
        ring.resize(n);
        for (size_t k = 0; k < n; ++k) {
          const RingCorner& from = corners[u.reversed ? n - 1 - k : k];
          ring[k] = spaces_.corner(u, from);
        }
        const uint32_t face = faceOfRegion(u, r), fragment = u.fragment[parts(u).ofRegion[r]];
        uint32_t* out = result_.mesh.corners.data() + plan.corner[j];
        if (!triangles_ || n == 3) {
          writeFaceRow(plan.face[j], plan.corner[j], u, face, fragment);
          for (size_t k = 0; k < n; ++k) out[k] = ring[k];
          if (dissolving) {
            marks_.use[plan.face[j]] = static_cast<uint8_t>(i);
            for (size_t k = 0; k < n; ++k) {
              const RingCorner& from = corners[u.reversed ? (2 * n - 2 - k) % n : k];
              if (from.diagonal) marks_.diagonal[plan.corner[j] + k] = edgeFrom(u, face, from);
            }
          }
          continue;
        }
        // In native order, so that both lids of a cut have the same triangles.
        if (u.reversed) std::reverse(ring.begin(), ring.end());
        positions.resize(n);
        for (size_t k = 0; k < n; ++k) positions[k] = result_.mesh.positions[ring[k]];
        bool clean = true;
        const auto triangles = ringTriangles(positions, clean);
        addDiagonals(triangles, ring, diagonals[begin / kRegionGrain]);
        if (!clean || hasDiagonalAlongEdge(u, corners, triangles)) {
          degenerate_.store(true, std::memory_order_relaxed);
          if (repeatsCorner(triangles, ring)) tangled[begin / kRegionGrain].push_back({u32(j), ring});
        }
        for (uint32_t t = 0; t < triangles.size(); ++t) {
          writeFaceRow(plan.face[j] + t, plan.corner[j] + 3 * t, u, face, fragment);
          for (size_t k = 0; k < 3; ++k) out[3 * t + k] = ring[triangles[t][u.reversed ? 2 - k : k]];
        }
      }
    });
    for (std::vector<Tangle>& block : tangled)
      for (Tangle& t : block) tangles_.push_back({i, std::move(t)});
    for (const std::vector<uint64_t>& block : diagonals)
      diagonals_.insert(diagonals_.end(), block.begin(), block.end());
  }

  // By their vertices.
  static void addDiagonals(std::span<const geometry::Triangle> triangles, const std::vector<uint32_t>& ring,
                           std::vector<uint64_t>& out) {
    const size_t n = ring.size();
    for (const geometry::Triangle& t : triangles)
      for (size_t k = 0; k < 3; ++k) {
        const uint32_t i = t[k], j = t[(k + 1) % 3];
        if (i > j || (i + 1) % n == j || (j + 1) % n == i) continue;
        out.push_back((uint64_t(std::min(ring[i], ring[j])) << 32) | std::max(ring[i], ring[j]));
      }
  }

  // Faces that have two edges in common, as lids of an earlier incision at its end, can get the same
  // diagonal.
  bool repeatsDiagonal() {
    std::sort(diagonals_.begin(), diagonals_.end());
    return std::adjacent_find(diagonals_.begin(), diagonals_.end()) != diagonals_.end();
  }

  // A diagonal between two corners on one edge of the mesh: rounding bent the edge, and the face across may
  // have the same diagonal.
  bool hasDiagonalAlongEdge(const Use& u, std::span<const RingCorner> corners,
                            std::span<const geometry::Triangle> triangles) const {
    const KernelMesh& m = mesh(u);
    const auto onEdgeOf = [&](const RingCorner& point, const RingCorner& other) {
      const SeamPoint& x = scene_.seam->points[point.id];
      if (x.edgeOf != u.mesh) return false;
      if (!other.point) return m.origin(x.halfedge) == other.id || m.target(x.halfedge) == other.id;
      const SeamPoint& y = scene_.seam->points[other.id];
      return y.edgeOf == x.edgeOf && y.halfedge == x.halfedge;
    };
    const size_t n = corners.size();
    for (const geometry::Triangle& t : triangles)
      for (size_t k = 0; k < 3; ++k) {
        const uint32_t i = t[k], j = t[(k + 1) % 3];
        if ((i + 1) % n == j || (j + 1) % n == i) continue;
        const RingCorner &a = corners[i], &b = corners[j];
        if (a.point ? onEdgeOf(a, b) : b.point ? onEdgeOf(b, a) : true) return true;
      }
    return false;
  }

  // Other triangles in place of a tangled ring's; there are more of them, the rest is put at the end.
  void untangle(size_t i, const Tangle& tangle) {
    const Use& u = uses_[i];
    const uint32_t first = plans_[i].face[tangle.region], n = u32(tangle.ring.size());
    const SpokeTriangles made = spokeTriangles(tangle.ring);
    std::vector<uint32_t> ids = tangle.ring;
    for (const uint32_t c : made.copyOf) {
      ids.push_back(u32(result_.mesh.positions.size()));
      const uint32_t v = tangle.ring[c];
      result_.mesh.positions.push_back(Vec3(result_.mesh.positions[v]));
      result_.vertexFrom.push_back(result_.vertexFrom[v]);
      result_.sourceVertex.push_back(result_.sourceVertex[v]);
    }
    for (uint32_t t = 0; t < made.triangles.size(); ++t) {
      uint32_t corners[3];
      for (size_t k = 0; k < 3; ++k) corners[k] = ids[made.triangles[t][u.reversed ? 2 - k : k]];
      if (t < n - 2) {
        std::copy(corners, corners + 3,
                  result_.mesh.corners.data() + plans_[i].corner[tangle.region] + 3 * t);
        continue;
      }
      result_.mesh.corners.insert(result_.mesh.corners.end(), corners, corners + 3);
      result_.mesh.faceOffsets.push_back(u32(result_.mesh.corners.size()));
      result_.sourceFace.push_back(result_.sourceFace[first]);
      result_.fromCutter.push_back(result_.fromCutter[first]);
      result_.fragment.push_back(result_.fragment[first]);
      more_.use.push_back(static_cast<uint8_t>(i));
      more_.piece.push_back(first);
    }
  }

  uint32_t faceOfRegion(const Use& u, uint32_t region) const {
    const auto& first = regions(u).firstRegion;
    const auto at = std::upper_bound(first.begin(), first.end(), region);
    return regions(u).faces[static_cast<size_t>(at - first.begin()) - 1];
  }

  const Scene& scene_;
  const std::vector<Use>& uses_;
  bool triangles_;
  CutResult& result_;
  std::vector<Plan> plans_;
  uint32_t faces_ = 0, corners_ = 0;
  VertexSpaces spaces_;
  std::atomic<bool> degenerate_{false};  // some face has triangles without area
  DissolveMarks marks_;
  std::vector<std::pair<size_t, Tangle>> tangles_;  // with the use
  FaceOrigin more_;                                 // of faces put at the end
  std::vector<uint64_t> diagonals_;
};

}  // namespace

void emit(const Scene& scene, const std::vector<Use>& uses, bool triangles, CutResult& result) {
  Emitter(scene, uses, triangles, result).run();
}

}  // namespace sunder::cut
