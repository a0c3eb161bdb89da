// Laws of swizzles: bijective, through tile, sum and slice, and bank conflicts counted by hand.
#include <gtest/gtest.h>

#include "generate.h"

namespace heddle::property {
namespace {

Swizzle random_swizzle(Choices& choices, AxisId axis) {
  const auto bits = static_cast<std::uint8_t>(choices.between(1, 3));
  return {axis, bits, static_cast<std::uint8_t>(choices.below(5)),
          static_cast<std::uint8_t>(bits + choices.below(3))};
}

// Powers of two in memory, packed so that addresses fill a range: what swizzles are made for.
LayoutParts power_parts(Choices& choices, int rank, std::int64_t most_bits) {
  LayoutParts parts;
  std::vector<Iter*> iters;
  std::int64_t bits = most_bits;
  for (int d = 0; d < rank; ++d) {
    std::int64_t extent = 1;
    for (std::int64_t n = choices.between(1, 2); n > 0; --n) {
      const std::int64_t take = choices.between(0, std::min<std::int64_t>(bits, 3));
      parts.digits.push_back({std::int64_t{1} << take, 0, world().mem});
      extent <<= take;
      bits -= take;
    }
    parts.dims.push_back({extent, extent, 0, 0, 0});
  }
  for (Iter& i : parts.digits) iters.push_back(&i);
  choices.shuffle(iters);
  std::int64_t next = 1;
  for (Iter* i : iters) {
    i->stride = next;
    next *= number(i->extent);
  }
  return parts;
}

HEDDLE_LAW(Swizzle, IsABijectionThatIsItsOwnInverse) {
  const Swizzle z = random_swizzle(choices, world().mem);
  const std::int64_t period = z.period();
  const std::int64_t start = choices.between(-3, 3) * period;
  std::set<std::int64_t> seen;
  for (std::int64_t x = start; x < start + period; ++x) {
    const std::int64_t y = z.apply(x);
    require(y == swizzled(z, x) && z.apply(y) == x, [&] { return std::to_string(x); });
    require(y >= start && y < start + period && seen.insert(y).second,
            [&] { return std::to_string(x); });
    require(z.apply(x + 5 * period) == y + 5 * period, [&] { return std::to_string(x); });
  }
}

HEDDLE_LAW_REFUSING(Swizzle, WithSwizzleMovesOnlyAddresses, 0.1) {
  Recipe recipe;
  recipe.swizzle = false;
  const Layout layout = random_layout(choices, recipe);
  const Swizzle z = random_swizzle(choices, world().mem);
  const auto with = with_swizzle(layout, z);
  require(with.ok(), [&] { return show(layout) + show(with); });
  const Oracle from(layout);
  const Oracle to(*with);
  for (std::int64_t u = 0; u < from.elements; ++u) {
    Cells want = from.cells(u);
    for (Copies& copies : want) {
      for (Place& cell : copies)
        cell[world().mem] = static_cast<std::int32_t>(swizzled(z, cell[world().mem]));
      std::sort(copies.begin(), copies.end());
    }
    std::sort(want.begin(), want.end());
    require(to.cells(u) == want, [&] { return show(layout) + show(with); });
  }
}

// f_A(x) * scale + f_B(y) at every pair; true where both sides agree.
bool combines(const Layout& outer, std::int64_t scale, const Layout& inner, const Layout& whole) {
  const Oracle a(outer);
  const Oracle b(inner);
  const Oracle w(whole);
  bool same = true;
  each_index(a.padded, [&](const Index& x) {
    each_index(b.padded, [&](const Index& y) {
      Index z(x.size());
      for (std::size_t d = 0; d < x.size(); ++d) z[d] = x[d] * b.padded[d] + y[d];
      Place want = a.cells(flatten(a.padded, x))[0][0];
      for (std::int32_t& v : want) v = static_cast<std::int32_t>(v * scale);
      same = same &&
             w.cells(flatten(w.padded, z))[0][0] == plus(want, b.cells(flatten(b.padded, y))[0][0]);
    });
  });
  return same;
}

// Shared memory tiles: a swizzled atom repeated. Where the repeats start at whole periods it works.
HEDDLE_LAW(Swizzle, OfTheInnerLayoutGoesThroughTileAndSum) {
  const int rank = static_cast<int>(choices.between(1, 2));
  const Layout plain = Layout::make(power_parts(choices, rank, 5)).value();
  const Layout inner = with_swizzle(plain, random_swizzle(choices, world().mem)).value();
  const Layout outer = Layout::make(power_parts(choices, rank, 3)).value();
  const std::int64_t scale = span(inner, world().mem).value().factor();
  const auto whole = tile(outer, inner);
  if (whole) {
    require(combines(outer, scale, inner, *whole),
            [&] { return show(outer) + show(inner) + show(whole); });
    const auto back = untile(*whole, inner);
    require(back && *back == outer, [&] {
      return show(outer) + show(inner) + show(whole) + show(back);
      const auto atom = untile_outer(*whole, outer);
      require(atom && *atom == inner,
              [&] { return show(outer) + show(inner) + show(whole) + show(atom); });
    });
  }
  const bool whole_periods = !inner.swizzle() || scale % inner.swizzle()->period() == 0;
  require(whole || !whole_periods, [&] { return show(outer) + show(inner) + show(whole); });
  LayoutParts far = outer.parts();
  for (Iter& i : far.digits) i.stride = number(i.stride) * choices.pick({64, 32, 8, 1});
  const Layout apart = Layout::make(far).value();
  if (auto sum = direct_sum(apart, inner))
    require(combines(apart, 1, inner, *sum), [&] { return show(apart) + show(inner) + show(sum); });
}

// The swizzle above an atom of w elements moves whole atoms.
HEDDLE_LAW(Swizzle, OfTheOuterLayoutGoesThroughTileAndSum) {
  const int rank = static_cast<int>(choices.between(1, 2));
  const Layout plain = Layout::make(power_parts(choices, rank, 5)).value();
  const Layout outer = with_swizzle(plain, random_swizzle(choices, world().mem)).value();
  const Layout inner = Layout::make(power_parts(choices, rank, 3)).value();
  const std::int64_t scale = span(inner, world().mem).value().factor();
  const auto whole = tile(outer, inner);
  if (whole) {
    require(combines(outer, scale, inner, *whole),
            [&] { return show(outer) + show(inner) + show(whole); });
    const auto back = untile(*whole, inner);
    require(back && *back == outer,
            [&] { return show(outer) + show(inner) + show(whole) + show(back); });
  }
  // The inner part fills exactly the bits below, so nothing can carry into what the swizzle moves.
  require(whole.ok(), [&] { return show(outer) + show(inner) + show(whole); });
  if (auto sum = direct_sum(outer, inner))
    require(combines(outer, 1, inner, *sum), [&] { return show(outer) + show(inner) + show(sum); });
}

HEDDLE_LAW(Swizzle, GoesThroughSlices) {
  const int rank = static_cast<int>(choices.between(1, 2));
  LayoutParts parts = power_parts(choices, rank, 7);
  if (choices.one_in(3)) parts.offset.push_back({world().mem, choices.between(0, 40)});
  parts.swizzle = random_swizzle(choices, world().mem);
  const Layout layout = Layout::make(parts).value();
  Index start, size;
  for (const DimInfo& dim : layout.dims()) {
    start.push_back(choices.below(number(dim.size)));
    size.push_back(choices.between(1, number(dim.size) - start.back()));
  }
  const auto got = slice(layout, start, size);
  if (!got) return;
  const Oracle whole(layout);
  const Oracle part(*got);
  each_index(size, [&](const Index& x) {
    Index y = x;
    for (std::size_t d = 0; d < y.size(); ++d) y[d] += start[d];
    require(part.cells(flatten(size, x)) == whole.cells(*whole.flat(y)),
            [&] { return show(layout) + show(got); });
  });
}

// Replays of one access counted by hand: the most words that lanes served together need from one
// bank. Lanes are served together in groups that touch banks * bank_bytes bytes.
struct Count {
  int worst = 1;
  std::set<std::int64_t> steps;
};
Count replays(const Layout& memory, const Layout& access, int bytes, int vector,
              const BankModel& model) {
  const Oracle where(memory);
  const Oracle who(access);
  Count count;
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::int64_t>> words;  // step, group
  const std::int64_t group =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(model.banks) * model.bank_bytes /
                                    std::max(vector * bytes, model.bank_bytes));
  each_index(where.size, [&](const Index& x) {
    const Place reader = who.affine(*who.flat(x));
    const std::int64_t at = where.cells(*where.flat(x))[0][0][world().mem];
    const std::int64_t step = reader[world().reg] / vector;
    count.steps.insert(step);
    for (std::int64_t byte = at * bytes; byte < (at + 1) * bytes; ++byte)
      words[{step, reader[world().lane] / group}].insert(byte / model.bank_bytes);
  });
  for (const auto& [key, set] : words) {
    std::map<std::int64_t, int> per_bank;
    for (const std::int64_t word : set)
      count.worst = std::max(count.worst, ++per_bank[word % model.banks]);
  }
  return count;
}

HEDDLE_LAW(Swizzle, BankConflictsAreTheReplaysCountedByHand) {
  LayoutParts memory = power_parts(choices, 2, 8);
  if (choices.one_in(2)) memory.swizzle = random_swizzle(choices, world().mem);
  if (choices.one_in(4))
    for (Iter& i : memory.digits) i.stride = number(i.stride) * choices.pick({1, 3, 2});
  // Every element to one lane and one step; lanes count from 0 without gaps.
  LayoutParts access = memory;
  access.swizzle.reset();
  std::int64_t lane = 1;
  std::int64_t step = 1;
  for (Iter& i : access.digits) {
    const bool to_lane = lane * number(i.extent) <= 32 && choices.one_in(2);
    std::int64_t& next = to_lane ? lane : step;
    i = {i.extent, next, to_lane ? world().lane : world().reg};
    next *= number(i.extent);
  }
  const Layout where = Layout::make(memory).value();
  const Layout who = Layout::make(access).value();
  const int bytes = choices.pick({2, 4, 1, 8});
  const int vector = choices.pick({1, 2, 4, 8});
  const BankModel model = choices.one_in(4) ? BankModel{16, 8} : BankModel{};
  const auto report =
      bank_conflicts(where, world().mem, who, world().lane, world().reg, bytes, vector, model);
  const Count want = replays(where, who, bytes, vector, model);
  require(report && report->worst_ways == want.worst &&
              report->steps == static_cast<std::int64_t>(want.steps.size()),
          [&] {
            return fmt::format("{} bytes, vectors of {}: {} ways, by hand {}", bytes, vector,
                               report ? report->worst_ways : -1, want.worst) +
                   show(where) + show(who);
          });
}

}  // namespace
}  // namespace heddle::property
