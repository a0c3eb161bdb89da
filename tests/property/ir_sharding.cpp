// Laws of shardings: the layout lies where sdy says that blocks lie, and it says the sharding
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "choices.h"
#include "heddle/sharding.h"

namespace heddle::property {
namespace {

struct Sharded {
  AxisRegistry registry = AxisRegistry::standard();
  MeshDecl mesh;
  Sharding sharding;
  Type type;
};

// Cuts an axis into parts, from slow to fast; the whole axis is one part.
std::vector<ShardingAxis> parts_of(Choices& choices, const std::string& name, std::int64_t size) {
  std::vector<ShardingAxis> parts;
  std::int64_t before = 1;
  while (before < size && choices.one_in(2)) {
    std::vector<std::int64_t> factors;
    for (std::int64_t f = 2; f < size; ++f)
      if (size % (before * f) == 0 && !(before == 1 && f == size)) factors.push_back(f);
    if (factors.empty()) break;
    parts.push_back({name, before, choices.pick(factors)});
    before *= parts.back().size;
  }
  if (parts.empty()) return {{name, 1, 0}};
  return parts;
}

// Where a part may go so that it does not stand beside its neighbour of the same axis.
bool follows(const std::vector<ShardingAxis>& list, const ShardingAxis& part, bool ordered) {
  return std::any_of(list.begin(), list.end(), [&](const ShardingAxis& a) {
    if (a.name != part.name || (ordered && &a != &list.back())) return false;
    return a.pre_size * a.size == part.pre_size || part.pre_size * part.size == a.pre_size;
  });
}

Sharded some_sharding(Choices& choices) {
  Sharded s;
  AxisSizes axes;
  for (std::int64_t i = choices.below(4); i > 0; --i)
    axes.emplace_back(std::string(1, static_cast<char>('a' + axes.size())),
                      choices.pick({2, 4, 3, 6, 8, 1}));
  s.mesh = {"m", make_mesh(axes, s.registry).value(), {}, {}};
  s.sharding.mesh = "m";
  Shape shape;
  for (std::int64_t d = choices.below(3); d > 0; --d) shape.push_back(choices.between(1, 9));
  s.sharding.dims.resize(shape.size());
  s.type = Type::tensor(DType::f32, shape);
  for (ShardingDim& d : s.sharding.dims) {
    d.open = choices.one_in(3);
    d.priority = choices.between(-1, 2);
  }
  for (const auto& [name, size] : axes)
    for (const ShardingAxis& part : parts_of(choices, name, size)) {
      const auto place = static_cast<std::size_t>(choices.below(5));
      auto* list = place < shape.size() ? &s.sharding.dims[place].axes
                   : place == 3         ? &s.sharding.unreduced
                   : place == 4         ? &s.sharding.replicated
                                        : nullptr;
      if (list != nullptr && !follows(*list, part, place < shape.size())) list->push_back(part);
    }
  return s;
}

using Cell = std::vector<std::int64_t>;  // a position on every axis of the mesh, then the address

// The cells that sdy's words give an element: every device whose block it is in.
std::set<Cell> cells_by_definition(const Sharded& s, const Index& x) {
  std::set<Cell> found;
  const auto& axes = s.mesh.mesh.axes();
  for (std::int64_t device = 0; device < s.mesh.mesh.devices(); ++device) {
    Cell cell(axes.size());
    std::int64_t rest = device;
    for (std::size_t a = axes.size(); a-- > 0; rest /= axes[a].size) cell[a] = rest % axes[a].size;
    bool holds = true;
    std::int64_t address = 0;
    for (std::size_t d = 0; d < x.size(); ++d) {
      std::int64_t block = 0;
      std::int64_t blocks = 1;
      for (const ShardingAxis& part : s.sharding.dims[d].axes) {
        const auto a = static_cast<std::size_t>(
            std::ranges::find(axes, part.name, &MeshAxis::name) - axes.begin());
        const std::int64_t size = part.size == 0 ? axes[a].size : part.size;
        block = block * size + cell[a] / (axes[a].size / part.pre_size / size) % size;
        blocks *= size;
      }
      const std::int64_t local = (s.type.shape[d] + blocks - 1) / blocks;
      holds = holds && x[d] / local == block;
      address = address * local + x[d] % local;
    }
    cell.push_back(address);
    if (holds) found.insert(cell);
  }
  return found;
}

std::set<Cell> cells_by_layout(const Sharded& s, const Layout& layout, const Index& x) {
  std::set<Cell> found;
  for (const Coord& coord : cells(layout, x).value()) {
    Cell cell;
    for (const MeshAxis& a : s.mesh.mesh.axes()) cell.push_back(coord_on(coord, a.axis));
    cell.push_back(coord_on(coord, s.registry.mem()));
    found.insert(cell);
  }
  return found;
}

std::int64_t contributions(const Sharded& s) {
  std::int64_t n = 1;
  for (const ShardingAxis& part : s.sharding.unreduced)
    for (const MeshAxis& a : s.mesh.mesh.axes())
      if (a.name == part.name) n *= part.size == 0 ? a.size : part.size;
  return n;
}

std::string show(const Sharded& s) {
  std::string text = s.mesh.mesh.str() + " " + s.type.str();
  auto list = [&](const std::vector<ShardingAxis>& axes) {
    text += " {";
    for (const ShardingAxis& a : axes)
      text += fmt::format(" {}:({}){}", a.name, a.pre_size, a.size);
    text += " }";
  };
  for (const ShardingDim& d : s.sharding.dims) list(d.axes);
  list(s.sharding.replicated);
  list(s.sharding.unreduced);
  return text;
}

HEDDLE_LAW(ShardingLaw, LiesWhereItSays) {
  const Sharded s = some_sharding(choices);
  const auto say = [&] { return show(s); };
  const auto value = to_layout(s.sharding, s.mesh, s.type, s.registry.mem());
  require(value.ok(), [&] { return show(s) + value.reason(); });
  require(validate(value->layout, s.registry).ok(), say);
  std::int64_t pending = 1;
  for (const Iter& p : value->layout.partials()) pending *= p.extent.factor();
  require(pending == contributions(s), say);
  Index x(s.type.rank(), 0);
  for (std::int64_t flat = 0; flat < s.type.elements(); ++flat) {
    std::int64_t rest = flat;
    for (std::size_t d = x.size(); d-- > 0; rest /= s.type.shape[d]) x[d] = rest % s.type.shape[d];
    require(cells_by_layout(s, value->layout, x) == cells_by_definition(s, x), say);
  }
}

HEDDLE_LAW(ShardingLaw, ComesBack) {
  const Sharded s = some_sharding(choices);
  const auto value = to_layout(s.sharding, s.mesh, s.type, s.registry.mem());
  require(value.ok(), [&] { return show(s) + value.reason(); });
  const auto again = to_sharding(*value, s.mesh, s.type, s.registry.mem());
  require(again.ok(), [&] { return show(s) + again.reason(); });
  require(*again == s.sharding, [&] {
    Sharded other = s;
    other.sharding = *again;
    return show(s) + " became " + show(other);
  });
}

}  // namespace
}  // namespace heddle::property
