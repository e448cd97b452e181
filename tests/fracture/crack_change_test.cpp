#include "sunder/fracture/crack/crack_change.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/spatial/query/triangle_distance.h"

#include "fracture/fragment_cases.h"

#include <map>

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

double areaOf(const geometry::TriMesh& mesh, size_t face) {
  const geometry::Triangle& t = mesh.triangles[face];
  const Vec3& a = mesh.positions[t[0]];
  return 0.5 * (mesh.positions[t[1]] - a).cross(mesh.positions[t[2]] - a).norm();
}

// A body with its surface, and who it is.
struct Known {
  MeshPart part;
  CrackedSurface surface;
  geometry::BodyRecord record;
};

Known wholeBody(const geometry::TetMesh& mesh, uint64_t id) {
  Known whole;
  whole.part.mesh = CrackedMesh(mesh);
  whole.part.cells = cellsOf(whole.part.mesh);
  whole.part.links = linksOf(whole.part.mesh, whole.part.cells);
  whole.surface = surfaceOf(whole.part.mesh, whole.part.cells, whole.part.links);
  whole.record = {id, uint32_t(mesh.positions.size()), uint32_t(whole.surface.mesh.triangles.size()),
                  uint32_t(mesh.tets.size())};
  return whole;
}

// Cracks a body; its record, and the pieces as bodies.
geometry::TopologyChange crack(const Known& body, const CrackFunction& function, uint32_t id,
                               std::vector<Known>& pieces, double mostArea = Box3::kInfinity) {
  const CrackedMesh& mesh = body.part.mesh;
  std::vector<uint32_t> all(mesh.size());
  for (uint32_t t = 0; t < all.size(); ++t) all[t] = t;
  const Vec3 seed = geometry::bounds(mesh.mesh.positions).center();
  const auto marks = markCrack(mesh, body.part.cells, body.part.links, crackValues(mesh.mesh, function), seed,
                               all, mostArea);
  const Dissection cut = dissect(mesh, body.part.cells, body.part.links, id, marks);
  uint32_t count = 0;
  const auto labels = partsOf(cut.mesh.size(), cut.links, count);
  std::vector<MeshPart> parts = splitParts(cut, labels, count);
  std::vector<CrackedSurface> surfaces;
  for (const MeshPart& part : parts) surfaces.push_back(surfaceOf(part.mesh, part.cells, part.links));
  geometry::TopologyChange change =
      crackChange(body.record, {body.surface.mesh, body.surface.crack, body.surface.tet}, parts, surfaces);
  pieces.clear();
  for (uint32_t p = 0; p < count; ++p)
    pieces.push_back({std::move(parts[p]), std::move(surfaces[p]), change.appeared[p].body});
  return change;
}

// What the maps say is so: places agree, and faces without source are those of new cracks.
void expectTrue(const geometry::TopologyChange& change, const Known& parent, const std::vector<Known>& pieces,
                uint32_t firstCrack) {
  EXPECT_EQ(geometry::validate(change), "");
  EXPECT_EQ(change.kind, geometry::ChangeKind::Crack);
  const auto sources = geometry::sourcesByBody(change);
  ASSERT_EQ(sources.size(), pieces.size());
  double inherited = 0, before = 0;
  for (size_t f = 0; f < parent.surface.mesh.triangles.size(); ++f) before += areaOf(parent.surface.mesh, f);
  for (size_t p = 0; p < pieces.size(); ++p) {
    const CrackedMesh& mesh = pieces[p].part.mesh;
    const CrackedSurface& surface = pieces[p].surface;
    ASSERT_EQ(sources[p].vertices.size(), mesh.mesh.positions.size());
    ASSERT_EQ(sources[p].tets.size(), mesh.size());
    ASSERT_EQ(sources[p].faces.size(), surface.mesh.triangles.size());
    for (size_t v = 0; v < mesh.mesh.positions.size(); ++v)
      EXPECT_EQ(mesh.mesh.positions[v], parent.part.mesh.mesh.positions[sources[p].vertices[v]]);
    for (size_t t = 0; t < mesh.size(); ++t)
      EXPECT_EQ(mesh.corners(t), parent.part.mesh.corners(sources[p].tets[t]));
    for (size_t f = 0; f < surface.mesh.triangles.size(); ++f) {
      const uint32_t source = sources[p].faces[f];
      EXPECT_EQ(source == kNoIndex, surface.crack[f] != kNoIndex && surface.crack[f] >= firstCrack);
      if (source == kNoIndex) continue;
      inherited += areaOf(surface.mesh, f);
      const geometry::Triangle &t = surface.mesh.triangles[f], &o = parent.surface.mesh.triangles[source];
      const Vec3 centroid =
          (surface.mesh.positions[t[0]] + surface.mesh.positions[t[1]] + surface.mesh.positions[t[2]]) / 3;
      const Vec3 on = spatial::closestPointOnTriangle(centroid, parent.surface.mesh.positions[o[0]],
                                                      parent.surface.mesh.positions[o[1]],
                                                      parent.surface.mesh.positions[o[2]])
                          .point;
      EXPECT_LT((on - centroid).norm(), 1e-9);  // some triangles are thin
    }
  }
  EXPECT_NEAR(inherited, before, 1e-12 * before);
}

