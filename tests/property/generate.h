// Random layouts, as written by somebody who does not know the canonical form.
#pragma once

#include <string>
#include <vector>

#include "choices.h"
#include "heddle/mesh.h"
#include "heddle/notation.h"
#include "oracle.h"

namespace heddle::property {

// The registry of all laws: the standard axes and a mesh.
struct World {
  AxisRegistry axes = AxisRegistry::standard();
  AxisId mem, reg, lane, warp, block, thread, node, gpu, tp, tray;
  World() {
    (void)Mesh::parse("node=2,gpu=4,tp=3", axes).value();
    mem = axes.mem();
    reg = axes.require("reg").value();
    lane = axes.require("lane").value();
    warp = axes.require("warp").value();
    block = axes.require("block").value();
    thread = axes.require("thread").value();
    node = axes.require("node").value();
    gpu = axes.require("gpu").value();
    tp = axes.require("tp").value();
    // A memory axis that ends where no power of two does.
    tray = axes.add({"tray", AxisKind::memory, Scope::thread, Scope::element, 25}).value();
  }
};
inline World& world() {
  static World it;
  return it;
}

inline std::string show(const LayoutParts& parts) {
  auto iters = [](const std::vector<Iter>& list) {
    std::string text;
    for (const Iter& i : list)
      text += fmt::format("{}:{}@{} ", print_dim(i.extent, world().axes),
                          print_dim(i.stride, world().axes),
                          i.axis == kNoAxis ? std::string("-") : world().axes[i.axis].name);
    return text;
  };
  std::string text = "[";
  for (const DimInfo& d : parts.dims)
    text += fmt::format(" {}(pad {} origin {} halo {}:{})", print_dim(d.size, world().axes),
                        print_dim(d.padded, world().axes), d.origin, d.halo_lo, d.halo_hi);
  text += " ] D " + iters(parts.digits) + "R " + iters(parts.replicas) + "P " +
          std::string(name(parts.reduce)) + " " + iters(parts.partials) + "O ";
  for (const AxisOffset& o : parts.offset)
    text += fmt::format("{}@{} ", print_dim(o.value, world().axes),
                        o.axis == kNoAxis ? std::string("-") : world().axes[o.axis].name);
  if (parts.swizzle)
    text += fmt::format("Z {},{},{}@{}", parts.swizzle->bits, parts.swizzle->base,
                        parts.swizzle->shift, parts.swizzle->axis);
  return text;
}
inline std::string show(const Layout& layout) { return "\n  " + show(layout.parts()); }
inline std::string show(const Expected<Layout>& layout) {
  return layout ? show(*layout) : "\n  no: " + layout.reason();
}
inline std::string show(const Index& x) {
  std::string text = "(";
  for (const std::int64_t v : x) text += (text.size() > 1 ? "," : "") + std::to_string(v);
  return text + ")";
}

struct Recipe {
  int most_rank = 4;
  bool uneven = true;     // size < padded, origins
  bool separate = false;  // every dimension has its own digits
  bool replicas = true;
  bool partials = true;
  bool offset = true;
  bool swizzle = true;
  bool packed = false;    // no two elements on one place
  bool large = true;      // now and then up to 4,096 elements
  std::int64_t most = 0;  // elements; 0: vary
};

inline std::vector<AxisId> all_axes() {
  const World& w = world();
  return {w.mem, w.lane, w.gpu, w.warp, w.tp, w.reg, w.block, w.node};
}

// Strides so that nothing on one axis overlaps, in random order; now and then with gaps.
inline void pack_strides(Choices& choices, std::vector<Iter*> iters) {
  choices.shuffle(iters);
  std::map<AxisId, std::int64_t> next;
  for (Iter* i : iters) {
    std::int64_t& room = next.emplace(i->axis, 1).first->second;
    i->stride = room * (choices.one_in(6) ? choices.between(2, 3) : 1);
    room = number(i->stride) * number(i->extent);
  }
}

inline std::int64_t most_elements(Choices& choices, const Recipe& recipe) {
  if (recipe.most > 0) return recipe.most;
  const std::int64_t roll = choices.below(200);
  if (roll == 199 && recipe.large) return 4096;
  if (roll >= 195 && recipe.large) return 512;
  return choices.pick({12, 24, 48, 96});
}

// The sizes of dimensions whose digits are not asked about: a random product of `total`.
inline std::vector<DimInfo> some_shape(Choices& choices, std::int64_t total, int rank) {
  std::vector<DimInfo> dims;
  for (int d = 0; d < rank; ++d) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t n = 1; n <= total; ++n)
      if (total % n == 0) divisors.push_back(n);
    const std::int64_t size = d + 1 == rank ? total : choices.pick(divisors);
    dims.push_back({size, size, 0, 0, 0});
    total /= size;
  }
  return dims;
}

