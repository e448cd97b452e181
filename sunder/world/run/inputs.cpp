#include "sunder/world/run/inputs.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/memory_limit.h"
#include "sunder/base/stop.h"
#include "sunder/world/scene/units.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sunder::world {

namespace {

using Json = nlohmann::json;

constexpr double kMostSteps = 1e15;

constexpr double kBytesAByte = 12;  // of memory, by byte of the file

// By id.
using Bodies = std::unordered_map<std::string_view, uint32_t>;

std::vector<double> numbersOf(const Json& list) {
  list.get_ref<const Json::array_t&>();  // throws for anything else
  std::vector<double> out;
  for (const Json& value : list) out.push_back(value.get<double>());
  return out;
}

// The step that begins at a time, or the first behind it.
uint64_t stepAt(const Json& time, const WorldSettings& world) {
  const double seconds =
      time.is_string() ? parseQuantity(time.get<std::string>(), kTime) : time.get<double>();
  const double step = std::ceil(seconds / world.simulation.timeStep - 1e-6);
  if (!(step >= 0) || !(step < kMostSteps)) throw Error(ErrorKind::Format, "the time is out of range");
  return static_cast<uint64_t>(step);
}

Input inputOf(const Json& entry, const Scene& scene, const Bodies& bodies) {
  for (const auto& [key, value] : entry.items())
    if (key != "time" && key != "part" && key != "what" && key != "body" && key != "values")
      throw Error(ErrorKind::Format, fmt::format("unknown key \"{}\"", key))
          .hint("an input has time, part, what, body and values");
  Input input;
  input.step = stepAt(entry.at("time"), scene.world);
  input.part = entry.at("part").get<std::string>();
  input.what = entry.at("what").get<std::string>();
  if (entry.contains("body")) {
    const auto& id = entry.at("body").get_ref<const std::string&>();
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
  const Json list = Json::parse(readTextFile(path), nullptr, false, true);
  if (!list.is_array())
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
      fail(error.message(), error.hint());
    } catch (const Json::exception&) {
      fail("a key is missing, or has a value of another type",
           "an input has time, part, what, body and values");
    }
  }
  return inputs;
}

record::Input recorded(const Input& input) {
  const Json data = {{"part", input.part}, {"body", input.body}, {"values", input.values}};
  return {input.step, input.sequence, input.what, data.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

Input fromRecord(const record::Input& input, const std::string& file) {
  try {
    const Json data = Json::parse(input.data);
    Input out;
    out.step = input.step;
    out.sequence = input.sequence;
    out.what = input.kind;
    out.part = data.at("part").get<std::string>();
    out.body = data.at("body").get<uint32_t>();
    out.values = numbersOf(data.at("values"));
    return out;
  } catch (const Json::exception&) {
    throw Error(ErrorKind::Format, fmt::format("input {} of the recording cannot be read", input.sequence))
        .inFile(file);
  }
}

}  // namespace sunder::world
