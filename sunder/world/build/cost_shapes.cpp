#include "sunder/world/build/cost_shapes.h"

#include "sunder/base/error.h"
#include "sunder/base/json.h"
#include "sunder/base/memory_limit.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/world/build/cost_parts.h"
#include "sunder/world/build/shape_library.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

namespace sunder::world {

std::vector<double> latticeValues(const sdf::Field& field, const Box3& box, int cells, int around) {
  const Vec3 step = box.extent() / cells;
  std::vector<Vec3> points;
  for (int z = -around; z < cells + around; ++z)
    for (int y = -around; y < cells + around; ++y)
      for (int x = -around; x < cells + around; ++x)
        points.push_back(box.lower + step.cwiseProduct(Vec3(x, y, z) + Vec3::Constant(0.5)));
  std::vector<double> values(points.size());
  sdf::valuesOf(field, points, values);
  return values;
}

namespace {

using shapes::ShapeValues;

constexpr double kBytesAFileByte = 4;    // read from a file: text becomes soup, soup becomes triangles
constexpr double kFieldTriangles = 2.5;  // of an isosurface, for each square of its lattice
constexpr int kFieldSamples = 32, kFewFieldSamples = 8;  // along each side of the box of a field
constexpr double kMostLeafSamples = 2e7;                 // formulas that are evaluated to measure a field
constexpr double kLeastSteepness = 0.02;
constexpr size_t kFewInside = 300, kMostWalls = 64;  // samples of a field
constexpr double kCrease = 0.5;                      // rad between faces
constexpr double kMostRepeats = 40;                  // bricks along a wall, letters that are made to measure
constexpr int kFewSegments = 64, kFewestSegments = 12;
constexpr double kMostMade = 1e6;         // triangles of all shapes together; later ones are made coarse
constexpr size_t kMostHullPoints = 2000;  // that a hull is measured with
constexpr double kMoreThanTriangles =
    1.1;  // what a solid takes, by its triangles: a value that fits has room

// Parameters that say what the shape is; the other whole numbers say how finely it is divided.
constexpr std::array<const char*, 8> kNotFineness{"p",    "q",    "strands", "columns",
                                                  "rows", "seed", "octaves", "points"};

bool isFineness(const shapes::ShapeParameter& parameter) {
  return parameter.kind == shapes::ParameterKind::Integer &&
         std::none_of(kNotFineness.begin(), kNotFineness.end(),
                      [&](const char* name) { return std::string_view(name) == parameter.name; });
}

double numberOf(const shapes::ShapeInfo& info, const ShapeValues& values, const char* name) {
  for (const shapes::ShapeParameter& p : info.parameters) {
    if (std::string_view(p.name) != name) continue;
    const auto given = values.find(name);
    if (given == values.end()) return p.value;
    try {
      return std::clamp(std::stod(given->second), p.lower, p.upper);
    } catch (const std::exception&) {
      return p.value;  // makeShape will say what is wrong
    }
  }
  return 1;
}

// A shape that repeats its parts, with fewer of them: how many times more there are along x and y.
struct Repeats {
  double x = 1, y = 1;
};

Repeats takeFewRepeats(const std::string& name, ShapeValues& values) {
  const shapes::ShapeInfo& info = shapes::shapeInfo(name);
  Repeats repeats;
  const auto few = [&](const char* key, double& times) {
    const double now = numberOf(info, values, key);
    if (now <= kMostRepeats) return;
    times = now / kMostRepeats;
    values[key] = fmt::format("{}", kMostRepeats);
  };
  if (name == "brick-wall") {
    few("columns", repeats.x);
    few("rows", repeats.y);
  }
  if (const auto text = values.find("text"); name == "letters" && text != values.end())
    if (const double letters = double(text->second.size()); letters > kMostRepeats) {
      repeats.x = letters / kMostRepeats;
      text->second.resize(size_t(kMostRepeats));
    }
  return repeats;
}

ShapeValues withFewSegments(const std::string& name, ShapeValues values, int few) {
  const shapes::ShapeInfo& info = shapes::shapeInfo(name);
  for (const shapes::ShapeParameter& p : info.parameters)
    if (isFineness(p) && numberOf(info, values, p.name) > few)
      values[p.name] = fmt::format("{}", std::max<double>(few, p.lower));
  return values;
}

void measure(const geometry::TriMesh& mesh, ShapeSize& size) {
  size.bounds = geometry::bounds(mesh.positions);
  size.volume = std::abs(geometry::massProperties(mesh).volume);
  size.area = geometry::surfaceArea(mesh);
}

// Whether edges without a partner, or parts whose boxes overlap, let the winding number decide what is
// inside. Parts one in the other are taken for such too.
void measureParts(const geometry::TriMesh& mesh, ShapeSize& size) {
  const geometry::MeshView view(mesh);
  const geometry::EdgeAdjacency edges = geometry::edgeAdjacency(view);
  for (size_t e = 0; e < edges.size() && !size.crossed; ++e) size.crossed = !isRegular(view, edges, e);
  const geometry::Components parts = geometry::faceComponents(view, edges);
  if (parts.count < 2 || parts.count > kMostWalls) return;
  std::vector<Box3> boxes(parts.count);
  for (size_t t = 0; t < mesh.triangles.size(); ++t)
    for (const uint32_t v : mesh.triangles[t]) boxes[parts.label[t]].grow(mesh.positions[v]);
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t j = 0; j < i; ++j) size.crossed |= overlap(boxes[i], boxes[j]);
}

// Half the length of each edge times the angle between its faces.
void measureBends(const geometry::TriMesh& mesh, ShapeSize& size) {
  const geometry::EdgeAdjacency edges = geometry::edgeAdjacency(geometry::MeshView(mesh));
  const auto normal = [&](uint32_t t) {
    return geometry::twiceVectorArea(mesh.positions, mesh.triangles[t]);
  };
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto uses = edges.uses.row(e);
    if (uses.size() != 2) continue;
    const Vec3 m = normal(uses[0].face), n = normal(uses[1].face);
    const auto [v, w] = edges.edges[e];
    const double angle = std::atan2(m.cross(n).norm(), m.dot(n));
    // Outward where the far corner of one face lies below the other.
    double below = 0;
    for (const uint32_t corner : mesh.triangles[uses[1].face])
      if (corner != v && corner != w) below = -m.dot(mesh.positions[corner] - mesh.positions[v]);
    const double bend = 0.5 * (mesh.positions[w] - mesh.positions[v]).norm() * std::copysign(angle, below);
    (angle > kCrease ? size.creaseBend : size.smoothBend) += bend;
  }
}

