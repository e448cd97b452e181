// Breadth-first through the tree of spheres of one shape against the field of another: what the search for
// contacts and the distance of two shapes have in common. Points are asked for in bunches, each at most once.
// Not for use outside this room.
#pragma once

#include "sunder/rigid/contact/contact.h"

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
  // slack(reach) is taken off what is known of a distance where the question is whether the field can be less
  // than `reach`. Ends when more() says no; else returns a bound below the field at all points.
  template <class Slack, class More, class Ask, class Visit, class Enter>
  double run(const Slack& slack, const More& more, const Ask& ask, const Visit& visit,
             const Enter& enter) const;

 private:
  static constexpr size_t kBunch = 64;
};

template <class Slack, class More, class Ask, class Visit, class Enter>
double PointWalk::run(const Slack& slack, const More& more, const Ask& ask, const Visit& visit,
                      const Enter& enter) const {
  const std::vector<Vec3>& position = points.points().position;
  const PointNode* nodes = points.pointNodes().data();
  const Box3 &box = field.localBounds(), &domain = field.fieldDomain();
  ContactScratch& s = scratch;
  if (s.bound.size() < position.size()) {
    s.bound.resize(position.size());
    s.value.resize(position.size());
  }
  s.queue.clear();
  for (uint32_t root = 0; root < points.points().roots.size(); ++root) s.queue.push_back(root);
  double clear = Box3::kInfinity;
  const double most = slack(Box3::kInfinity);
  for (size_t head = 0; head < s.queue.size() && more();) {
    const size_t end = std::min(head + kBunch, s.queue.size());
    s.work.visited += end - head;
    s.positions.clear();
    s.fresh.clear();
    const double within = ask(), near = within + slack(within);
    for (size_t i = head; i < end; ++i) {
      const PointNode& node = nodes[s.queue[i]];
      if (!node.fresh) continue;
      const Vec3 p = turn * position[node.rank] + shift;
      // In the box it may be as deep as anything.
      const double gap = (box.lower - p).cwiseMax(p - box.upper).cwiseMax(0.0).norm();
      const double bound = gap > 0 ? gap : -Box3::kInfinity;
      s.bound[node.rank] = s.value[node.rank] = bound;
      if (bound > double(node.radius) + near) continue;
      s.fresh.push_back(node.rank);
      s.positions.push_back(p);
    }
    s.samples.resize(s.positions.size());
    field.field().samples(s.positions, s.samples);
    s.work.fieldQueries += s.positions.size();
    for (size_t i = 0; i < s.fresh.size(); ++i) {
      const sdf::FieldSample& sample = s.samples[i];
      double& bound = s.bound[s.fresh[i]];
      if (domain.contains(s.positions[i]))
        bound = std::max(bound, sample.value - field.fieldErrorAt(sample.value));
      s.value[s.fresh[i]] = sample.value;
      visit(s.fresh[i], s.positions[i], sample);
    }
    if (!more()) return clear;
    const double reach = enter(), far = reach + slack(reach);
    for (size_t i = head; i < end; ++i) {
      const PointNode& node = nodes[s.queue[i]];
      const double bound = s.bound[node.rank], least = bound - double(node.radius);
      if (least >= far) {
        clear = std::min(clear, std::max(reach, least - most));
        continue;
      }
      if (node.fresh) clear = std::min(clear, s.value[node.rank]);
      for (uint32_t child = node.first; child < node.first + node.count; ++child) {
        // What is known of a point already may do for its next node.
        if (const double below = bound - double(nodes[child].radius); !nodes[child].fresh && below >= far) {
          clear = std::min(clear, std::max(reach, below - most));
          continue;
        }
        s.queue.push_back(child);
      }
    }
    head = end;
  }
  return clear;
}

}  // namespace sunder::rigid
