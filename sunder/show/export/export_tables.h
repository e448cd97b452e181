// What the exporters share to write tables and names.
#pragma once

#include "sunder/show/export/export_scene.h"

#include <string>
#include <string_view>

namespace sunder {
class OutputFile;
}

namespace sunder::show {

// As a field of a CSV file: in quotes where it has a comma, a quote or a line's end.
std::string csvField(std::string_view text);

// As a file's name: anything but letters, digits, '-', '_' and '.' becomes '_', also a dot at the front.
std::string plainName(std::string_view name);

// A name that stays on its line.
std::string oneLine(std::string_view name);

// body, name, parent, material, material_name, mesh, kind, mass, born: what the numbers in other files mean.
void writeBodyNames(OutputFile& file, const ExportScene& scene, const MaterialNumbers& materials);

}  // namespace sunder::show
