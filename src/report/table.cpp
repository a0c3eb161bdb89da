#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::report {

std::vector<std::string> Table::lines() const {
  std::vector<std::size_t> width(columns_.size());
  for (std::size_t c = 0; c < width.size(); ++c) {
    width[c] = columns_[c].least;
    for (const auto& row : rows_)
      if (row.size() == width.size()) width[c] = std::max(width[c], row[c].size());
    width[c] = std::min(width[c], columns_[c].most);
  }
  std::vector<std::string> lines;
  for (const auto& row : rows_) {
    std::string line(indent_, ' ');
    if (row.size() != width.size()) {
      lines.push_back(line + row[0]);
      continue;
    }
    for (std::size_t c = 0; c < width.size(); ++c) {
      line += columns_[c].right ? fmt::format("{:>{}}", row[c], width[c])
                                : fmt::format("{:<{}}", row[c], width[c]);
      if (width[c] > 0) line.append(columns_[c].gap, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string Table::text() const {
  std::string text;
  for (const std::string& line : lines()) text += line + "\n";
  return text;
}

}  // namespace heddle::report
