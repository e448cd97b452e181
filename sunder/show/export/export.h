// Recorded runs as files of other programs. Body numbers, and with them the numbers of fragments and their
// parents, are those of the recording in every format and every frame. docs/exports.md says what each format
// carries and how it is opened.
//
//   record::RunReader run("out/pile/run.sunder");
//   exportRun(run, ExportFormat::Glb, {.output = "pile.glb", .frames = {0, 1, 2}});
//
// Guarantee: an export is whole or not there; one that was there before stays as it was where the new one
// fails. Positions are pose times vertex in double, rounded once to float. Cost: a few million vertices a
// second; one frame in memory at a time, but GLB and USD, which need all poses: 32 bytes a body and frame.
#pragma once

#include "sunder/show/export/export_scene.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::show {

class ExportFiles;

enum class ExportFormat { Vtk, Glb, Usda, Obj, Ply, Bgeo, Csv, Html };

struct ExportFormatInfo {
  ExportFormat format;
  const char* name;    // "vtk"
  bool folder;         // several files in a folder; else one file
  const char* remark;  // who opens it
};

std::span<const ExportFormatInfo> exportFormats();
const ExportFormatInfo& info(ExportFormat format);
// Throws Error (Usage) that names the nearest.
ExportFormat exportFormatNamed(std::string_view name);

// Called as the work goes on; may throw, which ends the export and leaves nothing behind.
using ExportProgress = std::function<void(size_t done, size_t of)>;

struct ExportSettings {
  std::filesystem::path output;     // a file or a folder, see ExportFormatInfo
  std::vector<size_t> frames = {};  // ascending
  ExportLiquids liquids = {};
  ExportProgress progress = {};
};

struct ExportResult {
  std::filesystem::path output;    // of deforming scenes as GLB a folder, the name without its ending
  std::filesystem::path openThis;  // the file to open first
  size_t frames = 0;               // exported
  size_t files = 0;
  uint64_t bytes = 0;
  std::vector<std::string> notes;  // what the user should know
  // Of what was asked for and the recording has lost; the rest is exported. No frame left: nothing is
  // written, and files is 0.
  std::vector<std::string> lost;
};

// Throws Error: Usage for no frames or frames that are not there, Write for a full disk (everything written
// is gone again). Frames, bodies and meshes that are damaged are left out and named.
ExportResult exportRun(const record::RunReader& run, ExportFormat format, const ExportSettings& settings);

// The same for a scene that comes from elsewhere; Html is only of runs.
ExportResult exportScene(const ExportScene& scene, ExportFormat format, const std::filesystem::path& output,
                         const ExportProgress& progress = {});

// The exporters, one a format. Each writes all its files and returns the name of the one to open.
std::string exportVtk(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress);
std::string exportGlb(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress);
std::string exportUsda(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress);
std::string exportObj(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress);
std::string exportPly(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress);
std::string exportBgeo(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress);
std::string exportCsv(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress);

}  // namespace sunder::show
