// sunder stress MESH --material NAME --fix "y<0.01" --force X,Y,Z,FX,FY,FZ -o stress.vtu
#include "sunder/base/error.h"
#include "sunder/base/log.h"
#include "sunder/base/profiler.h"
#include "sunder/base/work.h"
#include "sunder/fem/parts/part_points.h"
#include "sunder/fem/probe.h"
#include "sunder/fem/statics.h"
#include "sunder/fem/stress_file.h"

#include "collide_many.h"
#include "command.h"
#include "solid_input.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct StressOptions {
  std::string input, output, solver = "auto", recovery = "patch";
  std::vector<std::string> fix, force, probe, cut;
  std::string gravity;
  double edge = 0, budget = 0;  // 0: as the solver has it
  MaterialChoice material;
};

// A body that sheets cut without changing its tetrahedra.
struct CutInput {
  explicit CutInput(geometry::TetMesh mesh) : body(std::move(mesh)) {}
  fem::CutMesh body;
  fem::PartMesh parts;
  fem::CutCounts counts;
};

void cutBody(const std::vector<std::string>& sheets, CutInput& input, const Settings& settings) {
  const Work work("cutting");
  for (const std::string& path : sheets) {
    const geometry::TriMesh sheet = readTriangles(path, settings);
    try {
      input.body.cut(sheet);
    } catch (Error& error) {
      throw std::move(error.inFile(path));
    }
    if (input.body.reached() == 0) logWarn("{} does not cut into the body", path);
  }
  input.counts = input.body.counts();
  input.parts = fem::partMesh(input.body);
}

// "y<0.01": all vertices there are held. Nodes from `count` on are copies on the far side of cuts.
void addSupports(const std::string& text, const geometry::TetMesh& mesh, size_t count,
                 std::vector<fem::Support>& supports) {
  const bool formed =
      text.size() > 2 && text[0] >= 'x' && text[0] <= 'z' && (text[1] == '<' || text[1] == '>');
  double limit = 0;
  const char* end = text.data() + text.size();
  if (!formed || std::from_chars(text.data() + 2, end, limit).ptr != end)
    throw Error(ErrorKind::Usage, fmt::format("--fix '{}' is not a half-space", text))
        .hint("like --fix \"y<0.01\"");
  const size_t before = supports.size();
  for (uint32_t v = 0; v < count; ++v) {
    const double x = mesh.positions[v][text[0] - 'x'];
    if (text[1] == '<' ? x < limit : x > limit) supports.push_back({.vertex = v});
  }
  if (supports.size() == before) {
    const Box3 box = geometry::bounds(mesh.positions);
    throw Error(ErrorKind::Usage, fmt::format("no vertex has {}", text))
        .hint(fmt::format("{} goes from {:.6g} to {:.6g}", text[0], box.lower[text[0] - 'x'],
                          box.upper[text[0] - 'x']));
  }
}

// Each piece that cuts leave needs a hold of its own.
void requireHeld(const CutInput& input, const std::vector<fem::Support>& supports) {
  uint32_t count = 0;
  const std::vector<uint32_t> piece = input.body.pieces(count);
  std::vector<uint32_t> pieceOf(input.body.nodes(), kNoIndex);
  std::vector<double> volume(count, 0);
  std::vector<Vec3> middle(count, Vec3::Zero());
  for (size_t p = 0; p < piece.size(); ++p) {
    if (piece[p] == kNoIndex) continue;
    const fem::ElementPart& part = input.body.parts()[p];
    for (const uint32_t n : part.nodes) pieceOf[n] = piece[p];
    volume[piece[p]] += part.volume;
    middle[piece[p]] += part.volume * part.centroid;
  }
  std::vector<uint8_t> held(count, 0);
  for (const fem::Support& s : supports)
    if (pieceOf[s.vertex] != kNoIndex) held[pieceOf[s.vertex]] = 1;
  for (uint32_t i = 0; i < count; ++i)
    if (held[i] == 0) {
      const Vec3 at = middle[i] / volume[i];
      throw Error(
          ErrorKind::Usage,
          fmt::format("nothing holds the piece of {:.3g} m^3 around ({:.4g}, {:.4g}, {:.4g}) that the "
                      "cuts part from the rest",
                      volume[i], at.x(), at.y(), at.z()))
          .hint("hold vertices of it with another --fix");
    }
}

