// Reductions, running sums and products of matrices, with NumPy's rules for shapes.
#include <algorithm>
#include <numeric>

#include "heddle/array_ops.h"

namespace heddle {

namespace {

using Dims = Builder::Dims;

Shape with_ones(Shape shape, const Dims& dims) {
  for (std::int64_t d : dims) shape[static_cast<std::size_t>(d)] = 1;
  return shape;
}

std::string_view combiner(std::string_view name, DType dtype) {
  const bool truth = dtype == DType::i1;
  if (name == "sum" || name == "any") return truth ? "or" : "add";
  if (name == "prod" || name == "all") return truth ? "and" : "multiply";
  if (name == "max") return truth ? "or" : "maximum";
  return truth ? "and" : "minimum";
}

bool is_nan_type(DType t) { return is_float(t); }

// A float that does not fit becomes what the processor makes of it for NumPy: the least number of
// 32 or 64 bits, of which smaller types take the lowest ones.
Var to_integer(Builder& b, Var x, DType to) {
  if (byte_size(x.type().dtype) < 4) x = b.convert(x, DType::f32);
  const DType wide = byte_size(to) < 4 || to == DType::i32 ? DType::i32 : DType::i64;
  const double limit = wide == DType::i32 ? 0x1p31 : 0x1p63;
  const Var whole = b.convert(x, wide);  // of what is too small: the least one
  const Var fits = b.compare("LT", x, b.full_like(x, limit));
  const Var result = b.convert(b.select(fits, whole, b.full_like(whole, -limit)), to);
  if (to != DType::ui64) return result;
  const Var large = b.convert(x, to);
  const Var over = b.compare("GE", x, b.full_like(x, 0x1p64));
  return b.select(b.compare("GE", x, b.full_like(x, limit)),
                  b.select(over, b.full_like(large, 0), large), result);
}

}  // namespace

Var cast(Builder& b, Var x, DType to) {
  const DType from = x.type().dtype;
  if (from == to) return x;
  if (to == DType::i1) return b.compare("NE", x, b.full_like(x, 0));
  if (is_complex(from) && !is_complex(to)) x = b.op("real", {x});
  if (is_integer(to) && is_float(x.type().dtype)) return to_integer(b, x, to);
  return b.convert(x, to);
}

Var spread(Builder& b, Var x, const Shape& shape) {
  const Shape from = x.type().shape;
  if (from == shape) return x;
  // Dimensions of one element that are to be repeated are dropped, and come anew.
  const std::size_t added = shape.size() - from.size();
  Shape kept;
  Dims dims;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (from[d] == 1) continue;
    kept.push_back(from[d]);
    dims.push_back(static_cast<std::int64_t>(added + d));
  }
  if (kept != from) x = b.reshape(x, kept);
  return b.broadcast(x, shape, std::move(dims));
}

Var reduce_call(Builder& b, std::string_view name, Var x, const Dims& dims, bool keep) {
  const Type type = x.type();
  if (dims.empty()) return x;
  const auto reduced = [&](Var part) {
    return b.reduce(part, dims, combiner(name, part.type().dtype));
  };
  // A sum of complex numbers is two; no kernel has the other.
  const bool is_by_parts = is_complex(type.dtype) && name == "sum";
  const Var result = is_by_parts
                         ? b.op("complex", {reduced(b.op("real", {x})), reduced(b.op("imag", {x}))})
                         : reduced(x);
  return keep ? b.reshape(result, with_ones(type.shape, dims)) : result;
}

// The least place among those that hold the greatest.
Var arg_extremum(Builder& b, bool greatest, Var x, std::int64_t dim, bool keep) {
  const Type type = x.type();
  const Var best = spread(b, reduce_call(b, greatest ? "max" : "min", x, {dim}, true), type.shape);
  Var is_best = b.compare("EQ", x, best);
  if (is_nan_type(type.dtype)) is_best = b.op("or", {is_best, b.compare("NE", x, x)});
  const Type places = Type::tensor(DType::i64, type.shape);
  const Var last = b.full(places, static_cast<double>(type.shape[static_cast<std::size_t>(dim)]));
  const Var place = b.select(is_best, b.iota(places, dim), last);
  return reduce_call(b, "min", place, {dim}, keep);
}

Var running(Builder& b, std::string_view name, Var x, std::int64_t dim) {
  const Type type = x.type();
  const std::size_t rank = type.rank();
  const std::int64_t size = type.shape[static_cast<std::size_t>(dim)];
  Dims window(rank, 1), padding(2 * rank, 0);
  window[static_cast<std::size_t>(dim)] = size;
  padding[2 * static_cast<std::size_t>(dim)] = size - 1;
  const Type scalar = Type::tensor(type.dtype, {});
  const bool sums = name == "cumsum";
  const RegionId body = b.region({scalar, scalar}, [&](const Vars& in) -> Vars {
    return {b.op(sums ? "add" : "multiply", {in[0], in[1]})};
  });
  const Array pads(Type::tensor(DType::i64, {static_cast<std::int64_t>(rank), 2}),
                   std::as_bytes(std::span(padding)));
  const Vars results = b.inferred("reduce_window", {x, b.full(scalar, sums ? 0 : 1)},
                                  {{"window_dimensions", {window}}, {"padding", {pads}}}, {body});
  return results.empty() ? Var() : results[0];
}

Var matmul_call(Builder& b, Var x, Var y) {
  const bool x_is_row = x.type().rank() == 1, y_is_column = y.type().rank() == 1;
  if (x_is_row) x = b.reshape(x, {1, x.type().shape[0]});
  if (y_is_column) y = b.reshape(y, {y.type().shape[0], 1});
  const Shape xs = x.type().shape, ys = y.type().shape;
  // Leading dimensions of both, as far as they go; one side of a plain matrix stays as it is.
  const std::size_t lead = std::max(xs.size(), ys.size()) - 2;
  Shape batch(lead, 1);
  for (const Shape* of : {&xs, &ys})
    for (std::size_t d = 0; d + 2 < of->size(); ++d) {
      std::int64_t& size = batch[lead - (of->size() - 2) + d];
      size = std::max(size, (*of)[d]);
    }
  const auto batched = [&](Var v) {
    Shape full = batch;
    const Shape own = v.type().shape;
    full.insert(full.end(), own.end() - 2, own.end());
    return spread(b, v, full);
  };
  Var product;
  if (ys.size() == 2) {
    product = b.dot(x, y);
  } else {
    x = batched(x);
    y = batched(y);
    Dims leading(lead);
    std::iota(leading.begin(), leading.end(), 0);
    const auto last = static_cast<std::int64_t>(lead);
    product = b.dot(x, y, {leading, leading, {last + 1}, {last}});
  }
  Shape shape = product.type().shape;
  if (y_is_column) shape.pop_back();
  if (x_is_row) shape.erase(shape.end() - (y_is_column ? 1 : 2));
  return shape == product.type().shape ? product : b.reshape(product, shape);
}

}  // namespace heddle
