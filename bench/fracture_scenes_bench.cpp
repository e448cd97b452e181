// The room fracture in scenes, as the sources report them. `scene/NAME`: analyses of a scene, their average
// cost and the shares of its stages (specification 07, table 3.2). `adaptive/...`: one torus dropped on its
// rim, on a mesh that adapts itself and on one that is fine everywhere (5.4). `contact/NAME`: milliseconds a
// step, the longest update and fracture, contacts with and without selection (specification 05, tables 2 and
// 3). Bodies are made here, of about the sizes that the sources had. Bars of averages are half of the
// source's figure.
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"
#include "sunder/base/stopwatch.h"
#include "sunder/fracture/model/adaptive_fracture.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/field_combine.h"
#include "sunder/tet/refinement.h"
#include "sunder/tet/stuffing.h"
#include "sunder/world/parts/rigid_part.h"
#include "sunder/world/world.h"

#include "bench/bench.h"

#include <fmt/core.h>

namespace sunder::bench {

namespace {

const char* kTori = R"({
  "world": {"duration": "2 s", "timeStep": "1/120 s", "seed": 3, "bounds": {"lower": [-4, -1, -4], "upper": [4, 8, 4]}},
  "shapes": {
    "basin": {"make": "bowl", "with": {"radius": 0.9, "height": 0.6, "foot": 0.5, "wall": 0.08}, "solid": {"error": 0.002, "points": 1000}},
    "ring": {"make": "torus", "with": {"radius": 0.12, "tube": 0.04}}
  },
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
    {"id": "basin", "shape": "basin", "kind": "static", "material": "steel"}
  ],
  "arrays": [{
    "id": "ring", "body": {"fracture": {"edge": "1.9 cm"}}, "shapes": ["ring"], "materials": ["porcelain"],
    "fill": {"count": 30, "box": {"lower": [-0.5, 1.0, -0.5], "upper": [0.5, 3.6, 0.5]}, "spacing": 0.33},
    "turned": true
  }]
})";

const char* kLetters = R"({
  "world": {"duration": "2.5 s", "timeStep": "1/120 s", "seed": 6, "bounds": {"lower": [-4, -1, -4], "upper": [4, 6, 4]}},
  "shapes": {
    "s": {"make": "letters", "with": {"text": "S", "height": 0.4, "depth": 0.12}},
    "u": {"make": "letters", "with": {"text": "U", "height": 0.4, "depth": 0.12}},
    "n": {"make": "letters", "with": {"text": "N", "height": 0.4, "depth": 0.12}},
    "r": {"make": "letters", "with": {"text": "R", "height": 0.4, "depth": 0.12}}
  },
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
    {"id": "S", "shape": "s", "material": "plaster", "position": [-1.0, 1.9, 0], "rotation": {"degrees": [10, 0, 12]}, "fracture": {"edge": "3.4 cm"}},
    {"id": "U", "shape": "u", "material": "plaster", "position": [-0.5, 2.1, 0], "rotation": {"degrees": [-8, 5, -20]}, "fracture": {"edge": "3.4 cm"}},
    {"id": "N", "shape": "n", "material": "plaster", "position": [0, 2.0, 0], "rotation": {"degrees": [5, 0, 8]}, "fracture": {"edge": "3.4 cm"}},
    {"id": "R", "shape": "r", "material": "plaster", "position": [0.5, 2.1, 0], "rotation": {"degrees": [8, 0, -8]}, "fracture": {"edge": "3.4 cm"}}
  ]
})";

const char* kWalls = R"({
  "world": {"duration": "1.5 s", "timeStep": "1/120 s", "seed": 4, "bounds": {"lower": [-8, -1, -12], "upper": [8, 8, 12]}},
  "shapes": {"wall": {"box": {"size": [1.6, 1.2, 0.16]}}, "ball": {"sphere": {"radius": "25 cm"}}},
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
    {"id": "ball", "shape": "ball", "material": "steel", "position": [0.08, 0.62, 5.2], "velocity": [0, 1, -22]}
  ],
  "arrays": [{
    "id": "wall",
    "body": {"shape": "wall", "material": "concrete", "fracture": {"edge": "18 cm", "noise": "1 cm", "leastPart": 0.01, "mostCracks": 6}},
    "grid": {"count": [1, 1, 10], "spacing": [1, 1, 0.8]}, "position": [0, 0.6005, 0]
  }]
})";

