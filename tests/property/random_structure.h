// Random programs: ops that move, gather and combine elements.
#pragma once

#include "random_elementwise.h"

namespace heddle::property {

class RandomStructure : public RandomElementwise {
 protected:
  using RandomElementwise::RandomElementwise;
  using Dims = Builder::Dims;

  Held moved(const Held& x, Var to) const { return {to, x.bound, x.error}; }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::int64_t any_dim(const Held& x) {
    return d_.below(static_cast<std::int64_t>(x.shape().size()));
  }
  Held any_with_dims(std::size_t least = 1) {
    return any_of([&](const Held& h) { return h.shape().size() >= least; }, DType::f32);
  }
  static bool has_dims(const Held& x, std::size_t least = 1) { return x.shape().size() >= least; }

  // ---- the same elements at other places
  void add_broadcast() {
    const Held x = any();
    if (x.shape().size() > 3) return;
    Shape shape = x.shape();
    Dims dims;
    const std::int64_t place = d_.between(0, static_cast<std::int64_t>(shape.size()));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i)
      dims.push_back(i < place ? i : i + 1);
    shape.insert(shape.begin() + place, std::max<std::int64_t>(any_size(), 1));
    // A dimension of one may be stretched too.
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (x.shape()[i] == 1 && d_.one_in(3)) shape[at(dims[i])] = 3;
    if (Type::tensor(DType::i1, shape).elements() > most_elements_) return;
    keep_if_tame(moved(x, b_.broadcast(x.var, shape, dims)));
  }

