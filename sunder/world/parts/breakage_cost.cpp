// What breaking will cost: each body that may break is struck once, to see.
#include "sunder/base/error.h"
#include "sunder/base/stopwatch.h"
#include "sunder/world/parts/breakage.h"

#include <algorithm>
#include <cmath>

namespace sunder::world {

namespace {

constexpr double kLeastSpeed = 5;  // m/s

}  // namespace

BreakageCost Breakage::cost() const {
  BreakageCost cost;
  struct Tried {
    const fracture::RestMesh* rest;
    double seconds;
  };
  std::vector<Tried> tried;  // bodies of the same shape cost the same
  for (const auto& [body, piece] : wholes_) {
    const Object& object = objects_[piece.object];
    const BodySpec& spec = scene_.bodies[body];
    auto found =
        std::find_if(tried.begin(), tried.end(), [&](const Tried& t) { return t.rest == object.rest.get(); });
    if (found == tried.end()) {
      // As if it fell on its lowest point.
      const geometry::TetMesh& mesh = object.rest->mesh();
      const Vec3 up = spec.pose.localDirection(Vec3::UnitY());
      const Vec3 lowest =
          *std::min_element(mesh.positions.begin(), mesh.positions.end(),
                            [&](const Vec3& a, const Vec3& b) { return up.dot(a) < up.dot(b); });
      fracture::Impact impact;
      impact.point = lowest;
      impact.speed = std::max(kLeastSpeed, spec.velocity.norm());
      impact.impulse = up * (impact.speed * object.density * piece.fragment.shape->mass().volume);
      uint32_t next = object.nextCrack;
      const Stopwatch watch;
      try {
        object.model->strike(
            struckBody(body, piece, object.density * piece.fragment.shape->mass().volume, {&impact, 1}),
            next);
      } catch (const Error&) {  // a run counts those and goes on
      }
      tried.push_back({object.rest.get(), watch.seconds()});
      found = tried.end() - 1;
      cost.tets += mesh.tets.size();
    }
    ++cost.bodies;
    cost.secondsOnce += found->seconds;
  }
  return cost;
}

}  // namespace sunder::world
