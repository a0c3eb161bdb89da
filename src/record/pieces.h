// A window in two pieces that run one after the other, where both at once would take too much
// memory.
#pragma once

#include <optional>
#include <vector>

#include "heddle/program.h"

namespace heddle::record {

struct Pieces {
  // Where an argument or a result of the whole, or of the second piece, comes from.
  struct Source {
    enum class Of : std::uint8_t { argument, first, second } of = Of::argument;
    std::size_t at = 0;
  };
  Program first, second;
  std::vector<std::size_t> first_arguments;  // which of the whole's they are
  std::vector<Source> second_arguments, results;
};

// Cut where least has to be kept between them, not far from the middle; what is cheap to make again
// is. None where there are no two ops to part, or one of the pieces would be no smaller.
std::optional<Pieces> cut_in_two(const Program& program);

}  // namespace heddle::record
