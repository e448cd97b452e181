// Parts of tetrahedra as elements: masses, stiffness, patches, modes and conditioning against closed forms.
#include "sunder/fem/parts/part_mesh.h"

#include "sunder/base/error.h"
#include "sunder/fem/recovery.h"
#include "sunder/fem/solid/solid.h"
#include "sunder/fem/statics.h"

#include "fem/cut_cases.h"

#include <cstdio>
#include <numbers>

#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

const ElasticMaterial kRubber{1e6, 0.3, 1000};

// One of the cubes of specification 08: [lower, upper]^3 of five tetrahedra.
geometry::TetMesh fiveTets(double lower, double upper) {
  geometry::TetMesh mesh;
  for (uint32_t v = 0; v < 8; ++v)
    mesh.positions.push_back({v & 1 ? upper : lower, v & 2 ? upper : lower, v & 4 ? upper : lower});
  mesh.tets = {{0, 1, 2, 4}, {3, 1, 2, 7}, {5, 1, 4, 7}, {6, 2, 4, 7}, {1, 2, 4, 7}};
  geometry::flipInverted(mesh);
  return mesh;
}

CutMesh cutBar() {
  CutMesh body(blockMesh({4, 2, 2}, {4, 2, 2}, 0.2, 31));
  body.cut(plane({1.7, 1, 1}, {1, 0.2, 0.1}));
  return body;
}

// No ghost mass: of bodies, of pieces, of nodes; by lumps and consistent.
TEST(PartMesh, MassIsThatOfTheSolid) {
  for (uint64_t i = 0; i < 20; ++i) {
    RandomStream random(101, i);
    const geometry::TetMesh mesh = blockMesh({3, 3, 3}, {3, 3, 3}, 0.2, i);
    CutMesh cut(mesh);
    for (int k = 0; k < 3; ++k) cut.cut(randomSheet(random, 2, 2));
    const PartMesh parts = partMesh(cut);
    const ElasticBody body(parts.mesh, kRubber, parts.fractions, parts.shares);
    double sum = 0;
    Vec3 first = Vec3::Zero();
    for (size_t n = 0; n < body.vertices(); ++n) {
      ASSERT_GT(body.masses()[n], 0);
      sum += body.masses()[n];
      first += body.masses()[n] * parts.mesh.positions[n];
    }
    ASSERT_NEAR(sum, 27e3, 1e-12 * 27e3);
    // Shape functions reproduce positions, so lumps have the centre of mass of the solid.
    ASSERT_LT((first / sum - Vec3::Constant(1.5)).norm(), 1e-12);
    SolidMaterial material;
    material.elastic = kRubber;
    Solid solid;
    solid.set(parts.mesh, {&material, 1}, {}, parts.fractions, parts.shares);
    for (size_t n = 0; n < body.vertices(); ++n)
      ASSERT_NEAR(solid.masses()[n], body.masses()[n], 1e-12 * body.masses()[n]);
    BlockMatrix mass;
    mass.setPattern(body.pattern());
    addConsistentMass(cut, parts, kRubber.density, 1, mass);
    const std::vector<Vec3> ones(body.vertices(), Vec3::Ones());
    std::vector<Vec3> product(body.vertices());
    mass.multiply(ones, product);
    double consistent = 0, inertia = 0;
    for (const Vec3& p : product) consistent += p.x();
    ASSERT_NEAR(consistent, 27e3, 1e-12 * 27e3);
    // integral of x^2 over the block: 27 * 3.
    mass.multiply(parts.mesh.positions, product);
    for (size_t n = 0; n < product.size(); ++n) inertia += product[n].x() * parts.mesh.positions[n].x();
    ASSERT_NEAR(inertia, 81e3, 1e-11 * 81e3);
  }
}

// The virtual node algorithm counts each tetrahedron once for each of its parts.
TEST(PartMesh, WholeElementsWouldHaveGhostMass) {
  const CutMesh cut = cutBar();
  const PartMesh parts = partMesh(cut);
  const ElasticBody virtualNodes(parts.mesh, kRubber);
  double sum = 0, doubled = 0;
  for (const double m : virtualNodes.masses()) sum += m;
  for (const ElementPart& p : cut.parts())
    if (!cut.isEmpty(p)) doubled += cut.elements()[p.tet].volume;
  EXPECT_NEAR(sum, 1000 * doubled, 1e-9);
  EXPECT_GT(doubled, 1.2 * 16);
}

