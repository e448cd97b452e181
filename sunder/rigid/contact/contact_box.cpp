// Two boxes: separating axes (Gottschalk, Lin and Manocha 1996), then the incident face clipped against the
// reference face, in the reference box's own coordinates, where clipping is against x and y alone.
#include "sunder/rigid/contact/contact_parts.h"
#include "sunder/rigid/contact/gjk.h"

#include <cmath>

namespace sunder::rigid {

namespace {

// How much deeper a face may be than the best axis and still be taken, as a part of the smallest half side:
// what touched last stays, and faces come before edges, which give one point only.
constexpr double kKeepBias = 0.005, kEdgeBias = 0.01;

// Codes of axes in PairMemory::feature: 1-3 faces of A, 4-6 faces of B, 7-15 pairs of edges.
constexpr uint32_t kFaceA = 1, kFaceB = 4, kEdges = 7, kAxes = 16;

// B seen from A: columns of c are B's axes, d its centre. `e` is d along B's axes.
struct BoxPair {
  double c[3][3], abs[3][3], d[3], e[3], ha[3], hb[3];

  double faceA(int i) const {
    return std::abs(d[i]) - (ha[i] + abs[i][0] * hb[0] + abs[i][1] * hb[1] + abs[i][2] * hb[2]);
  }
  double faceB(int j) const {
    return std::abs(e[j]) - (hb[j] + abs[0][j] * ha[0] + abs[1][j] * ha[1] + abs[2][j] * ha[2]);
  }
  // Not divided by the length of the axis.
  double edges(int i, int j) const {
    const int i1 = i == 2 ? 0 : i + 1, i2 = i == 0 ? 2 : i - 1, j1 = j == 2 ? 0 : j + 1,
              j2 = j == 0 ? 2 : j - 1;
    const double along = d[i2] * c[i1][j] - d[i1] * c[i2][j];
    return std::abs(along) - (ha[i1] * abs[i2][j] + ha[i2] * abs[i1][j]) -
           (hb[j1] * abs[i][j2] + hb[j2] * abs[i][j1]);
  }
  double edgeLength(int i, int j) const { return std::sqrt(1 - c[i][j] * c[i][j]); }
  bool parallel(int i, int j) const { return c[i][j] * c[i][j] > 1 - 1e-6; }

  double separation(uint32_t axis) const {
    if (axis < kFaceB) return faceA(int(axis - kFaceA));
    if (axis < kEdges) return faceB(int(axis - kFaceB));
    const int i = int(axis - kEdges) / 3, j = int(axis - kEdges) % 3;
    return parallel(i, j) ? -Box3::kInfinity : edges(i, j) / edgeLength(i, j);
  }
};

struct ClipPoint {
  double x, y, z;
  uint32_t id;    // of the corner: 0-3 of the incident face, others made of the edges that cross
  uint32_t edge;  // to the next corner: 0-3 of the incident face, 4-7 of the reference face
};

// Cuts off what is beyond sign * coordinate = limit; `side` numbers that plane.
template <double ClipPoint::*kAxis>
int clip(const ClipPoint* in, int count, double sign, double limit, uint32_t side, ClipPoint* out) {
  int kept = 0;
  const ClipPoint* previous = in + count - 1;
  double before = sign * previous->*kAxis - limit;
  for (int i = 0; i < count; ++i) {
    const ClipPoint& p = in[i];
    const double now = sign * p.*kAxis - limit;
    if ((before > 0) != (now > 0)) {
      const double t = before / (before - now);
      ClipPoint cut{previous->x + t * (p.x - previous->x), previous->y + t * (p.y - previous->y),
                    previous->z + t * (p.z - previous->z), 0, 0};
      const uint32_t low = std::min(previous->edge, side), high = std::max(previous->edge, side);
      cut.id = 4 + 8 * low + high;
      cut.edge = now > 0 ? side : previous->edge;
      out[kept++] = cut;
    }
    if (now <= 0) out[kept++] = p;
    previous = &p;
    before = now;
  }
  return kept;
}

struct FaceContact {
  const PairQuery& query;
  const BoxPair& pair;
  const Mat3 &turnA, &turnB;

