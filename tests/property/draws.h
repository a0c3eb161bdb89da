// What random decisions are made of: everything follows from below(n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace heddle::property {

// `Source` gives below(n): a number in [0, n), 0 where n is at most 1.
template <typename Source>
class Draws {
 public:
  std::int64_t between(std::int64_t lowest, std::int64_t highest) {
    return lowest + self().below(highest - lowest + 1);
  }
  // Rarely true; false in simple cases.
  bool one_in(std::int64_t n) { return self().below(n) == n - 1 && n > 0; }
  template <typename T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[self().below(static_cast<std::int64_t>(from.size()))];
  }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(self().below(static_cast<std::int64_t>(from.size())))];
  }
  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1],
                list[i - 1 - static_cast<std::size_t>(self().below(static_cast<int>(i)))]);
  }

 private:
  Source& self() { return static_cast<Source&>(*this); }
};

}  // namespace heddle::property
