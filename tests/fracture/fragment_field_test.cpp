#include "sunder/fracture/pieces/fragment_field.h"

#include "sunder/base/error.h"

#include "fracture/fragment_cases.h"

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

// Value of a vertex by its record and the object's surface, against the exact distance.
struct NodeErrors {
  double mean = 0;   // of |error|, over the mean distance
  double ratio = 0;  // largest of value over distance
  size_t nodes = 0;
};
NodeErrors nodeErrors(const std::vector<Piece>& pieces) {
  NodeErrors e;
  double sum = 0, distance = 0;
  for (const Piece& piece : pieces) {
    const FragmentField& field = *piece.fragment.field;
    const sdf::MeshField exact = exactField(piece);
    for (uint32_t v = 0; v < field.rootVertices().size(); ++v) {
      if (!field.present(v)) continue;
      const double ours = field.depth(v), truth = -exact.value(field.position(v));
      EXPECT_GE(ours, 0);
      EXPECT_GE(ours, truth - 1e-12);  // distances to something that is there
      sum += std::abs(ours - truth);
      distance += std::abs(truth);
      if (truth > 1e-3) e.ratio = std::max(e.ratio, ours / truth);
      ++e.nodes;
    }
  }
  e.mean = sum / distance;
  return e;
}

TEST(FragmentField, VerticesBelowOnePlaneAreExact) {
  for (const uint32_t n : {8, 16}) {
    Broken broken(cubeMesh(n));
    ASSERT_TRUE(broken.crack(0, planeCrack(Vec3(0.45, 0.5, 0.5), Vec3(1, 0.3, 0.2))));
    ASSERT_EQ(broken.pieces.size(), 2u);
    const NodeErrors e = nodeErrors(broken.pieces);
    EXPECT_LT(e.mean, 0.003);
    EXPECT_LT(e.ratio, 1.15);
  }
}

TEST(FragmentField, VerticesOfManyPiecesAreNearTheExactDistance) {
  for (const double amplitude : {0.0, 0.08}) {
    Broken broken(cubeMesh(12));
    broken.shatter(10, 7, amplitude);
    const NodeErrors e = nodeErrors(broken.pieces);
    EXPECT_LT(e.mean, 0.015) << amplitude;
    EXPECT_LT(e.ratio, 2.5) << amplitude;
    EXPECT_EQ(e.nodes, broken.rest->mesh().positions.size());
  }
}

// All cracks at once: fronts end, and no vertex is touched more than once on average.
TEST(FragmentField, FrontsEnd) {
  for (const uint32_t n : {16, 20}) {
    Broken broken(cubeMesh(n));
    broken.shatter(6, 2, 0.05);
    size_t updates = 0, nodes = 0;
    for (const Piece& piece : broken.pieces) {
      const FragmentField& old = *piece.fragment.field;
      const FragmentField field(broken.rest, piece.mesh, cellsOf(piece.mesh), old.rootTets(),
                                old.rootVertices());
      EXPECT_GT(field.work().updates, 0u);
      updates += field.work().updates;
      nodes += old.rootVertices().size();
      EXPECT_LT(field.work().steps, 30u);
    }
    EXPECT_LT(updates, nodes);
  }
}

// A fragment that broke in turns knows as much as one that is made at once.
TEST(FragmentField, HistoryHardlyMatters) {
  Broken broken(cubeMesh(8));
  broken.shatter(8, 4, 0.05);
  for (const Piece& piece : broken.pieces) {
    const FragmentField& inTurns = *piece.fragment.field;
    const FragmentField atOnce(broken.rest, piece.mesh, cellsOf(piece.mesh), inTurns.rootTets(),
                               inTurns.rootVertices());
    double worst = 0, sum = 0;
    for (uint32_t v = 0; v < inTurns.rootVertices().size(); ++v) {
      if (!inTurns.present(v)) continue;
      const double d = std::abs(inTurns.depth(v) - atOnce.depth(v));
      worst = std::max(worst, d);
      sum += d;
    }
    EXPECT_LT(worst, 0.5 * broken.rest->edge());
    EXPECT_LT(sum / double(inTurns.rootVertices().size()), 0.005 * broken.rest->edge());
  }
}

