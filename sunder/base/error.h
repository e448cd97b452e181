// The one exception of the project. It says what kind of trouble it is, which file, where in it, and what to
// do:
//
//   throw Error(ErrorKind::Format, "face refers to vertex 9, but there are only 8")
//       .inFile("box.obj").atLine(12).hint("indices in OBJ files start at 1");
//
// prints as  box.obj:12: face refers to vertex 9, but there are only 8 (indices in OBJ files start at 1)
//
// Bad input always throws this. A broken invariant of our own is an assertion, never an Error.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

namespace sunder {

enum class ErrorKind {
  Usage,        // the caller asked for something that does not exist or does not fit together
  Missing,      // a file that is not there, is a directory, or may not be read
  Format,       // the content of a file is not what the format says
  Unsupported,  // valid, but not something we do
  Limit,        // larger than memory or a stated limit allows
  Geometry,     // a mesh or shape that the operation cannot work on
  Numerical,    // a computation diverged or produced a non-finite number
  Write,        // the result could not be written
};

const char* name(ErrorKind kind);

// 2 where the input or the call was at fault, 1 where the job itself failed.
int exitCode(ErrorKind kind);

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message);

  // Context, for chaining. The first file, place and hint given stay: the innermost function knows best.
  Error& inFile(std::string path) &;
  Error& atLine(uint64_t line) &;
  Error& atByte(uint64_t offset) &;
  Error& atPointer(std::string jsonPointer) &;
  Error& hint(std::string advice) &;
  Error&& inFile(std::string path) && { return std::move(inFile(std::move(path))); }
  Error&& atLine(uint64_t line) && { return std::move(atLine(line)); }
  Error&& atByte(uint64_t offset) && { return std::move(atByte(offset)); }
  Error&& atPointer(std::string p) && { return std::move(atPointer(std::move(p))); }
  Error&& hint(std::string advice) && { return std::move(hint(std::move(advice))); }

  // Further errors of the same input, to be told with this one.
  Error& also(Error other) &;
  std::span<const Error> others() const;

  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const std::string& file() const { return file_; }
  const std::string& place() const {
    return place_;
  }  // "12", "byte 84" or "/bodies/0/shape"; empty when unknown
  const std::string& hint() const { return hint_; }
  const char* what() const noexcept override { return full_.c_str(); }  // one line with everything above

 private:
  void compose();

  ErrorKind kind_;
  std::string message_, file_, place_, hint_, full_;
  std::vector<Error> others_;
};

// Errors of the parts of an input that do not depend on each other, so that one report names them all.
class ErrorList {
 public:
  static constexpr size_t kMost = 20;  // that are told; the others are counted

  // Each place and message once. Throws what throwIfAny() throws where there are more than a hundred: finding
  // the line of an error takes time in a large file.
  void add(Error error);
  bool empty() const { return errors_.empty(); }
  // Throws the first with the others, by file and line, if there are any.
  void throwIfAny() const;

 private:
  std::vector<Error> errors_;
  size_t more_ = 0;
};

}  // namespace sunder
