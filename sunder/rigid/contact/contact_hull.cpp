// Two convex polyhedra: separating axes of faces, and of those pairs of edges that make a face of the
// Minkowski difference (Gregorius 2013: arcs on the Gauss map that cross); then clipping of faces.
#include "sunder/rigid/contact/contact_parts.h"
#include "sunder/rigid/contact/gjk.h"

#include <cmath>

namespace sunder::rigid {

namespace {

using Corner = ContactScratch::Corner;

constexpr double kKeepHullBias = 0.005,
                 kHullEdgeBias = 0.01;  // parts of the smaller inner radius, as for boxes
constexpr uint32_t kHullFaceA = 1u << 28, kHullFaceB = 2u << 28, kEdgePair = 3u << 28,
                   kIndex = (1u << 14) - 1;

struct Frames {
  const HullTopology &a, &b;
  Mat3 turn;  // from B's frame to A's
  Vec3 shift;

  double faceA(uint32_t f) const {
    const Vec3 n = turn.transpose() * a.faceNormals[f];
    double least = Box3::kInfinity;
    for (const Vec3& v : b.vertices) least = std::min(least, n.dot(v));
    return least + a.faceNormals[f].dot(shift) - a.faceOffsets[f];
  }
  double faceB(uint32_t f) const {
    const Vec3 n = turn * b.faceNormals[f];
    double least = Box3::kInfinity;
    for (const Vec3& v : a.vertices) least = std::min(least, n.dot(v));
    return least - n.dot(shift) - b.faceOffsets[f];
  }
  // Separation along the axis across both edges, outward of A; -infinity where they make no face.
  double edges(uint32_t i, uint32_t j, Vec3& axis) const {
    const auto& ea = a.edges[i];
    const auto& eb = b.edges[j];
    const Vec3 along = turn * (b.vertices[eb[1]] - b.vertices[eb[0]]);
    return edges(ea, a.vertices[ea[1]] - a.vertices[ea[0]], turn * b.faceNormals[eb[2]],
                 turn * b.faceNormals[eb[3]], along, turn * b.vertices[eb[0]] + shift, axis);
  }
  double edges(const std::array<uint32_t, 4>& ea, const Vec3& alongA, const Vec3& left, const Vec3& right,
               const Vec3& alongB, const Vec3& onB, Vec3& axis) const {
    const double c = -left.dot(alongA), d = -right.dot(alongA);
    if (c * d >= 0) return -Box3::kInfinity;
    const Vec3 &na = a.faceNormals[ea[2]], &nb = a.faceNormals[ea[3]];
    const double e = na.dot(alongB), f = nb.dot(alongB);
    if (e * f >= 0 || c * f <= 0) return -Box3::kInfinity;
    axis = alongA.cross(alongB);
    const double length = axis.norm();
    if (length < 1e-3 * alongA.norm() * alongB.norm()) return -Box3::kInfinity;
    axis /= length;
    if (axis.dot(na + nb) < 0) axis = -axis;
    return axis.dot(onB - a.vertices[ea[0]]);
  }
};

void clipCorners(const std::vector<Corner>& in, const Vec3& normal, double offset, uint32_t side,
                 std::vector<Corner>& out) {
  out.clear();
  if (in.empty()) return;
  const Corner* previous = &in.back();
  double before = normal.dot(previous->position) - offset;
  for (const Corner& p : in) {
    const double now = normal.dot(p.position) - offset;
    if ((before > 0) != (now > 0)) {
      const double t = before / (before - now);
      const uint32_t low = std::min(previous->edge, side), high = std::max(previous->edge, side);
      out.push_back({previous->position + t * (p.position - previous->position), 0x8000u | (low << 7 ^ high),
                     now > 0 ? side : previous->edge});
    }
    if (now <= 0) out.push_back(p);
    previous = &p;
    before = now;
  }
}

// Contacts on face `face` of `ref`, whose frame the incident polyhedron is taken to by turn and shift.
// Returns the smallest separation.
double faceContacts(const PairQuery& q, const HullTopology& ref, const Pose& pose, uint32_t face,
                    const HullTopology& other, const Mat3& turn, const Vec3& shift, bool onB) {
  const Vec3& n = ref.faceNormals[face];
  const Vec3 localNormal = turn.transpose() * n;
  uint32_t incident = 0;
  double most = Box3::kInfinity;
  for (uint32_t f = 0; f < other.faceNormals.size(); ++f)
    if (const double m = localNormal.dot(other.faceNormals[f]); m < most) {
      most = m;
      incident = f;
    }
  std::vector<Corner>&points = q.scratch.polygon, &spare = q.scratch.clipped;
  points.clear();
  for (uint32_t i = other.faceStart[incident]; i < other.faceStart[incident + 1]; ++i) {
    const uint32_t number = i - other.faceStart[incident];
    points.push_back({turn * other.vertices[other.faceVertices[i]] + shift, number, number});
  }
  const auto corners = uint32_t(points.size());
  for (uint32_t i = ref.faceStart[face]; i < ref.faceStart[face + 1] && !points.empty(); ++i) {
    const uint32_t j = i + 1 == ref.faceStart[face + 1] ? ref.faceStart[face] : i + 1;
    const Vec3 &a = ref.vertices[ref.faceVertices[i]], &b = ref.vertices[ref.faceVertices[j]];
    const Vec3 side = (b - a).cross(n);
    clipCorners(points, side, side.dot(a), corners + i - ref.faceStart[face], spare);
    std::swap(points, spare);
  }
  const Vec3 u = n.unitOrthogonal(), v = n.cross(u);
  constexpr uint32_t kMost = 256;
  FlatPoint flat[kMost];
  uint32_t count = 0;
  double least = Box3::kInfinity;
  for (const Corner& p : points) {
    const double height = n.dot(p.position) - ref.faceOffsets[face];
    if (height >= q.margin || count == kMost) continue;
    least = std::min(least, height);
    flat[count] = {u.dot(p.position), v.dot(p.position), height};
    points[count++] = p;
  }
  uint32_t kept[4] = {0, 1, 2, 3};
  if (count > 4) chooseFour({flat, count}, kept);
  const Vec3 normal = pose.direction(onB ? Vec3(-n) : n);
  const uint32_t base = (onB ? 1u << 31 : 0u) | (face & 0xff) << 23 | (incident & 0x7f) << 16;
  for (uint32_t k = 0; k < std::min(count, 4u); ++k) {
    const double height = flat[kept[k]].height;
    const Corner& p = points[kept[k]];
    q.out.push_back({pose.point(p.position - 0.5 * height * n), normal, height, base | p.id});
  }
  return least;
}

}  // namespace

void contactPolyhedra(const PairQuery& q) {
  const Pose relative = inverse(q.poseA) * q.poseB;
  const Frames pair{*q.a.hull(), *q.b.hull(), relative.rotation.toRotationMatrix(), relative.position};
  const HullTopology &a = pair.a, &b = pair.b;
  const auto facesA = uint32_t(a.faceNormals.size()), facesB = uint32_t(b.faceNormals.size());

  const uint32_t last = q.memory.feature, lastKind = last & 3u << 28;
  const uint32_t lastA = last >> 14 & kIndex, lastB = last & kIndex;
  double lastSeparation = -Box3::kInfinity;
  Vec3 axis = Vec3::UnitY(), bestAxis = axis;
  if (lastKind == kHullFaceA && lastA < facesA) lastSeparation = pair.faceA(lastA);
  if (lastKind == kHullFaceB && lastB < facesB) lastSeparation = pair.faceB(lastB);
  if (lastKind == kEdgePair && lastA < a.edges.size() && lastB < b.edges.size() &&
      pair.edges(lastA, lastB, axis) >= q.margin)
    return;
  if (lastSeparation >= q.margin) return;

  double bestFace = -Box3::kInfinity;
  uint32_t face = 0;
  for (uint32_t f = 0; f < facesA; ++f)
    if (const double s = pair.faceA(f); s > bestFace) {
      bestFace = s;
      face = kHullFaceA | f << 14;
      if (s >= q.margin) {
        q.memory.feature = face;
        return;
      }
    }
  for (uint32_t f = 0; f < facesB; ++f)
    if (const double s = pair.faceB(f); s > bestFace) {
      bestFace = s;
      face = kHullFaceB | f;
      if (s >= q.margin) {
        q.memory.feature = face;
        return;
      }
    }
  const double smallest = std::min(q.a.innerRadius(), q.b.innerRadius());
  // Where an edge axis is the best, both edges come within this of each other, so edges that are farther from
  // the slab between the two bodies, or from the other body's box, need not be tried.
  const double grasp = std::max(q.margin, -bestFace) + 1e-9 * q.a.outerRadius();
  const bool faceOfB = (face & 3u << 28) == kHullFaceB;
  const Vec3 slab =
      faceOfB ? Vec3(-(pair.turn * b.faceNormals[face & kIndex])) : a.faceNormals[face >> 14 & kIndex];
  std::vector<uint32_t>&edgesA = q.scratch.queue, &edgesB = q.scratch.next;
  edgesA.clear();
  edgesB.clear();
  std::vector<Vec3>& moved = q.scratch.positions;  // B's corners in the frame of A
  moved.clear();
  Box3 boxA, boxB;
  double highest = -Box3::kInfinity, lowest = Box3::kInfinity;
  for (const Vec3& v : a.vertices) {
    boxA.grow(v);
    highest = std::max(highest, slab.dot(v));
  }
  for (const Vec3& v : b.vertices) {
    moved.push_back(pair.turn * v + pair.shift);
    boxB.grow(moved.back());
    lowest = std::min(lowest, slab.dot(moved.back()));
  }
  const auto apart = [&](const Vec3& u, const Vec3& v, const Box3& box) {
    return ((u.cwiseMax(v) - box.lower).array() < -grasp).any() ||
           ((u.cwiseMin(v) - box.upper).array() > grasp).any();
  };
  for (uint32_t i = 0; i < a.edges.size(); ++i) {
    const Vec3 &u = a.vertices[a.edges[i][0]], &v = a.vertices[a.edges[i][1]];
    if (std::max(slab.dot(u), slab.dot(v)) >= lowest - grasp && !apart(u, v, boxB)) edgesA.push_back(i);
  }
  for (uint32_t j = 0; j < b.edges.size(); ++j) {
    const Vec3 &u = moved[b.edges[j][0]], &v = moved[b.edges[j][1]];
    if (std::min(slab.dot(u), slab.dot(v)) <= highest + grasp && !apart(u, v, boxA)) edgesB.push_back(j);
  }
  double best = -Box3::kInfinity;
  uint32_t edgeA = 0, edgeB = 0;
  for (const uint32_t j : edgesB) {
    const auto& eb = b.edges[j];
    const Vec3& onB = moved[eb[0]];
    const Vec3 along = moved[eb[1]] - onB;
    const Vec3 left = pair.turn * b.faceNormals[eb[2]], right = pair.turn * b.faceNormals[eb[3]];
    for (const uint32_t i : edgesA) {
      const auto& ea = a.edges[i];
      const double s = pair.edges(ea, a.vertices[ea[1]] - a.vertices[ea[0]], left, right, along, onB, axis);
      if (s <= best) continue;
      best = s;
      bestAxis = axis;
      edgeA = i;
      edgeB = j;
      if (s >= q.margin) {
        q.memory.feature = kEdgePair | (i & kIndex) << 14 | (j & kIndex);
        return;
      }
    }
  }

  const auto closest = [&] {
    const CoreDistance d = distanceOfCores(coreOf(q.a), coreOf(q.b), pair.turn, pair.shift, q.margin);
    if (!(d.distance > 0)) return false;
    if (d.distance < q.margin) {
      const Vec3 normal = q.poseA.direction((d.onB - d.onA) / d.distance);
      q.out.push_back({q.poseA.point(0.5 * (d.onA + d.onB)), normal, d.distance, 1u << 22});
    }
    return true;
  };
  // Edges farther apart than that may still tell the bodies apart where no face does.
  if (bestFace <= 0 && best <= 0 && edgesA.size() * edgesB.size() < a.edges.size() * b.edges.size() &&
      closest())
    return;
  const auto edgeContact = [&] {
    const Vec3 &a0 = a.vertices[a.edges[edgeA][0]], &a1 = a.vertices[a.edges[edgeA][1]];
    const Vec3 b0 = pair.turn * b.vertices[b.edges[edgeB][0]] + pair.shift;
    const Vec3 b1 = pair.turn * b.vertices[b.edges[edgeB][1]] + pair.shift;
    const Vec3 halfA = 0.5 * (a1 - a0), halfB = 0.5 * (b1 - b0);
    const SegmentPair s = closestOnSegments(0.5 * (a0 + a1), halfA, 0.5 * (b0 + b1), halfB);
    if (best > 0 && (std::abs(s.s) == 1 || std::abs(s.t) == 1)) {
      closest();
      return;
    }
    const Vec3 onA = 0.5 * (a0 + a1) + s.s * halfA, onB = 0.5 * (b0 + b1) + s.t * halfB;
    q.out.push_back({q.poseA.point(0.5 * (onA + onB)), q.poseA.direction(bestAxis), best,
                     1u << 23 | (edgeA & 0x7ff) << 11 | (edgeB & 0x7ff)});
  };
  if (best > bestFace + kHullEdgeBias * smallest) {
    q.memory.feature = kEdgePair | (edgeA & kIndex) << 14 | (edgeB & kIndex);
    edgeContact();
    return;
  }
  if (lastSeparation > bestFace - kKeepHullBias * smallest && (bestFace <= 0 || lastSeparation > 0)) {
    face = last;
    bestFace = lastSeparation;
  }
  q.memory.feature = face;
  double least;
  const bool onB = (face & 3u << 28) == kHullFaceB;
  if (onB) {
    const Mat3 back = pair.turn.transpose();
    least = faceContacts(q, b, q.poseB, face & kIndex, a, back, -(back * pair.shift), true);
  } else {
    least = faceContacts(q, a, q.poseA, face >> 14 & kIndex, b, pair.turn, pair.shift, false);
  }
  if (bestFace > 0) {
    if (least > bestFace + 0.1 * q.margin) closest();
  } else if (least > bestFace + kKeepHullBias * smallest) {
    // They overlap, and the deepest corner is none of the incident face's, or not above the reference face:
    // then two edges cross at nearly the same depth.
    if (best > bestFace) {
      edgeContact();
    } else {
      const Vec3 n =
          onB ? Vec3(-(pair.turn * b.faceNormals[face & kIndex])) : a.faceNormals[face >> 14 & kIndex];
      const Vec3 corner =
          onB ? coreOf(q.a).support(n)
              : Vec3(pair.turn * coreOf(q.b).support(-(pair.turn.transpose() * n)) + pair.shift);
      q.out.push_back({q.poseA.point(corner + (onB ? 0.5 : -0.5) * bestFace * n), q.poseA.direction(n),
                       bestFace, 1u << 24 | (face & 0xffff)});
    }
  }
}

}  // namespace sunder::rigid
