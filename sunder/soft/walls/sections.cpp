#include "sunder/soft/walls/sections.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace sunder::soft {

namespace {

using geometry::kTetFaces;

constexpr double kSamePlace = 1e-9;  // of an edge

// An end of a contour on the outline of its face.
struct OutlineCrossing {
  int edge = 0;         // from corner `edge` of the face to the next
  double along = 0;     // 0 to 1
  bool enters = false;  // the wall begins behind it: the last point of a contour
  uint32_t chain = 0;
};

struct Outline {
  std::vector<OutlineCrossing> crossings;  // counter-clockwise from corner 0
  std::optional<bool> solid;               // at corner 0
  bool crossed = false;
};

OutlineCrossing crossingAt(const TetContours& tet, uint32_t point, int face) {
  const ContourPoint& p = tet.points[point];
  const auto& f = kTetFaces[face];
  OutlineCrossing c;
  for (int e = 0; e < 3; ++e) {
    if ((p.faces >> f[(e + 2) % 3] & 1) == 0) continue;
    // By the same weight from both faces of the edge.
    const int from = f[e], to = f[(e + 1) % 3];
    c.edge = e;
    c.along = from < to ? p.weights[to] : 1 - p.weights[from];
    break;
  }
  return c;
}

bool before(const OutlineCrossing& a, const OutlineCrossing& b) {
  if (a.edge != b.edge) return a.edge < b.edge;
  return a.along < b.along;
}

// Ends of the groups of crossings at the same place.
size_t groupEnd(std::span<const OutlineCrossing> crossings, size_t i) {
  size_t end = i + 1;
  while (end < crossings.size() && crossings[end].edge == crossings[i].edge &&
         crossings[end].along - crossings[end - 1].along <= kSamePlace)
    ++end;
  return end;
}

Outline outlineOf(const TetContours& tet, int face) {
  Outline outline;
  const FaceContour& contour = tet.faces[face];
  for (size_t c = 0; c < contour.open.size(); ++c) {
    for (const bool enters : {false, true}) {
      OutlineCrossing x = crossingAt(tet, enters ? contour.open[c].back() : contour.open[c].front(), face);
      x.enters = enters;
      x.chain = static_cast<uint32_t>(c);
      outline.crossings.push_back(x);
    }
  }
  std::stable_sort(outline.crossings.begin(), outline.crossings.end(), before);
  for (size_t i = 0; i < outline.crossings.size() && !outline.solid;) {
    const size_t end = groupEnd(outline.crossings, i);
    int net = 0;
    for (; i < end; ++i) net += outline.crossings[i].enters ? 1 : -1;
    if (net != 0) outline.solid = net < 0;
  }
  if (!outline.solid && !contour.loops.empty()) {
    double share = 0;
    for (const std::vector<uint32_t>& loop : contour.loops) share += shareOfFace(tet, loop, face);
    for (const std::vector<uint32_t>& chain : contour.open) share += shareOfFace(tet, chain, face);
    if (std::abs(share) > kSamePlace) outline.solid = share < 0;
  }
  return outline;
}

// Crossings at the same place in an order in which they alternate.
void alternate(Outline& outline) {
  bool solid = *outline.solid;
  std::vector<OutlineCrossing> ordered, enter, leave;
  for (size_t i = 0; i < outline.crossings.size();) {
    const size_t end = groupEnd(outline.crossings, i);
    enter.clear();
    leave.clear();
    for (; i < end; ++i) (outline.crossings[i].enters ? enter : leave).push_back(outline.crossings[i]);
    size_t e = 0, l = 0;
    while (e < enter.size() || l < leave.size()) {
      const bool wishEnter = !solid;
      const bool canEnter = e < enter.size(), canLeave = l < leave.size();
      const bool take = wishEnter ? canEnter : !canLeave;
      if (take != wishEnter) outline.crossed = true;
      ordered.push_back(take ? enter[e++] : leave[l++]);
      solid = take;
    }
  }
  if (solid != *outline.solid && !ordered.empty()) outline.crossed = true;
  outline.crossings = std::move(ordered);
}

bool solidAt(const Outline& outline, int edge, double along) {
  bool solid = *outline.solid;
  for (const OutlineCrossing& c : outline.crossings) {
    if (c.edge > edge || (c.edge == edge && c.along > along)) break;
    solid = c.enters;
  }
  return solid;
}

// Takes what is solid from a face beside this one: at the middle of the longest stretch of a common edge that
// no contour of either reaches.
void learn(std::array<Outline, 4>& outlines, int face) {
  double longest = 0;
  for (int e = 0; e < 3; ++e) {
    const int other = kTetFaces[face][(e + 2) % 3];
    if (!outlines[other].solid) continue;
    const int from = kTetFaces[face][e];
    int there = 0;  // the edge runs the other way in the other face and ends in `from`
    while (kTetFaces[other][(there + 1) % 3] != from) ++there;
    std::vector<double> stops{0, 1};
    for (const OutlineCrossing& c : outlines[face].crossings)
      if (c.edge == e) stops.push_back(c.along);
    for (const OutlineCrossing& c : outlines[other].crossings)
      if (c.edge == there) stops.push_back(1 - c.along);
    std::sort(stops.begin(), stops.end());
    for (size_t i = 0; i + 1 < stops.size(); ++i) {
      if (stops[i + 1] - stops[i] <= longest) continue;
      longest = stops[i + 1] - stops[i];
      outlines[face].solid = solidAt(outlines[other], there, 1 - 0.5 * (stops[i] + stops[i + 1]));
    }
  }
}

// A loop without points that repeat and without ways there and back.
std::vector<uint32_t> cleaned(const TetContours& tet, const std::vector<uint32_t>& loop) {
  const auto same = [&](uint32_t a, uint32_t b) {
    return a == b || tet.points[a].weights == tet.points[b].weights;
  };
  std::vector<uint32_t> kept;
  for (const uint32_t p : loop) {
    if (!kept.empty() && same(kept.back(), p)) continue;
    if (kept.size() > 1 && same(kept[kept.size() - 2], p)) {
      kept.pop_back();
      continue;
    }
    kept.push_back(p);
  }
  size_t first = 0;
  while (kept.size() - first > 1) {
    if (same(kept.back(), kept[first])) {
      kept.pop_back();
    } else if (kept.size() - first > 2 && same(kept[kept.size() - 2], kept[first])) {
      kept.pop_back();
      kept.pop_back();
    } else if (kept.size() - first > 2 && same(kept.back(), kept[first + 1])) {
      ++first;
      kept.pop_back();
    } else {
      break;
    }
  }
  kept.erase(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(first));
  if (kept.size() < 3) kept.clear();
  return kept;
}

// Joins the contours along the outline.
FaceSection join(const TetContours& tet, const Outline& outline, int face) {
  const FaceContour& contour = tet.faces[face];
  const std::vector<OutlineCrossing>& crossings = outline.crossings;
  FaceSection section;
  section.crossed = outline.crossed;
  std::vector<std::vector<uint32_t>> loops = contour.loops;
  if (crossings.empty() && *outline.solid) {
    const auto& f = kTetFaces[face];
    loops.insert(loops.begin(), {f[0], f[1], f[2]});
  }
  // From each crossing into the wall, the next one out of it.
  const size_t n = crossings.size();
  std::vector<size_t> partner(n, n), enterOf(contour.open.size(), n);
  std::vector<uint8_t> taken(n, 0);
  for (size_t i = 0; i < n; ++i) {
    if (!crossings[i].enters) continue;
    enterOf[crossings[i].chain] = i;
    for (size_t step = 1; step <= n; ++step) {
      const size_t j = (i + step) % n;
      if (crossings[j].enters || taken[j]) continue;
      partner[i] = j;
      taken[j] = 1;
      break;
    }
  }
  std::vector<uint8_t> used(contour.open.size(), 0);
  for (size_t first = 0; first < contour.open.size(); ++first) {
    if (used[first]) continue;
    std::vector<uint32_t> loop;
    for (size_t c = first; !used[c];) {
      used[c] = 1;
      loop.insert(loop.end(), contour.open[c].begin(), contour.open[c].end());
      const size_t i = enterOf[c], j = partner[i];
      const int corners = crossings[j].edge - crossings[i].edge + (j < i ? 3 : 0);
      for (int k = 1; k <= corners; ++k) loop.push_back(kTetFaces[face][(crossings[i].edge + k) % 3]);
      c = crossings[j].chain;
    }
    loops.push_back(std::move(loop));
  }
  for (const std::vector<uint32_t>& loop : loops) {
    std::vector<uint32_t> kept = cleaned(tet, loop);
    if (kept.empty()) continue;
    section.share += shareOfFace(tet, kept, face);
    section.loops.push_back(std::move(kept));
  }
  return section;
}

}  // namespace

