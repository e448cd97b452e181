#include "sunder/base/json_places.h"

#include "sunder/base/json_parse.h"
#include "sunder/base/json_pointer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace sunder {

namespace {

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
  const std::optional<Json> value = tryReadJson(word);
  return value && value->isString() ? value->string() : std::string(word);
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

struct EqualKeyFinder {
  EqualKey found{};
  bool any = false;
  std::vector<std::set<std::string>> keys{};

  void enter(const std::string&, size_t) { keys.emplace_back(); }
  void leave() { keys.pop_back(); }
  void key(const std::string& name, size_t offset) {
    if (any || keys.back().insert(name).second) return;
    found = {name, offset};
    any = true;
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

}  // namespace

TextPlace placeOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = static_cast<uint64_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t lastBreak = before.rfind('\n');
  return {lines + 1, lastBreak == std::string_view::npos ? before.size() + 1 : before.size() - lastBreak};
}

size_t findTooDeep(std::string_view text) {
  Scanner scanner(text);
  size_t depth = 0;
  while (const char c = scanner.peek()) {
    const size_t start = scanner.position();
    if (c == '[' || c == '{') {
      if (++depth > kJsonDepthLimit) return start;
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
  return 0;
}

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

EqualKey findEqualKey(std::string_view text) {
  EqualKeyFinder finder;
  walk(text, finder);
  return finder.found;
}

uint64_t lineOfPointer(std::string_view text, std::string_view pointer) {
  PointerFinder finder{splitJsonPointer(pointer)};
  walk(text, finder);
  return placeOf(text, finder.offset).line;
}

}  // namespace sunder
