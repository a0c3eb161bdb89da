#include "heddle/simplify.h"

#include "heddle/op.h"
#include "ir/lower/shared_ops.h"
#include "ir/lower/simplify.h"

namespace heddle {

bool is_pure(const Program& program, const Op& op) {
  switch (op.def->cls) {
    case OpClass::light:
    case OpClass::heavy:
    case OpClass::reduce:
    case OpClass::contract:
    case OpClass::move:
      return true;
    case OpClass::communicate:
    case OpClass::opaque:
      return false;
    case OpClass::control:
      break;
  }
  switch (op.def->control) {
    case Control::loop:
    case Control::branch:
    case Control::choice:
    case Control::tuple:
    case Control::tuple_part:
      break;
    default:
      return false;
  }
  for (RegionId region : program.regions(op))
    for (OpId inner : program.region(region).ops)
      if (program.op(inner).def->form != Form::terminator && !is_pure(program, program.op(inner)))
        return false;
  return true;
}

const Array* constant_of(const Program& program, ValueId value) {
  const OpId id = program.value(value).op;
  if (id == kNone || program.op(id).def->rearranges != Rearrange::constant) return nullptr;
  const Attr* attr = program.attr(program.op(id), "value");
  return attr ? attr->get<Array>() : nullptr;
}

namespace {

// Which values something depends on that counts: results of functions, and ops with effects.
class Liveness {
 public:
  explicit Liveness(const Program& program) : program_(program), live_(program.value_count()) {
    for (const Function& f : program.functions)
      if (f.body != kNone) visit(f.body);
  }

  bool needs(const Op& op) const {
    if (op.def->form == Form::terminator || !is_pure(program_, op)) return true;
    for (std::size_t i = 0; i < op.result_count; ++i)
      if (live_[program_.result(op, i)]) return true;
    return false;
  }

 private:
  void visit(RegionId region) {
    const std::vector<OpId>& ops = program_.region(region).ops;
    for (auto id = ops.rbegin(); id != ops.rend(); ++id) {
      const Op& op = program_.op(*id);
      if (!needs(op)) continue;
      for (ValueId v : program_.operands(op)) live_[v] = true;
      for (RegionId inner : program_.regions(op)) visit(inner);
    }
  }

  const Program& program_;
  std::vector<bool> live_;
};

class Simplifier {
 public:
  Simplifier(const Program& program, SharedOps& shared, bool& changed)
      : live_(program), shared_(shared), changed_(changed) {}

  Expected<bool> operator()(Rewriter& rewriter, const Op& op) {
    if (!live_.needs(op)) return changed_ = true;  // its results are never asked for
    if (op.def->form == Form::terminator || !is_pure(rewriter.from, op)) return false;
    for (std::size_t i = 0; i < op.result_count; ++i)  // a value that must lie somewhere stays
      if (rewriter.from.layout_of(rewriter.from.result(op, i)) != nullptr) return false;
    if (auto values = by_algebra(rewriter, op)) {
      rewriter.define_results(op, *values);
      return changed_ = true;
    }
    if (fold(rewriter, op)) return changed_ = true;
    if (!SharedOps::can_be_shared(rewriter.from, op)) return false;
    HEDDLE_TRY(const bool is_there, shared_.share(rewriter, op));
    changed_ = changed_ || is_there;
    return true;
  }

 private:
  bool fold(Rewriter& rewriter, const Op& op) {
    if (op.operand_count == 0) return false;
    std::vector<const Array*> constants;
    for (const Var& v : rewriter.operands(op)) {
      constants.push_back(constant_of(rewriter.to.program, v.id()));
      if (constants.back() == nullptr) return false;
    }
    auto results = folded(rewriter.from, op, constants);
    if (!results) return false;
    Vars values;
    for (Array& result : *results) values.push_back(rewriter.to.constant(std::move(result)));
    rewriter.define_results(op, values);
    return true;
  }

  Liveness live_;
  SharedOps& shared_;
  bool& changed_;
};

// What one round of changes makes possible, the next one does; programs settle within a few.
constexpr int kMostRounds = 8;

}  // namespace

Expected<Program> simplify(const Program& program) {
  Program now = program;
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    SharedOps shared(now);
    Rewriter rewriter(now, Simplifier(now, shared, changed));
    for (const Function& f : now.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
    HEDDLE_TRY(Program next, rewriter.unverified());
    if (!changed) return next;
    now = std::move(next);
  }
  return now;
}

}  // namespace heddle
