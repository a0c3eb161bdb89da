// Values that are another one moved along its dimensions: slices and pads without steps.
#pragma once

#include <optional>

#include "ir/rewrite.h"

namespace heddle {

// source[i - low], and `fill` where that lies outside of the source; none: anything.
struct Shifted {
  ValueId source = kNone;
  std::vector<std::int64_t> low;
  ValueId fill = kNone;
};

// A slice without steps, also of a padded value, which then need not be padded first.
std::optional<Shifted> shifted_slice(const Program& program, ValueId v);

// The moved value in a shape of its own. Nothing is written where it is the source itself.
Var write_shifted(Rewriter& rewriter, const Shifted& what, const Shape& shape);

// A value of `shape` that has `v` from `begin` on, and anything elsewhere. What is computed element
// by element from slices is computed on all of the shape, so that its parts stay where they are.
// `uses` counts the users of every value.
class Spread {
 public:
  Spread(Rewriter& rewriter, const std::vector<int>& uses, std::vector<std::int64_t> begin,
         Shape shape)
      : rewriter_(rewriter), uses_(uses), begin_(std::move(begin)), shape_(std::move(shape)) {}
  Var of(ValueId v);

 private:
  bool worth(ValueId v, int depth) const;
  bool computes(ValueId v) const;
  Var moved(ValueId v);
  Var write(ValueId v);

  Rewriter& rewriter_;
  const std::vector<int>& uses_;
  std::vector<std::int64_t> begin_;
  Shape shape_;
};

}  // namespace heddle
