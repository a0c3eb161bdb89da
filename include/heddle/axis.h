// Named axes: from the device mesh through a kernel's blocks, warps and lanes to memory.
// The registry is an argument everywhere; there is no global one.
#pragma once

#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/dim.h"
#include "heddle/error.h"

namespace heddle {

using AxisId = std::uint16_t;
// The axis of a digit that moves nothing (stride 0, a broadcast).
inline constexpr AxisId kNoAxis = 0xFFFF;

enum class AxisKind : std::uint8_t {
  mesh,    // between devices
  kernel,  // between blocks, warps and lanes of one device
  memory,  // inside what one of those holds: an address, a register, a vector lane
};

// Nested regions of a machine, outermost first.
enum class Scope : std::uint8_t {
  world,
  node,
  device,
  cluster,
  block,
  warpgroup,
  warp,
  thread,
  element
};

std::string_view name(AxisKind kind);
std::string_view name(Scope scope);

struct AxisInfo {
  std::string name;
  AxisKind kind = AxisKind::mesh;
  Scope outer = Scope::world;  // the axis counts `inner`s inside one `outer`
  Scope inner = Scope::device;
  std::int64_t size = 0;  // 0: not known, not bounded
  bool on_mesh = false;   // a kernel axis that a mesh has too
};

// Names of axes and of symbolic sizes. Ids are positions and stay valid as more are added.
class AxisRegistry {
 public:
  AxisRegistry();
  AxisRegistry(const AxisRegistry&);
  AxisRegistry(AxisRegistry&&) noexcept;
  AxisRegistry& operator=(const AxisRegistry&);
  AxisRegistry& operator=(AxisRegistry&&) noexcept;
  ~AxisRegistry();
  // Kernel and memory axes that every machine has: block, cluster, warp, lane, vec, mem, …
  static AxisRegistry standard();

  // Adds an axis; a name that is taken with other properties is refused.
  Expected<AxisId> add(AxisInfo info);
  // The standard axes leave some sizes open; a mesh or a target fills them in.
  Verdict set_size(AxisId id, std::int64_t size);
  // The same for an axis of a mesh, which `require` then lists there.
  Verdict put_on_mesh(AxisId id, std::int64_t size);

  std::optional<AxisId> find(std::string_view name) const;
  // Like find, with a reason that lists the names there are.
  Expected<AxisId> require(std::string_view name) const;
  const AxisInfo& operator[](AxisId id) const;
  bool knows(AxisId id) const { return id < axes_.size(); }
  std::size_t size() const { return axes_.size(); }
  // Every axis, for a loop.
  auto ids() const { return std::views::iota(AxisId{0}, static_cast<AxisId>(axes_.size())); }
  AxisId mem() const { return mem_; }

  SymbolId symbol(std::string_view name);
  std::size_t symbols() const { return symbols_.size(); }
  std::string_view symbol_name(SymbolId id) const;
  std::optional<SymbolId> find_symbol(std::string_view name) const;

 private:
  std::vector<AxisInfo> axes_;
  std::unordered_map<std::string, AxisId> by_name_;
  std::vector<std::string> symbols_;
  AxisId mem_ = 0;
};

// Says no to kernel axes that count the same thing twice, as thread and lane do.
Verdict check_counted_once(const AxisInfo& a, const AxisInfo& b);

// Whether `text` can name an axis or a symbol: a letter or _, then letters, digits and _.
bool is_name(std::string_view text);

}  // namespace heddle
