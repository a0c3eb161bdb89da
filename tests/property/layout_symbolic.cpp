// Laws of unknown sizes: an operation and then the values give the same as the values and then it.
#include <gtest/gtest.h>

#include "heddle/view.h"
#include "symbolic.h"

namespace heddle::property {
namespace {

struct Bound {
  Layout outer, inner, outer_known, inner_known;
  Values values;
};

Bound random_bound(Choices& choices) {
  const int rank = static_cast<int>(choices.below(3));
  Bound b;
  b.outer = random_symbolic(choices, rank, 3);
  LayoutParts inner = random_symbolic_parts(choices, rank, 3);
  for (DimInfo& dim : inner.dims) dim.size = dim.padded;
  if (!choices.one_in(6)) inner.reduce = b.outer.reduce();
  auto made = Layout::make(inner);
  if (!made) leave_out();
  b.inner = *made;
  b.values = random_values(choices);
  const auto outer = bind_sizes(b.outer, b.values);
  const auto known = bind_sizes(b.inner, b.values);
  if (!outer || !known) leave_out();
  b.outer_known = *outer;
  b.inner_known = *known;
  return b;
}

void require_same(const Bound& b, const Expected<Layout>& unknown, const Expected<Layout>& known) {
  if (!unknown) return;
  const auto bound = bind_sizes(*unknown, b.values);
  require(bound.ok() == known.ok() && (!bound || *bound == *known), [&] {
    return show(b.outer) + show(b.inner) + show(unknown) + "\n bound" + show(bound) +
           "\n directly" + show(known);
  });
}

HEDDLE_LAW_REFUSING(Symbolic, TileCommutesWithBinding, 0.35) {
  const Bound b = random_bound(choices);
  const auto whole = tile(b.outer, b.inner);
  require_same(b, whole, tile(b.outer_known, b.inner_known));
  if (!whole) return;
  const auto known = bind_sizes(*whole, b.values);
  if (!known) return;
  require_same(b, untile(*whole, b.inner), untile(*known, b.inner_known));
  require_same(b, untile_outer(*whole, b.outer), untile_outer(*known, b.outer_known));
}

HEDDLE_LAW_REFUSING(Symbolic, SumCommutesWithBinding, 0.35) {
  const Bound b = random_bound(choices);
  const auto whole = direct_sum(b.outer, b.inner);
  require_same(b, whole, direct_sum(b.outer_known, b.inner_known));
  if (!whole) return;
  // Copies that overlap for some values have more than one answer; each must sum up again.
  const auto known = bind_sizes(*whole, b.values);
  const auto outer = unsum(*whole, b.inner);
  const auto bound = outer ? bind_sizes(*outer, b.values) : outer;
  if (!known || !bound) return;
  const auto again = direct_sum(*bound, b.inner_known);
  require(again && *again == *known, [&] { return show(b.outer) + show(b.inner) + show(outer); });
}

HEDDLE_LAW_REFUSING(Symbolic, PermuteCommutesWithBinding, 0.35) {
  const Bound b = random_bound(choices);
  std::vector<std::size_t> order(b.outer.rank());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  choices.shuffle(order);
  require_same(b, permute(b.outer, order), permute(b.outer_known, order));
}

HEDDLE_LAW_REFUSING(Symbolic, GroupCommutesWithBinding, 0.35) {
  const Bound b = random_bound(choices);
  std::vector<Dim> shape = b.outer.padded_shape();
  if (choices.one_in(2) && shape.size() == 2) shape = {shape[0] * shape[1]};
  if (choices.one_in(2)) {  // any other cut
    Dim all = 1;
    for (const Dim& d : shape) all = all * d;
    const Dim part = random_size(choices, 4);
    if (Dim::divides(part, all)) shape = {Dim::quotient(all, part), part};
  }
  const auto groups = group(b.outer, shape);
  if (!groups) return;
  std::vector<Dim> known_shape;
  for (const Dim& d : shape) known_shape.push_back(d.bind(b.values));
  const auto known = group(b.outer_known, known_shape);
  require(known.ok(), [&] { return show(b.outer) + "\n" + known.reason(); });
  auto joined = [&](const std::vector<Digits>& list, bool bind) {
    LayoutParts parts = b.outer_known.parts();
    parts.digits.clear();
    for (const Digits& digits : list)
      for (const Iter& i : digits)
        parts.digits.push_back(bind ? Iter{i.extent.bind(b.values), i.stride.bind(b.values), i.axis}
                                    : i);
    return parts;
  };
  require(same_map(joined(*groups, true), joined(*known, false)), [&] { return show(b.outer); });
}

HEDDLE_LAW_REFUSING(Symbolic, SpanAndAdmitsHoldForEveryValue, 0.35) {
  const Bound b = random_bound(choices);
  for (const AxisId axis : all_axes())
    if (auto s = span(b.outer, axis))
      require(s->bind(b.values) == span(b.outer_known, axis).value(),
              [&] { return show(b.outer); });
  if (admits(b.outer, b.inner.padded_shape()))
    require(admits(b.outer_known, b.inner_known.padded_shape()),
            [&] { return show(b.outer) + show(b.inner); });
}

HEDDLE_LAW_REFUSING(Symbolic, FuseCommutesWithBinding, 0.35) {
  const Bound b = random_bound(choices);
  const World& w = world();
  const std::int64_t size = choices.pick({32, 8, 4});
  require_same(b, fuse_axes(b.outer, w.gpu, w.lane, size, w.thread),
               fuse_axes(b.outer_known, w.gpu, w.lane, size, w.thread));
}

HEDDLE_LAW_REFUSING(Symbolic, PackingCommutesWithBinding, 0.35) {
  const Bound b = random_bound(choices);
  const std::int64_t n = choices.between(2, 4);
  const auto wide = unpack(b.outer, world().mem, n);
  require_same(b, wide, unpack(b.outer_known, world().mem, n));
  const auto known = wide ? bind_sizes(*wide, b.values) : wide;
  if (known) require_same(b, pack(*wide, world().mem, n), pack(*known, world().mem, n));
  require_same(b, pack(b.inner, world().mem, n), pack(b.inner_known, world().mem, n));
}

HEDDLE_LAW_REFUSING(Symbolic, PartsCommuteWithBinding, 0.35) {
  const Bound b = random_bound(choices);
  const AxisRegistry& axes = world().axes;
  require_same(b, mesh_part(b.outer, axes), mesh_part(b.outer_known, axes));
  require_same(b, storage_part(b.outer, axes), storage_part(b.outer_known, axes));
  require_same(b, local_part(b.outer, axes), local_part(b.outer_known, axes));
}

HEDDLE_LAW_REFUSING(Symbolic, ViewsCommuteWithBinding, 0.35) {
  const Bound b = random_bound(choices);
  auto known = [&](std::vector<Dim> shape) {
    for (Dim& d : shape) d = d.bind(b.values);
    return shape;
  };
  std::vector<Dim> shape = b.outer.padded_shape();
  if (shape.size() == 2 && choices.one_in(2)) shape = {shape[0] * shape[1]};
  const Dim part = random_size(choices, 3);
  if (!shape.empty() && Dim::divides(part, shape.back())) {
    shape.back() = Dim::quotient(shape.back(), part);
    shape.push_back(part);
  }
  require_same(b, compose(b.outer, View::reshape(shape)),
               compose(b.outer_known, View::reshape(known(shape))));
  std::vector<Dim> stretched;
  std::vector<std::size_t> dims;
  for (const DimInfo& d : b.outer.dims()) {
    stretched.push_back(random_size(choices, 3));
    dims.push_back(stretched.size());
    stretched.push_back(d.size.is(1) ? random_size(choices, 3) : d.size);
  }
  require_same(b, compose(b.outer, View::broadcast(stretched, dims)),
               compose(b.outer_known, View::broadcast(known(stretched), dims)));
}

// A width that is promised for unknown sizes holds for every value.
HEDDLE_LAW_REFUSING(Symbolic, VectorWidthIsSafeForEveryValue, 0.35) {
  const Bound b = random_bound(choices);
  const std::int64_t width = vector_width(b.outer, world().mem, 16);
  require(width == vector_width(b.outer_known, world().mem, width),
          [&] { return std::to_string(width) + show(b.outer) + show(b.outer_known); });
}

// What people write: packed layouts take apart again with unknown sizes too.
HEDDLE_LAW_REFUSING(Symbolic, TileRoundTrips, 0.35) {
  const Bound b = random_bound(choices);
  const auto whole = tile(b.outer, b.inner);
  if (!whole) return;
  if (auto outer = untile(*whole, b.inner))
    require(tile(*outer, b.inner).value() == *whole,
            [&] { return show(b.outer) + show(b.inner) + show(outer); });
  if (auto inner = untile_outer(*whole, b.outer))
    require(tile(b.outer, *inner).value() == *whole,
            [&] { return show(b.outer) + show(b.inner) + show(inner); });
}

// The arithmetic of sizes against plain numbers.
HEDDLE_LAW(Symbolic, ArithmeticOfSizesHoldsForEveryValue) {
  const Dim a = choices.one_in(4) ? -random_size(choices, 6) : random_size(choices, 6);
  const Dim b = random_size(choices, 12);
  const Values values = random_values(choices);
  const auto value = [&](const Dim& d) { return number(d.bind(values)); };
  const auto say = [&] {
    return print_dim(a, world().axes) + " and " + print_dim(b, world().axes);
  };
  if ((a * b).valid()) require(value(a * b) == value(a) * value(b), say);
  require(value(-a) == -value(a), say);
  if (Dim::divides(a, b)) {
    require(value(b) % value(a) == 0 && value(Dim::quotient(b, a)) == value(b) / value(a), say);
    require(Dim::quotient(b, a) * a == b, say);
  }
  if (auto total = Dim::sum(a, b)) require(value(*total) == value(a) + value(b), say);
  require((a == b) == (a.factor() == b.factor() && a.symbols() == b.symbols()), say);
  if (a == b) require(a.hash() == b.hash(), say);
}

}  // namespace
}  // namespace heddle::property
