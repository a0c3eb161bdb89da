// Random programs: neighbours of an element, round the ends and beyond.
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
};

}  // namespace heddle::property
