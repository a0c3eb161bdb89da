// What the values of an op want of one of its factors.
#pragma once

#include "heddle/parallel.h"

namespace heddle {

struct Wish {
  SplitAxes axes;
  double weight = 0;  // bytes of the values behind it, and one for each
  int values = 1;
};

bool starts_with(const SplitAxes& list, const SplitAxes& prefix);

// Wishes that go on where others end are one.
void add_wish(std::vector<Wish>& wishes, Wish wish);
// No axis splits two factors: the heavier one keeps it, from there on the other ends.
void keep_apart(std::vector<Wish>& wishes);
// That not all of these could be met; `place` is the dimension that they are for.
std::string told(const std::string& place, const std::vector<Wish>& wishes, const Wish& best,
                 const Mesh& mesh);
// That an axis is used for another dimension.
std::string told(const std::string& place, const Wish& wish, const Wish& kept, const Mesh& mesh);

}  // namespace heddle
