#include "heddle/verify.h"

#include <limits>
#include <unordered_map>

#include "base/printable.h"
#include "ir/call_graph.h"
#include "ir/eval/eval.h"
#include "ir/shape_rules.h"

namespace heddle {

std::size_t leaf_count(const Type& type) {
  if (type.kind != Type::Kind::tuple) return 1;
  std::size_t n = 0;
  for (const Type& part : type.parts) n += leaf_count(part);
  return n;
}

Reason located(const Program& program, const Op& op, std::string_view text) {
  std::string full = program.where(op.loc) + ": ";
  if (!text.starts_with('[')) full += fmt::format("[{}] ", op.def->short_name());
  full += printable(text, true);
  const std::string& user = program.location(op.loc).user;
  if (!user.empty()) full += fmt::format(" (from {})", printable(user));
  return Reason{std::move(full)};
}

namespace {

std::string count_text(Count count) {
  if (count.most == count.least) return fmt::format("{}", count.least);
  if (count.most < 0) return fmt::format("at least {}", count.least);
  return fmt::format("{} to {}", count.least, count.most);
}

// Whether bytes() of a type, with room to spare, stays within an int64.
Verdict sane(const Type& type, int depth = 0) {
  if (depth > 64) return reason("a tuple is nested more than 64 deep");
  for (const Type& part : type.parts) HEDDLE_TRY_VOID(sane(part, depth + 1));
  std::int64_t room = std::numeric_limits<std::int64_t>::max() / 64;
  for (std::int64_t size : type.shape) {
    if (size < 0) return reason("{} has a negative size", type.str());
    // A zero makes the product zero, but the sizes around it may overflow on the way all the same.
    if (size == 0) continue;
    if (size > room) return reason("{} has more elements than can be counted", type.str());
    room /= size;
  }
  return yes();
}

class Verifier {
 public:
  explicit Verifier(const Program& program)
      : program_(program), defined_(program.value_count(), 0) {}

  Verdict run() {
    for (const Function& f : program_.functions)
      if (!functions_.emplace(f.name, &f).second)
        return reason("{}: function @{} is defined twice", program_.where(f.loc), f.name);
    for (const Function& f : program_.functions) HEDDLE_TRY_VOID(function(f));
    if (seen_ops_ != program_.op_count())
      return reason("{}: {} of {} ops are in no function", program_.where(0),
                    program_.op_count() - seen_ops_, program_.op_count());
    HEDDLE_TRY_VOID(CallGraph(program_).without_circles());
    for (OpId id = 0; id < program_.op_count(); ++id) {
      const Op& op = program_.op(id);
      if (!op.def->type_rule) continue;
      auto types = op.def->type_rule(program_, op);
      if (!types) return located(program_, op, types.reason());
      if (Verdict v = check_results(program_, op, *types); !v)
        return located(program_, op, v.reason());
    }
    return yes();
  }

 private:
  Verdict function(const Function& f) {
    function_ = &f;
    for (TypeId t : f.results) HEDDLE_TRY_VOID(of_function(known(t)));
    for (TypeId t : f.inputs) HEDDLE_TRY_VOID(of_function(known(t)));
    if (f.body == kNone) return yes();  // a declaration
    HEDDLE_TRY_VOID(of_function(enter(f.body)));
    return region(f.body, nullptr, 0);
  }

  // Opens a reason that no op stands for with the function.
  Verdict of_function(Verdict v) const {
    if (v) return v;
    return reason("{}: function @{}: {}", program_.where(function_->loc), function_->name,
                  v.reason());
  }

  // Each type is looked at once.
  Verdict known(TypeId id) {
    if (id >= types_.size()) types_.resize(id + 1, 0);
    if (types_[id]) return yes();
    types_[id] = 1;
    return sane(program_.type(id));
  }

  // What must hold before a region is walked; its arguments are defined from here on.
  Verdict enter(RegionId id) {
    if (id >= regions_.size()) regions_.resize(id + 1, 0);
    if (regions_[id]) return reason("one of its regions belongs to another op too");
    regions_[id] = 1;
    const Region& region = program_.region(id);
    if (region.ops.empty()) return reason("a region is empty; it must end with a return");
    for (ValueId v : region.args) {
      HEDDLE_TRY_VOID(known(program_.value(v).type));
      defined_[v] = 1;
    }
    return yes();
  }

