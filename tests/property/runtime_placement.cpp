// Parts of a whole array, put together again, are the array: on any mesh, in any layout.
#include "choices.h"
#include "heddle/inputs.h"
#include "heddle/placement.h"
#include "heddle/sharding.h"

namespace heddle::property {
namespace {

AxisSizes random_axes(Choices& choices) {
  AxisSizes axes;
  static constexpr const char* kNames[] = {"x", "y", "z"};
  for (std::int64_t a = 0, n = choices.between(1, 3); a < n; ++a)
    axes.emplace_back(kNames[a], choices.pick({2, 1, 3, 4}));
  return axes;
}

// Whole axes and parts of them, each used once at most; sizes that they need not divide.
Sharding random_sharding(Choices& choices, const AxisSizes& axes, const Type& type) {
  Sharding sharding;
  sharding.mesh = "mesh";
  sharding.dims.resize(type.rank());
  if (type.rank() == 0) return sharding;
  for (const auto& [name, size] : axes) {
    auto& dim =
        sharding
            .dims[static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(type.rank())))];
    if (choices.one_in(4)) continue;
    if (size == 4 && choices.one_in(3))
      dim.axes.push_back({name, choices.pick({1, 2}), 2});
    else
      dim.axes.push_back({name, 1, 0});
  }
  return sharding;
}

// Devices in another order than 0, 1, …: all of them shifted.
std::vector<std::int64_t> random_order(Choices& choices, std::int64_t devices) {
  std::vector<std::int64_t> ids;
  const std::int64_t shift = choices.below(devices);
  for (std::int64_t d = 0; d < devices && shift > 0; ++d) ids.push_back((d + shift) % devices);
  return ids;
}

HEDDLE_LAW(Placement, PartsOfAWholeMakeTheWhole) {
  auto on = std::make_shared<PlacedOn>();
  const AxisSizes axes = random_axes(choices);
  MeshDecl mesh{"mesh", make_mesh(axes, on->axes).value(), {}, {}};
  mesh.device_ids = random_order(choices, mesh.mesh.devices());
  on->meshes.push_back(mesh);
  Shape shape;
  for (std::int64_t d = 0, n = choices.below(4); d < n; ++d) shape.push_back(choices.between(1, 9));
  const Type type = Type::tensor(choices.pick({DType::f32, DType::i8, DType::c128}), shape);
  const Sharding sharding = random_sharding(choices, axes, type);
  const auto layout = to_layout(sharding, mesh, type, on->axes.mem());
  if (!layout) return;  // an axis is cut where it cannot be
  const PlacedValue placed("argument 0", type, split_of(layout->layout, mesh.mesh).value(), on, 0);

  const Array whole = random_array(type, static_cast<std::uint64_t>(choices.below(1000)));
  const auto parts = placed.parts_of(whole).value();
  auto shown = [&] {
    return fmt::format("{} {} on {}", type.str(), text_of(placed.split(), mesh.mesh),
                       mesh.mesh.str());
  };
  require(static_cast<std::int64_t>(parts.size()) == mesh.mesh.devices(), shown);
  std::int64_t bytes = 0;
  for (const Array& part : parts) {
    require(part.type() == placed.part_type(), shown);
    bytes += part.type().bytes();
  }
  require(bytes >= type.bytes(), shown);
  require(placed.whole(parts).value() == whole, shown);
  // Each part by itself is what it is among all.
  const std::int64_t one = choices.below(mesh.mesh.devices());
  require(placed.part_of(whole, one).value() == parts[static_cast<std::size_t>(one)], shown);
}

}  // namespace
}  // namespace heddle::property