// Acceptance check 7: one strain in all parts gives one stress, and the energy of the whole solid.
TEST(PartMesh, ConstantStrainIsExact) {
  for (uint64_t i = 0; i < 10; ++i) {
    RandomStream random(103, i);
    CutMesh cut(blockMesh({3, 3, 3}, {3, 3, 3}, 0.2, i));
    for (int k = 0; k < 3; ++k) cut.cut(randomSheet(random, 2, 2));
    const PartMesh parts = partMesh(cut);
    const ElasticBody body(parts.mesh, kRubber, parts.fractions, parts.shares);
    const Mat3 gradient = 1e-3 * randomMatrix(random);
    const std::vector<Vec3> u = affine(parts.mesh, gradient, Vec3::Zero());
    std::vector<Stress> stresses(body.tets());
    elementStresses(body, u, stresses);
    const Stress expected = hooke(kRubber, gradient);
    double energy = 0, scale = 0;
    for (int k = 0; k < 6; ++k) scale = std::max(scale, std::abs(expected[size_t(k)]));
    for (const Stress& s : stresses)
      for (int k = 0; k < 6; ++k) ASSERT_NEAR(s[size_t(k)], expected[size_t(k)], 1e-11 * scale);
    BlockMatrix stiffness;
    stiffness.setPattern(body.pattern());
    assemble(body.elements(), kRubber, 0, 1, MassKind::Lumped, stiffness);
    std::vector<Vec3> forces(body.vertices());
    stiffness.multiply(u, forces);
    for (size_t n = 0; n < u.size(); ++n) energy += 0.5 * forces[n].dot(u[n]);
    const Mat3 strain = 0.5 * (gradient + gradient.transpose());
    const double density =
        kRubber.mu() * strain.squaredNorm() + 0.5 * kRubber.lambda() * strain.trace() * strain.trace();
    ASSERT_NEAR(energy, 27 * density, 1e-11 * 27 * density);
    // Displacements of points are interpolated exactly, also far from the part's own vertices.
    for (size_t p = 0; p < cut.parts().size(); p += 17) {
      const ElementPart& part = cut.parts()[p];
      const Vec3 at = part.centroid;
      ASSERT_LT((displacementAt(cut, part, at, u) - gradient * at).norm(), 1e-15);
    }
  }
}

// A bar that is slit along its length and pulled: each half is in uniaxial tension, exactly.
TEST(PartMesh, PatchTestOfASlitBar) {
  CutMesh cut(blockMesh({4, 2, 2}, {4, 2, 2}, 0.2, 33));
  cut.cut(plane({0, 0.83, 0}, {0, 1, 0}));
  const PartMesh parts = partMesh(cut);
  const ElasticBody body(parts.mesh, kRubber, parts.fractions, parts.shares);
  uint32_t count = 0;
  const std::vector<uint32_t> piece = cut.pieces(count);
  ASSERT_EQ(count, 2u);
  std::vector<uint32_t> pieceOf(cut.nodes(), kNoIndex);
  for (size_t p = 0; p < piece.size(); ++p)
    for (const uint32_t n : cut.parts()[p].nodes) pieceOf[n] = piece[p];
  // Ends are held along x; in each half three more values keep it from moving and turning.
  std::vector<Support> supports;
  const auto hold = [&](uint32_t node, int axis, double value) {
    Support s{.vertex = node, .held = {false, false, false}};
    s.held[size_t(axis)] = true;
    s.displacement[axis] = value;
    supports.push_back(s);
  };
  const double pull = 0.01;
  for (uint32_t n = 0; n < cut.nodes(); ++n) {
    const Vec3& x = parts.mesh.positions[n];
    if (x.x() == 0) hold(n, 0, 0);
    if (x.x() == 4) hold(n, 0, pull);
  }
  const auto nodeAt = [&](const Vec3& at, uint32_t of) {
    for (uint32_t n = 0; n < cut.nodes(); ++n)
      if (parts.mesh.positions[n] == at && pieceOf[n] == of) return n;
    return kNoIndex;
  };
  for (const uint32_t half : {0u, 1u}) {
    const uint32_t a = nodeAt({0, 1, 0}, half), b = nodeAt({0, 1, 2}, half);
    ASSERT_NE(a, kNoIndex);
    ASSERT_NE(b, kNoIndex);
    hold(a, 1, 0);
    hold(a, 2, 0);
    hold(b, 1, 0);
  }
  const StaticSolution solution = solveStatic(body, supports, {});
  std::vector<Stress> stresses(body.tets());
  elementStresses(body, solution.displacements, stresses);
  const double tension = kRubber.young * pull / 4;
  for (const Stress& s : stresses) {
    ASSERT_NEAR(s[0], tension, 1e-9 * tension);
    for (size_t k = 1; k < 6; ++k) ASSERT_NEAR(s[k], 0, 1e-9 * tension);
  }
  double reaction = 0;
  for (uint32_t n = 0; n < cut.nodes(); ++n)
    if (parts.mesh.positions[n].x() == 4) reaction += solution.reactions[n].x();
  EXPECT_NEAR(reaction, 4 * tension, 1e-9 * 4 * tension);
}

