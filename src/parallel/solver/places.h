// A number for some of the variables, made once and used again and again.
#pragma once

#include <vector>

namespace heddle::solver {

class Places {
 public:
  explicit Places(int variables) : numbers_(variables, -1) {}
  // -1 where none is set.
  int operator[](int v) const { return numbers_[v]; }
  void set(int v, int number) { numbers_[v] = number; }
  void clear(int v) { numbers_[v] = -1; }

 private:
  std::vector<int> numbers_;
};

}  // namespace heddle::solver
