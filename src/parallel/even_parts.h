// Values that are cut into equal parts or put together of them, as jnp.split does with a product of
// queries, keys and values: the parts get a dimension of their own, so that every device can have
// its share of each part.
#pragma once

#include <optional>

#include "ir/rewrite.h"

namespace heddle {

class EvenParts {
 public:
  EvenParts(const Program& program, bool rows_lie_on_stages);
  bool any() const { return any_; }
  // The op along a dimension of its own; none where it does not cut or join equal parts.
  Var written(Rewriter& rewriter, OpId id) const;

 private:
  struct Cut {
    std::size_t dim = 0;
    std::int64_t size = 0;  // of a part
  };
  std::optional<Cut> cut_of(const Op& op) const;
  bool joins(const Op& op) const;

  const Program& program_;
  std::vector<bool> chosen_;  // by OpId
  bool any_ = false;
};

// The dimension of a value that consists of so many parts; 1: none.
struct PartsOf {
  std::size_t dim = 0;
  std::int64_t count = 1;
};
// By ValueId: values that are cut or joined along a dimension of their own, and what they are
// computed from, or what is computed of them, element by element.
std::vector<PartsOf> parted_values(const Program& program);

}  // namespace heddle
