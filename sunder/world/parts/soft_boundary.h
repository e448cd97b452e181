// The soft bodies of a world as liquids meet them (part/deforming_solid.h): points of the solid that move
// with the tetrahedra they are in, whatever tears do to these, with the volume that they have now.
//
// Impulses on points go to the corners of their tetrahedra by barycentric weights. A step of the soft bodies
// is made with the impulses of the step before as loads; then the liquid flows and finds others, and what
// they differ by moves the bodies after their step, by the linear part of an implicit Euler step
// (fem/motion/step_response.h). The pressures of the liquid are found with that response in them, so liquid
// and soft bodies are one system, however light, soft or stiff these are; contacts are not in the response.
//
// State: the impulses of the last step, by point. Momentum: in a step the bodies get the sum of all impulses
// that the liquid gave in it, to rounding.
#pragma once

#include "sunder/fem/motion/motion.h"
#include "sunder/fem/motion/step_response.h"
#include "sunder/soft/spheres/volume_points.h"
#include "sunder/world/part/deforming_solid.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::world {

class SoftBoundary final : public DeformingSolid {
 public:
  explicit SoftBoundary(fem::Motion& motion) : motion_(motion) {}

  // Points of the next body, whose tetrahedra begin there in the motion.
  void add(const soft::VolumePoints& points, uint32_t firstTet);
  // Liquids pass through a body that has left the world.
  void setPresent(uint32_t body, bool present);
  // `masses` of the vertices: infinite where they are held.
  void setMasses(std::span<const double> masses) { masses_.assign(masses.begin(), masses.end()); }

  // Before a step of the motion: remembers where points are, and adds the forces of the last impulses.
  void begin(double h, std::vector<fem::NodalForce>& forces);
  // After it. Of the loads pins and damping are used; they must last until finish().
  void end(const fem::Loads& loads) { loads_ = loads; }

  // What liquids pressed and rubbed with in the last step: the sum of their forces, N.
  Vec3 force() const;

  size_t points() const override { return tets_.size(); }
  void place(double from, double to, fluid::BoundarySamples& samples) override;
  void push(std::span<const Vec3> impulses) override;
  void finish() override;
  void respond(std::span<const Vec3> impulses, std::span<Vec3> changes) override;
  void bound(std::span<const double> impulses, std::span<double> changes) const override;

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  std::span<const uint32_t> corners(size_t point) const { return motion_.solid().tets()[tets_[point]]; }
  Vec3 pointOf(std::span<const Vec3> values, size_t point) const;
  void open();
  // What impulses on points give to vertices; zero without a solve where all are zero.
  void solve(std::span<const Vec3> impulses, std::vector<Vec3>& changes);

  fem::Motion& motion_;
  std::vector<uint32_t> tets_;  // by point
  std::vector<Vec4> weights_;
  std::vector<double> volumes_;   // at rest
  std::vector<Vec3> foreseen_;    // impulses of the last step, by point
  std::vector<uint32_t> bodyOf_;  // by point
  std::vector<uint8_t> present_;  // by body
  double h_ = 0;                  // of the last step
  std::vector<double> masses_;

  // Of the step.
  fem::Loads loads_;
  fem::StepResponse response_;
  bool open_ = false, responds_ = false;
  double to_ = 0, lastTime_ = 0;                 // end of the last part of the step, and how long it was, s
  std::vector<Vec3> before_, after_;             // of points
  std::vector<Vec3> given_;                      // impulses so far, by point
  std::vector<Vec3> gained_, expected_, drift_;  // of vertices: by given_, by foreseen_, ways beyond the step
  std::vector<Vec3> vertexImpulses_, vertexChanges_;
};

}  // namespace sunder::world
