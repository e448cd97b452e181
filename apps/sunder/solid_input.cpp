#include "solid_input.h"

#include "sunder/base/error.h"
#include "sunder/fem/material.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/tet/solid_fill.h"
#include "sunder/tet/stuffing.h"
#include "sunder/tet/tet_report.h"

#include "read_field.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sunder::cli {

std::vector<double> numbersOf(const std::string& text, size_t count, const char* option, const char* form) {
  std::vector<double> values;
  const char *at = text.data(), *end = at + text.size();
  while (values.size() <= count) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value)) break;
    values.push_back(value);
    at = next;
    if (at == end || *at != ',') break;
    ++at;
  }
  if (values.size() != count || at != end)
    throw Error(ErrorKind::Usage, fmt::format("--{} '{}' is not {} numbers", option, text, count))
        .hint(fmt::format("like --{} {}", option, form));
  return values;
}

SolidInput readSolid(const std::string& path, double edge, double edgesPerSide, bool sharp,
                     SolidVolume volume, const Settings& settings) {
  SolidInput input;
  const bool field = std::filesystem::path(path).extension() == ".sdf";
  if (!field && !meshio::readMesh(path).volume.tets.empty()) {
    tet::TetFileReport report;
    input.mesh = tet::readTetMesh(path, tet::InvertedTets::Turn, report);
    reportNotes(settings, path, report.notes);
    return input;
  }
  FieldInput source = readField(path, settings);
  const bool given = edge > 0;
  if (!given) edge = source.field->bounds().extent().maxCoeff() / edgesPerSide;
  const auto fill = [&](double length) {
    tet::FillReport report;
    return tet::fill(*source.field, {.edge = length, .sharp = sharp}, report);
  };
  try {
    const auto* exact = dynamic_cast<const sdf::MeshField*>(source.field.get());
    const tet::SolidSize size =
        exact ? tet::solidSize(*exact, *source.surface, edge) : tet::solidSize(*source.field, edge);
    tet::SolidFill solid;
    if (volume == SolidVolume::Whole)
      solid = tet::fillSolid(fill, size, edge, !given);
    else
      solid = {fill(edge), edge, 0};
    if (solid.mesh.tets.empty())
      throw Error(ErrorKind::Geometry, "has no inside to fill")
          .hint("the mesh may be open, or thinner than --edge");
    const double off = size.volume > 0 ? geometry::totalVolume(solid.mesh) / size.volume - 1 : 0;
    if (solid.edge < edge)
      input.note =
          fmt::format("tetrahedra of edge {:.3g} m would not have the body's volume, so {:.2g} m is taken",
                      edge, solid.edge);
    else if (std::abs(off) > tet::kMostVolumeOff)
      input.note = fmt::format("the tetrahedra {} {:.1f} % of the body's volume (a smaller --edge keeps it)",
                               off < 0 ? "lose" : "add", 100 * std::abs(off));
    input.mesh = std::move(solid.mesh);
  } catch (Error& error) {
    error.inFile(path);
    throw;
  }
  input.surface = std::move(source.surface);
  return input;
}

void addMaterialOptions(App& app, MaterialChoice& choice) {
  app.addOption("--material", choice.name, "What it is made of [glass]")->typeName("NAME");
  app.addOption("--young", choice.young, "Young's modulus in pascals, instead of the material's")
      ->typeName("PA");
  app.addOption("--poisson", choice.poisson, "Poisson's ratio, instead of the material's")->typeName("X");
  app.addOption("--density", choice.density, "kg/m^3, instead of the material's")->typeName("D");
}

material::Material chosenMaterial(const MaterialChoice& choice) {
  const material::Material* preset = material::preset(choice.name);
  if (!preset || preset->young == 0) {
    std::vector<std::string_view> names;
    for (const material::Material& m : material::presets())
      if (m.young > 0) names.push_back(m.name);
    throw Error(ErrorKind::Usage, fmt::format("there are no elastic constants of '{}'", choice.name))
        .hint(fmt::format("one of {}", fmt::join(names, ", ")));
  }
  material::Material chosen = *preset;
  chosen.young = choice.young.value_or(chosen.young);
  chosen.poisson = choice.poisson.value_or(chosen.poisson);
  chosen.density = choice.density.value_or(chosen.density);
  fem::requireValid(fem::elasticMaterial(chosen));
  return chosen;
}

}  // namespace sunder::cli
