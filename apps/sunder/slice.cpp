// sunder slice MESH --count 20 -o DIR: a mesh cut into slices of equal height
#include "sunder/base/error.h"
#include "sunder/base/work.h"
#include "sunder/cut/cut.h"
#include "sunder/cut/finish/attributes.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/show/export/export_files.h"

#include "command.h"
#include "plane_cutter.h"

#include <memory>
#include <optional>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct SliceArguments {
  std::string input, output, axis = "y";
  uint32_t count = 10;
  double budget = 1e9;  // faces times slices
  bool triangles = false;
};

int sliceMesh(const SliceArguments& arguments, const Settings& settings) {
  geometry::PolygonSoup rest = readSurface(arguments.input, settings);
  const int axis = arguments.axis[0] - 'x';
  const Box3 box = geometry::bounds(rest.positions);
  const double height = box.extent()[axis] / arguments.count;
  if (!(height > 0))
    throw Error(ErrorKind::Geometry, fmt::format("the mesh has no height along {}", arguments.axis))
        .inFile(arguments.input);
  // Every cut goes through all faces of what is left, which on average is half of them, twice.
  const double faces = double(rest.faceCount()), work = faces * arguments.count;
  if (work > arguments.budget)
    throw Error(ErrorKind::Limit,
                fmt::format("{:.3g} faces in {} slices are {:.3g} faces to look at, {:.3g} are "
                            "allowed by the budget",
                            faces, arguments.count, work, arguments.budget))
        .inFile(arguments.input)
        .hint(arguments.budget < faces
                  ? fmt::format("--budget {:.0f} would do", work)
                  : fmt::format("--count {:.0f} would do", arguments.budget / faces - 0.5));
  const auto cutOff = [&](const geometry::PolygonSoup& mesh, const geometry::PolygonSoup& plane, cut::Op op,
                          double& volume) {
    cut::CutResult result = cut::cut(mesh, plane, {.op = op, .triangles = arguments.triangles});
    cut::transferAttributes(mesh, plane, result);
    volume = 0;
    for (const double v : result.volume) volume += v;
    return std::move(result.mesh);
  };

  std::optional<show::ExportFiles> files;
  if (!arguments.output.empty()) files.emplace(arguments.output, show::ExportFiles::Folder);
  Json slices = Json::array();
  double left = 0;
  std::string text;
  Work line("slicing", arguments.count, "slices");
  for (uint32_t i = 0; i < arguments.count && rest.faceCount() > 0; ++i, line.step()) {
    geometry::PolygonSoup slice;
    double volume = left;
    if (i + 1 < arguments.count) {
      Plane plane{box.center(), Vec3::Unit(axis)};
      plane.point[axis] = box.lower[axis] + (i + 1) * height;
      const geometry::PolygonSoup cutter = flatCutter(plane, 1.1 * box.diagonal());
      slice = cutOff(rest, cutter, cut::Op::Below, volume);
      rest = cutOff(rest, cutter, cut::Op::Above, left);
    } else {
      slice = std::move(rest);
    }
    const std::string name = fmt::format("slice_{:03}.ply", i);
    slices.push_back({{"file", name}, {"faces", slice.faceCount()}, {"volume", volume}});
    if (files && slice.faceCount() > 0) {
      meshio::MeshFile file;
      file.surface = std::move(slice);
      files->write(name, [&](OutputFile& out) { meshio::writeMesh(out, meshio::MeshFormat::Ply, file); });
    }
  }
  if (files) files->finish();
  if (settings.json) {
    Json json{{"input", arguments.input}, {"axis", arguments.axis}, {"height", height}, {"slices", slices}};
    if (files) json["output"] = arguments.output;
    printJson(json);
  }
  say(settings, fmt::format("{}: {} slices of {:.4g} m along {}", arguments.input, slices.size(), height,
                            arguments.axis));
  return 0;
}

}  // namespace

Verb addSlice(App& root) {
  auto arguments = std::make_shared<SliceArguments>();
  App* app = root.addVerb("slice", "Cut a mesh into slices of equal height");
  app->addOption("INPUT", arguments->input, "The mesh to slice")->required();
  app->addOption("-o,--output", arguments->output, "Folder for the slices, a PLY file each")->typeName("DIR");
  app->addOption("--count", arguments->count, "How many slices [10]")
      ->check(inRange(1, 10000))
      ->typeName("N");
  app->addOption("--axis", arguments->axis, "Slices lie across x, y or z [y]")
      ->check(oneOf({"x", "y", "z"}))
      ->typeName("NAME");
  app->addOption("--budget", arguments->budget,
                 "Most faces times slices; more are refused, with a count that would do [1e9]")
      ->check(positiveCheck())
      ->typeName("N");
  app->addFlag("--triangles", arguments->triangles, "Triangles only");
  app->footer(
      "Examples:\n"
      "  sunder slice bunny.obj --count 20 -o slices/\n"
      "  sunder slice part.stl --count 100 --axis z -o layers/ --json");
  return {app, [arguments](const Settings& settings) { return sliceMesh(*arguments, settings); }};
}

}  // namespace sunder::cli
