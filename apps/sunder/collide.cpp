// sunder collide A [B] [--self] [--ccd A1 [B1]]
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/profiler.h"
#include "sunder/geometry/mesh_io.h"
#include "sunder/spatial/mesh_ccd.h"
#include "sunder/spatial/narrow_phase.h"
#include "sunder/spatial/overlap_pairs.h"

#include "command.h"

#include <memory>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

using geometry::TriMesh;
using namespace spatial;

struct CollideOptions {
  std::string a, b, output, neighbours = "skip";
  std::vector<std::string> ends;
  bool self = false;
  double tolerance = 0;
};

TriMesh readTriangles(const std::string& path, const Settings& settings) {
  const ProfileScope scope("read");
  geometry::MeshFile file = geometry::readMesh(path);
  reportNotes(settings, path, file.notes);
  TriMesh mesh = geometry::toTriMesh(file.surface);
  if (mesh.triangles.empty()) throw Error(ErrorKind::Geometry, "has no faces to collide").inFile(path);
  return mesh;
}

void checkSameMesh(const TriMesh& start, const std::string& startName, const TriMesh& end,
                   const std::string& endName) {
  if (start.positions.size() != end.positions.size() || start.triangles != end.triangles)
    throw Error(ErrorKind::Geometry,
                fmt::format("is not {} moved: the faces or the number of vertices differ", startName))
        .inFile(endName)
        .hint("both ends of a motion need the same faces in the same order");
}

void writePairs(const std::string& path, std::span<const PrimitivePair> pairs) {
  std::string text = "a,b\n";
  for (const PrimitivePair& p : pairs) fmt::format_to(std::back_inserter(text), "{},{}\n", p.a, p.b);
  writeFile(path, text);
}

Json stagesJson(const Profiler& profiler) {
  Json stages = Json::object();
  for (size_t i = 1; i < profiler.stages().size(); ++i)
    stages[profiler.stages()[i].name] = profiler.stages()[i].total;
  return stages;
}

const char* kindName(ContactKind kind) {
  switch (kind) {
    case ContactKind::VertexFace:
      return "vertex-face";
    case ContactKind::EdgeEdge:
      return "edge-edge";
    case ContactKind::None:
      break;
  }
  return "none";
}

int collideStill(const CollideOptions& options, const Settings& settings, Profiler& profiler) {
  const TriMesh a = readTriangles(options.a, settings);
  const TriMesh b = options.self ? TriMesh{} : readTriangles(options.b, settings);
  OiTree treeA, treeB;
  OiTreeBuilder builder;
  const TreeSettings tree{.margin = 0.5 * options.tolerance};
  PairList boxes;
  {
    const ProfileScope scope("build");
    builder.build(treeA, TriangleLeaves{a.positions, a.triangles}, tree);
    if (!options.self) builder.build(treeB, TriangleLeaves{b.positions, b.triangles}, tree);
  }
  {
    const ProfileScope scope("traverse");
    options.self ? selfOverlapPairs(treeA, boxes) : overlapPairs(treeA, treeB, boxes);
  }
  std::vector<PrimitivePair> triangles;
  {
    const ProfileScope scope("triangles");
    const TriangleSet setA{a.positions, a.triangles}, setB{b.positions, b.triangles};
    const auto neighbours = options.neighbours == "exact" ? Neighbours::Exact : Neighbours::Skip;
    triangles = options.self ? selfIntersectingPairs(setA, boxes.pairs(), neighbours)
                             : intersectingPairs(setA, setB, boxes.pairs());
  }
  if (!options.output.empty())
    writePairs(options.output,
               options.tolerance > 0 ? boxes.pairs() : std::span<const PrimitivePair>(triangles));
  if (settings.json) {
    const TraversalStatistics& s = boxes.statistics();
    Json json = {{"a", options.a}};
    if (!options.self) json["b"] = options.b;
    json.update(Json{{"self", options.self},
                     {"triangles_a", a.triangles.size()},
                     {"triangles_b", b.triangles.size()},
                     {"tolerance", options.tolerance},
                     {"box_pairs", boxes.size()},
                     {"triangle_pairs", triangles.size()},
                     {"box_tests", s.boxTests},
                     {"tree_bytes", treeA.bytes() + treeB.bytes()},
                     {"pair_bytes", boxes.bytes()},
                     {"seconds", stagesJson(profiler)}});
    printJson(json);
  }
  say(settings,
      fmt::format("{}{}: {} pairs of boxes, {} pairs of triangles that meet", options.a,
                  options.self ? " with itself" : " and " + options.b, boxes.size(), triangles.size()));
  return 0;
}

