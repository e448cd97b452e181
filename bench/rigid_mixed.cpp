#include "rigid_mixed.h"

#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/shapes/catalogue.h"

#include <algorithm>
#include <cmath>

namespace sunder::bench {

namespace {

// Centred on the centre of mass, `size` across: the peer wants its meshes so.
geometry::TriMesh centred(geometry::TriMesh mesh, double size) {
  const Box3 box = geometry::bounds(mesh.positions);
  const double scale = size / box.extent().maxCoeff();
  for (Vec3& p : mesh.positions) p *= scale;
  const Vec3 centre = geometry::massProperties(geometry::MeshView(mesh)).centre;
  for (Vec3& p : mesh.positions) p -= centre;
  return mesh;
}

}  // namespace

std::vector<std::pair<Vec3, Vec3>> MixedScene::tray() const {
  const double t = thickness / 2, out = half + t, up = height / 2;
  return {{Vec3(half + thickness, t, half + thickness), Vec3(0, -t, 0)},
          {Vec3(t, up, half + thickness), Vec3(out, up, 0)},
          {Vec3(t, up, half + thickness), Vec3(-out, up, 0)},
          {Vec3(half, up, t), Vec3(0, up, out)},
          {Vec3(half, up, t), Vec3(0, up, -out)}};
}

MixedScene makeMixedScene(uint32_t count) {
  MixedScene scene;
  struct Recipe {
    const char *name, *shape;
    shapes::ShapeValues values, coarse;
  };
  const std::vector<Recipe> recipes = {
      {"bowl", "bowl", {{"segments", "40"}}, {{"segments", "20"}, {"resolution", "5"}}},
      {"torus", "torus", {}, {{"segments", "24"}, {"sides", "8"}}},
      {"letter S", "letters", {{"text", "S"}}, {{"text", "S"}}},
      {"letter R", "letters", {{"text", "R"}}, {{"text", "R"}}},
      {"torus knot", "torus-knot", {}, {{"steps", "14"}, {"sides", "6"}}},
      {"trefoil", "trefoil", {}, {{"steps", "70"}, {"sides", "6"}}},
      {"figure eight", "figure-eight-knot", {}, {{"steps", "70"}, {"sides", "6"}}},
      {"vase", "vase", {{"segments", "40"}}, {{"segments", "20"}, {"resolution", "10"}}},
  };
  for (const Recipe& r : recipes) {
    MixedScene::Kind kind{r.name,
                          centred(shapes::makeShape(r.shape, r.values), 0.3),
                          centred(shapes::makeShape(r.shape, r.coarse), 0.3),
                          {}};
    kind.solid = rigid::makeSolid(kind.mesh);
    scene.kinds.push_back(std::move(kind));
  }
  const auto side = uint32_t(std::max(2.0, std::round(std::cbrt(double(count)))));
  const double spacing = 0.36;
  scene.half = side * spacing / 2 + 0.05;
  scene.height = 2 + side * spacing;
  RandomStream random(20, 1);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t x = i % side, z = i / side % side, y = i / (side * side);
    rigid::Pose pose;
    pose.position = Vec3((x + 0.5) * spacing - side * spacing / 2, 0.3 + y * spacing,
                         (z + 0.5) * spacing - side * spacing / 2);
    pose.rotation = Quat(Eigen::AngleAxisd{random.uniform(0, 2 * kPi), random.unitVector()});
    scene.bodies.push_back({random.below(uint32_t(scene.kinds.size())), pose});
  }
  return scene;
}

rigid::Simulation simulate(const MixedScene& scene, const rigid::SimulationSettings& settings) {
  rigid::Simulation simulation(settings);
  for (const auto& [half, centre] : scene.tray()) {
    rigid::BodySettings wall;
    wall.kind = rigid::BodyKind::Static;
    wall.shape = rigid::makeBox(half);
    wall.pose.position = centre;
    wall.surface.friction = scene.friction;
    simulation.addBody(wall);
  }
  for (const MixedScene::Body& b : scene.bodies) {
    rigid::BodySettings body;
    body.shape = scene.kinds[b.kind].solid;
    body.pose = b.pose;
    body.density = scene.density;
    body.surface.friction = scene.friction;
    simulation.addBody(body);
  }
  return simulation;
}

Penetration measurePenetration(const MixedScene& scene, const std::vector<rigid::Pose>& poses) {
  std::vector<double> deepest(poses.size() * size_t(1), 0);
  std::vector<double> sums(poses.size(), 0);
  std::vector<size_t> counts(poses.size(), 0);
  parallelFor(
      poses.size(),
      [&](size_t i) {
        rigid::ContactScratch scratch;
        std::vector<rigid::Contact> contacts;
        const rigid::Shape& a = *scene.kinds[scene.bodies[i].kind].solid;
        const Box3 boxA = a.bounds(poses[i]);
        for (size_t j = i + 1; j < poses.size(); ++j) {
          const rigid::Shape& b = *scene.kinds[scene.bodies[j].kind].solid;
          if (!overlap(boxA, b.bounds(poses[j]))) continue;
          contacts.clear();
          rigid::PairMemory memory;
          rigid::findContacts(a, poses[i], b, poses[j], 0, {.full = true}, memory, scratch, contacts);
          double depth = 0;
          for (const rigid::Contact& c : contacts) depth = std::max(depth, -c.separation);
          if (depth <= 0) continue;
          ++counts[i];
          sums[i] += depth;
          deepest[i] = std::max(deepest[i], depth);
        }
      },
      8);
  Penetration result;
  for (size_t i = 0; i < poses.size(); ++i) {
    result.pairs += counts[i];
    result.mean += sums[i];
    result.largest = std::max(result.largest, deepest[i]);
  }
  if (result.pairs) result.mean /= double(result.pairs);
  return result;
}

}  // namespace sunder::bench
