// Breadth-first through the tree of spheres of one shape against the field of another: what the search for
// contacts and the distance of two shapes have in common. Points are asked for in bunches, each at most once.
// Not for use outside this room.
#pragma once

#include "sunder/rigid/contact.h"

#include <algorithm>

namespace sunder::rigid {

// Points of `points` seen from `field`.
struct PointWalk {
  const Shape &points, &field;
  ContactScratch& scratch;
  Mat3 turn;  // from the frame of the points to that of the field
  Vec3 shift;

  PointWalk(const Shape& ofPoints, const Pose& posePoints, const Shape& ofField, const Pose& poseField,
            ContactScratch& s)
      : points(ofPoints), field(ofField), scratch(s) {
    const Pose relative = inverse(poseField) * posePoints;
    turn = relative.rotation.toRotationMatrix();
    shift = relative.position;
  }

  // Calls visit(rank, place, sample) for points that may be nearer to the field's surface than ask(), and
  // enters a sphere where some point of it may be nearer than enter(); both are asked anew for each bunch.
  // `slack` is taken off what is known of a distance. Ends when more() says no.
  template <class More, class Ask, class Visit, class Enter>
  void run(double slack, const More& more, const Ask& ask, const Visit& visit, const Enter& enter) const;

 private:
  static constexpr size_t kBunch = 64;
};

template <class More, class Ask, class Visit, class Enter>
void PointWalk::run(double slack, const More& more, const Ask& ask, const Visit& visit,
                    const Enter& enter) const {
  const sdf::SphereTree& tree = points.points();
  const Box3 &box = field.localBounds(), &domain = field.fieldDomain();
  ContactScratch& s = scratch;
  s.known.assign(tree.pointCount(), 0);
  if (s.bound.size() < tree.pointCount()) s.bound.resize(tree.pointCount());
  s.queue.assign(tree.roots.begin(), tree.roots.end());
  for (size_t head = 0; head < s.queue.size() && more();) {
    const size_t end = std::min(head + kBunch, s.queue.size());
    s.work.visited += end - head;
    s.positions.clear();
    s.fresh.clear();
    const double within = ask();
    for (size_t i = head; i < end; ++i) {
      const uint32_t occurrence = s.queue[i], rank = tree.rank[occurrence];
      if (s.known[rank]) continue;
      s.known[rank] = 1;
      const Vec3 p = turn * tree.position[rank] + shift;
      s.bound[rank] = (box.lower - p).cwiseMax(p - box.upper).cwiseMax(0.0).norm() - slack;
      if (s.bound[rank] > double(tree.radius[occurrence]) + within) continue;
      s.fresh.push_back(rank);
      s.positions.push_back(p);
    }
    s.samples.resize(s.positions.size());
    field.field().samples(s.positions, s.samples);
    s.work.fieldQueries += s.positions.size();
    for (size_t i = 0; i < s.fresh.size(); ++i) {
      const sdf::FieldSample& sample = s.samples[i];
      double& bound = s.bound[s.fresh[i]];
      if (domain.contains(s.positions[i]))
        bound = std::max(bound, sample.value - slack - field.fieldErrorAt(sample.value));
      visit(s.fresh[i], s.positions[i], sample);
    }
    if (!more()) return;
    const double reach = enter();
    for (size_t i = head; i < end; ++i) {
      const uint32_t occurrence = s.queue[i];
      if (s.bound[tree.rank[occurrence]] >= double(tree.radius[occurrence]) + reach) continue;
      for (uint32_t child = tree.firstChild[occurrence]; child != kNoIndex; child = tree.nextSibling[child])
        s.queue.push_back(child);
    }
    head = end;
  }
}

}  // namespace sunder::rigid
