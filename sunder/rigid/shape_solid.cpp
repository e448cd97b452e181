// Solids of any form. The field that contacts ask is a trilinear lattice as fine as the error allows: a query
// costs a third of one of an hp-adaptive field, and contacts ask for little more than queries. Walls and gaps
// that a lattice of reasonable size cannot resolve get an hp-adaptive field instead, which refines them
// alone.
#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/rigid/shape_parts.h"
#include "sunder/sdf/farthest_point.h"
#include "sunder/sdf/grid_field.h"
#include "sunder/sdf/hp_build.h"
#include "sunder/sdf/hp_field.h"
#include "sunder/sdf/isosurface.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/sdf/point_samples.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::rigid {

namespace {

constexpr double kFirstCells = 32, kMostNodes = 400e3;  // along the longest side; in all
constexpr double kPad = 0.15;                           // of the radius: how far the domain reaches beyond
constexpr double kBand = 0.05;                          // of the radius: what counts as near the surface

struct Errors {
  double near = 0;     // root mean square near the surface
  double largest = 0;  // anywhere in the domain
};

Errors errorsOf(const sdf::Field& field, const sdf::Field& source, std::span<const Vec3> near,
                std::span<const Vec3> anywhere) {
  std::vector<double> ours(near.size()), exact(near.size());
  Errors errors;
  const auto compare = [&](std::span<const Vec3> points) {
    ours.resize(points.size());
    exact.resize(points.size());
    sdf::valuesOf(field, points, ours);
    sdf::valuesOf(source, points, exact);
    double sum = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      const double e = std::abs(ours[i] - exact[i]);
      errors.largest = std::max(errors.largest, e);
      sum += e * e;
    }
    return std::sqrt(sum / double(std::max<size_t>(1, points.size())));
  };
  compare(anywhere);
  errors.near = compare(near);
  return errors;
}

struct BuiltField {
  std::shared_ptr<const sdf::Field> field;
  Box3 domain;
  double bound = 0, measured = 0;
  size_t numbers = 0;
};

BuiltField buildField(const sdf::Field& source, const geometry::TriMesh& mesh, const Box3& solid,
                      const SolidSettings& settings) {
  const double radius = 0.5 * solid.diagonal(), target = settings.fieldError * radius;
  BuiltField built;
  built.domain = {solid.lower - Vec3::Constant(kPad * radius), solid.upper + Vec3::Constant(kPad * radius)};
  RandomStream random(settings.seed, 0x50);
  std::vector<Vec3> near, anywhere;
  for (const sdf::SurfaceSample& s : sdf::scatterOnSurface(mesh, 2000, settings.seed))
    near.push_back(s.point + kBand * radius * random.uniform() * random.unitVector());
  for (int i = 0; i < 2000; ++i) anywhere.push_back(random.pointIn(built.domain));

  const Vec3 sides = built.domain.extent();
  const double longest = sides.maxCoeff();
  const auto nodesAt = [&](double cells) { return (sides / longest * cells + Vec3::Ones()).prod(); };
  Errors errors;
  double cells = kFirstCells;
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto grid = std::make_shared<sdf::GridField>(sdf::sampleGrid(source, built.domain, longest / cells));
    errors = errorsOf(*grid, source, near, anywhere);
    built.field = grid;
    built.numbers = grid->grid().values.size();
    if (errors.near <= target) break;
    // The error falls with the square of the step where the field is smooth, with the step where it has
    // kinks.
    cells *= std::max(1.15, std::pow(errors.near / target, 1 / 1.5));
    if (nodesAt(cells) > kMostNodes) break;
  }
  if (errors.near > target) {
    sdf::HpSettings hp;
    hp.error = target;
    hp.domain = built.domain;
    hp.quadrature = sdf::Quadrature::Lean;
    hp.nearness = sdf::Nearness::Exponential;
    hp.theta = 8;
    hp.mostCoefficients = 200'000;
    sdf::HpReport report;
    auto field = std::make_shared<sdf::HpField>(sdf::buildHp(source, hp, report), solid);
    const Errors hpErrors = errorsOf(*field, source, near, anywhere);
    // Kept only where it is the better one.
    if (hpErrors.near < errors.near) {
      errors = hpErrors;
      built.numbers = field->coefficientTotal();
      built.field = std::move(field);
    }
  }
  built.measured = errors.near;
  // Four thousand points miss the worst place; twice what they saw has held in all tests.
  built.bound = 2 * errors.largest;
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
  BuiltField built = buildField(source, sampled, shape->localBounds_, settings);
  shape->field_ = built.field;
  shape->fieldDomain_ = built.domain;
  shape->fieldError_ = built.bound;

  std::vector<Vec3> points = contactPoints(sampled, settings.surfacePoints, settings.seed);
  std::vector<uint8_t> surface(points.size(), 1);
  const std::vector<Vec3> inside = pointsInside(*shape->field_, settings, shape->innerRadius_);
  points.insert(points.end(), inside.begin(), inside.end());
  surface.resize(points.size(), 0);
  shape->points_ = sdf::buildSphereTree(points, surface);
  if (report) {
    report->measuredError = built.measured;
    report->coefficients = built.numbers;
    report->points = points.size();
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
  // What the winding number calls inside is the solid: its surface is where the field changes sign.
  const geometry::TriMesh solid = surfaceOf(exact, 64);
  if (solid.triangles.empty()) requireVolume({}, diagonal);
  shape->mass_ = geometry::massProperties(solid);
  requireVolume(shape->mass_, diagonal);
  problems.emplace_back(
      "inside is where the winding number is above one half; mass and points are those of that solid");
  if (report) report->problems = std::move(problems);
  return finishSolid(std::move(shape), exact, solid, settings, report);
}

ShapePtr makeSolid(std::shared_ptr<const sdf::Field> field, const SolidSettings& settings,
                   SolidReport* report) {
  if (!field) throw Error(ErrorKind::Usage, "a solid needs a field");
  auto shape = std::make_shared<ShapeParts>(ShapeKind::Solid);
  shape->surface_ = surfaceOf(*field, 64);
  const double diagonal = field->bounds().diagonal();
  if (shape->surface_.triangles.empty()) requireVolume({}, diagonal);
  shape->mass_ = geometry::massProperties(shape->surface_);
  requireVolume(shape->mass_, diagonal);
  const geometry::TriMesh surface = shape->surface_;
  return finishSolid(std::move(shape), *field, surface, settings, report);
}

}  // namespace sunder::rigid
