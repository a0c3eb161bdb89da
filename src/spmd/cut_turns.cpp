// Takes loops over layers apart: a loop for each run of turns, and what has a row for each turn in
// the same parts.
#include <algorithm>
#include <map>
#include <set>

#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "ir/clone.h"
#include "ir/rewrite.h"
#include "ir/unused.h"
#include "spmd/row_groups.h"
#include "spmd/turn_parts.h"

namespace heddle {

namespace {

using Kind = LoopTurns::Kind;

class TurnCutter {
 public:
  TurnCutter(const MicroBatches& micro, std::vector<CutLoop> loops, std::vector<RowRange> parts)
      : from_(micro.program),
        function_(*from_.find_function(micro.function)),
        parts_(std::move(parts)),
        groups_(from_, function_, parts_.back().end),
        rewriter_(from_, [this](Rewriter&, const Op& op) { return replace(op); }),
        defined_(from_.value_count(), false) {
    for (const Function& f : from_.functions)
      if (f.name == micro.function)
        for (OpId id : from_.region(f.body).ops) own_[&from_.op(id)] = id;
    for (CutLoop& loop : loops) {
      const Op& op = from_.op(loop.op);
      for (std::size_t i = 0; i < op.result_count; ++i) {
        if (!has_parts(loop.turns.kinds[i])) continue;
        groups_.unite(from_.operands(op)[i], from_.result(op, i));
        groups_.mark(from_.result(op, i));
      }
      for (const LoopTurns::Taken& taken : loop.turns.from_around) groups_.mark(taken.value);
      loops_[loop.op] = std::move(loop.turns);
    }
    for (ValueId v : from_.region(function_.body).args) defined_[v] = true;
  }

  Expected<Program> cut() {
    for (const Function& f : from_.functions) HEDDLE_TRY_VOID(rewriter_.copy(f));
    HEDDLE_TRY(const Program made, rewriter_.finish());
    return without_unused(made);
  }

 private:
  static bool has_parts(Kind kind) { return kind == Kind::taken || kind == Kind::put; }
  Builder& to() { return rewriter_.to; }

  Expected<bool> replace(const Op& op) {
    const auto own = own_.find(&op);
    if (own == own_.end()) return false;
    if (const auto loop = loops_.find(own->second); loop != loops_.end())
      return write_loops(op, loop->second);
    HEDDLE_TRY(const bool in_parts, write_parts(op));
    if (in_parts) return true;
    for (ValueId v : from_.operands(op)) whole(v);
    if (op.region_count > 0)
      for (ValueId v : captured_values(from_, op)) whole(v);
    for (std::size_t k = 0; k < op.result_count; ++k) defined_[from_.result(op, k)] = true;
    return false;
  }

  // ---- values

  // What a loop gives on as it has come.
  ValueId source(ValueId v) const {
    for (auto at = same_.find(v); at != same_.end(); at = same_.find(v)) v = at->second;
    return v;
  }

  Var whole(ValueId v) {
    const ValueId made = source(v);
    if (!defined_[made] && pieces_.contains(made)) {
      rewriter_.define(made, to().concatenate(pieces_.at(made), 0));
      defined_[made] = true;
    }
    if (made != v) rewriter_.define(v, rewriter_.value(made));
    return rewriter_.value(v);
  }

  Var piece(ValueId v, std::size_t part) {
    v = source(v);
    if (const auto at = pieces_.find(v); at != pieces_.end()) return at->second[part];
    Vars& made = pieces_[v];
    const Shape shape = from_.type_of(v).shape;
    for (const RowRange& rows : parts_) {
      std::vector<std::int64_t> start(shape.size(), 0), end = shape;
      start[0] = rows.begin;
      end[0] = rows.end;
      made.push_back(to().slice(rewriter_.value(v), start, end));
    }
    return made[part];
  }

  // ---- ops on rows

