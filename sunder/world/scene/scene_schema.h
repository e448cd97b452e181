// The schema of scene files, as it ships with the program, and the check of a document against it. The
// message is made from the schema: which key is unknown and which one was meant, or what the place wants.
// Of JSON Schema (draft 7) the check knows the words that our schema uses; tests compare its verdicts with
// those of a complete validator.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace sunder::world {

std::string_view sceneSchemaText();

struct SchemaProblem {
  std::string pointer;  // where, in the document
  std::string message, hint;
};

// The first problem, in the order of the document's depth; none where the document is valid.
std::optional<SchemaProblem> checkAgainstSchema(const nlohmann::json& document);

}  // namespace sunder::world
