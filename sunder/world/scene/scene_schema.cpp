#include "sunder/world/scene/scene_schema.h"

#include "sunder/base/json_parse.h"
#include "sunder/base/json_pointer.h"
#include "sunder/base/text.h"
#include "sunder/world/scene/part_block.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/core.h>

namespace sunder::world {

namespace {

const Json& schemaJson() {
  static const Json kSchema = readJson(sceneSchemaText());
  return kSchema;
}

const Json& followed(const Json& node) {
  const Json* const reference = node.find("$ref");
  return reference ? *findAt(schemaJson(), reference->string().substr(1)) : node;
}

bool fitsType(const Json& value, const std::string& type) {
  if (type == "object") return value.isObject();
  if (type == "array") return value.isArray();
  if (type == "string") return value.isString();
  if (type == "boolean") return value.isBoolean();
  if (type == "integer") return value.isInteger();
  return value.isNumber();
}

std::vector<std::string> typesOf(const Json& node) {
  std::vector<std::string> types;
  const Json* const type = node.find("type");
  if (!type) return types;
  if (type->isString()) return {type->string()};
  for (const Json& t : *type) types.push_back(t.string());
  return types;
}

std::string shortText(const Json& value) {
  std::string text = value.text();
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string wanted(const Json& node) {
  if (const Json* const text = node.find("description")) return text->string();
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
  if (const Json* const choices = node.find("enum");
      choices && std::find(choices->begin(), choices->end(), value) == choices->end()) {
    std::vector<std::string> names;
    for (const Json& c : *choices) names.push_back(c.string());
    const std::vector<std::string_view> known(names.begin(), names.end());
    return found.push_back({pointer, fmt::format("{} is not one of {}", shortText(value), joinNames(known)),
                            value.isString() ? suggestion(value.string(), known) : ""});
  }
  if (value.isNumber()) {
    const double number = value.number();
    const auto limit = [&](const char* key) {
      const Json* const at = node.find(key);
      return at ? at->number() : std::optional<double>();
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
  if (value.isArray()) {
    const auto limit = [&](const char* key, size_t otherwise) {
      const Json* const at = node.find(key);
      return at ? size_t(at->whole()) : otherwise;
    };
    const size_t least = limit("minItems", 0), most = limit("maxItems", SIZE_MAX);
    if (value.size() < least || value.size() > most)
      return found.push_back({pointer,
                              fmt::format("has {} entries where {}{} are wanted", value.size(),
                                          least == most          ? ""
                                          : value.size() < least ? "at least "
                                                                 : "at most ",
                                          value.size() < least ? least : most),
                              wanted(node)});
    if (const Json* const items = node.find("items"))
      for (size_t i = 0; i < value.size(); ++i)
        findProblems(*items, value[i], fmt::format("{}/{}", pointer, i), found);
  }
  if (!value.isObject()) return;
  const Json* const properties = node.find("properties");
  const Json* const others = node.find("additionalProperties");
  for (const auto& [key, child] : value.members()) {
    const std::string place = pointer + jsonPointerStep(key);
    if (const Json* const known = properties ? properties->find(key) : nullptr) {
      findProblems(*known, child, place, found);
    } else if (others && others->isObject()) {
      findProblems(*others, child, place, found);
    } else if (others && properties) {
      std::vector<std::string> names;
      for (const auto& [name, ignored] : properties->members()) names.push_back(name);
      const std::vector<std::string_view> all(names.begin(), names.end());
      found.push_back({place, fmt::format("unknown key \"{}\"", key), suggestion(key, all)});
    }
  }
  if (const Json* const required = node.find("required"))
    for (const Json& key : *required)
      if (!value.contains(key.string()))
        found.push_back({pointer, fmt::format("the key \"{}\" is missing", key.string()), wanted(node)});
}

}  // namespace

std::vector<SchemaProblem> checkAgainstSchema(const Json& document) {
  std::vector<SchemaProblem> found;
  if (registeredBlocks().empty()) {
    findProblems(schemaJson(), document, "", found);
    return found;
  }
  Json schema = schemaJson();
  for (const BlockKind& block : registeredBlocks()) schema["properties"][block.key] = readJson(block.schema);
  findProblems(schema, document, "", found);
  return found;
}

}  // namespace sunder::world
