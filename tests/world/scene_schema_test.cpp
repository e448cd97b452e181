#include "sunder/world/scene/scene_schema.h"

#include "sunder/base/json_parse.h"
#include "sunder/world/scene/scene_sample.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop

namespace sunder::world {
namespace {

using valijson::adapters::NlohmannJsonAdapter;

class Validator {
 public:
  Validator() {
    valijson::SchemaParser parser;
    parser.populateSchema(NlohmannJsonAdapter(json_), schema_);
  }
  bool accepts(const Json& document) const {
    valijson::Validator validator;
    const nlohmann::json theirs = nlohmann::json::parse(document.text());
    return validator.validate(schema_, NlohmannJsonAdapter(theirs), nullptr);
  }

 private:
  nlohmann::json json_ = nlohmann::json::parse(sceneSchemaText());
  valijson::Schema schema_;
};

// Every value of the document in turn becomes another one; every object loses each key and gets a new one.
template <class Use>
void changes(Json& root, Json& at, const Use& use) {
  static const std::vector<Json> kOthers{nullptr, true, -1, 0.5, "x", {1, 2, 3}, Json::object()};
  const Json kept = at;
  for (const Json& other : kOthers) {
    at = other;
    use(root);
  }
  at = kept;
  if (at.isObject()) {
    for (const auto& [key, value] : kept.members()) {
      at.erase(key);
      use(root);
      at[key] = value;
    }
    at["noSuchKey"] = 1;
    use(root);
    at.erase("noSuchKey");
  }
  if (at.isArray())
    for (Json& child : at) changes(root, child, use);
  if (at.isObject())
    for (const auto& [key, child] : kept.members()) changes(root, at[key], use);
}

TEST(SceneSchema, AgreesWithACompleteValidatorOnChangedScenes) {
  const Validator validator;
  Json scene = parseJson(sampleScene(), "sample");
  ASSERT_TRUE(validator.accepts(scene));
  ASSERT_TRUE(checkAgainstSchema(scene).empty());
  size_t accepted = 0, refused = 0;
  changes(scene, scene, [&](const Json& changed) {
    const bool fits = validator.accepts(changed);
    ++(fits ? accepted : refused);
    EXPECT_EQ(checkAgainstSchema(changed).empty(), fits) << changed.text();
  });
  EXPECT_GT(accepted, 50u);
  EXPECT_GT(refused, 1000u);
}

void expectKnownWords(const Json& node) {
  static const std::set<std::string> kKnown{"type",
                                            "$ref",
                                            "description",
                                            "additionalProperties",
                                            "properties",
                                            "maximum",
                                            "minimum",
                                            "items",
                                            "required",
                                            "minItems",
                                            "maxItems",
                                            "enum",
                                            "exclusiveMinimum",
                                            "exclusiveMaximum",
                                            "$schema",
                                            "title",
                                            "definitions"};
  for (const auto& [word, value] : node.members()) {
    EXPECT_TRUE(kKnown.contains(word)) << word;
    if (word == "properties" || word == "definitions")
      for (const auto& [name, child] : value.members()) expectKnownWords(child);
    else if (value.isObject())
      expectKnownWords(value);
  }
}

TEST(SceneSchema, UsesOnlyTheWordsThatTheCheckKnows) { expectKnownWords(readJson(sceneSchemaText())); }

}  // namespace
}  // namespace sunder::world
