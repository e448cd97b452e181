// The payloads of the small chunks, to bytes and back. Decoders throw Error (Format) with the file's name for
// bytes that do not fit, and take no more memory than the bytes warrant.
#pragma once

#include "sunder/material/material.h"
#include "sunder/record/recording.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::record {

inline constexpr uint32_t kLongestName = 65535;  // bytes, of a body, a mesh or a material
inline constexpr std::string_view kTrailerMagic =
    "SUNDIDX\n";  // after the index's offset, last in a finished file

std::string encode(const RunInfo& info);
std::string encode(const material::Material& material, uint32_t index);
std::string encode(const MeshEntry& mesh, uint32_t index);
std::string encode(const BodyEntry& body, uint32_t index);
std::string encode(std::span<const Event> events);
std::string encode(const RunEnd& end);
std::string encodeNames(std::span<const std::string> names, uint32_t index);
std::string encodeStatistics(uint32_t names, std::span<const Statistic> statistics);

RunInfo decodeInfo(std::string_view payload, const std::string& file);
// Each begins with its index, so that a lost one does not move the others.
uint32_t decodeIndex(std::string_view payload, const std::string& file);
// Values by their names: those that this program does not know are left out, those that the bytes do not have
// keep their defaults. Refuses a value outside the range of its property.
material::Material decodeMaterial(std::string_view payload, const std::string& file);
MeshEntry decodeMesh(std::string_view payload, const std::string& file);
BodyEntry decodeBody(std::string_view payload, const std::string& file);
std::vector<Event> decodeEvents(std::string_view payload, const std::string& file);
RunEnd decodeEnd(std::string_view payload, const std::string& file);
// `indexed`: with the list's number in front, as of version 2.
std::vector<std::string> decodeNames(std::string_view payload, bool indexed, const std::string& file);
struct StatisticRow {
  uint32_t names = 0;  // which list of names
  std::vector<double> values;
};
StatisticRow decodeStatistics(std::string_view payload, const std::string& file);

}  // namespace sunder::record
