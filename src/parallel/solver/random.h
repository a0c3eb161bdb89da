// Numbers that look random and are the same on every machine.
#pragma once

#include <cstdint>

#include "heddle/hash.h"

namespace heddle::solver {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(hash_mix(seed)) {}
  std::uint64_t next() { return hash_mix(state_ += 0x9e3779b97f4a7c15ULL); }
  // From 0 to limit - 1.
  int below(int limit) { return static_cast<int>(next() % static_cast<std::uint64_t>(limit)); }
  // From 0 to just below 1.
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace heddle::solver
