// Contacts of two shapes: the narrow phase. Exact tests where both are convex primitives or pieces; else the
// points of each shape against the field of the other, coarsest first, with self-adapting selection (Glondu
// et al. 2012): at most `limit` contacts a pair, both directions together, then one more a step as long as
// some point is deeper than the tolerance and than the contact nearest to it, so that resting bodies have few
// contacts and no point stays deeper than what the solver leaves by more than the tolerance. Contacts close
// together with one normal are one; points on the far side of a wall, whose own surface faces the same way as
// the other's, are left out.
//
// Guarantees: a contact's id is the same in the next step as long as the same point or feature touches; a
// pair that overlaps has at least one contact (points dense enough provided: features thinner than the point
// spacing of both shapes can be missed); the same contacts for any number of threads; pruning is conservative
// (a subtree is skipped only when field - error says that no point below it is within the margin).
//
// Cost: 10 to 80 ns for round primitives, 40 ns for boxes apart, 0.2 us for boxes that rest on each other,
// about 1 us for hulls of 24 corners (it grows with faces times corners: simplify hulls of hundreds), 3 to 12
// us and 30 to 120 field queries for two solids. No allocation after warm-up.
#pragma once

#include "sunder/rigid/shape/motion.h"
#include "sunder/rigid/shape/shape.h"

#include <cstdint>
#include <vector>

namespace sunder::rigid {

struct Contact {
  Vec3 point = Vec3::Zero();    // world, half-way between both surfaces
  Vec3 normal = Vec3::UnitY();  // world, unit, from A towards B
  double separation = 0;        // negative where they overlap
  uint32_t id = 0;
};

struct SelectionSettings {
  uint32_t firstLimit = 8;        // contacts before the depth decides
  uint32_t growth = 1;            // how many more a step
  double depthTolerance = 0.002;  // part of the smaller body's outer radius
  bool full = false;              // every point within the margin: what selection is compared with
};

// What a pair remembers from step to step; part of the state. Starts as it is here.
struct PairMemory {
  uint32_t limitA = 0,
           limitB = 0;   // present limits of A's points against B and of B's against A; 0: not yet set
  uint32_t feature = 0;  // last separating feature of two polyhedra, tried first
};

// What the last search of a pair found: saves work and changes no result, so it is not part of the state.
struct PairGap {
  // How far apart the points were, searched in vain: while they moved less, they are not searched again.
  double distance = 0;  // by the fields; 0: not known
  Pose relative;        // of the smaller body in the frame of the other, then
  // Whether the points of either body had as many contacts as the limit, or were not searched yet: then
  // those that touch are looked for first, as those about to touch will not be needed.
  bool fullA = true, fullB = true;
};

// Work done, for statistics: add up over pairs.
struct ContactWork {
  uint64_t visited = 0;  // occurrences taken from the queue
  uint64_t fieldQueries = 0;
  uint64_t insidePoints = 0;  // points found overlapping
  uint64_t skipped = 0;       // pairs known to be apart
};

// Scratch memory of one thread; only `work` means something outside.
struct ContactScratch {
  struct Corner {
    Vec3 position;
    uint32_t id, edge;
  };
  std::vector<uint32_t> queue, next, fresh;
  std::vector<double> bound, value;  // by rank: what is known of the distance; what the field says
  std::vector<Vec3> positions;
  std::vector<sdf::FieldSample> samples;
  std::vector<Contact> touching, speculative, inside, farSide;
  std::vector<Corner> polygon, clipped;
  ContactWork work;
};

// Appends the contacts with separation < margin (margin >= 0). Poses are of the model frames. `gap`: of this
// pair, from the last call.
void findContacts(const ShapeHead& a, const Pose& poseA, const ShapeHead& b, const Pose& poseB, double margin,
                  const SelectionSettings& selection, PairMemory& memory, ContactScratch& scratch,
                  std::vector<Contact>& out, PairGap* gap = nullptr);
inline void findContacts(const Shape& a, const Pose& poseA, const Shape& b, const Pose& poseB, double margin,
                         const SelectionSettings& selection, PairMemory& memory, ContactScratch& scratch,
                         std::vector<Contact>& out) {
  findContacts(ShapeHead(a), poseA, ShapeHead(b), poseB, margin, selection, memory, scratch, out);
}

// A lower bound on the distance of the two shapes' surfaces, at most `enough` (the search stops there);
// negative or zero where they overlap. Within `tolerance` of the distance between each shape's points and the
// other shape.
double distanceBelow(const Shape& a, const Pose& poseA, const Shape& b, const Pose& poseB, double enough,
                     double tolerance, ContactScratch& scratch);

// The first time in [0, 1] at which the shapes come nearer than `separation`, never too late (conservative
// advancement); 1 where they do not; 0 where they start nearer.
double timeOfImpact(const Shape& a, const Motion& motionA, const Shape& b, const Motion& motionB,
                    double separation, double tolerance, ContactScratch& scratch);
// The same of a ball that moves along with a body, in whose model frame it is given.
double timeOfImpact(const Ball& ball, const Motion& motion, const Shape& other, const Motion& otherMotion,
                    double separation, double tolerance);

}  // namespace sunder::rigid
