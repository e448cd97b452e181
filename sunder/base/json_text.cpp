// JSON values as text.
#include "sunder/base/error.h"
#include "sunder/base/json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/detail/conversions/to_chars.hpp>

namespace sunder {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// The bytes of one character of UTF-8 at the start of a text that is not empty, and whether it is whole. Of
// one that is not, the bytes that could have begun it, at least one (Unicode 15, table 3-7).
struct Character {
  size_t bytes;
  bool valid;
};

Character characterOf(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, true};
  const size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0) return {1, false};
  unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size() || byte(i) < least || byte(i) > most) return {i, false};
    least = 0x80;
    most = 0xbf;
  }
  return {length, true};
}

bool isPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style) : style_(style) {}

  void write(const Json& value, size_t blanks) {
    if (value.isObject())
      writeObject(value, blanks);
    else if (value.isArray())
      writeArray(value, blanks);
    else if (value.isString())
      writeString(value.string());
    else if (value.isWhole())
      fmt::format_to(std::back_inserter(out), "{}", value.whole());
    else if (value.isInteger())
      fmt::format_to(std::back_inserter(out), "{}", value.integer());
    else if (value.isDouble())
      writeDouble(value.number());
    else
      out += value.isNull() ? "null" : value.boolean() ? "true" : "false";
  }

  std::string out;

 private:
  void writeObject(const Json& value, size_t blanks) {
    const size_t inside = open('{', blanks);
    bool first = true;
    const auto member = [&](const JsonMembers::value_type& each) {
      next(first, inside);
      writeString(each.first);
      out += style_.indent < 0 ? ":" : ": ";
      write(each.second, inside);
    };
    if (style_.asCame)
      for (const auto* each : value.membersAsCame()) member(*each);
    else
      for (const auto& each : value.members()) member(each);
    close('}', first, blanks);
  }

  void writeArray(const Json& value, size_t blanks) {
    const size_t inside = open('[', blanks);
    bool first = true;
    for (const Json& each : value) {
      next(first, inside);
      write(each, inside);
    }
    close(']', first, blanks);
  }

  size_t open(char bracket, size_t blanks) {
    out += bracket;
    return style_.indent < 0 ? 0 : blanks + static_cast<size_t>(style_.indent);
  }
  void next(bool& first, size_t blanks) {
    if (!first) out += ',';
    first = false;
    newLine(blanks);
  }
  void close(char bracket, bool empty, size_t blanks) {
    if (!empty) newLine(blanks);
    out += bracket;
  }
  void newLine(size_t blanks) {
    if (style_.indent < 0) return;
    out += '\n';
    out.append(blanks, ' ');
  }

  void writeDouble(double value) {
    if (!std::isfinite(value)) {
      out += "null";
      return;
    }
    char digits[64];
    out.append(digits, nlohmann::detail::to_chars(digits, digits + sizeof digits, value));
  }

  void writeString(std::string_view text) {
    out += '"';
    while (!text.empty()) {
      const auto plain = std::find_if_not(text.begin(), text.end(), isPlain);
      out.append(text.begin(), plain);
      text.remove_prefix(static_cast<size_t>(plain - text.begin()));
      if (text.empty()) break;
      const Character character = characterOf(text);
      if (!character.valid && style_.strict)
        throw Error(ErrorKind::Format,
                    fmt::format("a text is not UTF-8: byte 0x{:02x}", static_cast<unsigned char>(text[0])));
      if (character.bytes == 1 && character.valid)
        writeEscaped(text[0]);
      else
        out += character.valid ? text.substr(0, character.bytes) : kReplacement;
      text.remove_prefix(character.bytes);
    }
    out += '"';
  }

  void writeEscaped(char c) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    out += '\\';
    if (const size_t at = kEscaped.find(c); at != std::string_view::npos)
      out += kLetters[at];
    else
      fmt::format_to(std::back_inserter(out), "u{:04x}", static_cast<unsigned char>(c));
  }

  const JsonStyle& style_;
};

}  // namespace

std::string Json::text(const JsonStyle& style) const {
  JsonWriter writer(style);
  writer.write(*this, 0);
  return std::move(writer.out);
}

}  // namespace sunder
