// Points against fields: breadth-first through the tree of spheres with self-adapting selection (Glondu et
// al. 2012, section 5; the tolerance may have either sign: a sphere is entered where distance < radius +
// tolerance).
#include "sunder/rigid/contact/contact_parts.h"
#include "sunder/rigid/contact/point_walk.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sunder::rigid {

namespace {

constexpr uint32_t kOfB = 1u << 31;  // in ids: a point of B
// Of the cosine between the outward directions of a point's own surface and of the other body's: a contact
// has them face each other. Where they point the same way, the point is on the far side of a wall or has
// passed the middle of the other body, and would be pushed through instead of back.
constexpr double kSameWay = 0.2;
constexpr double kApart = 0.15;        // of the smaller body's outer radius: nearer contacts say the same
constexpr double kAlike = 0.9;         // of the cosine between the normals of such
constexpr double kLookAhead = 0.05;    // of the smaller body's outer radius
constexpr double kSteepest = 1.74;     // of a trilinear field between exact distances: root of three
constexpr double kLeastCosine = 0.97;  // between flat sides that face each other: see kFlatSlope
constexpr double kCalm = 0.05;         // of the smaller body's outer radius: margin of slow bodies
constexpr double kWorthTwice = 4;      // times what touches: a margin that is not asked about at once
constexpr size_t kToChooseFrom = 4;    // times the limit: points about to touch, of which the nearest stay

// The points of one shape against the field of another.
struct Search {
  const PairQuery& q;
  const Pose &posePoints, &poseField;
  PointWalk walk;
  uint32_t& limit;
  uint32_t idBit;
  double towardsB;     // -1 where the field is B's: its outward direction then points to A
  size_t firstOfPair;  // of the contacts

  Search(const PairQuery& query, bool pointsOfB)
      : q(query),
        posePoints(pointsOfB ? query.poseB : query.poseA),
        poseField(pointsOfB ? query.poseA : query.poseB),
        walk(pointsOfB ? query.b : query.a, posePoints, pointsOfB ? query.a : query.b, poseField,
             query.scratch),
        limit(pointsOfB ? query.memory.limitB : query.memory.limitA),
        idBit(pointsOfB ? kOfB : 0),
        towardsB(pointsOfB ? 1 : -1),
        firstOfPair(query.out.size()) {}

  bool withinBand(double ahead) const { return ahead + walk.points.pointRadius() <= walk.field.fieldBand(); }
  // By how much the field at a point may be below its distance where it is below `reach`, and rounding.
  // Within the band that is little, unless the point could be so deep that the field is far below the band.
  double slack(double reach) const {
    const Shape& f = walk.field;
    const double rounding = 1e-12 * (walk.shift.norm() + walk.points.localBounds().diagonal());
    if (!(reach <= f.fieldBand())) return f.fieldErrorFar() + rounding;
    return std::min(f.fieldErrorFar(), std::max(f.fieldError(), f.fieldErrorFar() - f.fieldBand() - reach)) +
           rounding;
  }
  double size() const { return std::min(q.a.outerRadius(), q.b.outerRadius()); }

  // Whether the boxes of both are within the margin, in the frame of the field.
  bool boxesNear() const {
    const Box3 &box = walk.points.localBounds(), &other = walk.field.localBounds();
    const Vec3 middle = walk.turn * box.center() + walk.shift;
    const Vec3 reach = walk.turn.cwiseAbs() * (0.5 * box.extent()) + Vec3::Constant(q.margin);
    return ((middle - reach).array() <= other.upper.array()).all() &&
           ((middle + reach).array() >= other.lower.array()).all();
  }

  // Nothing is near: the limit comes down again.
  void forget() const {
    const uint32_t first = q.selection.firstLimit;
    limit = limit > first ? limit - 1 : first;
  }

  Contact contactOf(uint32_t rank, double separation, const Vec3& gradient) const {
    const double length = gradient.norm();
    const Vec3 outward =
        length < kUnreliable ? Vec3(towardsB * centreDirection(q)) : poseField.direction(gradient / length);
    const Vec3 at = posePoints.point(walk.points.points().position[rank]);
    return {at - (walk.points.pointRadius() + 0.5 * separation) * outward, towardsB * outward, separation,
            idBit | rank};
  }

  bool sameWay(uint32_t rank, const Vec3& gradient) const {
    const std::vector<Vec3>& normals = walk.points.pointNormals();
    return !normals.empty() && gradient.dot(walk.turn * normals[rank]) > kSameWay * gradient.norm();
  }

