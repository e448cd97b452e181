// JSON texts as values. Nesting deeper than kJsonDepthLimit is refused, so that no input can exhaust the
// stack of code that walks the result.
//
// Parsing is nlohmann's, which nothing else includes. Costs one pass over the text, and another one to find
// the place of an error that the parser does not name.
#pragma once

#include "sunder/base/json.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sunder {

inline constexpr size_t kJsonDepthLimit = 256;

// A text that people write: // and /* */ comments are allowed, and a key that comes twice in an object is an
// error. Throws Error (Format, Limit) with file and line:
//   scene.json:12: column 5: the key "mass" comes twice in one object
Json parseJson(std::string_view text, const std::string& fileName);

// A text that a program wrote: no comments; of equal keys the last counts. Throws Error (Format) with the
// byte.
Json readJson(std::string_view text);

// The same where a text may be no JSON: nothing then, and where and why.
struct JsonFault {
  size_t byte = 0;
  bool broken = true;  // else it is JSON, but a number is too large or the nesting too deep
  std::string reason;
};
std::optional<Json> tryReadJson(std::string_view text, JsonFault* fault = nullptr);

}  // namespace sunder
