// sunder cut MESH CUTTER --op split|union|... -o FILE|DIR, with planes and noisy sheets as built-in cutters
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/log.h"
#include "sunder/base/rotation.h"
#include "sunder/base/work.h"
#include "sunder/cut/finish/attributes.h"
#include "sunder/cut/patches.h"
#include "sunder/cut/resolve.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/shapes/sheet.h"
#include "sunder/show/export/export_files.h"

#include "command.h"
#include "plane_cutter.h"
#include "solid_input.h"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

using cut::Op;

struct OpName {
  const char* name;
  Op op;
};
constexpr std::array kOps{OpName{"split", Op::Split},
                          OpName{"above", Op::Above},
                          OpName{"below", Op::Below},
                          OpName{"outside", Op::Above},
                          OpName{"inside", Op::Below},
                          OpName{"union", Op::Union},
                          OpName{"intersection", Op::Intersection},
                          OpName{"difference", Op::Difference},
                          OpName{"xor", Op::SymmetricDifference}};

struct CutArguments {
  std::string mesh, op = "split", output, seam, patches;
  std::vector<std::string> cutters, planes, sheets;
  double amplitude = 0.05, frequency = 4;
  double budget = double(cut::kMostCandidates);  // pairs of faces
  int cells = 64, seed = 1;
  bool triangles = false, check = true, keepEmpty = false, resolve = false, checkRounding = false,
       mendRounding = false;
};

constexpr double kBytesPerPair = 40;

geometry::PolygonSoup noisyCutter(const CutArguments& arguments, const Plane& plane, double reach) {
  shapes::NoisySheetShape shape;
  shape.width = shape.depth = 2 * reach;
  shape.amplitude = arguments.amplitude * reach;
  shape.frequency = arguments.frequency / reach;
  shape.seed = arguments.seed;
  shape.nx = shape.nz = arguments.cells;
  shape.closed = false;
  geometry::TriMesh sheet = shapes::makeNoisySheet(shape);
  // The sheet is level, its normal up.
  const Quat turn = rotationBetween(Vec3::UnitY(), plane.normal);
  for (Vec3& p : sheet.positions) p = turn * p + plane.point;
  return geometry::toSoup(sheet);
}

std::vector<geometry::PolygonSoup> cuttersOf(const CutArguments& arguments, const geometry::PolygonSoup& mesh,
                                             const Settings& settings) {
  std::vector<geometry::PolygonSoup> cutters;
  for (const std::string& file : arguments.cutters) cutters.push_back(readSurface(file, settings));
  for (const std::string& text : arguments.planes) {
    const Plane plane = planeOf(text, "plane");
    cutters.push_back(flatCutter(plane, reachOf(plane, mesh)));
  }
  for (const std::string& text : arguments.sheets) {
    const Plane plane = planeOf(text, "sheet");
    cutters.push_back(noisyCutter(arguments, plane, reachOf(plane, mesh)));
  }
  if (cutters.empty())
    throw Error(ErrorKind::Usage, "nothing to cut with").hint("give a second mesh, or --plane, or --sheet");
  return cutters;
}

// Points and lines as OBJ has them.
void writeSeam(const std::string& path, const cut::CutResult& result) {
  std::string text;
  for (const Vec3& p : result.seamPoints) text += fmt::format("v {} {} {}\n", p.x(), p.y(), p.z());
  for (const auto& [a, b] : result.seam) text += fmt::format("l {} {}\n", a + 1, b + 1);
  writeFile(path, text);
}

// The cutters' surfaces in one file, a group for each patch.
Json writePatches(const CutArguments& arguments, const geometry::PolygonSoup& mesh,
                  const std::vector<geometry::PolygonSoup>& cutters, uint64_t most,
                  const Settings& settings) {
  const auto solid = [&](const geometry::PolygonSoup& soup, const char* name) {
    return arguments.resolve ? cut::resolveOverlaps(soup, name, most).mesh : soup;
  };
  const geometry::PolygonSoup body = solid(mesh, "mesh");
  Json list = Json::array();
  meshio::MeshFile file;
  geometry::PolygonSoup& all = file.surface;
  for (size_t i = 0; i < cutters.size(); ++i) {
    const cut::CutterPatches made =
        cut::cutterPatches(body, solid(cutters[i], "cutter"), arguments.triangles, false);
    const uint32_t firstVertex = static_cast<uint32_t>(all.positions.size()),
                   firstGroup = static_cast<uint32_t>(all.groupNames.size());
    all.positions.insert(all.positions.end(), made.mesh.positions.begin(), made.mesh.positions.end());
    std::vector<size_t> faces(made.patches, 0);
    for (size_t f = 0; f < made.mesh.faceCount(); ++f) {
      std::vector<uint32_t> ring(made.mesh.face(f).begin(), made.mesh.face(f).end());
      for (uint32_t& v : ring) v += firstVertex;
      all.addFace(ring);
      all.faceGroup.push_back(firstGroup + made.patch[f]);
      ++faces[made.patch[f]];
    }
    for (uint32_t p = 0; p < made.patches; ++p) {
      all.groupNames.push_back(
          fmt::format("{}_{}", made.inside[p] ? "inside" : "outside", all.groupNames.size()));
      list.push_back({{"group", all.groupNames.back()},
                      {"cutter", i},
                      {"inside", made.inside[p] != 0},
                      {"faces", faces[p]},
                      {"area", made.area[p]}});
    }
  }
  reportNotes(settings, arguments.patches, meshio::writeMesh(arguments.patches, file));
  return list;
}

