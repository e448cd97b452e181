#include "sunder/world/cost_shapes.h"

#include "sunder/base/error.h"
#include "sunder/base/memory_limit.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/world/cost_parts.h"
#include "sunder/world/field_tree.h"
#include "sunder/world/shape_library.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

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

using Json = nlohmann::json;
using geometry::ShapeValues;

constexpr double kBytesAMeshTriangle = 60;  // of a mesh alone, while it is read or made
constexpr double kBytesAFileByte = 4;       // read from a file: text becomes soup, soup becomes triangles
// Of a solid: surface, trees and distances by triangle, field and samples, the tree of points.
constexpr double kBytesASolidTriangle = 400, kBytesASolid = 1e6, kBytesAPoint = 450;
constexpr double kSecondsOfMesh = 0.05, kSecondsOfField = 0.03, kSecondsATriangle = 1.2e-5,
                 kSecondsAPoint = 2e-5;
// Walls thinner than this part of the longest side have finer fields, which are made in several attempts;
// where the error may be large, the first attempt does.
constexpr double kThinWall = 0.06, kSecondsOfThinWalls = 0.2;
constexpr double kLargeError = 0.005, kPartForLargeError = 0.4;
constexpr double kFieldTriangles = 2.5;  // of an isosurface, for each square of its lattice
constexpr int kFieldSamples = 32;        // along each side of the box of a field
constexpr int kFewSegments = 64;

// Parameters that say what the shape is; the other whole numbers say how finely it is divided.
constexpr std::array<const char*, 8> kNotFineness{"p",    "q",    "strands", "columns",
                                                  "rows", "seed", "octaves", "points"};

bool isFineness(const geometry::ShapeParameter& parameter) {
  return parameter.kind == geometry::ParameterKind::Integer &&
         std::none_of(kNotFineness.begin(), kNotFineness.end(),
                      [&](const char* name) { return std::string_view(name) == parameter.name; });
}

