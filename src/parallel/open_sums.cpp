#include "parallel/open_sums.h"

#include <algorithm>
#include <map>

#include "heddle/op.h"
#include "ir/rules/scan.h"
#include "parallel/pending.h"

namespace heddle {

namespace {

class SumFinder {
 public:
  SumFinder(OnMesh& on, const Op& loop, const std::vector<int>& uses)
      : on_(on), program_(on.program), uses_(uses) {
    const auto regions = program_.regions(loop);
    condition_ = regions[0];
    body_ = regions[1];
    end_ = program_.region(body_).ops.back();
    for (OpId id : program_.region(body_).ops)
      for (ValueId v : program_.operands(program_.op(id))) user_[v] = id;
  }

  std::vector<ValueId> added(std::size_t carried) const {
    constexpr int kMostOps = 64;
    ValueId sum = program_.region(body_).args[carried];
    const Type& type = program_.type_of(sum);
    if (!type.is_tensor() || uses_[program_.region(condition_).args[carried]] > 0) return {};
    std::vector<ValueId> added;
    for (int ops = 0; ops < kMostOps; ++ops) {
      const auto user = user_.find(sum);
      if (uses_[sum] != 1 || user == user_.end()) return {};
      if (user->second == end_)
        return program_.operands(program_.op(end_))[carried] == sum ? added : std::vector<ValueId>{};
      const Op& op = program_.op(user->second);
      if (!passes(user->second, sum, added)) return {};
      sum = program_.result(op, 0);
      if (!(program_.type_of(sum) == type)) return {};
    }
    return {};
  }

 private:
  // Whether the op's result is open where this operand is; then what must be so too.
  bool passes(OpId id, ValueId sum, std::vector<ValueId>& added) const {
    const Op& op = program_.op(id);
    const auto operands = program_.operands(op);
    for (const auto& together : linear_operands(program_, op, on_.rules.of(id))) {
      if (std::ranges::none_of(together, [&](std::size_t i) { return operands[i] == sum; }))
        continue;
      for (std::size_t i : together)
        if (operands[i] != sum && !is_neutral(program_, operands[i], ReduceOp::sum))
          added.push_back(operands[i]);
      return true;
    }
    return false;
  }

  OnMesh& on_;
  const Program& program_;
  const std::vector<int>& uses_;
  RegionId condition_ = kNone, body_ = kNone;
  OpId end_ = kNone;
  std::map<ValueId, OpId> user_;  // in the body itself; the only one where it is used once
};

}  // namespace

std::vector<std::vector<ValueId>> added_in_turns(OnMesh& on, const Op& loop,
                                                 const std::vector<int>& uses) {
  const SumFinder finder(on, loop, uses);
  std::vector<std::vector<ValueId>> added;
  for (std::size_t i = 0; i < loop.result_count; ++i) added.push_back(finder.added(i));
  return added;
}

}  // namespace heddle
