#include "parallel/search/traits.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/spread_out.h"
#include "parallel/pending.h"

namespace heddle::search {

namespace {

// Ops that kernels are stitched of: they wait for memory, not for arithmetic.
bool is_stitchable(const Op& op) {
  if (op.def->call != DeviceCall::none || op.def->draws || op.def->bits) return false;
  return op.def->cls == OpClass::light || op.def->cls == OpClass::heavy ||
         op.def->cls == OpClass::move || op.def->cls == OpClass::reduce;
}

// Kernels end where something else is done: a product, a loop, a call.
bool ends_kernels(const Op& op) {
  return !is_stitchable(op) && op.def->parts != Parts::constant && op.def->view == ViewKind::none &&
         op.def->form != Form::terminator;
}

class Observer {
 public:
  Observer(const Program& program, RuleCache& rules) : program_(program), rules_(rules) {
    out_.values.resize(program.value_count());
    out_.begin.assign(program.op_count(), 0);
    out_.end.assign(program.op_count(), 0);
  }

  Traits run(const Function& function) {
    stretch_.push_back(0);
    number(function.body);
    out_.times = now_ + 1;
    look_at_uses(function.body);
    look_at_values(function.body);
    keep_sources(function.body);
    return std::move(out_);
  }

 private:
  void number(RegionId region) {
    for (ValueId v : program_.region(region).args) out_.values[v].made = now_;
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      out_.begin[id] = ++now_;
      stretch_.push_back(stretch_.back() + (ends_kernels(op) ? 1 : 0));
      for (RegionId inner : program_.regions(op)) number(inner);
      out_.end[id] = now_;
      for (std::size_t i = 0; i < op.result_count; ++i)
        out_.values[program_.result(op, i)].made = now_;
    }
  }

  // What a loop takes from around it is there until the loop ends.
  void look_at_uses(RegionId region) {
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      for (ValueId v : program_.operands(op)) {
        ValueTraits& value = out_.values[v];
        ++value.uses;
        value.user = id;
        value.by_kernels = value.by_kernels && is_stitchable(op);
        std::int64_t last = out_.end[id];
        for (OpId loop : around_)
          if (value.made < out_.begin[loop]) last = std::max(last, out_.end[loop]);
        value.last_used = std::max(value.last_used, last);
      }
      around_.push_back(id);
      for (RegionId inner : program_.regions(op)) look_at_uses(inner);
      around_.pop_back();
    }
  }

  void look_at_values(RegionId region) {
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      for (std::size_t i = 0; i < op.result_count; ++i) {
        ValueTraits& value = out_.values[program_.result(op, i)];
        value.may_pend = i == 0 && may_pend(id, op);
        value.stitched = is_stitched(op, value);
        value.in_memory = is_in_memory(op, value);
      }
      for (RegionId inner : program_.regions(op)) look_at_values(inner);
    }
  }

  bool is_stitched(const Op& maker, const ValueTraits& value) const {
    if (maker.def->parts == Parts::constant) return true;
    if (!value.by_kernels || !is_stitchable(maker) || maker.def->cls == OpClass::reduce)
      return false;
    return value.uses == 1 || is_written_anew(maker);
  }

  // A kernel writes what another one needs behind a call.
  bool is_in_memory(const Op& maker, const ValueTraits& value) const {
    if (!value.stitched) return true;
    if (maker.def->parts == Parts::constant || is_written_anew(maker)) return false;
    return stretch_[static_cast<std::size_t>(value.last_used)] >
           stretch_[static_cast<std::size_t>(value.made)];
  }

  // What is spread out, or made of constants alone, is cheaper written anew by each
  // kernel.
  bool is_written_anew(const Op& maker) const {
    return is_spread_out(program_, maker) ||
           std::ranges::all_of(program_.operands(maker), [&](ValueId v) {
             const OpId from = program_.value(v).op;
             return from != kNone && program_.op(from).def->parts == Parts::constant;
           });
  }

  bool may_pend(OpId id, const Op& op) {
    if (op.result_count != 1 || !program_.type_of(program_.result(op, 0)).is_tensor()) return false;
    const IndexRule& rule = rules_.of(id);
    if (rule.combine.op == ReduceOp::sum && std::ranges::any_of(rule.factors, [](const Factor& f) {
          return gives_partial(f.kind) && f.size > 1;
        }))
      return true;
    for (const auto& together : linear_operands(program_, op, rule))
      if (std::ranges::all_of(together, [&](std::size_t i) {
            const ValueTraits& value = out_.values[program_.operands(op)[i]];
            return value.may_pend && value.uses == 1;
          }))
        return true;
    return false;
  }

  // Who is read through a view, or inside of a kernel, is there as long as that is.
  void keep_sources(RegionId region) {
    const std::vector<OpId>& ops = program_.region(region).ops;
    for (std::size_t i = ops.size(); i-- > 0;) {
      const Op& op = program_.op(ops[i]);
      for (RegionId inner : program_.regions(op)) keep_sources(inner);
      if (op.result_count != 1) continue;
      const ValueTraits& result = out_.values[program_.result(op, 0)];
      if (result.in_memory && op.def->view == ViewKind::none) continue;
      for (ValueId v : program_.operands(op))
        out_.values[v].last_used = std::max(out_.values[v].last_used, result.last_used);
    }
  }

  const Program& program_;
  RuleCache& rules_;
  Traits out_;
  std::int64_t now_ = 0;
  std::vector<std::int64_t> stretch_;  // calls before each time
  std::vector<OpId> around_;
};

}  // namespace

Stitched Traits::stitched(const Program& program, const Op& op) const {
  Stitched bits = 0;
  auto note = [&](ValueId v, std::size_t place) {
    if (place < 64 && values[v].stitched) bits |= Stitched{1} << place;
  };
  for (std::size_t i = 0; i < op.operand_count; ++i) note(program.operands(op)[i], i);
  for (std::size_t i = 0; i < op.result_count; ++i)
    note(program.result(op, i), op.operand_count + i);
  return bits;
}

Traits traits_of(const Program& program, const Function& function, RuleCache& rules) {
  return Observer(program, rules).run(function);
}

}  // namespace heddle::search