double shareOfFace(const TetContours& contours, std::span<const uint32_t> loop, int face) {
  double sum = 0;
  if (loop.size() < 3) return sum;
  const Vec2 origin = inFacePlane(contours.points[loop[0]].weights, face);
  Vec2 previous = inFacePlane(contours.points[loop[1]].weights, face) - origin;
  for (size_t i = 2; i < loop.size(); ++i) {
    const Vec2 current = inFacePlane(contours.points[loop[i]].weights, face) - origin;
    sum += previous.x() * current.y() - previous.y() * current.x();
    previous = current;
  }
  return sum;
}

std::array<FaceSection, 4> sectionsOf(const TetContours& contours,
                                      const std::function<bool()>& middleInside) {
  std::array<Outline, 4> outlines;
  int known = 0;
  for (int k = 0; k < 4; ++k) {
    outlines[k] = outlineOf(contours, k);
    if (!outlines[k].solid) continue;
    alternate(outlines[k]);
    ++known;
  }
  if (known == 0) {
    // Closed parts inside, which are bodies or hollows; or next to nothing.
    const bool closed = contours.surface && std::abs(contours.volume) > kSamePlace;
    outlines[0].solid = closed ? contours.volume < 0 : middleInside();
    alternate(outlines[0]);
  }
  for (int k = 0; k < 4; ++k) {  // every face has an edge in common with every other
    if (outlines[k].solid) continue;
    learn(outlines, k);
    alternate(outlines[k]);
  }
  std::array<FaceSection, 4> sections;
  for (int k = 0; k < 4; ++k) sections[k] = join(contours, outlines[k], k);
  return sections;
}

}  // namespace sunder::soft
