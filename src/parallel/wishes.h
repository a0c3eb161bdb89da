// What the values of an op want of one of its factors.
#pragma once

#include "heddle/split.h"

namespace heddle {

struct Wish {
  AxisList axes;
  double weight = 0;  // bytes of the values behind it
  ValueId value = kNone;
};

bool starts_with(const AxisList& list, const AxisList& prefix);

// Wishes that go on where others end are one.
void add_wish(std::vector<Wish>& wishes, Wish wish);
// No axis splits two factors: the heavier one keeps it, from there on the other ends.
void keep_apart(std::vector<Wish>& wishes);
// That not all of these could be met.
std::string told(const std::vector<Wish>& wishes, const Wish& best, const Mesh& mesh);

}  // namespace heddle
