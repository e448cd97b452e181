#include "sunder/meshio/text_scanner.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include <fast_float/fast_float.h>

namespace sunder::meshio {

namespace {

constexpr size_t kShownCharacters = 40;

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool isWordCharacter(char c) { return static_cast<unsigned char>(c) > 32; }

}  // namespace

const char* parseDouble(const char* first, const char* last, double& value) {
  if (first != last && *first == '+') {
    ++first;
    if (first != last && *first == '-') return nullptr;
  }
  const auto result = fast_float::from_chars(first, last, value);
  // Newer versions report overflow as an error although the value is set; what is out of range is for callers
  // to judge.
  if (result.ec != std::errc() && result.ec != std::errc::result_out_of_range) return nullptr;
  return result.ptr;
}

const char* parseInt(const char* first, const char* last, int64_t& value) {
  bool negative = false;
  if (first != last && (*first == '-' || *first == '+')) negative = *first++ == '-';
  uint64_t magnitude = 0;
  const char* after = parseUint(first, last, magnitude);
  if (!after || magnitude > uint64_t(INT64_MAX)) return nullptr;
  value = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return after;
}

std::string quoted(std::string_view word) {
  std::string shown = "'";
  for (const char c : word) {
    if (shown.size() > kShownCharacters) {
      shown += "...";
      break;
    }
    if (c >= 32 && c < 127) {
      shown += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      shown += code;
    }
  }
  return shown + "'";
}

void checkCount(uint64_t claimed, uint64_t minimumBytesEach, uint64_t remainingBytes, std::string_view what) {
  if (minimumBytesEach == 0 || claimed <= remainingBytes / minimumBytesEach) return;
  const bool countable = claimed <= UINT64_MAX / minimumBytesEach;
  throw Error(ErrorKind::Format, "the header claims " + std::to_string(claimed) + " " + std::string(what) +
                                     ", which take at least " +
                                     (countable ? std::to_string(claimed * minimumBytesEach) : "2^64") +
                                     " bytes, but only " + std::to_string(remainingBytes) + " are left");
}

TextScanner::TextScanner(std::string_view text, std::string name, char comment, size_t lineLimit)
    : begin_(text.data()),
      cursor_(text.data()),
      end_(text.data() + text.size()),
      lineLimit_(lineLimit),
      comment_(comment),
      name_(std::move(name)) {
  if (text.starts_with("\xEF\xBB\xBF")) cursor_ += 3;  // a byte order mark that some editors leave
  startLine(cursor_);
}

void TextScanner::startLine(const char* at) {
  cursor_ = at;
  lineEnd_ = static_cast<size_t>(end_ - at) > lineLimit_ ? at + lineLimit_ : end_;
}

void TextScanner::advance(size_t bytes) { startLine(cursor_ + (bytes < remaining() ? bytes : remaining())); }

Error TextScanner::error(std::string message) const {
  return Error(ErrorKind::Format, std::move(message)).inFile(name_).atLine(line_);
}

Error TextScanner::expected(std::string_view what, std::string_view found) const {
  return error("expected " + std::string(what) + ", found " +
               (found.empty() ? "the end of the file" : quoted(found)));
}

void TextScanner::failAtLimit() const {
  throw error("the line is longer than " + std::to_string(lineLimit_) +
              " bytes; this is not a text file of this kind");
}

void TextScanner::failNotText() const {
  throw error("this is not a text file")
      .hint("byte " + std::to_string(offset()) + " is not a printable character");
}

bool TextScanner::lineHasMore() {
  while (cursor_ != lineEnd_ && isBlank(*cursor_)) ++cursor_;
  if (cursor_ == lineEnd_) {
    if (cursor_ != end_) failAtLimit();
    return false;
  }
  if (*cursor_ == '\n') return false;
  if (comment_ != '\0' && *cursor_ == comment_) {
    const void* found = std::memchr(cursor_, '\n', static_cast<size_t>(lineEnd_ - cursor_));
    cursor_ = found ? static_cast<const char*>(found) : lineEnd_;
    if (!found && cursor_ != end_) failAtLimit();
    return false;
  }
  if (!isWordCharacter(*cursor_)) failNotText();
  return true;
}

std::string_view TextScanner::wordOnLine() {
  if (!lineHasMore()) return {};
  const char* first = cursor_;
  while (cursor_ != lineEnd_ && isWordCharacter(*cursor_) && (comment_ == '\0' || *cursor_ != comment_))
    ++cursor_;
  if (cursor_ == lineEnd_ && cursor_ != end_) failAtLimit();
  return {first, static_cast<size_t>(cursor_ - first)};
}

std::string_view TextScanner::restOfLine() {
  while (cursor_ != lineEnd_ && isBlank(*cursor_)) ++cursor_;
  const char* first = cursor_;
  nextLine();
  const char* last = cursor_;
  while (last != first && (last[-1] == '\n' || isBlank(last[-1]))) --last;
  return {first, static_cast<size_t>(last - first)};
}

bool TextScanner::nextLine() {
  const size_t length = static_cast<size_t>(lineEnd_ - cursor_);
  const void* found = length == 0 ? nullptr : std::memchr(cursor_, '\n', length);
  if (!found) {
    cursor_ = lineEnd_;
    if (cursor_ != end_) failAtLimit();
    return false;
  }
  ++line_;
  startLine(static_cast<const char*>(found) + 1);
  return cursor_ != end_;
}

void TextScanner::endLine() {
  if (lineHasMore()) throw expected("the end of the line", peekWord());
  nextLine();
}

bool TextScanner::skipToWord() {
  while (!lineHasMore()) {
    if (cursor_ == end_) return false;
    ++line_;
    startLine(cursor_ + 1);  // lineHasMore() stops at a line end
  }
  return true;
}

std::string_view TextScanner::word() { return skipToWord() ? wordOnLine() : std::string_view{}; }

std::string_view TextScanner::peekWord() {
  if (!skipToWord()) return {};
  const char* const first = cursor_;
  const std::string_view found = wordOnLine();
  cursor_ = first;
  return found;
}

uint64_t TextScanner::readUint(std::string_view what) {
  const std::string_view found = word();
  uint64_t value = 0;
  if (parseUint(found.data(), found.data() + found.size(), value) != found.data() + found.size() ||
      found.empty())
    throw expected(what, found);
  return value;
}

uint64_t TextScanner::readUint(std::string_view what, uint64_t largest) {
  const uint64_t value = readUint(what);
  if (value > largest)
    throw error("expected " + std::string(what) + " of at most " + std::to_string(largest) + ", found " +
                std::to_string(value));
  return value;
}

int64_t TextScanner::readInt(std::string_view what) {
  const std::string_view found = word();
  int64_t value = 0;
  if (parseInt(found.data(), found.data() + found.size(), value) != found.data() + found.size() ||
      found.empty())
    throw expected(what, found);
  return value;
}

double TextScanner::readDouble(std::string_view what) {
  const std::string_view found = word();
  double value = 0;
  if (found.empty() ||
      parseDouble(found.data(), found.data() + found.size(), value) != found.data() + found.size())
    throw expected(what, found);
  return value;
}

double TextScanner::readCoordinate(std::string_view what) {
  const std::string_view found = word();
  double value = 0;
  if (found.empty() ||
      parseDouble(found.data(), found.data() + found.size(), value) != found.data() + found.size())
    throw expected(what, found);
  if (!std::isfinite(value)) throw error("coordinate is not finite: " + quoted(found));
  return value;
}

void TextScanner::expectWord(std::string_view keyword) {
  const std::string_view found = word();
  if (found != keyword) throw expected(quoted(keyword), found);
}

void TextScanner::checkCount(uint64_t claimed, uint64_t minimumBytesEach, std::string_view what) const {
  try {
    meshio::checkCount(claimed, minimumBytesEach, remaining(), what);
  } catch (Error& e) {
    throw std::move(e.inFile(name_).atLine(line_));
  }
}

}  // namespace sunder::meshio
