#include "heddle/sharding.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace heddle {

bool operator==(const MeshDecl& a, const MeshDecl& b) {
  return a.name == b.name && a.mesh == b.mesh && a.device_ids == b.device_ids &&
         a.attrs == b.attrs &&
         std::ranges::equal(a.mesh.axes(), b.mesh.axes(), {}, &MeshAxis::name, &MeshAxis::name);
}

// ---- meshes

namespace {

constexpr std::size_t kMostAxes = 64;

// Registered names are letters, digits and _; those of the text may be anything.
std::string plain_name(std::string_view text) {
  std::string plain(text.substr(0, 40));
  for (char& c : plain)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  if (plain.empty() || std::isdigit(static_cast<unsigned char>(plain[0])) != 0)
    plain.insert(plain.begin(), '_');
  return plain;
}

// Tries x, x_4 (after its size), x_4_2, x_4_3, … A name of more than 40 characters is cut.
Expected<AxisId> register_axis(const std::string& name, std::int64_t size, AxisRegistry& registry) {
  constexpr int kTries = 100;
  auto with = [&](std::string spelling) {
    return registry.add({std::move(spelling), AxisKind::mesh, Scope::world, Scope::device, size});
  };
  const std::string plain = plain_name(name);
  if (auto id = with(plain)) return id;
  const std::string base = fmt::format("{}_{}", plain, size);
  auto id = with(base);
  for (int i = 2; !id && i < kTries; ++i) id = with(fmt::format("{}_{}", base, i));
  return id;
}

}  // namespace

Expected<Mesh> make_mesh(const AxisSizes& axes, AxisRegistry& registry) {
  if (axes.size() > kMostAxes)
    return reason("the mesh has {} axes; {} at most", axes.size(), kMostAxes);
  std::vector<MeshAxis> list;
  for (const auto& [name, size] : axes) {
    if (size < 1) return reason("axis \"{}\" has size {}; a size is at least 1", name, size);
    if (std::ranges::find(list, name, &MeshAxis::name) != list.end())
      return reason("axis \"{}\" is given twice", name);
    MeshAxis axis;
    HEDDLE_TRY(axis.axis, register_axis(name, size, registry));
    axis.name = name;
    axis.size = size;
    axis.link = default_link(name, axis.medium);
    list.push_back(std::move(axis));
  }
  return Mesh::make(std::move(list));
}

// ---- parts of axes

namespace {

std::string spelled(const ShardingAxis& axis) {
  if (axis.size == 0) return fmt::format("\"{}\"", axis.name);
  return fmt::format("\"{}\":({}){}", axis.name, axis.pre_size, axis.size);
}

}  // namespace

Expected<AxisPart> axis_part(std::int64_t n, const ShardingAxis& axis) {
  if (axis.size == 0) return AxisPart{n, 1};
  if (axis.pre_size < 1 || axis.size < 2 || n % axis.pre_size != 0 ||
      n / axis.pre_size % axis.size != 0)
    return reason(
        "axis \"{}\" of size {} has no part {}: (before)size must be at least (1)2, and "
        "before * size must divide {}",
        axis.name, n, spelled(axis), n);
  if (axis.size == n)
    return reason("{} is all of the axis; write \"{}\"", spelled(axis), axis.name);
  return AxisPart{axis.size, n / axis.pre_size / axis.size};
}

namespace {

// A part of a mesh axis that a sharding uses. Going along the axis from its slowest digit to its
// fastest, the part begins where `before` positions are settled and ends after before * size.
struct Use {
  std::size_t axis = 0;  // of the mesh
  std::int64_t before = 1, size = 1, stride = 1;
  std::int64_t after() const { return before * size; }
  friend auto operator<=>(const Use&, const Use&) = default;
};

class ToLayout {
 public:
  ToLayout(const Sharding& sharding, const MeshDecl& mesh, const Type& type, AxisId mem)
      : sharding_(sharding), mesh_(mesh), type_(type), mem_(mem) {}

  Expected<ValueLayout> run() {
    HEDDLE_TRY_VOID(check_rank());
    HEDDLE_TRY_VOID(split_dims());
    HEDDLE_TRY_VOID(unreduced());
    HEDDLE_TRY_VOID(replicated());
    HEDDLE_TRY_VOID(copies());
    memory();
    HEDDLE_TRY(out_.layout, Layout::make(std::move(parts_)));
    return std::move(out_);
  }

