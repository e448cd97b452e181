#include "sunder/base/json_parse.h"

#include "sunder/base/error.h"
#include "sunder/base/json_places.h"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sunder {

namespace {

[[noreturn]] void fail(std::string_view text, const std::string& fileName, size_t offset,
                       const std::string& message, ErrorKind kind = ErrorKind::Format,
                       const char* hint = "") {
  const TextPlace place = placeOf(text, offset);
  throw Error(kind, fmt::format("column {}: {}", place.column, message))
      .inFile(fileName)
      .atLine(place.line)
      .hint(hint);
}

// nlohmann's text without its error number and position, which we give in our own form.
std::string reasonOf(const char* words) {
  std::string reason = words;
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

// Makes a value of what nlohmann's parser finds. The functions have the names that it calls.
class JsonBuilder {
 public:
  enum class Trouble { None, Broken, HugeNumber, TooDeep };

  Json value;
  Trouble trouble = Trouble::None;
  size_t byte = 0;  // of what is broken
  std::string reason;
  bool equalKeys = false;

  bool null() { return add(nullptr) != nullptr; }
  bool boolean(bool flag) { return add(flag) != nullptr; }
  bool number_integer(int64_t number) { return add(number) != nullptr; }
  bool number_unsigned(uint64_t number) { return add(number) != nullptr; }
  bool number_float(double number, const std::string&) { return add(number) != nullptr; }
  bool string(const std::string& text) { return add(text) != nullptr; }
  bool binary(const std::vector<std::uint8_t>&) { return false; }
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(const std::string& name) {
    Json& object = *open_.back();
    const size_t before = object.size();
    member_ = &object[name];
    equalKeys |= object.size() == before;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) {
    constexpr int kNumberOverflow = 406;
    trouble = error.id == kNumberOverflow ? Trouble::HugeNumber : Trouble::Broken;
    byte = position > 0 ? position - 1 : 0;
    reason = reasonOf(error.what());
    return false;
  }

 private:
  Json* add(Json made) {
    if (open_.empty()) {
      value = std::move(made);
      return &value;
    }
    if (open_.back()->isArray()) {
      open_.back()->push_back(std::move(made));
      return &open_.back()->back();
    }
    *member_ = std::move(made);
    return member_;
  }
  bool open(Json made) {
    if (open_.size() < kJsonDepthLimit) {
      open_.push_back(add(std::move(made)));
      return true;
    }
    trouble = Trouble::TooDeep;
    reason = fmt::format("more than {} brackets inside each other", kJsonDepthLimit);
    return false;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;  // lists and objects that have not ended
  Json* member_ = nullptr;   // of the innermost object: the one whose key came last
};

using Trouble = JsonBuilder::Trouble;

JsonBuilder build(std::string_view text, bool comments) {
  JsonBuilder builder;
  nlohmann::json::sax_parse(text, &builder, nlohmann::json::input_format_t::json, true, comments);
  if (builder.trouble == Trouble::HugeNumber) builder.byte = findHugeNumber(text);
  if (builder.trouble == Trouble::TooDeep) builder.byte = findTooDeep(text);
  return builder;
}

}  // namespace

Json parseJson(std::string_view text, const std::string& fileName) {
  JsonBuilder made = build(text, true);
  if (made.trouble != Trouble::None)
    fail(text, fileName, made.byte, made.reason,
         made.trouble == Trouble::TooDeep ? ErrorKind::Limit : ErrorKind::Format,
         made.trouble == Trouble::Broken       ? adviceFor(text, made.byte)
         : made.trouble == Trouble::HugeNumber ? "numbers reach to 1.7e308"
                                               : "");
  if (made.equalKeys) {
    const EqualKey key = findEqualKey(text);
    fail(text, fileName, key.offset, fmt::format("the key \"{}\" comes twice in one object", key.name),
         ErrorKind::Format, "remove one of them");
  }
  return std::move(made.value);
}

std::optional<Json> tryReadJson(std::string_view text, JsonFault* fault) {
  JsonBuilder made = build(text, false);
  if (made.trouble == Trouble::None) return std::move(made.value);
  if (fault) *fault = {made.byte, made.trouble == Trouble::Broken, std::move(made.reason)};
  return std::nullopt;
}

Json readJson(std::string_view text) {
  JsonFault fault;
  if (std::optional<Json> value = tryReadJson(text, &fault)) return std::move(*value);
  throw Error(ErrorKind::Format, "the JSON cannot be read: " + fault.reason).atByte(fault.byte);
}

}  // namespace sunder
