// Equal ops on equal values become one, while a program is copied.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/rewrite.h"

namespace heddle {

// Ops that are written already, where they can be seen: from their own region of the source and
// from regions inside it.
class SharedOps {
 public:
  explicit SharedOps(const Program& from);

  // Whether another one could be the same: it is pure, has results, and its regions, if any, are
  // steps of reductions that we know.
  static bool can_be_shared(const Program& program, const Op& op);

  // Uses the same op where it is there already, and says so; writes it down otherwise.
  Expected<bool> share(Rewriter& rewriter, const Op& op);

 private:
  // A region of two scalars: what it does, and whether the second comes first.
  struct Step {
    ReduceOp op = ReduceOp::sum;
    bool is_turned = false;
    Type type;
    friend bool operator==(const Step&, const Step&) = default;
  };
  // What makes an op the same as another.
  struct Looks {
    const OpDef* def = nullptr;
    std::vector<ValueId> operands;
    const AttrDict& attrs;
    std::vector<Type> results;
    std::vector<Step> steps;  // by region
  };

  static std::optional<Step> step_of(const Program& program, RegionId region);
  static std::vector<Step> steps_of(const Program& program, const Op& op);
  void walk(const Program& from, RegionId region);
  bool is_inside(RegionId inner, RegionId outer) const;
  const Op* find(const Program& program, const Looks& looks, std::uint64_t key,
                 RegionId here) const;
  static bool same(const Program& program, const Op& op, const Looks& looks);
  static std::uint64_t key(const Looks& looks);

  std::vector<RegionId> home_, parent_;
  std::unordered_multimap<std::uint64_t, std::pair<RegionId, OpId>> ops_;
};

}  // namespace heddle
