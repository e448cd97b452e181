// Fragments as rigid bodies: field, points, surface and mass of each piece of an object, kept up to date from
// fracture to fracture (Glondu et al. 2012; specification 05, sections 3 and 4). The shape of a fragment
// lives in the rest space of the object: a fragment that just broke off has the pose of what it broke from.
//
// Guarantees: masses, centres and inertias of the pieces add up to those of what broke; at the pose of the
// parent no piece overlaps another (crack points lie on the faces of their neighbours, distance 0 to
// rounding); every point of the parent is in exactly one piece. All is a function of the fractures done.
//
// Cost: 1 to 2 us a cut tetrahedron for field and points together, which is half of what its cell, links
// and surface cost; next to nothing for tetrahedra that are whole. `sunder bench fracture` has the parts.
#pragma once

#include "sunder/fracture/crack/cracked_mesh.h"
#include "sunder/fracture/pieces/fragment_field.h"
#include "sunder/fracture/pieces/fragment_masks.h"
#include "sunder/rigid/shape/shape.h"

#include <memory>
#include <span>
#include <vector>

namespace sunder::fracture {

// Where a point of a fragment's tree comes from.
struct PointOrigin {
  uint32_t vertex = kNoIndex;  // of the fragment's mesh, or
  uint32_t tet = kNoIndex;     // the tetrahedron on whose crack face it is
};

struct Fragment {
  uint32_t id = 0;
  std::shared_ptr<const FragmentField> field;
  std::shared_ptr<const FragmentMasks> masks;
  std::vector<PointOrigin> origins;  // by rank of shape->points()
  rigid::ShapePtr shape;
};

// The object before it breaks; its mesh is CrackedMesh(rest->mesh()).
Fragment makeWhole(const RestMeshPtr& rest, uint32_t id = 0);

// A piece: a part of the dissected mesh of the parent with what follows from it. Sources are numbers of the
// parent's mesh. `surface`: surfaceOf() the piece.
struct FragmentPart {
  const CrackedMesh& mesh;
  std::span<const CutCell> cells;
  std::span<const uint32_t> tetSource, vertexSource;
  geometry::TriMesh surface;
};

// One fragment a part, in order, with ids from `firstId` on; they must be new to the object. `parts` have to
// be all the parts of the parent; their surfaces are moved from. Pieces in parallel.
std::vector<Fragment> breakFragment(const Fragment& parent, std::span<FragmentPart> parts, uint32_t firstId);

// All of it for a mesh that was dissected one crack or more after the parent's: finds parts and surfaces
// itself. Sources must be those of the dissections, joined. `meshes`, if asked for, receives the parts.
std::vector<Fragment> breakFragment(const Fragment& parent, const Dissection& dissected, uint32_t firstId,
                                    std::vector<CrackedMesh>* meshes = nullptr);

// The steps of it, for those who need only some.
namespace steps {
struct Points {
  std::vector<sdf::SphereTree> trees;
  std::vector<std::vector<PointOrigin>> origins;
  std::vector<std::vector<Vec3>> normals;
};
std::vector<std::shared_ptr<FragmentField>> makeFields(const Fragment& parent,
                                                       std::span<const FragmentPart> parts);
std::shared_ptr<const FragmentMasks> makeMasks(const Fragment& parent,
                                               std::span<const std::shared_ptr<FragmentField>> fields,
                                               uint32_t firstId);
Points makePoints(const Fragment& parent, std::span<const FragmentPart> parts,
                  std::span<const std::shared_ptr<FragmentField>> fields);
}  // namespace steps

}  // namespace sunder::fracture
