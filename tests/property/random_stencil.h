// Random programs: neighbours of an element, and windows of several.
#pragma once

#include "random_structure.h"

namespace heddle::property {

class RandomStencil : public RandomStructure {
 protected:
  using RandomStructure::RandomStructure;

  Var cut(Var x, std::int64_t dim, std::int64_t begin, std::int64_t end) {
    Dims start(x.type().rank(), 0), limit = x.type().shape;
    start[at(dim)] = begin;
    limit[at(dim)] = end;
    return b_.slice(x, start, limit);
  }

  // What leaves at one end comes in at the other.
  void add_roll() {
    const Held x = any_with_dims();
    if (!has_dims(x)) return;
    const std::int64_t dim = any_dim(x), size = x.shape()[at(dim)];
    const std::int64_t by = d_.one_in(2) ? std::min<std::int64_t>(1, size) : d_.between(0, size);
    keep_if_tame(
        moved(x, b_.concatenate({cut(x.var, dim, by, size), cut(x.var, dim, 0, by)}, dim)));
  }

  // A value with a border from anywhere in it, whole or cut to its size again.
  void add_border() {
    const Held x = any_with_dims();
    if (!has_dims(x)) return;
    const std::int64_t dim = any_dim(x), size = x.shape()[at(dim)];
    if (size == 0) return;
    const std::int64_t low = d_.between(1, 2), high = d_.between(1, 2);
    auto border = [&](std::int64_t count) {
      const std::int64_t begin = d_.below(size);
      return cut(x.var, dim, begin, std::min(begin + count, size));
    };
    const Var all = b_.concatenate({border(low), x.var, border(high)}, dim);
    if (all.type().elements() > most_elements_) return;
    if (d_.one_in(3)) return keep_if_tame(moved(x, all));
    const std::int64_t room = all.type().shape[at(dim)] - size;
    const std::int64_t first = d_.between(0, room), other = d_.between(0, room);
    const Var a = cut(all, dim, first, first + size), b = cut(all, dim, other, other + size);
    if (is_complex(x.dtype())) return keep_if_tame(moved(x, a));
    keep_if_tame(moved(x, b_.op(x.dtype() == DType::i1 ? "or" : "maximum", {a, b})));
  }

  // x.at[1:-1].set(...) of x's own neighbours, padded or not.
  void add_stencil() {
    const Held x =
        any_of([](const Held& h) { return has_dims(h) && !is_complex(h.dtype()); }, DType::f32);
    if (!has_dims(x) || is_complex(x.dtype())) return;
    const std::int64_t dim = any_dim(x), size = x.shape()[at(dim)];
    if (size < 3) return;
    const std::string_view op = x.dtype() == DType::i1 ? "and" : "minimum";
    const Var inner = b_.op(op, {cut(x.var, dim, 0, size - 2), cut(x.var, dim, 2, size)});
    Vars operands = {x.var, inner};
    for (std::int64_t d = 0; d < std::ssize(x.shape()); ++d)
      operands.push_back(b_.full(Type::tensor(DType::i32, {}), d == dim ? 1 : 0));
    keep_if_tame(moved(x, b_.op("dynamic_update_slice", operands, x.type())));
  }

  // One window of a convolution that fits, and how often.
  struct Places {
    std::int64_t input, kernel, stride, low, high, base, dilation;
    std::int64_t count() const {
      const std::int64_t spread = input == 0 ? 0 : (input - 1) * base + 1;
      return (spread + low + high - ((kernel - 1) * dilation + 1)) / stride + 1;
    }
  };
  Places any_places(std::int64_t input) {
    // Gradients by the kernel have windows that are nearly everything.
    const std::int64_t kernel =
        d_.one_in(3) ? d_.between(std::max<std::int64_t>(input - 2, 1), input) : d_.between(1, 3);
    Places one{input, kernel, 1, 0, 0, 1, 1};
    if (d_.one_in(3)) one.stride = 2;
    if (d_.one_in(4)) one.base = 2;
    if (d_.one_in(4)) one.dilation = 2;
    one.low = d_.between(0, 2);
    const std::int64_t reach = (kernel - 1) * one.dilation + 1;
    const std::int64_t have = (input - 1) * one.base + 1 + one.low;
    one.high = std::max<std::int64_t>(reach - have, 0) + d_.between(0, 1);
    return one;
  }

  void add_convolution() {
    const Held x = any_of([](const Held& h) { return h.shape().size() == 3 && is_real(h.dtype()); },
                          DType::f32);
    if (x.shape().size() != 3 || !is_real(x.dtype()) || x.type().elements() == 0) return;
    const Places places = any_places(x.shape()[1]);
    const std::int64_t outputs = d_.between(1, 3), inputs = x.shape()[2];
    const Type result = Type::tensor(x.dtype(), {x.shape()[0], places.count(), outputs});
    const Shape shape = {places.kernel, inputs, outputs};
    if (result.elements() > most_elements_ ||
        Type::tensor(x.dtype(), shape).elements() > most_elements_)
      return;
    const Held kernel = cast(fitted(any(), shape), x.dtype());
    auto number = [](std::int64_t n) { return Attr{Attr::Integer{n}}; };
    const Attr numbers{Attr::Struct{"conv",
                                    {{"input_batch_dimension", number(0)},
                                     {"input_feature_dimension", number(2)},
                                     {"input_spatial_dimensions", {Dims{1}}},
                                     {"kernel_input_feature_dimension", number(1)},
                                     {"kernel_output_feature_dimension", number(2)},
                                     {"kernel_spatial_dimensions", {Dims{0}}},
                                     {"output_batch_dimension", number(0)},
                                     {"output_feature_dimension", number(2)},
                                     {"output_spatial_dimensions", {Dims{1}}}}}};
    const Var out = b_.op(
        "convolution", {x.var, kernel.var}, result,
        {{"dimension_numbers", numbers},
         {"window_strides", {Dims{places.stride}}},
         {"padding", {make_array<std::int64_t>(Shape{1, 2}, std::vector{places.low, places.high})}},
         {"lhs_dilation", {Dims{places.base}}},
         {"rhs_dilation", {Dims{places.dilation}}},
         {"feature_group_count", number(1)},
         {"batch_group_count", number(1)}});
    const auto n = static_cast<double>(places.kernel * inputs);
    const double bound = n * x.bound * kernel.bound;
    keep_if_tame({out, bound,
                  n * (x.error * kernel.bound + kernel.error * x.bound + x.error * kernel.error) +
                      (n + 1) * epsilon(x.dtype()) * bound});
  }
};

}  // namespace heddle::property
