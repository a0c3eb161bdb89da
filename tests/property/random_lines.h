// Random programs: ops along lines, which are sorts, scans and windows.
#pragma once

#include "random_structure.h"

namespace heddle::property {

class RandomLines : public RandomStructure {
 protected:
  using RandomStructure::RandomStructure;

  void add_line_op() {
    switch (d_.below(3)) {
      case 0:
        return add_sort();
      case 1:
        return add_scan(true);
      default:
        return add_window();
    }
  }

  // What n combinations make of a bound and an error, by a combiner.
  Held combined(const Held& x, Var var, std::string_view combiner, std::int64_t n) const {
    Held out{var, x.bound, x.error};
    if (!is_real(x.dtype())) {
      out.bound = most(x.dtype());
      return out;
    }
    if (combiner != "add") return out;
    const auto count = static_cast<double>(std::max<std::int64_t>(n, 1));
    out.bound = count * x.bound;
    out.error = count * x.error + (n > 2 ? count : 0) * epsilon(x.dtype()) * out.bound +
                rounding(x, out.bound);
    return out;
  }
  std::string_view any_combiner(DType type) {
    if (type == DType::i1) return d_.one_in(2) ? "and" : "or";
    if (is_integer(type))
      return d_.pick<std::string_view>({"add", "maximum", "minimum", "multiply", "and", "or"});
    return d_.pick<std::string_view>({"add", "add", "maximum", "minimum"});
  }
  static bool computes(DType type) {
    return is_real(type) || is_integer(type) || type == DType::i1;
  }

  // ---- order
  void add_sort() {
    const Held x = any_with_dims();
    if (!has_dims(x) || !(is_real(x.dtype()) || is_integer(x.dtype()))) return;
    const std::int64_t dim = any_dim(x);
    const Type scalar = Type::tensor(x.dtype(), {});
    const std::string_view word = d_.one_in(2) ? "GT" : "LT";
    // What goes along shows where equal elements went, so the order must be sure.
    const bool pairs = x.exact() && d_.one_in(2);
    const Type places = Type::tensor(DType::i32, x.shape()), place = Type::tensor(DType::i32, {});
    const std::vector<Type> types =
        pairs ? std::vector{scalar, scalar, place, place} : std::vector{scalar, scalar};
    const RegionId order =
        b_.region(types, [&](const Vars& in) -> Vars { return {b_.compare(word, in[0], in[1])}; });
    const AttrDict attrs = {{"dimension", {Attr::Integer{dim}}}, {"is_stable", {true}}};
    if (!pairs)
      return keep_if_tame(moved(x, b_.ops("sort", {x.var}, {x.type()}, attrs, {order})[0]));
    const Vars sorted =
        b_.ops("sort", {x.var, b_.iota(places, dim)}, {x.type(), places}, attrs, {order});
    keep_if_tame(moved(x, sorted[0]));
    keep_if_tame({sorted[1], most(DType::i32), 0});
  }

  // ---- windows
  // A window along one dimension, one element of the others.
  Var slide(const Held& x, std::string_view combiner, std::size_t dim, std::int64_t window,
            std::int64_t stride, std::int64_t low, std::int64_t high, double start) {
    const std::size_t rank = x.shape().size();
    Dims windows(rank, 1), strides(rank, 1), padding(2 * rank, 0);
    windows[dim] = window;
    strides[dim] = stride;
    padding[2 * dim] = low;
    padding[2 * dim + 1] = high;
    Shape shape = x.shape();
    shape[dim] = (shape[dim] + low + high - window) / stride + 1;
    const Type scalar = Type::tensor(x.dtype(), {});
    const RegionId body = b_.region({scalar, scalar}, [&](const Vars& in) -> Vars {
      return {b_.op(combiner, {in[0], in[1]})};
    });
    const Array pairs =
        make_array<std::int64_t>(Shape{static_cast<std::int64_t>(rank), 2}, padding);
    return b_.ops(
        "reduce_window", {x.var, b_.full(scalar, start)}, {Type::tensor(x.dtype(), shape)},
        {{"window_dimensions", {windows}}, {"window_strides", {strides}}, {"padding", {pairs}}},
        {body})[0];
  }

  void add_window() {
    const Held x = any_with_dims();
    if (!has_dims(x) || !computes(x.dtype())) return;
    const std::string_view combiner = any_combiner(x.dtype());
    if (combiner == "multiply") return;
    const std::size_t dim = at(any_dim(x));
    if (x.shape()[dim] == 0) return;
    const std::int64_t window = std::min<std::int64_t>(d_.between(1, 3), x.shape()[dim]);
    const std::int64_t stride = d_.between(1, 2), low = d_.below(window);
    // Begins with 0, which is only right for sums; others take it as one more element.
    keep_if_tame(
        combined(x, slide(x, combiner, dim, window, stride, low, 0, 0), combiner, window + 1));
  }

  // Everything so far: a cumulative sum. `odd`: now and then it begins with what counts.
  void add_scan(bool odd = false) {
    const Held x = any_with_dims();
    if (!has_dims(x) || !computes(x.dtype())) return;
    const std::string_view combiner = any_combiner(x.dtype());
    const std::size_t dim = at(any_dim(x));
    const std::int64_t n = x.shape()[dim];
    if (n == 0) return;
    double start = combiner == "multiply" ? 1 : 0;
    if (odd && d_.one_in(8)) start += 1;
    const bool backward = d_.one_in(2);
    const Var out =
        slide(x, combiner, dim, n, 1, backward ? 0 : n - 1, backward ? n - 1 : 0, start);
    Held begun = x;
    begun.bound = std::max(x.bound, start);
    keep_if_tame(combined(begun, out, combiner, n + (start == 0 ? 1 : n)));
  }
};

}  // namespace heddle::property
