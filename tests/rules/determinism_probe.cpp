// Prints hashes of what the parallel algorithms return on one fixed input, for the number of threads given:
// the same lines for any number, or the rule "same bits, any number of threads" is broken. With a second
// argument, only what the broken twin's reductions reach.
#include "sunder/base/hash.h"
#include "sunder/base/parallel.h"
#include "sunder/base/prefix_sum.h"
#include "sunder/base/radix_sort.h"
#include "sunder/base/random.h"
#include "sunder/cut/cut.h"
#include "sunder/fem/dynamics.h"
#include "sunder/fem/recovery.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_clean.h"
#include "sunder/rigid/solver/simulation.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/sdf/hp/hp_continuity.h"
#include "sunder/sdf/hp/hp_field.h"
#include "sunder/sdf/isosurface.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/sdf/sphere_tree.h"
#include "sunder/sdf/voxel/voxel_merge.h"
#include "sunder/sdf/voxel/voxelize.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/tet/point_location.h"
#include "sunder/tet/stuffing.h"
#include "sunder/tet/tet_report.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

using namespace sunder;

namespace {

template <class T>
void print(const char* name, std::span<const T> values) {
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash64(std::as_bytes(values))));
}

void printPoints(const char* name, const std::vector<Vec3>& points) {
  print<double>(name, {points.data()->data(), 3 * points.size()});
}

// A heap of rings, balls and boxes that falls: detection, contact graph, solver and islands. The mass of one
// of them is summed over half a million triangles: enough for a second thread to have a part in it, however
// busy the machine is.
void simulate() {
  const geometry::TriMesh ring = shapes::makeShape(
      "torus", {{"radius", "0.06"}, {"tube", "0.025"}, {"segments", "128"}, {"sides", "64"}});
  const double mass =
      geometry::massProperties(
          shapes::makeShape("torus",
                            {{"radius", "0.06"}, {"tube", "0.025"}, {"segments", "1024"}, {"sides", "256"}}),
          2500)
          .mass;
  rigid::SolidSettings solid;
  solid.fieldError = 0.02;
  solid.surfacePoints = 80;
  const rigid::ShapePtr shapes[] = {rigid::makeSolid(ring, solid), rigid::makeSphere(0.06),
                                    rigid::makeBox(Vec3(0.05, 0.04, 0.06))};
  rigid::Simulation simulation({});
  rigid::BodySettings body;
  body.kind = rigid::BodyKind::Static;
  body.shape = rigid::makePlane();
  simulation.addBody(body);
  body.kind = rigid::BodyKind::Dynamic;
  RandomStream random(3, 2);
  for (int i = 0; i < 400; ++i) {
    body.shape = shapes[i % 3];
    body.mass = i == 0 ? std::optional(mass) : std::nullopt;
    body.pose.position = Vec3(0.2 * (i % 5), 0.1 + 0.2 * (i / 25), 0.2 * (i / 5 % 5)) +
                         random.pointIn({Vec3::Constant(-0.01), Vec3::Constant(0.01)});
    simulation.addBody(body);
  }
  for (int i = 0; i < 60; ++i) simulation.step();
  const uint64_t state = simulation.hash();
  print<uint64_t>("simulation", {&state, 1});
}

// A struck body of several thousand tetrahedra: assembly, factor, steps and recovery take several blocks.
void strike(const geometry::TetMesh& mesh) {
  fem::ElasticDynamics dynamics;
  dynamics.setBody(mesh, {7e10, 0.22, 2500});
  fem::StressRecovery recovery;
  for (const char* solver : {"block", "pcg"}) {
    dynamics.rest();
    dynamics.prepare({.step = 1e-5, .beta = 3e-6, .solver = {solver}});
    recovery.setBody(dynamics.body(), fem::Recovery::Patch);
    const fem::NodalForce force{0, Vec3(0, -1e4, 0)};
    for (int i = 0; i < 3; ++i) dynamics.step({&force, 1});
    recovery.update(dynamics.displacements(), dynamics.velocities());
    std::vector<double> values;
    for (const fem::Principal& p : recovery.principals()) values.push_back(p.value), values.push_back(p.rate);
    print<double>(solver, values);
  }
}

