// Contacts of two shapes, one thread. `contact/A-B`: time a pair, over pairs whose boxes overlap and that are
// remembered from the step before, as in a pile; `/rest` one lying on the other, `/apart` pairs that a
// separating axis tells apart. `contact/.../visited`: occurrences of the sphere trees that a pair looks at,
// `/contacts` the contacts it has, `/full` what there would be without selection. `solid/NAME`: time to make
// a solid of a mesh. `impact/...`: time of impact.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/rigid/contact/contact.h"
#include "sunder/shapes/catalogue.h"

#include "bench.h"

#include <string>
#include <vector>

namespace sunder::bench {
namespace {

using namespace rigid;

struct Pairs {
  std::vector<Pose> a, b;
  std::vector<PairMemory> memory;
};

Quat randomTurn(RandomStream& random) {
  return Quat(Eigen::AngleAxisd{random.uniform(0, 2 * kPi), random.unitVector()});
}

enum class Mix { Pile, Rest, Apart };

Pairs makePairs(const Shape& a, const Shape& b, Mix mix, double margin) {
  constexpr size_t kCount = 512;
  RandomStream random(3);
  Pairs pairs;
  ContactScratch scratch;
  std::vector<Contact> out;
  const double reach = a.outerRadius() + std::min(b.outerRadius(), 2 * a.outerRadius());
  while (pairs.a.size() < kCount) {
    Pose pa, pb;
    if (mix == Mix::Rest) {
      // b upright on the ground, a on top of it, turned about the vertical.
      const double top = b.kind() == ShapeKind::Plane ? 0 : b.localBounds().upper.y();
      pa.rotation = Quat(Eigen::AngleAxisd(random.uniform(0, 6), Vec3::UnitY()));
      pa.position = Vec3{random.uniform(-0.3, 0.3) * a.outerRadius(), top - a.localBounds().lower.y() - 1e-4,
                         random.uniform(-0.3, 0.3) * a.outerRadius()};
    } else {
      pa = {Vec3{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)} * reach,
            randomTurn(random)};
      if (b.kind() != ShapeKind::Plane) pb.rotation = randomTurn(random);
    }
    if (!overlap(a.bounds(pa), b.bounds(pb))) continue;
    out.clear();
    PairMemory memory;
    findContacts(a, pa, b, pb, margin, {}, memory, scratch, out);
    double deepest = 0;
    for (const Contact& c : out) deepest = std::min(deepest, c.separation);
    if (mix == Mix::Apart && !out.empty()) continue;
    if (mix == Mix::Pile && deepest < -0.1 * a.outerRadius()) continue;
    pairs.a.push_back(pa);
    pairs.b.push_back(pb);
    pairs.memory.push_back(memory);
  }
  return pairs;
}

void measure(Report& report, const Options& options, const std::string& name, const Shape& a, const Shape& b,
             Mix mix, std::optional<double> bar = {}) {
  if (!options.wants(name)) return;
  const double margin = 0.02 * a.outerRadius();
  Pairs pairs = makePairs(a, b, mix, margin);
  const size_t count = pairs.a.size();
  ContactScratch scratch;
  std::vector<Contact> out;
  const auto run = [&](bool full) {
    out.clear();
    SelectionSettings selection;
    selection.full = full;
    for (size_t i = 0; i < count; ++i) {
      PairMemory memory = pairs.memory[i];
      findContacts(a, pairs.a[i], b, pairs.b[i], margin, selection, memory, scratch, out);
    }
  };
  const double seconds = bestSeconds(options, [&] { run(false); });
  report.add({.name = name,
              .size = count,
              .metric = "time",
              .value = seconds / double(count) * 1e9,
              .unit = "ns/pair",
              .bar = bar});
  scratch.work = {};
  run(false);
  report.add({.name = name + "/contacts",
              .size = count,
              .metric = "count",
              .value = double(out.size()) / double(count),
              .unit = "contacts/pair"});
  if (scratch.work.visited == 0) return;
  report.add({.name = name + "/visited",
              .size = count,
              .metric = "count",
              .value = double(scratch.work.visited) / double(count),
              .unit = "occurrences/pair"});
  report.add({.name = name + "/queries",
              .size = count,
              .metric = "count",
              .value = double(scratch.work.fieldQueries) / double(count),
              .unit = "queries/pair"});
  run(true);
  report.add({.name = name + "/full",
              .size = count,
              .metric = "count",
              .value = double(out.size()) / double(count),
              .unit = "contacts/pair"});
}

ShapePtr hullOf(int points) {
  RandomStream random(5);
  std::vector<Vec3> list;
  for (int i = 0; i < points; ++i) list.push_back(0.5 * random.unitVector());
  return makeHull(list);
}

SUNDER_BENCH("rigid", contactPairs) {
  const ThreadLimit one(1);
  const ShapePtr sphere = makeSphere(0.5), capsule = makeCapsule(0.4, 0.2),
                 box = makeBox(Vec3(0.5, 0.4, 0.3)), hull = hullOf(24), plane = makePlane();
  measure(report, options, "contact/box-box/pile", *box, *box, Mix::Pile, 250);
  measure(report, options, "contact/box-box/rest", *box, *box, Mix::Rest, 250);
  measure(report, options, "contact/box-box/apart", *box, *box, Mix::Apart, 250);
  const std::pair<const char*, ShapePtr> shapes[] = {
      {"sphere", sphere}, {"capsule", capsule}, {"box", box}, {"hull", hull}, {"plane", plane}};
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = i; j < 5; ++j)
      if (i != 2 || j != 2)
        measure(report, options, std::string("contact/") + shapes[i].first + "-" + shapes[j].first,
                *shapes[i].second, *shapes[j].second, Mix::Pile);
}