int collideMoving(const CollideOptions& options, const Settings& settings, Profiler& profiler) {
  if (options.ends.size() != (options.self ? 1u : 2u))
    throw Error(ErrorKind::Usage, options.self ? "--ccd wants one file: the mesh at the end of the step"
                                               : "--ccd wants two files: both meshes at the end of the step");
  const TriMesh a0 = readTriangles(options.a, settings), a1 = readTriangles(options.ends[0], settings);
  checkSameMesh(a0, options.a, a1, options.ends[0]);
  const MovingMesh a{a0.positions, a1.positions, a0.triangles};
  const CcdSettings ccdSettings{.minSeparation = options.tolerance};
  MeshCcd ccd;
  EarliestContact contact;
  if (options.self) {
    const ProfileScope scope("ccd");
    contact = ccd.self(a, ccdSettings);
  } else {
    const TriMesh b0 = readTriangles(options.b, settings), b1 = readTriangles(options.ends[1], settings);
    checkSameMesh(b0, options.b, b1, options.ends[1]);
    const ProfileScope scope("ccd");
    contact = ccd.between(a, {b0.positions, b1.positions, b0.triangles}, ccdSettings);
  }
  const CcdStatistics& s = ccd.statistics();
  if (settings.json)
    printJson({{"contact", contact.kind != ContactKind::None},
               {"kind", kindName(contact.kind)},
               {"time", contact.time},
               {"vertices", contact.kind == ContactKind::None ? Json(nullptr) : Json(contact.vertices)},
               {"tolerance", options.tolerance},
               {"box_pairs", s.trianglePairs},
               {"vertex_face_pairs", s.vertexFacePairs},
               {"edge_edge_pairs", s.edgeEdgePairs},
               {"seconds", stagesJson(profiler)}});
  if (contact.kind == ContactKind::None)
    say(settings, "no contact during the step");
  else
    say(settings, fmt::format("first contact at {:.9g} of the step: {} ({}, {}, {}, {})", contact.time,
                              kindName(contact.kind), contact.vertices[0], contact.vertices[1],
                              contact.vertices[2], contact.vertices[3]));
  return 0;
}

int collide(CollideOptions options, const Settings& settings) {
  if (options.self && !options.b.empty())
    throw Error(ErrorKind::Usage, "--self takes one mesh, but two were given");
  if (options.b.empty()) options.self = true;
  Profiler profiler;
  const Profiler::Activation active(profiler);
  const int code = options.ends.empty() ? collideStill(options, settings, profiler)
                                        : collideMoving(options, settings, profiler);
  if (settings.verbose) fmt::print(stderr, "{}", profiler.table());
  return code;
}

}  // namespace

Verb addCollide(CLI::App& root) {
  auto options = std::make_shared<CollideOptions>();
  CLI::App* app = root.add_subcommand("collide", "Find where two meshes, or a mesh and itself, touch");
  app->add_option("A", options->a, "A mesh file")->required();
  app->add_option("B", options->b, "Another; without it, A is tested against itself");
  app->add_flag("--self", options->self, "A against itself");
  app->add_option("--ccd", options->ends,
                  "The meshes at the end of a step: finds the first contact in between")
      ->expected(1, 2)
      ->type_name("A1 [B1]");
  app->add_option("--tolerance", options->tolerance,
                  "Count as near up to this distance, in metres: grows the boxes; the separation with --ccd")
      ->check(CLI::NonNegativeNumber)
      ->type_name("D");
  app->add_option("--neighbours", options->neighbours,
                  "Faces that share a vertex: skip, or exact to report those that overlap")
      ->check(CLI::IsMember({"skip", "exact"}));
  app->add_option("-o,--output", options->output, "Write the pairs of faces as CSV")->type_name("FILE");
  app->footer(
      "Decisions on triangles are exact. Polygons are split into triangles, which is what the pairs count.\n"
      "Examples:\n"
      "  sunder collide cup.obj saucer.obj\n"
      "  sunder collide shirt.ply --self -o pairs.csv --json\n"
      "  sunder collide ball0.obj floor.obj --ccd ball1.obj floor.obj");
  return {app, [options](const Settings& settings) { return collide(*options, settings); }};
}

}  // namespace sunder::cli
