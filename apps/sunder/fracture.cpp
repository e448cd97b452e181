// sunder fracture MESH --material NAME --impact auto|X,Y,Z,VX,VY,VZ -o pieces/
#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/fracture/crack/fine_surface.h"
#include "sunder/fracture/model/adaptive_fracture.h"
#include "sunder/fracture/model/voronoi.h"
#include "sunder/fracture/pieces/rest_mesh.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/show/export/export_files.h"
#include "sunder/spatial/query/mesh_queries.h"

#include "command.h"
#include "solid_input.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

constexpr double kSteel = 7850;       // kg/m^3
constexpr double kRestitution = 0.5;  // of the ball that strikes

struct FractureOptions {
  std::string input, output, impact = "auto", duration = "source", scheme = "euler", recovery = "lumped";
  MaterialChoice material;
  std::optional<double> strength, surfaceEnergy;
  double speed = 5, ball = 0, edge = 0, noise = 0, budget = fracture::FractureSettings{}.mostWork;
  uint32_t cycles = 1, steps = 20, voronoi = 0;
  bool arrest = false, sharp = true, coarse = false;
};

// What strikes: a steel ball.
struct Striker {
  Vec3 point, velocity;
  double radius = 0;
};

Striker strikerOf(const FractureOptions& options, const geometry::TriMesh& surface,
                  const geometry::MassProperties& mass) {
  const Box3 box = geometry::bounds(surface.positions);
  Striker striker;
  striker.radius = options.ball > 0 ? options.ball / 2 : 0.05 * box.extent().maxCoeff();
  if (options.impact == "auto") {
    striker.velocity = Vec3(0, -options.speed, 0);
    // The highest point above the centre of mass, or of all where nothing is above it.
    striker.point = *std::max_element(surface.positions.begin(), surface.positions.end(),
                                      [](const Vec3& a, const Vec3& b) { return a.y() < b.y(); });
    double highest = -Box3::kInfinity;
    for (const auto& t : surface.triangles) {
      const Vec3 &a = surface.positions[t[0]], &b = surface.positions[t[1]], &c = surface.positions[t[2]];
      const auto cross = [](const Vec3& u, const Vec3& v) { return u.x() * v.z() - u.z() * v.x(); };
      const double whole = cross(b - a, c - a);
      if (whole == 0) continue;
      const double v = cross(mass.centre - a, c - a) / whole, w = cross(b - a, mass.centre - a) / whole;
      if (v < 0 || w < 0 || v + w > 1) continue;
      const Vec3 at = a + v * (b - a) + w * (c - a);
      if (at.y() > highest) {
        highest = at.y();
        striker.point = at;
      }
    }
    return striker;
  }
  const std::vector<double> v = numbersOf(options.impact, 6, "impact", "0,0.1,0,0,-5,0");
  striker.point = Vec3(v[0], v[1], v[2]);
  striker.velocity = Vec3(v[3], v[4], v[5]);
  if (!(striker.velocity.norm() > 0))
    throw Error(ErrorKind::Usage, "--impact has no speed")
        .hint("the last three numbers are a velocity in m/s");
  const spatial::MeshQuery query(surface);
  const spatial::ClosestPoint hit = query.closest(striker.point);
  const double off = (hit.point - striker.point).norm();
  if (off > 0.05 * box.diagonal())
    logWarn("the impact at {:.4g},{:.4g},{:.4g} is {:.3g} m from the surface and acts at its nearest point",
            v[0], v[1], v[2], off);
  striker.point = hit.point;
  return striker;
}

// A ball that is free meets a body that is free, without friction.
fracture::Impact impactOf(const Striker& striker, const geometry::MassProperties& mass, double density) {
  const Vec3 n = striker.velocity.normalized(), arm = striker.point - mass.centre;
  const double ball = kSteel * 4 * kPi / 3 * std::pow(striker.radius, 3);
  const Vec3 twist = arm.cross(n);
  const double compliance =
      1 / ball + 1 / (density * mass.volume) + twist.dot((density * mass.inertia).inverse() * twist);
  fracture::Impact impact;
  impact.point = striker.point;
  impact.speed = striker.velocity.norm();
  impact.impulse = n * ((1 + kRestitution) * impact.speed / compliance);
  impact.other = {ball, 2e11, 0.3, striker.radius};
  return impact;
}

