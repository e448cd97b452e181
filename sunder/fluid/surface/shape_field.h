// The field of particle shapes next to one block of a grid, evaluated exactly at any point there: its value,
// its gradient and the mean velocity of the particles. Lengths are cells from the block's corner, in float.
#pragma once

#include "sunder/fluid/surface/particle_shapes.h"

namespace sunder::fluid {

// A shape as a block sees it.
struct LocalShape {
  Vec3f centre, reach;
  float metric[6];
  float weight;

  LocalShape(const ParticleShape& shape, const Vec3& corner, double cell)
      : centre(((shape.centre - corner) / cell).cast<float>()),
        reach(shape.reach / float(cell)),
        weight(shape.weight) {
    for (int k = 0; k < 6; ++k) metric[k] = shape.metric[k] * float(cell * cell);
  }
};

class ShapeField {
 public:
  struct Sample {
    float value = 0;
    Vec3f gradient = Vec3f::Zero();
  };

  // `members` says which of all shapes are felt in and around the block.
  ShapeField(std::span<const ParticleShape> shapes, std::span<const uint32_t> members, const Vec3& corner,
             double cell);

  // Which shapes may be felt between two points, as a list for the row of cubes and a shorter one for an edge
  // in it: only the latter count from then on.
  void focusRow(const Vec3f& lower, const Vec3f& upper);
  void focus(const Vec3f& lower, const Vec3f& upper);
  Sample at(const Vec3f& point) const;
  // Mean of what the particles have, weighed by their fields at the point.
  Vec3f mean(const Vec3f& point, std::span<const Vec3f> ofParticles) const;

 private:
  std::span<const uint32_t> members_;
  std::vector<LocalShape> shapes_;
  std::vector<uint32_t> row_, near_;
};

}  // namespace sunder::fluid
