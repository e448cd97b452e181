// sunder collide A [B ...] [--self] [--ccd A1 [B1]]
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/spatial/ccd/mesh_ccd.h"
#include "sunder/spatial/pairs/narrow_phase.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include "collide_many.h"
#include "command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

using geometry::TriMesh;
using namespace spatial;

constexpr uint64_t kPairsByDefault = 25'000'000;  // 1 GB

// As many pairs as are stored without being asked to.
uint64_t pairsByDefault() { return std::min(kPairsByDefault, uint64_t(double(memoryLimit()) / kBytesAPair)); }

using geometry::PolygonSoup;

// A mesh at both ends of a step. Faces are split once, where it starts: a polygon that bends might be split
// another way where it ends.
struct Motion {
  TriMesh start;
  std::vector<Vec3> end;

  MovingMesh moving() const { return {start.positions, end, start.triangles}; }
};

Motion readMotion(const std::string& startPath, const std::string& endPath, const Settings& settings) {
  const ProfileScope scope("read");
  const PolygonSoup start = readSurface(startPath, settings);
  PolygonSoup end = readSurface(endPath, settings);
  std::string difference;
  if (start.positions.size() != end.positions.size())
    difference =
        fmt::format("it has {} vertices instead of {}", end.positions.size(), start.positions.size());
  else if (start.faceCount() != end.faceCount())
    difference = fmt::format("it has {} faces instead of {}", end.faceCount(), start.faceCount());
  else
    for (size_t f = 0; f < start.faceCount() && difference.empty(); ++f)
      if (!std::ranges::equal(start.face(f), end.face(f)))
        difference = fmt::format("face {} has other vertices", f);
  if (!difference.empty())
    throw Error(ErrorKind::Geometry, fmt::format("is not {} moved: {}", startPath, difference))
        .inFile(endPath)
        .hint("both ends of a motion need the same faces in the same order");
  return {geometry::toTriMesh(start), std::move(end.positions)};
}

void writePairs(const std::string& path, std::span<const PrimitivePair> pairs) {
  std::string text = "a,b\n";
  for (const PrimitivePair& p : pairs) fmt::format_to(std::back_inserter(text), "{},{}\n", p.a, p.b);
  writeFile(path, text);
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
  const TriMesh a = readTriangles(options.a(), settings);
  const TriMesh b = options.self ? TriMesh{} : readTriangles(options.b(), settings);
  OiTree treeA, treeB;
  OiTreeBuilder builder;
  const TreeSettings tree{.margin = 0.5 * options.tolerance};
  PairList boxes;
  {
    const ProfileScope scope("build");
    const Work work("building trees");
    builder.build(treeA, TriangleLeaves{a.positions, a.triangles}, tree);
    if (!options.self) builder.build(treeB, TriangleLeaves{b.positions, b.triangles}, tree);
  }
  {
    const ProfileScope scope("traverse");
    const Work work("looking for pairs");
    try {
      overlapPairs(treeA, options.self ? treeA : treeB, boxes, options.maxPairs);
    } catch (const Error& e) {
      const TreePair job{&treeA, options.self ? &treeA : &treeB};
      refusePairs(e, options.a(), options.maxPairs,
                  e.kind() == ErrorKind::Limit ? countOverlapPairs({&job, 1}, kPairsCounted) : 0);
    }
  }
  std::vector<PrimitivePair> triangles;
  {
    const ProfileScope scope("triangles");
    const Work work("testing triangles");
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
    Json json = {{"a", options.a()}};
    if (!options.self) json["b"] = options.b();
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
      fmt::format("{}{}: {} pairs of boxes, {} pairs of triangles that meet", options.a(),
                  options.self ? " with itself" : " and " + options.b(), boxes.size(), triangles.size()));
  return 0;
}

// The two features of a contact, each of one mesh, as the vertices of its file.
struct ContactFeature {
  bool ofB;
  std::vector<uint32_t> vertices;
};

std::array<ContactFeature, 2> featuresOf(const EarliestContact& contact, size_t verticesOfA) {
  std::array<ContactFeature, 2> features;
  const size_t split = contact.kind == ContactKind::VertexFace ? 1 : 2;
  for (size_t i = 0; i < contact.vertices.size(); ++i) {
    ContactFeature& feature = features[i < split ? 0 : 1];
    feature.ofB = contact.vertices[i] >= verticesOfA;
    feature.vertices.push_back(contact.vertices[i] - static_cast<uint32_t>(feature.ofB ? verticesOfA : 0));
  }
  return features;
}

std::string featureText(const ContactFeature& feature, const CollideOptions& options) {
  constexpr const char* kNames[] = {"vertex", "edge", "face"};
  return fmt::format("{} {} of {}", kNames[feature.vertices.size() - 1], fmt::join(feature.vertices, "-"),
                     feature.ofB ? options.b() : options.a());
}

