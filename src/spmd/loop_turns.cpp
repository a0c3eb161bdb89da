// What a loop carries from turn to turn: rows that each turn takes or puts for itself, or state.
#include <algorithm>
#include <map>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/trips.h"
#include "spmd/turns.h"

namespace heddle {

namespace {

class TurnFinder {
 public:
  TurnFinder(const Program& program, const Op& loop)
      : program_(program), loop_(loop), body_(program.region(program.regions(loop)[1])) {}

  std::optional<LoopTurns> find() {
    const auto counting = exact_counting_of(program_, loop_);
    if (!counting || counting->begin != 0 || counting->end < 1) return std::nullopt;
    counter_ = body_.args[counting->counter];
    LoopTurns turns;
    turns.count = count_ = counting->end;
    count_uses();
    const auto given = program_.operands(program_.op(body_.ops.back()));
    for (std::size_t i = 0; i < body_.args.size(); ++i) {
      bool backward = false;
      auto kind = LoopTurns::Kind::state;
      if (i == counting->counter)
        kind = LoopTurns::Kind::counter;
      else if (given[i] == body_.args[i])
        kind = takes_rows(body_.args[i], backward) ? LoopTurns::Kind::taken : LoopTurns::Kind::same;
      else if (puts_rows(body_.args[i], given[i], backward))
        kind = LoopTurns::Kind::put;
      turns.kinds.push_back(kind);
      turns.backward.push_back(backward);
    }
    for (ValueId v : captured_values(program_, loop_)) {
      bool backward = false;
      if (takes_rows(v, backward)) turns.from_around.push_back({v, backward});
    }
    return turns;
  }

 private:
  void count_uses() {
    for (OpId id : body_.ops) {
      const Op& op = program_.op(id);
      if (op.def->form == Form::terminator) continue;
      for (ValueId v : program_.operands(op)) users_[v].push_back(id);
      if (op.region_count > 0)
        for (ValueId v : captured_values(program_, op)) users_[v].push_back(kNone);
    }
  }

  bool has_rows(ValueId v) const {
    const Type& type = program_.type_of(v);
    return type.is_tensor() && type.rank() > 0 && type.shape[0] == count_;
  }

  // Every use takes the row of the turn, all of it.
  bool takes_rows(ValueId v, bool& backward) {
    const std::vector<OpId>& users = users_[v];
    if (!has_rows(v) || users.empty()) return false;
    std::optional<bool> first;
    for (OpId id : users) {
      if (id == kNone || program_.op(id).def->emission != Emission::dynamic_slice) return false;
      const Op& op = program_.op(id);
      const auto operands = program_.operands(op);
      if (operands[0] != v || std::ranges::count(operands, v) != 1) return false;
      const auto direction = row_of_turn(v, program_.type_of(program_.result(op, 0)), operands[1]);
      if (!direction || (first && *first != *direction)) return false;
      first = direction;
    }
    backward = *first;
    return true;
  }

  // The turn's row is written, and nothing else is done with what was there.
  bool puts_rows(ValueId v, ValueId given, bool& backward) {
    const OpId id = program_.value(given).op;
    if (!has_rows(v) || id == kNone || program_.value(given).op == kNone) return false;
    const Op& op = program_.op(id);
    if (op.def->emission != Emission::dynamic_update_slice || users_[v].size() != 1) return false;
    if (!users_[given].empty() || times_returned(given) != 1) return false;
    const auto operands = program_.operands(op);
    if (operands[0] != v) return false;
    const auto direction = row_of_turn(v, program_.type_of(operands[1]), operands[2]);
    if (!direction) return false;
    backward = *direction;
    return true;
  }

  std::ptrdiff_t times_returned(ValueId v) const {
    return std::ranges::count(program_.operands(program_.op(body_.ops.back())), v);
  }

  // Whether a row that begins at `index` is that of the turn: false, counted from the first one;
  // true, from the last one; nothing where it is another one.
  std::optional<bool> row_of_turn(ValueId stack, const Type& row, ValueId index) {
    const Shape& shape = program_.type_of(stack).shape;
    if (row.shape[0] != 1) return std::nullopt;
    for (std::size_t d = 1; d < shape.size(); ++d)
      if (row.shape[d] != shape[d]) return std::nullopt;
    bool forward = true, backward = true;
    for (std::int64_t turn = 0; turn < count_ && (forward || backward); ++turn) {
      const auto at = number_at(index, turn, 0);
      forward = forward && at == turn;
      backward = backward && at == count_ - 1 - turn;
    }
    if (!forward && !backward) return std::nullopt;
    return !forward;
  }

  // An integer that depends on the turn alone.
  std::optional<std::int64_t> number_at(ValueId v, std::int64_t turn, int depth) const {
    constexpr int kMostDepth = 24;
    if (v == counter_) return turn;
    if (const auto constant = whole_number_of(program_, v)) return constant;
    const OpId id = program_.value(v).op;
    if (id == kNone || depth > kMostDepth || program_.type_of(v).elements() != 1)
      return std::nullopt;
    const Op& op = program_.op(id);
    std::vector<std::int64_t> in;
    for (ValueId operand : program_.operands(op)) {
      const auto number = number_at(operand, turn, depth + 1);
      if (!number) return std::nullopt;
      in.push_back(*number);
    }
    if (op.def->form == Form::compare) {
      const std::string_view word = word_or(program_.attr(op, "comparison_direction"), "");
      if (word == "LT") return in[0] < in[1];
      if (word == "GE") return in[0] >= in[1];
      return std::nullopt;
    }
    if (op.def->rearranges == Rearrange::reshape) return in[0];
    switch (op.def->scalar) {
      case ScalarOp::add:
        return in[0] + in[1];
      case ScalarOp::subtract:
        return in[0] - in[1];
      case ScalarOp::minimum:
        return std::min(in[0], in[1]);
      case ScalarOp::maximum:
        return std::max(in[0], in[1]);
      case ScalarOp::select:
        return in[0] != 0 ? in[1] : in[2];
      case ScalarOp::clamp:
        return std::max(in[0], std::min(in[1], in[2]));
      case ScalarOp::convert:
        return in[0];
      case ScalarOp::bit_and:
        return in[0] & in[1];
      case ScalarOp::bit_or:
        return in[0] | in[1];
      default:
        return std::nullopt;
    }
  }

  const Program& program_;
  const Op& loop_;
  const Region& body_;
  ValueId counter_ = kNone;
  std::int64_t count_ = 0;
  std::map<ValueId, std::vector<OpId>> users_;  // in the body; kNone: inside of an op
};

}  // namespace

std::optional<LoopTurns> turns_of(const Program& program, const Op& loop) {
  if (loop.def->control != Control::loop) return std::nullopt;
  return TurnFinder(program, loop).find();
}

}  // namespace heddle