  // Appends the contacts of the incident face with face `axis` of the reference box; returns the smallest
  // separation among them.
  template <bool kOnB>
  double operator()(int w) const {
    const double* h = kOnB ? pair.hb : pair.ha;
    const double* g = kOnB ? pair.ha : pair.hb;
    const auto axisOf = [&](int row, int column) {
      return kOnB ? pair.c[column][row] : pair.c[row][column];  // reference axis . incident axis
    };
    double centre[3];
    for (int k = 0; k < 3; ++k) centre[k] = kOnB ? -pair.e[k] : pair.d[k];
    const double sign = centre[w] < 0 ? -1 : 1;

    int j = 0;
    double most = std::abs(axisOf(w, 0));
    for (int k = 1; k < 3; ++k)
      if (const double m = std::abs(axisOf(w, k)); m > most) {
        most = m;
        j = k;
      }
    const double incidentSign = sign * axisOf(w, j) > 0 ? -1 : 1;
    const int u = w == 2 ? 0 : w + 1, v = w == 0 ? 2 : w - 1, j1 = j == 2 ? 0 : j + 1,
              j2 = j == 0 ? 2 : j - 1;
    const int frame[3] = {u, v, w};
    double at[3], e1[3], e2[3];
    for (int k = 0; k < 3; ++k) {
      at[k] = centre[frame[k]] + incidentSign * g[j] * axisOf(frame[k], j);
      e1[k] = g[j1] * axisOf(frame[k], j1);
      e2[k] = g[j2] * axisOf(frame[k], j2);
    }
    ClipPoint buffers[2][12];
    ClipPoint* points = buffers[0];
    constexpr double kSigns[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (uint32_t i = 0; i < 4; ++i) {
      const double s = kSigns[i][0], t = kSigns[i][1];
      points[i] = {at[0] + s * e1[0] + t * e2[0], at[1] + s * e1[1] + t * e2[1],
                   at[2] + s * e1[2] + t * e2[2], i, i};
    }
    int count = 4;
    const double reachX = std::abs(e1[0]) + std::abs(e2[0]), reachY = std::abs(e1[1]) + std::abs(e2[1]);
    ClipPoint* spare = buffers[1];
    const auto swapAfter = [&](int kept) {
      count = kept;
      std::swap(points, spare);
    };
    if (at[0] + reachX > h[u]) swapAfter(clip<&ClipPoint::x>(points, count, 1, h[u], 4, spare));
    if (at[1] + reachY > h[v] && count > 0) swapAfter(clip<&ClipPoint::y>(points, count, 1, h[v], 5, spare));
    if (reachX - at[0] > h[u] && count > 0) swapAfter(clip<&ClipPoint::x>(points, count, -1, h[u], 6, spare));
    if (reachY - at[1] > h[v] && count > 0) swapAfter(clip<&ClipPoint::y>(points, count, -1, h[v], 7, spare));

    int near = 0;
    double least = Box3::kInfinity;
    FlatPoint flat[12];
    for (int i = 0; i < count; ++i) {
      const double height = sign * points[i].z - h[w];
      if (height >= query.margin) continue;
      least = std::min(least, height);
      flat[near] = {points[i].x, points[i].y, height};
      points[near++] = points[i];
    }
    uint32_t chosen[4] = {0, 1, 2, 3};
    if (near > 4) {
      chooseFour({flat, size_t(near)}, chosen, kLevelFaces);
      near = 4;
    }
    const Mat3& turn = kOnB ? turnB : turnA;
    const Vec3& origin = kOnB ? query.poseB.position : query.poseA.position;
    const Vec3 axisU = turn.col(u), axisV = turn.col(v), axisW = turn.col(w);
    const Vec3 normal = (kOnB ? -sign : sign) * axisW;
    const uint32_t face = 2 * uint32_t(w) + (sign > 0), incident = 2 * uint32_t(j) + (incidentSign > 0);
    const uint32_t base = (kOnB ? 1u << 20 : 0u) | face << 16 | incident << 12;
    for (int i = 0; i < near; ++i) {
      const ClipPoint& p = points[chosen[i]];
      const double height = flat[chosen[i]].height;
      Contact& contact = query.out.emplace_back();
      contact.point = origin + axisU * p.x + axisV * p.y + axisW * (p.z - 0.5 * sign * height);
      contact.normal = normal;
      contact.separation = height;
      contact.id = base | p.id;
    }
    return least;
  }
};

Contact pointContact(const Vec3& onA, const Vec3& onB, const Vec3& normal, uint32_t id) {
  return {0.5 * (onA + onB), normal, (onB - onA).dot(normal), id};
}

// Of the closest corners or edges of boxes that are apart.
void closestContact(const PairQuery& q, const Mat3& turnA, const BoxPair& pair) {
  Mat3 turn;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) turn(i, j) = pair.c[i][j];
  const CoreDistance d =
      distanceOfCores(coreOf(q.a), coreOf(q.b), turn, Vec3(pair.d[0], pair.d[1], pair.d[2]), q.margin);
  if (!(d.distance > 0) || d.distance >= q.margin) return;
  const Vec3 normal = turnA * ((d.onB - d.onA) / d.distance);
  q.out.push_back(
      pointContact(q.poseA.position + turnA * d.onA, q.poseA.position + turnA * d.onB, normal, 1u << 22));
}

// The corner that is deepest below a face of the other box.
void cornerContact(const PairQuery& q, const Mat3& turnA, const Mat3& turnB, uint32_t face,
                   double separation) {
  const bool onB = face >= kFaceB;
  Vec3 normal = onB ? turnB.col(int(face - kFaceB)) : turnA.col(int(face - kFaceA));
  if (normal.dot(q.poseB.position - q.poseA.position) < 0) normal = -normal;
  const Mat3& turn = onB ? turnA : turnB;
  const Shape& other = onB ? q.a : q.b;
  const Vec3 towards = onB ? normal : Vec3(-normal);
  const Vec3 corner =
      (onB ? q.poseA : q.poseB).position + turn * coreOf(other).support(turn.transpose() * towards);
  q.out.push_back({corner + 0.5 * separation * towards, normal, separation, 1u << 23 | face});
}

// Two edges that cross. False where the closest points of their lines lie beyond their ends.
bool edgeContact(const PairQuery& q, const Mat3& turnA, const Mat3& turnB, const BoxPair& pair, int i,
                 int j) {
  Vec3 normal = turnA.col(i).cross(turnB.col(j)).normalized();
  const Vec3 between = q.poseB.position - q.poseA.position;
  if (normal.dot(between) < 0) normal = -normal;
  Vec3 onA = q.poseA.position, onB = q.poseB.position;
  uint32_t signs = 0;
  for (int k = 0; k < 3; ++k) {
    if (k != i) {
      const bool up = normal.dot(turnA.col(k)) > 0;
      onA += turnA.col(k) * (up ? pair.ha[k] : -pair.ha[k]);
      signs |= uint32_t(up) << k;
    }
    if (k != j) {
      const bool up = normal.dot(turnB.col(k)) < 0;
      onB += turnB.col(k) * (up ? pair.hb[k] : -pair.hb[k]);
      signs |= uint32_t(up) << (3 + k);
    }
  }
  const Vec3 a = turnA.col(i), b = turnB.col(j), apart = onB - onA;
  const double ab = pair.c[i][j], below = 1 - ab * ab;
  const double s = (apart.dot(a) - ab * apart.dot(b)) / below, t = (ab * apart.dot(a) - apart.dot(b)) / below;
  const bool inside = std::abs(s) <= pair.ha[i] && std::abs(t) <= pair.hb[j];
  const Contact contact = pointContact(onA + a * std::clamp(s, -pair.ha[i], pair.ha[i]),
                                       onB + b * std::clamp(t, -pair.hb[j], pair.hb[j]), normal,
                                       1u << 21 | uint32_t(3 * i + j) << 8 | signs);
  if (!inside && contact.separation > 0) return false;
  if (contact.separation < q.margin) q.out.push_back(contact);
  return true;
}

}  // namespace

void contactBoxBox(const PairQuery& q) {
  const Mat3 turnA = q.poseA.rotation.toRotationMatrix(), turnB = q.poseB.rotation.toRotationMatrix();
  const Vec3 between = q.poseB.position - q.poseA.position;
  BoxPair pair;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      pair.c[i][j] = turnA(0, i) * turnB(0, j) + turnA(1, i) * turnB(1, j) + turnA(2, i) * turnB(2, j);
      pair.abs[i][j] = std::abs(pair.c[i][j]);
    }
    pair.d[i] = turnA(0, i) * between.x() + turnA(1, i) * between.y() + turnA(2, i) * between.z();
    pair.e[i] = turnB(0, i) * between.x() + turnB(1, i) * between.y() + turnB(2, i) * between.z();
    pair.ha[i] = q.headA.half[i];
    pair.hb[i] = q.headB.half[i];
  }
  const double margin = q.margin;
  const uint32_t last = q.memory.feature < kAxes ? q.memory.feature : 0;
  if (last != 0 && pair.separation(last) >= margin) return;

  double bestFace = -Box3::kInfinity;
  uint32_t face = 0;
  double seen[7];
  for (int i = 0; i < 3; ++i) {
    const double s = seen[kFaceA + uint32_t(i)] = pair.faceA(i);
    if (s > bestFace) {
      bestFace = s;
      face = kFaceA + uint32_t(i);
    }
  }
  for (int j = 0; j < 3; ++j) {
    const double s = seen[kFaceB + uint32_t(j)] = pair.faceB(j);
    if (s > bestFace) {
      bestFace = s;
      face = kFaceB + uint32_t(j);
    }
  }
  if (bestFace >= margin) {
    q.memory.feature = face;
    return;
  }
  const double smallest = std::min(q.headA.inner, q.headB.inner);
  double bestEdge = -Box3::kInfinity;
  uint32_t edge = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double s = pair.edges(i, j), length = pair.edgeLength(i, j);
      if (s <= bestEdge * length || pair.parallel(i, j)) continue;
      bestEdge = s / length;
      edge = kEdges + uint32_t(3 * i + j);
      if (bestEdge >= margin) {
        q.memory.feature = edge;
        return;
      }
    }
  const int edgeA = int(edge - kEdges) / 3, edgeB = int(edge - kEdges) % 3;

  if (edge != 0 && bestEdge > bestFace + kEdgeBias * smallest) {
    q.memory.feature = edge;
    if (!edgeContact(q, turnA, turnB, pair, edgeA, edgeB)) closestContact(q, turnA, pair);
    return;
  }
  if (last != 0 && last < kEdges && seen[last] > bestFace - kKeepBias * smallest &&
      (bestFace <= 0 || seen[last] > 0)) {
    face = last;
    bestFace = seen[last];
  }
  q.memory.feature = face;
  const FaceContact contacts{q, pair, turnA, turnB};
  const double least = face < kFaceB ? contacts.operator()<false>(int(face - kFaceA))
                                     : contacts.operator()<true>(int(face - kFaceB));
  if (bestFace > 0) {
    // Apart, and what is nearest lies beside the face: a corner or an edge.
    if (least > bestFace + 0.1 * margin) closestContact(q, turnA, pair);
  } else if (least > bestFace + kKeepBias * smallest) {
    // They overlap, and the deepest corner is none of the incident face's, or not above the reference face:
    // then two edges cross at nearly the same depth.
    if (edge != 0 && bestEdge > bestFace)
      edgeContact(q, turnA, turnB, pair, edgeA, edgeB);
    else
      cornerContact(q, turnA, turnB, face, bestFace);
  }
}

}  // namespace sunder::rigid