  bool sayTheSame(const Contact& a, const Contact& b) const {
    const double apart = kApart * size();
    return (a.point - b.point).squaredNorm() < apart * apart && a.normal.dot(b.normal) > kAlike;
  }
  // Whether a contact nearby stops what this one would stop. One of this direction that is less deep makes
  // room for it.
  bool repeats(const Contact& contact, double tolerance) const {
    for (Contact& other : q.scratch.touching) {
      if (!sayTheSame(other, contact)) continue;
      if (contact.separation < other.separation - tolerance) other = contact;
      return true;
    }
    for (size_t i = firstOfPair; i < q.out.size(); ++i)
      if (q.out[i].separation < contact.separation + tolerance && sayTheSame(q.out[i], contact)) return true;
    return false;
  }

  // Whether the nearest contact of that direction is as deep: then the solver holds the place as well as it
  // can.
  bool held(const Contact& contact, double tolerance) const {
    double best = Box3::kInfinity, separation = Box3::kInfinity;
    const auto look = [&](const Contact& other) {
      const double distance = (other.point - contact.point).squaredNorm();
      if (distance >= best || other.normal.dot(contact.normal) < kAlike) return;
      best = distance;
      separation = other.separation;
    };
    for (size_t i = firstOfPair; i < q.out.size(); ++i) look(q.out[i]);
    for (const Contact& other : q.scratch.touching) look(other);
    return separation < contact.separation + tolerance;
  }

  // Both return a bound below the distance of the points, where they found none within the margin. Contacts
  // about to touch are left in the scratch memory.
  double run() const;
  double runFull() const;
  // Of those, whoever's, the nearest, until the pair has so many.
  void addSpeculative(uint32_t most) const;
  uint32_t most() const { return std::max(limit, q.selection.firstLimit); }

 private:
  // Through the points nearer than `ahead`, into the lists of the scratch memory.
  struct Passed {
    double clear = 0;                 // as of the walk
    bool full = false, done = false;  // done: no need to look for more, though there may be
    uint32_t grown = 0, changed = 0;  // contacts deeper than the tolerance: one more, or in place of another
  };
  Passed pass(double ahead) const;
  Passed passSide(const FlatSide& side) const;
  double separationBound() const;
  void choose(const Passed& passed) const;
  double tolerance() const { return q.selection.depthTolerance * size(); }
  double nearby() const { return std::min(q.margin, tolerance()); }  // what counts as touching
  // What the other direction found to touch counts: contacts are the pair's.
  uint32_t room() const { return most() - std::min(most(), uint32_t(q.out.size() - firstOfPair)); }

