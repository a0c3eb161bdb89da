// Sorts of lines that are dealt out: every device sorts its part, then pairs of devices merge
// theirs, of which one keeps the first half and the other the second. No device ever has more than
// two parts.
//
// Neighbours alone need as many rounds as there are parts, and keep equal elements in order.
// Partners whose positions differ in one bit need fewer where there are many parts; the places that
// elements came from travel along then and decide between equal ones.
#include <map>

#include "parallel/messages.h"
#include "spmd/in_order.h"
#include "spmd/writers.h"

namespace heddle {

namespace {

// The integer that has as many bits, for values that can be sent as such.
std::optional<DType> as_bits(DType dtype) {
  if (is_complex(dtype) || dtype == DType::i1) return {};
  switch (bits(dtype)) {
    case 8:
      return DType::ui8;
    case 16:
      return DType::ui16;
    case 32:
      return DType::ui32;
    case 64:
      return DType::ui64;
    default:
      return {};
  }
}

// What the partners have of all values: those of one width in one message.
std::vector<ValueId> from_partners(Core& c, const SplitSort& sort,
                                   const std::vector<ValueId>& values, const Array& pairs) {
  std::map<DType, std::vector<std::size_t>> together;
  std::vector<ValueId> theirs(values.size());
  auto send = [&](ValueId v) {
    const Type type = c.w.type(v);
    c.tell(MoveKind::permute, sort.axes, type, type.bytes(),
           link_seconds(c.mesh.mesh, sort.axes, type.bytes()));
    return c.w.permute(v, pairs);
  };
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const auto dtype = as_bits(c.w.type(values[i]).dtype))
      together[*dtype].push_back(i);
    else
      theirs[i] = send(values[i]);
  auto recast = [&](ValueId v, DType dtype) {
    Type type = c.w.type(v);
    if (type.dtype == dtype) return v;
    type.dtype = dtype;
    return c.w.op("stablehlo.bitcast_convert", {v}, type);
  };
  for (const auto& [dtype, numbers] : together) {
    std::vector<ValueId> packed;
    for (std::size_t i : numbers)
      packed.push_back(numbers.size() == 1 ? values[i] : recast(values[i], dtype));
    const ValueId sent = send(c.w.concatenate(packed, sort.dim));
    for (std::size_t k = 0; k < numbers.size(); ++k)
      theirs[numbers[k]] =
          recast(c.w.slice(sent, sort.dim, static_cast<std::int64_t>(k) * sort.block, sort.block),
                 c.w.type(values[numbers[k]]).dtype);
  }
  return theirs;
}

std::vector<ValueId> exchanged_with_neighbours(Core& c, const SplitSort& sort,
                                               std::vector<ValueId> values) {
  const std::int64_t parts = total(sort.axes);
  const Type scalar = Type::tensor(DType::i64, {}), truth = Type::tensor(DType::i1, {});
  const ValueId here = c.w.position(sort.axes), none = c.w.number(0),
                block = c.w.number(sort.block);
  const ValueId odd = c.w.op("stablehlo.remainder", {here, c.w.number(2)}, scalar);
  for (std::int64_t round = 0; round < (parts == 2 ? 1 : parts); ++round) {
    const std::int64_t parity = round % 2;
    const Array pairs = c.w.neighbour_pairs(sort.axes, parity);
    // The last one of a pair takes the second half; at the ends there may be nobody to meet.
    const ValueId last = c.w.compare(odd, c.w.number(parity), "NE");
    const ValueId other = c.w.add(here, c.w.select(last, c.w.number(-1), c.w.number(1)));
    const ValueId meets = c.w.op(
        "stablehlo.and",
        {c.w.compare(other, none, "GE"), c.w.compare(other, c.w.number(parts), "LT")}, truth);
    const std::vector<ValueId> theirs = from_partners(c, sort, values, pairs);
    std::vector<ValueId> both;
    for (std::size_t i = 0; i < values.size(); ++i)
      both.push_back(c.w.concatenate(
          {c.w.select(last, theirs[i], values[i]), c.w.select(last, values[i], theirs[i])},
          sort.dim));
    if (sort.uneven()) {
      Type type = sort.lines;
      type.shape[sort.dim] *= 2;
      const ValueId first = c.w.select(last, other, here);
      both.push_back(c.w.places(type, sort.dim, c.w.multiply(first, sort.block)));
    }
    both = in_order(c, sort, std::move(both), false);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ValueId half =
          c.w.dynamic_slice(both[i], sort.dim, c.w.select(last, block, none), sort.block);
      values[i] = c.w.select(meets, half, values[i]);
    }
  }
  return values;
}

// Runs of two parts, then of four and so on, every other one backwards until the last.
std::vector<ValueId> exchanged_by_bits(Core& c, const SplitSort& sort,
                                       std::vector<ValueId> values) {
  const SplitAxes bits = bits_of(sort.axes);
  const ValueId none = c.w.number(0), block = c.w.number(sort.block);
  for (std::size_t run = 0; run < bits.size(); ++run) {
    const ValueId backward = run + 1 < bits.size() ? c.w.position({bits[run + 1]}) : none;
    for (std::size_t bit = run + 1; bit-- > 0;) {
      const SplitAxes pair{bits[bit]};
      const ValueId last = c.w.compare(c.w.position(pair), backward, "NE");
      std::vector<ValueId> both;
      for (ValueId v : values) {
        const Type type = c.w.type(v);
        c.tell(MoveKind::all_gather, pair, type, type.bytes(),
               link_seconds(c.mesh.mesh, pair, type.bytes()));
        both.push_back(c.w.all_gather(v, sort.dim, pair));
      }
      both = in_order(c, sort, std::move(both), true);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = c.w.dynamic_slice(both[i], sort.dim, c.w.select(last, block, none), sort.block);
    }
  }
  return values;
}

}  // namespace

Verdict write_sort_line(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  std::vector<ValueId> operands = c.get_operands(id);
  const SplitSort sort = split_sort(c.on, op, choice);
  if (sort.by_bits || sort.uneven()) operands.push_back(places_here(c, sort));
  operands = in_order(c, sort, std::move(operands), false);
  if (!sort.by_bits) operands.resize(op.operand_count);
  operands = sort.by_bits ? exchanged_by_bits(c, sort, std::move(operands))
                          : exchanged_with_neighbours(c, sort, std::move(operands));
  for (std::size_t i = 0; i < op.result_count; ++i)
    c.define(c.from.result(op, i), choice.results[i], operands[i]);
  return yes();
}

}  // namespace heddle