void cutSpheres() {
  shapes::RippledSphereShape shape;
  shape.n = 60;
  const geometry::TriMesh mesh = shapes::makeRippledSphere(shape);
  geometry::TriMesh cutter = mesh;
  for (Vec3& p : cutter.positions) p += Vec3(0.51, 0.13, 0.07);
  for (const cut::Op op : {cut::Op::Split, cut::Op::Difference}) {
    const cut::CutResult result = cut::cut(mesh, cutter, {.op = op, .triangles = true});
    printPoints("cut", result.mesh.positions);
    print<uint32_t>("cut-faces", result.mesh.corners);
    print<uint32_t>("cut-fragments", result.fragment);
    print<double>("cut-volumes", result.volume);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const ThreadLimit limit(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0);
  const size_t count = 1'000'000;

  // Terms of very different size, so that the order of addition shows.
  const double sum = parallelReduce(
      count, 0.0,
      [](size_t begin, size_t end) {
        double s = 0;
        for (size_t i = begin; i < end; ++i) {
          const auto x = static_cast<double>(i);
          s += std::sin(x) * std::exp2(static_cast<double>(i % 60));
        }
        return s;
      },
      [](double a, double b) { return a + b; }, 1000);
  print<double>("reduce", {&sum, 1});
  if (argc > 2) {
    simulate();
    return 0;
  }

  RandomStream random(7, 1);
  std::vector<uint32_t> keys(count), payload(count);
  for (uint32_t& key : keys) key = random.nextU32() & 0xffff;  // many equal keys: stability shows
  std::iota(payload.begin(), payload.end(), 0u);
  RadixScratch scratch;
  radixSortPairs(keys, payload, scratch);
  print<uint32_t>("sort", payload);
  exclusiveScan(std::span<uint32_t>(payload.data(), 2000));
  print<uint32_t>("scan", payload);

  const geometry::TriMesh ball = shapes::makeShape("icosphere", {{"frequency", "60"}});
  const auto mass = geometry::massProperties(ball);
  print<double>("mass", {mass.inertia.data(), 9});
  const auto clean = geometry::cleanMesh(geometry::toSoup(ball), {.weldDistance = 0.02});
  print<uint32_t>("weld", clean.report.vertexMap);

  const sdf::VoxelGrid voxels =
      sdf::voxelize(ball, sdf::frameAround(geometry::bounds(ball.positions), 60, 2));
  print<uint64_t>("voxels", voxels.words());
  const sdf::DistanceVolume distances = sdf::distanceTransform(voxels);
  print<uint32_t>("sites", distances.site);
  print<float>("distances", distances.phi);
  std::vector<Vec3> merged;
  for (const sdf::VoxelParticle& particle : sdf::mergeVoxels(voxels, distances).particles) {
    merged.push_back(particle.centre);
    merged.push_back(particle.gradient);
  }
  print<double>("merged", {merged.data()->data(), 3 * merged.size()});
  const sdf::SphereTree spheres = sdf::buildSphereTree(ball.positions);
  print<uint32_t>("sphere-order", spheres.order);
  print<float>("sphere-radii", spheres.radius);

  const sdf::MeshField exact(shapes::makeShape("torus"));
  std::vector<Vec3> points(20'000);
  for (Vec3& p : points) p = random.pointIn({Vec3::Constant(-0.8), Vec3::Constant(0.8)});
  std::vector<double> values(points.size());
  sdf::valuesOf(exact, points, values);
  print<double>("mesh-field", values);
  sdf::HpSettings settings;
  settings.error = 2e-3;
  sdf::HpReport built;
  sdf::HpForest forest = sdf::buildHp(exact, settings, built);
  print<double>("hp-build", forest.coefficients);
  const double errors[] = {built.measured, built.measuredMax, built.estimate};
  print<double>("hp-errors", errors);
  sdf::HpReport again;
  print<double>(
      "hp-refit",
      sdf::refitHp(forest, exact, {Vec3(0.2, -1, -1), Vec3(1, 1, 1)}, settings, again).coefficients);
  const sdf::FieldPtr plane = sdf::makePlaneField(Vec3::UnitX(), 0.3);
  const sdf::FieldPtr rest = sdf::makeIntersection({std::make_shared<sdf::HpField>(forest), plane});
  print<double>("hp-cut", sdf::refitAfterCut(forest, *rest, *plane, settings, again).coefficients);
  sdf::makeContinuous(forest, {});
  print<double>("hp-continuity", forest.coefficients);
  const sdf::HpField field(forest, exact.bounds());
  sdf::valuesOf(field, points, values);
  print<double>("hp-field", values);
  sdf::IsosurfaceReport surfaced;
  const geometry::TriMesh skin = sdf::isosurface(field, {.edge = 0.03}, surfaced);
  printPoints("surface", skin.positions);
  print<uint32_t>("surface-faces", {skin.triangles.data()->data(), 3 * skin.triangles.size()});

  for (const bool sharp : {false, true}) {
    tet::FillReport filled;
    const geometry::TetMesh tets = tet::fill(exact, {.edge = 0.04, .levels = 2, .sharp = sharp}, filled);
    printPoints(sharp ? "sharp-fill" : "fill", tets.positions);
    print<uint32_t>(sharp ? "sharp-tets" : "tets", {tets.tets.data()->data(), 4 * tets.tets.size()});
    const tet::TetQuality quality = tet::tetQuality(tets);
    const double figures[] = {quality.volume, quality.meanRadiusEdge, quality.smallestAngle,
                              filled.smallestAngle};
    print<double>("quality", figures);
    const tet::PointLocator locator(tets);
    std::vector<tet::TetLocation> places(points.size());
    locator.locate(points, places);
    std::vector<uint32_t> found;
    for (const tet::TetLocation& place : places) found.push_back(place.tet);
    print<uint32_t>("locate", found);
  }
  tet::FillReport filled;
  strike(tet::fill(exact, {.edge = 0.08}, filled));
  cutSpheres();
  simulate();
  return 0;
}
