// Which of the words that are known somebody may have meant by one that is not.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// How many letters must be typed anew to turn one word into the other; two that have changed places
// count as one.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `known`, best first: a letter in three may be wrong (the second
// of two), or the word be a part of it.
// Each once, and at most so many.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known,
                                 std::size_t most = 3);

// "; did you mean `a`, `b` or `c`?", or nothing where none is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         std::size_t most = 3);

}  // namespace heddle
