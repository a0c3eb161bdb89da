// Appends ops of a per-device program: shape ops, collectives along mesh axes, and numbers that
// depend on the device.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>

#include "heddle/split.h"
#include "ir/rules/piece_emit.h"

namespace heddle {

class Writer {
 public:
  Writer(Program& program, const MeshDecl& decl) : out(program), mesh(decl) {}

  Program& out;
  const MeshDecl& mesh;
  RegionId at = kNone;
  LocId loc = 0;

  const Type& type(ValueId v) const { return out.type_of(v); }
  ValueId op(std::string_view name, std::vector<ValueId> operands, const Type& result,
             AttrDict attrs = {}, std::vector<RegionId> regions = {});
  ValueId constant(Array value);
  ValueId number(std::int64_t value);              // scalar of i64
  ValueId zero(DType dtype);                       // scalar
  ValueId convert(ValueId scalar, DType dtype);    // where it is not yet
  ValueId over(ValueId scalar, const Type& type);  // broadcast over a shape

  ValueId reshape(ValueId v, Shape shape);
  ValueId transpose(ValueId v, const std::vector<std::int64_t>& order);
  ValueId slice(ValueId v, std::size_t dim, std::int64_t start, std::int64_t count,
                std::int64_t stride = 1);
  ValueId pad(ValueId v, std::size_t dim, std::int64_t low, std::int64_t high, ValueId fill);
  ValueId concatenate(std::vector<ValueId> parts, std::size_t dim);
  // Elements [start, start + count) of a dimension, from a start that is known when it runs.
  ValueId dynamic_slice(ValueId v, std::size_t dim, ValueId start, std::int64_t count);
  ValueId select(ValueId truth, ValueId yes, ValueId no);
  ValueId compare(ValueId a, ValueId b, const char* direction);
  ValueId add(ValueId a, ValueId b);
  ValueId reduce(ValueId v, std::size_t dim, ReduceOp op);  // without that dimension
  // Lines along the dimension, all values together, stably by a region of two elements of each.
  std::vector<ValueId> sort(const std::vector<ValueId>& values, std::size_t dim, RegionId order);
  ValueId spread(ValueId v, const Type& type, std::size_t dim);  // along a dimension it has not
  ValueId multiply(ValueId a, std::int64_t by);

  // ---- the device

  // To be called at the head of a function: the position of this device along each axis.
  void write_position();
  // Position along a list of axes, the last one fastest; scalar of i64.
  ValueId position(const SplitAxes& axes);
  // Whether the position along all of these axes is 0.
  ValueId is_first(const SplitAxes& axes);
  // Numbers of elements along a dimension, from `begin` on.
  ValueId places(const Type& type, std::size_t dim, ValueId begin);
  // True for elements [first, end) of a dimension, both scalars of i64; kNone: from the first, to
  // the last.
  ValueId between(Shape shape, std::size_t dim, ValueId first, ValueId end);
  // What is beyond the end of a dimension becomes `fill`: element i of this device's part lies at
  // begin + i of `size`.
  ValueId masked(ValueId v, std::size_t dim, ValueId begin, std::int64_t size, ValueId fill);

  // ---- collectives among the devices that differ along these axes only

  ValueId all_gather(ValueId v, std::size_t dim, const SplitAxes& axes);
  ValueId all_reduce(ValueId v, const SplitAxes& axes, ReduceOp op);
  ValueId reduce_scatter(ValueId v, std::size_t dim, const SplitAxes& axes, ReduceOp op);
  // Part i of the dimension goes to member i; what comes is put in its place.
  ValueId all_to_all(ValueId v, std::size_t dim, const SplitAxes& axes);
  // pairs of devices; who gets nothing has zeros.
  ValueId permute(ValueId v, const Array& pairs);
  // Those by which what one digit counted is counted by another one: made once, since thousands of
  // devices make a long list, which all ops share that have it.
  using DigitChanges = std::vector<std::pair<SplitDigit, SplitDigit>>;
  const Array& known_pairs(const DigitChanges& changes, const std::function<Array()>& make);
  // To the device `by` further along the axes; nobody at the ends.
  const Array& shift_pairs(const SplitAxes& axes, std::int64_t by);
  // The first position with the last, and so on.
  Array mirror_pairs(const SplitAxes& axes) const;
  // From one position along the axes to another.
  Array pair(const SplitAxes& axes, std::int64_t from, std::int64_t to) const;
  // From each position along the axes to the one that the list says; -1: it sends nothing.
  Array targets(const SplitAxes& axes, const std::vector<std::int64_t>& to) const;
  // Neighbours exchange: those at positions of this parity with the ones behind them.
  Array neighbour_pairs(const SplitAxes& axes, std::int64_t parity) const;
  std::int64_t device_at(std::int64_t position) const;
  // The region of two scalars that a reduction has.
  RegionId reducer(ReduceOp op, DType dtype);

 private:
  // `to` says for a position along the axes where it sends to, or -1.
  Array pairs(const SplitAxes& axes, const std::function<std::int64_t(std::int64_t)>& to) const;
  AttrDict groups(const SplitAxes& axes, bool global_ids);

  std::vector<ValueId> along_;  // position along each axis
  std::map<std::pair<std::vector<std::int64_t>, std::int64_t>, Array> shifts_;
  std::map<std::vector<std::int64_t>, Array> changed_;  // pairs, by digits
  std::int64_t channel_ = 0;
  std::map<std::pair<RegionId, DType>, ValueId> zeros_;  // each once in a region
};

// The op of two values that a reduction applies.
std::string_view combining_op(ReduceOp op);
Attr integer_list(std::vector<std::int64_t> values);

}  // namespace heddle
