#include "sunder/show/export/export.h"

#include "sunder/base/error.h"
#include "sunder/base/text.h"
#include "sunder/show/export/export_files.h"
#include "sunder/show/readable.h"
#include "sunder/show/view/view_data.h"

#include <fmt/format.h>

namespace sunder::show {

namespace {

constexpr ExportFormatInfo kFormats[] = {
    {ExportFormat::Vtk, "vtk", true, "VTP a frame and a PVD: ParaView, VTK"},
    {ExportFormat::Glb, "glb", false, "animated glTF: Blender, three.js, Godot"},
    {ExportFormat::Usda, "usda", false, "USD with time samples: usdview, Houdini, Maya, Omniverse"},
    {ExportFormat::Obj, "obj", true, "an OBJ a frame"},
    {ExportFormat::Ply, "ply", true, "a PLY a frame, with colours and body numbers"},
    {ExportFormat::Bgeo, "bgeo", true, "points a frame: Houdini, partio"},
    {ExportFormat::Csv, "csv", true, "tables: statistics, bodies, events"},
    {ExportFormat::Html, "html", false, "one page that opens from disk in a browser"},
};

void requireFrames(const std::vector<size_t>& frames, size_t count, const std::string& file) {
  if (count == 0)
    throw Error(ErrorKind::Usage, "the run has no frames yet")
        .inFile(file)
        .hint("wait until the first one is recorded, or run the scene again");
  if (frames.empty()) throw Error(ErrorKind::Usage, "no frames to export").inFile(file);
  if (frames.back() >= count)
    throw Error(ErrorKind::Usage, fmt::format("there is no frame {}", frames.back()))
        .inFile(file)
        .hint(fmt::format("the run has the frames 0 to {}", count - 1));
}

bool carriesMeshes(ExportFormat format) {
  return format != ExportFormat::Bgeo && format != ExportFormat::Csv && format != ExportFormat::Html;
}

template <class Write>
ExportResult writeAll(const std::filesystem::path& output, bool folder, Write&& write) {
  ExportResult result;
  try {
    ExportFiles files(output, folder ? ExportFiles::Folder : ExportFiles::File);
    const std::string first = write(files);
    files.finish();
    result.output = files.target();
    result.openThis = folder ? files.target() / first : files.target();
    result.files = files.count();
    result.bytes = files.bytes();
    if (const size_t left = files.leftFromBefore())
      result.notes.push_back(fmt::format("{} file{} of an earlier export with other frames {} still in {}",
                                         left, left == 1 ? "" : "s", left == 1 ? "is" : "are",
                                         result.output.string()));
  } catch (Error& e) {
    if (e.kind() == ErrorKind::Write) e.hint("what was written of the export has been removed");
    throw;
  }
  return result;
}

}  // namespace

std::span<const ExportFormatInfo> exportFormats() { return kFormats; }

const ExportFormatInfo& info(ExportFormat format) { return kFormats[static_cast<size_t>(format)]; }

ExportFormat exportFormatNamed(std::string_view name) {
  std::vector<std::string_view> known;
  for (const ExportFormatInfo& format : kFormats) {
    if (name == format.name) return format.format;
    known.emplace_back(format.name);
  }
  throw Error(ErrorKind::Usage, fmt::format("there is no export format '{}'", name))
      .hint(suggestion(name, known));
}

ExportResult exportScene(const ExportScene& scene, ExportFormat format, const std::filesystem::path& output,
                         const ExportProgress& progress) {
  using Exporter = std::string (*)(const ExportScene&, ExportFiles&, const ExportProgress&);
  static constexpr Exporter kExporters[] = {exportVtk, exportGlb,  exportUsda, exportObj,
                                            exportPly, exportBgeo, exportCsv};
  if (format == ExportFormat::Html) throw Error(ErrorKind::Unsupported, "pages are made of recordings");
  if (scene.frames.empty()) throw Error(ErrorKind::Usage, "no frames to export");
  bool folder = info(format).folder;
  std::filesystem::path target = output;
  if (format == ExportFormat::Glb && scene.deforming) {
    folder = true;
    if (target.extension() == ".glb") target.replace_extension();
  }
  const ExportProgress report = progress ? progress : [](size_t, size_t) {};
  return writeAll(target, folder, [&](ExportFiles& files) {
    return kExporters[static_cast<size_t>(format)](scene, files, report);
  });
}

ExportResult exportRun(const record::RunReader& run, ExportFormat format, const ExportSettings& settings) {
  requireFrames(settings.frames, run.frameCount(), run.path().string());
  const Readable readable = readableOf(run, settings.frames);
  ExportResult result;
  if (readable.frames.empty()) {
    result.lost = readable.lost;
    return result;
  }
  if (settings.liquids.surfaces && !carriesMeshes(format))
    throw Error(ErrorKind::Unsupported, fmt::format("{} holds no surfaces of liquids", info(format).name))
        .hint("vtk, glb, usda, obj and ply do");
  if (format == ExportFormat::Html) {
    if (viewerPage().empty())
      throw Error(ErrorKind::Unsupported, "this program was built without the viewer's page")
          .hint("install npm and build it again");
    const std::string page = selfContainedPage(viewerPage(), run.path(), readable.frames, settings.progress);
    result = writeAll(settings.output, false, [&](ExportFiles& files) {
      files.write("", [&](OutputFile& out) { out.write(page); });
      return std::string();
    });
  } else {
    result = exportScene(exportSceneOf(run, readable.frames, settings.liquids), format, settings.output,
                         settings.progress);
  }
  result.lost = readable.lost;
  result.frames = readable.frames.size();
  if (std::string note = damageNote(run); !note.empty()) result.notes.push_back(std::move(note));
  return result;
}

}  // namespace sunder::show