SUNDER_BENCH("rigid", contactSolids) {
  const ThreadLimit one(1);
  const ShapePtr box = makeBox(Vec3(0.5, 0.4, 0.3)), sphere = makeSphere(0.3),
                 capsule = makeCapsule(0.4, 0.2), plane = makePlane();
  std::vector<std::pair<std::string, ShapePtr>> solids;
  const std::pair<const char*, geometry::TriMesh> meshes[] = {
      {"torus", shapes::makeTorus({})},
      {"trefoil", shapes::makeTrefoil({})},
      {"letters", shapes::makeLetters({})},
      {"bowl", shapes::makeBowl({})},
      {"plate", shapes::makePlate({.edgeSegments = 32, .rings = 10})},
      {"rippled", shapes::makeRippledSphere({.n = 16})}};
  for (const auto& [name, mesh] : meshes) {
    ShapePtr made;
    SolidReport built;
    const double seconds = bestSeconds(options, [&] { made = makeSolid(mesh, {}, &built); });
    report.add({.name = std::string("solid/") + name,
                .size = mesh.triangles.size(),
                .metric = "time",
                .value = seconds * 1e3,
                .unit = "ms",
                .bar = 1000});
    report.add({.name = std::string("solid/") + name + "/error",
                .size = mesh.triangles.size(),
                .metric = "count",
                .value = 100 * built.measuredError / (0.5 * made->localBounds().diagonal()),
                .unit = "% of radius"});
    solids.emplace_back(name, made);
  }
  for (const auto& [name, solid] : solids) {
    measure(report, options, "contact/" + name + "-" + name + "/pile", *solid, *solid, Mix::Pile);
    measure(report, options, "contact/" + name + "-" + name + "/apart", *solid, *solid, Mix::Apart);
    measure(report, options, "contact/" + name + "-plane/rest", *solid, *plane, Mix::Rest);
  }
  measure(report, options, "contact/sphere-torus", *sphere, *solids[0].second, Mix::Pile);
  measure(report, options, "contact/capsule-torus", *capsule, *solids[0].second, Mix::Pile);
  measure(report, options, "contact/box-torus", *box, *solids[0].second, Mix::Pile);
}

SUNDER_BENCH("rigid", impactTimes) {
  const ShapePtr bullet = makeSphere(0.01), wall = makeBox(Vec3(0.005, 1, 1)),
                 bar = makeBox(Vec3(0.5, 0.05, 0.05));
  const ShapePtr mesh = makeSolid(shapes::makeTorus({}));
  ContactScratch scratch;
  RandomStream random(4);
  const auto motion = [](const Shape& shape, const Pose& pose, const Vec3& displacement, const Vec3& turn) {
    return Motion{pose, shape.mass().centre, displacement, turn, shape.outerRadius()};
  };
  const auto impact = [&](const std::string& name, const Shape& a, const Shape& b, double speed,
                          double turn) {
    if (!options.wants(name)) return;
    std::vector<Motion> motions;
    for (int i = 0; i < 64; ++i) {
      const Pose start{Vec3{-2, random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5)}, randomTurn(random)};
      motions.push_back(motion(a, start, Vec3(speed, 0, 0), turn * random.unitVector()));
    }
    const Motion still = motion(b, {}, Vec3::Zero(), Vec3::Zero());
    const double seconds = bestSeconds(options, [&] {
      double sum = 0;
      for (const Motion& m : motions) sum += timeOfImpact(a, m, b, still, 0.001, 1e-4, scratch);
      keep(sum);
    });
    report.add({.name = name,
                .size = motions.size(),
                .metric = "time",
                .value = seconds / double(motions.size()) * 1e6,
                .unit = "us/pair"});
  };
  impact("impact/bullet-wall", *bullet, *wall, 5, 0);
  impact("impact/bar-wall", *bar, *wall, 3, 6);
  impact("impact/bullet-torus", *bullet, *mesh, 5, 0);
  impact("impact/bar-torus", *bar, *mesh, 3, 6);
}

}  // namespace
}  // namespace sunder::bench