Json point(const Vec3& p) { return Json::array({p.x(), p.y(), p.z()}); }

std::vector<Vec3> probePoints(const std::vector<std::string>& texts) {
  std::vector<Vec3> points;
  for (const std::string& text : texts) points.emplace_back(numbersOf(text, 3, "probe", "0,0.1,0").data());
  return points;
}

Json probeJson(const Vec3& at, const fem::ProbeValue& value) {
  return {{"at", point(at)},
          {"inside", value.distance == 0},
          {"distance", value.distance},
          {"displacement", point(value.displacement)},
          {"stress", std::vector<double>(value.stress.begin(), value.stress.end())},
          {"principal_stress", value.principal.value},
          {"principal_direction", point(value.principal.direction)}};
}

int stress(const StressOptions& options, const Settings& settings) {
  if (!options.output.empty() && std::filesystem::path(options.output).extension() != ".vtu")
    throw Error(ErrorKind::Usage, fmt::format("cannot write stress to {}", options.output))
        .hint("give a .vtu file");
  const std::vector<Vec3> probed = probePoints(options.probe);
  Profiler profiler;
  const Profiler::Activation active(profiler);
  const material::Material chosen = chosenMaterial(options.material);
  const fem::ElasticMaterial material = fem::elasticMaterial(chosen);
  const double strength = chosen.strength;
  if (material.locks())
    logWarn("Poisson's ratio {} is close to 0.5: the body will seem too stiff", material.poisson);
  const Vec3 gravity = options.gravity.empty()
                           ? Vec3::Zero()
                           : Vec3(numbersOf(options.gravity, 3, "gravity", "0,-9.81,0").data());
  fem::ElasticBody body;
  std::optional<CutInput> cut;
  std::string note;
  {
    const ProfileScope scope("read");
    SolidInput input = readSolid(options.input, options.edge, 20, false, SolidVolume::Told, settings);
    note = std::move(input.note);
    if (options.cut.empty()) {
      body.set(std::move(input.mesh), material);
    } else {
      cut.emplace(std::move(input.mesh));
    }
  }
  if (cut) {
    const ProfileScope scope("cut");
    cutBody(options.cut, *cut, settings);
    body.set(cut->parts.mesh, material, cut->parts.fractions, cut->parts.shares);
  }
  std::vector<fem::Support> supports;
  const size_t vertices = cut ? cut->body.mesh().positions.size() : body.vertices();
  for (const std::string& text : options.fix) addSupports(text, body.mesh(), vertices, supports);
  if (cut) requireHeld(*cut, supports);
  std::optional<fem::PartPoints> partPoints;
  if (cut && !(options.force.empty() && probed.empty())) partPoints.emplace(cut->body);
  std::vector<fem::NodalForce> forces;
  if (!options.force.empty()) {
    std::optional<fem::SurfaceForces> surface;
    if (!cut) surface.emplace(body.mesh());
    for (const std::string& text : options.force) {
      const std::vector<double> v = numbersOf(text, 6, "force", "0,1,0,0,-500,0");
      const Vec3 at(v[0], v[1], v[2]), force(v[3], v[4], v[5]);
      const double distance = cut ? partPoints->addForce(at, force, forces) : surface->add(at, force, forces);
      const Box3 box = geometry::bounds(body.mesh().positions);
      if (distance > 0.05 * box.extent().norm())
        logWarn("the force at {},{},{} is {:.3g} m from the surface and acts at its nearest point", v[0],
                v[1], v[2], distance);
    }
  }
  fem::StaticSolution solution;
  {
    const ProfileScope scope("solve");
    const Work work("solving");
    fem::SolverSettings how{.name = options.solver, .bestSoFar = true, .stoppable = true};
    how.mostIterations = static_cast<size_t>(std::min(options.budget, 1e18));
    try {
      solution = fem::solveStatic(body, supports, forces, gravity, how);
    } catch (Error& error) {
      if (error.kind() == ErrorKind::Limit) error.inFile(options.input);
      throw;
    }
  }
  if (!solution.converged)
    logWarn(
        "{}: ended by the budget (--budget) after {} iterations: forces of {:.2g} of those that act are not "
        "in balance",
        options.input, solution.iterations, solution.residual);
  fem::StressRecovery recovery;
  {
    const ProfileScope scope("recover");
    const Work work("recovering stress");
    recovery.setBody(body, options.recovery == "lumped" ? fem::Recovery::Lumped : fem::Recovery::Patch);
    recovery.update(solution.displacements);
  }
  std::vector<fem::ProbeValue> probes;
  if (!probed.empty() && cut)
    probes = fem::probe(*partPoints, cut->body, cut->parts, solution.displacements, recovery, probed);
  else if (!probed.empty())
    probes = fem::probe(body, solution.displacements, recovery, probed);
  if (!options.output.empty())
    fem::writeStressFile(options.output, body, solution.displacements, recovery,
                         cut ? std::span<const double>(cut->parts.fractions) : std::span<const double>());

  if (!note.empty()) logWarn("{}: {}", options.input, note);

  size_t farthest = 0;
  Vec3 reaction = Vec3::Zero();
  // Copies of nodes lie across a cut from their part: the body has no such points.
  for (size_t v = 0; v < vertices; ++v)
    if (solution.displacements[v].squaredNorm() > solution.displacements[farthest].squaredNorm())
      farthest = v;
  for (const Vec3& force : solution.reactions) reaction += force;
  uint32_t strongest = recovery.strongest();
  if (cut) {
    strongest = 0;
    for (uint32_t v = 1; v < vertices; ++v)
      if (recovery.principals()[v].value > recovery.principals()[strongest].value) strongest = v;
  }
  const fem::Principal& principal = recovery.principals()[strongest];
  const double largest = solution.displacements[farthest].norm();
  const double energy = fem::elasticEnergy(body, recovery.elements());
  if (settings.json) {
    Json json = {{"input", options.input},
                 {"vertices", body.vertices()},
                 {"tets", body.tets()},
                 {"young", material.young},
                 {"poisson", material.poisson},
                 {"density", material.density},
                 {"held", supports.size()},
                 {"solver", solution.solver},
                 {"iterations", solution.iterations},
                 {"residual", solution.residual},
                 {"converged", solution.converged},
                 {"max_displacement", largest},
                 {"max_displacement_at", point(body.mesh().positions[farthest])},
                 {"max_principal_stress", principal.value},
                 {"max_principal_stress_at", point(body.mesh().positions[strongest])},
                 {"max_principal_direction", point(principal.direction)},
                 {"reaction", point(reaction)},
                 {"elastic_energy", energy}};
    if (strength > 0) json["strength"] = strength;
    if (cut)
      json["cut"] = {{"sheets", options.cut.size()},          {"cut_tets", cut->counts.cut},
                     {"incised_tets", cut->counts.incised},   {"parts", cut->counts.parts},
                     {"most_parts", cut->counts.most},        {"copies", cut->counts.copies},
                     {"copied_vertices", cut->counts.copied}, {"pieces", cut->counts.pieces}};
    for (size_t i = 0; i < probed.size(); ++i) json["probes"].push_back(probeJson(probed[i], probes[i]));
    if (!options.output.empty()) json["output"] = options.output;
    json["seconds"] = stagesJson(profiler);
    printJson(json);
  }
  const auto place = [](const Vec3& p) {
    return fmt::format("({:.4g}, {:.4g}, {:.4g})", p.x(), p.y(), p.z());
  };
  std::string text = fmt::format(
      "{}: {} vertices, {} tetrahedra, {} held\n  displacement {:.4g} m at most, at {}\n  principal stress "
      "{:.4g} Pa at "
      "most, at {}\n  supports push with {} N",
      options.input, body.vertices(), body.tets(), supports.size(), largest,
      place(body.mesh().positions[farthest]), principal.value, place(body.mesh().positions[strongest]),
      place(reaction));
  if (cut)
    text += fmt::format("\n  cut: {} tetrahedra in parts, {} incised, {} copies of nodes, {} {}",
                        cut->counts.cut, cut->counts.incised, cut->counts.copies, cut->counts.pieces,
                        cut->counts.pieces == 1 ? "piece" : "pieces");
  if (strength > 0)
    text += fmt::format("\n  {} breaks at {:.3g} Pa: {:.3g} times that is reached", options.material.name,
                        strength, principal.value / strength);
  for (size_t i = 0; i < probed.size(); ++i) {
    text += fmt::format("\n  at {}: moves by {} m, principal stress {:.4g} Pa", place(probed[i]),
                        place(probes[i].displacement), probes[i].principal.value);
    if (probes[i].distance > 0)
      text += fmt::format(" (nearest point of the body, {:.3g} m away)", probes[i].distance);
  }
  say(settings, text);
  return 0;
}

}  // namespace

