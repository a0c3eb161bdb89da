// Random programs: ops along lines, which are sorts, scans and windows.
#pragma once

#include "random_stencil.h"

namespace heddle::property {

class RandomLines : public RandomStencil {
 protected:
  using RandomStencil::RandomStencil;

  void add_line_op() {
    switch (d_.below(6)) {
      case 0:
        return add_sort();
      case 4:
        return add_first();
      case 1:
        return add_convolution();
      case 2:
        return add_window_scatter();
      case 3:
        return add_scan(true);
      default:
        return add_window();
    }
  }

  // The first elements of lines in order, as top_k takes them.
  void add_first() {
    const Held x = any_with_dims();
    if (!has_dims(x) || !(is_real(x.dtype()) || is_integer(x.dtype()))) return;
    const std::int64_t dim = any_dim(x), size = x.shape()[at(dim)];
    if (size < 2) return;
    const Type scalar = Type::tensor(x.dtype(), {});
    const std::string_view word = d_.one_in(2) ? "GT" : "LT";
    const RegionId order = b_.region(
        {scalar, scalar}, [&](const Vars& in) -> Vars { return {b_.compare(word, in[0], in[1])}; });
    const Var sorted =
        b_.ops("sort", {x.var}, {x.type()},
               {{"dimension", {Attr::Integer{dim}}}, {"is_stable", {true}}}, {order})[0];
    keep_if_tame(moved(x, cut(sorted, dim, 0, d_.between(1, std::max<std::int64_t>(size / 4, 1)))));
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
  // Numbers of which many are equal, and in floats some that are no numbers.
  Held key_like(const Held& x) {
    if (is_integer(x.dtype())) return {b_.op("and", {x.var, b_.full_like(x.var, 3)}), 3, 0};
    const Var few = b_.op("floor", {x.var * 0.5});
    Array nan(Type::tensor(x.dtype(), {}));
    dispatch(x.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (FloatScalar<T>)
        nan = make_array<T>(nan.type(), {convert_scalar<T>(std::nan(""))});
      return 0;
    });
    const Var none = b_.broadcast(b_.constant(nan), x.shape(), {});
    return {b_.select(b_.compare("EQ", few, b_.full_like(few, 1)), none, few), x.bound + 1, 0};
  }
  Held without_nan(const Held& x) {
    const Var same = b_.compare("EQ", x.var, x.var);
    return moved(x, b_.select(same, x.var, b_.full_like(x.var, 0)));
  }

  // Which element comes first, by the one or two first operands.
  RegionId comparator(const std::vector<Type>& types, bool two_keys) {
    const std::string_view word = d_.one_in(2) ? "GT" : "LT";
    auto order = [&](Var a) { return is_float(a.type().dtype) ? "TOTALORDER" : ""; };
    return b_.region(types, [&](const Vars& in) -> Vars {
      const Var first = b_.compare(word, in[0], in[1], order(in[0]));
      if (!two_keys) return {first};
      const Var second = b_.compare("LT", in[2], in[3], order(in[2]));
      const Var equal = b_.op("not", {b_.compare(word, in[1], in[0], order(in[0]))});
      return {b_.op("or", {first, b_.op("and", {equal, second})})};
    });
  }

  // A value by itself may be known roughly only.
  void sort_alone(const Held& x, std::int64_t dim) {
    const Type scalar = Type::tensor(x.dtype(), {});
    const std::string_view word = d_.one_in(2) ? "GT" : "LT";
    const RegionId order = b_.region(
        {scalar, scalar}, [&](const Vars& in) -> Vars { return {b_.compare(word, in[0], in[1])}; });
    const AttrDict attrs = {{"dimension", {Attr::Integer{dim}}}, {"is_stable", {d_.one_in(2)}}};
    keep_if_tame(moved(x, b_.ops("sort", {x.var}, {x.type()}, attrs, {order})[0]));
  }

