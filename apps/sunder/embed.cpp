// sunder embed MESH -o ASSET: a fine surface in a coarse cage of tetrahedra, for soft bodies
#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/cage/auto_cage.h"
#include "sunder/soft/cage/cage_parts.h"
#include "sunder/soft/embed/asset.h"
#include "sunder/tet/tet_report.h"

#include "command.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct EmbedOptions {
  std::string input, output, cage, mode = "clipped";
  uint32_t tets = 100;
  double crease = 40;
  bool noFit = false, whole = false;
};

// The triangles with their texture coordinates; groups of faces become material slots.
void takeSurface(const geometry::PolygonSoup& soup, soft::Asset& asset) {
  std::vector<uint32_t> faces;
  asset.surface = geometry::toTriMesh(soup, &faces);
  for (size_t t = 0; t < faces.size(); ++t) {
    const uint32_t face = faces[t];
    if (!soup.cornerUvs.empty())
      for (const uint32_t v : asset.surface.triangles[t]) {
        uint32_t corner = soup.faceOffsets[face];
        while (soup.corners[corner] != v) ++corner;
        asset.attributes.uvs.push_back(soup.cornerUvs[corner].cast<float>());
      }
    if (soup.groupNames.size() > 1) asset.attributes.slots.push_back(uint16_t(soup.faceGroup[face] + 1));
  }
  if (soup.groupNames.size() > 1) asset.slotMaterials = soup.groupNames;
}

soft::Cage cageFor(const EmbedOptions& options, const Settings& settings, const geometry::TriMesh& surface,
                   soft::CageReport& report) {
  if (options.cage.empty()) {
    const ProfileScope scope("cage");
    try {
      return soft::makeCageAround(surface, {.tets = options.tets, .fit = !options.noFit}, &report);
    } catch (Error& error) {
      throw std::move(error.inFile(options.input));
    }
  }
  tet::TetFileReport file;
  geometry::TetMesh mesh = tet::readTetMesh(options.cage, tet::InvertedTets::Turn, file);
  reportNotes(settings, options.cage, file.notes);
  report.wished = uint32_t(mesh.tets.size());
  try {
    return soft::makeCage(std::move(mesh));
  } catch (Error& error) {
    throw std::move(error.inFile(options.cage));
  }
}

// "4315 once, 661 twice, 18 three times"
std::string timesText(const std::vector<size_t>& times) {
  std::string text;
  for (size_t k = 1; k < times.size(); ++k) {
    const std::string word = k == 1 ? "once" : k == 2 ? "twice" : fmt::format("{} times", k);
    text += fmt::format("{}{} {}", k == 1 ? "" : ", ", times[k], word);
  }
  return text;
}

