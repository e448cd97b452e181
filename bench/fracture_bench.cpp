// The room fracture: what a fracture costs the collision detection of its fragments, and their queries.
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/fracture/crack/crack.h"
#include "sunder/fracture/pieces/fragment_shape.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/rigid/contact/contact.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/tet/stuffing.h"

#include "bench/bench.h"

#include <numeric>

namespace sunder::bench {

namespace {

using namespace fracture;

constexpr size_t kPieces = 14;

// One piece of an object that broke in several steps, as if it had at once.
struct BrokenPiece {
  CrackedMesh mesh;
  std::vector<CutCell> cells;
  std::vector<uint32_t> tets, vertices;  // of the object
  geometry::TriMesh surface;
  double volume() const { return geometry::massProperties(surface).volume; }
};

struct BrokenObject {
  RestMeshPtr rest;
  Fragment whole;
  std::vector<BrokenPiece> pieces;

  explicit BrokenObject(const RestMeshPtr& mesh) : rest(mesh), whole(makeWhole(mesh)) {
    BrokenPiece first{CrackedMesh(rest->mesh()), {}, {}, {}, whole.shape->surface()};
    first.tets.resize(first.mesh.size());
    first.vertices.resize(first.mesh.mesh.positions.size());
    std::iota(first.tets.begin(), first.tets.end(), 0);
    std::iota(first.vertices.begin(), first.vertices.end(), 0);
    pieces.push_back(std::move(first));
    RandomStream random(7, 3);
    for (uint32_t crack = 1; pieces.size() < kPieces; ++crack) split(crack, random.unitVector());
  }

  // The largest piece, by a plane through its middle.
  void split(uint32_t crack, const Vec3& normal) {
    const auto largest =
        std::max_element(pieces.begin(), pieces.end(),
                         [](const BrokenPiece& a, const BrokenPiece& b) { return a.volume() < b.volume(); });
    BrokenPiece old = std::move(*largest);
    pieces.erase(largest);
    const auto cells = cellsOf(old.mesh);
    const auto links = linksOf(old.mesh, cells);
    const auto values =
        crackValues(old.mesh.mesh, planeCrack(geometry::massProperties(old.surface).centre, normal));
    std::vector<Mark> marks;
    for (uint32_t t = 0; t < old.mesh.size() && marks.empty(); ++t) {
      bool above = false, below = false;
      for (const uint32_t v : old.mesh.mesh.tets[t]) (values[v] > 0 ? above : below) = true;
      if (above && below) marks = markCrack(old.mesh, cells, links, values, old.mesh.mesh.tets[t][0]);
    }
    const Dissection cut = dissect(old.mesh, cells, links, crack, marks);
    const auto newLinks = linksOf(cut.mesh, cellsOf(cut.mesh));
    uint32_t count = 0;
    const auto labels = partsOf(cut.mesh.size(), newLinks, count);
    for (uint32_t p = 0; p < count; ++p) {
      BrokenPiece piece;
      piece.mesh = partOf(cut.mesh, labels, p, &piece.tets, &piece.vertices);
      for (uint32_t& t : piece.tets) t = old.tets[cut.tetSource[t]];
      for (uint32_t& v : piece.vertices) v = old.vertices[cut.vertexSource[v]];
      piece.cells = cellsOf(piece.mesh);
      piece.surface = surfaceOf(piece.mesh, piece.cells, linksOf(piece.mesh, piece.cells)).mesh;
      pieces.push_back(std::move(piece));
    }
  }