  // What goes along shows where equal elements went, so that the order must be sure.
  void add_sort() {
    const Held x = any_with_dims();
    if (!has_dims(x) || !(is_real(x.dtype()) || is_integer(x.dtype()))) return;
    const std::int64_t dim = any_dim(x);
    if (!x.exact() || d_.one_in(3)) return sort_alone(x, dim);
    std::vector<Held> all{d_.one_in(2) ? key_like(x) : x};
    if (d_.one_in(2)) all.push_back(fitted(any(), x.shape()));
    all.push_back({b_.iota(Type::tensor(DType::i32, x.shape()), dim), most(DType::i32), 0});
    const bool two_keys =
        all[1].exact() && is_number(all[1].dtype()) && !is_complex(all[1].dtype()) && d_.one_in(2);
    Vars operands;
    std::vector<Type> results, scalars;
    for (const Held& h : all) {
      operands.push_back(h.var);
      results.push_back(h.type());
      for (int side = 0; side < 2; ++side) scalars.push_back(Type::tensor(h.dtype(), {}));
    }
    const RegionId order = comparator(scalars, two_keys);
    const AttrDict attrs = {{"dimension", {Attr::Integer{dim}}}, {"is_stable", {true}}};
    const Vars sorted = b_.ops("sort", operands, results, attrs, {order});
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Held out = moved(all[i], sorted[i]);
      keep_if_tame(i == 0 && is_real(x.dtype()) ? without_nan(out) : out);
    }
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
    // Begins with 0 or 1, which others than sums take as one more element; elements outside too.
    const std::int64_t start = d_.one_in(4) && x.dtype() != DType::i1 ? 1 : 0;
    Held with = x;
    with.bound = std::max(x.bound, static_cast<double>(start));
    keep_if_tame(combined(with, slide(x, combiner, dim, window, stride, low, 0, start), combiner,
                          window + 1));
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

  // What the backward pass of pooling does: every window gives to the element that it selects.
  void add_window_scatter() {
    const Held x = any_with_dims();
    if (!has_dims(x) || !x.exact() || !(is_real(x.dtype()) || is_integer(x.dtype()))) return;
    const std::size_t rank = x.shape().size();
    Dims window(rank, 1), strides(rank, 1), padding(2 * rank, 0);
    Shape places = x.shape();
    for (std::size_t d = 0; d < rank; ++d) {
      if (x.shape()[d] == 0) return;
      if (d_.one_in(2)) continue;
      window[d] = d_.between(1, 3);
      strides[d] = d_.between(1, 3);
      padding[2 * d] = d_.below(window[d]);
      padding[2 * d + 1] = d_.below(window[d]);
      const std::int64_t room = x.shape()[d] + padding[2 * d] + padding[2 * d + 1] - window[d];
      if (room < 0) return;
      places[d] = room / strides[d] + 1;
    }
    const Held source = cast(fitted(any(), places), x.dtype());
    const Type scalar = Type::tensor(x.dtype(), {});
    const std::string_view word = d_.pick<std::string_view>({"GE", "LE", "GT"});
    const RegionId select = b_.region(
        {scalar, scalar}, [&](const Vars& in) -> Vars { return {b_.compare(word, in[0], in[1])}; });
    const bool sums = d_.one_in(2);
    const RegionId combine = b_.region({scalar, scalar}, [&](const Vars& in) -> Vars {
      return {b_.op(sums ? "add" : "maximum", {in[0], in[1]})};
    });
    const Array pairs =
        make_array<std::int64_t>(Shape{static_cast<std::int64_t>(rank), 2}, padding);
    const Var out = b_.ops(
        "select_and_scatter", {x.var, source.var, b_.full(scalar, 1)}, {x.type()},
        {{"window_dimensions", {window}}, {"window_strides", {strides}}, {"padding", {pairs}}},
        {select, combine})[0];
    Held from = source;
    from.bound = std::max(source.bound, 1.0);
    std::int64_t reached_by = 2;  // windows that may select one element
    for (std::int64_t w : window) reached_by *= w;
    keep_if_tame(combined(from, out, sums ? "add" : "maximum", reached_by));
  }