// A piggy bank, bunnies and bricks as far as a made shape can stand for them: tetrahedra and points count.
const char* kBall = R"({
  "world": {"duration": "1.5 s", "frameRate": 66.6666666667, "timeStep": "15 ms", "seed": 4},
  "shapes": {"ball": {"make": "icosphere", "with": {"radius": 0.15}}},
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
    {"id": "ball", "shape": "ball", "material": "porcelain", "position": [0, 0.6, 0], "velocity": [0, -3, 0],
     "fracture": {"model": "voronoi", "pieces": 14, "impulse": "0.1 N s", "edge": "2 cm"}}
  ]
})";

const char* kBodies = R"({
  "world": {"duration": "1.5 s", "frameRate": 66.6666666667, "timeStep": "15 ms", "seed": 4},
  "shapes": {"ball": {"make": "icosphere", "with": {"radius": 0.15}}},
  "bodies": [{"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"}],
  "arrays": [{
    "id": "ball",
    "body": {"shape": "ball", "material": "porcelain", "velocity": [0, -4, 0],
             "fracture": {"model": "voronoi", "pieces": 5, "impulse": "0.1 N s", "edge": "2 cm"}},
    "grid": {"count": [5, 1, 1], "spacing": [0.32, 1, 1]}, "position": [0, 0.4, 0]
  }]
})";

const char* kBricks = R"({
  "world": {"duration": "2.4 s", "frameRate": 33.3333333333, "timeStep": "30 ms", "seed": 4},
  "shapes": {"brick": {"box": {"size": [0.24, 0.07, 0.115]}}},
  "bodies": [{"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"}],
  "arrays": [{
    "id": "brick",
    "body": {"shape": "brick", "material": "brick", "velocity": [0, -6, 0],
             "fracture": {"model": "voronoi", "pieces": 5, "impulse": "0.5 N s", "edge": "3 cm"}},
    "grid": {"count": [4, 4, 2], "spacing": [0.3, 0.12, 0.2]}, "position": [0, 0.6, 0]
  }]
})";

const char* kPlates = R"({
  "world": {"duration": "2 s", "frameRate": 33.3333333333, "timeStep": "30 ms", "seed": 2},
  "shapes": {"plate": {"box": {"size": [0.32, 0.016, 0.3]}}, "rail": {"box": {"size": [0.03, 0.03, 0.36]}}, "ball": {"sphere": {"radius": "3 cm"}}},
  "bodies": [{"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "oak"}],
  "arrays": [
    {"id": "left", "body": {"shape": "rail", "kind": "static", "material": "pine"}, "grid": {"count": [2, 2, 1], "spacing": [0.5, 0.4, 1]}, "position": [-0.125, 0.5, 0]},
    {"id": "right", "body": {"shape": "rail", "kind": "static", "material": "pine"}, "grid": {"count": [2, 2, 1], "spacing": [0.5, 0.4, 1]}, "position": [0.125, 0.5, 0]},
    {"id": "plate", "body": {"shape": "plate", "material": "porcelain", "fracture": {"model": "voronoi", "pieces": 11, "impulse": "0.05 N s", "edge": "1.1 cm"}},
     "grid": {"count": [2, 2, 1], "spacing": [0.5, 0.4, 1]}, "position": [0, 0.5235, 0]},
    {"id": "ball", "body": {"shape": "ball", "material": "steel"}, "grid": {"count": [2, 1, 1], "spacing": [0.5, 1, 1]}, "position": [0.01, 1.8, 0.015]}
  ]
})";

world::Scene sceneOf(const char* text, const std::vector<std::string>& sets = {}) {
  return world::readScene(world::SceneDocument::parse(text, "bench.json", ".", sets));
}

// A row with an average in ms and one for each stage, in percent of the whole.
void addStages(Report& report, const std::string& name, size_t executions,
               const fracture::FractureStages& stages, unsigned threads, double bar) {
  const double all = stages.total();
  report.add({.name = name + "/executions",
              .threads = threads,
              .metric = "count",
              .value = double(executions),
              .unit = "analyses"});
  report.add({.name = name + "/total", .threads = threads, .metric = "time", .value = all, .unit = "s"});
  report.add({.name = name,
              .threads = threads,
              .metric = "time",
              .value = 1e3 * all / double(std::max<size_t>(executions, 1)),
              .unit = "ms",
              .peer = "source, another machine",
              .peerValue = 2 * bar,
              .bar = bar});
  const auto share = [&](const char* stage, double seconds) {
    report.add({.name = name + "/" + stage,
                .threads = threads,
                .metric = "count",
                .value = 100 * seconds / all,
                .unit = "%"});
  };
  share("assembly", stages.assemble);
  share("factorisation", stages.factor);
  share("substitution", stages.substitute);
  share("recovery", stages.recover);
  share("refinement", stages.refine);
  share("coarsening", stages.coarsen);
  share("dissection", stages.dissect);
  share("partition", stages.partition);
}

