#include "parallel/search/recompute.h"

#include <map>

#include "heddle/op.h"
#include "ir/clone.h"

namespace heddle::search {

namespace {

class Recomputer {
 public:
  Recomputer(Program& program, const Function& function, const Recomputation& how)
      : program_(program), function_(function), how_(how), again_(program.value_count(), false) {
    for (ValueId v : how.again) again_[v] = true;
    const std::vector<OpId>& ops = program.region(function.body).ops;
    for (std::size_t p = 0; p < ops.size(); ++p) place_[ops[p]] = p;
  }

  Recomputing run() {
    const auto source = Region(program_.region(function_.body));
    body_ = program_.add_region();
    for (ValueId arg : source.args) {
      values_[arg] = program_.add_arg(body_, program_.value(arg).type);
      lay_as(values_[arg], arg);
    }
    std::vector<ValueId> needed, kept;
    for (std::size_t p = 0; p < source.ops.size(); ++p) {
      if (p == how_.late) {
        for (ValueId v : how_.needed) needed.push_back(values_.at(v));
        for (ValueId v : how_.kept) kept.push_back(values_.at(v));
      }
      const auto op = Op(program_.op(source.ops[p]));
      if (p >= how_.late) take_copies(op);
      copy(op, values_);
    }
    Function made = function_;
    made.body = body_;
    return {how_.effort, std::move(made), std::move(copies_), std::move(needed), std::move(kept)};
  }

 private:
  void lay_as(ValueId to, ValueId from) {
    if (const LayoutId layout = program_.value(from).layout; layout != kNone)
      program_.set_layout(to, layout);
  }

  // With what the program says of where its values lie.
  OpId copy(const Op& op, ValueMap& values) {
    const OpId made = clone_op(program_, body_, program_, op, values);
    lay_alike(op, made);
    return made;
  }

  void lay_alike(const Op& from, OpId made) {
    const auto to = Op(program_.op(made));
    for (std::size_t i = 0; i < from.result_count; ++i)
      lay_as(program_.result(to, i), program_.result(from, i));
    const auto said = program_.operand_layouts(from);
    if (!said.empty())
      program_.set_operand_layouts(made, std::vector<LayoutId>(said.begin(), said.end()));
    for (std::size_t r = 0; r < from.region_count; ++r) {
      const auto one = Region(program_.region(program_.regions(from)[r])),
                 other = Region(program_.region(program_.regions(to)[r]));
      for (std::size_t i = 0; i < one.args.size(); ++i) lay_as(other.args[i], one.args[i]);
      for (std::size_t i = 0; i < one.ops.size(); ++i)
        lay_alike(Op(program_.op(one.ops[i])), other.ops[i]);
    }
  }

  void take_copies(const Op& op) {
    std::vector<ValueId> used(program_.operands(op).begin(), program_.operands(op).end());
    if (op.region_count > 0)
      for (ValueId v : captured_values(program_, op)) used.push_back(v);
    for (ValueId v : used)
      if (v < again_.size() && again_[v]) values_[v] = copy_of(v);
  }

  // Computed right here where it has not been yet, and what it is made of before it.
  ValueId copy_of(ValueId v) {
    if (const auto known = copied_.find(v); known != copied_.end()) return known->second;
    const auto op = Op(program_.op(program_.value(v).op));
    const std::vector<ValueId> operands(program_.operands(op).begin(), program_.operands(op).end());
    ValueMap from;
    bool apart = false;
    for (ValueId operand : operands) {
      if (again_[operand])
        from[operand] = copy_of(operand);
      else if (is_computed(operand))
        from[operand] = held_apart(operand, stretch(v));
      apart = apart || from.contains(operand);
    }
    for (ValueId operand : operands)
      if (!from.contains(operand))
        from[operand] =
            apart || how_.free[operand] ? values_.at(operand) : held_apart(operand, stretch(v));
    copies_.push_back(copy(op, from));
    return copied_[v] = from.at(v);
  }

  bool is_computed(ValueId v) const { return program_.value(v).op != kNone && !how_.free[v]; }
  int stretch(ValueId v) const { return how_.stretch[place_.at(program_.value(v).op)]; }

  // The same value behind a barrier, so that nobody finds that copies are equal to what they are
  // copies of: once for all of a stretch.
  ValueId held_apart(ValueId v, int stretch) {
    const auto [known, is_new] = apart_.try_emplace({v, stretch}, kNone);
    if (!is_new) return known->second;
    const ValueId source = values_.at(v);
    const TypeId type = program_.value(source).type;
    const OpId barrier = program_.add_op(body_, *find_stablehlo_op("optimization_barrier"),
                                         {&source, 1}, {&type, 1});
    return known->second = program_.result(program_.op(barrier), 0);
  }

  Program& program_;
  const Function function_;
  const Recomputation& how_;
  std::vector<bool> again_;  // by ValueId
  std::unordered_map<OpId, std::size_t> place_;
  RegionId body_ = kNone;
  ValueMap values_;  // the latest that stands for each
  ValueMap copied_;
  std::map<std::pair<ValueId, int>, ValueId> apart_;
  std::vector<OpId> copies_;
};

}  // namespace

Recomputing with_recomputation(Program& program, const Function& function,
                               const Recomputation& how) {
  return Recomputer(program, function, how).run();
}

}  // namespace heddle::search