  // Batch, one or two places, features. Windows may be almost as long as what they slide over, as
  // they are in the gradients of kernels.
  void add_convolution() {
    const auto spatial = static_cast<std::size_t>(d_.between(1, 2));
    Shape lhs{d_.between(1, 2)}, rhs, out{lhs[0]};
    Dims strides, base, inner, padding, places;
    for (std::size_t s = 0; s < spatial; ++s) {
      const std::int64_t size = d_.between(3, s == 0 ? 12 : 4);
      const std::int64_t window = d_.one_in(3) ? d_.between(1, size) : d_.between(1, 3);
      lhs.push_back(size);
      rhs.push_back(window);
      strides.push_back(d_.pick<std::int64_t>({1, 1, 2, 3}));
      base.push_back(d_.one_in(4) ? 2 : 1);
      inner.push_back(d_.one_in(4) ? 2 : 1);
      for (int end = 0; end < 2; ++end) padding.push_back(d_.pick<std::int64_t>({0, 1, 2, -1}));
      const std::int64_t room = (size - 1) * base[s] + 1 + padding[2 * s] + padding[2 * s + 1];
      const std::int64_t reach = (window - 1) * inner[s] + 1;
      if (room < reach) return;
      out.push_back((room - reach) / strides[s] + 1);
      places.push_back(static_cast<std::int64_t>(s) + 1);
    }
    const std::int64_t features = d_.between(1, 3);
    lhs.push_back(features);
    rhs.insert(rhs.end(), {features, d_.between(1, 3)});
    out.push_back(rhs.back());
    if (Type::tensor(DType::i1, lhs).elements() > most_elements_) return;
    const Held x =
        fitted(any_of([](const Held& h) { return is_real(h.dtype()); }, DType::f32), lhs);
    if (!is_real(x.dtype())) return;
    const Held y = cast(fitted(any(), rhs), x.dtype());
    Dims windows = places;
    for (std::int64_t& w : windows) --w;
    const auto last = static_cast<std::int64_t>(spatial);
    const Attr numbers{Attr::Struct{"conv",
                                    {{"input_batch_dimension", {Attr::Integer{0}}},
                                     {"input_feature_dimension", {Attr::Integer{last + 1}}},
                                     {"input_spatial_dimensions", {places}},
                                     {"kernel_input_feature_dimension", {Attr::Integer{last}}},
                                     {"kernel_output_feature_dimension", {Attr::Integer{last + 1}}},
                                     {"kernel_spatial_dimensions", {windows}},
                                     {"output_batch_dimension", {Attr::Integer{0}}},
                                     {"output_feature_dimension", {Attr::Integer{last + 1}}},
                                     {"output_spatial_dimensions", {places}}}}};
    const Array pairs =
        make_array<std::int64_t>(Shape{static_cast<std::int64_t>(spatial), 2}, padding);
    const Var made = b_.op("convolution", {x.var, y.var}, Type::tensor(x.dtype(), out),
                           {{"window_strides", {strides}},
                            {"padding", {pairs}},
                            {"lhs_dilation", {base}},
                            {"rhs_dilation", {inner}},
                            {"dimension_numbers", numbers},
                            {"feature_group_count", {Attr::Integer{1}}},
                            {"batch_group_count", {Attr::Integer{1}}}});
    auto n = static_cast<double>(features);
    for (std::size_t s = 0; s < spatial; ++s) n *= static_cast<double>(rhs[s]);
    const double bound = n * x.bound * y.bound;
    keep_if_tame({made, bound,
                  n * (x.error * y.bound + y.error * x.bound + x.error * y.error) +
                      (n + 2) * epsilon(x.dtype()) * bound});
  }
};

}  // namespace heddle::property
