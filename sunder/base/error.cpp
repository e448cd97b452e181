#include "sunder/base/error.h"

#include <algorithm>
#include <cstdlib>
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

Error& Error::also(Error other) & {
  others_.push_back(std::move(other));
  return *this;
}

std::span<const Error> Error::others() const { return others_; }

namespace {

constexpr size_t kCounted = 100;  // errors

}  // namespace

void ErrorList::add(Error error) {
  const auto same = [&](const Error& e) { return std::string_view(e.what()) == error.what(); };
  if (std::any_of(errors_.begin(), errors_.end(), same)) return;
  if (errors_.size() < kMost)
    errors_.push_back(std::move(error));
  else
    ++more_;
  if (errors_.size() + more_ > kCounted) throwIfAny();
}

void ErrorList::throwIfAny() const {
  if (errors_.empty()) return;
  std::vector<Error> sorted = errors_;
  const auto line = [](const Error& e) { return std::strtoull(e.place().c_str(), nullptr, 10); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Error& a, const Error& b) {
    return a.file() != b.file() ? a.file() < b.file() : line(a) < line(b);
  });
  Error first = sorted.front();
  for (size_t i = 1; i < sorted.size(); ++i) first.also(std::move(sorted[i]));
  if (more_ > 0) {
    const bool all = errors_.size() + more_ <= kCounted;
    const std::string count = all ? std::to_string(more_) : "more than " + std::to_string(more_ - 1);
    first.also(Error(first.kind(), "and " + count + " more errors").inFile(first.file()));
  }
  throw first;
}

void Error::compose() {
  full_ = file_;
  if (!place_.empty()) full_ += (full_.empty() ? "" : ":") + place_;
  if (!full_.empty()) full_ += ": ";
  full_ += message_;
  if (!hint_.empty()) full_ += " (" + hint_ + ")";
}

}  // namespace sunder
