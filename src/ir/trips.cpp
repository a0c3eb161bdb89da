#include "ir/trips.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle {

namespace {

std::optional<std::int64_t> constant_of(const Program& program, ValueId v) {
  const OpId id = program.value(v).op;
  if (id == kNone || program.op(id).def->parts != Parts::constant) return std::nullopt;
  const auto* value = program.attr(program.op(id), "value")->get<Array>();
  if (value == nullptr || value->elements() != 1) return std::nullopt;
  if (value->dtype() == DType::i32) return value->as<std::int32_t>()[0];
  if (value->dtype() == DType::i64) return value->as<std::int64_t>()[0];
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> trips_of(const Program& program, const Op& loop) {
  const Region& condition = program.region(program.regions(loop)[0]);
  const ValueId goes_on = program.operands(program.op(condition.ops.back()))[0];
  const OpId compares = program.value(goes_on).op;
  if (compares == kNone || program.op(compares).def->form != Form::compare) return std::nullopt;
  const Attr* direction = program.attr(program.op(compares), "comparison_direction");
  const auto* word = direction == nullptr ? nullptr : direction->get<Attr::Enum>();
  if (word == nullptr || word->word != "LT") return std::nullopt;
  const auto sides = program.operands(program.op(compares));
  const auto counter = std::ranges::find(condition.args, sides[0]);
  if (counter == condition.args.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(counter - condition.args.begin());
  // The end may be a constant, or a constant that the loop carries along.
  std::optional<std::int64_t> end = constant_of(program, sides[1]);
  if (const auto carried = std::ranges::find(condition.args, sides[1]);
      !end && carried != condition.args.end())
    end = constant_of(
        program,
        program.operands(loop)[static_cast<std::size_t>(carried - condition.args.begin())]);
  const std::optional<std::int64_t> begin = constant_of(program, program.operands(loop)[place]);
  if (!begin || !end) return std::nullopt;
  return std::max<std::int64_t>(*end - *begin, 1);
}

}  // namespace heddle