double numberOf(const geometry::ShapeInfo& info, const ShapeValues& values, const char* name) {
  for (const geometry::ShapeParameter& p : info.parameters) {
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

ShapeValues withFewSegments(const std::string& name, ShapeValues values) {
  const geometry::ShapeInfo& info = geometry::shapeInfo(name);
  for (const geometry::ShapeParameter& p : info.parameters)
    if (isFineness(p) && numberOf(info, values, p.name) > kFewSegments)
      values[p.name] = fmt::format("{}", std::max<double>(kFewSegments, p.lower));
  return values;
}

// The whole number of the description that makes the shape finest, and what it makes cheaper.
std::vector<CostLever> finenessLevers(const std::string& name, const ShapeValues& values,
                                      const std::string& pointer, double bytesATriangle) {
  const geometry::ShapeInfo& info = geometry::shapeInfo(name);
  const geometry::ShapeParameter* finest = nullptr;
  for (const geometry::ShapeParameter& p : info.parameters)
    if (values.contains(p.name) &&
        (p.kind == geometry::ParameterKind::Integer || std::string_view(p.name) == "turns") &&
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

void measure(const geometry::TriMesh& mesh, ShapeSize& size) {
  size.bounds = geometry::bounds(mesh.positions);
  size.volume = std::abs(geometry::massProperties(mesh).volume);
  size.area = geometry::surfaceArea(mesh);
}

// Volume by the share of lattice points inside; area by the share that is near the surface.
void measure(const sdf::Field& field, ShapeSize& size) {
  size.bounds = field.bounds();
  if (size.bounds.empty() || !size.bounds.lower.allFinite() || !size.bounds.upper.allFinite()) {
    size.bounds = Box3{};
    return;  // building it will say what is wrong
  }
  const Vec3 step = size.bounds.extent() / kFieldSamples;
  const double band = step.maxCoeff();
  for (const double v : latticeValues(field, size.bounds, kFieldSamples, 1)) {
    size.volume += (v < 0) * step.prod();
    size.area += (std::abs(v) < band) * step.prod() / (2 * band);
  }
}

void measurePrimitive(const SceneNode& node, ShapeSize& size) {
  const auto centred = [](const Vec3& half) { return Box3{-half, half}; };
  if (node.has("plane")) {
    size.kind = ShapeSize::Kind::Plane;
    size.triangles = 2;
  } else if (node.has("sphere")) {
    const double r = node["sphere"]["radius"].positive(kLength);
    size.bounds = centred(Vec3::Constant(r));
    size.volume = 4 * kPi / 3 * r * r * r;
    size.area = 4 * kPi * r * r;
    size.triangles = 1280;
  } else if (node.has("box")) {
    size.kind = ShapeSize::Kind::Box;
    const Vec3 s = node["box"]["size"].vector(kLength);
    size.bounds = centred(s / 2);
    size.volume = s.prod();
    size.area = 2 * (s.x() * s.y() + s.y() * s.z() + s.z() * s.x());
    size.triangles = 12;
  } else if (node.has("capsule")) {
    const double r = node["capsule"]["radius"].positive(kLength),
                 l = node["capsule"]["length"].positive(kLength);
    size.bounds = centred(Vec3(r, l / 2 + r, r));
    size.volume = kPi * r * r * (l + 4 * r / 3);
    size.area = 2 * kPi * r * (l + 2 * r);
    size.triangles = 1500;
  } else {
    size.kind = ShapeSize::Kind::Hull;
    const SceneNode list = node["hull"]["points"];
    for (size_t i = 0; i < list.size(); ++i) size.bounds.grow(list[i].vector(kLength));
    const Vec3 s = size.bounds.extent();
    size.volume = 0.5 * s.prod();
    size.area = 1.4 * (s.x() * s.y() + s.y() * s.z() + s.z() * s.x());
    size.triangles = 2.0 * double(list.size());
  }
}

void requireMesh(const SceneNode& node, uint64_t memory) {
  CostItem item;
  if (node.has("file")) {
    std::error_code code;
    const uintmax_t bytes = std::filesystem::file_size(node["file"].text(), code);
    if (code) return;  // reading it will say so
    item.kept = kBytesAFileByte * double(bytes);
    item.what = fmt::format("a mesh file of {}", bytesWords(double(bytes)));
    item.levers.push_back({node.pointer() + "/file", [&](double) { return node["file"].json().dump(); }, {}});
  } else {
    const std::string name = node["make"].text();
    const ShapeValues values = shapeValues(node);
    item.count = shapeTriangles(name, values);
    const double bytes = node.text("as", "solid") == "hull" ? kBytesAMeshTriangle : kBytesASolidTriangle;
    item.kept = bytes * item.count;
    item.what = fmt::format("{} triangles", countWords(item.count));
    item.levers = finenessLevers(name, values, node.pointer(), bytes);
  }
  if (item.kept > double(memory)) refuseItem(node.document(), item, 0, memory);
}

void measureMesh(const Scene& scene, const ShapeSpec& spec, const SceneNode& node, uint64_t memory,
                 ShapeSize& size) {
  size.kind = node.text("as", "solid") == "hull" ? ShapeSize::Kind::Hull : ShapeSize::Kind::Mesh;
  requireMesh(node, memory);
  if (node.has("file")) size.file = node["file"].text();
  const bool whole = !node.has("cut");
  if (node.has("make") && whole) {
    const std::string name = node["make"].text();
    const ShapeValues values = shapeValues(node);
    size.triangles = shapeTriangles(name, values);
    const double scale = node.positive("scale", kPlain, 1);
    geometry::TriMesh mesh =
        geometry::makeShape(name, size.triangles > kCheapTriangles ? withFewSegments(name, values) : values);
    for (Vec3& p : mesh.positions) p *= scale;
    measure(mesh, size);
    if (size.triangles <= kCheapTriangles) size.triangles = double(mesh.triangles.size());
    size.loft = geometry::shapeLoft(name, values);
    if (size.loft)
      for (Vec2& p : size.loft->profile) p *= scale;
  } else if (const auto mesh = sourceMesh(scene, spec)) {
    measure(*mesh, size);
    size.triangles = double(mesh->triangles.size());
  }
  size.solid = size.kind == ShapeSize::Kind::Mesh;
}

}  // namespace

double shapeTriangles(const std::string& name, const ShapeValues& values) {
  const geometry::ShapeInfo& info = geometry::shapeInfo(name);
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
      for (const geometry::ShapeParameter& p : info.parameters)
        if (p.kind == geometry::ParameterKind::Text) letters = p.word;
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
  const std::optional<geometry::Loft> loft = geometry::shapeLoft(name, values);
  return loft ? 2 * double(loft->profile.size()) * double(loft->outline.size()) : 1000;
}

std::vector<ShapeSize> sizesOfShapes(const Scene& scene, uint64_t memory) {
  std::vector<ShapeSize> sizes(scene.shapes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ShapeSpec& spec = scene.shapes[i];
    const Json json = Json::parse(spec.json);
    const SceneNode node(scene.document, json, spec.pointer);
    ShapeSize& size = sizes[i];
    if (node.has("field")) {
      size.kind = ShapeSize::Kind::Field;
      size.solid = true;
      measure(*makeField(node["field"]), size);
      const double cells = solidSettings(node).cells;
      const double edge = size.bounds.empty() ? 1 : size.bounds.extent().maxCoeff() / cells;
      size.triangles = kFieldTriangles * size.area / (edge * edge);
    } else if (node.has("file") || node.has("make")) {
      try {
        measureMesh(scene, spec, node, memory, size);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::Limit) throw;
        node.rethrow(error);
      }
    } else {
      measurePrimitive(node, size);
    }
  }
  return sizes;
}

void requireAffordableMesh(const Scene& scene, const ShapeSpec& spec, uint64_t memory) {
  const Json json = Json::parse(spec.json);
  requireMesh(SceneNode(scene.document, json, spec.pointer), memory);
}

// A solid is its surface, a distance field and a tree of points.
void addShapeCost(const Scene& scene, std::span<const ShapeSize> sizes, Cost& cost) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ShapeSize& size = sizes[i];
    const ShapeSpec& spec = scene.shapes[i];
    const Json json = Json::parse(spec.json);
    const SceneNode node(scene.document, json, spec.pointer);
    CostItem item;
    item.count = size.triangles;
    item.what = fmt::format("the shape {} of {} triangles", shapeTitle(scene, spec), countWords(item.count));
    if (!size.solid) {
      item.kept = kBytesAMeshTriangle * size.triangles;
      item.buildSeconds = 1e-7 * size.triangles;
    } else {
      const rigid::SolidSettings solid = solidSettings(node);
      const double points = double(solid.surfacePoints) + 8 * double(solid.insidePoints);
      item.kept = kBytesASolid + kBytesASolidTriangle * size.triangles + kBytesAPoint * points;
      const bool thin = size.area > 0 && !size.bounds.empty() &&
                        2 * size.volume / size.area < kThinWall * size.bounds.extent().maxCoeff();
      item.buildSeconds = (size.kind == ShapeSize::Kind::Field ? kSecondsOfField : kSecondsOfMesh) +
                          (thin ? kSecondsOfThinWalls : 0) + kSecondsATriangle * size.triangles;
      if (solid.fieldError >= kLargeError) item.buildSeconds *= kPartForLargeError;
      item.buildSeconds += kSecondsAPoint * points;
      if (points > 2 * size.triangles) {
        const bool inside = 8 * solid.insidePoints > solid.surfacePoints;
        const double now = double(inside ? solid.insidePoints : solid.surfacePoints);
        item.levers.push_back(
            {spec.pointer + "/solid/" + (inside ? "insidePoints" : "points"),
             [now](double s) { return fmt::format("{:.0f}", std::floor(std::max(8.0, now / s))); },
             [kept = item.kept](double s) { return kept / s; }});
      }
      if (size.kind == ShapeSize::Kind::Field)
        item.levers.push_back({spec.pointer + "/solid/cells",
                               [cells = solid.cells](double s) {
                                 return fmt::format("{:.0f}", std::floor(std::max(8.0, cells / s)));
                               },
                               [kept = item.kept](double s) { return kept / (s * s); }});
    }
    if (node.has("make"))
      for (CostLever& lever : finenessLevers(node["make"].text(), shapeValues(node), spec.pointer,
                                             size.solid ? kBytesASolidTriangle : kBytesAMeshTriangle))
        item.levers.push_back(std::move(lever));
    if (node.has("file"))
      item.levers.push_back({spec.pointer + "/file", [file = size.file](double) { return file; }, {}});
    cost.items.push_back(std::move(item));
  }
}

}  // namespace sunder::world