  std::vector<FragmentPart> parts() const {
    std::vector<FragmentPart> out;
    for (const BrokenPiece& p : pieces) out.push_back({p.mesh, p.cells, p.tets, p.vertices, p.surface});
    return out;
  }
  size_t cutTets() const {
    size_t count = 0;
    for (const BrokenPiece& p : pieces)
      for (const auto& cuts : p.mesh.cuts) count += !cuts.empty();
    return count;
  }
};

RestMeshPtr ballMesh(double edge, int levels) {
  const sdf::FieldPtr ball = sdf::makeSphereField(Vec3::Zero(), 1);
  tet::FillReport report;
  geometry::TetMesh mesh = tet::fill(*ball, {.edge = edge, .levels = levels}, report);
  return std::make_shared<RestMesh>(std::move(mesh), ball);
}

// All pairs of pieces, just apart; microseconds.
double queryTime(const Options& options, const std::vector<Fragment>& fragments) {
  rigid::ContactScratch scratch;
  std::vector<rigid::Contact> contacts;
  return bestSeconds(options, [&] {
    contacts.clear();
    for (size_t a = 0; a < fragments.size(); ++a)
      for (size_t b = 0; b < a; ++b) {
        rigid::PairMemory memory;
        const auto apart = [&](size_t i) {
          return rigid::Pose{1e-4 * fragments[i].shape->mass().centre, Quat::Identity()};
        };
        rigid::findContacts(*fragments[a].shape, apart(a), *fragments[b].shape, apart(b), 1e-3, {}, memory,
                            scratch, contacts);
      }
    keep(contacts.size());
  });
}

}  // namespace

SUNDER_BENCH("fracture", fragmentUpdate) {
  if (!options.wants("fracture/update")) return;
  const BrokenObject object(ballMesh(0.115, 0));
  const size_t points = object.rest->mesh().positions.size();
  report.add({.name = "fracture/update/cut-tets",
              .size = points,
              .metric = "count",
              .value = double(object.cutTets()),
              .unit = "tets"});
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    std::vector<FragmentPart> parts;
    const auto add = [&](const char* name, double seconds, const char* peer = "",
                         std::optional<double> other = {}, std::optional<double> bar = {}) {
      report.add({.name = std::string("fracture/update/5k") + name,
                  .size = points,
                  .threads = threads,
                  .metric = "time",
                  .value = 1e3 * seconds,
                  .unit = "ms",
                  .peer = peer,
                  .peerValue = other,
                  .bar = bar});
    };
    std::vector<std::shared_ptr<FragmentField>> fields;
    parts = object.parts();
    const double field = bestSeconds(options, [&] { fields = steps::makeFields(object.whole, parts); });
    const double exact = bestSeconds(options, [&] {
      for (const BrokenPiece& p : object.pieces) {
        const sdf::MeshField mesh(p.surface);
        std::vector<double> values(p.mesh.mesh.positions.size());
        sdf::valuesOf(mesh, p.mesh.mesh.positions, values);
        keep(values[0]);
      }
    });
    add("/field", field, "exact distances anew", 1e3 * exact);
    steps::Points trees;
    const double forest =
        bestSeconds(options, [&] { trees = steps::makePoints(object.whole, parts, fields); });
    const double anew = bestSeconds(options, [&] {
      for (const sdf::SphereTree& tree : trees.trees)
        keep(sdf::buildSphereTree(tree.position, tree.surface).roots);
    });
    add("/points", forest, "trees anew", 1e3 * anew);
    const double masks = bestSeconds(options, [&] { keep(steps::makeMasks(object.whole, fields, 1)); });
    add("/masks", masks);
    const double fracture = bestSeconds(options, [&] {
      for (const BrokenPiece& p : object.pieces) {
        const auto cells = cellsOf(p.mesh);
        keep(surfaceOf(p.mesh, cells, linksOf(p.mesh, cells)).tet.size());
      }
    });
    add("", field + forest + masks, "cells, links and surfaces", 1e3 * fracture, 1.5);
    const double shapes = bestSeconds(
        options, [&] { keep(breakFragment(object.whole, parts, 1).size()); },
        [&] { parts = object.parts(); });
    add("/shapes", shapes);
  }
}

SUNDER_BENCH("fracture", fragmentResolution) {
  if (!options.wants("fracture/resolution")) return;
  struct Case {
    const char* name;
    double edge;
    int levels;
  };
  const ThreadLimit limit(1);
  for (const Case& c :
       {Case{"fine-inside", 0.115, 0}, Case{"fine-both", 0.0575, 1}, Case{"coarse-inside", 0.115, 3}}) {
    const BrokenObject object(ballMesh(c.edge, c.levels));
    std::vector<FragmentPart> parts = object.parts();
    const std::string name = std::string("fracture/resolution/") + c.name;
    size_t inside = 0;
    for (uint32_t v = 0; v < object.rest->mesh().positions.size(); ++v) inside += !object.rest->onSurface(v);
    const size_t triangles = object.whole.shape->surface().triangles.size();
    const auto add = [&](const char* what, const char* metric, double value, const char* unit) {
      report.add({.name = name + what, .size = triangles, .metric = metric, .value = value, .unit = unit});
    };
    add("/inside-points", "count", double(inside), "points");
    add("/cut-tets", "count", double(object.cutTets()), "tets");
    const double update = bestSeconds(options, [&] {
      const auto fields = steps::makeFields(object.whole, parts);
      keep(steps::makeMasks(object.whole, fields, 1));
      keep(steps::makePoints(object.whole, parts, fields).trees.size());
    });
    add("/update", "time", 1e3 * update, "ms");
    const std::vector<Fragment> fragments = breakFragment(object.whole, parts, 1);
    add("/query", "time", 1e3 * queryTime(options, fragments), "ms");
  }
}

SUNDER_BENCH("fracture", fragmentField) {
  if (!options.wants("fracture/field")) return;
  const BrokenObject object(ballMesh(0.115, 0));
  std::vector<FragmentPart> parts = object.parts();
  const std::vector<Fragment> fragments = breakFragment(object.whole, parts, 1);
  RandomStream random(3);
  const ThreadLimit limit(1);
  for (const bool near : {false, true}) {
    // Anywhere about the piece, and within a tenth of an edge of its surface.
    std::vector<std::vector<Vec3>> points(fragments.size());
    size_t count = 0;
    for (size_t i = 0; i < fragments.size(); ++i)
      while (points[i].size() < 1000) {
        const Vec3 p = random.pointIn(fragments[i].field->bounds());
        if (!near || std::abs(fragments[i].field->value(p)) < 0.1 * object.rest->edge())
          points[i].push_back(p);
        count += points[i].size() == 1000 ? 1000 : 0;
      }
    std::vector<sdf::FieldSample> samples(1000);
    const double seconds = bestSeconds(options, [&] {
      for (size_t i = 0; i < fragments.size(); ++i) fragments[i].field->samples(points[i], samples);
      keep(samples[0].value);
    });
    report.add({.name = near ? "fracture/field/near" : "fracture/field/box",
                .size = count,
                .value = double(fragments.size() * 1000) / seconds,
                .unit = "points/s"});
  }
}

}  // namespace sunder::bench
