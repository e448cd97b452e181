// The questions of `sunder query`, in one table that the verb, `describe` and the completion work by.
#pragma once

#include <span>
#include <string_view>

namespace sunder::cli {

struct Question {
  std::string_view name;
  std::string_view summary;
  bool rays;                 // asked of rays, not of points
  std::string_view options;  // those that belong to it alone
  std::string_view columns;  // of the answers
};

std::span<const Question> questions();

// Throws Error (Usage) with the nearest name for one that is not in the table.
const Question& questionNamed(std::string_view name);

}  // namespace sunder::cli