  // The factor of the rows where every result has it and it can be cut; where no result has it, one
  // that is summed over.
  int factor_to_cut(const Op& op, const IndexRule& rule) {
    int found = -1;
    const auto operands = from_.operands(op);
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (groups_.is_in_parts(operands[i]))
        found = std::max(
            found, groups_.row_factor(from_.type_of(operands[i]), rule.operands[i].dims, rule));
    for (std::size_t k = 0; k < op.result_count && found < 0; ++k)
      if (groups_.is_in_parts(from_.result(op, k)))
        found = groups_.row_factor(from_.type_of(from_.result(op, k)), rule.results[k].dims, rule);
    if (found < 0) return -1;
    // Nothing else may depend on it.
    const auto is_elsewhere = [&](const std::vector<DimRule>& dims) {
      for (std::size_t d = 1; d < dims.size(); ++d)
        for (const IndexTerm& term : dims[d].terms)
          if (term.factor == found) return true;
      return false;
    };
    for (std::size_t i = 0; i < rule.operands.size(); ++i)
      if (is_elsewhere(rule.operands[i].dims)) return -1;
    const FactorKind kind = rule.factors[static_cast<std::size_t>(found)].kind;
    if (kind == FactorKind::reduce) return op.result_count > 0 && rule.combine.op ? found : -1;
    if (kind != FactorKind::parallel) return -1;
    for (std::size_t k = 0; k < op.result_count; ++k) {
      const auto& dims = rule.results[k].dims;
      if (is_elsewhere(dims)) return -1;
      if (groups_.row_factor(from_.type_of(from_.result(op, k)), dims, rule) != found) return -1;
    }
    return found;
  }

  bool has_rows_in_parts(const Op& op) {
    for (ValueId v : from_.operands(op))
      if (groups_.is_in_parts(v)) return true;
    for (std::size_t k = 0; k < op.result_count; ++k)
      if (groups_.is_in_parts(from_.result(op, k))) return true;
    return false;
  }

  Expected<bool> write_parts(const Op& op) {
    if (op.def->form == Form::terminator || !has_rows_in_parts(op)) return false;
    if (op.def->parts == Parts::constant) return write_constant(op);
    if (op.def->draws || op.region_count > 1) return false;
    const IndexRule rule = index_rule(from_, op);
    const int factor = factor_to_cut(op, rule);
    if (factor < 0) return false;
    const bool sums = rule.factors[static_cast<std::size_t>(factor)].kind == FactorKind::reduce;
    std::vector<ValueId> taken(from_.operands(op).begin(), from_.operands(op).end());
    if (op.region_count > 0)
      for (ValueId v : captured_values(from_, op)) taken.push_back(v);
    std::vector<OpPiece> pieces;
    for (const RowRange& rows : parts_) {
      std::vector<FactorRange> ranges = all_ranges(rule);
      ranges[static_cast<std::size_t>(factor)] = {rows.begin, rows.count()};
      auto one = piece_of(from_, op, rule, ranges);
      if (!one || one->from_whole || !one->shifts.empty() || one->partial != sums) return false;
      pieces.push_back(*std::move(one));
    }
    std::vector<std::vector<ValueId>> made;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      std::vector<ValueId> operands;
      for (std::size_t i = 0; i < taken.size(); ++i)
        operands.push_back(operand(taken[i], i, p, factor, rule, pieces[p]).id());
      const std::size_t before = to().program.region(to().here()).ops.size();
      HEDDLE_TRY(std::vector<ValueId> results,
                 emit_piece(to().program, to().here(), from_, op, rule, pieces[p], operands));
      stand_at(op, before);
      made.push_back(std::move(results));
    }
    keep(op, made, sums, rule, taken);
    return true;
  }

  Var operand(ValueId v, std::size_t i, std::size_t part, int factor, const IndexRule& rule,
              const OpPiece& one) {
    const bool is_known = i < rule.operands.size();
    if (is_known && i < one.operands.size() && one.operands[i].neutral) {
      const Type type = from_.type_of(v);
      return to().constant(neutral_array(*rule.combine.op, type));
    }
    if (is_known && groups_.row_factor(from_.type_of(v), rule.operands[i].dims, rule) == factor)
      return piece(v, part);
    return whole(v);
  }

  void keep(const Op& op, const std::vector<std::vector<ValueId>>& made, bool sums,
            const IndexRule& rule, const std::vector<ValueId>& taken) {
    if (sums) {
      std::vector<ValueId> wholes;
      for (std::size_t i = 0; i < taken.size(); ++i) wholes.push_back(made[0][0]);  // not asked for
      const std::size_t before = to().program.region(to().here()).ops.size();
      const auto all = emit_combined(to().program, to().here(), from_, op, rule, made, wholes);
      stand_at(op, before);
      for (std::size_t k = 0; k < op.result_count; ++k) {
        rewriter_.define(from_.result(op, k), {to(), all[k]});
        defined_[from_.result(op, k)] = true;
      }
      return;
    }
    for (std::size_t k = 0; k < op.result_count; ++k) {
      Vars& parts = pieces_[from_.result(op, k)];
      for (const auto& results : made) parts.emplace_back(to(), results[k]);
    }
  }