int collideMoving(const CollideOptions& options, const Settings& settings, Profiler& profiler) {
  if (options.ends.size() != (options.self ? 1u : 2u))
    throw Error(ErrorKind::Usage, options.self ? "--ccd wants one file: the mesh at the end of the step"
                                               : "--ccd wants two files: both meshes at the end of the step");
  if (!options.output.empty())
    throw Error(ErrorKind::Usage, "-o writes pairs of faces, but --ccd finds one contact")
        .hint("--json gives everything that --ccd finds");
  const Motion a = readMotion(options.a(), options.ends[0], settings);
  const Motion b = options.self ? Motion{} : readMotion(options.b(), options.ends[1], settings);
  const CcdSettings ccdSettings{.minSeparation = options.tolerance};
  MeshCcd ccd;
  EarliestContact contact;
  try {
    const ProfileScope scope("ccd");
    const Work work("looking for impacts");
    contact = options.self ? ccd.self(a.moving(), ccdSettings, options.maxPairs)
                           : ccd.between(a.moving(), b.moving(), ccdSettings, options.maxPairs);
  } catch (const Error& e) {
    refusePairs(e, options.a(), options.maxPairs, 0);
  }
  const CcdStatistics& s = ccd.statistics();
  const bool found = contact.kind != ContactKind::None;
  const auto features = featuresOf(contact, a.end.size());
  if (settings.json) {
    Json list = Json::array();
    for (const ContactFeature& feature : features)
      list.push_back({{"mesh", feature.ofB ? "b" : "a"}, {"vertices", feature.vertices}});
    printJson({{"contact", found},
               {"kind", kindName(contact.kind)},
               {"time", contact.time},
               {"features", found ? list : Json(nullptr)},
               {"self", options.self},
               {"tolerance", options.tolerance},
               {"box_pairs", s.trianglePairs},
               {"vertex_face_pairs", s.vertexFacePairs},
               {"edge_edge_pairs", s.edgeEdgePairs},
               {"seconds", stagesJson(profiler)}});
  }
  say(settings, !found ? "no contact during the step"
                       : fmt::format("first contact at {:.9g} of the step: {} and {}", contact.time,
                                     featureText(features[0], options), featureText(features[1], options)));
  return 0;
}

int collide(CollideOptions options, const Settings& settings) {
  const bool many = options.meshes.size() > 2;
  if (options.self && options.meshes.size() == 2)
    throw Error(ErrorKind::Usage, "--self takes one mesh, but two were given")
        .hint("name the meshes one by one, or three and more together");
  if (many && !options.ends.empty()) throw Error(ErrorKind::Usage, "--ccd takes one mesh or two");
  if (options.meshes.size() == 1) options.self = true;
  options.maxPairs = options.budget > 0 ? uint64_t(std::min(options.budget, 1e18)) : pairsByDefault();
  if (!options.neighbours.empty() && (!options.self || !options.ends.empty()))
    throw Error(ErrorKind::Usage, "--neighbours is for a mesh against itself that does not move");
  Profiler profiler;
  const Profiler::Activation active(profiler);
  const int code = many                   ? collideMany(options, settings, profiler)
                   : options.ends.empty() ? collideStill(options, settings, profiler)
                                          : collideMoving(options, settings, profiler);
  if (settings.verbose) std::fputs(profiler.table().c_str(), stderr);
  return code;
}

}  // namespace

Verb addCollide(App& root) {
  auto options = std::make_shared<CollideOptions>();
  App* app = root.addVerb("collide", "Find where meshes, or a mesh and itself, touch");
  app->addOption("MESH", options->meshes,
                 "Mesh files: one against itself, two against each other, more each against each")
      ->required()
      ->typeName("A [B ...]");
  app->addFlag("--self", options->self,
               "A mesh against itself; of many meshes, each one also against itself");
  app->addOption("--ccd", options->ends,
                 "The meshes at the end of a step: finds the first contact in between")
      ->expected(1, 2)
      ->typeName("A1 [B1]");
  app->addOption("--tolerance", options->tolerance,
                 "Count as near up to this distance, in metres: grows the boxes; the separation with --ccd")
      ->check(distanceCheck())
      ->typeName("D");
  app->addOption("--neighbours", options->neighbours,
                 "With one mesh, faces that share a vertex: skip, or exact to report those that overlap")
      ->check(oneOf({"skip", "exact"}));
  app->addOption("--budget,--max-pairs", options->budget,
                 fmt::format("Most pairs of boxes, of {:.0f} bytes each; more are refused, with their number "
                             "[{:.2g}]",
                             kBytesAPair, double(kPairsByDefault)))
      ->check(positiveCheck())
      ->typeName("N");
  app->addOption("-o,--output", options->output, "Write the pairs of faces as CSV")->typeName("FILE");
  app->footer(
      "Decisions on triangles are exact. Polygons are split into triangles, which is what the pairs count.\n"
      "Examples:\n"
      "  sunder collide cup.obj saucer.obj\n"
      "  sunder collide shirt.ply --self -o pairs.csv --json\n"
      "  sunder collide table.obj plates/*.obj\n"
      "  sunder collide ball0.obj floor.obj --ccd ball1.obj floor.obj");
  return {app, [options](const Settings& settings) { return collide(*options, settings); }};
}

}  // namespace sunder::cli