  mutable double bound_ = -Box3::kInfinity;   // below the separation of all points
  mutable const FlatSide* facing_ = nullptr;  // side of the points that says so
  mutable size_t firstSpeculative_ = 0;
};

double Search::runFull() const {
  const double radius = walk.points.pointRadius();
  return -radius + walk.run([&](double within) { return slack(within); }, [] { return true; },
                            [&] { return q.margin + radius; },
                            [&](uint32_t rank, const Vec3&, const sdf::FieldSample& sample) {
                              const double separation = sample.value - radius;
                              if (separation >= q.margin) return;
                              walk.scratch.work.insidePoints += separation < 0;
                              q.out.push_back(contactOf(rank, separation, sample.gradient));
                            },
                            [&] { return q.margin + radius; });
}

double Search::run() const {
  if (walk.points.points().pointCount() == 0) return Box3::kInfinity;
  if (q.selection.full) return runFull();
  ContactScratch& s = q.scratch;
  firstSpeculative_ = s.speculative.size();
  bound_ = separationBound();
  if (bound_ >= q.margin) {
    forget();
    return bound_;
  }
  bool* full = q.gap ? &(idBit ? q.gap->fullB : q.gap->fullA) : nullptr;
  Passed passed;
  // Two flat sides that face each other: nothing is deep, and whatever is near is on them, unless they move
  // so fast that other points will touch within the step.
  if (facing_ && bound_ >= -tolerance() && q.margin < kCalm * size()) {
    passed = passSide(*facing_);
    passed.clear = bound_ + walk.points.pointRadius();
  }
  if (!passed.done && full && *full && kWorthTwice * nearby() < q.margin) {
    const size_t farSide = s.farSide.size(), inside = s.inside.size();
    passed = pass(nearby());
    if (!passed.full) {
      s.farSide.resize(farSide);
      s.inside.resize(inside);
    }
  }
  if (!passed.full && !passed.done) passed = pass(q.margin);
  if (full) *full = passed.full;
  choose(passed);
  return passed.clear - walk.points.pointRadius();
}

Search::Passed Search::pass(double ahead) const {
  const SelectionSettings& selection = q.selection;
  ContactScratch& s = q.scratch;
  const double deep = tolerance(), near = nearby();
  const uint32_t enough = room();
  const double radius = walk.points.pointRadius();
  s.touching.clear();
  s.speculative.resize(firstSpeculative_);
  Passed passed;  // once full, only what is deeper than the tolerance counts
  passed.full = enough == 0;
  const bool deeper = bound_ < -deep, touch = bound_ < near;  // whether there may be such
  const auto reach = [&] {
    if (passed.full) return radius - deep;
    // A little farther as long as nothing is near, so that the gap known is worth something.
    const size_t found = s.touching.size() + s.speculative.size() - firstSpeculative_;
    if (found == 0 && q.gap && ahead == q.margin) return radius + ahead + kLookAhead * size();
    return radius + (found >= kToChooseFrom * enough ? near : ahead);
  };
  passed.clear =
      walk.run([&](double within) { return slack(within); },
               [&] {
                 if (passed.full) return deeper && passed.changed < selection.growth;
                 return touch || s.speculative.size() - firstSpeculative_ < kToChooseFrom * enough;
               },
               reach,
               [&](uint32_t rank, const Vec3&, const sdf::FieldSample& sample) {
                 const double separation = sample.value - radius;
                 if (separation >= ahead) return;
                 s.work.insidePoints += separation < 0;
                 const bool surface = walk.points.points().surface[rank];
                 if (!surface || sameWay(rank, sample.gradient)) {
                   std::vector<Contact>& list = surface ? s.farSide : s.inside;
                   if (separation < 0 && list.size() < selection.firstLimit)
                     list.push_back(contactOf(rank, separation, sample.gradient));
                   return;
                 }
                 if (passed.full) {
                   if (separation >= -deep || passed.changed >= selection.growth) return;
                   const Contact contact = contactOf(rank, separation, sample.gradient);
                   if (held(contact, deep)) return;
                   ++passed.changed;
                   if (repeats(contact, deep)) return;
                   // One that carries little makes room; else there has to be one more.
                   const auto least = std::max_element(
                       s.touching.begin(), s.touching.end(),
                       [](const Contact& a, const Contact& b) { return a.separation < b.separation; });
                   if (least != s.touching.end() && least->separation > -deep) {
                     *least = contact;
                     return;
                   }
                   s.touching.push_back(contact);
                   ++passed.grown;
                   return;
                 }
                 if (separation >= near && s.speculative.size() - firstSpeculative_ >= kToChooseFrom * enough)
                   return;
                 const Contact contact = contactOf(rank, separation, sample.gradient);
                 if (repeats(contact, deep)) return;
                 if (separation < near) {
                   s.touching.push_back(contact);
                   passed.full = s.touching.size() >= enough;
                 } else {
                   s.speculative.push_back(contact);
                 }
               },
               reach);
  return passed;
}

Search::Passed Search::passSide(const FlatSide& side) const {
  ContactScratch& s = q.scratch;
  const double deep = tolerance(), near = nearby(), radius = walk.points.pointRadius();
  const uint32_t enough = room();
  s.touching.clear();
  s.speculative.resize(firstSpeculative_);
  Passed passed;
  passed.full = passed.done = enough == 0;
  if (passed.full || side.points.size() < enough) return passed;
  s.positions.clear();
  for (const uint32_t rank : side.points)
    s.positions.push_back(walk.turn * walk.points.points().position[rank] + walk.shift);
  s.samples.resize(s.positions.size());
  walk.field.field().samples(s.positions, s.samples);
  s.work.visited += s.positions.size();
  s.work.fieldQueries += s.positions.size();
  for (size_t i = 0; i < side.points.size() && !passed.full; ++i) {
    const double separation = s.samples[i].value - radius;
    s.work.insidePoints += separation < 0;
    if (separation >= q.margin || sameWay(side.points[i], s.samples[i].gradient)) continue;
    const Contact contact = contactOf(side.points[i], separation, s.samples[i].gradient);
    if (repeats(contact, deep)) continue;
    (separation < near ? s.touching : s.speculative).push_back(contact);
    passed.full = s.touching.size() >= enough;
  }
  passed.done = s.touching.size() + s.speculative.size() - firstSpeculative_ >= enough;
  return passed;
}

// All points are above a flat side of the field's shape by at least as much as their box, or as a flat side
// of theirs that faces it.
double Search::separationBound() const {
  double best = -Box3::kInfinity;
  facing_ = nullptr;
  const Box3& box = walk.points.localBounds();
  const Vec3 middle = box.center(), half = 0.5 * box.extent();
  for (const FlatSide& wall : walk.field.flatSides()) {
    const Vec3 up = walk.turn.transpose() * wall.normal;  // in the frame of the points
    const double offset = wall.normal.dot(wall.centre - walk.shift) + wall.slack;
    if (const double above = up.dot(middle) - up.cwiseAbs().dot(half) - offset; above > best) {
      best = above;
      facing_ = nullptr;
    }
    for (const FlatSide& side : walk.points.flatSides()) {
      const double cosine = -up.dot(side.normal);
      if (cosine < kLeastCosine) continue;
      const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
      if (!(cosine > kFlatSlope * sine)) continue;
      const double above = up.dot(side.centre) - offset - sine * side.radius;
      if (above <= best) continue;
      best = above;
      facing_ = &side;
    }
  }
  return best - walk.points.pointRadius() -
         1e-12 * (walk.shift.norm() + walk.points.localBounds().diagonal());
}

void Search::choose(const Passed& passed) const {
  ContactScratch& s = q.scratch;
  const double deep = tolerance();
  // One fewer next time where not all were needed, or the last of them carries little.
  const auto carriesLittle = [&](const Contact& c) { return c.separation > -deep; };
  const bool spare = !passed.full || (passed.changed == 0 &&
                                      std::any_of(s.touching.begin(), s.touching.end(), carriesLittle));
  limit = spare ? std::max(q.selection.firstLimit, most() - 1) : most() + passed.grown;
  q.out.insert(q.out.end(), s.touching.begin(), s.touching.end());
  s.touching.clear();
  if (passed.full) s.speculative.resize(firstSpeculative_);
}

void Search::addSpeculative(uint32_t most) const {
  ContactScratch& s = q.scratch;
  std::sort(s.speculative.begin(), s.speculative.end(), [](const Contact& a, const Contact& b) {
    return a.separation != b.separation ? a.separation < b.separation : a.id < b.id;
  });
  for (const Contact& contact : s.speculative) {
    if (q.out.size() - firstOfPair >= most) break;
    if (!repeats(contact, tolerance())) q.out.push_back(contact);
  }
}

// The pose of the smaller body in the frame of the other, and how far points of it can be from where they
// were at another such pose.
struct Relative {
  const Shape& small;
  Pose pose;

