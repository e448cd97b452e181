// Matter that deforms, as liquids see it: points of it, each with a volume, that move in the step and give
// way to impulses. The part that owns the matter publishes one of these for all of it (Exchange::publish);
// liquids place it for each of their steps, read how it moves and push it.
//
// The liquid moves after the solids, so their step was made with the impulses of the last one. Those count as
// foreseen: only what the liquid does beyond them changes velocities, by the response that a step of the
// matter has (fluid/boundary/boundary_samples.h). finish() gives the matter the difference.
#pragma once

#include "sunder/fluid/boundary/boundary_samples.h"

#include <cstdint>
#include <span>

namespace sunder::world {

class DeformingSolid : public fluid::BoundaryResponse {
 public:
  virtual size_t points() const = 0;
  // Positions at `to` of the step, a part of it from 0 to 1, and velocities from `from` on as they are
  // without what the liquid does until then. In order within a step, each beginning where the last one ended;
  // 1 to 1 shows the matter as it is between steps.
  virtual void place(double from, double to, fluid::BoundarySamples& samples) = 0;
  // By point: what the liquid did since the last place().
  virtual void push(std::span<const Vec3> impulses) = 0;
  // The liquid has ended its step.
  virtual void finish() = 0;
};

}  // namespace sunder::world
