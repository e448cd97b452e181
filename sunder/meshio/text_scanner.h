// Reading numbers and words from text in memory: a cursor that knows its line, skips blanks and comments, and
// turns everything unexpected into an Error with file, line and the offending word. Private to the room;
// every text mesh format is read through it.
//
// Guarantees: never reads past the text, never scans further than `lineLimit` bytes without a line end, so a
// huge file of zeros or of one endless line is refused at once. A byte below 32 that is no white space is
// "not a text file". Cost: one pass; numbers go through fast_float (Lemire, "Number parsing at a gigabyte per
// second", 2021).
#pragma once

#include "sunder/base/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace sunder::meshio {

inline constexpr size_t kLineLimit = size_t(16) << 20;

// The number at the start of [first, last), or nullptr when there is none; a leading '+' is allowed. Overflow
// gives infinity. Parsing stops at the first byte that does not belong to the number.
const char* parseDouble(const char* first, const char* last, double& value);

// Decimal digits only; nullptr when there is none or the value does not fit.
inline const char* parseUint(const char* first, const char* last, uint64_t& value) {
  const char* p = first;
  uint64_t v = 0;
  for (; p != last; ++p) {
    const unsigned digit = static_cast<unsigned char>(*p) - unsigned('0');
    if (digit > 9) break;
    if (v > (UINT64_MAX - digit) / 10) return nullptr;
    v = v * 10 + digit;
  }
  value = v;
  return p == first ? nullptr : p;
}
const char* parseInt(const char* first, const char* last, int64_t& value);  // optional sign, then digits

// The word as it may appear in a message: at most 40 printable characters, in quotes.
std::string quoted(std::string_view word);

// Throws Error (Format) when `claimed` things of at least `minimumBytesEach` cannot fit into
// `remainingBytes`: "the header claims 1000000000 vertices, which take at least 12000000000 bytes, but only
// 57 are left". Call it before reserving memory. `what` is the plural of the thing.
void checkCount(uint64_t claimed, uint64_t minimumBytesEach, uint64_t remainingBytes, std::string_view what);

class TextScanner {
 public:
  // `comment` starts a comment that ends with the line; '\0' for formats without comments.
  TextScanner(std::string_view text, std::string name, char comment = '#', size_t lineLimit = kLineLimit);

  const std::string& name() const { return name_; }
  uint64_t line() const { return line_; }                                   // from 1
  size_t offset() const { return static_cast<size_t>(cursor_ - begin_); }   // bytes consumed
  size_t remaining() const { return static_cast<size_t>(end_ - cursor_); }  // bytes left
  std::string_view rest() const { return {cursor_, remaining()}; }
  void setLine(uint64_t line) { line_ = line; }  // when the text is the rest of a larger one
  void advance(size_t bytes);  // over a binary block: no lines are counted in it; bytes <= remaining()

  // --- on the current line ---
  bool lineHasMore();             // skips blanks and a comment; false at the line's end or the text's
  std::string_view wordOnLine();  // next word of this line, empty when there is none
  std::string_view
  restOfLine();     // what is left of the line without blanks at its ends; goes to the next line
  bool nextLine();  // skips to the start of the next line; false when there is none
  void endLine();   // Error unless only blanks or a comment are left, then nextLine()

  // --- across lines ---
  bool skipToWord();            // skips blanks, line ends, comments; false at the end of the text
  std::string_view word();      // next word anywhere; empty at the end of the text
  std::string_view peekWord();  // same without consuming it

  // Numbers anywhere ahead. `what` names the thing in the message: "expected a vertex index, found 'abc'".
  uint64_t readUint(std::string_view what);
  uint64_t readUint(std::string_view what, uint64_t largest);  // Error when above `largest`
  int64_t readInt(std::string_view what);
  double readDouble(std::string_view what);                       // may be infinite or NaN
  double readCoordinate(std::string_view what = "a coordinate");  // must be finite
  void expectWord(std::string_view keyword);                      // case-sensitive

  // checkCount against what is left of the text, with this file and line.
  void checkCount(uint64_t claimed, uint64_t minimumBytesEach, std::string_view what) const;

  // Errors at the current line, ready to throw: `throw scanner.error("...")`.
  Error error(std::string message) const;
  Error expected(std::string_view what, std::string_view found) const;

 private:
  void startLine(const char* at);
  [[noreturn]] void failAtLimit() const;
  [[noreturn]] void failNotText() const;

  const char* begin_;
  const char* cursor_;
  const char* end_;
  const char* lineEnd_;  // no scan goes past it: start of the line + limit, or the end of the text
  uint64_t line_ = 1;
  size_t lineLimit_;
  char comment_;
  std::string name_;
};

}  // namespace sunder::meshio
