#include "sunder/world/scene/scene_schema.h"

#include "sunder/base/json.h"
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

using Json = nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

class Validator {
 public:
  Validator() {
    valijson::SchemaParser parser;
    parser.populateSchema(NlohmannJsonAdapter(json_), schema_);
  }
  bool accepts(const Json& document) const {
    valijson::Validator validator;
    return validator.validate(schema_, NlohmannJsonAdapter(document), nullptr);
  }

 private:
  Json json_ = Json::parse(sceneSchemaText());
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
  if (at.is_object()) {
    for (const auto& [key, value] : kept.items()) {
      at.erase(key);
      use(root);
      at[key] = value;
    }
    at["noSuchKey"] = 1;
    use(root);
    at.erase("noSuchKey");
  }
  if (at.is_structured())
    for (Json& child : at) changes(root, child, use);
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
    EXPECT_EQ(checkAgainstSchema(changed).empty(), fits) << changed.dump();
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
  for (const auto& [word, value] : node.items()) {
    EXPECT_TRUE(kKnown.contains(word)) << word;
    if (word == "properties" || word == "definitions")
      for (const Json& child : value) expectKnownWords(child);
    else if (value.is_object())
      expectKnownWords(value);
  }
}

TEST(SceneSchema, UsesOnlyTheWordsThatTheCheckKnows) { expectKnownWords(Json::parse(sceneSchemaText())); }

}  // namespace
}  // namespace sunder::world
