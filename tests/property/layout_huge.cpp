// Laws of layouts far too large to enumerate: looked at in places, up to 2^58 elements.
#include <gtest/gtest.h>

#include "generate.h"
#include "heddle/tensor.h"

namespace heddle::property {
namespace {

struct Huge {
  Layout layout;
  Index places;  // of the digits, outermost first
  std::int64_t elements = 1;
};

// One dimension; digits of up to 2^14, packed on mem and gpu in random order.
Huge random_huge(Choices& choices) {
  LayoutParts parts;
  Huge huge;
  for (std::int64_t n = choices.between(1, 4); n > 0; --n) {
    const bool gpu = choices.one_in(3);
    const std::int64_t extent =
        gpu ? choices.between(2, 8) : choices.between(2, 9) * choices.pick({1, 1000, 1024, 1531});
    parts.digits.push_back({extent, 1, gpu ? world().gpu : world().mem});
    huge.elements *= extent;
  }
  std::vector<Iter*> iters;
  for (Iter& i : parts.digits) iters.push_back(&i);
  pack_strides(choices, iters);
  std::int64_t place = huge.elements;
  for (const Iter& i : parts.digits) huge.places.push_back(place /= number(i.extent));
  parts.dims = {{huge.elements, huge.elements, 0, 0, 0}};
  huge.layout = Layout::make(parts).value();
  return huge;
}

// D(u) on one axis in 64 bits.
std::int64_t position_on(const LayoutParts& parts, std::int64_t flat, AxisId axis) {
  std::int64_t at = 0;
  for (const AxisOffset& o : parts.offset)
    if (o.axis == axis) at += number(o.value);
  for (std::size_t i = parts.digits.size(); i-- > 0;) {
    const Iter& digit = parts.digits[i];
    if (digit.axis == axis) at += flat % number(digit.extent) * number(digit.stride);
    flat /= number(digit.extent);
  }
  return at;
}

std::int64_t somewhere(Choices& choices, std::int64_t below) {
  const std::int64_t high = choices.below(1 << 16);
  const std::int64_t low = choices.below(1 << 16);
  const auto wide = static_cast<__int128>(below) * (high * (1 << 16) + low);
  return static_cast<std::int64_t>(wide >> 32);
}

// From a whole step of a digit, as many steps as the digit has left: always a layout.
HEDDLE_LAW(Huge, SlicesOfWholeStepsAreRight) {
  const Huge huge = random_huge(choices);
  const std::int64_t place = choices.pick(huge.places);
  std::int64_t above = huge.elements;  // the next place up
  for (const std::int64_t p : huge.places)
    if (p > place) above = std::min(above, p);
  const std::int64_t start = somewhere(choices, huge.elements / place) * place;
  const std::int64_t steps = 1 + somewhere(choices, (above - start % above) / place);
  const std::int64_t size = steps * place;
  const auto got = slice(huge.layout, Index{start}, Index{size});
  require(got.ok(),
          [&] { return fmt::format("{} from {}", size, start) + show(huge.layout) + show(got); });
  for (int n = 0; n < 20; ++n) {
    const std::int64_t x = n == 0 ? 0 : n == 1 ? size - 1 : somewhere(choices, size);
    for (const AxisId axis : {world().mem, world().gpu})
      require(
          position_on(got->parts(), x, axis) == position_on(huge.layout.parts(), start + x, axis),
          [&] {
            return fmt::format("{} of {} from {}", x, size, start) + show(huge.layout) + show(got);
          });
  }
}

// Any cut: where there is an answer it is right at every place looked at.
HEDDLE_LAW(Huge, SlicesAreRightWhereTheyAre) {
  const Huge huge = random_huge(choices);
  const std::int64_t start = somewhere(choices, huge.elements);
  const std::int64_t size = 1 + somewhere(choices, huge.elements - start);
  const auto got = slice(huge.layout, Index{start}, Index{size});
  if (!got) return;
  for (int n = 0; n < 20; ++n) {
    const std::int64_t x = somewhere(choices, size);
    require(position_on(got->parts(), x, world().mem) ==
                position_on(huge.layout.parts(), start + x, world().mem),
            [&] {
              return fmt::format("{} of {} from {}", x, size, start) + show(huge.layout) +
                     show(got);
            });
  }
}

// Uneven, shifted blocks: all holders together have every valid index once.
HEDDLE_LAW(Huge, FootprintsCountEveryIndexOnce) {
  Huge huge = random_huge(choices);
  LayoutParts parts = huge.layout.parts();
  DimInfo& dim = parts.dims[0];
  dim.origin = choices.one_in(2) ? -somewhere(choices, huge.elements) : 0;
  dim.size = 1 + somewhere(choices, huge.elements + dim.origin);
  const Layout layout = Layout::make(parts).value();
  std::int64_t holders = 1;
  for (const Iter& i : layout.digits())
    if (i.axis == world().gpu) holders += (number(i.extent) - 1) * number(i.stride);
  if (holders > 2000) return;
  std::int64_t total = 0;
  for (std::int64_t gpu = 0; gpu < holders; ++gpu) {
    const auto boxes = footprint(layout, {{world().gpu, gpu}}, world().axes).value();
    for (const Box& box : boxes) total += box.count();
    const std::int64_t x = somewhere(choices, number(dim.size));
    bool here = false;
    for (const Box& box : boxes) here = here || box.contains(Index{x});
    require(here == (position_on(parts, x - dim.origin, world().gpu) == gpu),
            [&] { return fmt::format("{} on {}", x, gpu) + show(layout); });
  }
  require(total == number(dim.size), [&] { return std::to_string(total) + show(layout); });
}

HEDDLE_LAW(Huge, AddressesAndSpansDoNotOverflow) {
  const Huge huge = random_huge(choices);
  const AxisId mem = world().mem;
  const auto expression = lower_address(huge.layout, mem).value();
  std::int64_t span_by_hand = 1;
  for (const Iter& i : huge.layout.digits())
    if (i.axis == mem) span_by_hand += (number(i.extent) - 1) * number(i.stride);
  require(span(huge.layout, mem).value().is(span_by_hand), [&] { return show(huge.layout); });
  for (int n = 0; n < 10; ++n) {
    const Index x = {somewhere(choices, huge.elements)};
    const std::int64_t want = position_on(huge.layout.parts(), x[0], mem);
    require(expression.evaluate(x) == want, [&] { return show(x) + show(huge.layout); });
    require(coord_on(position_of(huge.layout, x).value(), mem) == want,
            [&] { return show(x) + show(huge.layout); });
  }
  const auto verdict = validate(huge.layout, world().axes);
  const bool fits = position_on(huge.layout.parts(), huge.elements - 1, world().gpu) < 4;
  require(verdict.ok() == fits, [&] { return show(huge.layout); });
}

}  // namespace
}  // namespace heddle::property