// A hundred fractures: no vertex comes to be farther from the surface, no value is negative, and what did not
// break is what it was.
TEST(FragmentField, FracturesOnlyBringSurfacesNearer) {
  size_t fractures = 0;
  for (uint64_t seed = 1; fractures < 100; ++seed) {
    Broken broken(cubeMesh(5, seed));
    RandomStream random(seed, 9);
    for (int round = 0; round < 12; ++round, ++fractures) {
      const size_t i = broken.largest();
      std::vector<Piece> before = broken.pieces;
      std::vector<std::vector<NodeRecord>> records;
      for (const Piece& p : before)
        records.emplace_back(p.fragment.field->records().begin(), p.fragment.field->records().end());
      std::vector<double> depth(broken.rest->mesh().positions.size(), 0);
      const FragmentField& parent = *before[i].fragment.field;
      for (uint32_t v = 0; v < parent.rootVertices().size(); ++v)
        if (parent.present(v)) depth[parent.rootVertices()[v]] = parent.depth(v);
      broken.crack(i, noisyCrack(before[i].fragment.shape->mass().centre, random.unitVector(),
                                 {0.05, 0.4, random.nextU32()}));
      for (size_t k = 0; k < broken.pieces.size(); ++k) {
        const FragmentField& field = *broken.pieces[k].fragment.field;
        if (k < before.size() && k != i) {
          EXPECT_EQ(&field, before[k].fragment.field.get());
          EXPECT_TRUE(std::equal(records[k].begin(), records[k].end(), field.records().begin()));
          continue;
        }
        for (uint32_t v = 0; v < field.rootVertices().size(); ++v) {
          EXPECT_GE(field.records()[v].distance, 0);
          if (field.present(v)) {
            EXPECT_LE(field.depth(v), depth[field.rootVertices()[v]]);
          }
        }
      }
    }
  }
}

TEST(FragmentField, WholeObjectHasTheObjectsField) {
  const RestMeshPtr rest = cubeMesh(6);
  const Fragment whole = makeWhole(rest);
  RandomStream random(2);
  for (int i = 0; i < 20000; ++i) {
    const Vec3 p = random.pointIn({Vec3::Constant(-0.5), Vec3::Constant(1.5)});
    const double object = rest->field().value(p), ours = whole.field->value(p);
    // Beyond the band the box is asked, which is the cube itself here.
    EXPECT_NEAR(ours, object, 1e-12);
  }
  for (uint32_t v = 0; v < rest->mesh().positions.size(); ++v)
    EXPECT_NEAR(whole.field->depth(v), -rest->field().value(rest->mesh().positions[v]), 1e-12);
}

TEST(FragmentField, EveryPointIsInOnePiece) {
  Broken broken(cubeMesh(8));
  broken.shatter(12, 6, 0.04);
  RandomStream random(4);
  for (int i = 0; i < 200000; ++i) {
    const Vec3 p = random.pointIn({Vec3::Zero(), Vec3::Ones()});
    const RestMesh::Place place = broken.rest->locate(p);
    ASSERT_NE(place.tet, kNoIndex);
    size_t holders = 0, inside = 0;
    for (const Piece& piece : broken.pieces) {
      holders += piece.fragment.field->holds(place);
      if (i % 20 == 0) inside += piece.fragment.field->value(p) < 0;
    }
    EXPECT_EQ(holders, 1u);
    EXPECT_EQ(inside, i % 20 == 0 ? 1u : 0u);
  }
  // On faces between two tetrahedra both say the same, a hair to either side.
  const geometry::TetMesh& mesh = broken.rest->mesh();
  size_t differing = 0;
  for (int i = 0; i < 50000; ++i) {
    const uint32_t t = random.below(uint32_t(mesh.tets.size()));
    const uint32_t other = broken.rest->neighbours(t)[i % 4];
    if (other == kNoIndex) continue;
    const double a = random.uniform(), b = random.uniform() * (1 - a);
    const auto f = geometry::tetFace(mesh.tets[t], size_t(i % 4));
    const Vec3 p = a * mesh.positions[f[0]] + b * mesh.positions[f[1]] + (1 - a - b) * mesh.positions[f[2]];
    for (const Piece& piece : broken.pieces)
      differing += piece.fragment.field->holds(RestMesh::Place{t, broken.rest->weights(t, p)}) !=
                   piece.fragment.field->holds(RestMesh::Place{other, broken.rest->weights(other, p)});
  }
  EXPECT_EQ(differing, 0u);
}