TEST(CrackChange, SaysWhereEverythingComesFrom) {
  RandomStream random(3, 1);
  for (int round = 0; round < 6; ++round) {
    const Known whole = wholeBody(cubeMesh(4, uint64_t(round) + 1)->mesh(), 77);
    // The largest piece cracks again and again, one of the cracks ends inside; all is one change in the end.
    Known body = whole;
    geometry::TopologyChange all;
    all.kind = geometry::ChangeKind::Crack;
    std::map<uint64_t, Known> present;
    for (uint32_t id = 1; id <= 5; ++id) {
      std::vector<Known> pieces;
      const Vec3 at = geometry::massProperties(body.surface.mesh).centre;
      const CrackFunction function =
          id % 2 ? planeCrack(at, random.unitVector()) : noisyCrack(at, random.unitVector(), {0.05, 0.4, id});
      const geometry::TopologyChange change =
          crack(body, function, id, pieces, id == 3 ? 0.05 : Box3::kInfinity);
      expectTrue(change, body, pieces, id);
      EXPECT_EQ(change.disappeared[0], body.record);
      present.erase(body.record.id);
      all = geometry::compose(all, change);
      double most = 0;
      for (const Known& piece : pieces) {
        EXPECT_TRUE(present.emplace(piece.record.id, piece).second);
        const double volume = geometry::massProperties(piece.surface.mesh).volume;
        if (volume > most) {
          most = volume;
          body = piece;
        }
      }
    }
    ASSERT_EQ(all.appeared.size(), present.size());
    std::vector<Known> pieces;
    for (const geometry::AppearedBody& b : all.appeared) pieces.push_back(present.at(b.body.id));
    ASSERT_EQ(all.disappeared.size(), 1u);
    expectTrue(all, whole, pieces, 1);
  }
}

TEST(CrackChange, SameForAnyNumberOfThreads) {
  const Known whole = wholeBody(cubeMesh(6)->mesh(), 1);
  std::vector<geometry::TopologyChange> changes;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    std::vector<Known> pieces;
    changes.push_back(crack(whole, planeCrack(Vec3(0.5, 0.47, 0.5), Vec3(0.2, 1, 0.3)), 1, pieces));
  }
  EXPECT_EQ(changes[0], changes[1]);
  EXPECT_EQ(changes[0], changes[2]);
}

TEST(CrackChange, RefusesWhatDoesNotFit) {
  Known whole = wholeBody(cubeMesh(3)->mesh(), 1);
  std::vector<Known> pieces;
  const CrackFunction plane = planeCrack(Vec3(0.5, 0.47, 0.5), Vec3(0.2, 1, 0.3));
  EXPECT_NO_THROW(crack(whole, plane, 1, pieces));
  const geometry::BodyRecord right = whole.record;
  for (uint32_t geometry::BodyRecord::*count :
       {&geometry::BodyRecord::vertices, &geometry::BodyRecord::faces, &geometry::BodyRecord::tets}) {
    whole.record = right;
    whole.record.*count -= 20;
    EXPECT_THROW(crack(whole, plane, 1, pieces), Error);
  }
}

}  // namespace
}  // namespace sunder::fracture
