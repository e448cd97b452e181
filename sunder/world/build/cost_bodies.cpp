// What rigid bodies take: themselves, pairs that overlap at the start, and their recording.
#include "sunder/base/json_pointer.h"
#include "sunder/base/text.h"
#include "sunder/rigid/solver/broad_phase.h"
#include "sunder/spatial/pairs/overlap_pairs.h"
#include "sunder/world/build/cost_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/core.h>

namespace sunder::world {

namespace {

using rigid::BodyKind;

// A body that overlaps more than so many others, on average, is in one place with them: nobody wants that.
constexpr double kMostOverlaps = 64;
constexpr double kFewPairs = 20'000;
constexpr double kStepSecondsLow = 2e-7, kStepSecondsHigh = 1e-4;  // a dynamic body, asleep or in a pile
constexpr double kStepSecondsAPair = 3e-6;
constexpr double kStepSecondsABox = 2e-6;  // any body, at most: its place in the trees
constexpr double kFrameBytes = 28;         // a dynamic body
constexpr double kIndexBytes = 330;        // a frame: its place in the recording, statistics
constexpr double kPairsWorthCounting = 1e9;
constexpr double kBytesAJoint = 1500;  // in the scene and the simulation

struct Boxes {
  std::vector<Box3f> moving, still;
};

// The box of a body, smaller where the body does not fill it: rods that lie across have large boxes and touch
// few others.
Box3f filledBox(const BodySpec& body, const ShapeSize& size) {
  Box3 box = startBox(body, size);
  const double part = std::cbrt(std::clamp(size.volume / box.extent().prod(), 1e-6, 1.0));
  const Vec3 centre = box.center(), half = 0.5 * part * box.extent();
  return rigid::outwards({centre - half, centre + half});
}

// Overlaps of boxes that can be contacts.
uint64_t pairsOf(const Boxes& boxes, uint64_t most) {
  spatial::OiTreeBuilder builder;
  spatial::OiTree moving, still;
  if (boxes.moving.empty()) return 0;
  builder.build(moving, boxes.moving);
  std::vector<spatial::TreePair> jobs{{&moving, &moving}};
  if (!boxes.still.empty()) {
    builder.build(still, boxes.still);
    jobs.push_back({&moving, &still});
  }
  return spatial::countOverlapPairs(jobs, most);
}

std::string vectorText(const Vec3& v) { return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", v.x(), v.y(), v.z()); }

double numberAt(const Json& json, std::string_view key, double otherwise) {
  const Json* const value = json.find(key);
  return value && value->isNumber() ? value->number() : otherwise;
}

// What keeps the bodies of an array apart: the spacing, or where that has no room to grow the count.
std::vector<CostLever> spacingLever(const Scene& scene, const std::string& pointer, const Vec3& size,
                                    double bytes) {
  const Json* const found = findAt(scene.document.json(), pointer);
  if (!found) return {};
  const Json& array = *found;
  const double apart = size.maxCoeff();
  std::string key, better;
  const auto countTo = [&](double few) -> std::vector<CostLever> {
    const std::string pattern = array.contains("fill") ? "fill" : "spiral";
    const double now = numberAt(array.at(pattern), "count", 1);
    return {{pointer + "/" + pattern + "/count",
             [=](double s) { return fmt::format("{:.0f}", s == 1 ? now : few); },
             [=](double s) { return s == 1 ? bytes : std::min(bytes, rigid::kBytesAPair * kFewPairs); }}};
  };
  if (!(apart > 0)) {
    // Bodies of several entries that share a place: one of them has to move.
  } else if (array.contains("grid")) {
    key = "/grid/spacing";
    better = vectorText(size);
  } else if (array.contains("stack")) {
    key = "/stack/height";
    better = twoDigitsUp(apart);
  } else if (array.contains("ring")) {
    key = "/ring/radius";
    better = twoDigitsUp(apart * numberAt(array.at("ring"), "count", 1) / (2 * kPi));
  } else if (array.contains("spiral")) {
    key = "/spiral/spacing";
    better = twoDigitsUp(apart);
    // Turns that lie on each other: so few bodies that they do not come round.
    const auto number = [&](const char* name, double otherwise) {
      return numberAt(array.at("spiral"), name, otherwise);
    };
    const double turn = 2 * kPi * number("radius", apart);
    const double beside = std::max(std::abs(number("growth", 0)), std::abs(number("rise", 0)));
    const double count = number("count", 1), spacing = number("spacing", apart);
    if (beside < apart && count * apart > 0.9 * turn)
      return countTo(spacing < apart ? 1 : std::max(1.0, std::floor(0.9 * turn / spacing)));
  } else if (array.contains("fill")) {
    // The box has room at a larger spacing, or for one body.
    const Vec3 box = boxOfFill(SceneNode(scene.document, array, pointer));
    const double now = numberAt(array.at("fill"), "count", 1);
    const Vec3 cells = (box / apart).array().floor();
    if (cells.prod() < now) return countTo(1);
    key = "/fill/spacing";
    better = twoDigitsUp(apart);
    if ((box / std::stod(better)).array().floor().prod() < now) better = fmt::format("{:.6g}", apart);
  }
  if (key.empty()) {
    if (!array.contains("position")) return {{pointer, [](double) { return std::string("it"); }, {}}};
    return {{pointer + "/position", [now = array.at("position").text()](double) { return now; }, {}}};
  }
  const std::string now = findAt(array, key)->text();
  const double then = std::min(bytes, rigid::kBytesAPair * kFewPairs);
  return {{pointer + key, [=](double s) { return s == 1 ? now : better; },
           [=](double s) { return s == 1 ? bytes : then; }}};
}

}  // namespace

Box3 startBox(const rigid::Pose& pose, const ShapeSize& size) {
  if (size.bounds.empty()) return {Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)};
  const Vec3 half = pose.rotation.toRotationMatrix().cwiseAbs() * (0.5 * size.bounds.extent());
  const Vec3 centre = pose.point(size.bounds.center());
  return {centre - half, centre + half};
}

Box3 startBox(const BodySpec& body, const ShapeSize& size) { return startBox(body.pose, size); }

void addBodyCost(const Scene& scene, std::span<const ShapeSize> sizes, uint64_t memory, Cost& cost) {
  struct Group {
    Boxes boxes;
    Vec3 size = Vec3::Zero();
    double count = 0, standsFor = 1;
  };
  Boxes all;
  std::map<std::string, Group> groups;  // by the array or body that they come from
  double asked = scene.fluid ? double(scene.fluid->liquids.size()) : 0, moving = 0;
  for (const SoftBodySpec& body : scene.softBodies) asked += body.standsFor;
  for (const BodySpec& body : scene.bodies) {
    asked += body.standsFor;
    const bool moves = body.kind == BodyKind::Dynamic;
    if (moves) moving += body.standsFor;
    const ShapeSize& size = sizes[body.shape];
    if (size.bounds.empty()) continue;
    const Box3f box = filledBox(body, size);
    if (!box.lower.allFinite() || !box.upper.allFinite()) continue;  // adding it will say so
    (moves ? all.moving : all.still).push_back(box);
    Group& group = groups[body.pointer];
    group.count += body.standsFor;
    group.standsFor = body.standsFor;
    if (moves) group.boxes.moving.push_back(box);
    group.size = group.size.cwiseMax(size.bounds.extent());
  }
  cost.bodies = uint64_t(std::llround(asked));
  cost.dynamicBodies = uint64_t(std::llround(moving));
  CostItem bodies;
  bodies.count = double(cost.bodies);
  const double bytesEach = bytesABody(scene.world);
  bodies.kept = bytesEach * bodies.count;
  bodies.what = fmt::format("{} bodies", countWords(bodies.count));
  bodies.buildSeconds = 6e-6 * bodies.count;
  const auto most = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.second.count < b.second.count;
  });
  if (most != groups.end() && most->second.count > 1 && most->first.starts_with("/arrays/")) {
    const Json& array = *findAt(scene.document.json(), most->first);
    CostLever lever = countLever(SceneNode(scene.document, array, most->first), bytesEach);
    const double others = bytesEach * (bodies.count - most->second.count);
    bodies.levers.push_back(
        {lever.pointer, lever.value, [others, own = lever.bytes](double s) { return others + own(s); }});
  }
  cost.items.push_back(std::move(bodies));

  if (!scene.joints.empty()) {
    CostItem joints;
    for (const JointSpec& joint : scene.joints)
      joints.count += scene.bodies[joint.settings.b.value].standsFor;
    cost.joints = uint64_t(std::llround(joints.count));
    joints.kept = kBytesAJoint * joints.count;
    joints.what = fmt::format("{} joints", countWords(joints.count));
    joints.buildSeconds = 2e-6 * joints.count;
    cost.items.push_back(std::move(joints));
  }
  double acted = 0;
  for (const ForceSpec& force : scene.forces) {
    for (const uint32_t b : force.bodies) acted += scene.bodies[b].standsFor;
    for (const uint32_t b : force.softBodies) acted += scene.softBodies[b].standsFor;
  }
  if (acted > 0) {
    CostItem forces;
    forces.count = acted;
    forces.kept = sizeof(uint32_t) * acted;
    forces.what = fmt::format("forces on {} bodies", countWords(acted));
    cost.items.push_back(std::move(forces));
  }

  const double bytesAPair = rigid::kBytesAPair;
  const uint64_t mostPairs = uint64_t(std::min(kPairsWorthCounting, 4 * double(memory) / bytesAPair));
  cost.pairs = pairsOf(all, mostPairs);
  if (scene.sampled) {
    // What a sample of an array has among itself, every other sample of it would have as well.
    double more = 0;
    for (const auto& [pointer, group] : groups)
      if (group.standsFor > 1) more += (group.standsFor - 1) * double(pairsOf(group.boxes, mostPairs));
    cost.pairs = uint64_t(std::min(double(cost.pairs) + more, 2 * kPairsWorthCounting));
  }
  CostItem pairs;
  pairs.kind = CostItem::Kind::Pairs;
  pairs.count = double(cost.pairs);
  pairs.kept = bytesAPair * pairs.count;
  pairs.what =
      fmt::format("{}{} pairs of bodies in the same place", cost.pairs > mostPairs ? "more than " : "",
                  countWords(std::min(pairs.count, double(mostPairs))));
  cost.crowded = pairs.count > kFewPairs && pairs.count > kMostOverlaps * double(cost.dynamicBodies);
  if (cost.crowded || pairs.kept > 0.1 * double(memory)) {
    const std::string* worst = nullptr;
    uint64_t worstPairs = 0;
    for (const auto& [pointer, group] : groups) {
      const uint64_t own = pairsOf(group.boxes, mostPairs);
      if (own > worstPairs) worst = &pointer, worstPairs = own;
    }
    if (worst && double(worstPairs) > 0.5 * double(cost.pairs))
      pairs.levers = spacingLever(scene, *worst, groups[*worst].size, pairs.kept);
    // Bodies that are written one by one: the first that shares its place.
    for (const BodySpec& body : scene.bodies)
      if (pairs.levers.empty() && body.kind == BodyKind::Dynamic)
        pairs.levers = spacingLever(scene, body.pointer, Vec3::Zero(), pairs.kept);
  }
  cost.items.push_back(std::move(pairs));

  const double frames = double(scene.world.frames), steps = frames * scene.world.stepsPerFrame;
  const double work = 0.25 * scene.world.simulation.substeps;  // of the constants: with four substeps
  cost.stepSecondsLow += kStepSecondsLow * work * steps * double(cost.dynamicBodies);
  cost.stepSecondsHigh +=
      kStepSecondsABox * steps * double(cost.bodies) +
      work * steps * (kStepSecondsHigh * double(cost.dynamicBodies) + kStepSecondsAPair * double(cost.pairs));
  cost.recordingBytes += kFrameBytes * double(cost.dynamicBodies) * frames;
  CostItem index;
  index.kind = CostItem::Kind::Length;
  index.count = frames;
  index.kept = kIndexBytes * frames;
  index.what = fmt::format("the index of {} frames", countWords(frames));
  const bool asFrames = findAt(scene.document.json(), "/world/frames") != nullptr;
  const double now = asFrames ? frames : scene.world.frameTime(scene.world.frames);
  index.levers.push_back({asFrames ? "/world/frames" : "/world/duration",
                          [now, asFrames](double s) {
                            if (s == 1) return fmt::format("{:.6g}", now);
                            return asFrames ? fmt::format("{:.0f}", std::floor(now / s))
                                            : twoDigitsDown(now / s);
                          },
                          [bytes = index.kept](double s) { return bytes / s; }});
  cost.items.push_back(std::move(index));
}

}  // namespace sunder::world