  Expected<bool> write_constant(const Op& op) {
    const auto* value = from_.attr(op, "value")->get<Array>();
    if (value == nullptr || !value->is_splat()) return false;
    const ValueId v = from_.result(op, 0);
    Vars made;
    for (const RowRange& rows : parts_) {
      Type type = from_.type_of(v);
      type.shape[0] = rows.count();
      made.push_back(to().constant(Array::splat(type, value->element(0))));
    }
    pieces_[v] = std::move(made);
    return true;
  }

  void stand_at(const Op& op, std::size_t from_op) {
    const std::vector<OpId>& ops = to().program.region(to().here()).ops;
    for (std::size_t i = from_op; i < ops.size(); ++i)
      to().program.set_location(ops[i], rewriter_.location(op.loc));
  }

  // ---- loops

  // Parts come in the order of the turns; which rows these are, rows say.
  static bool is_backward(const LoopTurns& turns) {
    for (std::size_t i = 0; i < turns.kinds.size(); ++i)
      if (has_parts(turns.kinds[i])) return turns.backward[i];
    return !turns.from_around.empty() && turns.from_around[0].backward;
  }

  // What goes on from turn to turn, in the loops that are written: all else comes from around them.
  static bool goes_on(Kind kind) { return kind != Kind::same && kind != Kind::taken; }

