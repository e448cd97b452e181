// The schema of scene files, as it ships with the program, and the check of a document against it. The
// message is made from the schema: which key is unknown and which one was meant, or what the place wants.
// Of JSON Schema (draft 7) the check knows the words that our schema uses; tests compare its verdicts with
// those of a complete validator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sunder {
class Json;
}

namespace sunder::world {

std::string_view sceneSchemaText();

struct SchemaProblem {
  std::string pointer;  // where, in the document
  std::string message, hint;
};

// All problems in the order of the document; none where it is valid. What is below a value of the wrong type
// is not looked at.
std::vector<SchemaProblem> checkAgainstSchema(const Json& document);

}  // namespace sunder::world