TEST(FragmentField, APlaneIsThePlane) {
  RandomStream random(8);
  for (int round = 0; round < 5; ++round) {
    Broken broken(cubeMesh(6, uint64_t(round)));
    const Vec3 normal = random.unitVector(), at(0.48, 0.51, 0.5);
    const CrackFunction plane = planeCrack(at, normal);
    // Vertices that the plane nearly goes through would bend it.
    bool bent = false;
    for (const double v : crackValues(broken.rest->mesh(), plane))
      bent |= std::abs(v) < 2e-3 * broken.rest->edge();
    if (bent) continue;
    ASSERT_TRUE(broken.crack(0, plane));
    for (int i = 0; i < 20000; ++i) {
      const Vec3 p = random.pointIn({Vec3::Zero(), Vec3::Ones()});
      if (std::abs(plane(p)) < 1e-9) continue;
      for (const Piece& piece : broken.pieces) {
        const bool above = plane(piece.fragment.shape->mass().centre) > 0;
        EXPECT_EQ(piece.fragment.field->holds(p), (plane(p) > 0) == above);
      }
    }
  }
}

// The bounds that a shape states of its field, against the exact distance; and how good it really is.
void expectErrorsWithinWhatIsStated(uint32_t cells, int samples, size_t leastNear) {
  for (const double amplitude : {0.0, 0.06}) {
    Broken broken(cubeMesh(cells));
    broken.shatter(8, 11, amplitude);
    RandomStream random(5);
    size_t near = 0, off = 0;
    for (const Piece& piece : broken.pieces) {
      const rigid::Shape& shape = *piece.fragment.shape;
      const sdf::MeshField exact = exactField(piece);
      for (int i = 0; i < samples; ++i) {
        const Vec3 p = random.pointIn({Vec3::Constant(-0.1), Vec3::Constant(1.1)});
        const double ours = shape.field().value(p), truth = exact.value(p);
        EXPECT_LE(ours - truth, shape.fieldErrorAt(ours) + 1e-12);
        EXPECT_LE(ours - truth, shape.fieldErrorFar());
        EXPECT_TRUE(std::abs(ours) > shape.fieldBand() || std::abs(ours - truth) <= shape.fieldError());
        EXPECT_TRUE(std::abs(truth) <= 1e-9 || (ours < 0) == (truth < 0));
        if (std::abs(truth) > 0.1 * broken.rest->edge()) continue;
        ++near;
        off += std::abs(ours - truth) > 1e-9;
      }
    }
    EXPECT_GT(near, leastNear);
    EXPECT_LT(double(off), 0.02 * double(near)) << amplitude;
  }
}
TEST(FragmentField, ErrorsAreWithinWhatIsStated) { expectErrorsWithinWhatIsStated(8, 15000, 3000); }
TEST(FragmentField, ErrorsOfACoarseBodyAreWithinWhatIsStated) { expectErrorsWithinWhatIsStated(8, 600, 100); }