Json stages(const fracture::FractureStages& s) {
  return {{"assembly", s.assemble},  {"factorisation", s.factor}, {"substitution", s.substitute},
          {"recovery", s.recover},   {"refinement", s.refine},    {"coarsening", s.coarsen},
          {"dissection", s.dissect}, {"partition", s.partition},  {"total", s.total()}};
}

// The mesh that was filled, where it is fit to be cut.
std::optional<fracture::FineSurface> fineSurface(const std::optional<geometry::TriMesh>& given,
                                                 const geometry::TetMesh& tets,
                                                 const FractureOptions& options) {
  if (!given) return std::nullopt;
  try {
    return std::make_optional<fracture::FineSurface>(*given, fracture::meanEdge(tets));
  } catch (const Error& error) {
    logWarn("{}: pieces are as coarse as the tetrahedra: {}", options.input, error.what());
    return std::nullopt;
  }
}

int fractureMesh(const FractureOptions& options, const Settings& settings) {
  fracture::BrittleMaterial material = fracture::brittleMaterial(chosenMaterial(options.material));
  const bool brittle = material.strength > 0;
  material.strength = options.strength.value_or(material.strength);
  material.surfaceEnergy = options.surfaceEnergy.value_or(material.surfaceEnergy);
  if (!options.strength && !brittle)
    throw Error(ErrorKind::Usage,
                fmt::format("{} does not break as brittle solids do", options.material.name))
        .hint(
            "take glass, porcelain, concrete, plaster, limestone, granite, brick or ice, or give --strength");
  fracture::requireValid(material);
  if (material.elastic.locks())
    logWarn("Poisson's ratio {} is close to 0.5: the body will seem too stiff", material.elastic.poisson);

  SolidInput input = readSolid(options.input, options.edge, 12, options.sharp, SolidVolume::Whole, settings);
  const fracture::CrackedMesh body(std::move(input.mesh));
  try {
    fracture::requireOnePart(body.mesh);
  } catch (Error& error) {
    error.inFile(options.input);
    throw;
  }
  const geometry::TriMesh surface = geometry::boundarySurface(body.mesh).surface;
  const geometry::MassProperties mass = geometry::massProperties(surface);
  const Striker striker = strikerOf(options, surface, mass);
  if (!input.note.empty() && !settings.quiet) logInfo("{}: {}", options.input, input.note);
  const fracture::Impact impact = impactOf(striker, mass, material.elastic.density);

  fracture::FractureSettings how;
  how.cycles = options.cycles;
  how.steps = options.steps;
  how.mostWork = options.budget;
  how.arrest = options.arrest;
  how.contact.duration =
      options.duration == "hertz" ? fracture::DurationModel::Hertz : fracture::DurationModel::Source;
  how.scheme =
      options.scheme == "trapezoidal" ? fem::TimeScheme::Trapezoidal : fem::TimeScheme::BackwardEuler;
  how.recovery = options.recovery == "patch" ? fem::Recovery::Patch : fem::Recovery::Lumped;
  const double edge = fracture::meanEdge(body.mesh);
  if (options.noise > 0) how.noise = {options.noise, 3 * edge, 1};
  fracture::AdaptiveFracture fracture;
  uint32_t next = 0;
  fracture::FractureOutcome outcome;
  if (options.voronoi > 0) {
    outcome.broken = fracture::voronoiPieces(
        body, fracture::voronoiSites(body, options.voronoi, 1, striker.point, 1), how.leastPart, next);
    outcome.tets = outcome.refinedTets = body.size();
    for (uint32_t p = 0; p < outcome.broken->pieces; ++p)
      outcome.pieces.push_back(fracture::partOf(outcome.broken->cracked.mesh, outcome.broken->piece, p));
  } else {
    outcome = fracture.strike(body, material, {&impact, 1}, how, edge, next);
  }

  const bool wholeImpact = options.voronoi > 0 || !outcome.analysed || outcome.steps == options.steps;
  if (!wholeImpact)
    logWarn("{}: the analysis ended by its budget (--budget) after {} of {} steps: cracks may be missing",
            options.input, outcome.steps, options.steps);

  std::optional<fracture::FineSurface> fine =
      options.coarse ? std::nullopt : fineSurface(input.surface, body.mesh, options);
  std::vector<fracture::FinePiece> shown;
  if (fine && outcome.broken) {
    const fracture::Dissection& cracked = outcome.broken->cracked;
    shown = fine->split(fine->whole(), {cracked.mesh, cracked.tetSource, cracked.vertexSource,
                                        outcome.broken->piece, outcome.broken->pieces});
  } else if (fine) {
    shown.push_back(fine->whole());
  }
  Json pieces = Json::array();
  double volume = 0;
  size_t coarse = 0;  // pieces that had to be
  std::optional<show::ExportFiles> files;
  if (!options.output.empty()) files.emplace(options.output, show::ExportFiles::Folder);
  for (size_t i = 0; i < outcome.pieces.size(); ++i) {
    const fracture::CrackedMesh& piece = outcome.pieces[i];
    const auto cells = fracture::cellsOf(piece);
    const fracture::CrackedSurface made = fracture::surfaceOf(piece, cells, fracture::linksOf(piece, cells));
    geometry::TriMesh mesh = made.mesh;
    if (fine && !shown[i].mesh.triangles.empty()) {
      mesh = std::move(shown[i].mesh);
    } else if (fine) {
      ++coarse;
      logWarn("piece {} is as coarse as its tetrahedra: the mesh could not be cut there", i);
    }
    const geometry::MassProperties own = geometry::massProperties(mesh);
    volume += own.volume;
    const std::string name = fmt::format("piece_{:03}.ply", i);
    if (files) {
      meshio::MeshFile file;
      file.surface = geometry::toSoup(mesh);
      files->write(name, [&](OutputFile& out) { meshio::writeMesh(out, meshio::MeshFormat::Ply, file); });
    }
    pieces.push_back({{"file", name},
                      {"volume", own.volume},
                      {"mass", own.volume * material.elastic.density},
                      {"triangles", mesh.triangles.size()}});
  }
  const double lost = volume / (fine ? geometry::massProperties(fine->whole().mesh).volume : mass.volume) - 1;
  if (files) files->finish();  // nothing behind it looks at a request to stop
  if (settings.json) {
    Json cracks = Json::array();
    const auto point = [](const Vec3& p) { return Json::array({p.x(), p.y(), p.z()}); };
    for (const fracture::CrackRecord& c : outcome.cracks)
      cracks.push_back({{"at", point(c.seed)},
                        {"normal", point(c.normal)},
                        {"time", c.time},
                        {"stress", c.stress},
                        {"area", c.area}});
    Json json = {{"input", options.input},
                 {"material", options.material.name},
                 {"strength", material.strength},
                 {"impact",
                  {{"point", point(striker.point)},
                   {"velocity", point(striker.velocity)},
                   {"impulse", impact.impulse.norm()},
                   {"duration", outcome.duration}}},
                 {"tets", outcome.tets},
                 {"refined_tets", outcome.refinedTets},
                 {"steps", outcome.steps},
                 {"complete", wholeImpact},
                 {"work", outcome.work},
                 {"largest_stress", outcome.largestStress},
                 {"cracks", cracks},
                 {"fragments", outcome.pieces.size()},
                 {"pieces", pieces},
                 {"fine", fine.has_value()},
                 {"coarse_pieces", coarse},
                 {"volume_error", lost},
                 {"seconds", stages(outcome.seconds)}};
    if (files) json["output"] = options.output;
    printJson(json);
  }
  std::string text = fmt::format(
      "{}: struck at ({:.4g}, {:.4g}, {:.4g}) with {:.3g} N s in {:.3g} s\n  stress {:.3g} Pa at most, {} "
      "breaks at "
      "{:.3g}\n  {} cracks, {} pieces; {} tetrahedra, {} at most while it was analysed, {:.1f} ms",
      options.input, striker.point.x(), striker.point.y(), striker.point.z(), impact.impulse.norm(),
      outcome.duration, outcome.largestStress, options.material.name, material.strength,
      outcome.cracks.size(), outcome.pieces.size(), outcome.tets, outcome.refinedTets,
      1e3 * outcome.seconds.total());
  if (options.voronoi > 0)
    text = fmt::format("{}: {} Voronoi cells around ({:.4g}, {:.4g}, {:.4g}), {} pieces; {} tetrahedra",
                       options.input, options.voronoi, striker.point.x(), striker.point.y(),
                       striker.point.z(), outcome.pieces.size(), outcome.tets);
  else if (outcome.cracks.empty())
    text += "\n  nothing broke; a larger --speed or --ball strikes harder";
  say(settings, text);
  return 0;
}

}  // namespace