int cutMesh(const CutArguments& arguments, const Settings& settings) {
  const bool oneFile = std::filesystem::path(arguments.output).has_extension();
  // Refused before the work.
  if (oneFile) meshio::formatOf(arguments.output);
  if (!arguments.patches.empty()) meshio::formatOf(arguments.patches);
  const geometry::PolygonSoup mesh = readSurface(arguments.mesh, settings);
  const std::vector<geometry::PolygonSoup> cutters = cuttersOf(arguments, mesh, settings);
  cut::CutOptions options{.triangles = arguments.triangles,
                          .keepEmpty = arguments.keepEmpty,
                          .checkInput = arguments.check,
                          .resolve = arguments.resolve,
                          .checkRounding = arguments.checkRounding,
                          .mendRounding = arguments.mendRounding,
                          .mostPairs = affordable(arguments.budget, kBytesPerPair)};
  for (const OpName& o : kOps)
    if (arguments.op == o.name) options.op = o.op;
  std::optional<Work> work(std::in_place, "cutting");
  const cut::CutResult result = [&] {
    try {
      return cut::cut(mesh, cutters, options);
    } catch (Error& error) {
      if (error.kind() == ErrorKind::Limit) error.inFile(arguments.mesh);
      throw;
    }
  }();
  const std::vector<geometry::PolygonSoup> fragments = cut::separate(result);
  work.emplace("writing pieces", fragments.size(), "pieces");

  Json pieces = Json::array();
  std::optional<show::ExportFiles> files;
  if (!arguments.output.empty() && !oneFile) files.emplace(arguments.output, show::ExportFiles::Folder);
  for (size_t i = 0; i < fragments.size(); ++i) {
    Json piece{{"vertices", fragments[i].positions.size()},
               {"faces", fragments[i].faceCount()},
               {"volume", result.volume[i]},
               {"above", result.above[i] != 0},
               {"below", result.below[i] != 0}};
    if (files) {
      const std::string name = fmt::format("piece_{:03}.ply", i);
      meshio::MeshFile file;
      file.surface = fragments[i];
      files->write(name, [&](OutputFile& out) { meshio::writeMesh(out, meshio::MeshFormat::Ply, file); });
      piece["file"] = name;
    }
    pieces.push_back(std::move(piece));
    work->step();
  }
  work.reset();
  std::vector<std::string> notes;
  if (files) files->finish();
  if (oneFile) {
    meshio::MeshFile file;
    file.surface = result.mesh;
    notes = meshio::writeMesh(arguments.output, file);
    reportNotes(settings, arguments.output, notes);
  }
  if (!arguments.seam.empty()) writeSeam(arguments.seam, result);
  Json patches = Json::array();
  if (!arguments.patches.empty())
    patches = writePatches(arguments, mesh, cutters, options.mostPairs, settings);
  const cut::CutStatistics& s = result.statistics;
  const double seconds = s.prepare + s.intersect + s.trace + s.sort + s.write;
  if (settings.json) {
    Json json{{"mesh", arguments.mesh},
              {"op", arguments.op},
              {"fragments", result.fragments},
              {"vertices", result.mesh.positions.size()},
              {"faces", result.mesh.faceCount()},
              {"seam_points", s.seamPoints},
              {"seam_segments", s.seamSegments},
              {"pieces", pieces},
              {"seconds",
               {{"prepare", s.prepare},
                {"intersect", s.intersect},
                {"trace", s.trace},
                {"sort", s.sort},
                {"write", s.write}}}};
    if (!arguments.output.empty()) json["output"] = arguments.output;
    if (arguments.checkRounding || arguments.mendRounding) {
      json["rounding_crossings"] = result.crossings.size();
      json["crossing_faces"] = Json::array();
      for (size_t i = 0; i < std::min<size_t>(result.crossings.size(), 100); ++i)
        json["crossing_faces"].push_back(result.crossings[i]);
    }
    if (!arguments.patches.empty()) json["patches"] = patches;
    if (!notes.empty()) json["write_notes"] = notes;
    printJson(json);
    return 0;
  }
  std::string text =
      fmt::format("{}: {} in {} {}, {} points on the seam, {:.1f} ms", arguments.mesh, arguments.op,
                  result.fragments, result.fragments == 1 ? "piece" : "pieces", s.seamPoints, 1e3 * seconds);
  constexpr size_t kMostLines = 12;
  for (size_t i = 0; i < std::min(fragments.size(), kMostLines); ++i)
    text += fmt::format("\n  piece {}: {} vertices, {} faces, volume {:.6g}", i,
                        fragments[i].positions.size(), fragments[i].faceCount(), result.volume[i]);
  if (fragments.size() > kMostLines) text += fmt::format("\n  and {} more", fragments.size() - kMostLines);
  if (!patches.empty()) {
    size_t inside = 0;
    for (const Json& p : patches) inside += p["inside"].boolean();
    text += fmt::format("\n  {} {} of the cutter, {} inside", patches.size(),
                        patches.size() == 1 ? "patch" : "patches", inside);
  }
  if ((arguments.checkRounding || arguments.mendRounding) && result.crossings.empty())
    text += "\n  no faces cross after rounding";
  if (!result.crossings.empty())
    text += fmt::format("\n  {} pairs of faces cross after rounding, the first are {} and {}",
                        result.crossings.size(), result.crossings[0][0], result.crossings[0][1]);
  say(settings, text);
  return 0;
}

}  // namespace