// A body with limbs, of about 3000 tetrahedra.
geometry::TetMesh figure() {
  std::vector<sdf::FieldPtr> limbs{sdf::makeSphereField(Vec3::Zero(), 0.3),
                                   sdf::makeSphereField(Vec3(0, 0.38, 0.05), 0.16)};
  for (const double side : {-1.0, 1.0}) {
    limbs.push_back(sdf::makeCapsuleField(Vec3(side * 0.2, 0.15, 0), Vec3(side * 0.6, 0.4, 0.1), 0.08));
    limbs.push_back(sdf::makeCapsuleField(Vec3(side * 0.12, -0.2, 0), Vec3(side * 0.25, -0.7, 0), 0.1));
  }
  tet::FillReport report;
  return tet::fill(*sdf::makeUnion(std::move(limbs)), {.edge = 0.094}, report);
}

geometry::TetMesh ring(double edge) {
  const sdf::FieldPtr torus = sdf::makeTorusField(Vec3::Zero(), Vec3::UnitY(), 0.12, 0.04);
  tet::FillReport report;
  return tet::fill(*torus, {.edge = edge}, report);
}

const fracture::BrittleMaterial kPorcelain{{6e10, 0.2, 2300}, 3e7, 10};

}  // namespace

SUNDER_BENCH("fracture", fractureScenes) {
  struct Case {
    const char *name, *text;
    double bar;  // half of the source's average, ms
  };
  for (const Case& c :
       {Case{"tori", kTori, 0.97}, Case{"walls", kWalls, 2.04}, Case{"letters", kLetters, 3.445}}) {
    const std::string name = std::string("fracture/scene/") + c.name;
    if (!options.wants(name)) continue;
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      world::World world(sceneOf(c.text));
      while (world.frame() < world.scene().world.frames) world.advance();
      const world::BreakageReport& made = world.find<world::RigidPart>()->breakage().report();
      addStages(report, name, made.analyses, made.seconds, threads, c.bar);
      report.add({.name = name + "/bodies",
                  .threads = threads,
                  .metric = "count",
                  .value = double(world.bodyCount()),
                  .unit = "bodies"});
    }
  }
}

SUNDER_BENCH("fracture", fractureFigure) {
  const std::string name = "fracture/scene/figure";
  if (!options.wants(name)) return;
  const fracture::CrackedMesh whole{figure()};
  const double edge = fracture::meanEdge(whole.mesh);
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    fracture::AdaptiveFracture fracture;
    fracture::FractureSettings settings;
    settings.cycles = 2;
    fracture::FractureStages stages;
    size_t executions = 0, refined = 0, pieces = 0;
    uint32_t next = 1;
    // Projectiles against its limbs, one after the other, each time the whole figure.
    for (const Vec3& at : {Vec3(-0.5, 0.42, 0.1), Vec3(0.5, 0.42, 0.1), Vec3(-0.2, -0.5, 0.12),
                           Vec3(0.2, -0.5, 0.12), Vec3(0, 0.5, 0.1)}) {
      const fracture::Impact impact{at, Vec3(0, 0, -40), 20, {}};
      const fracture::FractureOutcome outcome =
          fracture.strike(whole, kPorcelain, {&impact, 1}, settings, edge, next);
      stages.add(outcome.seconds);
      ++executions;
      refined = std::max(refined, outcome.refinedTets);
      pieces += outcome.pieces.size();
    }
    addStages(report, name, executions, stages, threads, 125);
    const auto count = [&](const char* what, size_t value, const char* unit) {
      report.add({.name = name + what,
                  .size = whole.size(),
                  .threads = threads,
                  .metric = "count",
                  .value = double(value),
                  .unit = unit});
    };
    count("/refined", refined, "tets");
    count("/pieces", pieces, "pieces");
  }
}

