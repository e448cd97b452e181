#include "answer_rows.h"

#include <algorithm>
#include <cassert>
#include <ostream>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

struct Exact {  // as files have it
  std::string& out;
  const char* nothing;
  bool quotes;

  void operator()(std::monostate) const { out += nothing; }
  void operator()(uint64_t value) const { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(double value) const { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::string_view value) const {
    if (quotes) out += '"';
    out += value;
    if (quotes) out += '"';
  }
};

struct Short {  // as people read it
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{:.7g}", value); }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::string_view value) const { return std::string(value); }
};

}  // namespace

AnswerRows::AnswerRows(Kind kind, std::string columns, const std::string& path, size_t shown)
    : kind_(kind), shown_(shown) {
  if (kind == Kind::Csv) {
    file_ = std::make_unique<OutputFile>(path);
    file_->write(columns + "\n");
  }
  for (size_t at = 0; at <= columns.size();) {
    const size_t comma = std::min(columns.find(',', at), columns.size());
    columns_.push_back(columns.substr(at, comma - at));
    at = comma + 1;
  }
  if (kind == Kind::Table) shownRows_.push_back(columns_);
}

void AnswerRows::add(std::initializer_list<Cell> cells) {
  assert(cells.size() == columns_.size());
  ++count_;
  size_t column = 0;
  switch (kind_) {
    case Kind::Csv:
      buffer_.clear();
      for (const Cell& cell : cells) {
        if (column++ > 0) buffer_ += ',';
        std::visit(Exact{buffer_, "", false}, cell);
      }
      buffer_ += '\n';
      file_->write(buffer_);
      break;
    case Kind::Json:
      buffer_ += count_ == 1 ? "\n    {" : ",\n    {";
      for (const Cell& cell : cells) {
        fmt::format_to(std::back_inserter(buffer_), "{}\"{}\": ", column > 0 ? ", " : "", columns_[column]);
        std::visit(Exact{buffer_, "null", true}, cell);
        ++column;
      }
      buffer_ += '}';
      break;
    case Kind::Table:
      if (shown_ != 0 && count_ > shown_) break;
      shownRows_.emplace_back();
      for (const Cell& cell : cells) shownRows_.back().push_back(std::visit(Short{}, cell));
      break;
  }
}

void AnswerRows::finish() {
  if (file_) file_->commit();
}

void AnswerRows::printArray(std::ostream& out) const {
  out << '[' << buffer_ << (count_ == 0 ? "]" : "\n  ]");
}

std::string AnswerRows::table() const {
  std::vector<size_t> width(columns_.size(), 0);
  for (const auto& row : shownRows_)
    for (size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string text;
  for (const auto& row : shownRows_) {
    if (!text.empty()) text += '\n';
    for (size_t c = 0; c < row.size(); ++c)
      fmt::format_to(std::back_inserter(text), "{}{:>{}}", c > 0 ? "  " : "", row[c], width[c]);
  }
  if (shown_ != 0 && count_ > shown_)
    fmt::format_to(std::back_inserter(text), "\n... and {} more; -o FILE.csv writes all, --rows shows more",
                   count_ - shown_);
  return text;
}

}  // namespace sunder::cli