// The thickness of walls that the lattice missed: from places next to the surface straight through.
double thicknessOfWalls(const sdf::Field& field, std::span<const Vec3> places, double longest) {
  std::vector<double> found;
  const size_t stride = 1 + places.size() / kMostWalls;
  for (size_t i = 0; i < places.size(); i += stride) {
    sdf::FieldSample at;
    sdf::samplesOf(field, {&places[i], 1}, {&at, 1});
    const Vec3 inward = -at.gradient.normalized(), start = places[i] + at.value * inward;
    double deepest = 0;
    for (double s = 1e-6 * longest; s < longest; s *= 1.3) {
      const Vec3 p = start + s * inward;
      double value = 0;
      sdf::valuesOf(field, {&p, 1}, {&value, 1});
      if (value >= 0 && deepest > 0) break;
      deepest = std::max(deepest, -value);
    }
    if (deepest > 0) found.push_back(2 * deepest);
  }
  if (found.empty()) return 0;
  std::nth_element(found.begin(), found.begin() + std::ptrdiff_t(found.size() / 2), found.end());
  return found[found.size() / 2];
}

// How many cells along each side divide a box into about `count` cells that are as cubic as a least number
// along each side allows.
std::array<int, 3> cubicCells(const Vec3& extent, double count) {
  std::array<int, 3> axes{0, 1, 2}, cells{};
  std::sort(axes.begin(), axes.end(), [&](int a, int b) { return extent[a] < extent[b]; });
  for (size_t i = 0; i < 3; ++i) {
    double room = 1;  // of the sides that are left, this one and longer ones
    for (size_t j = i; j < 3; ++j) room *= extent[axes[j]];
    const double step = std::pow(room / count, 1.0 / double(3 - i));
    const double along = std::max<double>(kFewFieldSamples, std::round(extent[axes[i]] / step));
    cells[size_t(axes[i])] = int(along);
    count /= along;
  }
  return cells;
}

