// Small helpers for messages: which known name did the user mean?
//
//   nearestName("cilinder", {"box", "cylinder", "cone"})   ->  "cylinder"
//
// Cost: O(length a * length b) per pair, meant for lists of at most some hundred names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sunder {

// Insertions, deletions, substitutions and swaps of neighbours that turn a into b, where no letter is touched
// twice (the "optimal string alignment" form of Damerau's distance, 1964). Upper and lower case of ASCII
// count as equal.
size_t editDistance(std::string_view a, std::string_view b);

// The known name closest to `name`, the first of several; empty when none is close enough to be a likely
// slip: more than a third of the letters would have to change, and none has `name` as its beginning (two
// letters or more).
std::string_view nearestName(std::string_view name, std::span<const std::string_view> known);

// What to tell someone who gave an unknown name: "did you mean 'cylinder'?", or what there is.
std::string suggestion(std::string_view name, std::span<const std::string_view> known);

// "a, b, c"
std::string joinNames(std::span<const std::string_view> names, std::string_view separator = ", ");

// A number for a proposal, of two digits and rounded up or down: 0.00347 becomes "0.0034" downwards. What has
// two digits stays. "0" for 0 and for what is not finite.
std::string twoDigitsUp(double value);
std::string twoDigitsDown(double value);

}  // namespace sunder