Verb addCut(App& root) {
  auto arguments = std::make_shared<CutArguments>();
  App* app = root.addVerb("cut", "Cut a mesh with meshes, planes or noisy sheets");
  app->addOption("MESH", arguments->mesh, "The mesh to cut")->required();
  app->addOption("CUTTER", arguments->cutters, "The meshes to cut with, solids or sheets");
  std::vector<std::string> names;
  for (const OpName& o : kOps) names.push_back(o.name);
  app->addOption("--op", arguments->op,
                 "split, above, below, outside, inside, union, intersection, difference or xor [split]")
      ->check(oneOf(names))
      ->typeName("NAME");
  app->addOption("-o,--output", arguments->output,
                 "One mesh file for all, or a folder with a PLY file a piece")
      ->typeName("FILE|DIR");
  app->addOption("--seam", arguments->seam, "Also the seam, as lines of an OBJ file")->typeName("FILE");
  app->addOption("--patches", arguments->patches,
                 "Also the cutter's surface divided along the seam, a group a patch")
      ->typeName("FILE");
  app->addOption("--plane", arguments->planes, "Cut with a plane, by a point and the normal; again for more")
      ->takeAll()
      ->typeName("X,Y,Z,NX,NY,NZ");
  app->addOption("--sheet", arguments->sheets, "Cut with a noisy sheet around such a plane; again for more")
      ->takeAll()
      ->typeName("X,Y,Z,NX,NY,NZ");
  app->addOption("--amplitude", arguments->amplitude,
                 "Height of the noise, as a part of the sheet's half width [0.05]")
      ->check(notNegativeCheck())
      ->typeName("A");
  app->addOption("--frequency", arguments->frequency, "Bumps of the noise along half the sheet [4]")
      ->check(positiveCheck())
      ->typeName("F");
  app->addOption("--cells", arguments->cells, "Squares along a side of the sheet [64]")
      ->check(inRange(1, 2000))
      ->typeName("N");
  app->addOption("--seed", arguments->seed, "Of the noise [1]")->typeName("N");
  app->addOption("--budget", arguments->budget,
                 "Most pairs of faces that may meet; more are refused, with a number that would do [2.5e8]")
      ->check(positiveCheck())
      ->typeName("N");
  app->addFlag("--triangles", arguments->triangles, "Triangles only");
  app->addFlag("--keep-empty", arguments->keepEmpty, "Also pieces without volume");
  app->addFlag("--check,!--no-check", arguments->check, "Refuse meshes that cross themselves [yes]");
  app->addFlag("--resolve", arguments->resolve,
               "Closed meshes that cross themselves count by winding number");
  app->addFlag("--check-rounding", arguments->checkRounding,
               "Look for faces that cross since positions were rounded");
  app->addFlag("--mend-rounding", arguments->mendRounding,
               "And move their new vertices by some last digits until they do not");
  app->footer(
      "Examples:\n"
      "  sunder cut bunny.obj --plane 0,0.1,0,0,1,0 -o halves/\n"
      "  sunder cut body.obj tool.stl --op difference -o rest.ply\n"
      "  sunder cut body.obj drill.stl saw.stl --plane 0,0,0,1,0,0 -o pieces/\n"
      "  sunder cut body.obj sheet.obj --seam seam.obj --patches patches.obj\n"
      "  sunder cut statue.obj --sheet 0,1,0,0.1,1,0 --amplitude 0.1 -o pieces/ --json");
  return {app, [arguments](const Settings& settings) { return cutMesh(*arguments, settings); }};
}

}  // namespace sunder::cli
