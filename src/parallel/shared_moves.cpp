// Equal moves of one value become one.
#include <map>

#include "heddle/op.h"
#include "ir/rewrite.h"
#include "parallel/prepare.h"

namespace heddle {

namespace {

// Equal reshapes, transposes and slices of one value are one, so that it is brought to where they
// need it once. What spreads a value out is cheaper written anew wherever it is needed.
class SharedMoves {
 public:
  explicit SharedMoves(const Program& program) : program_(program), home_(program.op_count(), 0) {
    for (RegionId r = 0; r < program.region_count(); ++r)
      for (OpId id : program.region(r).ops) home_[id] = r;
  }

  Expected<bool> operator()(Rewriter& rewriter, const Op& op) {
    if (!is_shared(op.def->rearranges) || program_.layout_of(program_.result(op, 0)) != nullptr)
      return false;
    const RegionId here = home_[program_.value(program_.result(op, 0)).op];
    const ValueId from = rewriter.value(program_.operands(op)[0]).id();
    for (const auto& [made, result] : made_[{here, from}]) {
      const Op& other = program_.op(made);
      if (other.def != op.def || program_.attrs_of(other) != program_.attrs_of(op) ||
          program_.type_of(program_.result(other, 0)) != program_.type_of(program_.result(op, 0)))
        continue;
      rewriter.define_results(op, {{rewriter.to, result}});
      return true;
    }
    HEDDLE_TRY_VOID(rewriter.copy_op(op));
    made_[{here, from}].emplace_back(program_.value(program_.result(op, 0)).op,
                                     rewriter.value(program_.result(op, 0)).id());
    return true;
  }

 private:
  static bool is_shared(Rearrange moves) {
    return moves == Rearrange::reshape || moves == Rearrange::transpose ||
           moves == Rearrange::slice;
  }

  const Program& program_;
  std::vector<RegionId> home_;
  // By region and operand in the new program: the op, and its result there.
  std::map<std::pair<RegionId, ValueId>, std::vector<std::pair<OpId, ValueId>>> made_;
};

}  // namespace

Expected<Program> with_shared_moves(const Program& program) {
  Rewriter rewriter(program, SharedMoves(program));
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle
