#include "heddle/mesh.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "heddle/hash.h"

namespace heddle {

std::string_view name(Medium medium) {
  static constexpr std::string_view names[] = {
      "network", "global memory", "distributed shared memory", "shared memory", "shuffle"};
  return names[static_cast<int>(medium)];
}

Link default_link(std::string_view axis_name, Medium medium) {
  switch (medium) {
    case Medium::network:
      // A network card between machines, a switch inside one.
      if (axis_name == "node" || axis_name == "host" || axis_name == "pod") return {10e-6, 25e9};
      return {3e-6, 300e9};
    case Medium::global_memory:
      return {1e-6, 40e9};
    case Medium::cluster_memory:
      return {200e-9, 40e9};
    case Medium::shared_memory:
      return {30e-9, 120e9};
    case Medium::shuffle:
      return {2e-9, 8e9};
  }
  return {};
}

Expected<Mesh> Mesh::make(std::vector<MeshAxis> axes, double local_bandwidth,
                          double local_operations) {
  return make(std::move(axes),
              DeviceFigures{.memory_rate = local_bandwidth, .compute_rate = local_operations});
}

namespace {

Verdict check_device(const DeviceFigures& device) {
  if (!(device.memory_rate > 0) || !std::isfinite(device.memory_rate))
    return Reason{"the local bandwidth must be above 0"};
  if (!(device.compute_rate > 0) || !std::isfinite(device.compute_rate))
    return Reason{"the operations per second of a device must be above 0"};
  for (const double figure : {device.cache, device.cache_rate, device.light_rate, device.heavy_rate,
                              device.launch, device.start})
    if (!(figure >= 0) || !std::isfinite(figure))
      return Reason{"figures of a device are numbers of at least 0"};
  return yes();
}

}  // namespace

Expected<Mesh> Mesh::make(std::vector<MeshAxis> axes, const DeviceFigures& device,
                          std::vector<TimedMove> timed) {
  Mesh mesh;
  __int128 devices = 1;
  std::uint64_t h = hash_mix(std::bit_cast<std::uint64_t>(device.memory_rate));
  h = hash_combine(h, std::bit_cast<std::uint64_t>(device.compute_rate));
  for (const double figure : {device.cache, device.cache_rate, device.light_rate, device.heavy_rate,
                              device.launch, device.start})
    if (figure != 0) h = hash_combine(h, std::bit_cast<std::uint64_t>(figure));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const MeshAxis& a = axes[i];
    if (a.size < 1) return reason("mesh axis {} has size {}; a size is at least 1", a.name, a.size);
    if (!(a.link.latency >= 0) || !(a.link.bandwidth > 0) ||
        !std::isfinite(a.link.latency + a.link.bandwidth))
      return reason("mesh axis {} needs a latency of at least 0 and a bandwidth above 0", a.name);
    for (std::size_t j = 0; j < i; ++j)
      if (axes[j].axis == a.axis) return reason("mesh axis {} is given twice", a.name);
    devices *= a.size;
    if (devices > (std::int64_t{1} << 60)) return reason("the mesh has more than 2^60 devices");
    h = hash_combine(hash_combine(h, a.axis), static_cast<std::uint64_t>(a.size));
    h = hash_combine(hash_combine(h, std::bit_cast<std::uint64_t>(a.link.latency)),
                     std::bit_cast<std::uint64_t>(a.link.bandwidth));
    h = hash_combine(h, static_cast<std::uint64_t>(a.medium));
  }
  for (const TimedMove& move : timed) {
    h = hash_combine(h, static_cast<std::uint64_t>(move.kind));
    h = hash_combine(hash_combine(h, std::bit_cast<std::uint64_t>(move.bytes)),
                     std::bit_cast<std::uint64_t>(move.seconds));
  }
  HEDDLE_TRY_VOID(check_device(device));
  mesh.timed_ = std::move(timed);
  mesh.axes_ = std::move(axes);
  mesh.device_ = device;
  mesh.hash_ = h;
  return mesh;
}

namespace {

Expected<double> quantity(std::string_view text, std::string_view what, FigureUnits units) {
  if (const auto value = parse_figure(text, units)) return *value;
  return reason("'{}' is no {}: write a number and one of {}", text, what, spelled(units));
}

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    std::size_t n = text.find(at);
    parts.push_back(text.substr(0, n));
    if (n == std::string_view::npos) return parts;
    text.remove_prefix(n + 1);
  }
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Medium medium_of(const AxisInfo& info) {
  if (info.kind == AxisKind::mesh) return Medium::network;
  if (info.inner == Scope::thread)
    return info.outer == Scope::warp ? Medium::shuffle : Medium::shared_memory;
  if (info.inner == Scope::block)
    return info.outer == Scope::cluster ? Medium::cluster_memory : Medium::global_memory;
  return Medium::shared_memory;
}

