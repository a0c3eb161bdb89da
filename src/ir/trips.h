// How often a loop runs, as far as its text says.
#pragma once

#include <optional>

#include "heddle/program.h"

namespace heddle {

// A loop that counts from one constant to another, taken to go by ones; nothing for others.
std::optional<std::int64_t> trips_of(const Program& program, const Op& loop);
// The same where the text leaves no doubt: its condition need not be asked.
std::optional<std::int64_t> exact_trips_of(const Program& program, const Op& loop);

// A loop whose text compares a counter with an end.
struct Counting {
  std::size_t counter = 0;            // which of the values that it carries
  std::optional<std::size_t> end_at;  // the end is carried too
  std::int64_t begin = 0, end = 0;
};
// Where the text leaves no doubt that the counter goes by ones.
std::optional<Counting> exact_counting_of(const Program& program, const Op& loop);
// An integer of one element.
std::optional<std::int64_t> whole_number_of(const Program& program, ValueId v);

}  // namespace heddle
