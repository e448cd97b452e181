#include "sunder/world/scene/scene_schema.h"

#include "sunder/base/text.h"
#include "sunder/world/scene/part_block.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sunder::world {

namespace {

using Json = nlohmann::json;

const Json& schemaJson() {
  static const Json kSchema = Json::parse(sceneSchemaText());
  return kSchema;
}

const Json& followed(const Json& node) {
  const auto reference = node.find("$ref");
  if (reference == node.end()) return node;
  return schemaJson().at(Json::json_pointer(reference->get<std::string>().substr(1)));
}

// A key as a step of a JSON pointer, with its slash.
std::string pointerStep(const std::string& key) {
  std::string out(1, '/');
  for (const char c : key) c == '~' ? out += "~0" : c == '/' ? out += "~1" : out += c;
  return out;
}

bool fitsType(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  return value.is_number();
}

std::vector<std::string> typesOf(const Json& node) {
  std::vector<std::string> types;
  const auto type = node.find("type");
  if (type == node.end()) return types;
  if (type->is_string()) return {type->get<std::string>()};
  for (const Json& t : *type) types.push_back(t.get<std::string>());
  return types;
}

std::string shortText(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string wanted(const Json& node) {
  if (const auto text = node.find("description"); text != node.end()) return text->get<std::string>();
  std::string types;
  for (const std::string& t : typesOf(node)) types += (types.empty() ? "" : " or ") + t;
  return types;
}

// Walks document and schema side by side and notes where they disagree.
void findProblems(const Json& raw, const Json& value, const std::string& pointer,
                  std::vector<SchemaProblem>& found) {
  const Json& node = followed(raw);
  const auto types = typesOf(node);
  if (!types.empty() &&
      std::none_of(types.begin(), types.end(), [&](const auto& t) { return fitsType(value, t); }))
    return found.push_back(
        {pointer, fmt::format("{} is not what is wanted here", shortText(value)), "wanted: " + wanted(node)});
  if (const auto choices = node.find("enum");
      choices != node.end() && std::find(choices->begin(), choices->end(), value) == choices->end()) {
    std::vector<std::string> names;
    for (const Json& c : *choices) names.push_back(c.get<std::string>());
    const std::vector<std::string_view> known(names.begin(), names.end());
    return found.push_back({pointer, fmt::format("{} is not one of {}", shortText(value), joinNames(known)),
                            value.is_string() ? suggestion(value.get<std::string>(), known) : ""});
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    const auto limit = [&](const char* key) {
      const auto at = node.find(key);
      return at == node.end() ? std::optional<double>() : at->get<double>();
    };
    const auto low = limit("minimum"), high = limit("maximum"), above = limit("exclusiveMinimum"),
               below = limit("exclusiveMaximum");
    if ((low && number < *low) || (high && number > *high) || (above && number <= *above) ||
        (below && number >= *below)) {
      std::string range = low     ? fmt::format("at least {:g}", *low)
                          : above ? fmt::format("more than {:g}", *above)
                                  : "";
      if (high) range += fmt::format("{}at most {:g}", range.empty() ? "" : " and ", *high);
      if (below) range += fmt::format("{}less than {:g}", range.empty() ? "" : " and ", *below);
      return found.push_back(
          {pointer, fmt::format("{} is out of range, it must be {}", shortText(value), range), wanted(node)});
    }
  }
  if (value.is_array()) {
    const size_t least = node.value("minItems", size_t(0)), most = node.value("maxItems", SIZE_MAX);
    if (value.size() < least || value.size() > most)
      return found.push_back({pointer,
                              fmt::format("has {} entries where {}{} are wanted", value.size(),
                                          least == most          ? ""
                                          : value.size() < least ? "at least "
                                                                 : "at most ",
                                          value.size() < least ? least : most),
                              wanted(node)});
    if (const auto items = node.find("items"); items != node.end())
      for (size_t i = 0; i < value.size(); ++i)
        findProblems(*items, value[i], fmt::format("{}/{}", pointer, i), found);
  }
  if (!value.is_object()) return;
  const auto properties = node.find("properties"), others = node.find("additionalProperties");
  for (const auto& [key, child] : value.items()) {
    const std::string place = pointer + pointerStep(key);
    if (properties != node.end() && properties->contains(key)) {
      findProblems((*properties)[key], child, place, found);
    } else if (others != node.end() && others->is_object()) {
      findProblems(*others, child, place, found);
    } else if (others != node.end() && properties != node.end()) {
      std::vector<std::string> names;
      for (const auto& [known, ignored] : properties->items()) names.push_back(known);
      const std::vector<std::string_view> known(names.begin(), names.end());
      found.push_back({place, fmt::format("unknown key \"{}\"", key), suggestion(key, known)});
    }
  }
  if (const auto required = node.find("required"); required != node.end())
    for (const Json& key : *required)
      if (!value.contains(key.get<std::string>()))
        found.push_back(
            {pointer, fmt::format("the key \"{}\" is missing", key.get<std::string>()), wanted(node)});
}

}  // namespace

std::vector<SchemaProblem> checkAgainstSchema(const nlohmann::json& document) {
  std::vector<SchemaProblem> found;
  if (registeredBlocks().empty()) {
    findProblems(schemaJson(), document, "", found);
    return found;
  }
  Json schema = schemaJson();
  for (const BlockKind& block : registeredBlocks())
    schema["properties"][block.key] = Json::parse(block.schema);
  findProblems(schema, document, "", found);
  return found;
}

}  // namespace sunder::world
