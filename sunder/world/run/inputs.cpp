#include "sunder/world/run/inputs.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/json_parse.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/stop.h"
#include "sunder/world/scene/units.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr double kMostSteps = 1e15;
constexpr const char* kWanted = "an input has time, part, what, body and values";

constexpr double kBytesAByte = 12;  // of memory, by byte of the file

// By id.
using Bodies = std::unordered_map<std::string_view, uint32_t>;

std::vector<double> numbersOf(const Json& list) {
  if (!list.isArray()) throw Error(ErrorKind::Format, "the values have another type than a list");
  std::vector<double> out;
  for (const Json& value : list) out.push_back(value.number());
  return out;
}

// The step that begins at a time, or the first behind it.
uint64_t stepAt(const Json& time, const WorldSettings& world) {
  const double seconds = time.isString() ? parseQuantity(time.string(), kTime) : time.number();
  const double step = std::ceil(seconds / world.simulation.timeStep - 1e-6);
  if (!(step >= 0) || !(step < kMostSteps)) throw Error(ErrorKind::Format, "the time is out of range");
  return static_cast<uint64_t>(step);
}

Input inputOf(const Json& entry, const Scene& scene, const Bodies& bodies) {
  for (const auto& [key, value] : entry.members())
    if (key != "time" && key != "part" && key != "what" && key != "body" && key != "values")
      throw Error(ErrorKind::Format, fmt::format("unknown key \"{}\"", key)).hint(kWanted);
  Input input;
  input.step = stepAt(entry.at("time"), scene.world);
  input.part = entry.at("part").string();
  input.what = entry.at("what").string();
  if (const Json* body = entry.find("body")) {
    const std::string& id = body->string();
    const auto found = bodies.find(id);
    input.body = found != bodies.end() ? found->second : scene.bodyNamed(id);  // which throws
  }
  if (entry.contains("values")) input.values = numbersOf(entry.at("values"));
  return input;
}

}  // namespace

std::vector<Input> readInputs(const std::filesystem::path& path, const Scene& scene) {
  if (scene.anyCuts()) throw Error(ErrorKind::Usage, "inputs need a scene whose bodies are cut");
  std::error_code ignored;
  const auto size = double(std::filesystem::file_size(path, ignored));
  if (!ignored && size * kBytesAByte > double(memoryLimit()))
    throw Error(ErrorKind::Limit,
                fmt::format("{} of inputs take about {} of memory, and the limit is {}", bytesWords(size),
                            bytesWords(size * kBytesAByte), bytesWords(double(memoryLimit()))))
        .inFile(path.string())
        .hint("--memory changes the limit");
  const Json list = parseJson(readTextFile(path), path.string());
  if (!list.isArray())
    throw Error(ErrorKind::Format, "is no JSON list of inputs")
        .inFile(path.string())
        .hint(
            R"([ { "time": 0.5, "part": "rigid", "what": "impulse", "body": "ball", "values": [0, 3, 0] } ])");
  Bodies bodies;
  for (uint32_t b = 0; b < scene.bodies.size(); ++b) bodies.emplace(scene.bodies[b].id, b);
  std::vector<Input> inputs;
  for (const Json& entry : list) {
    checkStop();
    const auto fail = [&](const std::string& message, const std::string& hint) {
      throw Error(ErrorKind::Format, fmt::format("input {}: {}", inputs.size(), message))
          .inFile(path.string())
          .hint(hint);
    };
    try {
      inputs.push_back(inputOf(entry, scene, bodies));
    } catch (const Error& error) {
      fail(error.message(), error.hint().empty() ? kWanted : error.hint());
    }
  }
  return inputs;
}

record::Input recorded(const Input& input) {
  const Json data = {{"part", input.part}, {"body", input.body}, {"values", input.values}};
  return {input.step, input.sequence, input.what, data.text()};
}

Input fromRecord(const record::Input& input, const std::string& file) {
  try {
    const Json data = readJson(input.data);
    Input out;
    out.step = input.step;
    out.sequence = input.sequence;
    out.what = input.kind;
    out.part = data.at("part").string();
    out.body = static_cast<uint32_t>(data.at("body").whole());
    out.values = numbersOf(data.at("values"));
    return out;
  } catch (const Error&) {
    throw Error(ErrorKind::Format, fmt::format("input {} of the recording cannot be read", input.sequence))
        .inFile(file);
  }
}

}  // namespace sunder::world