// Two sets of six modes without energy, and no more; one part may move and turn alone.
TEST(PartMesh, ASeparatedBarHasTwelveZeroModes) {
  const CutMesh cut = cutBar();
  const PartMesh parts = partMesh(cut);
  const ElasticBody body(parts.mesh, kRubber, parts.fractions, parts.shares);
  BlockMatrix stiffness;
  stiffness.setPattern(body.pattern());
  assemble(body.elements(), kRubber, 0, 1, MassKind::Lumped, stiffness);
  const Eigen::MatrixXd k = full(stiffness);
  // Scaled by masses, since parts of a hair's breadth are soft.
  Eigen::VectorXd scale(k.rows());
  for (Eigen::Index i = 0; i < k.rows(); ++i) scale[i] = 1 / std::sqrt(body.masses()[size_t(i / 3)]);
  const Eigen::MatrixXd scaled = scale.asDiagonal() * k * scale.asDiagonal();
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled).eigenvalues();
  const double largest = values[values.size() - 1];
  EXPECT_LT(std::abs(values[11]), 1e-12 * largest);
  EXPECT_GT(values[12], 1e-7 * largest);
  uint32_t count = 0;
  const std::vector<uint32_t> piece = cut.pieces(count);
  std::vector<Vec3> u(body.vertices(), Vec3::Zero()), forces(body.vertices());
  const Vec3 turn(0.1, -0.2, 0.3);
  for (size_t p = 0; p < piece.size(); ++p)
    if (piece[p] == 1)
      for (const uint32_t n : cut.parts()[p].nodes)
        u[n] = Vec3(1, 2, 3) + turn.cross(parts.mesh.positions[n]);
  stiffness.multiply(u, forces);
  for (const Vec3& f : forces) ASSERT_LT(f.norm(), 1e-9 * kRubber.young);
}