inline void make_uneven(Choices& choices, DimInfo& dim) {
  const std::int64_t padded = number(dim.padded);
  if (choices.one_in(4)) dim.size = choices.one_in(20) ? 0 : choices.between(1, padded);
  if (choices.one_in(6)) {
    dim.origin = choices.between(-padded, padded);
    dim.size = choices.between(1, 2 * padded);
  }
}

inline void add_fibres(Choices& choices, const Recipe& recipe, const std::vector<AxisId>& axes,
                       LayoutParts& parts) {
  auto add = [&](std::vector<Iter>& list, bool zero) {
    for (std::int64_t n = choices.pick({0, 0, 0, 1, 1, 2}); n > 0; --n) {
      Iter i{choices.between(1, 4), choices.between(zero ? 0 : 1, 6), choices.pick(axes)};
      if (choices.one_in(4)) i.stride = -i.stride;
      list.push_back(i);
    }
  };
  if (recipe.replicas) add(parts.replicas, true);
  if (recipe.partials) add(parts.partials, false);
  parts.reduce = static_cast<ReduceOp>(choices.below(6));
}

inline LayoutParts random_parts(Choices& choices, const Recipe& recipe) {
  LayoutParts parts;
  std::vector<AxisId> axes = {world().mem};
  for (std::int64_t n = choices.below(4); n > 0; --n) axes.push_back(choices.pick(all_axes()));
  std::int64_t room = most_elements(choices, recipe);
  const int rank = static_cast<int>(choices.below(recipe.most_rank + 1));
  std::int64_t total = 1;
  for (int d = 0; d < rank; ++d) {
    std::int64_t extent = 1;
    for (std::int64_t n = choices.pick({1, 1, 2, 2, 3, 0}); n > 0; --n) {
      const std::int64_t most = std::min<std::int64_t>(room, room > 100 ? 24 : 9);
      const std::int64_t e = choices.between(1, std::max<std::int64_t>(most, 1));
      parts.digits.push_back({e, choices.between(-4, 9), choices.pick(axes)});
      if (choices.one_in(8)) parts.digits.back().stride = 0;
      extent *= e;
      room /= e;
    }
    parts.dims.push_back({extent, extent, 0, 0, 0});
    total *= extent;
  }
  if (!recipe.separate && rank > 0 && choices.one_in(5))
    parts.dims = some_shape(choices, total, rank);
  add_fibres(choices, recipe, axes, parts);
  if (recipe.packed || !choices.one_in(3)) {
    std::vector<Iter*> iters;
    for (auto* list : {&parts.digits, &parts.replicas, &parts.partials})
      for (Iter& i : *list) iters.push_back(&i);
    pack_strides(choices, iters);
    // Now and then backwards, starting at the far end.
    for (Iter* i : iters) {
      if (!choices.one_in(10)) continue;
      parts.offset.push_back({i->axis, (number(i->extent) - 1) * number(i->stride)});
      i->stride = -i->stride;
    }
  }
  if (recipe.offset)
    for (std::int64_t n = choices.pick({0, 0, 1, 2}); n > 0; --n)
      parts.offset.push_back({choices.pick(axes), choices.between(recipe.packed ? 0 : -5, 20)});
  if (recipe.uneven)
    for (DimInfo& dim : parts.dims) make_uneven(choices, dim);
  if (recipe.swizzle && choices.one_in(5)) {
    const auto bits = static_cast<std::uint8_t>(choices.between(0, 3));
    parts.swizzle = Swizzle{world().mem, bits, static_cast<std::uint8_t>(choices.below(4)),
                            static_cast<std::uint8_t>(bits + choices.below(2))};
  }
  return parts;
}

