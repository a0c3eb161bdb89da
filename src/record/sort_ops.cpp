// Sorting and searching in NumPy's order, in which NaN comes last and -0 stands beside 0.
#include <cmath>

#include "heddle/array_library.h"
#include "heddle/array_ops.h"
#include "heddle/error.h"
#include "record/parameters.h"

namespace heddle {

namespace {

using Dims = Builder::Dims;

// Floats as whole numbers in NumPy's order: those of the bits, of which negative ones are turned
// around. NaN becomes the one that comes last. It is its own way back.
Var turned_if_negative(Builder& b, Var bits) {
  const DType dtype = bits.type().dtype;
  const double places = 8 * byte_size(dtype) - 1;
  const Var sign = b.op("shift_right_arithmetic", {bits, b.full_like(bits, places)});
  const Var below = b.op("shift_right_logical", {sign, b.full_like(bits, 1)});
  return b.op("xor", {bits, below});
}
DType integer_like(DType dtype) {
  const int bytes = byte_size(dtype);
  return bytes == 8 ? DType::i64 : bytes == 4 ? DType::i32 : DType::i16;
}
// Two zeros are one number where places are asked for; else each keeps its sign.
Var key_of(Builder& b, Var x, bool two_zeros = false) {
  if (!is_float(x.type().dtype)) return x;
  const Var zero = b.full_like(x, 0), nan = b.full_like(x, std::nan(""));
  if (!two_zeros) x = b.select(b.compare("EQ", x, zero), zero, x);
  x = b.select(b.compare("NE", x, x), nan, x);
  return turned_if_negative(b, b.bitcast(x, integer_like(x.type().dtype)));
}
Var of_key(Builder& b, Var key, DType dtype) {
  return is_float(dtype) ? b.bitcast(turned_if_negative(b, key), dtype) : key;
}

void check_sorted(const Var& x, std::int64_t axis) {
  if (axis < 0 || axis >= static_cast<std::int64_t>(x.type().rank()) || is_complex(x.type().dtype))
    throw Error("there is no order along dimension " + std::to_string(axis) + " of " +
                x.type().str());
}

// By the first of them, keys; equal ones stay in their order.
Vars sorted(Builder& b, const Vars& in, std::int64_t axis) {
  std::vector<Type> types, pairs;
  for (const Var x : in) {
    types.push_back(x.type());
    const Type scalar = Type::tensor(x.type().dtype, {});
    pairs.insert(pairs.end(), {scalar, scalar});
  }
  const RegionId order =
      b.region(pairs, [&](const Vars& two) -> Vars { return {b.compare("LT", two[0], two[1])}; });
  return b.ops("sort", in, types, {{"dimension", {Attr::Integer{axis}}}, {"is_stable", {true}}},
               {order});
}

Vars sort(Builder& b, std::span<const Var> in, const AttrDict& parameters) {
  const std::int64_t axis = record::integers(parameters, "axis").at(0);
  if (in.size() != 1) throw Error("numpy.sort takes one array");
  check_sorted(in[0], axis);
  const Vars keys = sorted(b, {key_of(b, in[0], true)}, axis);
  return keys.size() == 1 ? Vars{of_key(b, keys[0], in[0].type().dtype)} : Vars{};
}

Vars argsort(Builder& b, std::span<const Var> in, const AttrDict& parameters) {
  const std::int64_t axis = record::integers(parameters, "axis").at(0);
  if (in.size() != 1) throw Error("numpy.argsort takes one array");
  check_sorted(in[0], axis);
  const Type places = Type::tensor(DType::i64, in[0].type().shape);
  const Vars both = sorted(b, {key_of(b, in[0]), b.iota(places, axis)}, axis);
  return both.size() == 2 ? Vars{both[1]} : Vars{};
}

Var taken(Builder& b, Var from, Var places) {
  const auto rank = static_cast<std::int64_t>(places.type().rank());
  Attr::Struct numbers{"gather",
                       {{"offset_dims", {Dims{}}},
                        {"collapsed_slice_dims", {Dims{0}}},
                        {"start_index_map", {Dims{0}}},
                        {"index_vector_dim", {Attr::Integer{rank}}}}};
  return b.op("gather", {from, places},
              {{"dimension_numbers", {std::move(numbers)}}, {"slice_sizes", {Dims{1}}}});
}

// For each value the first place whose element is no less than it; with `right` greater. All values
// halve their ranges together.
Vars search(Builder& b, std::span<const Var> in, const AttrDict& parameters) {
  if (in.size() != 2 || in[0].type().rank() != 1 || in[0].type().dtype != in[1].type().dtype)
    throw Error("numpy.searchsorted takes a list, and values of its type");
  check_sorted(in[0], 0);
  const bool right = record::integers(parameters, "right").at(0) != 0;
  const Type places = Type::tensor(DType::i64, in[1].type().shape);
  const auto size = static_cast<std::uint64_t>(in[0].type().shape[0]);
  const Var one = b.full(places, 1), value = key_of(b, in[1]);
  Var low = b.full(places, 0), high = b.full(places, static_cast<double>(size));
  for (std::uint64_t left = size; left > 0; left >>= 1) {
    const Var middle = b.op("shift_right_logical", {b.op("add", {low, high}), one});
    // Where nothing is left it stays: there may be no element.
    const Var open = b.compare("LT", low, high);
    const Var element = key_of(b, taken(b, in[0], middle));
    const Var is_less = b.compare(right ? "LE" : "LT", element, value);
    const Var go_on = b.op("and", {open, is_less});
    high = b.select(go_on, high, b.select(open, middle, high));
    low = b.select(go_on, b.op("add", {middle, one}), low);
  }
  return {low};
}

}  // namespace

void add_sort_operations(ArrayLibrary& library) {
  library.add({"numpy.sort", sort});
  library.add({"numpy.argsort", argsort});
  library.add({"numpy.searchsorted", search});
}

}  // namespace heddle