// Large rotations of one piece: no force with the models that bear them.
TEST(PartMesh, APieceMayTurnByAnyAngle) {
  const CutMesh cut = cutBar();
  const PartMesh parts = partMesh(cut);
  uint32_t count = 0;
  const std::vector<uint32_t> piece = cut.pieces(count);
  const Mat3 turn = Eigen::AngleAxisd(2, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  for (const ElasticModel model :
       {ElasticModel::Corotated, ElasticModel::SaintVenantKirchhoff, ElasticModel::NeoHookean}) {
    SolidMaterial material;
    material.elastic = kRubber;
    material.model = model;
    Solid solid;
    solid.set(parts.mesh, {&material, 1}, {}, parts.fractions, parts.shares);
    std::vector<Vec3> x = parts.mesh.positions, forces(x.size(), Vec3::Zero());
    std::vector<uint8_t> moved(x.size(), 0);
    for (size_t p = 0; p < piece.size(); ++p)
      for (const uint32_t n : cut.parts()[p].nodes)
        if (piece[p] == 1 && moved[n] == 0) {
          x[n] = turn * x[n] + Vec3(0.3, 4, 1);
          moved[n] = 1;
        }
    solid.addForces(x, forces);
    for (const Vec3& f : forces) ASSERT_LT(f.norm(), 1e-10 * kRubber.young);
  }
}

// Acceptance check 4: the field at the moment of a cut stays what it was, and with it mass, momentum and
// energy.
TEST(PartMesh, ACutChangesNoEnergy) {
  CutMesh cut(blockMesh({3, 3, 3}, {3, 3, 3}, 0.2, 37));
  RandomStream random(107, 0);
  cut.cut(randomSheet(random, 2, 2));
  std::vector<Vec3> u(cut.nodes()), v(cut.nodes());
  for (Vec3& p : u) p = 0.1 * random.unitVector();
  for (Vec3& p : v) p = random.unitVector();
  struct Totals {
    double mass = 0, kinetic = 0, elastic = 0;
    Vec3 momentum = Vec3::Zero(), angular = Vec3::Zero();
  };
  const auto totalsOf = [&] {
    const PartMesh parts = partMesh(cut);
    const ElasticBody body(parts.mesh, kRubber, parts.fractions, parts.shares);
    BlockMatrix mass, stiffness;
    mass.setPattern(body.pattern());
    addConsistentMass(cut, parts, kRubber.density, 1, mass);
    stiffness.setPattern(body.pattern());
    assemble(body.elements(), kRubber, 0, 1, MassKind::Lumped, stiffness);
    std::vector<Vec3> p(body.vertices()), f(body.vertices());
    mass.multiply(v, p);
    stiffness.multiply(u, f);
    Totals t;
    for (size_t n = 0; n < p.size(); ++n) {
      t.mass += body.masses()[n];
      t.kinetic += 0.5 * p[n].dot(v[n]);
      t.elastic += 0.5 * f[n].dot(u[n]);
      t.momentum += p[n];
      t.angular += (parts.mesh.positions[n] + u[n]).cross(p[n]);
    }
    return t;
  };
  const Totals before = totalsOf();
  for (int k = 0; k < 3; ++k) {
    const auto change = cut.cut(randomSheet(random, 2, 2));
    std::vector<Vec3> newU, newV;
    for (const uint32_t n : change.vertexSource) {
      newU.push_back(u[n]);
      newV.push_back(v[n]);
    }
    u = newU;
    v = newV;
    const Totals now = totalsOf();
    EXPECT_NEAR(now.mass, before.mass, 1e-12 * before.mass);
    EXPECT_NEAR(now.kinetic, before.kinetic, 1e-12 * before.kinetic);
    EXPECT_NEAR(now.elastic, before.elastic, 1e-12 * before.elastic);
    EXPECT_LT((now.momentum - before.momentum).norm(), 1e-12 * before.mass);
    EXPECT_LT((now.angular - before.angular).norm(), 1e-11 * before.mass);
  }
}

// Acceptance check 5: a slice that hangs at its upper edge rests with its centre of mass below the edge, at
// atan(t); with whole elements at 45 degrees, whatever its thickness.
TEST(PartMesh, AHingedSliceHangsBelowItsCentreOfMass) {
  for (const double t : {0.1, 0.5, 0.9}) {
    CutMesh cut(fiveTets(0, 1));
    cut.cut(plane({t, 0, 0}, {1, 0, 0}));
    uint32_t count = 0;
    const std::vector<uint32_t> piece = cut.pieces(count);
    ASSERT_EQ(count, 2u);
    const PartMesh parts = partMesh(cut);
    uint32_t slice = kNoIndex;  // the piece with the vertex at the origin
    for (size_t p = 0; p < piece.size(); ++p)
      if (cut.mesh().tets[cut.parts()[p].tet][0] == 0 && (cut.parts()[p].holds & 1) != 0) slice = piece[p];
    ASSERT_NE(slice, kNoIndex);
    Vec3 moment = Vec3::Zero(), whole = Vec3::Zero();
    double mass = 0, wholeMass = 0;
    for (size_t e = 0; e < parts.partOf.size(); ++e) {
      if (piece[parts.partOf[e]] != slice) continue;
      const double volume = cut.parts()[parts.partOf[e]].volume;
      const double full = cut.elements()[cut.parts()[parts.partOf[e]].tet].volume;
      for (size_t k = 0; k < 4; ++k) {
        const Vec3& x = parts.mesh.positions[parts.mesh.tets[e][k]];
        moment += volume * parts.shares[e][k] * x;
        mass += volume * parts.shares[e][k];
        whole += 0.25 * full * x;
        wholeMass += 0.25 * full;
      }
    }
    // The hinge is the edge x = 0, y = 1.
    const auto angle = [](const Vec3& centre) {
      return std::atan2(centre.x(), 1 - centre.y()) * 180 / std::numbers::pi;
    };
    EXPECT_NEAR(angle(moment / mass), std::atan(t) * 180 / std::numbers::pi, 1e-10);
    EXPECT_NEAR(angle(whole / wholeMass), 45, 1e-10);
    EXPECT_NEAR(mass, t, 1e-14);
  }
}

// Acceptance check 8: the condition of M + dt^2 K in the basis of parts, scaled by its diagonal, is bounded
// however thin a part is.
TEST(PartMesh, ConditionStaysBounded) {
  const auto conditionAt = [&](double c) {
    CutMesh cut(fiveTets(-1, 1));
    cut.cut(plane({c, 0, 0}, {1, 0, 0}));
    const PartMesh parts = partMesh(cut);
    const ElasticBody body(parts.mesh, kRubber, parts.fractions, parts.shares);
    BlockMatrix matrix;
    matrix.setPattern(body.pattern());
    assemble(body.elements(), kRubber, 0, 1e-6, MassKind::Lumped, matrix);
    addConsistentMass(cut, parts, kRubber.density, 1, matrix);
    Eigen::MatrixXd a = full(matrix);
    const Eigen::VectorXd scale = a.diagonal().cwiseSqrt().cwiseInverse();
    a = scale.asDiagonal() * a * scale.asDiagonal();
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a).eigenvalues();
    return values[values.size() - 1] / values[0];
  };
  for (const auto& [c, expected] : {std::pair{0.0, 8.8}, std::pair{0.5, 11.5}, std::pair{0.9, 10.9},
                                    std::pair{0.99, 5.0}, std::pair{0.999, 5.0}, std::pair{0.9999, 5.0}}) {
    const double condition = conditionAt(c);
    std::printf("plane at %g: condition %.3f, specification %.1f\n", c, condition, expected);
    EXPECT_NEAR(condition, expected, 0.01 * expected + 0.05);  // that is given with one decimal
  }
  for (int i = 0; i <= 100; ++i) {
    const double condition = conditionAt(-0.9995 + 1.99 * i / 100);
    ASSERT_GT(condition, 4.95);
    ASSERT_LT(condition, 12.85);
  }
}

