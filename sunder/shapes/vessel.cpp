#include "sunder/shapes/vessel.h"

#include "sunder/base/error.h"
#include "sunder/shapes/fields.h"
#include "sunder/shapes/lathe_core.h"
#include "sunder/shapes/profile_curve.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::shapes {

namespace {

// The outside from the axis at the bottom to the rim, and the inside from the rim's other side down to the
// axis.
struct Vessel {
  std::vector<Vec2> outer;
  std::vector<Vec2> inner;  // from the bottom up, like `outer`
  Vec2 rimDirection;        // of the wall at the rim

  void addOuter(const std::vector<CurveNode>& nodes) {
    for (const CurveNode& n : nodes)
      if (outer.empty() || outer.back() != n.point) outer.push_back(n.point);
  }
  void addInner(const std::vector<CurveNode>& nodes, double wall) {
    for (const CurveNode& n : nodes) {
      Vec2 p = n.point - wall * n.right();
      if (n.point.x() == 0) p.x() = 0;
      if (inner.empty() || (inner.back() - p).norm() > 1e-9 * wall) inner.push_back(p);
    }
  }
};

Loft turn(const char* name, const Vessel& vessel, double height, int segments, int rimSteps) {
  std::vector<Vec2> profile = vessel.outer;
  const Vec2 middle = 0.5 * (vessel.outer.back() + vessel.inner.back());
  const Vec2 half = vessel.outer.back() - middle;
  for (int k = 1; k < rimSteps; ++k) {
    const double angle = kPi * k / rimSteps;
    profile.push_back(middle + half * std::cos(angle) +
                      vessel.rimDirection * (half.norm() * std::sin(angle)));
  }
  profile.insert(profile.end(), vessel.inner.rbegin(), vessel.inner.rend());
  // How high the rim's rounding reaches depends on the lean of the wall; a stretch well below one percent
  // sets it right.
  double top = 0;
  for (const Vec2& p : profile) top = std::max(top, p.y());
  for (Vec2& p : profile) p.y() *= height / top;
  try {
    return makeLathe(profile, segments);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", name, error.message()))
        .hint("the radii, heights and wall do not go together; make the wall thinner");
  }
}

void require(bool good, const char* name, const std::string& what) {
  if (!good) throw Error(ErrorKind::Usage, fmt::format("{}: {}", name, what));
}

int share(int resolution, double part, int atLeast) {
  return std::max(atLeast, static_cast<int>(std::lround(resolution * part)));
}

// Where a curve that moves away from the axis reaches radius r.
double reach(const Bezier& curve, double r) {
  double low = 0, high = 1;
  for (int k = 0; k < 60; ++k) (curve.at(0.5 * (low + high)).x() < r ? low : high) = 0.5 * (low + high);
  return low;
}

}  // namespace

Loft loftOf(const BowlShape& s) {
  checkFields("bowl", s);
  require(s.foot < 0.8 * s.radius, "bowl",
          fmt::format("foot is {}, but must be less than 0.8 radius, {}", s.foot, 0.8 * s.radius));
  const double most = 0.15 * std::min({s.radius, s.height, 2 * s.foot});
  require(s.wall <= most, "bowl", fmt::format("wall is {}, but must not exceed {} here", s.wall, most));
  const double rise = 0.1 * s.height, top = s.height - 0.5 * s.wall, span = top - rise;
  // The bowl as if it had no foot, cut where the foot's outside meets it.
  const Bezier bowl{{Vec2(0, rise), Vec2(0.66 * s.radius, rise), Vec2(0.94 * s.radius, rise + 0.42 * span),
                     Vec2(s.radius, top)}};
  const auto [low, high] = splitBezier(bowl, reach(bowl, 0.93 * s.foot));
  const double edge = 0.4 * rise, recess = 0.5 * rise;

  ProfileCurve under(Vec2(0, recess));
  under.line({0.74 * s.foot, recess})
      .curve({0.78 * s.foot, recess}, {0.8 * s.foot, 0.4 * recess}, {0.82 * s.foot, 0});
  under.line({s.foot - edge, 0}).round({s.foot, 0}, {s.foot, edge});
  under.curve({s.foot, 0.8 * rise}, {0.94 * s.foot, 0.9 * rise}, high.p[0]);
  Vessel vessel;
  vessel.addOuter(under.sample(share(s.resolution, 0.8, 8)));
  const auto floor =
      ProfileCurve(low.p[0]).curve(low.p[1], low.p[2], low.p[3]).sample(share(s.resolution, 0.4, 2));
  const auto wall = ProfileCurve(high.p[0]).curve(high.p[1], high.p[2], high.p[3]).sample(s.resolution);
  vessel.addOuter(wall);
  vessel.addInner(floor, s.wall);
  vessel.addInner(wall, s.wall);
  vessel.rimDirection = wall.back().tangent;
  return turn("bowl", vessel, s.height, s.segments, share(s.resolution, 0.25, 2));
}

