// Laws of the planner, on random meshes and layouts: uneven, shifted, strided, with halos,
// replicas, pending reductions and data at one place only. The simulator decides what is right.
#include <gtest/gtest.h>

#include "choices.h"
#include "heddle/notation.h"
#include "heddle/plan.h"

namespace heddle::property::plan_laws {
namespace {

struct World {
  AxisRegistry axes = AxisRegistry::standard();
  Mesh mesh;
  std::vector<std::int64_t> sizes;  // of the tensor
};

World random_world(Choices& choices) {
  World w;
  std::string text;
  std::int64_t devices = 1;
  for (const char* name : {"node", "x", "y"}) {
    const std::int64_t n = choices.pick<std::int64_t>({2, 4, 3, 1, 6});
    if (devices * n > 24) continue;
    devices *= n;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, n);
  }
  w.mesh = Mesh::parse(text, w.axes).value();
  const std::int64_t rank = choices.between(1, 3);
  for (std::int64_t d = 0; d < rank; ++d)
    w.sizes.push_back(choices.pick<std::int64_t>({4, 8, 6, 5, 1, 7, 0}));
  return w;
}

// Gives every part of every mesh axis something to do, then fills up with memory.
Layout random_layout_on(Choices& choices, const World& w, bool halos) {
  LayoutParts parts;
  std::vector<std::vector<Iter>> digits(w.sizes.size());
  parts.reduce = static_cast<ReduceOp>(choices.below(6));
  for (const MeshAxis& a : w.mesh.axes()) {
    std::vector<Iter> pieces = {{a.size, 1, a.axis}};
    if (a.size % 2 == 0 && choices.one_in(3)) pieces = {{a.size / 2, 2, a.axis}, {2, 1, a.axis}};
    for (const Iter& piece : pieces) {
      const std::int64_t role = choices.below(static_cast<std::int64_t>(w.sizes.size()) * 2 + 3);
      if (role < static_cast<std::int64_t>(w.sizes.size()) * 2) {
        std::vector<Iter>& list = digits[static_cast<std::size_t>(role / 2)];
        list.insert(list.begin() + choices.below(static_cast<std::int64_t>(list.size()) + 1),
                    piece);
      } else if (role == static_cast<std::int64_t>(w.sizes.size()) * 2) {
        parts.replicas.push_back(piece);
      } else if (role == static_cast<std::int64_t>(w.sizes.size()) * 2 + 1) {
        parts.partials.push_back(piece);
      } else {
        parts.offset.push_back(
            {piece.axis, piece.stride.factor() * choices.below(piece.extent.factor())});
      }
    }
  }
  // Memory digits, between and below; enough of them to hold the dimension.
  std::vector<std::pair<std::size_t, std::size_t>> memory;
  for (std::size_t d = 0; d < w.sizes.size(); ++d) {
    DimInfo dim{w.sizes[d], 1, 0, 0, 0};
    if (choices.one_in(5)) dim.origin = -choices.below(4);
    if (choices.one_in(4))
      digits[d].insert(
          digits[d].begin() + choices.below(static_cast<std::int64_t>(digits[d].size()) + 1),
          {2, 0, w.axes.mem()});
    std::int64_t have = 1;
    for (const Iter& i : digits[d]) have *= i.extent.factor();
    const std::int64_t rest = (w.sizes[d] - dim.origin + have - 1) / have;
    if (rest > 1 || choices.one_in(6))
      digits[d].push_back({std::max<std::int64_t>(rest, 1), 0, w.axes.mem()});
    dim.padded = 1;
    for (const Iter& i : digits[d]) dim.padded = dim.padded * i.extent;
    const bool block = !digits[d].empty() && digits[d].back().axis == w.axes.mem() &&
                       !digits[d].back().extent.is(1);
    if (halos && block && choices.one_in(3)) {
      dim.halo_lo = choices.below(3);
      dim.halo_hi = choices.below(4);
    }
    for (std::size_t i = 0; i < digits[d].size(); ++i)
      if (digits[d][i].axis == w.axes.mem()) memory.emplace_back(d, i);
    parts.dims.push_back(dim);
  }
  if (choices.one_in(4)) choices.shuffle(memory);
  std::int64_t stride = 1;
  for (std::size_t m = memory.size(); m-- > 0;) {
    auto [d, i] = memory[m];
    const DimInfo& dim = parts.dims[d];
    std::int64_t room = digits[d][i].extent.factor();
    digits[d][i].stride = stride;
    if (i + 1 == digits[d].size() && dim.has_halo()) {
      parts.offset.push_back({w.axes.mem(), dim.halo_lo * stride});
      room += dim.halo_lo + dim.halo_hi;
    }
    stride *= room;
  }
  for (const auto& list : digits) parts.digits.insert(parts.digits.end(), list.begin(), list.end());
  return Layout::make(std::move(parts)).value();
}

std::string show(const World& w, const Layout& from, const Layout& to, const std::string& why) {
  return fmt::format("mesh {}\n  {}\n  -> {}\n{}", w.mesh.str(), print_layout_full(from, w.axes),
                     print_layout_full(to, w.axes), why);
}

std::vector<Index> all_indices(const std::vector<std::int64_t>& sizes) {
  std::vector<Index> all = {{}};
  for (const std::int64_t size : sizes) {
    std::vector<Index> longer;
    for (const Index& x : all)
      for (std::int64_t i = 0; i < size; ++i) {
        longer.push_back(x);
        longer.back().push_back(i);
      }
    all = std::move(longer);
  }
  return all;
}

bool has(const std::vector<Box>& boxes, const Index& x) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const Box& b) { return b.contains(x); });
}

