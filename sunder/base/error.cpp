#include "sunder/base/error.h"

#include <utility>

namespace sunder {

const char* name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Usage:
      return "usage";
    case ErrorKind::Missing:
      return "missing";
    case ErrorKind::Format:
      return "format";
    case ErrorKind::Unsupported:
      return "unsupported";
    case ErrorKind::Limit:
      return "limit";
    case ErrorKind::Geometry:
      return "geometry";
    case ErrorKind::Numerical:
      return "numerical";
    case ErrorKind::Write:
      return "write";
  }
  return "unknown";
}

int exitCode(ErrorKind kind) { return kind == ErrorKind::Numerical || kind == ErrorKind::Write ? 1 : 2; }

Error::Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) { compose(); }

Error& Error::inFile(std::string path) & {
  if (file_.empty()) file_ = std::move(path);
  compose();
  return *this;
}

Error& Error::atLine(uint64_t line) & {
  if (place_.empty()) place_ = std::to_string(line);
  compose();
  return *this;
}

Error& Error::atByte(uint64_t offset) & {
  if (place_.empty()) place_ = "byte " + std::to_string(offset);
  compose();
  return *this;
}

Error& Error::atPointer(std::string jsonPointer) & {
  if (place_.empty()) place_ = std::move(jsonPointer);
  compose();
  return *this;
}

Error& Error::hint(std::string advice) & {
  if (hint_.empty()) hint_ = std::move(advice);
  compose();
  return *this;
}

void Error::compose() {
  full_ = file_;
  if (!place_.empty()) full_ += (full_.empty() ? "" : ":") + place_;
  if (!full_.empty()) full_ += ": ";
  full_ += message_;
  if (!hint_.empty()) full_ += " (" + hint_ + ")";
}

}  // namespace sunder
