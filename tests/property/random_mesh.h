// Meshes and layouts at random.
#pragma once

#include "choices.h"
#include "heddle/program.h"

namespace heddle::property {

inline AxisSizes random_axes(Choices& choices, std::int64_t most) {
  AxisSizes axes;
  static constexpr const char* kNames[] = {"x", "y", "z"};
  std::int64_t left = most;
  for (std::int64_t a = 0, n = choices.between(1, 3); a < n; ++a) {
    const std::int64_t size = std::min<std::int64_t>(choices.pick({2, 4, 3, 1, 6, 8, 5}), left);
    axes.emplace_back(kNames[a], std::max<std::int64_t>(size, 1));
    left /= axes.back().second;
  }
  return axes;
}

// Whole axes and parts of them, each used once at most.
inline Sharding random_sharding(Choices& choices, const AxisSizes& axes, const Type& type) {
  Sharding sharding;
  sharding.mesh = "mesh";
  sharding.dims.resize(type.rank());
  for (ShardingDim& dim : sharding.dims) dim.open = choices.below(2) == 1;
  if (type.rank() == 0) return sharding;
  for (const auto& [name, size] : axes) {
    auto& dim = choices.pick(sharding.dims);
    auto& chosen = sharding.dims[static_cast<std::size_t>(&dim - sharding.dims.data())];
    switch (choices.below(4)) {
      case 0:
        break;
      case 3:
        if (size % 2 == 0 && size > 2) {
          chosen.axes.push_back({name, choices.below(2) == 0 ? 1 : size / 2, 2});
          break;
        }
        [[fallthrough]];
      default:
        chosen.axes.push_back({name, 1, 0});
    }
  }
  return sharding;
}

// Arguments, results and some values between get layouts.
inline void lay_out(Choices& choices, const AxisSizes& axes, Program& program) {
  (void)program.add_mesh("mesh", axes).value();
  Function& f = program.functions[0];
  auto layout = [&](const Type& type) -> LayoutId {
    if (!type.is_tensor()) return kNone;
    auto id = program.add_layout(random_sharding(choices, axes, type), type);
    return id ? *id : kNone;
  };
  for (ValueId v : program.region(f.body).args)
    if (choices.below(4) != 0) program.set_layout(v, layout(program.type_of(v)));
  for (OpId id : program.region(f.body).ops)
    for (std::size_t i = 0; i < program.op(id).result_count; ++i)
      if (choices.one_in(4)) {
        const ValueId v = program.result(program.op(id), i);
        program.set_layout(v, layout(program.type_of(v)));
      }
  f.result_layouts.assign(f.results.size(), kNone);
  for (std::size_t i = 0; i < f.results.size(); ++i)
    if (choices.below(2) == 1) f.result_layouts[i] = layout(program.type(f.results[i]));
}

}  // namespace heddle::property