  // Reasons from here are located: the innermost op speaks.
  Verdict region(RegionId id, const Op* parent, int depth) {
    const Region& region = program_.region(id);
    for (std::size_t i = 0; i < region.ops.size(); ++i) {
      const Op& op = program_.op(region.ops[i]);
      const bool last = i + 1 == region.ops.size();
      if (Verdict v = check(op, parent, last, depth); !v) return located(program_, op, v.reason());
      for (RegionId inner : program_.regions(op)) {
        if (Verdict v = enter(inner); !v) return located(program_, op, v.reason());
        HEDDLE_TRY_VOID(this->region(inner, &op, depth + 1));
      }
      for (std::size_t r = 0; r < op.result_count; ++r) defined_[program_.result(op, r)] = 1;
    }
    leave(region);
    return yes();
  }

  void leave(const Region& region) {
    for (ValueId v : region.args) defined_[v] = 0;
    for (OpId id : region.ops) {
      const Op& op = program_.op(id);
      for (std::size_t i = 0; i < op.result_count; ++i) defined_[program_.result(op, i)] = 0;
    }
  }

  Verdict check(const Op& op, const Op* parent, bool last, int depth) {
    ++seen_ops_;
    if (depth >= kMostNesting) return reason("regions are nested more than {} deep", kMostNesting);
    HEDDLE_TRY_VOID(counts(op));
    std::size_t place = 0;
    for (ValueId v : program_.operands(op)) {
      if (v >= defined_.size() || !defined_[v])
        return reason("operand {} is used where it is not defined", place);
      ++place;
    }
    for (std::size_t i = 0; i < op.result_count; ++i)
      HEDDLE_TRY_VOID(known(program_.value(program_.result(op, i)).type));
    HEDDLE_TRY_VOID(terminator(op, parent, last));
    return callee(op);
  }

  static Verdict counts(const Op& op) {
    const OpDef& def = *op.def;
    auto wrong = [](std::string_view what, std::size_t got, Count want) {
      return reason("{}: {} came in, {} expected", what, got, count_text(want));
    };
    if (!def.operands.allows(op.operand_count))
      return wrong("operands", op.operand_count, def.operands);
    if (!def.results.allows(op.result_count)) return wrong("results", op.result_count, def.results);
    if (!def.regions.allows(op.region_count)) return wrong("regions", op.region_count, def.regions);
    return yes();
  }

  // A return stands last and nowhere else, and is the one that the op around it asks for.
  Verdict terminator(const Op& op, const Op* parent, bool last) const {
    const bool is_return = op.def->form == Form::terminator;
    if (is_return && !last) return reason("ops follow it that nothing can reach");
    static const OpDef* const of_function = find_op("func.return");
    static const OpDef* const of_manual = find_op("sdy.return");
    static const OpDef* const of_region = find_op("stablehlo.return");
    const OpDef* wanted = of_function;
    if (parent) wanted = parent->def->form == Form::manual_computation ? of_manual : of_region;
    if (last && op.def != wanted)
      return reason("{} ends a region; {} was expected", op.def->name, wanted->name);
    if (!last || parent) return yes();
    return same_types("it returns", program_.operands(op), function_->results, *function_);
  }

  // func.call and stablehlo.composite name a function.
  Verdict callee(const Op& op) const {
    const std::string_view key = callee_key(op);
    if (key.empty()) return yes();
    const Attr* attr = program_.attr(op, key);
    const auto* symbol = attr ? attr->get<Attr::Symbol>() : nullptr;
    if (!symbol) return reason("attribute {} must name a function", key);
    auto it = functions_.find(symbol->name);
    if (it == functions_.end()) return reason("there is no function @{}", symbol->name);
    const Function& f = *it->second;
    std::vector<TypeId> wanted = f.inputs;
    if (f.body != kNone)
      for (ValueId v : program_.region(f.body).args) wanted.push_back(program_.value(v).type);
    HEDDLE_TRY_VOID(same_types("it passes", program_.operands(op), wanted, f));
    std::vector<ValueId> results(op.result_count);
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = program_.result(op, i);
    return same_types("it gives", results, f.results, f);
  }

  Verdict same_types(std::string_view what, std::span<const ValueId> values,
                     std::span<const TypeId> wanted, const Function& f) const {
    if (values.size() != wanted.size())
      return reason("{} {} values, function @{} has {}", what, values.size(), f.name,
                    wanted.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (program_.value(values[i]).type != wanted[i])
        return reason("{} {} at place {}, function @{} has {} there", what,
                      program_.type_of(values[i]).str(), i, f.name, program_.type(wanted[i]).str());
    return yes();
  }

  const Program& program_;
  const Function* function_ = nullptr;
  std::vector<std::uint8_t> defined_, types_, regions_;
  std::unordered_map<std::string_view, const Function*> functions_;
  std::size_t seen_ops_ = 0;
};

}  // namespace

Verdict verify(const Program& program) { return Verifier(program).run(); }

}  // namespace heddle