// The longest run of layers of a lattice, along any axis, that no part of the field comes near to. A part
// within a cell is at most half of its diagonal away from its middle.
void measureGaps(std::span<const sdf::FieldSample> samples, const std::array<int, 3>& cells, const Vec3& step,
                 ShapeSize& size) {
  const double near = 0.5 * size.steepness * step.norm();
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<bool> taken(size_t(cells[size_t(axis)]), false);
    for (size_t i = 0; i < samples.size(); ++i) {
      const size_t x = i % size_t(cells[0]), rest = i / size_t(cells[0]);
      const size_t layer = axis == 0 ? x : axis == 1 ? rest % size_t(cells[1]) : rest / size_t(cells[1]);
      if (samples[i].value < near) taken[layer] = true;
    }
    size_t run = 0, longest = 0;
    for (const bool t : taken) longest = std::max(longest, run = t ? 0 : run + 1);
    if (longest == taken.size()) continue;  // thinner than the samples see
    const double side = size.bounds.extent()[axis];
    if (double(longest) * step[axis] / side > size.emptyLength / size.bounds.extent()[size.emptyAxis]) {
      size.emptyLength = double(longest) * step[axis];
      size.emptyAxis = axis;
    }
  }
}

// Volume by the share of lattice points inside; area by the integral of the gradient over those near the
// surface, because values of fields with noise are smaller than distances.
void measure(const sdf::Field& field, ShapeSize& size) {
  size.bounds = field.bounds();
  if (size.bounds.empty() || !size.bounds.lower.allFinite() || !size.bounds.upper.allFinite()) {
    size.bounds = Box3{};
    return;  // building it will say what is wrong
  }
  const double side =
      std::clamp(std::cbrt(kMostLeafSamples / size.leaves), double(kFewFieldSamples), double(kFieldSamples));
  const auto [nx, ny, nz] = cubicCells(size.bounds.extent(), side * side * side);
  const Vec3 step = size.bounds.extent().cwiseQuotient(Vec3(nx, ny, nz));
  std::vector<Vec3> places;
  for (int z = -1; z < nz + 1; ++z)
    for (int y = -1; y < ny + 1; ++y)
      for (int x = -1; x < nx + 1; ++x)
        places.push_back(size.bounds.lower + step.cwiseProduct(Vec3(x, y, z) + Vec3::Constant(0.5)));
  std::vector<sdf::FieldSample> samples(places.size());
  sdf::samplesOf(field, places, samples);
  const double band = step.maxCoeff();
  size_t inside = 0;
  double slopes = 0;
  std::vector<Vec3> near;
  for (size_t i = 0; i < samples.size(); ++i) {
    inside += samples[i].value < 0;
    if (!(std::abs(samples[i].value) < band)) continue;
    near.push_back(places[i]);
    slopes += samples[i].gradient.norm();
  }
  if (slopes > 0) size.steepness = std::clamp(slopes / double(near.size()), kLeastSteepness, 1.0);
  const double reach = size.steepness * band;
  measureGaps(samples, {nx + 2, ny + 2, nz + 2}, step, size);
  for (const sdf::FieldSample& s : samples)
    if (std::abs(s.value) < reach) size.area += s.gradient.norm() * step.prod() / (2 * reach);
  size.volume = double(inside) * step.prod();
  if (inside >= kFewInside || size.leaves > 1000) return;
  // Walls thinner than the lattice have two sides in a band that the area counts once.
  const double thickness = thicknessOfWalls(field, near, size.bounds.extent().maxCoeff());
  if (thickness < band) size.area *= 2;
  size.volume = std::max(size.volume, 0.5 * size.area * thickness);
}

Box3 centred(const Vec3& half) { return {-half, half}; }

void measureShape(const SphereShape& sphere, bool, ShapeSize& size) {
  const double r = sphere.radius;
  size.bounds = centred(Vec3::Constant(r));
  size.volume = 4 * kPi / 3 * r * r * r;
  size.area = 4 * kPi * r * r;
  size.smoothBend = 4 * kPi * r;
  size.triangles = 1280;
}

void measureShape(const BoxShape& box, bool, ShapeSize& size) {
  const Vec3& s = box.size;
  size.kind = ShapeSize::Kind::Box;
  size.bounds = centred(s / 2);
  size.volume = s.prod();
  size.area = 2 * (s.x() * s.y() + s.y() * s.z() + s.z() * s.x());
  size.triangles = 12;
}

void measureShape(const CapsuleShape& capsule, bool, ShapeSize& size) {
  const double r = capsule.radius, l = capsule.length;
  size.bounds = centred(Vec3(r, l / 2 + r, r));
  size.volume = kPi * r * r * (l + 4 * r / 3);
  size.area = 2 * kPi * r * (l + 2 * r);
  size.smoothBend = 4 * kPi * r + kPi * l;
  size.triangles = 1500;
}

