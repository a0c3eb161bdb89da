// Random layouts with sizes that are not known yet.
#pragma once

#include "generate.h"

namespace heddle::property {

using Values = std::map<SymbolId, std::int64_t>;

struct Unknowns {
  SymbolId n = world().axes.symbol("n");
  SymbolId m = world().axes.symbol("m");
};
inline const Unknowns& unknowns() {
  static Unknowns it;
  return it;
}

inline Values random_values(Choices& choices) {
  return {{unknowns().n, choices.between(1, 4)}, {unknowns().m, choices.between(1, 3)}};
}

// 3, n, 2*n, n*m
inline Dim random_size(Choices& choices, std::int64_t most) {
  Dim size = choices.between(1, most);
  if (choices.one_in(3)) size = size * Dim::symbol(unknowns().n);
  if (choices.one_in(8)) size = size * Dim::symbol(unknowns().m);
  return size;
}

// Dimensions with their own digits. Mostly packed in some order, as people write them.
inline LayoutParts random_symbolic_parts(Choices& choices, int rank, std::int64_t most) {
  LayoutParts parts;
  const std::vector<AxisId> axes = {world().mem, world().mem, world().gpu, world().tp,
                                    world().lane};
  for (int d = 0; d < rank; ++d) {
    Dim extent = 1;
    for (std::int64_t n = choices.between(0, 2); n > 0; --n) {
      parts.digits.push_back({random_size(choices, most), 0, choices.pick(axes)});
      extent = extent * parts.digits.back().extent;
    }
    parts.dims.push_back({extent, extent, 0, 0, 0});
    if (extent.is_const() && choices.one_in(5))
      parts.dims.back().size = choices.between(1, number(extent));
  }
  if (choices.one_in(3)) parts.replicas.push_back({random_size(choices, 3), 0, choices.pick(axes)});
  if (choices.one_in(3)) parts.partials.push_back({random_size(choices, 3), 0, choices.pick(axes)});
  parts.reduce = static_cast<ReduceOp>(choices.below(6));
  std::vector<Iter*> iters;
  for (auto* list : {&parts.digits, &parts.replicas, &parts.partials})
    for (Iter& i : *list) iters.push_back(&i);
  if (choices.one_in(2)) std::reverse(iters.begin(), iters.end());
  std::map<AxisId, Dim> room;
  for (Iter* i : iters) {
    Dim& next = room.emplace(i->axis, Dim(1)).first->second;
    i->stride = next;
    next = next * i->extent;
    if (choices.one_in(8)) i->stride = random_size(choices, 4);
    if (choices.one_in(12)) i->stride = -i->stride;
  }
  for (std::int64_t n = choices.pick({0, 0, 1, 2}); n > 0; --n) {
    const Dim by = random_size(choices, 5);
    parts.offset.push_back({choices.pick(axes), choices.one_in(4) ? -by : by});
  }
  return parts;
}

inline Layout random_symbolic(Choices& choices, int rank, std::int64_t most = 4) {
  auto layout = Layout::make(random_symbolic_parts(choices, rank, most));
  if (!layout) leave_out();
  return *layout;
}

}  // namespace heddle::property
