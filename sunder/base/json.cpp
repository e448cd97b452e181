#include "sunder/base/json.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sunder {

namespace {

struct Place {
  uint64_t line, column;
};

Place placeOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = static_cast<uint64_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t lastBreak = before.rfind('\n');
  return {lines + 1, lastBreak == std::string_view::npos ? before.size() + 1 : before.size() - lastBreak};
}

[[noreturn]] void fail(std::string_view text, const std::string& fileName, size_t offset,
                       const std::string& message, ErrorKind kind = ErrorKind::Format,
                       const char* hint = "") {
  const Place place = placeOf(text, offset);
  throw Error(kind, fmt::format("column {}: {}", place.column, message))
      .inFile(fileName)
      .atLine(place.line)
      .hint(hint);
}

// The tokens of a text that matter for its structure. Knows strings and comments, and nothing of what makes a
// text valid: on broken text it stops sooner or later, which is all that is asked of it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) position_ = 3;
  }

  size_t position() const { return position_; }

  // Skips blanks and comments; 0 at the end.
  char peek() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++position_;
      } else if (text_.substr(position_, 2) == "//") {
        skipPast("\n");
      } else if (text_.substr(position_, 2) == "/*") {
        position_ += 2;
        skipPast("*/");
      } else {
        return c;
      }
    }
    return 0;
  }

  void skipCharacter() { ++position_; }

  // A string with its quotes, or a run of letters and digits.
  std::string_view word() {
    const size_t start = position_;
    if (text_[position_] != '"') {
      position_ = std::min(text_.find_first_of(" \t\r\n,:[]{}\"/", position_ + 1), text_.size());
      return text_.substr(start, position_ - start);
    }
    for (++position_; position_ < text_.size() && text_[position_] != '"'; ++position_) {
      if (text_[position_] == '\\') ++position_;
    }
    position_ = std::min(position_ + 1, text_.size());
    return text_.substr(start, position_ - start);
  }

 private:
  void skipPast(std::string_view mark) {
    const size_t found = text_.find(mark, position_);
    position_ = found == std::string_view::npos ? text_.size() : found + mark.size();
  }

  std::string_view text_;
  size_t position_ = 0;
};

std::string unquoted(std::string_view word) {
  if (word.find('\\') == std::string_view::npos) return std::string(word.substr(1, word.size() - 2));
  const nlohmann::json value = nlohmann::json::parse(word, nullptr, false);
  return value.is_string() ? value.get<std::string>() : std::string(word);
}

void checkDepth(std::string_view text, const std::string& fileName) {
  Scanner scanner(text);
  size_t depth = 0;
  while (const char c = scanner.peek()) {
    const size_t start = scanner.position();
    if (c == '[' || c == '{') {
      if (++depth > kJsonDepthLimit) {
        fail(text, fileName, start, fmt::format("more than {} brackets inside each other", kJsonDepthLimit),
             ErrorKind::Limit);
      }
      scanner.skipCharacter();
    } else if (c == ']' || c == '}') {
      if (depth > 0) --depth;
      scanner.skipCharacter();
    } else if (c == ',' || c == ':') {
      scanner.skipCharacter();
    } else {
      scanner.word();
    }
  }
}

// The parser does not say where a number is that no double can hold.
size_t findHugeNumber(std::string_view text) {
  Scanner scanner(text);
  while (const char c = scanner.peek()) {
    const size_t start = scanner.position();
    if (c == '[' || c == ']' || c == '{' || c == '}' || c == ',' || c == ':') {
      scanner.skipCharacter();
      continue;
    }
    const std::string word(scanner.word());
    if ((c == '-' || (c >= '0' && c <= '9')) && std::isinf(std::strtod(word.c_str(), nullptr))) return start;
  }
  return 0;
}

// Walks a valid text. enter(key or index, offset) is called where a value begins, leave() where it ends,
// key(name, offset) at each key.
template <class Visitor>
void walk(std::string_view text, Visitor& visitor) {
  struct Frame {
    bool object;
    size_t index;
  };
  Scanner scanner(text);
  std::vector<Frame> frames;
  std::string key;
  while (const char c = scanner.peek()) {
    const size_t start = scanner.position();
    if (c == ',' || c == ':') {
      scanner.skipCharacter();
      continue;
    }
    if (c == ']' || c == '}') {
      scanner.skipCharacter();
      if (frames.empty()) return;
      frames.pop_back();
      visitor.leave();
      continue;
    }
    if (!frames.empty() && frames.back().object && c == '"') {
      // In an object words alternate: key, value. The index counts both.
      if (frames.back().index++ % 2 == 0) {
        key = unquoted(scanner.word());
        visitor.key(key, start);
        continue;
      }
    } else if (!frames.empty() && frames.back().object) {
      ++frames.back().index;
    }
    if (frames.empty()) {
      visitor.enter(std::string(), start);
    } else if (frames.back().object) {
      visitor.enter(key, start);
    } else {
      visitor.enter(std::to_string(frames.back().index++), start);
    }
    if (c == '[' || c == '{') {
      scanner.skipCharacter();
      frames.push_back({c == '{', 0});
    } else {
      scanner.word();
      visitor.leave();
    }
  }
}