// A layout; cases that Layout::make refuses are left out.
inline Layout random_layout(Choices& choices, const Recipe& recipe) {
  auto layout = Layout::make(random_parts(choices, recipe));
  if (!layout) leave_out();
  return *layout;
}

// Splits one iter in two where its extent allows.
inline void split_one(Choices& choices, std::vector<Iter>& list) {
  if (list.empty()) return;
  const auto at = static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(list.size())));
  const Iter whole = list[at];
  for (std::int64_t inner = choices.between(2, 6); inner > 1; --inner) {
    if (number(whole.extent) % inner != 0) continue;
    list[at] = {number(whole.extent) / inner, number(whole.stride) * inner, whole.axis};
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                {inner, whole.stride, whole.axis});
    return;
  }
}

// Turns one iter of a set round: the same positions from the other end.
inline void turn_round(Choices& choices, std::vector<Iter>& list, std::vector<AxisOffset>& offset) {
  if (list.empty()) return;
  Iter& i = list[static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(list.size())))];
  if (number(i.stride) == 0) return;
  offset.push_back({i.axis, (number(i.extent) - 1) * number(i.stride)});
  i.stride = -i.stride;
}

inline void insert_unit(Choices& choices, std::vector<Iter>& list) {
  const auto at = static_cast<std::ptrdiff_t>(choices.below(static_cast<int>(list.size()) + 1));
  list.insert(list.begin() + at, {1, choices.between(-3, 7), choices.pick(all_axes())});
}

// Two overlapping replicas that cover the same positions as one.
inline void overlap_one(Choices& choices, std::vector<Iter>& list) {
  if (list.empty()) return;
  const auto at = static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(list.size())));
  const std::int64_t extent = number(list[at].extent);
  if (extent < 3) return;
  const std::int64_t first = choices.between(2, extent - 1);  // first + q = extent, q <= first
  if (extent - first > first) return;
  list.push_back({2, number(list[at].stride) * (extent - first), list[at].axis});
  list[at].extent = first;
}

// The same map in other words.
inline LayoutParts rewritten(Choices& choices, LayoutParts parts) {
  for (std::int64_t n = choices.between(1, 6); n > 0; --n) {
    switch (choices.below(10)) {
      case 0:
        split_one(choices, parts.digits);
        break;
      case 1:
        insert_unit(choices, parts.digits);
        break;
      case 2:
        split_one(choices, parts.replicas);
        break;
      case 3:
        turn_round(choices, parts.replicas, parts.offset);
        break;
      case 4:
        choices.shuffle(parts.replicas);
        choices.shuffle(parts.partials);
        choices.shuffle(parts.offset);
        break;
      case 5:
        insert_unit(choices, parts.replicas);
        insert_unit(choices, parts.partials);
        break;
      case 6:
        split_one(choices, parts.partials);
        turn_round(choices, parts.partials, parts.offset);
        break;
      case 7:
        overlap_one(choices, parts.replicas);
        break;
      case 8:
        parts.replicas.push_back({choices.between(1, 5), 0, choices.pick(all_axes())});
        for (Iter& i : parts.digits)
          if (number(i.stride) == 0) i.axis = choices.pick(all_axes());
        break;
      default: {
        const AxisId axis = choices.pick(all_axes());
        const std::int64_t by = choices.between(-6, 6);
        parts.offset.push_back({axis, by});
        parts.offset.push_back({axis, -by});
      }
    }
  }
  return parts;
}

}  // namespace heddle::property