Verb addFracture(App& root) {
  auto options = std::make_shared<FractureOptions>();
  App* app = root.addVerb("fracture", "Strike a brittle body and write the pieces");
  app->addOption("INPUT", options->input, "Tetrahedra, or a closed mesh or field (.sdf) to fill")->required();
  app->addOption("-o,--output", options->output, "Folder for the pieces, a closed PLY file each")
      ->typeName("DIR");
  addMaterialOptions(*app, options->material);
  app->addOption("--impact", options->impact,
                 "Where a steel ball hits and how fast, or auto: from above, at --speed [auto]")
      ->typeName("auto|X,Y,Z,VX,VY,VZ");
  app->addOption("--speed", options->speed, "Of the ball in m/s, for auto [5]")
      ->check(positiveCheck())
      ->typeName("V");
  app->addOption("--ball", options->ball, "Diameter of the ball in metres [a tenth of the longest side]")
      ->check(positiveCheck())
      ->typeName("D");
  app->addOption("--edge", options->edge,
                 "Edge of tetrahedra in metres where a surface is filled [a twelfth]")
      ->check(positiveCheck())
      ->typeName("D");
  app->addFlag("--sharp,!--no-sharp", options->sharp, "Keep sharp edges of a surface that is filled [yes]");
  app->addOption("--cycles", options->cycles, "Of refinement at peaks of stress and along cracks [1]")
      ->check(inRange(0, 4))
      ->typeName("N");
  app->addOption("--steps", options->steps, "Of time while the ball touches [20]")
      ->check(inRange(1, 10000))
      ->typeName("N");
  app->addOption("--budget", options->budget,
                 "Work after which the analysis ends with the cracks so far: tetrahedra times steps [1e8]")
      ->check(positiveCheck())
      ->typeName("N");
  app->addOption("--noise", options->noise, "How far cracks leave their planes, in metres [0]")
      ->check(notNegativeCheck())
      ->typeName("D");
  app->addOption("--voronoi", options->voronoi, "Cut into the Voronoi cells of this many points instead")
      ->check(inRange(2, 10000))
      ->typeName("N");
  app->addFlag("--coarse", options->coarse, "Pieces with the surface of the tetrahedra, not of the mesh");
  app->addFlag("--arrest", options->arrest, "Cracks stop when the elastic energy is spent");
  // Both are looked at with the material, which knows what to say.
  app->addOption("--strength", options->strength, "In pascals, instead of the material's; inf never breaks")
      ->typeName("PA");
  app->addOption("--surface-energy", options->surfaceEnergy, "In J/m^2, instead of the material's")
      ->typeName("G");
  app->addOption("--duration", options->duration, "How long the ball touches: source or hertz [source]")
      ->check(oneOf({"source", "hertz"}))
      ->typeName("NAME");
  app->addOption("--scheme", options->scheme, "Steps of time: euler or trapezoidal [euler]")
      ->check(oneOf({"euler", "trapezoidal"}))
      ->typeName("NAME");
  app->addOption("--recovery", options->recovery, "Stress at vertices: lumped or patch [lumped]")
      ->check(oneOf({"lumped", "patch"}))
      ->typeName("NAME");
  app->footer(
      "Examples:\n"
      "  sunder fracture vase.obj --material porcelain -o pieces/\n"
      "  sunder fracture wall.ply --material concrete --impact 0,1,0.1,0,0,-20 --ball 0.2 -o pieces/ --json");
  return {app, [options](const Settings& settings) { return fractureMesh(*options, settings); }};
}

}  // namespace sunder::cli
