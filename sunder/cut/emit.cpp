#include "sunder/cut/emit.h"

#include "sunder/base/parallel.h"
#include "sunder/cut/dissolve.h"
#include "sunder/cut/doubled_edges.h"
#include "sunder/cut/ring_triangles.h"

#include <algorithm>
#include <atomic>

namespace sunder::cut {

namespace {

constexpr size_t kGrain = 16384;

// Vertices of the mesh, two copies of those of the cutter, two copies of the seam's points.
enum Space { kMeshVertices, kCutterVertices, kCutterCopies, kPoints, kPointCopies, kSpaces };

class Emitter {
 public:
  Emitter(const Scene& scene, const std::vector<Use>& uses, bool triangles, CutResult& result)
      : scene_(scene), uses_(uses), triangles_(triangles), result_(result) {}

  void run() {
    countFaces();
    markVertices();
    numberVertices();
    writeFaces();
  }

 private:
  struct Plan {
    std::vector<uint32_t> blockFace;  // per block of untouched faces: the first output face
    uint32_t firstFace = 0, firstCorner = 0;
    std::vector<uint32_t> regions;       // kept ones
    std::vector<uint32_t> face, corner;  // per kept region: the first output face and corner
  };

  const KernelMesh& mesh(const Use& u) const { return *scene_.mesh[u.mesh]; }
  const Parts& parts(const Use& u) const { return *scene_.parts[u.mesh]; }
  const Regions& regions(const Use& u) const { return *scene_.regions[u.mesh]; }
  uint32_t fragmentOfFace(const Use& u, uint32_t f) const {
    const Parts& p = parts(u);
    return p.touched(f) ? kNoIndex : u.fragment[p.ofComponent[p.component[f]]];
  }