void measureShape(const PlaneShape&, bool, ShapeSize& size) {
  size.kind = ShapeSize::Kind::Plane;
  size.triangles = 2;
}

void measureShape(const HullShape& hull, bool brittle, ShapeSize& size) {
  size.kind = ShapeSize::Kind::Hull;
  // Of many points every n-th: as large a part of all is on the hull.
  const size_t stride = 1 + hull.points.size() / kMostHullPoints;
  std::vector<Vec3> some;
  for (size_t i = 0; i < hull.points.size(); i += stride) some.push_back(hull.points[i]);
  size.triangles = 2.0 * double(hull.points.size());
  try {
    const geometry::TriMesh surface = rigid::makeHull(some)->surface();
    measure(surface, size);
    if (brittle) measureBends(surface, size);
    size.triangles = double(stride * surface.triangles.size());
  } catch (const Error&) {
    if (stride == 1) throw;  // else building it will say whether all points make one
  }
  size.bounds = geometry::bounds(hull.points);
}

void measureShape(const FieldShape& formula, bool, ShapeSize& size) {
  size.kind = ShapeSize::Kind::Field;
  size.solid = true;
  size.leaves = formula.leaves;
  measure(*formula.field, size);
  const double edge = size.bounds.empty() ? 1 : size.bounds.extent().maxCoeff() / formula.solid.cells;
  size.triangles = kFieldTriangles * size.area / (edge * edge);
}

bool inRange(const std::string& name, const ShapeValues& values) {
  for (const shapes::ShapeParameter& p : shapes::shapeInfo(name).parameters) {
    const auto given = values.find(p.name);
    if (p.kind != shapes::ParameterKind::Integer || given == values.end()) continue;
    const double value = std::strtod(given->second.c_str(), nullptr);
    if (!(value >= p.lower && value <= p.upper)) return false;
  }
  return true;
}

CostLever fileLever(const ShapeSpec& spec, const MeshShape& mesh) {
  return {spec.pointer + "/file", [file = mesh.file](double) { return Json(file).text(); }, {}};
}

void requireMesh(const Scene& scene, const ShapeSpec& spec, const MeshShape& mesh, uint64_t memory) {
  CostItem item;
  if (!mesh.file.empty()) {
    std::error_code code;
    const uintmax_t bytes = std::filesystem::file_size(mesh.file, code);
    if (code) return;  // reading it will say so
    item.kept = kBytesAFileByte * double(bytes);
    item.what = fmt::format("a mesh file of {}", bytesWords(double(bytes)));
    item.levers.push_back(fileLever(spec, mesh));
  } else {
    if (!inRange(mesh.make, mesh.with)) return;  // making it will say so, before it makes anything
    item.count = shapeTriangles(mesh.make, mesh.with);
    const double bytes = mesh.hull ? kBytesAMeshTriangle : kBytesASolidTriangle;
    item.kept = bytes * item.count;
    item.what = fmt::format("{} triangles", countWords(item.count));
    item.levers = finenessLevers(mesh.make, mesh.with, spec.pointer, kMoreThanTriangles * bytes);
  }
  if (item.kept > double(memory)) refuseItem(scene.document, item, 0, memory);
}

ShapeSize sizeOfPiece(const CutSize& cut, size_t piece) {
  ShapeSize size;
  size.kind = ShapeSize::Kind::Mesh;
  size.solid = true;
  size.cutTriangles = cut.triangles;
  if (cut.pieces.empty()) return size;  // cutting it will say what is wrong
  const PieceSize& own = cut.pieces[std::min(piece, cut.pieces.size() - 1)];
  size.bounds = own.bounds;
  size.volume = own.volume;
  size.area = own.area;
  size.triangles = own.triangles;
  return size;
}

// Nothing is cut: the pieces were estimated when the scene was made ready.
void measurePiece(const ShapeSpec& spec, const MeshShape& mesh, bool brittle, ShapeSize& size) {
  ShapeSize piece = sizeOfPiece(*spec.cut, spec.cutPiece);
  piece.kind = size.kind;
  piece.solid = size.kind == ShapeSize::Kind::Mesh;
  piece.file = size.file;
  if (brittle) {  // the share of the surface that it has of the bends of the whole mesh
    measureBends(sourceMesh(mesh), piece);
    const double part = spec.cut->area > 0 ? std::min(1.0, piece.area / spec.cut->area) : 1;
    piece.smoothBend *= part;
    piece.creaseBend *= part;
  }
  size = std::move(piece);
}