  Expected<bool> write_loops(const Op& op, const LoopTurns& turns) {
    const bool backward = is_backward(turns);
    const auto operands = from_.operands(op);
    Vars state(op.result_count);
    std::map<std::size_t, Vars> put;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (turns.kinds[i] == Kind::state) state[i] = whole(operands[i]);
      if (turns.kinds[i] == Kind::put) put[i].resize(parts_.size());
      if (turns.kinds[i] == Kind::same && is_used(op, i)) whole(operands[i]);
    }
    std::set<ValueId> in_rows;
    for (const LoopTurns::Taken& taken : turns.from_around) in_rows.insert(taken.value);
    for (ValueId v : captured_values(from_, op))
      if (!in_rows.contains(v)) whole(v);
    std::int64_t first = 0;
    for (std::size_t n = 0; n < parts_.size(); ++n) {
      const std::size_t part = backward ? parts_.size() - 1 - n : n;
      const std::int64_t count = parts_[part].count();
      Vars start;
      for (std::size_t i = 0; i < operands.size(); ++i)
        if (goes_on(turns.kinds[i]))
          start.push_back(turns.kinds[i] == Kind::counter ? number_like(operands[i], 0)
                          : turns.kinds[i] == Kind::put   ? piece(operands[i], part)
                                                          : state[i]);
      to().at(rewriter_.location(op.loc));
      HEDDLE_TRY(const Vars given, write_loop(op, turns, start, part, first));
      std::size_t next = 0;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!goes_on(turns.kinds[i])) continue;
        const Var value = given[next++];
        if (turns.kinds[i] == Kind::put) put[i][part] = value;
        if (turns.kinds[i] == Kind::state) state[i] = value;
      }
      first += count;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const ValueId result = from_.result(op, i);
      if (turns.kinds[i] == Kind::put) {
        pieces_[result] = put[i];
      } else if (!goes_on(turns.kinds[i])) {
        same_[result] = operands[i];
      } else {
        rewriter_.define(
            result, turns.kinds[i] == Kind::counter ? number_like(operands[i], first) : state[i]);
        defined_[result] = true;
      }
    }
    return true;
  }

  Var number_like(ValueId v, std::int64_t number) {
    return to().full(from_.type_of(v), static_cast<double>(number));
  }

  bool is_used(const Op& loop, std::size_t i) const {
    const Region& body = from_.region(from_.regions(loop)[1]);
    for (OpId id : body.ops) {
      const Op& op = from_.op(id);
      if (op.def->form == Form::terminator) continue;
      const auto operands = from_.operands(op);
      if (std::ranges::count(operands, body.args[i]) > 0) return true;
      if (op.region_count > 0 && std::ranges::count(captured_values(from_, op), body.args[i]) > 0)
        return true;
    }
    return false;
  }

  // Turns from `first` on of a loop, as many as the part has rows; it counts from 0 itself.
  Expected<Vars> write_loop(const Op& op, const LoopTurns& turns, const Vars& start,
                            std::size_t part, std::int64_t first) {
    const Region& body = from_.region(from_.regions(op)[1]);
    const auto operands = from_.operands(op);
    std::size_t counter = 0;  // among those that go on
    for (std::size_t i = 0; turns.kinds[i] != Kind::counter; ++i)
      counter += goes_on(turns.kinds[i]);
    const std::int64_t count = parts_[part].count();
    const auto number = [&](const Vars& in, std::int64_t n) {
      return to().full_like(in[counter], static_cast<double>(n));
    };
    // What the body takes from around it, and what that is afterwards again.
    std::map<ValueId, Var> around;
    for (const LoopTurns::Taken& taken : turns.from_around) {
      around[taken.value] = defined_[taken.value] ? rewriter_.value(taken.value) : Var();
      rewriter_.define(taken.value, piece(taken.value, part));
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (turns.kinds[i] == Kind::taken)
        rewriter_.define(body.args[i], piece(operands[i], part));
      else if (turns.kinds[i] == Kind::same && is_used(op, i))
        rewriter_.define(body.args[i], whole(operands[i]));
    }
    Verdict copied = yes();
    const Vars given = to().while_loop(
        start, [&](const Vars& in) { return to().compare("LT", in[counter], number(in, count)); },
        [&](const Vars& in) -> Vars {
          const Var back = number(in, count - 1) - in[counter];
          std::size_t next = 0;
          for (std::size_t i = 0; i < body.args.size(); ++i) {
            if (has_parts(turns.kinds[i]))
              row_of_[body.args[i]] = turns.backward[i] ? back : in[counter];
            if (goes_on(turns.kinds[i])) rewriter_.define(body.args[i], in[next++]);
            if (turns.kinds[i] == Kind::counter && first != 0)
              rewriter_.define(body.args[i], in[counter] + number(in, first));
          }
          for (const LoopTurns::Taken& taken : turns.from_around)
            row_of_[taken.value] = taken.backward ? back : in[counter];
          copied = copy_body(body);
          row_of_.clear();
          if (!copied) return in;
          Vars out;
          const auto last = from_.operands(from_.op(body.ops.back()));
          for (std::size_t i = 0; i < body.args.size(); ++i)
            if (goes_on(turns.kinds[i]))
              out.push_back(turns.kinds[i] == Kind::counter ? in[counter] + number(in, 1)
                                                            : rewriter_.value(last[i]));
          return out;
        });
    for (const auto& [v, was] : around)
      if (!was.none()) rewriter_.define(v, was);
    if (!copied) return copied.why();
    if (to().failed()) return to().finish().why();
    return given;
  }

  Verdict copy_body(const Region& body) {
    for (OpId id : body.ops) {
      const Op& op = from_.op(id);
      if (op.def->form == Form::terminator) break;
      to().at(rewriter_.location(op.loc));
      const bool moves_row = op.def->emission == Emission::dynamic_slice ||
                             op.def->emission == Emission::dynamic_update_slice;
      const auto row = moves_row ? row_of_.find(from_.operands(op)[0]) : row_of_.end();
      if (row == row_of_.end()) {
        HEDDLE_TRY_VOID(rewriter_.copy_op(op));
        continue;
      }
      const bool puts = op.def->emission == Emission::dynamic_update_slice;
      Vars operands = rewriter_.operands(op);
      Var& index = operands[puts ? 2 : 1];
      index = to().convert(row->second, index.type().dtype);
      Type type = from_.type_of(from_.result(op, 0));
      if (puts) type = operands[0].type();
      const Vars made = to().ops(op.def->name, operands, {type}, copied_attrs(from_, op));
      if (to().failed()) return to().finish().why();
      rewriter_.define_results(op, made);
    }
    return yes();
  }

  const Program& from_;
  const Function& function_;
  const std::vector<RowRange> parts_;
  RowGroups groups_;
  Rewriter rewriter_;
  std::map<const Op*, OpId> own_;  // ops of the function itself
  std::map<OpId, LoopTurns> loops_;
  std::map<ValueId, Vars> pieces_;
  std::map<ValueId, ValueId> same_;  // results of loops that are what came in
  std::vector<bool> defined_;        // as a whole
  std::map<ValueId, Var> row_of_;
};

}  // namespace

Expected<bool> cut_turns(MicroBatches& micro, std::int64_t parts) {
  std::vector<CutLoop> loops = loops_with_parameters(micro);
  const std::int64_t turns = count_of_most_work(micro.program, loops);
  std::erase_if(loops, [&](const CutLoop& loop) { return loop.turns.count != turns; });
  parts = std::min(parts, turns);
  if (parts < 2) return false;
  const auto rows = parts_of_equal_work(micro, loops, turns, parts);
  HEDDLE_TRY(Program made, TurnCutter(micro, std::move(loops), rows).cut());
  micro.program = std::move(made);
  return true;
}

}  // namespace heddle