int embedFile(const EmbedOptions& options, const Settings& settings) {
  Profiler profiler;
  const Profiler::Activation active(profiler);
  soft::Asset asset;
  {
    const ProfileScope scope("read");
    const geometry::PolygonSoup soup = readSurface(options.input, settings);
    if (soup.groupNames.size() > 65535)
      throw Error(ErrorKind::Limit, fmt::format("has {} groups, 65535 are the most", soup.groupNames.size()))
          .inFile(options.input);
    takeSurface(soup, asset);
  }
  asset.attributes.crease = options.crease;
  soft::CageReport report;
  soft::Cage cage = cageFor(options, settings, asset.surface, report);
  soft::PartsReport parts;
  const uint32_t before = uint32_t(cage.rest.tets.size());
  soft::CopyStatistics table;
  std::vector<soft::TetContent> contents;
  try {
    if (!options.whole) {
      const ProfileScope scope("parts");
      cage = soft::separateParts(asset.surface, std::move(cage), &parts);
    }
    const ProfileScope scope("embed");
    const soft::SurfaceCopies copies = soft::assignSurface(asset.surface, cage);
    table = soft::copyStatistics(copies);
    contents = soft::tetContents(asset.surface, cage, copies);
    asset.embedded = soft::embedSurface(
        asset.surface, cage, copies,
        options.mode == "copies" ? soft::EmbedMode::Copies : soft::EmbedMode::Clipped, asset.attributes);
  } catch (Error& error) {
    throw std::move(error.inFile(options.input));
  }
  asset.cage = std::move(cage);
  size_t inside = 0, outside = 0;
  for (const soft::TetContent content : contents) {
    inside += content == soft::TetContent::Inside;
    outside += content == soft::TetContent::Outside;
  }
  const uint32_t tets = uint32_t(asset.cage.rest.tets.size());
  const uint32_t removed = before + parts.copies - tets;
  if (removed + outside != 0)
    logWarn("{}: {} tetrahedra hold nothing of the solid{}", options.cage, removed + outside,
            removed != 0 ? " and are left out" : "");
  {
    const ProfileScope scope("write");
    soft::writeAsset(options.output, asset);
  }

  const double volume = geometry::totalVolume(asset.cage.rest);
  if (settings.json) {
    Json json = {{"input", options.input},
                 {"output", options.output},
                 {"triangles", table.triangles},
                 {"copies", table.copies},
                 {"copies_per_triangle", table.perTriangle()},
                 {"times", std::vector<size_t>(table.times.begin() + 1, table.times.end())},
                 {"clipped_triangles", table.clippedTriangles},
                 {"cage",
                  {{"tets", tets},
                   {"vertices", asset.cage.rest.positions.size()},
                   {"inside", inside},
                   {"removed", removed},
                   {"volume", volume}}},
                 {"parts", {{"doubled", parts.doubled}, {"most", parts.most}, {"pieces", parts.pieces}}},
                 {"embedded",
                  {{"mode", options.mode},
                   {"vertices", asset.embedded.weights.size()},
                   {"triangles", asset.embedded.triangles.size()}}}};
    if (options.cage.empty()) {
      json["cage"]["wished"] = report.wished;
      json["cage"]["edge"] = report.edge;
      json["cage"]["solid"] = report.solid;
      json["cage"]["smallest_angle"] = report.smallestAngle;
      json["cage"]["moved"] = report.moved;
      json["closed"] = report.closed;
    }
    json["seconds"] = stagesJson(profiler);
    printJson(json);
  }
  std::string text =
      fmt::format("{} -> {}:\n  {} tetrahedra ({} without surface), {} vertices, volume {:.6g} m^3",
                  options.input, options.output, tets, inside, asset.cage.rest.positions.size(), volume);
  if (options.cage.empty())
    text += fmt::format(", {:.0f} % of it solid\n  smallest dihedral angle {:.3g} degrees, {} vertices moved",
                        100 * report.solid, report.smallestAngle, report.moved);
  if (parts.doubled != 0)
    text += fmt::format("\n  {} tetrahedra hold several parts of the solid, {} at most, and were doubled",
                        parts.doubled, parts.most);
  text += fmt::format(
      "\n  {} triangles, {} copies, {:.4g} a triangle: {}\n  shown as {} triangles with {} vertices",
      table.triangles, table.copies, table.perTriangle(), timesText(table.times),
      asset.embedded.triangles.size(), asset.embedded.weights.size());
  say(settings, text);
  return 0;
}

}  // namespace

Verb addEmbed(App& root) {
  auto options = std::make_shared<EmbedOptions>();
  App* app = root.addVerb("embed", "Put a fine surface into a coarse cage of tetrahedra, for soft bodies");
  app->addOption("INPUT", options->input, "A mesh that encloses a solid")->required();
  app->addOption("-o,--output", options->output, "The embedded surface to write")
      ->required()
      ->typeName("FILE");
  app->addOption("--tets", options->tets, "About how many tetrahedra the cage has [100]")
      ->check(inRange(1u, 1'000'000'000u))
      ->typeName("N");
  app->addOption("--cage", options->cage,
                 "Tetrahedra to use as the cage (.msh, .vtu, ...) in place of a made one")
      ->typeName("FILE")
      ->excludes("--tets");
  app->addOption("--mode", options->mode,
                 "Show the surface clipped by the tetrahedra, or in whole copies [clipped]")
      ->check(oneOf({"clipped", "copies"}));
  app->addOption("--crease", options->crease, "Edges sharper than that are shown sharp, in degrees [40]")
      ->check(inRange(0.0, 180.0))
      ->typeName("A");
  app->addFlag("--no-fit", options->noFit, "Leave the vertices of the cage on their lattice");
  app->addFlag("--whole", options->whole, "Do not double tetrahedra that hold several parts of the solid");
  app->footer(
      "Every triangle has a copy in each tetrahedron that holds a part of it; fewer copies are drawn "
      "faster.\n"
      "Examples:\n"
      "  sunder embed rabbit.obj --tets 100 -o rabbit.soft\n"
      "  sunder embed rabbit.obj --cage cage.msh -o rabbit.soft --json\n"
      "  sunder embed rabbit.obj --tets 500 --mode copies -o rabbit.soft");
  return {app, [options](const Settings& settings) { return embedFile(*options, settings); }};
}

}  // namespace sunder::cli
