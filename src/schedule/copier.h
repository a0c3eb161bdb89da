// Copies a program region by region, for passes that change the order of ops.
#pragma once

#include "heddle/program.h"
#include "ir/clone.h"

namespace heddle {

class Copier {
 public:
  explicit Copier(const Program& from);
  virtual ~Copier() = default;

  // All functions; what becomes of a region is the pass's matter.
  Program run();

 protected:
  // A copy of the region, its arguments included, with all that they stand for in `values_`.
  virtual RegionId copy_region(RegionId region) = 0;

  LocId location(LocId loc);
  // Appends the op; its operands must have been copied. Gives its number in the new program.
  OpId copy_op(RegionId at, const Op& op);

  const Program& from_;
  Program out_;
  ValueMap values_;

 private:
  std::vector<LocId> locations_;
};

}  // namespace heddle
