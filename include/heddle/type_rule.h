// Type rules: from operands, attributes and regions of an op to the types of its results.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "heddle/program.h"

namespace heddle {

// The type of one result, and by which labels a message names the constraint that another type
// would break: of the element type and of the shape, or one for both.
struct ResultType {
  TypeId id = kNone;  // a type that the program has, such as that of an operand …
  Type type = {};     // … or else this one
  std::string_view label = {}, shape_label = {};
  bool apart = false;  // whether elements and shape have constraints of their own
};

// One per result. One or none takes no memory of its own.
class ResultTypes {
 public:
  ResultTypes() = default;
  ResultTypes(ResultType only) : first_(std::move(only)), size_(1) {}

  void add(ResultType next) {
    if (size_++ == 0)
      first_ = std::move(next);
    else
      rest_.push_back(std::move(next));
  }
  void add(const ResultTypes& more) {
    for (std::size_t i = 0; i < more.size(); ++i) add(more[i]);
  }
  std::size_t size() const { return size_; }
  const ResultType& operator[](std::size_t i) const { return i == 0 ? first_ : rest_[i - 1]; }

 private:
  ResultType first_;
  std::vector<ResultType> rest_;
  std::size_t size_ = 0;
};

// The types of the op's results, or the reason why there are none, which names the broken
// constraint by its label. An op that is being added may come without results (results_given);
// where they do not follow from the rest, the rule takes the given ones.
using TypeRule = Expected<ResultTypes> (*)(const Program&, const Op&);

inline bool results_given(const Op& op) { return op.results != kNone; }

}  // namespace heddle