// Acceptance check 9: enrichment by shifted signs, u = sum N_i (u_i + (s - s_i) / 2 a_i), which the source
// has, gives the same field.
TEST(PartMesh, ShiftedSignsGiveTheSameField) {
  CutMesh cut(blockMesh({4, 2, 2}, {4, 2, 2}, 0.2, 41));
  geometry::TriMesh sheet = plane({2.3, 0, 0}, {1, 0, 0});
  for (Vec3& p : sheet.positions) p.y() = std::max(p.y(), 0.6);
  cut.cut(sheet);
  const geometry::TetMesh& mesh = cut.mesh();
  const uint32_t vertices = geometry::u32(mesh.positions.size());
  const uint32_t nodes = geometry::u32(cut.nodes());
  ASSERT_GT(nodes, vertices);
  const auto signAt = [](const Vec3& x) { return x.x() > 2.3 ? 1.0 : -1.0; };
  std::vector<uint32_t> enriched(vertices, kNoIndex);  // by vertex: the number of its copy
  for (uint32_t n = vertices; n < nodes; ++n) {
    ASSERT_EQ(enriched[cut.vertexOf()[n]], kNoIndex);
    enriched[cut.vertexOf()[n]] = n;
  }
  const Vec3 gravity(1, -9.81, 2);
  const Eigen::Index size = 3 * Eigen::Index(nodes);
  Eigen::MatrixXd byParts = Eigen::MatrixXd::Zero(size, size), bySigns = byParts;
  Eigen::VectorXd loadByParts = Eigen::VectorXd::Zero(size), loadBySigns = loadByParts;
  struct Unknown {
    uint32_t number;
    double factor;
  };
  const auto unknownsBySign = [&](const ElementPart& part, size_t k) {
    const uint32_t v = mesh.tets[part.tet][k];
    std::vector<Unknown> all{{v, 1}};
    const double psi = 0.5 * (signAt(part.centroid) - signAt(mesh.positions[v]));
    // A tetrahedron that no sheet divides has one field; there psi counts as zero.
    const bool divided = cut.firstPart(part.tet + 1) - cut.firstPart(part.tet) > 1;
    if (divided && psi != 0 && enriched[v] != kNoIndex) all.push_back({enriched[v], psi});
    return all;
  };
  for (const ElementPart& part : cut.parts()) {
    Element element = cut.elements()[part.tet];
    element.volume = part.volume;
    const PartIntegrals integrals = partIntegrals(cut, part);
    for (size_t k = 0; k < 4; ++k) {
      const auto mine = unknownsBySign(part, k);
      loadByParts.segment<3>(3 * part.nodes[k]) += 1000 * integrals.shape[k] * gravity;
      for (const Unknown& a : mine)
        loadBySigns.segment<3>(3 * a.number) += a.factor * 1000 * integrals.shape[k] * gravity;
      for (size_t l = 0; l < 4; ++l) {
        const Mat3 block = stiffnessBlock(element, kRubber, int(k), int(l));
        byParts.block<3, 3>(3 * part.nodes[k], 3 * part.nodes[l]) += block;
        for (const Unknown& a : mine)
          for (const Unknown& b : unknownsBySign(part, l))
            bySigns.block<3, 3>(3 * a.number, 3 * b.number) += a.factor * b.factor * block;
      }
    }
  }
  // The matrix is that of the room.
  const PartMesh parts = partMesh(cut);
  const ElasticBody body(parts.mesh, kRubber, parts.fractions, parts.shares);
  BlockMatrix stiffness;
  stiffness.setPattern(body.pattern());
  assemble(body.elements(), kRubber, 0, 1, MassKind::Lumped, stiffness);
  ASSERT_LT((full(stiffness) - byParts).norm(), 1e-12 * byParts.norm());
  for (uint32_t v = 0; v < vertices; ++v)
    if (mesh.positions[v].x() == 0)
      for (Eigen::MatrixXd* k : {&byParts, &bySigns}) k->block<3, 3>(3 * v, 3 * v) += 1e15 * Mat3::Identity();
  const Eigen::VectorXd u = byParts.ldlt().solve(loadByParts), a = bySigns.ldlt().solve(loadBySigns);
  double largest = 0, difference = 0;
  for (const ElementPart& part : cut.parts()) {
    const PartIntegrals integrals = partIntegrals(cut, part);
    Vec3 one = Vec3::Zero(), other = Vec3::Zero();
    for (size_t k = 0; k < 4; ++k) {
      one += integrals.shape[k] / part.volume * u.segment<3>(3 * part.nodes[k]);
      for (const Unknown& x : unknownsBySign(part, k))
        other += integrals.shape[k] / part.volume * x.factor * a.segment<3>(3 * x.number);
    }
    largest = std::max(largest, one.norm());
    difference = std::max(difference, (one - other).norm());
  }
  EXPECT_GT(largest, 0.01);
  EXPECT_LT(difference, 1e-10 * largest);
}

TEST(PartMesh, RefusesSharesThatDoNotAddUp) {
  const geometry::TetMesh mesh = fiveTets(0, 1);
  std::vector<MassShares> shares(5, MassShares{0.25, 0.25, 0.25, 0.25});
  EXPECT_NO_THROW(ElasticBody(mesh, kRubber, {}, shares));
  shares[3][1] = 0.3;
  EXPECT_THROW(ElasticBody(mesh, kRubber, {}, shares), Error);
  shares[3] = {0.5, 0.75, -0.25, 0};
  EXPECT_THROW(ElasticBody(mesh, kRubber, {}, shares), Error);
  shares.pop_back();
  EXPECT_THROW(ElasticBody(mesh, kRubber, {}, shares), Error);
}

}  // namespace

}  // namespace sunder::fem
