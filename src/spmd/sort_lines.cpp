// Sorts of lines that are dealt out: every device sorts its part, then pairs of devices merge
// theirs, of which one keeps the first half and the other the second. No device ever has more than
// two parts.
//
// Neighbours alone need as many rounds as there are parts, and keep equal elements in order.
// Partners whose positions differ in one bit need fewer where there are many parts; the places that
// elements came from travel along then and decide between equal ones.
#include <bit>
#include <limits>
#include <map>

#include "cost/piece.h"
#include "spmd/partitioner.h"

namespace heddle {

namespace {

// More rounds than this are a long program that spends its time waiting.
constexpr std::int64_t kMostNeighbours = 64;

// Digits of two positions each, minor first; none where an axis has another number of devices.
AxisList bits_of(const AxisList& axes) {
  AxisList bits;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (!std::has_single_bit(static_cast<std::uint64_t>(axes[i].extent))) return {};
    for (std::int64_t step = 1; step < axes[i].extent; step *= 2)
      bits.push_back({2, axes[i].axis, axes[i].stride * step});
  }
  return bits;
}

}  // namespace

DType place_type(std::int64_t size) {
  return size > std::numeric_limits<std::int32_t>::max() / 2 ? DType::i64 : DType::i32;
}

double Partitioner::sort_seconds(std::int64_t bytes, std::int64_t length) const {
  return cost::sort_seconds(static_cast<double>(bytes), length, mesh_.mesh);
}

// The cheaper way, and what it takes.
Partitioner::SplitSort Partitioner::split_sort(const Op& op, const Choice& choice) {
  const std::size_t dim = choice.line->dim;
  SplitSort sort{.op = op, .dim = dim, .axes = choice.axes[dim]};
  sort.size = type_of(from_.result(op, 0)).shape[dim];
  sort.lines = local_type(type_of(from_.result(op, 0)), splits_[choice.results[0]]);
  sort.lines.dtype = place_type(sort.size);
  sort.block = sort.lines.shape[dim];
  std::int64_t bytes = 0;
  for (ValueId v : from_.operands(op))
    bytes += local_type(type_of(v), splits_[choice.operands[0]]).bytes();
  sort.seconds = sort_seconds(bytes, sort.block);
  const std::int64_t parts = total(sort.axes);
  if (parts == 1) return sort;
  const int passes = sort.uneven() ? 2 : 1;
  auto rounds = [&](std::int64_t count, std::int64_t sent, int sorts) {
    return static_cast<double>(count) *
           (link_seconds(sort.axes, sent) + sorts * sort_seconds(2 * sent, 2 * sort.block));
  };
  const double none = 1e6;
  const double by_neighbours =
      parts <= kMostNeighbours ? rounds(parts == 2 ? 1 : parts, bytes, passes) : none;
  const auto bits = static_cast<std::int64_t>(bits_of(sort.axes).size());
  const double by_bits =
      bits > 1 ? rounds(bits * (bits + 1) / 2, bytes + sort.lines.bytes(), passes + 1) : none;
  sort.by_bits = by_bits < by_neighbours;
  sort.seconds += std::min(by_bits, by_neighbours);
  return sort;
}

// Compares the last of the values, in which all up to `least` count as equal.
RegionId Partitioner::order_of_places(const std::vector<ValueId>& values, std::int64_t least) {
  const RegionId region = out_.add_region();
  std::vector<ValueId> args;
  for (ValueId v : values)
    for (int side = 0; side < 2; ++side)
      args.push_back(out_.add_arg(region, out_.intern(Type::tensor(w_.type(v).dtype, {}))));
  const RegionId back = std::exchange(w_.at, region);
  ValueId sides[2] = {args[args.size() - 2], args.back()};
  const Type scalar = w_.type(sides[0]);
  for (ValueId& side : sides)
    if (least > 0)
      side = w_.op("stablehlo.maximum", {side, w_.convert(w_.number(least), scalar.dtype)}, scalar);
  const ValueId before = w_.compare(sides[0], sides[1], "LT");
  out_.add_op(region, *find_op("stablehlo.return"), {&before, 1}, {}, {}, {}, w_.loc);
  w_.at = back;
  return region;
}

// Lines in the order of the comparison, what lies beyond the end of a line last. Where there is one
// value more than operands, it is the places, which decide between equal elements if they come
// first.
std::vector<ValueId> Partitioner::in_order(const SplitSort& sort, std::vector<ValueId> values,
                                           bool places_first) {
  if (places_first) values = w_.sort(values, sort.dim, order_of_places(values, 0));
  const RegionId order = cloned_regions(sort.op)[0];
  if (values.size() > sort.op.operand_count)
    for (int side = 0; side < 2; ++side)
      out_.add_arg(order, out_.intern(Type::tensor(w_.type(values.back()).dtype, {})));
  values = w_.sort(values, sort.dim, order);
  if (sort.uneven()) values = w_.sort(values, sort.dim, order_of_places(values, sort.size - 1));
  return values;
}

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

}  // namespace