// Elements that the busiest holder must receive, by looking at every holder and element.
std::int64_t missing_somewhere(const World& w, const Layout& from, const Layout& to) {
  bool pending = false;
  for (const Iter& i : from.partials()) pending = pending || w.mesh.find(i.axis) != nullptr;
  std::int64_t most = 0;
  for (std::int64_t device = 0; device < w.mesh.devices(); ++device) {
    Coord coord;
    std::int64_t rest = device;
    for (const MeshAxis& a : w.mesh.axes()) {
      coord.push_back({a.axis, rest % a.size});
      rest /= a.size;
    }
    const auto there = footprint(from, coord, w.axes, true).value();
    const auto wanted = footprint(to, coord, w.axes, true).value();
    std::int64_t missing = 0;
    for (const Index& x : all_indices(w.sizes))
      missing += has(wanted, x) && (pending || !has(there, x)) ? 1 : 0;
    most = std::max(most, missing);
  }
  return most;
}

bool strided(const World& w, const Layout& layout) {
  for (const Digits& digits : group(layout, layout.padded_shape()).value())
    for (std::size_t i = 1; i < digits.size(); ++i)
      if (w.mesh.find(digits[i - 1].axis) == nullptr && w.mesh.find(digits[i].axis) != nullptr)
        return true;
  return false;
}

// The bound is the truth where one side's blocks have no gaps, and never above it. A pending target
// can be had with less than each holder's part.
HEDDLE_LAW(Plan, BoundIsWhatTheBusiestHolderLacks) {
  const World w = random_world(choices);
  const Layout from = random_layout_on(choices, w, true);
  Layout to = random_layout_on(choices, w, true);
  const auto plan = plan_redistribution(from, to, w.mesh, w.axes);
  require(plan.ok(), [&] { return show(w, from, to, plan.reason()); });
  const std::int64_t truth = 4 * missing_somewhere(w, from, to);
  const auto told = [&] {
    return show(w, from, to, fmt::format("bound {}, truth {}", plan->bound_bytes, truth));
  };
  require(plan->bound_bytes <= truth, told);
  const bool pending = !to.partials().empty();
  if (!pending && !(strided(w, from) && strided(w, to))) require(plan->bound_bytes == truth, told);
}

HEDDLE_LAW(Plan, DeliversExactlyTheTarget) {
  const World w = random_world(choices);
  const Layout from = random_layout_on(choices, w, true);
  const Layout to = random_layout_on(choices, w, true);
  require(validate(from, w.axes).ok() && validate(to, w.axes).ok(),
          [&] { return show(w, from, to, "the generator is wrong"); });
  const auto plan = plan_redistribution(from, to, w.mesh, w.axes);
  require(plan.ok(), [&] { return show(w, from, to, plan.reason()); });
  const auto right = simulate(*plan, w.mesh, w.axes);
  require(right.ok(), [&] { return show(w, from, to, right.reason()); });
  require(plan->bound_bytes <= plan->bytes && plan->bound_bytes <= right->bytes, [&] {
    return show(
        w, from, to,
        fmt::format("bound {} over {} or {}", plan->bound_bytes, plan->bytes, right->bytes));
  });
  require(plan->bound_seconds <= plan->seconds * (1 + 1e-9), [&] {
    return show(w, from, to, fmt::format("{} s, at least {}", plan->seconds, plan->bound_seconds));
  });
  require((from == to) == plan->moves.empty() || plan->bytes == 0,
          [&] { return show(w, from, to, "moves without need, or none"); });
}

HEDDLE_LAW(Plan, KeepsToTheMemoryCap) {
  const World w = random_world(choices);
  const Layout from = random_layout_on(choices, w, false);
  const Layout to = random_layout_on(choices, w, false);
  const Plan free = plan_redistribution(from, to, w.mesh, w.axes).value();
  PlanOptions options;
  options.memory_cap = 1 + choices.below(std::max<std::int64_t>(2 * free.peak_bytes, 1));
  const auto capped = plan_redistribution(from, to, w.mesh, w.axes, options);
  if (capped) {
    require(capped->peak_bytes <= options.memory_cap,
            [&] { return show(w, from, to, "over the cap"); });
    require(!free.exhaustive || !capped->exhaustive || capped->seconds >= free.seconds * (1 - 1e-9),
            [&] { return show(w, from, to, "the cap made it faster"); });
    const auto right = simulate(*capped, w.mesh, w.axes);
    require(right.ok(), [&] { return show(w, from, to, right.reason()); });
  } else {
    require(free.peak_bytes > options.memory_cap,
            [&] { return show(w, from, to, capped.reason()); });
  }
}

// The fallback must be right for every pair, not only where the planner takes it.
HEDDLE_LAW(Plan, ExchangeIsAlwaysRight) {
  const World w = random_world(choices);
  Plan plan;
  plan.source = random_layout_on(choices, w, false);
  plan.target = random_layout_on(choices, w, false);
  Move move;
  move.kind = MoveKind::exchange;
  move.from = plan.source;
  move.to = plan.target;
  move.bytes = 1 << 20;
  plan.moves.push_back(move);
  const auto right = simulate(plan, w.mesh, w.axes);
  require(right.ok(), [&] { return show(w, plan.source, plan.target, right.reason()); });
}

}  // namespace
}  // namespace heddle::property::plan_laws