Loft loftOf(const WineGlassShape& s) {
  checkFields("wine-glass", s);
  const char* name = "wine-glass";
  require(s.stem <= 0.2 * std::min(s.radius, s.foot), name,
          fmt::format("stem is {}, but must not exceed a fifth of radius and foot, {}", s.stem,
                      0.2 * std::min(s.radius, s.foot)));
  require(s.bowlHeight <= 0.8 * s.height, name,
          fmt::format("bowlHeight is {}, but must not exceed 0.8 height, {}", s.bowlHeight, 0.8 * s.height));
  require(s.rim >= 0.4 * s.radius && s.rim <= 1.4 * s.radius, name,
          fmt::format("rim is {}, but must lie between 0.4 and 1.4 radius, {} and {}", s.rim, 0.4 * s.radius,
                      1.4 * s.radius));
  const double most = 0.12 * std::min({s.radius, s.rim, s.bowlHeight});
  require(s.wall <= most, name, fmt::format("wall is {}, but must not exceed {} here", s.wall, most));

  const double bottom = s.height - s.bowlHeight, top = s.height - 0.5 * s.wall;
  const double belly = bottom + 0.46 * s.bowlHeight, k = 0.56;
  const Bezier cup{{Vec2(0, bottom), Vec2(1.1 * k * s.radius, bottom),
                    Vec2(s.radius, belly - k * (belly - bottom)), Vec2(s.radius, belly)}};
  const auto [low, high] = splitBezier(cup, reach(cup, 0.34 * s.radius));
  const Vec2 lean = Vec2(s.rim - s.radius, 0.9 * (top - belly)).normalized();
  const double upper = top - belly;

  // Foot, stem, and the flare that runs into the cup from below.
  const double edge = std::min(0.05 * s.foot, 0.02 * bottom), stemStart = 0.2 * bottom,
               stemEnd = 0.86 * bottom;
  ProfileCurve under(Vec2(0, 0));
  under.line({s.foot - edge, 0})
      .round({s.foot, 0}, {s.foot, edge})
      .round({s.foot, 2 * edge}, {s.foot - edge, 2 * edge});
  const double slope = 0.35 * stemStart / s.foot;
  under.curve({0.5 * s.foot, 2 * edge + 0.5 * slope * s.foot}, {s.stem, 0.35 * stemStart},
              {s.stem, stemStart});
  const double waist = 0.88 * s.stem, mid = 0.5 * (stemStart + stemEnd),
               reachStem = (stemEnd - stemStart) / 5;
  under.curve({s.stem, stemStart + reachStem}, {waist, mid - reachStem}, {waist, mid});
  under.curve({waist, mid + reachStem}, {s.stem, stemEnd - reachStem}, {s.stem, stemEnd});
  const Vec2 join = high.p[0], joinDirection = (high.p[1] - high.p[0]).normalized();
  const double pull = 0.55 * (join.x() - s.stem);
  under.curve({s.stem, stemEnd + 0.5 * (join.y() - stemEnd)}, join - pull * joinDirection, join);

  ProfileCurve side(high.p[0]);
  side.curve(high.p[1], high.p[2], high.p[3]);
  side.curve({s.radius, belly + 0.42 * upper}, Vec2(s.rim, top) - 0.42 * upper * lean, {s.rim, top});
  const auto floor =
      ProfileCurve(low.p[0]).curve(low.p[1], low.p[2], low.p[3]).sample(share(s.resolution, 0.3, 2));
  const auto wall = side.sample(s.resolution);
  Vessel vessel;
  vessel.addOuter(under.sample(share(s.resolution, 1.4, 12)));
  vessel.addOuter(wall);
  vessel.addInner(floor, s.wall);
  vessel.addInner(wall, s.wall);
  vessel.rimDirection = wall.back().tangent;
  return turn(name, vessel, s.height, s.segments, share(s.resolution, 0.2, 2));
}