 private:
  Verdict check_rank() const {
    const std::size_t rank = type_.rank();
    if (sharding_.dims.size() == rank) return yes();
    // A tensor that is whole on one device names no dimensions.
    if (sharding_.dims.empty() && mesh_.mesh.axes().empty()) return yes();
    return reason("it has {} and {} has {}", counted(sharding_.dims.size(), "dimension"),
                  type_.str(), rank);
  }

  // Finds the axis and takes it out of what is free.
  Expected<Use> use(const ShardingAxis& axis) {
    const auto& axes = mesh_.mesh.axes();
    const auto found = std::ranges::find(axes, axis.name, &MeshAxis::name);
    if (found == axes.end()) return unknown(axis.name);
    HEDDLE_TRY(AxisPart part, axis_part(found->size, axis));
    Use mine{static_cast<std::size_t>(found - axes.begin()), found->size / part.size / part.stride,
             part.size, part.stride};
    for (const Use& other : uses_) {
      if (other.axis != mine.axis) continue;
      const bool apart = mine.after() <= other.before || other.after() <= mine.before;
      if (!apart || found->size == 1) return reason("{} is used twice", spelled(axis));
      const Use& outer = mine < other ? mine : other;
      const Use& inner = mine < other ? other : mine;
      if (inner.before % outer.after() != 0)
        return reason(
            "{} does not fit another part of the axis that is used: {} does not divide {}",
            spelled(axis), outer.after(), inner.before);
    }
    uses_.push_back(mine);
    return mine;
  }

  Reason unknown(const std::string& name) const {
    std::string known;
    for (const MeshAxis& a : mesh_.mesh.axes())
      known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", a.name);
    return reason("mesh @{} has no axis \"{}\"; it has {}", mesh_.name, name,
                  known.empty() ? "none" : known);
  }

  Iter digit(const Use& use) const {
    return {use.size, use.stride, mesh_.mesh.axes()[use.axis].axis};
  }

  // One list of axes; those of one position become hints.
  Expected<std::vector<Use>> list(const std::vector<ShardingAxis>& axes,
                                  std::vector<ShardingHints::UnitAxis>& units, bool ordered) {
    std::vector<Use> uses;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      HEDDLE_TRY(Use one, use(axes[i]));
      if (one.size == 1)
        units.push_back({i, axes[i].name});
      else
        uses.push_back(one);
    }
    if (!ordered) std::ranges::sort(uses);
    for (std::size_t i = 1; i < uses.size(); ++i)
      if (uses[i].axis == uses[i - 1].axis && uses[i].before == uses[i - 1].after())
        return reason("two parts of axis \"{}\" stand side by side; write them as one",
                      mesh_.mesh.axes()[uses[i].axis].name);
    return uses;
  }

  Verdict split_dims() {
    out_.hints.dims.resize(sharding_.dims.size());
    for (std::size_t d = 0; d < type_.rank(); ++d) {
      std::vector<Use> uses;
      if (d < sharding_.dims.size()) {
        const ShardingDim& said = sharding_.dims[d];
        ShardingHints::Dim& hint = out_.hints.dims[d];
        hint.open = said.open;
        hint.priority = said.priority;
        HEDDLE_TRY(uses, list(said.axes, hint.unit_axes, true));
      }
      std::int64_t shards = 1;  // the uses are disjoint, so that this is at most all devices
      for (const Use& u : uses) {
        shards *= u.size;
        parts_.digits.push_back(digit(u));
      }
      const std::int64_t size = type_.shape[d];
      const std::int64_t local = std::max<std::int64_t>((size + shards - 1) / shards, 1);
      parts_.digits.push_back({local, 0, mem_});
      parts_.dims.push_back({size, Dim(local) * shards, 0, 0, 0});
    }
    return yes();
  }

  Verdict unreduced() {
    HEDDLE_TRY(auto uses, list(sharding_.unreduced, out_.hints.unreduced_unit_axes, false));
    for (const Use& u : uses) parts_.partials.push_back(digit(u));
    return yes();
  }

  Verdict replicated() {
    std::vector<ShardingHints::UnitAxis> units;
    HEDDLE_TRY(auto uses, list(sharding_.replicated, units, false));
    out_.hints.replicated = sharding_.replicated;
    std::ranges::sort(out_.hints.replicated, {}, [&](const ShardingAxis& a) {
      const auto& axes = mesh_.mesh.axes();
      return std::pair(std::ranges::find(axes, a.name, &MeshAxis::name) - axes.begin(), a.pre_size);
    });
    for (const Use& u : uses) std::erase(uses_, u);  // they hold copies too
    return yes();
  }

