// Solids of any form. Their field is a BandField as fine as the error asks for: measured against hp-adaptive
// fields of the same error near the surface, queries take a third of the time and construction a half on thin
// walls.
#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/rigid/shape/band_field.h"
#include "sunder/rigid/shape/shape_parts.h"
#include "sunder/sdf/farthest_point.h"
#include "sunder/sdf/isosurface.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/sdf/point_samples.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::rigid {

namespace {

constexpr double kFirstCells = 64;     // of the fine lattice along the longest side
constexpr double kMostNodes = 20e6;    // of the fine lattice, were it everywhere: 80 MB while it is built
constexpr double kLost = 0.02;         // of the points inside walls: so many may come out on the wrong side
constexpr size_t kMostBricks = 32000;  // 8 MB
constexpr double kPad = 0.15;          // of the radius: how far the domain reaches beyond
constexpr double kBand = 0.04;         // of the radius: what counts as near the surface

struct Errors {
  double near = 0;         // root mean square near the surface
  double largestNear = 0;  // where the field says that the surface is near
  double largest = 0;      // anywhere
  double above = 0;        // of field - distance, where the field says that the surface is far and outside
};

Errors errorsOf(const sdf::Field& field, std::span<const Vec3> points, std::span<const double> exact,
                size_t near, double band) {
  std::vector<double> ours(points.size());
  sdf::valuesOf(field, points, ours);
  Errors errors;
  double sum = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const double e = std::abs(ours[i] - exact[i]);
    errors.largest = std::max(errors.largest, e);
    if (std::abs(ours[i]) <= band) errors.largestNear = std::max(errors.largestNear, e);
    if (ours[i] > band) errors.above = std::max(errors.above, ours[i] - exact[i]);
    if (i < near) sum += e * e;
  }
  errors.near = std::sqrt(sum / double(near));
  return errors;
}

struct BuiltField {
  std::shared_ptr<const sdf::Field> field;
  Box3 domain;
  double band = 0;
  Errors errors;
  double lost = 0;  // share of points inside walls that the field takes for outside
  size_t numbers = 0;
};

double areaOf(const geometry::TriMesh& mesh) {
  double area = 0;
  for (const geometry::Triangle& t : mesh.triangles) area += geometry::triangleArea(mesh.positions, t);
  return area;
}

// Points well inside, at most `depth` below the surface: in the middle of walls as thin as twice that.
std::vector<Vec3> pointsInWalls(const sdf::Field& source, const geometry::TriMesh& mesh, double depth,
                                uint64_t seed) {
  std::vector<Vec3> points, kept;
  for (const sdf::SurfaceSample& s : sdf::scatterOnSurface(mesh, 1000, seed)) {
    const Vec3 n = geometry::twiceVectorArea(mesh.positions, mesh.triangles[s.triangle]);
    points.push_back(s.point - depth * n.normalized());
  }
  std::vector<double> values(points.size());
  sdf::valuesOf(source, points, values);
  for (size_t i = 0; i < points.size(); ++i)
    if (values[i] < -0.5 * depth) kept.push_back(points[i]);
  return kept;
}

