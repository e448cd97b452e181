// Answers of a verb as rows with named columns, written as they come: to a CSV file, as the array of a JSON
// object, or as a table for people, of which only the first rows are kept. Numbers in files and JSON are the
// shortest decimals that read back equal. The file appears when finish() is called, and not at all otherwise.
#pragma once

#include "sunder/base/file.h"

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sunder::cli {

using Cell = std::variant<std::monostate, uint64_t, double, bool, std::string_view>;  // monostate: no answer

class AnswerRows {
 public:
  enum class Kind { Csv, Json, Table };

  // `columns` separated by commas. `path` counts for Csv, `shown` for Table: how many rows, 0 for all.
  AnswerRows(Kind kind, std::string columns, const std::string& path, size_t shown);

  void add(std::initializer_list<Cell> cells);  // as many as there are columns
  uint64_t count() const { return count_; }

  void finish();                             // Csv: the file is there
  void printArray(std::ostream& out) const;  // Json: the array
  std::string table() const;                 // Table: without a last line end

 private:
  Kind kind_;
  std::vector<std::string> columns_;
  size_t shown_;
  uint64_t count_ = 0;
  std::unique_ptr<OutputFile> file_;
  std::string buffer_;
  std::vector<std::vector<std::string>> shownRows_;
};

}  // namespace sunder::cli