  // What no dimension and no sum uses holds copies.
  Verdict copies() {
    std::ranges::sort(uses_);
    auto next = uses_.begin();
    for (std::size_t a = 0; a < mesh_.mesh.axes().size(); ++a) {
      const MeshAxis& axis = mesh_.mesh.axes()[a];
      std::int64_t settled = 1;
      auto copy_until = [&](std::int64_t before) {
        if (before > settled)
          parts_.replicas.push_back({before / settled, axis.size / before, axis.axis});
      };
      for (; next != uses_.end() && next->axis == a; ++next) {
        copy_until(next->before);
        settled = next->after();
      }
      copy_until(axis.size);
    }
    return yes();
  }

  // Digits on memory, row-major over what one device has.
  void memory() {
    Dim stride = 1;
    for (std::size_t i = parts_.digits.size(); i-- > 0;) {
      Iter& d = parts_.digits[i];
      if (d.axis != mem_) continue;
      d.stride = stride;
      stride = stride * d.extent;
    }
  }

  const Sharding& sharding_;
  const MeshDecl& mesh_;
  const Type& type_;
  AxisId mem_;
  std::vector<Use> uses_;
  LayoutParts parts_;
  ValueLayout out_;
};

// ---- back

void put_units(std::vector<ShardingAxis>& axes, const std::vector<ShardingHints::UnitAxis>& units) {
  for (const ShardingHints::UnitAxis& u : units)
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(std::min(u.place, axes.size())),
                ShardingAxis{u.name, 1, 0});
}

// The part of a mesh axis that a digit counts; nothing where it is on no axis of the mesh.
std::optional<ShardingAxis> axis_of(const Iter& digit, const MeshDecl& mesh) {
  const MeshAxis* axis = mesh.mesh.find(digit.axis);
  if (axis == nullptr || !digit.extent.is_const() || !digit.stride.is_const() ||
      digit.stride.factor() < 1)
    return std::nullopt;
  const std::int64_t size = digit.extent.factor();
  if (size == axis->size) return ShardingAxis{axis->name, 1, 0};
  return ShardingAxis{axis->name, axis->size / size / digit.stride.factor(), size};
}

// In the order of the mesh, and along one axis from slow to fast.
std::vector<ShardingAxis> pending_axes(const Layout& layout, const MeshDecl& mesh) {
  std::vector<ShardingAxis> axes;
  const auto& partials = layout.partials();  // sorted by axis, fast to slow
  for (const MeshAxis& a : mesh.mesh.axes())
    for (auto p = partials.rbegin(); p != partials.rend(); ++p)
      if (p->axis == a.axis)
        if (auto axis = axis_of(*p, mesh)) axes.push_back(std::move(*axis));
  return axes;
}

}  // namespace

Expected<ValueLayout> to_layout(const Sharding& sharding, const MeshDecl& mesh, const Type& type,
                                AxisId mem) {
  return ToLayout(sharding, mesh, type, mem).run();
}

Expected<Sharding> to_sharding(const ValueLayout& value, const MeshDecl& mesh, const Type& type,
                               AxisId mem) {
  Sharding sharding;
  sharding.mesh = mesh.name;
  sharding.replicated = value.hints.replicated;
  const std::vector<Dim> shape = value.layout.padded_shape();
  HEDDLE_TRY(auto groups, group(value.layout, shape));
  const bool whole = mesh.mesh.axes().empty() && value.hints.dims.empty();
  for (std::size_t d = 0; d < groups.size() && !whole; ++d) {
    ShardingDim dim;
    for (const Iter& digit : groups[d])
      if (auto axis = axis_of(digit, mesh)) dim.axes.push_back(std::move(*axis));
    if (d < value.hints.dims.size()) {
      const ShardingHints::Dim& hint = value.hints.dims[d];
      dim.open = hint.open;
      dim.priority = hint.priority;
      put_units(dim.axes, hint.unit_axes);
    }
    sharding.dims.push_back(std::move(dim));
  }
  sharding.unreduced = pending_axes(value.layout, mesh);
  put_units(sharding.unreduced, value.hints.unreduced_unit_axes);
  // What was read off is right only where it says the same again.
  auto again = to_layout(sharding, mesh, type, mem);
  if (!again) return reason("no sharding has this layout: {}", again.reason());
  if (!(again->layout == value.layout))
    return reason("no sharding has this layout: its blocks, copies or memory order are others");
  return sharding;
}

}  // namespace heddle