SUNDER_BENCH("fracture", fractureAdaptive) {
  if (!options.wants("fracture/adaptive")) return;
  const ThreadLimit limit(1);
  const geometry::TetMesh coarse = ring(0.06);
  const double edge = fracture::meanEdge(coarse);
  tet::Refinement refinement(coarse);
  refinement.refineAll(10);  // two cycles
  const fracture::CrackedMesh body{coarse}, fine{refinement.mesh()};
  // On its rim, as fast as from four metres; then the largest piece once more.
  struct Result {
    double seconds = 0;
    size_t tets = 0;
  };
  const auto drop = [&](const fracture::CrackedMesh& first, uint32_t cycles, bool coarsen) {
    fracture::AdaptiveFracture fracture;
    fracture::FractureSettings settings;
    settings.cycles = cycles;
    settings.coarsen = coarsen;
    settings.mostCracks = 2;
    uint32_t next = 1;
    Result result;
    std::vector<fracture::CrackedMesh> pieces{first};
    for (int fall = 0; fall < 2; ++fall) {
      const auto largest = std::max_element(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
        return geometry::totalVolume(a.mesh) < geometry::totalVolume(b.mesh);
      });
      const fracture::CrackedMesh struck = *largest;
      const Box3 box = geometry::bounds(struck.mesh.positions);
      const fracture::Impact impact{
          Vec3(box.lower.x(), box.center().y(), box.center().z()), Vec3(76, 0, 0), 8.8, {}};
      const Stopwatch watch;
      fracture::FractureOutcome outcome =
          fracture.strike(struck, kPorcelain, {&impact, 1}, settings, edge / (cycles ? 1 : 9), next);
      result.seconds += watch.seconds();
      result.tets = std::max(result.tets, outcome.refinedTets);
      pieces = std::move(outcome.pieces);
    }
    return result;
  };
  const Result uniform = drop(fine, 0, false), grown = drop(body, 2, false), adaptive = drop(body, 2, true);
  const auto add = [&](const char* name, const Result& r, std::optional<double> bar) {
    report.add({.name = std::string("fracture/adaptive/") + name,
                .size = r.tets,
                .metric = "time",
                .value = 1e3 * r.seconds,
                .unit = "ms",
                .peer = "uniform",
                .peerValue = 1e3 * uniform.seconds,
                .bar = bar});
  };
  add("uniform", uniform, {});
  add("without-coarsening", grown, 1e3 * uniform.seconds / 15);
  add("with-coarsening", adaptive, 1e3 * uniform.seconds / 20);
}

SUNDER_BENCH("fracture", fractureContacts) {
  struct Case {
    const char *name, *text;
    double total;  // the source's average, ms a step
  };
  for (const Case& c : {Case{"ball", kBall, 1.94}, Case{"bricks", kBricks, 11.7},
                        Case{"plates", kPlates, 7.83}, Case{"five-balls", kBodies, 2.0}}) {
    const std::string name = std::string("fracture/contact/") + c.name;
    if (!options.wants(name)) continue;
    const ThreadLimit limit(1);
    double most = 0, steps = 0, seconds = 0;
    std::array<double, 2> contacts{}, mostContacts{};
    for (const bool full : {false, true}) {
      world::World world(sceneOf(
          c.text,
          {std::string("world.solver.allContacts=") + (full ? "true" : "false"), "world.sleep=false"}));
      Profiler profiler;
      const Profiler::Activation active(profiler);
      steps = seconds = most = 0;
      while (world.frame() < world.scene().world.frames) {
        const Stopwatch watch;
        world.advance();
        const double frame = watch.seconds();
        seconds += frame;
        most = std::max(most, frame);
        ++steps;
        const auto found = double(world.find<world::RigidPart>()->simulation().report().contacts);
        contacts[full] += found;
        mostContacts[full] = std::max(mostContacts[full], found);
      }
      if (full) break;
      const auto add = [&](const std::string& what, double value, std::optional<double> bar = {},
                           std::optional<double> source = {}) {
        report.add({.name = name + what,
                    .size = world.bodyCount(),
                    .metric = "time",
                    .value = 1e3 * value,
                    .unit = "ms",
                    .peer = source ? "source, another machine" : "",
                    .peerValue = source,
                    .bar = bar});
      };
      add("", seconds / steps, 0.5 * c.total, c.total);
      add("/longest", most);
      double breaking = 0;
      for (const Profiler::Stage& stage : profiler.stages()) {
        if (stage.name == "contacts") {
          add("/collision", stage.total / steps);
          add("/collision/longest", stage.longest);
        }
        if (stage.name == "solve") add("/physics", stage.total / steps);
        if (stage.name == "update") add("/update/longest", stage.longest);
        // The surfaces of pieces are part of what the sources call fracture; finer ones they do not have.
        if (stage.name == "analysis" || stage.name == "pieces") breaking += stage.longest;
      }
      add("/fracture/longest", breaking);
      // Not part of a step: what a recording needs besides.
      const Stopwatch watch;
      world.meshes();
      add("/fine-surfaces/all", watch.seconds());
    }
    const auto count = [&](const std::string& what, double value) {
      report.add({.name = name + what, .metric = "count", .value = value, .unit = "contacts"});
    };
    count("/contacts", contacts[0] / steps);
    count("/contacts/most", mostContacts[0]);
    count("/contacts/all", contacts[1] / steps);
    count("/contacts/all/most", mostContacts[1]);
  }
}

}  // namespace sunder::bench
