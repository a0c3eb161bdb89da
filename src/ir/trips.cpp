#include "ir/trips.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle {

std::optional<std::int64_t> whole_number_of(const Program& program, ValueId v) {
  const OpId id = program.value(v).op;
  if (id == kNone || program.op(id).def->parts != Parts::constant) return std::nullopt;
  const auto* value = program.attr(program.op(id), "value")->get<Array>();
  if (value == nullptr || value->elements() != 1) return std::nullopt;
  if (value->dtype() == DType::i32) return value->as<std::int32_t>()[0];
  if (value->dtype() == DType::i64) return value->as<std::int64_t>()[0];
  return std::nullopt;
}

namespace {

std::optional<Counting> counting_of(const Program& program, const Op& loop) {
  const Region& condition = program.region(program.regions(loop)[0]);
  const ValueId goes_on = program.operands(program.op(condition.ops.back()))[0];
  const OpId compares = program.value(goes_on).op;
  if (compares == kNone || program.op(compares).def->form != Form::compare) return std::nullopt;
  const Attr* direction = program.attr(program.op(compares), "comparison_direction");
  const auto* word = direction == nullptr ? nullptr : direction->get<Attr::Enum>();
  if (word == nullptr || word->word != "LT") return std::nullopt;
  const auto sides = program.operands(program.op(compares));
  const auto place_of = [&](ValueId v) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(condition.args, v);
    if (found == condition.args.end()) return std::nullopt;
    return static_cast<std::size_t>(found - condition.args.begin());
  };
  const auto counter = place_of(sides[0]);
  if (!counter) return std::nullopt;
  // The end may be a constant, or a constant that the loop carries along.
  Counting counting{*counter, {}, 0, 0};
  std::optional<std::int64_t> end = whole_number_of(program, sides[1]);
  if (!end) {
    counting.end_at = place_of(sides[1]);
    if (counting.end_at) end = whole_number_of(program, program.operands(loop)[*counting.end_at]);
  }
  const std::optional<std::int64_t> begin =
      whole_number_of(program, program.operands(loop)[*counter]);
  if (!begin || !end) return std::nullopt;
  counting.begin = *begin;
  counting.end = *end;
  return counting;
}

}  // namespace

std::optional<std::int64_t> trips_of(const Program& program, const Op& loop) {
  const auto counting = counting_of(program, loop);
  if (!counting) return std::nullopt;
  return std::max<std::int64_t>(counting->end - counting->begin, 1);
}

std::optional<Counting> exact_counting_of(const Program& program, const Op& loop) {
  auto counting = counting_of(program, loop);
  if (!counting) return std::nullopt;
  const Region& body = program.region(program.regions(loop)[1]);
  const auto given = program.operands(program.op(body.ops.back()));
  if (counting->end_at && given[*counting->end_at] != body.args[*counting->end_at])
    return std::nullopt;
  const OpId steps = program.value(given[counting->counter]).op;
  if (steps == kNone || program.op(steps).def->scalar != ScalarOp::add) return std::nullopt;
  const auto sides = program.operands(program.op(steps));
  const ValueId counter = body.args[counting->counter];
  const bool is_by_one = (sides[0] == counter && whole_number_of(program, sides[1]) == 1) ||
                         (sides[1] == counter && whole_number_of(program, sides[0]) == 1);
  if (!is_by_one) return std::nullopt;
  return counting;
}

std::optional<std::int64_t> exact_trips_of(const Program& program, const Op& loop) {
  const auto counting = exact_counting_of(program, loop);
  if (!counting) return std::nullopt;
  return std::max<std::int64_t>(counting->end - counting->begin, 0);
}

}  // namespace heddle