  void countFaces() {
    uint32_t faces = 0, corners = 0;
    for (const Use& u : uses_) {
      Plan& plan = plans_.emplace_back();
      plan.firstFace = faces;
      plan.firstCorner = corners;
      const size_t count = mesh(u).triangles.size();
      plan.blockFace.assign((count + kGrain - 1) / kGrain, 0);
      parallelBlocks(count, kGrain, [&](size_t begin, size_t end) {
        uint32_t kept = 0;
        for (size_t f = begin; f < end; ++f) kept += fragmentOfFace(u, u32(f)) != kNoIndex;
        plan.blockFace[begin / kGrain] = kept;
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

  size_t spaceSize(int space) const {
    if (space == kMeshVertices) return scene_.mesh[kMesh]->positions.size();
    return space <= kCutterCopies ? scene_.mesh[kCutter]->positions.size() : scene_.seam->points.size();
  }

  Space spaceOf(const Use& u, const RingCorner& c) const {
    if (!c.point) return spaceOfVertex(u, c.id);
    if (u.bySide) return (c.sides & kPlus) != 0 ? kPoints : kPointCopies;
    const SeamPoint& x = scene_.seam->points[c.id];
    return u.copy == 0 || (x.border && x.edgeOf == kCutter) ? kPoints : kPointCopies;
  }
  Space spaceOfVertex(const Use& u, uint32_t v) const {
    if (u.mesh == kMesh) return kMeshVertices;
    return u.copy == 0 || onBorder_[v] ? kCutterVertices : kCutterCopies;
  }

  void markVertices() {
    const KernelMesh& cutter = *scene_.mesh[kCutter];
    onBorder_.assign(cutter.positions.size(), 0);
    if (!cutter.closed())
      for (uint32_t h = 0; h < cutter.twin.size(); ++h)
        if (cutter.twin[h] == kNoIndex) onBorder_[cutter.origin(h)] = onBorder_[cutter.target(h)] = 1;
    for (int s = 0; s < kSpaces; ++s) used_[s].assign(spaceSize(s), 0);
    for (size_t i = 0; i < uses_.size(); ++i) {
      const Use& u = uses_[i];
      const auto mark = [](uint8_t& flag) { std::atomic_ref(flag).store(1, std::memory_order_relaxed); };
      const size_t count = mesh(u).triangles.size();
      parallelBlocks(count, kGrain, [&](size_t begin, size_t end) {
        for (size_t f = begin; f < end; ++f) {
          if (fragmentOfFace(u, u32(f)) == kNoIndex) continue;
          for (const uint32_t v : mesh(u).triangles[f]) mark(used_[spaceOfVertex(u, v)][v]);
        }
      });
      for (const uint32_t r : plans_[i].regions)
        for (const RingCorner& c : regions(u).ring(r)) mark(used_[spaceOf(u, c)][c.id]);
    }
  }

  void numberVertices() {
    uint32_t count = 0;
    for (int s = 0; s < kSpaces; ++s) {
      map_[s].resize(used_[s].size());
      for (size_t v = 0; v < used_[s].size(); ++v) {
        map_[s][v] = count;
        count += used_[s][v];
      }
    }
    result_.mesh.positions.resize(count);
    result_.vertexFrom.resize(count);
    result_.sourceVertex.resize(count);
    for (int s = 0; s < kSpaces; ++s) {
      const KernelMesh* from = s == kMeshVertices ? scene_.mesh[kMesh] : scene_.mesh[kCutter];
      const VertexFrom kind = s == kMeshVertices   ? VertexFrom::Mesh
                              : s <= kCutterCopies ? VertexFrom::Cutter
                                                   : VertexFrom::Seam;
      parallelFor(
          used_[s].size(),
          [&](size_t v) {
            if (!used_[s][v]) return;
            const uint32_t to = map_[s][v];
            const bool point = kind == VertexFrom::Seam;
            result_.mesh.positions[to] = point ? scene_.seam->points[v].position : from->positions[v];
            result_.vertexFrom[to] = kind;
            result_.sourceVertex[to] = point ? u32(v) : from->sourceVertex(u32(v));
          },
          kGrain);
    }
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
    // Only the two lids of a sheet that ends inside can have edges with the same ends.
    const bool hinged = uses_.size() == 3 && !scene_.mesh[kCutter]->closed();
    if (dissolving) marks_.diagonal.assign(corners_, 0);
    marking_ = dissolving || hinged;
    if (marking_) marks_.use.assign(faces_, 0);
    for (size_t i = 0; i < uses_.size(); ++i) {
      writeUntouched(i, dissolving);
      writeRegions(i, dissolving);
    }
    if (dissolving) restorePolygons();
    if (hinged) splitDoubledEdges(1, 2, marks_.use, result_, triangles_);
  }

  void restorePolygons() {
    geometry::PolygonSoup& soup = result_.mesh;
    marks_.removable.assign(soup.positions.size(), 0);
    for (const int s : {kPoints, kPointCopies})
      for (size_t x = 0; x < used_[s].size(); ++x) {
        const SeamPoint& p = scene_.seam->points[x];
        if (used_[s][x]) marks_.removable[map_[s][x]] = scene_.mesh[p.edgeOf]->isFlatDiagonal(p.halfedge);
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
    parallelBlocks(m.triangles.size(), kGrain, [&](size_t begin, size_t end) {
      uint32_t face = plans_[i].blockFace[begin / kGrain];
      for (uint32_t f = u32(begin); f < end; ++f) {
        const uint32_t fragment = fragmentOfFace(u, f);
        if (fragment == kNoIndex) continue;
        const uint32_t corner = 3 * (face - plans_[i].firstFace) + plans_[i].firstCorner;
        writeFaceRow(face, corner, u, f, fragment);
        for (uint32_t k = 0; k < 3; ++k) {
          const uint32_t from = u.reversed ? 2 - k : k, v = m.triangles[f][from];
          result_.mesh.corners[corner + k] = map_[spaceOfVertex(u, v)][v];
          // The edge that leaves a corner of the reversed face arrives there in the native one.
          if (dissolving)
            marks_.diagonal[corner + k] = m.isDiagonal(3 * f + (u.reversed ? (from + 2) % 3 : from));
        }
        if (marking_) marks_.use[face] = static_cast<uint8_t>(i);
        ++face;
      }
    });
  }

  void writeRegions(size_t i, bool dissolving) {
    const Use& u = uses_[i];
    const Plan& plan = plans_[i];
    parallelBlocks(plan.regions.size(), 64, [&](size_t begin, size_t end) {
      std::vector<uint32_t> ring;
      std::vector<Vec3> positions;
      std::vector<uint8_t> diagonal;
      for (size_t j = begin; j < end; ++j) {
        const uint32_t r = plan.regions[j];
        const auto corners = regions(u).ring(r);
        const size_t n = corners.size();
        ring.resize(n);
        diagonal.resize(n);
        for (size_t k = 0; k < n; ++k) {
          const size_t from = u.reversed ? n - 1 - k : k;
          ring[k] = map_[spaceOf(u, corners[from])][corners[from].id];
          diagonal[k] = corners[u.reversed ? (from + n - 1) % n : from].diagonal;
        }
        const uint32_t face = faceOfRegion(u, r), fragment = u.fragment[parts(u).ofRegion[r]];
        uint32_t* out = result_.mesh.corners.data() + plan.corner[j];
        if (!triangles_ || n == 3) {
          writeFaceRow(plan.face[j], plan.corner[j], u, face, fragment);
          for (size_t k = 0; k < n; ++k) out[k] = ring[k];
          if (marking_) marks_.use[plan.face[j]] = static_cast<uint8_t>(i);
          if (dissolving)
            for (size_t k = 0; k < n; ++k) marks_.diagonal[plan.corner[j] + k] = diagonal[k];
          continue;
        }
        positions.resize(n);
        for (size_t k = 0; k < n; ++k) positions[k] = result_.mesh.positions[ring[k]];
        const auto triangles = ringTriangles(positions);
        for (uint32_t t = 0; t < triangles.size(); ++t) {
          writeFaceRow(plan.face[j] + t, plan.corner[j] + 3 * t, u, face, fragment);
          if (marking_) marks_.use[plan.face[j] + t] = static_cast<uint8_t>(i);
          for (size_t k = 0; k < 3; ++k) out[3 * t + k] = ring[triangles[t][k]];
        }
      }
    });
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
  std::vector<uint8_t> onBorder_;
  std::vector<uint8_t> used_[kSpaces];
  std::vector<uint32_t> map_[kSpaces];
  bool marking_ = false;
  DissolveMarks marks_;
};

}  // namespace

void emit(const Scene& scene, const std::vector<Use>& uses, bool triangles, CutResult& result) {
  Emitter(scene, uses, triangles, result).run();
}

}  // namespace sunder::cut