  void add_reshape() {
    const Held x = any();
    Shape shape = x.shape();
    if (shape.size() >= 2 && d_.one_in(2)) {
      const std::int64_t i = d_.below(static_cast<std::int64_t>(shape.size()) - 1);
      shape[at(i)] *= shape[at(i) + 1];
      shape.erase(shape.begin() + i + 1);
    } else {
      for (std::size_t i = 0; i < shape.size(); ++i)
        for (std::int64_t factor : {2, 3, 7})
          if (shape[i] > factor && shape[i] % factor == 0 && shape.size() < 4) {
            shape[i] /= factor;
            shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(i), factor);
          }
      if (shape == x.shape() && shape.size() < 4) shape.push_back(1);
    }
    keep_if_tame(moved(x, b_.reshape(x.var, shape)));
  }

  void add_transpose() {
    const Held x = any_with_dims(2);
    if (!has_dims(x, 2)) return;
    Dims order;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.shape().size()); ++i)
      order.push_back(i);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[at(d_.below(static_cast<std::int64_t>(i)))]);
    if (std::ranges::is_sorted(order)) std::ranges::reverse(order);
    keep_if_tame(moved(x, b_.transpose(x.var, order)));
  }

  void add_slice() {
    const Held x = any_with_dims();
    Dims start, limit, strides;
    for (std::int64_t size : x.shape()) {
      start.push_back(d_.below(std::max<std::int64_t>(size, 1)));
      limit.push_back(d_.between(std::min(start.back(), size), size));
      if (limit.back() == start.back() && !d_.one_in(5)) limit.back() = size;
      start.back() = std::min(start.back(), limit.back());
      strides.push_back(d_.pick<std::int64_t>({1, 1, 2, 3}));
    }
    keep_if_tame(moved(x, b_.slice(x.var, start, limit, strides)));
  }

  void add_pad() {
    const Held x = any_with_dims();
    if (is_complex(x.dtype())) return;
    Dims low, high, interior;
    Shape shape;
    for (std::int64_t size : x.shape()) {
      interior.push_back(d_.one_in(4) ? d_.between(1, 2) : 0);
      const std::int64_t stretched = size + std::max<std::int64_t>(size - 1, 0) * interior.back();
      low.push_back(d_.pick<std::int64_t>({0, 1, 2, -1}));
      high.push_back(d_.pick<std::int64_t>({0, 1, 3, -1, -2}));
      if (stretched + low.back() + high.back() < 0) low.back() = high.back() = 0;
      shape.push_back(stretched + low.back() + high.back());
    }
    if (Type::tensor(DType::i1, shape).elements() > most_elements_) return;
    const Held with = fresh(Type::tensor(x.dtype(), {}));
    keep_if_tame({b_.op("pad", {x.var, with.var}, Type::tensor(x.dtype(), shape),
                        {{"edge_padding_low", {low}},
                         {"edge_padding_high", {high}},
                         {"interior_padding", {interior}}}),
                  std::max(x.bound, with.bound), x.error});
  }

  void add_concatenate() {
    const Held x = any_with_dims();
    if (!has_dims(x)) return;
    const std::int64_t dim = any_dim(x);
    Vars parts = {x.var};
    Held all = x;
    for (std::int64_t n = d_.between(1, 2); n > 0; --n) {
      Shape shape = x.shape();
      shape[at(dim)] = d_.between(0, 4);
      const Held y = cast(fitted(any(), shape), x.dtype());
      parts.push_back(y.var);
      all.bound = std::max(all.bound, y.bound);
      all.error = std::max(all.error, y.error);
    }
    if (d_.one_in(3)) std::ranges::reverse(parts);
    keep_if_tame(moved(all, b_.concatenate(parts, dim)));
  }

  void add_reverse() {
    const Held x = any_with_dims();
    if (!has_dims(x)) return;
    Dims dims;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.shape().size()); ++i)
      if (d_.one_in(2)) dims.push_back(i);
    keep_if_tame(moved(x, b_.op("reverse", {x.var}, x.type(), {{"dimensions", {dims}}})));
  }

  // ---- places that data decide
  Held any_indices(const Shape& shape) {
    const DType type = d_.pick({DType::i32, DType::i64, DType::ui8, DType::i8});
    const Held x =
        any_of([](const Held& h) { return h.exact() && is_integer(h.dtype()); }, DType::i32);
    return cast(fitted(x, shape), type);
  }

  // Rows of a table: the leading dimension is looked up.
  void add_gather() {
    const Held x = any_with_dims();
    if (!has_dims(x) || x.shape()[0] == 0) return;
    const Held where = any_indices({d_.between(1, 5)});
    Dims sizes = x.shape(), window;
    sizes[0] = 1;
    Shape shape = {where.shape()[0]};
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      shape.push_back(sizes[i]);
      window.push_back(static_cast<std::int64_t>(i));
    }
    if (Type::tensor(DType::i1, shape).elements() > most_elements_) return;
    const Attr numbers{Attr::Struct{"gather",
                                    {{"offset_dims", {window}},
                                     {"collapsed_slice_dims", {Dims{0}}},
                                     {"operand_batching_dims", {Dims{}}},
                                     {"start_indices_batching_dims", {Dims{}}},
                                     {"start_index_map", {Dims{0}}},
                                     {"index_vector_dim", {Attr::Integer{1}}}}}};
    keep_if_tame(moved(x, b_.op("gather", {x.var, where.var}, Type::tensor(x.dtype(), shape),
                                {{"dimension_numbers", numbers}, {"slice_sizes", {sizes}}})));
  }

  void add_scatter() {
    const Held x = any_with_dims();
    if (!has_dims(x) || is_complex(x.dtype()) ||
        !(is_real(x.dtype()) || is_integer(x.dtype()) || x.dtype() == DType::i1))
      return;
    const std::int64_t count = d_.between(0, 6);
    Shape shape = x.shape();
    shape[0] = count;
    if (Type::tensor(DType::i1, shape).elements() > most_elements_) return;
    const Held where = any_indices({count}), updates = cast(fitted(any(), shape), x.dtype());
    Dims window;
    for (std::size_t i = 1; i < shape.size(); ++i) window.push_back(static_cast<std::int64_t>(i));
    const Attr numbers{Attr::Struct{"scatter",
                                    {{"update_window_dims", {window}},
                                     {"inserted_window_dims", {Dims{0}}},
                                     {"input_batching_dims", {Dims{}}},
                                     {"scatter_indices_batching_dims", {Dims{}}},
                                     {"scatter_dims_to_operand_dims", {Dims{0}}},
                                     {"index_vector_dim", {Attr::Integer{1}}}}}};
    const Type scalar = Type::tensor(x.dtype(), {});
    const std::int64_t kind = d_.below(4);
    const RegionId combine = b_.region({scalar, scalar}, [&](const Vars& in) -> Vars {
      if (kind == 0) return {in[0] + in[1]};
      if (kind == 1) return {b_.op("maximum", {in[0], in[1]})};
      if (kind == 2) return {b_.op("minimum", {in[0], in[1]})};
      return {in[1]};
    });
    Held out{b_.ops("scatter", {x.var, where.var, updates.var}, {x.type()},
                    {{"scatter_dimension_numbers", numbers}}, {combine})[0],
             std::max(x.bound, updates.bound), std::max(x.error, updates.error)};
    const auto n = static_cast<double>(count);
    if (kind == 0) {
      out.bound = x.bound + n * updates.bound;
      out.error = x.error + n * updates.error;
      if (is_real(x.dtype()) && count > 1) out.error += n * epsilon(x.dtype()) * out.bound;
      if (is_real(x.dtype())) out.error += rounding(out, out.bound);
    }
    if (is_integer(x.dtype())) out.bound = most(x.dtype());
    keep_if_tame(out);
  }

  Vars any_starts(std::size_t rank) {
    const DType type = d_.pick({DType::i32, DType::i64});
    Vars starts;
    for (std::size_t i = 0; i < rank; ++i) {
      const Held x = any_of(
          [](const Held& h) { return h.exact() && is_integer(h.dtype()) && h.shape().empty(); },
          DType::i32);
      starts.push_back(x.shape().empty() ? cast(x, type).var
                                         : b_.full(Type::tensor(type, {}),
                                                   static_cast<double>(d_.between(-1, 4))));
    }
    return starts;
  }
  void add_dynamic_slice() {
    const Held x = any_with_dims();
    if (!has_dims(x)) return;
    Dims sizes;
    for (std::int64_t size : x.shape()) sizes.push_back(d_.between(size > 0 ? 1 : 0, size));
    Vars operands = {x.var};
    for (Var start : any_starts(sizes.size())) operands.push_back(start);
    keep_if_tame(moved(x, b_.op("dynamic_slice", operands, Type::tensor(x.dtype(), sizes),
                                {{"slice_sizes", {sizes}}})));
  }
  void add_dynamic_update() {
    const Held x = any_with_dims();
    if (!has_dims(x)) return;
    Shape part;
    for (std::int64_t size : x.shape()) part.push_back(d_.between(size > 0 ? 1 : 0, size));
    const Held y = cast(fitted(any(), part), x.dtype());
    Vars operands = {x.var, y.var};
    for (Var start : any_starts(part.size())) operands.push_back(start);
    keep_if_tame({b_.op("dynamic_update_slice", operands, x.type()), std::max(x.bound, y.bound),
                  std::max(x.error, y.error)});
  }
};

}  // namespace heddle::property
