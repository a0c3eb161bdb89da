// Sorts of lines that are dealt out, by pairs of devices that merge their parts: which pairs.
#pragma once

#include "heddle/price.h"

namespace heddle {

struct SplitSort {
  const Op& op;
  std::size_t dim;
  SplitAxes axes;          // over which lines are dealt out
  std::int64_t size = 0;   // of a whole line
  std::int64_t block = 0;  // of a part
  Type lines = {};         // that one device has, as their places
  bool by_bits = false;    // devices exchange whose positions differ in one bit
  double seconds = 0;      // that it takes
  bool uneven() const { return size != block * total(axes); }
};

// Parts of lines that lie as a split says.
SplitSort parts_to_sort(const Program& program, const Op& op, std::size_t dim, const Split& split);
// The cheaper way to sort them, and what it takes.
SplitSort split_sort(const OnMesh& on, const Op& op, const Choice& choice);

// Digits of two positions each, minor first; none where an axis has another number of devices.
SplitAxes bits_of(const SplitAxes& axes);

}  // namespace heddle