Loft loftOf(const VaseShape& s) {
  checkFields("vase", s);
  const double narrowest = std::min({s.belly, s.base, s.neck, s.lip});
  const double most = std::min(0.3 * narrowest, 0.05 * s.height);
  require(s.wall <= most, "vase", fmt::format("wall is {}, but must not exceed {} here", s.wall, most));
  require(s.lip - s.neck <= 0.5 * s.height, "vase",
          fmt::format("lip is {}, but must not exceed neck + height/2, {}", s.lip, s.neck + 0.5 * s.height));
  const double top = s.height - 0.4 * s.wall, bellyY = 0.42 * s.height, neckY = 0.83 * s.height;
  const double fillet = 2 * s.wall;
  const Vec2 foot(s.base, fillet);
  const Vec2 rise = Vec2(1.1 * (s.belly - s.base), 0.75 * (bellyY - fillet)).normalized();
  const double lower = bellyY - fillet, upper = neckY - bellyY, flare = top - neckY;
  const double out = s.lip - s.neck;
  ProfileCurve curve(Vec2(0, 0));
  curve.line({s.base - fillet, 0}).curve({s.base - 0.45 * fillet, 0}, foot - 0.5 * fillet * rise, foot);
  curve.curve(foot + 0.45 * lower * rise, {s.belly, bellyY - 0.42 * lower}, {s.belly, bellyY});
  curve.curve({s.belly, bellyY + 0.5 * upper}, {s.neck, neckY - 0.5 * upper}, {s.neck, neckY});
  curve.curve({s.neck, neckY + 0.45 * flare}, {s.lip - 0.5 * out, top - 0.18 * flare}, {s.lip, top});
  const auto wall = curve.sample(s.resolution);
  Vessel vessel;
  vessel.addOuter(wall);
  vessel.addInner(wall, s.wall);
  vessel.rimDirection = wall.back().tangent;
  return turn("vase", vessel, s.height, s.segments, share(s.resolution, 0.15, 2));
}

Loft loftOf(const BottleShape& s) {
  checkFields("bottle", s);
  require(s.neck <= 0.9 * s.radius, "bottle",
          fmt::format("neck is {}, but must not exceed 0.9 radius, {}", s.neck, 0.9 * s.radius));
  const double most = std::min(0.35 * s.neck, 0.02 * s.height);
  require(s.wall <= most, "bottle", fmt::format("wall is {}, but must not exceed {} here", s.wall, most));
  const double fillet = std::max(2 * s.wall, 0.16 * s.radius);
  const double shoulder = s.shoulder * s.height, lipY = 0.925 * s.height;
  require(shoulder > fillet, "bottle", "the shoulder begins below the rounding of the base; raise it");
  const double neckY = shoulder + 0.66 * (lipY - shoulder), bend = neckY - shoulder;
  ProfileCurve body(Vec2(0, 0));
  body.line({s.radius - fillet, 0}).round({s.radius, 0}, {s.radius, fillet}).line({s.radius, shoulder});
  body.curve({s.radius, shoulder + 0.55 * bend}, {s.neck, neckY - 0.55 * bend}, {s.neck, neckY})
      .line({s.neck, lipY});
  // A collar below the mouth, outside only; the inside goes straight up.
  const double top = s.height - 0.5 * s.wall, collar = 0.2 * s.neck, part = (top - lipY) / 10;
  const double mouth = s.neck + 0.3 * collar;
  ProfileCurve lip(Vec2(s.neck, lipY));
  lip.curve({s.neck, lipY + 0.6 * part}, {s.neck + collar, lipY + 0.4 * part},
            {s.neck + collar, lipY + 1.6 * part});
  lip.line({s.neck + collar, lipY + 4.2 * part});
  lip.curve({s.neck + collar, lipY + 5.4 * part}, {mouth, lipY + 4.8 * part}, {mouth, lipY + 6.4 * part})
      .line({mouth, top});
  const auto wall = body.sample(s.resolution);
  Vessel vessel;
  vessel.addOuter(wall);
  vessel.addOuter(lip.sample(share(s.resolution, 0.3, 6)));
  vessel.addInner(wall, s.wall);
  vessel.addInner(ProfileCurve(Vec2(s.neck, lipY)).line({s.neck, top}).sample(share(s.resolution, 0.1, 1)),
                  s.wall);
  vessel.rimDirection = {0, 1};
  return turn("bottle", vessel, s.height, s.segments, share(s.resolution, 0.15, 2));
}