Verb addStress(App& root) {
  auto options = std::make_shared<StressOptions>();
  App* app = root.addVerb("stress", "Bend a held body with forces: displacement and stress");
  app->addOption("INPUT", options->input, "Tetrahedra, or a closed mesh or field (.sdf) to fill")->required();
  app->addOption("-o,--output", options->output, "Displacement and stress to write (.vtu)")->typeName("FILE");
  addMaterialOptions(*app, options->material);
  app->addOption("--fix", options->fix, "Hold all vertices of a half-space, like \"y<0.01\"; may be repeated")
      ->required()
      ->typeName("TEXT");
  app->addOption("--force", options->force,
                 "A point and the force in newtons that acts there; may be repeated")
      ->typeName("X,Y,Z,FX,FY,FZ");
  app->addOption("--cut", options->cut,
                 "A sheet of triangles that cuts the body, whose tetrahedra stay; may be repeated")
      ->typeName("FILE");
  app->addOption("--probe", options->probe,
                 "A point where displacement and stress are wanted; may be repeated")
      ->typeName("X,Y,Z");
  app->addOption("--gravity", options->gravity, "Acceleration of all of the mass [none]")->typeName("X,Y,Z");
  app->addOption("--edge", options->edge,
                 "Edge of tetrahedra in metres where a surface is filled [a twentieth]")
      ->check(positiveCheck())
      ->typeName("D");
  app->addOption("--recovery", options->recovery, "Stress at vertices: patch or lumped [patch]")
      ->check(oneOf({"patch", "lumped"}))
      ->typeName("NAME");
  app->addOption("--solver", options->solver,
                 "auto, block, pcg, or for comparison on small bodies ldlt or dense [auto]")
      ->typeName("NAME");
  app->addOption(
         "--budget", options->budget,
         "Most iterations of pcg; it then ends with the best so far and says its residual [30 a vertex]")
      ->check(positiveCheck())
      ->typeName("N");
  app->footer(
      "Examples:\n"
      "  sunder stress cup.msh --material porcelain --fix \"y<0.001\" --force 0,0.1,0,20,0,0 -o cup.vtu\n"
      "  sunder stress beam.obj --edge 0.01 --fix \"x<0.01\" --gravity 0,-9.81,0 --json");
  return {app, [options](const Settings& settings) { return stress(*options, settings); }};
}

}  // namespace sunder::cli
