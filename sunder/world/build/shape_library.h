// Builds the shapes of a scene that is ready (ready_scene.h). Each is built once, however many bodies use it.
//
// Errors: those of mesh files and of shapes, with the place in the scene. Cost: primitives nothing, solids
// about a second for 5000 triangles.
#pragma once

#include "sunder/rigid/shape/shape.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/world/build/cut_size.h"
#include "sunder/world/scene/scene.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sunder::world {

struct BuiltShape {
  rigid::ShapePtr shape;
  std::optional<shapes::Loft> loft;   // the profile, for shapes of revolution
  std::vector<uint8_t> interior;      // by triangle, 1 where a plane of "cut" made it; empty: nowhere
  std::vector<std::string> problems;  // of the mesh or its field, in sentences; each degrades the run
  std::string file;                   // it came from, with
  std::string fileHash;               // the hash of its content
};

// `progress(done, name)` is called before each shape.
std::vector<BuiltShape> buildShapes(const Scene& scene,
                                    const std::function<void(size_t, const std::string&)>& progress = {});

// The mesh, scaled, before planes cut it. Throws Error of the file or the procedural shape.
geometry::TriMesh sourceMesh(const MeshShape& shape);

// The same; errors have the place in the scene.
geometry::TriMesh sourceMeshAt(const Scene& scene, const ShapeSpec& spec, const MeshShape& shape);

// How solids of meshes and fields are built; the defaults for other shapes.
rigid::SolidSettings solidSettings(const ShapeValue& shape);

// The volumes of the pieces that planes make of a mesh (sourceMesh); MeshShape::piece is one of them.
std::vector<double> pieceVolumes(const geometry::TriMesh& mesh, std::span<const CutPlane> planes);

// What a shape is called in messages: its name, its kind, or its file.
std::string shapeTitle(const ShapeSpec& spec);

}  // namespace sunder::world