geometry::TriMesh makeBowl(const BowlShape& s) { return loftUnchecked(loftOf(s)); }
geometry::TriMesh makeWineGlass(const WineGlassShape& s) { return loftUnchecked(loftOf(s)); }
geometry::TriMesh makeVase(const VaseShape& s) { return loftUnchecked(loftOf(s)); }
geometry::TriMesh makeBottle(const BottleShape& s) { return loftUnchecked(loftOf(s)); }

void describe(ShapeFields& fields, BowlShape& s) {
  fields.length("radius", s.radius, "radius of the rim");
  fields.length("height", s.height, "height");
  fields.length("foot", s.foot, "radius of the foot");
  fields.length("wall", s.wall, "thickness of the wall");
  fields.integer("segments", s.segments, 3, kMostSegments, "segments around the axis");
  fields.integer("resolution", s.resolution, 4, kMostSegments, "segments along the wall");
}

void describe(ShapeFields& fields, WineGlassShape& s) {
  fields.length("height", s.height, "height");
  fields.length("bowlHeight", s.bowlHeight, "height of the cup on the stem");
  fields.length("radius", s.radius, "radius where the cup is widest");
  fields.length("rim", s.rim, "radius of the rim");
  fields.length("stem", s.stem, "radius of the stem");
  fields.length("foot", s.foot, "radius of the foot");
  fields.length("wall", s.wall, "thickness of the cup's wall");
  fields.integer("segments", s.segments, 3, kMostSegments, "segments around the axis");
  fields.integer("resolution", s.resolution, 4, kMostSegments, "segments along the wall");
}

void describe(ShapeFields& fields, VaseShape& s) {
  fields.length("height", s.height, "height");
  fields.length("belly", s.belly, "radius where it is widest");
  fields.length("base", s.base, "radius of the base");
  fields.length("neck", s.neck, "radius of the neck");
  fields.length("lip", s.lip, "radius of the mouth");
  fields.length("wall", s.wall, "thickness of the wall");
  fields.integer("segments", s.segments, 3, kMostSegments, "segments around the axis");
  fields.integer("resolution", s.resolution, 8, kMostSegments, "segments along the wall");
}

void describe(ShapeFields& fields, BottleShape& s) {
  fields.length("height", s.height, "height");
  fields.length("radius", s.radius, "radius of the body");
  fields.length("neck", s.neck, "radius of the neck");
  fields.number("shoulder", s.shoulder, 0.1, 0.85, "", "where the shoulder begins, a fraction of the height");
  fields.length("wall", s.wall, "thickness of the wall");
  fields.integer("segments", s.segments, 3, kMostSegments, "segments around the axis");
  fields.integer("resolution", s.resolution, 8, kMostSegments, "segments along the wall");
}

}  // namespace sunder::shapes