TEST(FragmentField, GradientsPointToTheNearestSurface) {
  Broken broken(cubeMesh(10));
  broken.shatter(8, 13, 0.04);
  RandomStream random(6);
  std::vector<double> angles;
  size_t forward = 0, all = 0;
  for (const Piece& piece : broken.pieces) {
    const sdf::MeshField exact = exactField(piece);
    std::vector<Vec3> points;
    for (uint32_t v = 0; v < piece.fragment.field->rootVertices().size(); ++v)
      if (piece.fragment.field->present(v)) points.push_back(piece.fragment.field->position(v));
    for (int i = 0; i < 2000; ++i) points.push_back(random.pointIn(piece.fragment.field->bounds()));
    for (const Vec3& p : points) {
      const sdf::FieldSample truth = exact.sample(p);
      if (truth.value > -1e-3) continue;
      const sdf::FieldSample ours = piece.fragment.field->sample(p);
      EXPECT_NEAR(ours.gradient.norm(), 1, 1e-9);
      const double cosine = std::clamp(ours.gradient.dot(truth.gradient), -1.0, 1.0);
      ++all;
      forward += cosine > 0;
      // Near the middle between two surfaces either is right.
      if (exact.value(p + 0.3 * truth.value * truth.gradient) > 1.25 * truth.value) continue;
      angles.push_back(std::acos(cosine) * 180 / kPi);
    }
  }
  std::nth_element(angles.begin(), angles.begin() + long(angles.size() / 2), angles.end());
  EXPECT_LT(angles[angles.size() / 2], 1);
  EXPECT_GT(double(forward), 0.99 * double(all));
}

TEST(FragmentField, CracksThatEndInsideAreSurfacesToo) {
  Broken broken(cubeMesh(8));
  const CrackFunction plane = planeCrack(Vec3(0.52, 0.5, 0.5), Vec3(1, 0.05, 0.1));
  ASSERT_TRUE(broken.crack(0, plane, 0.3));
  ASSERT_EQ(broken.pieces.size(), 1u);
  const FragmentField& field = *broken.pieces[0].fragment.field;
  ASSERT_GT(field.faces().size(), 0u);
  for (size_t f = 0; f < field.faces().size(); ++f) {
    Vec3 middle = Vec3::Zero();
    const auto corners = field.faces().corners(field.faces()[f]);
    for (const Vec3& p : corners) middle += p / double(corners.size());
    const Vec3 inside = middle - 1e-4 * field.faces()[f].normal;
    if (broken.rest->field().value(inside) > -2e-4) continue;
    const sdf::FieldSample s = field.sample(inside);
    EXPECT_NEAR(s.value, -1e-4, 1e-9);
    EXPECT_NEAR(s.gradient.dot(field.faces()[f].normal), 1, 1e-6);
  }
}

TEST(FragmentField, RefusesWhatDoesNotFit) {
  const RestMeshPtr rest = cubeMesh(2);
  const CrackedMesh mesh(rest->mesh());
  EXPECT_THROW(FragmentField(rest, mesh, {}, {}, {}), Error);
  EXPECT_THROW(RestMesh(geometry::TetMesh{}, sdf::makeSphereField(Vec3::Zero(), 1)), Error);
  geometry::TetMesh turned = rest->mesh();
  std::swap(turned.tets[3][0], turned.tets[3][1]);
  EXPECT_THROW(RestMesh(turned, sdf::makeSphereField(Vec3::Zero(), 1)), Error);
}

TEST(FragmentFieldFull, EveryOneOfAMillionPointsIsInOnePiece) {
  Broken broken(cubeMesh(16));
  broken.shatter(14, 6, 0.04);
  RandomStream random(14);
  for (int i = 0; i < 1000000; ++i) {
    const RestMesh::Place place = broken.rest->locate(random.pointIn({Vec3::Zero(), Vec3::Ones()}));
    size_t holders = 0;
    for (const Piece& piece : broken.pieces) holders += piece.fragment.field->holds(place);
    EXPECT_EQ(holders, 1u);
  }
}

}  // namespace
}  // namespace sunder::fracture
