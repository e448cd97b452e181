// Where things are in a JSON text, for messages. Each costs one pass over the text and knows only its
// structure: strings, comments, brackets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sunder {

struct TextPlace {
  uint64_t line, column;  // from 1
};
TextPlace placeOf(std::string_view text, size_t offset);

// The line (from 1) on which the value of a JSON pointer ("/bodies/0/mass") begins in a text that parseJson
// accepts. Where the value is not there, the line of the innermost part of the pointer that is.
uint64_t lineOfPointer(std::string_view text, std::string_view pointer);

// Offsets of what the parser finds without saying where; 0 where there is no such thing.
size_t findTooDeep(std::string_view text);     // the first bracket beyond kJsonDepthLimit
size_t findHugeNumber(std::string_view text);  // the first number that no double can hold
struct EqualKey {
  std::string name;
  size_t offset = 0;
};
EqualKey findEqualKey(std::string_view text);  // of a valid text: the first key that comes twice in an object

}  // namespace sunder