  Relative(const PairQuery& q, bool smallB)
      : small(smallB ? q.b : q.a), pose(smallB ? inverse(q.poseA) * q.poseB : inverse(q.poseB) * q.poseA) {}
  double movedFrom(const Pose& before) const {
    const Vec3& centre = small.mass().centre;
    const double chord = 2 * (pose.rotation * before.rotation.conjugate()).vec().norm();
    return (pose.point(centre) - before.point(centre)).norm() + chord * small.outerRadius();
  }
};

void search(const PairQuery& q, std::span<const Search> searches) {
  const bool smallB = q.b.outerRadius() < q.a.outerRadius();
  const auto forget = [&] {
    for (const Search& s : searches) s.forget();
  };
  std::optional<Relative> relative;
  const bool canSkip = q.gap && std::all_of(searches.begin(), searches.end(),
                                            [&](const Search& s) { return s.withinBand(q.margin); });
  if (canSkip) {
    relative.emplace(q, smallB);
    if (q.gap->distance - kSteepest * relative->movedFrom(q.gap->relative) > q.margin) {
      ++q.scratch.work.skipped;
      return forget();
    }
  }
  if (q.gap) q.gap->distance = 0;
  for (const Search& s : searches)
    if (!s.boxesNear()) return forget();
  const size_t before = q.out.size();
  q.scratch.farSide.clear();
  q.scratch.inside.clear();
  q.scratch.speculative.clear();
  double distance = Box3::kInfinity;
  uint32_t most = 0;
  for (const Search& s : searches) {
    most = std::max(most, s.most());
    distance = std::min(distance, s.run());
  }
  if (!q.selection.full) searches.front().addSpeculative(most);
  // Points on the far side and inside speak only where nobody else does: one body deep in another.
  if (q.out.size() == before) {
    const std::vector<Contact>& list = q.scratch.farSide.empty() ? q.scratch.inside : q.scratch.farSide;
    q.out.insert(q.out.end(), list.begin(), list.end());
    if (canSkip && list.empty()) *q.gap = {std::max(distance, 0.0), relative->pose};
  }
}

}  // namespace

void contactFields(const PairQuery& q) {
  if (q.a.hull() && q.b.hull() && !q.selection.full) return contactPolyhedra(q);
  // The smaller body's points first: the same contacts whichever is called A.
  const bool smallB = q.b.outerRadius() < q.a.outerRadius();
  const Search searches[2] = {Search(q, smallB), Search(q, !smallB)};
  search(q, searches);
}

void contactPlaneSolid(const PairQuery& q) {
  if (q.b.hull() && !q.selection.full) {
    const size_t first = q.out.size();
    contactHullPlane(
        {q.headB, q.poseB, q.headA, q.poseA, q.margin, q.selection, q.memory, q.scratch, q.out, q.gap});
    for (size_t i = first; i < q.out.size(); ++i) q.out[i].normal = -q.out[i].normal;
    return;
  }
  const Search ofB(q, true);
  search(q, {&ofB, 1});
}

}  // namespace sunder::rigid