// A procedural shape; a coarse one stands in for one that is large, or where many were made before.
// `made`: triangles of the shapes before it; those of this one are added.
geometry::TriMesh measureMade(const MeshShape& shape, double& made, ShapeSize& size) {
  shapes::ShapeValues values = shape.with;
  const bool many = made > kMostMade;
  const bool simpler =
      inRange(shape.make, values) && (many || shapeTriangles(shape.make, values) > kCheapTriangles);
  size.triangles = simpler ? shapeTriangles(shape.make, values) : 0;
  Repeats repeats;
  if (simpler) {
    repeats = takeFewRepeats(shape.make, values);
    values = withFewSegments(shape.make, std::move(values), many ? kFewestSegments : kFewSegments);
  }
  geometry::TriMesh mesh = shapes::makeShape(shape.make, values);
  made += double(mesh.triangles.size());
  for (Vec3& p : mesh.positions) p *= shape.scale;
  measure(mesh, size);
  size.loft = shapes::shapeLoft(shape.make, shape.with);
  if (!simpler) size.triangles = double(mesh.triangles.size());
  size.bounds.lower = size.bounds.lower.cwiseProduct(Vec3(repeats.x, repeats.y, 1));
  size.bounds.upper = size.bounds.upper.cwiseProduct(Vec3(repeats.x, repeats.y, 1));
  size.volume *= repeats.x * repeats.y;
  size.area *= repeats.x * repeats.y;
  if (size.loft)
    for (Vec2& p : size.loft->profile) p *= shape.scale;
  return mesh;
}

void measureMesh(const Scene& scene, const ShapeSpec& spec, const MeshShape& shape, bool brittle,
                 uint64_t memory, double& made, ShapeSize& size) {
  size.kind = shape.hull ? ShapeSize::Kind::Hull : ShapeSize::Kind::Mesh;
  requireMesh(scene, spec, shape, memory);
  size.file = shape.file;
  if (!shape.cut.empty()) {
    measurePiece(spec, shape, brittle, size);
    return;
  }
  geometry::TriMesh mesh;
  if (shape.file.empty()) {
    mesh = measureMade(shape, made, size);
  } else {
    mesh = sourceMesh(shape);
    measure(mesh, size);
    size.triangles = double(mesh.triangles.size());
    if (size.kind == ShapeSize::Kind::Mesh) measureParts(mesh, size);
  }
  if (brittle) measureBends(mesh, size);
  size.solid = size.kind == ShapeSize::Kind::Mesh;
}

}  // namespace

// The whole number of the description that makes the shape finest, and what it makes cheaper.
std::vector<CostLever> finenessLevers(const std::string& name, const ShapeValues& values,
                                      const std::string& pointer, double bytesATriangle) {
  const shapes::ShapeInfo& info = shapes::shapeInfo(name);
  if (const auto text = values.find("text"); name == "letters" && text != values.end()) {
    const double letters = double(text->second.size());
    const auto left = [letters](double scale) { return std::max(1.0, std::floor(letters / scale)); };
    return {{pointer + "/with/text",
             [=](double scale) {
               return scale == 1 ? fmt::format("{:.0f} letters", letters)
                                 : fmt::format("the first {:.0f} letters", left(scale));
             },
             [=](double scale) {
               return bytesATriangle * shapeTriangles(name, values) * left(scale) / letters;
             }}};
  }
  const shapes::ShapeParameter* finest = nullptr;
  for (const shapes::ShapeParameter& p : info.parameters)
    if (values.contains(p.name) &&
        (p.kind == shapes::ParameterKind::Integer || std::string_view(p.name) == "turns") &&
        (!finest || numberOf(info, values, p.name) > numberOf(info, values, finest->name)))
      finest = &p;
  if (!finest) return {};
  const std::string key = finest->name;
  const double now = numberOf(info, values, finest->name), least = finest->lower;
  const auto at = [now, least](double scale) { return std::max(least, std::floor(now / scale)); };
  return {{pointer + "/with/" + key, [at](double scale) { return fmt::format("{:.0f}", at(scale)); },
           [=](double scale) {
             ShapeValues changed = values;
             changed[key] = fmt::format("{:.0f}", at(scale));
             return bytesATriangle * shapeTriangles(name, changed);
           }}};
}

