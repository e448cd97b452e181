// Builds the shapes of a scene. Each is built once, however many bodies use it.
//
// Errors: those of mesh files and of shapes, with the place in the scene. Cost: primitives nothing, solids
// about a second for 5000 triangles.
#pragma once

#include "sunder/geometry/shapes.h"
#include "sunder/rigid/shape.h"
#include "sunder/world/cut_size.h"
#include "sunder/world/scene.h"
#include "sunder/world/scene_node.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sunder::world {

struct BuiltShape {
  rigid::ShapePtr shape;
  std::optional<geometry::Loft> loft;  // that its surface is, of procedural shapes of revolution
  std::vector<std::string> problems;   // of the mesh or its field, in sentences; each degrades the run
  std::string file;                    // it came from, with
  std::string fileHash;                // the hash of its content
};

// `progress(done, name)` is called before each shape.
std::vector<BuiltShape> buildShapes(const Scene& scene,
                                    const std::function<void(size_t, const std::string&)>& progress = {});

// The mesh of a shape that is a file or procedural, scaled, before planes cut it; none of the others.
std::optional<geometry::TriMesh> sourceMesh(const Scene& scene, const ShapeSpec& spec,
                                            std::string* file = nullptr);
// The planes of "cut" in a shape's description. Throws Error with the place of a normal without direction.
std::vector<CutPlane> cutPlanes(const SceneNode& shape);

// The sides of a shape that is a box. Throws Error with their place where one is not above 0.
Vec3 boxSides(const SceneNode& shape);

// The parameters ("with") and the settings ("solid") of a shape's description.
geometry::ShapeValues shapeValues(const SceneNode& shape);
rigid::SolidSettings solidSettings(const SceneNode& shape);

// The volumes of the pieces that the planes of "cut" in a shape's description make of its mesh (sourceMesh).
// "piece" then says which of them the shape is.
std::vector<double> pieceVolumes(const Scene& scene, const ShapeSpec& spec, const geometry::TriMesh& mesh);

// What a shape is called in messages: its name, its kind, or its file.
std::string shapeTitle(const Scene& scene, const ShapeSpec& spec);

}  // namespace sunder::world
