// Reading JSON text that people write: // and /* */ comments are allowed, a key that comes twice in an object
// is an error, and every error names the line and column. Nesting deeper than 256 is refused, so that no
// input can exhaust the stack of code that walks the result.
//
// Parsing is nlohmann's; include <nlohmann/json.hpp> in the .cpp file that uses the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace sunder {

inline constexpr size_t kJsonDepthLimit = 256;

// Throws Error (Format) with file and line:  scene.json:12: column 5: the key "mass" comes twice in one
// object
nlohmann::json parseJson(std::string_view text, const std::string& fileName);

// The line (from 1) on which the value of a JSON pointer ("/bodies/0/mass") begins in a text that parseJson
// accepts. Where the value is not there, the line of the innermost part of the pointer that is. Follows RFC
// 6901.
uint64_t lineOfPointer(std::string_view text, std::string_view pointer);

}  // namespace sunder
