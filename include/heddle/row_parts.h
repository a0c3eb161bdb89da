// Values in parts along their first dimension, as those are that have a row for each layer: which
// rows of an argument are taken, and of which rows a result is put together.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/program.h"

namespace heddle {

struct RowRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end - begin; }
  friend auto operator<=>(const RowRange&, const RowRange&) = default;
};

// The rows that an op takes, where it is a slice along the first dimension alone.
std::optional<RowRange> rows_of(const Program& program, const Op& op);

struct RowPart {
  RowRange rows;
  ValueId value = kNone;
};
using RowParts = std::vector<RowPart>;  // in order, without gaps

// By argument of the function: its parts, where it is taken in these alone; empty for others.
std::vector<RowParts> argument_rows(const Program& program, const Function& function);
// By result: its parts, where it is put together of several and nothing else takes the whole.
std::vector<RowParts> result_rows(const Program& program, const Function& function);

}  // namespace heddle