double shapeTriangles(const std::string& name, const ShapeValues& values) {
  const shapes::ShapeInfo& info = shapes::shapeInfo(name);
  const auto n = [&](const char* key) { return numberOf(info, values, key); };
  const auto square = [](double x) { return x * x; };
  if (name == "box") return 4 * (n("nx") * n("ny") + n("ny") * n("nz") + n("nz") * n("nx"));
  if (name == "tetrahedron") return 4 * square(n("frequency"));
  if (name == "octahedron") return 8 * square(n("frequency"));
  if (name == "icosphere") return 20 * square(n("frequency"));
  if (name == "rippled-sphere") return 8 * square(n("n"));
  if (name == "scroll") return 2 * square(n("n"));
  if (name == "cloth") return 2 * n("nx") * n("nz");
  if (name == "noisy-sheet") return 4 * n("nx") * n("nz") + 4 * (n("nx") + n("nz"));
  if (name == "torus-knot") return 2 * std::max(n("p"), n("q")) * n("steps") * n("sides");
  if (name == "trefoil" || name == "figure-eight-knot") return 2 * n("steps") * n("sides");
  if (name == "rope")
    return 2 * n("strands") * (std::max(1.0, n("turns")) * n("steps") + 0.5 * n("sides")) * n("sides");
  const auto text = [&](const char* key, const char* otherwise) {
    const auto given = values.find(key);
    return given == values.end() ? std::string(otherwise) : given->second;
  };
  if (name == "letters") {
    std::string letters = text("text", "");
    if (letters.empty())
      for (const shapes::ShapeParameter& p : info.parameters)
        if (p.kind == shapes::ParameterKind::Text) letters = p.word;
    return 36 * double(letters.size()) * (1 + n("layers"));
  }
  if (name == "extrusion") {
    const std::string outline = text("outline", "star");
    const double corners = outline == "polygon" ? n("points")
                           : outline == "star"  ? 2 * n("points")
                           : outline == "gear"  ? 4 * n("points")
                                                : 7;
    return 2 * (corners + 16 * (n("hole") > 0)) * (1 + n("layers"));
  }
  if (name == "brick-wall") return (n("bevel") > 0 ? 44 : 12) * n("columns") * (n("rows") + 0.5);
  const std::optional<shapes::Loft> loft = shapes::shapeLoft(name, values);
  return loft ? 2 * double(loft->profile.size()) * double(loft->outline.size()) : 1000;
}

std::vector<ShapeSize> sizesOfShapes(const Scene& scene, uint64_t memory) {
  std::vector<ShapeSize> sizes(scene.shapes.size());
  std::vector<bool> brittle(sizes.size(), false);
  for (const BodySpec& body : scene.bodies)
    if (body.fracture) brittle[body.shape] = true;
  double made = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ShapeSpec& spec = scene.shapes[i];
    try {
      if (const auto* mesh = std::get_if<MeshShape>(&spec.value))
        measureMesh(scene, spec, *mesh, brittle[i], memory, made, sizes[i]);
      else
        std::visit(
            [&](const auto& shape) {
              if constexpr (!std::is_same_v<std::decay_t<decltype(shape)>, MeshShape>)
                measureShape(shape, brittle[i], sizes[i]);
            },
            spec.value);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Limit) throw;
      scene.document.rethrow(error, spec.pointer);
    }
  }
  return sizes;
}

double requireAffordablePieces(const Scene& scene, const ShapeSpec& spec, const CutSize& cut, double besides,
                               uint64_t memory) {
  const auto& mesh = std::get<MeshShape>(spec.value);
  CostItem item;
  item.passing = cuttingCost(cut.triangles).passing;
  for (size_t i = 0; i < cut.pieces.size(); ++i) {
    const ShapeSize size = sizeOfPiece(cut, i);
    item.count += size.triangles;
    if (mesh.hull) {
      item.kept += kBytesAMeshTriangle * size.triangles;
      continue;
    }
    const SolidCost own = solidCost(size, size.triangles, mesh.solid);
    item.kept += own.kept;
    item.passing = std::max(item.passing, own.passing);
  }
  if (besides + item.kept + item.passing <= double(memory)) return item.kept;
  item.what = fmt::format("{} triangles of the pieces of a mesh that is cut", countWords(item.count));
  if (mesh.file.empty())
    item.levers = finenessLevers(mesh.make, mesh.with, spec.pointer,
                                 (item.kept + item.passing) / std::max(1.0, cut.triangles));
  else
    item.levers.push_back(fileLever(spec, mesh));
  refuseItem(scene.document, item, besides, memory);
}

void requireAffordableMesh(const Scene& scene, const ShapeSpec& spec, uint64_t memory) {
  requireMesh(scene, spec, std::get<MeshShape>(spec.value), memory);
}

}  // namespace sunder::world