BuiltField buildField(const sdf::Field& source, const geometry::TriMesh& mesh, const Box3& solid,
                      double thickness, const SolidSettings& settings) {
  const double radius = 0.5 * solid.diagonal(), target = settings.fieldError * radius;
  BuiltField built;
  built.band = kBand * radius;
  built.domain = {solid.lower - Vec3::Constant(kPad * radius), solid.upper + Vec3::Constant(kPad * radius)};
  constexpr size_t kNear = 4000, kAnywhere = 4000;
  RandomStream random(settings.seed, 0x50);
  std::vector<Vec3> points;
  for (const sdf::SurfaceSample& s : sdf::scatterOnSurface(mesh, kNear, settings.seed)) {
    const Vec3 direction = random.unitVector();  // one draw a statement: compilers order operands differently
    points.push_back(s.point + built.band * random.uniform() * direction);
  }
  for (size_t i = 0; i < kAnywhere; ++i) points.push_back(random.pointIn(built.domain));
  std::vector<double> exact(points.size());
  sdf::valuesOf(source, points, exact);

  const std::vector<Vec3> walls =
      pointsInWalls(source, mesh, std::min(0.4 * thickness, built.band), settings.seed);

  const double longest = built.domain.extent().maxCoeff();
  const double mostCells = longest * std::cbrt(kMostNodes / built.domain.extent().prod());
  double cells = kFirstCells, before = Box3::kInfinity;
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto field = std::make_shared<BandField>(source, built.domain, longest / cells, built.band);
    built.errors = errorsOf(*field, points, exact, kNear, built.band);
    built.numbers = field->numbers();
    std::vector<double> inWalls(walls.size());
    sdf::valuesOf(*field, walls, inWalls);
    const auto outside = std::count_if(inWalls.begin(), inWalls.end(), [](double v) { return v >= 0; });
    built.lost = walls.empty() ? 0 : double(outside) / double(walls.size());
    const size_t bricks = field->brickCount();
    built.field = std::move(field);
    if (built.errors.near <= target && built.lost <= kLost) break;
    // Nothing gained: a field given by formula may jump.
    if (built.errors.near > 0.8 * before && built.lost <= kLost) break;
    before = built.errors.near;
    // The error falls with the square of the step where the field is smooth, with the step where it has
    // kinks; bricks grow with the area.
    double finer = std::max(1.15, std::pow(built.errors.near / target, 1 / 1.3));
    if (built.lost > kLost) finer = std::max(finer, 1.7);
    finer = std::min({finer, mostCells / cells, std::sqrt(double(kMostBricks) / double(bricks))});
    if (finer < 1.1) break;
    cells *= finer;
  }
  return built;
}

// The deep part of the solid: for culling, and where one body is inside another.
std::vector<Vec3> pointsInside(const sdf::Field& field, const SolidSettings& settings, double& innerRadius) {
  std::vector<Vec3> candidates;
  try {
    candidates = sdf::sampleInside(
        field,
        {.count = std::max<size_t>(200, 8 * settings.insidePoints), .candidates = 1, .seed = settings.seed});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Geometry) throw;
    return {};  // too thin to have an inside worth a point
  }
  std::vector<double> values(candidates.size());
  sdf::valuesOf(field, candidates, values);
  innerRadius = -*std::min_element(values.begin(), values.end());
  std::vector<Vec3> deep;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < -0.3 * innerRadius) deep.push_back(candidates[i]);
  std::vector<Vec3> kept;
  for (const uint32_t i : sdf::farthestPointOrder(deep, settings.insidePoints).order) kept.push_back(deep[i]);
  return kept;
}

ShapePtr finishSolid(std::shared_ptr<ShapeParts> shape, const sdf::Field& source,
                     const geometry::TriMesh& sampled, const SolidSettings& settings, SolidReport* report) {
  if (!(settings.fieldError > 0) || settings.surfacePoints < 4)
    throw Error(ErrorKind::Usage, "a solid needs a positive error of its field and at least four points");
  shape->setMassFrame();
  shape->setOuterRadius();
  shape->localBounds_ = geometry::bounds(sampled.positions);
  // Of a plate of that volume and area.
  const double thickness = 2 * shape->mass_.volume / areaOf(sampled);
  BuiltField built = buildField(source, sampled, shape->localBounds_, thickness, settings);
  shape->field_ = built.field;
  shape->fieldDomain_ = built.domain;
  // Eight thousand points miss the worst place; twice what they saw has held in all tests.
  shape->fieldError_ = 2 * built.errors.largestNear;
  shape->fieldErrorFar_ = 2 * built.errors.largest;
  shape->fieldAbove_ = 2 * built.errors.above;
  shape->fieldBand_ = built.band;

  const std::vector<Vec3> inside = pointsInside(*shape->field_, settings, shape->innerRadius_);
  shape->setPoints(contactPoints(sampled, settings.surfacePoints, settings.seed), inside);
  if (!(shape->innerRadius_ > 0)) shape->innerRadius_ = 0.5 * thickness;
  shape->setCores(inside);
  if (report) {
    report->measuredError = built.errors.near;
    report->coefficients = built.numbers;
    report->points = shape->points_.pointCount();
    if (built.lost > kLost)
      report->problems.push_back(fmt::format(
          "walls of about {:.3g} are too thin for the field of a body this large: {:.0f} % of the points "
          "inside them count as outside, so other bodies may sink in or keep off by that much",
          thickness, 100 * built.lost));
  }
  return shape;
}

