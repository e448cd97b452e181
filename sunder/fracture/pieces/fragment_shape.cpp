#include "sunder/fracture/pieces/fragment_shape.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/mass_properties.h"

#include <algorithm>
#include <numeric>

namespace sunder::fracture {

namespace {

constexpr size_t kCoreCandidates = 48;
constexpr size_t kInsidePoints = 8;  // that searches come to; the others wait for the next fracture
constexpr size_t kSidePoints = 24;
constexpr double kDeep = 0.3;    // of the deepest vertex: others make no core
constexpr double kSurely = 0.9;  // of what a vertex knows of its depth, which may be a little too much

// Some of the points that lie on a plane, each as far as can be from those before.
std::vector<uint32_t> spread(const sdf::SphereTree& tree, const Vec3& normal, double least) {
  std::vector<uint32_t> on;
  for (uint32_t r = 0; r < tree.pointCount(); ++r)
    if (tree.surface[r] && normal.dot(tree.position[r]) > least) on.push_back(r);
  std::vector<double> nearest(on.size(), Box3::kInfinity);
  std::vector<uint32_t> chosen;
  size_t next = 0;
  while (chosen.size() < std::min(on.size(), kSidePoints)) {
    chosen.push_back(on[next]);
    const Vec3 at = tree.position[on[next]];
    for (size_t i = 0; i < on.size(); ++i)
      nearest[i] = std::min(nearest[i], (tree.position[on[i]] - at).squaredNorm());
    next = size_t(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
  }
  return chosen;
}

// Of the cracks that the piece lies on one side of, and of the object.
std::vector<rigid::FlatSide> flatSidesOf(const FragmentField& field, const sdf::SphereTree& tree) {
  const std::span<const Vec3> points = tree.position;
  std::vector<rigid::FlatSide> sides;
  const double slack = field.halfSpaces().bend() + 1e-6 * field.rest().edge();
  const auto add = [&](const Vec3& normal, double offset, double error) {
    rigid::FlatSide side{normal, Vec3::Zero(), 0, error};
    double top = offset;  // points may be above the plane by as much as the crack bends
    Box3 box;
    for (const Vec3& p : points) {
      const double height = normal.dot(p);
      top = std::max(top, height);
      if (height > offset - slack) box.grow(p);
    }
    if (box.empty()) return;
    side.centre = box.center();
    side.centre += (top - normal.dot(side.centre)) * normal;
    for (const Vec3& p : points) {
      const Vec3 from = p - side.centre;
      const double depth = -from.dot(normal);
      side.radius = std::max(side.radius, (from + depth * normal).norm() - rigid::kFlatSlope * depth);
    }
    if (!field.rest().hulls()) side.points = spread(tree, normal, offset - slack);
    sides.push_back(std::move(side));
  };
  for (const HalfSpace& plane : field.halfSpaces().all()) add(plane.normal, plane.offset, 0);
  for (const RestMesh::Side& plane : field.rest().flatSides())
    add(plane.normal, plane.offset, field.rest().errors().near);
  return sides;
}

rigid::ShapePtr assemble(const std::shared_ptr<const FragmentField>& field, geometry::TriMesh surface,
                         sdf::SphereTree tree, std::vector<Vec3> normals) {
  rigid::SolidParts parts;
  parts.mass = geometry::massProperties(surface);
  parts.surface = std::move(surface);
  const FieldErrors errors = field->errors();
  parts.fieldError = errors.near;
  parts.fieldErrorFar = errors.far;
  parts.fieldAbove = errors.above;
  parts.fieldBand = errors.band;
  parts.fieldDomain = errors.domain;
  double deepest = 0;
  const auto count = uint32_t(field->rootVertices().size());
  for (uint32_t v = 0; v < count; ++v)
    if (field->present(v)) deepest = std::max(deepest, field->depth(v));
  std::vector<uint32_t> deep;
  for (uint32_t v = 0; v < count; ++v)
    if (field->present(v) && field->depth(v) > kDeep * deepest) deep.push_back(v);
  const size_t stride = 1 + deep.size() / kCoreCandidates;
  for (size_t i = 0; i < deep.size(); i += stride) parts.inside.push_back(field->position(deep[i]));
  parts.innerRadius = kSurely * deepest;
  parts.field = field;
  parts.flatSides = flatSidesOf(*field, tree);
  if (field->clipped() && field->rest().hulls()) parts.corners = field->halfSpaces().corners(field->rest());
  parts.points = std::move(tree);
  parts.pointNormals = std::move(normals);
  parts.insidePoints = kInsidePoints;
  return rigid::makeSolid(std::move(parts));
}

}  // namespace

Fragment makeWhole(const RestMeshPtr& rest, uint32_t id) {
  Fragment whole;
  whole.id = id;
  const CrackedMesh mesh(rest->mesh());
  const std::vector<CutCell> cells(mesh.size());
  std::vector<uint32_t> tets(mesh.size()), vertices(mesh.mesh.positions.size());
  std::iota(tets.begin(), tets.end(), 0);
  std::iota(vertices.begin(), vertices.end(), 0);
  auto field = std::make_shared<FragmentField>(rest, mesh, cells, tets, vertices);
  const FragmentMasks::Piece piece{id, tets};
  whole.masks = std::make_shared<FragmentMasks>(std::make_shared<MaskCells>(*rest),
                                                std::span<const FragmentMasks::Piece>(&piece, 1));
  field->setMasks(whole.masks, id);
  whole.field = field;

  std::vector<Vec3> points;
  std::vector<uint8_t> onSurface;
  std::vector<uint32_t> vertexOf;
  for (uint32_t v = 0; v < vertices.size(); ++v) {
    if (!field->present(v)) continue;  // belongs to no tetrahedron
    points.push_back(mesh.mesh.positions[v]);
    onSurface.push_back(rest->onSurface(v));
    vertexOf.push_back(v);
  }
  sdf::SphereTree tree = sdf::buildSphereTree(points, onSurface);
  std::vector<Vec3> normals;
  for (const uint32_t i : tree.order) {
    whole.origins.push_back({vertexOf[i], kNoIndex});
    normals.push_back(rest->normal(vertexOf[i]));
  }
  whole.shape =
      assemble(field, surfaceOf(mesh, cells, linksOf(mesh, cells)).mesh, std::move(tree), std::move(normals));
  return whole;
}

namespace steps {

std::vector<std::shared_ptr<FragmentField>> makeFields(const Fragment& parent,
                                                       std::span<const FragmentPart> parts) {
  std::vector<std::shared_ptr<FragmentField>> fields(parts.size());
  parallelFor(
      parts.size(),
      [&](size_t i) {
        fields[i] = std::make_shared<FragmentField>(*parent.field, parts[i].mesh, parts[i].cells,
                                                    parts[i].tetSource, parts[i].vertexSource);
      },
      1);
  return fields;
}

std::shared_ptr<const FragmentMasks> makeMasks(const Fragment& parent,
                                               std::span<const std::shared_ptr<FragmentField>> fields,
                                               uint32_t firstId) {
  std::vector<FragmentMasks::Piece> pieces;
  for (uint32_t i = 0; i < fields.size(); ++i)
    if (!fields[i]->clipped()) pieces.push_back({firstId + i, fields[i]->rootTets()});
  if (pieces.empty()) return parent.masks;
  return std::make_shared<FragmentMasks>(*parent.masks, parent.id, pieces);
}

}  // namespace steps

std::vector<Fragment> breakFragment(const Fragment& parent, std::span<FragmentPart> parts, uint32_t firstId) {
  const auto fields = steps::makeFields(parent, parts);
  const auto masks = steps::makeMasks(parent, fields, firstId);
  steps::Points points = steps::makePoints(parent, parts, fields);
  std::vector<Fragment> out(parts.size());
  parallelFor(
      parts.size(),
      [&](size_t i) {
        Fragment& f = out[i];
        f.id = firstId + uint32_t(i);
        f.masks = masks;
        fields[i]->setMasks(masks, f.id);
        f.field = fields[i];
        f.origins = std::move(points.origins[i]);
        f.shape = assemble(f.field, std::move(parts[i].surface), std::move(points.trees[i]),
                           std::move(points.normals[i]));
      },
      1);
  return out;
}

std::vector<Fragment> breakFragment(const Fragment& parent, const Dissection& dissected, uint32_t firstId,
                                    std::vector<CrackedMesh>* meshes) {
  uint32_t count = 0;
  const std::vector<uint32_t> labels = partsOf(dissected.mesh.size(), dissected.links, count);
  std::vector<MeshPart> pieces = splitParts(dissected, labels, count);
  std::vector<geometry::TriMesh> surfaces(count);
  parallelFor(
      count,
      [&](size_t p) { surfaces[p] = surfaceOf(pieces[p].mesh, pieces[p].cells, pieces[p].links).mesh; }, 1);
  std::vector<FragmentPart> parts;
  for (uint32_t p = 0; p < count; ++p)
    parts.push_back({pieces[p].mesh, pieces[p].cells, pieces[p].tetSource, pieces[p].vertexSource,
                     std::move(surfaces[p])});
  std::vector<Fragment> out = breakFragment(parent, parts, firstId);
  if (meshes) {
    meshes->clear();
    for (MeshPart& p : pieces) meshes->push_back(std::move(p.mesh));
  }
  return out;
}

}  // namespace sunder::fracture
