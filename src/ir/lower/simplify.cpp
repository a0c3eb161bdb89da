#include "heddle/simplify.h"

#include <unordered_map>

#include "heddle/hash.h"
#include "heddle/op.h"
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

// Ops that are written already, where they can be seen: from their own region of the source and
// from regions inside it.
class Written {
 public:
  explicit Written(const Program& from)
      : home_(from.op_count(), kNone), parent_(from.region_count(), kNone) {
    for (const Function& f : from.functions)
      if (f.body != kNone) walk(from, f.body);
  }

  // The region of the source that an op stands in.
  RegionId home(OpId source) const { return home_[source]; }

  // The same op on the same values, where there is one.
  const Op* find(const Program& program, const OpDef* def, const std::vector<ValueId>& operands,
                 const AttrDict& attrs, const std::vector<Type>& results, RegionId here) const {
    auto [first, last] = ops_.equal_range(key(def, operands, attrs, results));
    for (; first != last; ++first) {
      const auto& [region, id] = first->second;
      if (!is_inside(here, region)) continue;
      const Op& op = program.op(id);
      if (op.def == def && same(program, op, operands, attrs, results)) return &op;
    }
    return nullptr;
  }

  void add(const Program& program, OpId id, RegionId here) {
    const Op& op = program.op(id);
    const std::vector<ValueId> operands(program.operands(op).begin(), program.operands(op).end());
    std::vector<Type> results;
    for (std::size_t i = 0; i < op.result_count; ++i)
      results.push_back(program.type_of(program.result(op, i)));
    ops_.emplace(key(op.def, operands, program.attrs_of(op), results), std::pair(here, id));
  }

 private:
  void walk(const Program& from, RegionId region) {
    for (OpId id : from.region(region).ops) {
      home_[id] = region;
      for (RegionId inner : from.regions(from.op(id))) {
        parent_[inner] = region;
        walk(from, inner);
      }
    }
  }
  bool is_inside(RegionId inner, RegionId outer) const {
    while (inner != kNone && inner != outer) inner = parent_[inner];
    return inner == outer;
  }

  static bool same(const Program& program, const Op& op, const std::vector<ValueId>& operands,
                   const AttrDict& attrs, const std::vector<Type>& results) {
    if (!std::equal(operands.begin(), operands.end(), program.operands(op).begin(),
                    program.operands(op).end()) ||
        op.result_count != results.size() || !(program.attrs_of(op) == attrs))
      return false;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!(program.type_of(program.result(op, i)) == results[i])) return false;
    return true;
  }

  static std::uint64_t key(const OpDef* def, const std::vector<ValueId>& operands,
                           const AttrDict& attrs, const std::vector<Type>& results) {
    std::uint64_t hash = hash_combine(attrs.size(), def->name);
    for (ValueId v : operands) hash = hash_combine(hash, v);
    for (const Type& type : results) hash = hash_combine(hash, type.hash());
    for (const NamedAttr& attr : attrs)
      if (const auto* array = attr.value.get<Array>(); array && array->elements() > 0)
        for (std::int64_t at : {std::int64_t{0}, array->elements() / 2, array->elements() - 1})
          for (std::byte b : array->element(at))
            hash = hash_combine(hash, static_cast<std::uint64_t>(b));
    return hash;
  }

  std::vector<RegionId> home_, parent_;
  std::unordered_multimap<std::uint64_t, std::pair<RegionId, OpId>> ops_;
};

class Simplifier {
 public:
  Simplifier(const Program& program, Written& written, bool& changed)
      : live_(program), written_(written), changed_(changed) {}

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
    if (op.region_count != 0 || op.result_count == 0) return false;
    return share(rewriter, op);
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

  // Uses the same op where it is there already, and writes it down otherwise.
  Expected<bool> share(Rewriter& rewriter, const Op& op) {
    Program& out = rewriter.to.program;
    const RegionId here = written_.home(rewriter.from.value(op.results).op);
    std::vector<ValueId> operands;
    for (const Var& v : rewriter.operands(op)) operands.push_back(v.id());
    std::vector<Type> results;
    for (std::size_t i = 0; i < op.result_count; ++i)
      results.push_back(rewriter.from.type_of(rewriter.from.result(op, i)));
    if (const Op* other =
            written_.find(out, op.def, operands, rewriter.from.attrs_of(op), results, here)) {
      Vars values;
      for (std::size_t i = 0; i < op.result_count; ++i)
        values.emplace_back(rewriter.to, out.result(*other, i));
      rewriter.define_results(op, values);
      return changed_ = true;
    }
    HEDDLE_TRY_VOID(rewriter.copy_op(op));
    written_.add(out, out.value(rewriter.value(op.results).id()).op, here);
    return true;
  }

  Liveness live_;
  Written& written_;
  bool& changed_;
};

// What one round of changes makes possible, the next one does; programs settle within a few.
constexpr int kMostRounds = 8;

}  // namespace

Expected<Program> simplify(const Program& program) {
  Program now = program;
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    Written written(now);
    Rewriter rewriter(now, Simplifier(now, written, changed));
    for (const Function& f : now.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
    HEDDLE_TRY(Program next, rewriter.finish());
    if (!changed) return next;
    now = std::move(next);
  }
  return now;
}

}  // namespace heddle