struct DuplicateFinder {
  std::string_view text;
  const std::string& fileName;
  std::vector<std::set<std::string>> keys{};

  void enter(const std::string&, size_t) { keys.emplace_back(); }
  void leave() { keys.pop_back(); }
  void key(const std::string& name, size_t offset) {
    if (!keys.back().insert(name).second) {
      fail(text, fileName, offset, fmt::format("the key \"{}\" comes twice in one object", name),
           ErrorKind::Format, "remove one of them");
    }
  }
};

struct PointerFinder {
  std::vector<std::string> path;
  size_t depth = 0;    // values we are inside of, the root counts as 1
  size_t matched = 0;  // how many of them are on the path, counted from the root
  size_t best = 0, offset = 0;

  void enter(const std::string& name, size_t at) {
    const bool onPath = matched == depth && (depth == 0 || (depth <= path.size() && path[depth - 1] == name));
    ++depth;
    if (!onPath) return;
    matched = depth;
    if (depth > best) {
      best = depth;
      offset = at;
    }
  }
  void leave() {
    --depth;
    matched = std::min(matched, depth);
  }
  void key(const std::string&, size_t) {}
};

std::vector<std::string> splitPointer(std::string_view pointer) {
  std::vector<std::string> path;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // the slash
    const size_t end = std::min(pointer.find('/'), pointer.size());
    std::string token;
    for (size_t i = 0; i < end; ++i) {
      if (pointer[i] == '~' && i + 1 < end) {
        token += pointer[++i] == '1' ? '/' : '~';
      } else {
        token += pointer[i];
      }
    }
    path.push_back(std::move(token));
    pointer.remove_prefix(end);
  }
  return path;
}

// nlohmann's text without its error number and position, which we give in our own form.
std::string reasonOf(const nlohmann::json::exception& error) {
  std::string reason = error.what();
  if (const size_t bracket = reason.find("] "); bracket != std::string::npos) reason.erase(0, bracket + 2);
  if (reason.starts_with("parse error at line")) {
    if (const size_t colon = reason.find(": "); colon != std::string::npos) reason.erase(0, colon + 2);
  }
  return reason;
}

// What to do about the commonest slips, by what stands where reading stopped.
const char* adviceFor(std::string_view text, size_t offset) {
  if (offset >= text.size()) return "";
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  size_t begin = offset, end = offset;
  while (begin > 0 && isLetter(text[begin - 1])) --begin;
  while (end < text.size() && isLetter(text[end])) ++end;
  std::string word(text.substr(begin, end - begin));
  for (char& c : word) c = static_cast<char>(c | 0x20);
  if (word == "nan" || word == "inf" || word == "infinity")
    return "JSON has no such number; write a finite one";
  if (text[offset] == '\'') return "texts and keys stand in double quotes";
  const size_t before = text.substr(0, offset).find_last_not_of(" \t\r\n");
  if ((text[offset] == '}' || text[offset] == ']') && before != std::string_view::npos && text[before] == ',')
    return "remove the comma before it";
  return "";
}

}  // namespace

nlohmann::json parseJson(std::string_view text, const std::string& fileName) {
  checkDepth(text, fileName);
  nlohmann::json value;
  try {
    value = nlohmann::json::parse(text, nullptr, true, true);
  } catch (const nlohmann::json::parse_error& error) {
    const size_t offset = error.byte > 0 ? error.byte - 1 : 0;
    fail(text, fileName, offset, reasonOf(error), ErrorKind::Format, adviceFor(text, offset));
  } catch (const nlohmann::json::exception& error) {
    fail(text, fileName, findHugeNumber(text), reasonOf(error), ErrorKind::Format,
         "numbers reach to 1.7e308");
  }
  DuplicateFinder finder{text, fileName};
  walk(text, finder);
  return value;
}

uint64_t lineOfPointer(std::string_view text, std::string_view pointer) {
  PointerFinder finder{splitPointer(pointer)};
  walk(text, finder);
  return placeOf(text, finder.offset).line;
}

}  // namespace sunder