geometry::TriMesh surfaceOf(const sdf::Field& field, int cells) {
  sdf::IsosurfaceReport report;
  const Box3 box = field.bounds();
  if (box.empty() || !box.lower.allFinite() || !box.upper.allFinite())
    throw Error(ErrorKind::Geometry, "a field without finite bounds makes no solid");
  return sdf::isosurface(field, {.edge = box.extent().maxCoeff() / cells}, report);
}

void requireVolume(const geometry::MassProperties& mass, double diagonal) {
  if (!(mass.volume > 1e-12 * diagonal * diagonal * diagonal))
    throw Error(ErrorKind::Geometry, "the surface encloses nothing, so it makes no solid")
        .hint("close the mesh, or give a sheet a thickness");
}

}  // namespace

ShapePtr makeSolid(const geometry::TriMesh& mesh, const SolidSettings& settings, SolidReport* report) {
  const sdf::MeshField exact(mesh);
  auto shape = std::make_shared<ShapeParts>(ShapeKind::Solid);
  shape->surface_ = mesh;
  const sdf::SignReport& sign = exact.sign();
  std::vector<std::string> problems = sign.problems();
  const double diagonal = exact.bounds().diagonal();
  if (sign.rule == sdf::SignRule::PseudoNormal) {
    geometry::TriMesh turned;
    if (sign.turned) {
      turned = mesh;
      for (auto& t : turned.triangles) std::swap(t[1], t[2]);
    }
    const geometry::TriMesh& outward = sign.turned ? turned : mesh;
    shape->mass_ = geometry::massProperties(outward);
    requireVolume(shape->mass_, diagonal);
    if (report) report->problems = std::move(problems);
    return finishSolid(std::move(shape), exact, outward, settings, report);
  }
  // What the winding number calls inside is the solid. Its surface, where the field changes sign, is closed;
  // the distance to that has no jumps across holes, and its sign costs no winding numbers.
  const geometry::TriMesh solid = surfaceOf(exact, 48);
  if (solid.triangles.empty()) requireVolume({}, diagonal);
  shape->mass_ = geometry::massProperties(solid);
  requireVolume(shape->mass_, diagonal);
  problems.emplace_back(
      "inside is where the winding number is above one half; mass and points are those of that solid");
  if (report) report->problems = std::move(problems);
  return finishSolid(std::move(shape), sdf::MeshField(solid), solid, settings, report);
}

ShapePtr makeSolid(std::shared_ptr<const sdf::Field> field, const SolidSettings& settings,
                   SolidReport* report) {
  if (!field) throw Error(ErrorKind::Usage, "a solid needs a field");
  auto shape = std::make_shared<ShapeParts>(ShapeKind::Solid);
  shape->surface_ = surfaceOf(*field, int(settings.cells));
  const double diagonal = field->bounds().diagonal();
  if (shape->surface_.triangles.empty()) requireVolume({}, diagonal);
  shape->mass_ = geometry::massProperties(shape->surface_);
  requireVolume(shape->mass_, diagonal);
  const geometry::TriMesh surface = shape->surface_;
  return finishSolid(std::move(shape), *field, surface, settings, report);
}

}  // namespace sunder::rigid
