#include "heddle/axis.h"

#include <algorithm>
#include <cctype>

namespace heddle {

std::string_view name(AxisKind kind) {
  switch (kind) {
    case AxisKind::mesh:
      return "mesh";
    case AxisKind::kernel:
      return "kernel";
    case AxisKind::memory:
      return "memory";
  }
  return "?";
}

std::string_view name(Scope scope) {
  static constexpr std::string_view names[] = {"world",     "node", "device", "cluster", "block",
                                               "warpgroup", "warp", "thread", "element"};
  return names[static_cast<int>(scope)];
}

bool is_name(std::string_view text) {
  auto letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  if (text.empty() || text.size() > 64 || !letter(static_cast<unsigned char>(text[0])))
    return false;
  return std::all_of(text.begin(), text.end(),
                     [&](unsigned char c) { return letter(c) || std::isdigit(c) != 0; });
}

AxisRegistry::AxisRegistry() = default;
AxisRegistry::AxisRegistry(const AxisRegistry&) = default;
AxisRegistry::AxisRegistry(AxisRegistry&&) noexcept = default;
AxisRegistry& AxisRegistry::operator=(const AxisRegistry&) = default;
AxisRegistry& AxisRegistry::operator=(AxisRegistry&&) noexcept = default;
AxisRegistry::~AxisRegistry() = default;

AxisRegistry AxisRegistry::standard() {
  AxisRegistry r;
  const AxisInfo axes[] = {
      {"mem", AxisKind::memory, Scope::thread, Scope::element, 0},
      {"reg", AxisKind::memory, Scope::thread, Scope::element, 0},
      {"vec", AxisKind::memory, Scope::thread, Scope::element, 0},
      {"bank", AxisKind::memory, Scope::block, Scope::element, 32},
      {"tmem_lane", AxisKind::memory, Scope::block, Scope::element, 128},
      {"tmem_col", AxisKind::memory, Scope::block, Scope::element, 512},
      {"part", AxisKind::memory, Scope::device, Scope::element, 128},  // Trainium's P
      {"free", AxisKind::memory, Scope::device, Scope::element, 0},    // Trainium's F
      {"block", AxisKind::kernel, Scope::device, Scope::block, 0},
      {"cluster", AxisKind::kernel, Scope::cluster, Scope::block, 0},
      {"warpgroup", AxisKind::kernel, Scope::block, Scope::warpgroup, 0},
      {"warp_in_group", AxisKind::kernel, Scope::warpgroup, Scope::warp, 4},
      {"warp", AxisKind::kernel, Scope::block, Scope::warp, 0},
      {"lane", AxisKind::kernel, Scope::warp, Scope::thread, 32},
      {"thread", AxisKind::kernel, Scope::block, Scope::thread, 0},
  };
  for (const AxisInfo& a : axes) (void)r.add(a);
  r.mem_ = *r.find("mem");
  return r;
}

Expected<AxisId> AxisRegistry::add(AxisInfo info) {
  if (!is_name(info.name))
    return reason("'{}' cannot name an axis: use a letter, then letters, digits or _", info.name);
  if (info.size < 0)
    return reason("axis {} has size {}; a size is at least 1", info.name, info.size);
  if (auto it = by_name_.find(info.name); it != by_name_.end()) {
    const AxisInfo& old = axes_[it->second];
    if (old.kind != info.kind || old.size != info.size || old.outer != info.outer ||
        old.inner != info.inner)
      return reason("axis {} is there already as a {} axis of size {}", old.name, name(old.kind),
                    old.size);
    return it->second;
  }
  if (find_symbol(info.name))
    return reason("{} is the name of a size and cannot name an axis too", info.name);
  if (axes_.size() >= kNoAxis) return reason("too many axes: {} at most", kNoAxis);
  auto id = static_cast<AxisId>(axes_.size());
  by_name_.emplace(info.name, id);
  axes_.push_back(std::move(info));
  return id;
}

Verdict AxisRegistry::set_size(AxisId id, std::int64_t size) {
  AxisInfo& axis = axes_.at(id);
  if (size < 1) return reason("axis {} has size {}; a size is at least 1", axis.name, size);
  axis.size = size;
  return yes();
}

Verdict AxisRegistry::put_on_mesh(AxisId id, std::int64_t size) {
  HEDDLE_TRY_VOID(set_size(id, size));
  axes_[id].on_mesh = true;
  return yes();
}

std::optional<AxisId> AxisRegistry::find(std::string_view name) const {
  auto it = by_name_.find(std::string(name));
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

Expected<AxisId> AxisRegistry::require(std::string_view wanted) const {
  if (auto id = find(wanted)) return *id;
  std::string mesh;
  std::string kernel;
  std::string memory;
  for (const AxisInfo& a : axes_) {
    std::string& list = a.kind == AxisKind::memory              ? memory
                        : a.kind == AxisKind::mesh || a.on_mesh ? mesh
                                                                : kernel;
    list += (list.empty() ? "" : ", ") + a.name;
  }
  return reason(
      "unknown axis '{}'. The mesh has {};\n  inside a device there are {};\n  in memory {}",
      wanted, mesh.empty() ? "no axes (give --mesh NAME=SIZE,...)" : mesh, kernel, memory);
}

Verdict check_counted_once(const AxisInfo& a, const AxisInfo& b) {
  if (a.kind != AxisKind::kernel || b.kind != AxisKind::kernel || a.name == b.name) return yes();
  if (a.outer >= b.inner || b.outer >= a.inner) return yes();
  return reason(
      "axis {} counts {}s inside a {} and axis {} counts {}s inside a {}: they count the same "
      "thing twice; use one of them",
      a.name, name(a.inner), name(a.outer), b.name, name(b.inner), name(b.outer));
}

const AxisInfo& AxisRegistry::operator[](AxisId id) const {
  HEDDLE_CHECK(id < axes_.size(), "axis id {} of {}", id, axes_.size());
  return axes_[id];
}

SymbolId AxisRegistry::symbol(std::string_view name) {
  if (auto id = find_symbol(name)) return *id;
  symbols_.emplace_back(name);
  return static_cast<SymbolId>(symbols_.size());
}

std::optional<SymbolId> AxisRegistry::find_symbol(std::string_view name) const {
  auto it = std::find(symbols_.begin(), symbols_.end(), name);
  if (it == symbols_.end()) return std::nullopt;
  return static_cast<SymbolId>(it - symbols_.begin() + 1);
}

std::string_view AxisRegistry::symbol_name(SymbolId id) const {
  return id >= 1 && id <= symbols_.size() ? std::string_view(symbols_[id - 1]) : "?";
}

}  // namespace heddle