// What the partners have of all values: those of one width in one message.
std::vector<ValueId> Partitioner::from_partners(const SplitSort& sort,
                                                const std::vector<ValueId>& values,
                                                const Array& pairs) {
  std::map<DType, std::vector<std::size_t>> together;
  std::vector<ValueId> theirs(values.size());
  auto send = [&](ValueId v) {
    const Type type = w_.type(v);
    tell(MoveKind::permute, sort.axes, type, type.bytes(), link_seconds(sort.axes, type.bytes()));
    return w_.permute(v, pairs);
  };
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const auto dtype = as_bits(w_.type(values[i]).dtype))
      together[*dtype].push_back(i);
    else
      theirs[i] = send(values[i]);
  auto recast = [&](ValueId v, DType dtype) {
    Type type = w_.type(v);
    if (type.dtype == dtype) return v;
    type.dtype = dtype;
    return w_.op("stablehlo.bitcast_convert", {v}, type);
  };
  for (const auto& [dtype, numbers] : together) {
    std::vector<ValueId> packed;
    for (std::size_t i : numbers)
      packed.push_back(numbers.size() == 1 ? values[i] : recast(values[i], dtype));
    const ValueId sent = send(w_.concatenate(packed, sort.dim));
    for (std::size_t k = 0; k < numbers.size(); ++k)
      theirs[numbers[k]] =
          recast(w_.slice(sent, sort.dim, static_cast<std::int64_t>(k) * sort.block, sort.block),
                 w_.type(values[numbers[k]]).dtype);
  }
  return theirs;
}

std::vector<ValueId> Partitioner::exchanged_with_neighbours(const SplitSort& sort,
                                                            std::vector<ValueId> values) {
  const std::int64_t parts = total(sort.axes);
  const Type scalar = Type::tensor(DType::i64, {}), truth = Type::tensor(DType::i1, {});
  const ValueId here = w_.position(sort.axes), none = w_.number(0), block = w_.number(sort.block);
  const ValueId odd = w_.op("stablehlo.remainder", {here, w_.number(2)}, scalar);
  for (std::int64_t round = 0; round < (parts == 2 ? 1 : parts); ++round) {
    const std::int64_t parity = round % 2;
    const Array pairs = w_.neighbour_pairs(sort.axes, parity);
    // The last one of a pair takes the second half; at the ends there may be nobody to meet.
    const ValueId last = w_.compare(odd, w_.number(parity), "NE");
    const ValueId other = w_.add(here, w_.select(last, w_.number(-1), w_.number(1)));
    const ValueId meets =
        w_.op("stablehlo.and",
              {w_.compare(other, none, "GE"), w_.compare(other, w_.number(parts), "LT")}, truth);
    const std::vector<ValueId> theirs = from_partners(sort, values, pairs);
    std::vector<ValueId> both;
    for (std::size_t i = 0; i < values.size(); ++i)
      both.push_back(w_.concatenate(
          {w_.select(last, theirs[i], values[i]), w_.select(last, values[i], theirs[i])},
          sort.dim));
    if (sort.uneven()) {
      Type type = sort.lines;
      type.shape[sort.dim] *= 2;
      const ValueId first = w_.select(last, other, here);
      both.push_back(w_.places(type, sort.dim, w_.multiply(first, sort.block)));
    }
    both = in_order(sort, std::move(both), false);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ValueId half =
          w_.dynamic_slice(both[i], sort.dim, w_.select(last, block, none), sort.block);
      values[i] = w_.select(meets, half, values[i]);
    }
  }
  return values;
}

// Runs of two parts, then of four and so on, every other one backwards until the last.
std::vector<ValueId> Partitioner::exchanged_by_bits(const SplitSort& sort,
                                                    std::vector<ValueId> values) {
  const AxisList bits = bits_of(sort.axes);
  const ValueId none = w_.number(0), block = w_.number(sort.block);
  for (std::size_t run = 0; run < bits.size(); ++run) {
    const ValueId backward = run + 1 < bits.size() ? w_.position({bits[run + 1]}) : none;
    for (std::size_t bit = run + 1; bit-- > 0;) {
      const AxisList pair{bits[bit]};
      const ValueId last = w_.compare(w_.position(pair), backward, "NE");
      std::vector<ValueId> both;
      for (ValueId v : values) {
        const Type type = w_.type(v);
        tell(MoveKind::all_gather, pair, type, type.bytes(), link_seconds(pair, type.bytes()));
        both.push_back(w_.all_gather(v, sort.dim, pair));
      }
      both = in_order(sort, std::move(both), true);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = w_.dynamic_slice(both[i], sort.dim, w_.select(last, block, none), sort.block);
    }
  }
  return values;
}

Verdict Partitioner::write_sort(const Op& op, const Choice& choice, std::vector<ValueId> operands) {
  const SplitSort sort = split_sort(op, choice);
  if (sort.by_bits || sort.uneven())
    operands.push_back(
        w_.places(sort.lines, sort.dim, w_.multiply(w_.position(sort.axes), sort.block)));
  operands = in_order(sort, std::move(operands), false);
  if (!sort.by_bits) operands.resize(op.operand_count);
  operands = sort.by_bits ? exchanged_by_bits(sort, std::move(operands))
                          : exchanged_with_neighbours(sort, std::move(operands));
  for (std::size_t i = 0; i < op.result_count; ++i)
    define(from_.result(op, i), choice.results[i], operands[i]);
  return yes();
}

}  // namespace heddle
