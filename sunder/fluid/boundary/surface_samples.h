// The surface of a body in patches of about a particle's width: points with their normals and areas.
#pragma once

#include "sunder/geometry/mesh.h"

#include <memory>
#include <vector>

namespace sunder::fluid {

struct SurfaceSamples {
  std::vector<Vec3> points, normals;  // in the frame of the body, outwards
  std::vector<double> areas;
};
using SurfaceSamplesPtr = std::shared_ptr<const SurfaceSamples>;

// Throws as poissonDisk does.
SurfaceSamplesPtr makeSurfaceSamples(const geometry::TriMesh& mesh, double spacing);

}  // namespace sunder::fluid
