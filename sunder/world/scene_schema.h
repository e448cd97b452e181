// The schema of scene files, as it ships with the program, and the check of a document against it. valijson
// decides; the message is made from the schema: which key is unknown and which one was meant, or what the
// place wants.
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
