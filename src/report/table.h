// Rows of words in columns that are as wide as what is in them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::report {

struct Column {
  bool right = false;           // words stand at its right side
  std::size_t least = 0;        // wide at least
  std::size_t most = SIZE_MAX;  // and at most: what is longer stands out
  std::size_t gap = 2;          // before the next one
};

class Table {
 public:
  Table(std::vector<Column> columns, std::size_t indent)
      : columns_(std::move(columns)), indent_(indent) {}

  // A word for each column.
  void add(std::vector<std::string> words) { rows_.push_back(std::move(words)); }
  // A line for itself, of which no column knows.
  void add_line(std::string text) { rows_.push_back({std::move(text)}); }

  // A line for each row, without spaces at its end.
  std::vector<std::string> lines() const;
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::size_t indent_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace heddle::report
