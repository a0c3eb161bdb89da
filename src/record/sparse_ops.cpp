// Products of sparse matrices with dense vectors and matrices, as ops that fuse: no scatter, every
// row is a sum of its own.
#include <algorithm>

#include "heddle/array_library.h"
#include "heddle/error.h"

namespace heddle {

namespace {

using Dims = Builder::Dims;

const Attr::Integers& integers(const AttrDict& parameters, std::string_view name) {
  const Attr* attr = find_attr(parameters, name);
  const auto* numbers = attr == nullptr ? nullptr : attr->get<Attr::Integers>();
  if (numbers == nullptr)
    throw Error("the operation needs the parameter " + std::string(name) + ", whole numbers");
  return *numbers;
}

// Along the first dimension of x, and over all others.
Var along_first(Builder& b, Var values, const Shape& shape) {
  return values.type().shape == shape ? values : b.broadcast(values, shape, {0});
}

Var zeros_like(Builder& b, Var x) { return b.full_like(x, 0); }

// How a band is given: by its values, all of which count; by values of which 0 is none; by one
// number; by a number and where it is.
enum BandKind : std::int64_t { kValues, kValuesWithHoles, kNumber, kNumberWhere };

// A band's part of the sum; takes what it is given by from `in`.
Var band_product(Builder& b, std::span<const Var>& in, std::int64_t kind, Var seen) {
  const Shape shape = seen.type().shape;
  const Var given = in[0];
  in = in.subspan(1);
  const bool is_number = kind == kNumber || kind == kNumberWhere;
  const Var values = is_number ? b.broadcast(given, shape) : along_first(b, given, shape);
  const Var product = b.op("multiply", {values, seen});
  if (kind == kValues || kind == kNumber) return product;
  const Var where = is_number ? in[0] : b.compare("NE", given, zeros_like(b, given));
  if (is_number) in = in.subspan(1);
  return b.select(along_first(b, where, shape), product, zeros_like(b, product));
}

Vars banded_product(Builder& b, std::span<const Var> in, const AttrDict& parameters) {
  const Attr::Integers& offsets = integers(parameters, "offsets");
  const Attr::Integers& kinds = integers(parameters, "kinds");
  const std::int64_t rows = integers(parameters, "rows").at(0);
  std::size_t operands = 1;
  for (std::int64_t kind : kinds) operands += kind == kNumberWhere ? 2 : 1;
  if (offsets.empty() || offsets.size() != kinds.size() || in.size() != operands ||
      in[0].type().rank() < 1)
    throw Error("a banded product takes a dense operand, and what its " +
                std::to_string(offsets.size()) + " bands are given by");
  const Type dense = in[0].type();
  const std::int64_t columns = dense.shape[0];
  const auto [least, most] = std::ranges::minmax(offsets);
  // Zeros before and behind, so that every band sees as many elements as there are rows.
  const std::int64_t before = std::max<std::int64_t>(0, -least);
  const std::int64_t behind = std::max<std::int64_t>(0, rows + most - columns);
  Dims low(dense.rank(), 0), high(dense.rank(), 0), between(dense.rank(), 0);
  low[0] = before;
  high[0] = behind;
  const Var nothing = b.full(Type::tensor(dense.dtype, {}), 0);
  const Var x = b.op("pad", {in[0], nothing},
                     {{"edge_padding_low", {low}},
                      {"edge_padding_high", {high}},
                      {"interior_padding", {between}}});
  Shape shape = dense.shape;
  shape[0] = rows;
  in = in.subspan(1);
  Var sum;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    Dims start(dense.rank(), 0), limit(shape.begin(), shape.end());
    start[0] = before + offsets[k];
    limit[0] = start[0] + rows;
    const Var product = band_product(b, in, kinds[k], b.slice(x, start, limit));
    sum = k == 0 ? product : b.op("add", {sum, product});
  }
  return {sum};
}

// x[columns], with all further dimensions of x behind.
Var gathered(Builder& b, Var x, Var columns) {
  const Shape from = x.type().shape;
  const auto places = static_cast<std::int64_t>(columns.type().rank());
  Shape sizes = from;
  sizes[0] = 1;
  Dims offsets;
  for (std::size_t d = 1; d < from.size(); ++d)
    offsets.push_back(places + static_cast<std::int64_t>(d) - 1);
  Attr::Struct numbers{"gather",
                       {{"offset_dims", {offsets}},
                        {"collapsed_slice_dims", {Dims{0}}},
                        {"start_index_map", {Dims{0}}},
                        {"index_vector_dim", {Attr::Integer{places}}}}};
  return b.op("gather", {x, columns},
              {{"dimension_numbers", {std::move(numbers)}}, {"slice_sizes", {sizes}}});
}

Vars row_product(Builder& b, std::span<const Var> in, const AttrDict& parameters) {
  const bool placed = integers(parameters, "placed")[0] != 0;
  const std::size_t first = placed ? 2 : 1;
  if (in.size() < first + 2 || (in.size() - first) % 2 != 0 || in[0].type().rank() < 1)
    throw Error("a product by rows takes a dense operand, and columns and values of groups");
  const Var x = in[0];
  Vars sums;
  for (std::size_t i = first; i < in.size(); i += 2) {
    const Var columns = in[i], values = in[i + 1];
    if (columns.type().rank() != 2 || columns.type().shape != values.type().shape)
      throw Error("columns and values of a group of rows are two matrices of one shape, not " +
                  columns.type().str() + " and " + values.type().str());
    // What is no column reads the first one, and counts for nothing.
    const Var seen = gathered(b, x, columns);
    const Shape shape = seen.type().shape;
    const Var product = b.op("multiply", {b.broadcast(values, shape, {0, 1}), seen});
    const Var is_there = b.compare("GE", columns, zeros_like(b, columns));
    const Var counted =
        b.select(b.broadcast(is_there, shape, {0, 1}), product, zeros_like(b, product));
    sums.push_back(b.reduce(counted, {1}, "add"));
  }
  const Var all = sums.size() == 1 ? sums[0] : b.concatenate(sums, 0);
  return {placed ? gathered(b, all, in[1]) : all};
}

Vars put_row(Builder& b, std::span<const Var> in, const AttrDict&) {
  if (in.size() != 3 || in[0].type().rank() != 2 || in[2].type().rank() != 0)
    throw Error("a row is put into a matrix at a number");
  const Var row = b.reshape(in[1], {1, in[0].type().shape[1]});
  const Var first = b.full(Type::tensor(in[2].type().dtype, {}), 0);
  return {b.op("dynamic_update_slice", {in[0], row, in[2], first})};
}

}  // namespace

void add_sparse_operations(ArrayLibrary& library) {
  library.add({"sparse.banded_product", banded_product});
  library.add({"sparse.row_product", row_product});
  library.add({"sparse.put_row", put_row});
}

}  // namespace heddle