Expected<MeshAxis> parse_axis(std::string_view item, AxisRegistry& axes) {
  std::vector<std::string_view> parts = cut(trim(item), ':');
  std::size_t equals = parts[0].find('=');
  if (equals == std::string_view::npos)
    return reason("mesh axis '{}': write NAME=SIZE, as in gpu=8", item);
  MeshAxis a;
  a.name = std::string(trim(parts[0].substr(0, equals)));
  std::string_view digits = trim(parts[0].substr(equals + 1));
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), a.size);
  if (error != std::errc() || end != digits.data() + digits.size() || a.size < 1)
    return reason("mesh axis {}: '{}' is no size; write a whole number of at least 1", a.name,
                  digits);
  if (auto known = axes.find(a.name)) {
    const AxisInfo& info = axes[*known];
    if (info.kind == AxisKind::memory)
      return reason("{} is a memory axis and cannot be part of a mesh", a.name);
    if (info.size != 0 && info.size < a.size)
      return reason("axis {} has at most {} positions, not {}", a.name, info.size, a.size);
    HEDDLE_TRY_VOID(axes.put_on_mesh(*known, a.size));
    a.axis = *known;
  } else {
    HEDDLE_TRY(a.axis, axes.add({a.name, AxisKind::mesh, Scope::world, Scope::device, a.size}));
  }
  a.medium = medium_of(axes[a.axis]);
  a.link = default_link(a.name, a.medium);
  if (parts.size() > 1) {
    HEDDLE_TRY(a.link.bandwidth, quantity(trim(parts[1]), "bandwidth", kRateUnits));
  }
  if (parts.size() > 2) {
    HEDDLE_TRY(a.link.latency, quantity(trim(parts[2]), "latency", kTimeUnits));
  }
  if (parts.size() > 3) return reason("mesh axis {}: write NAME=SIZE:BANDWIDTH:LATENCY", a.name);
  return a;
}

// No two axes count the warps or threads of one block. Blocks are another matter: beside cluster,
// block counts clusters, for which there is no other axis.
Verdict check_threads_once(const std::vector<MeshAxis>& list, const AxisRegistry& axes) {
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const AxisInfo& a = axes[list[j].axis];
      const AxisInfo& b = axes[list[i].axis];
      if (a.outer >= Scope::block && b.outer >= Scope::block)
        HEDDLE_TRY_VOID(check_counted_once(a, b));
    }
  return yes();
}

}  // namespace

Expected<Mesh> Mesh::parse(std::string_view text, AxisRegistry& axes) {
  std::vector<MeshAxis> list;
  if (trim(text).empty()) return Mesh();
  if (text.size() > 4096) return reason("the mesh description is longer than 4096 characters");
  // A mesh that is refused leaves no trace in the registry.
  AxisRegistry more = axes;
  std::vector<std::string_view> seen;
  for (std::string_view item : cut(text, ',')) {
    const std::string_view axis = trim(item.substr(0, item.find('=')));
    if (std::find(seen.begin(), seen.end(), axis) != seen.end())
      return reason("mesh axis {} is given twice", axis);
    seen.push_back(axis);
    HEDDLE_TRY(MeshAxis a, parse_axis(item, more));
    list.push_back(std::move(a));
  }
  HEDDLE_TRY_VOID(check_threads_once(list, more));
  HEDDLE_TRY(Mesh mesh, make(std::move(list)));
  axes = std::move(more);
  return mesh;
}

const MeshAxis* Mesh::find(AxisId axis) const {
  for (const MeshAxis& a : axes_)
    if (a.axis == axis) return &a;
  return nullptr;
}

std::int64_t Mesh::devices() const {
  std::int64_t n = 1;
  for (const MeshAxis& a : axes_) n *= a.size;
  return n;
}

std::string Mesh::str() const {
  std::string text;
  for (const MeshAxis& a : axes_)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", a.name, a.size);
  return text.empty() ? "one device" : text;
}

bool operator==(const Mesh& a, const Mesh& b) {
  if (a.hash_ != b.hash_ || a.axes_.size() != b.axes_.size() || !(a.device_ == b.device_) ||
      a.timed_ != b.timed_)
    return false;
  for (std::size_t i = 0; i < a.axes_.size(); ++i) {
    const MeshAxis& x = a.axes_[i];
    const MeshAxis& y = b.axes_[i];
    if (x.axis != y.axis || x.size != y.size || !(x.link == y.link) || x.medium != y.medium)
      return false;
  }
  return true;
}

}  // namespace heddle
