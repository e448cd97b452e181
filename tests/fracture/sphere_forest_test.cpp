#include "sunder/fracture/pieces/sphere_forest.h"

#include "sunder/base/error.h"
#include "sunder/rigid/contact/contact.h"

#include "fracture/fragment_cases.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

namespace sunder::fracture {
namespace {

// Every point below an occurrence within its radius, each point once, links that agree with each other.
void expectSound(const sdf::SphereTree& tree) {
  std::vector<uint32_t> count(tree.pointCount(), 0);
  size_t reached = 0;
  const std::function<std::set<uint32_t>(uint32_t)> below = [&](uint32_t o) {
    ++reached;
    std::set<uint32_t> points{tree.rank[o]};
    for (uint32_t c = tree.firstChild[o]; c != kNoIndex; c = tree.nextSibling[c]) {
      EXPECT_EQ(tree.parent[c], o);
      points.merge(below(c));
    }
    for (const uint32_t p : points)
      EXPECT_LE((tree.position[p] - tree.position[tree.rank[o]]).norm(),
                double(tree.radius[o]) * (1 + 1e-12));
    return points;
  };
  for (const uint32_t root : tree.roots) {
    EXPECT_EQ(tree.parent[root], kNoIndex);
    for (const uint32_t p : below(root)) ++count[p];
  }
  EXPECT_EQ(reached, tree.occurrenceCount());
  for (const uint32_t c : count) EXPECT_EQ(c, 1u);
  EXPECT_LE(tree.roots.size(), kMostRoots);
}

TEST(SphereForest, RadiiHoldAfterEveryFracture) {
  Broken broken(cubeMesh(5));
  RandomStream random(4);
  std::vector<char> seen(broken.rest->mesh().positions.size(), 0);
  expectSound(broken.pieces[0].fragment.shape->points());
  for (int round = 0; round < 6; ++round) {
    const size_t i = random.below(uint32_t(broken.pieces.size()));
    broken.crack(i, planeCrack(broken.pieces[i].fragment.shape->mass().centre, random.unitVector()));
    for (const Piece& piece : broken.pieces) expectSound(piece.fragment.shape->points());
  }
  // Vertices: each is a point of exactly one piece, the one that has it.
  for (const Piece& piece : broken.pieces) {
    const Fragment& f = piece.fragment;
    const sdf::SphereTree& tree = f.shape->points();
    ASSERT_EQ(f.origins.size(), tree.pointCount());
    ASSERT_EQ(f.shape->pointNormals().size(), tree.pointCount());
    const sdf::MeshField exact = exactField(piece);
    for (size_t r = 0; r < tree.pointCount(); ++r) {
      const PointOrigin& origin = f.origins[r];
      if (origin.vertex != kNoIndex) {
        const uint32_t root = f.field->rootVertices()[origin.vertex];
        EXPECT_EQ(tree.position[r], broken.rest->mesh().positions[root]);
        EXPECT_FALSE(seen[root]);
        seen[root] = 1;
      } else {
        // On a crack face, whose normal it has where no other face meets it.
        EXPECT_TRUE(tree.surface[r]);
        EXPECT_LT(std::abs(exact.value(tree.position[r])), 1e-11);
      }
      EXPECT_LT(exact.value(tree.position[r]), 1e-11);
      EXPECT_NEAR(f.shape->pointNormals()[r].norm(), tree.surface[r] ? 1 : 0, 1e-9);
    }
  }
  for (const char s : seen) EXPECT_TRUE(s);
}

TEST(SphereForest, OrderOfTheWholeIsAPackingAndACovering) {
  const Fragment whole = makeWhole(cubeMesh(4));
  const sdf::SphereTree& tree = whole.shape->points();
  for (size_t r = 3; r < tree.gap.size(); ++r) EXPECT_LE(tree.gap[r], tree.gap[r - 1] + 1e-12);
  for (uint32_t level = 1; level < tree.levels(); ++level) {
    const size_t size = tree.levelSize(level);
    for (size_t a = 0; a < size; ++a)
      for (size_t b = 0; b < a; ++b)
        EXPECT_GE((tree.position[a] - tree.position[b]).norm(), tree.gap[size - 1] - 1e-12);
    for (size_t p = size; p < tree.pointCount(); ++p) {
      double nearest = Box3::kInfinity;
      for (size_t a = 0; a < size; ++a)
        nearest = std::min(nearest, (tree.position[a] - tree.position[p]).norm());
      EXPECT_LE(nearest, tree.coveringRadius(level) + 1e-12);
    }
  }
}

TEST(SphereForest, LabelsDecide) {
  RandomStream random(6);
  std::vector<Vec3> points;
  for (int i = 0; i < 300; ++i) points.push_back(random.pointIn({Vec3::Zero(), Vec3::Ones()}));
  const sdf::SphereTree whole = sdf::buildSphereTree(points);
  std::vector<uint32_t> label(points.size());
  for (uint32_t& l : label) l = random.below(40) == 0 ? kNoIndex : random.below(3);
  std::vector<std::vector<NewPoint>> added(4);
  for (uint32_t i = 0; i < 50; ++i) {
    const uint32_t below = random.below(uint32_t(points.size()));
    added[random.below(3)].push_back(
        {random.pointIn({Vec3::Zero(), Vec3::Ones()}), i % 7 ? below : kNoIndex});
  }
  added[3].push_back({Vec3(3, 0, 0), kNoIndex});  // of nothing but a new point
  std::vector<uint32_t> rankOf;
  std::vector<sdf::SphereTree> trees = splitForest(whole, label, added, &rankOf);
  ASSERT_EQ(trees.size(), 4u);
  for (size_t f = 0; f < 4; ++f) {
    expectSound(trees[f]);
    EXPECT_EQ(trees[f].pointCount(), size_t(std::count(label.begin(), label.end(), f)) + added[f].size());
  }
  for (size_t r = 0; r < label.size(); ++r) {
    if (label[r] == kNoIndex) continue;
    EXPECT_EQ(trees[label[r]].position[rankOf[r]], whole.position[r]);
  }
  EXPECT_THROW(splitForest(whole, std::span(label).first(5), added), Error);
  label[0] = 9;
  EXPECT_THROW(splitForest(whole, label, added), Error);
}

// All points against the field of another piece, one by one, or against the whole body: more than a thousand
// poses.
TEST(SphereForest, SearchFindsWhatBruteForceFinds) {
  Broken broken(cubeMesh(5));
  const Fragment whole = broken.pieces[0].fragment;
  broken.shatter(5, 8, 0.04);
  RandomStream random(9);
  rigid::ContactScratch scratch;
  rigid::SelectionSettings every;
  every.full = true;
  size_t contacts = 0, poses = 0;
  for (int round = 0; round < 1300; ++round) {
    const Fragment& a = round % 10 == 0 ? whole : broken.pieces[random.below(5)].fragment;
    const Fragment& b = round % 20 < 2 ? whole : broken.pieces[random.below(5)].fragment;
    if (&a == &b && &a != &whole) continue;
    ++poses;
    const rigid::Pose pose{
        0.2 * random.uniform() * random.unitVector(),
        Quat(Eigen::AngleAxisd(random.uniform(0, round % 2 ? 3.0 : 0.1), random.unitVector()))};
    const double margin = round % 3 ? 0.0 : 0.01;
    std::vector<rigid::Contact> found;
    rigid::PairMemory memory;
    scratch.work = {};
    rigid::findContacts(*a.shape, pose, *b.shape, {}, margin, every, memory, scratch, found);
    std::set<std::pair<bool, uint32_t>> ours, brute;
    for (const rigid::Contact& c : found) ours.insert({c.id >> 31, c.id & 0x7fffffffu});
    EXPECT_EQ(ours.size(), found.size());
    const auto all = [&](const Fragment& points, const Fragment& field, const rigid::Pose& relative,
                         bool ofB) {
      const auto& position = points.shape->points().position;
      std::vector<char> walked(position.size(), 0);  // all on the surface, some inside
      for (const rigid::PointNode& node : points.shape->pointNodes()) walked[node.rank] = 1;
      for (uint32_t r = 0; r < position.size(); ++r) {
        EXPECT_TRUE(walked[r] || !points.shape->points().surface[r]);
        if (walked[r] && field.field->value(relative.rotation.toRotationMatrix() * position[r] +
                                            relative.position) < margin)
          brute.insert({ofB, r});
      }
    };
    all(a, b, pose, false);
    all(b, a, rigid::inverse(pose), true);
    EXPECT_EQ(ours, brute) << round;
    contacts += brute.size();
    // Each point is asked once at most.
    EXPECT_LE(scratch.work.fieldQueries, a.shape->points().pointCount() + b.shape->points().pointCount());
  }
  EXPECT_GT(poses, 1000u);
  EXPECT_GT(contacts, 1000u);
}

// The same body with its surface points alone in the tree.
rigid::ShapePtr withoutInside(const Fragment& whole) {
  rigid::SolidParts parts;
  const rigid::Shape& shape = *whole.shape;
  std::vector<Vec3> points, normals;
  for (size_t r = 0; r < shape.points().pointCount(); ++r)
    if (shape.points().surface[r]) {
      points.push_back(shape.points().position[r]);
      normals.push_back(shape.pointNormals()[r]);
    }
  parts.points = sdf::buildSphereTree(points, std::vector<uint8_t>(points.size(), 1));
  for (const uint32_t i : parts.points.order) parts.pointNormals.push_back(normals[i]);
  parts.surface = shape.surface();
  parts.mass = shape.mass();
  parts.field = whole.field;
  parts.innerRadius = shape.innerRadius();
  parts.inside = {shape.mass().centre};
  return rigid::makeSolid(std::move(parts));
}

// Specification 05, check 17. Points inside are in the tree before anything breaks, as steps on the way to
// points of the surface; a search comes through some of them and takes a quarter longer for it.
TEST(SphereForest, PointsInsideCostLittleAtRest) {
  const rigid::ShapePtr ground = rigid::makePlane();
  size_t visited[2] = {0, 0}, points = 0, inside = 0;
  for (const uint32_t n : {6u, 10u, 14u}) {
    const Fragment whole = makeWhole(cubeMesh(n));
    const rigid::ShapePtr bare = withoutInside(whole);
    for (const double tilt : {0.0, 0.02, 0.3, 0.78}) {
      rigid::Pose pose{Vec3::Zero(), Quat(Eigen::AngleAxisd(tilt, Vec3(1, 0, 0.3).normalized()))};
      double lowest = Box3::kInfinity;
      for (const Vec3& p : whole.shape->points().position) lowest = std::min(lowest, pose.point(p).y());
      pose.position.y() = -lowest - 1e-4;
      for (const bool withInside : {true, false}) {
        const rigid::Shape& shape = withInside ? *whole.shape : *bare;
        rigid::ContactScratch scratch;
        rigid::PairMemory memory;
        std::vector<rigid::Contact> found;
        rigid::findContacts(shape, pose, *ground, {}, 1e-3, {}, memory, scratch, found);
        EXPECT_GE(found.size(), 1u);
        visited[withInside] += scratch.work.visited;
        if (!withInside) continue;
        for (size_t i = 0; i < scratch.work.visited; ++i) {
          const rigid::PointNode& node = shape.pointNodes()[scratch.queue[i]];
          points += node.fresh;
          inside += node.fresh && !shape.points().surface[node.rank];
        }
      }
    }
  }
  RecordProperty("inside_of_visited", std::to_string(double(inside) / double(points)));
  RecordProperty("visits_more", std::to_string(double(visited[1]) / double(visited[0])));
  EXPECT_LT(double(inside), 0.2 * double(points));
  EXPECT_LT(double(visited[1]), 1.3 * double(visited[0]));
  // Of all points, half and more are inside.
  const Fragment whole = makeWhole(cubeMesh(14));
  EXPECT_GT(std::count(whole.shape->points().surface.begin(), whole.shape->points().surface.end(), 0), 2000);
}

}  // namespace
}  // namespace sunder::fracture
