// Mesh: named axes with sizes, and what it costs to move data along each.
#pragma once

#include <string_view>
#include <vector>

#include "heddle/axis.h"
#include "heddle/timed_move.h"

namespace heddle {

// What carries data between neighbours on an axis; named by reach, not by device.
enum class Medium : std::uint8_t {
  network,         // between devices
  global_memory,   // between blocks of a device
  cluster_memory,  // between blocks of a cluster: distributed shared memory
  shared_memory,   // between warps of a block
  shuffle,         // between lanes of a warp
};
std::string_view name(Medium medium);

struct Link {
  double latency = 0;    // seconds per message
  double bandwidth = 0;  // bytes per second that one holder receives
  friend bool operator==(const Link&, const Link&) = default;
};

struct MeshAxis {
  AxisId axis = kNoAxis;
  std::string name;
  std::int64_t size = 1;
  Link link;
  Medium medium = Medium::network;
};

// What one device of a mesh does by itself, per second. What is 0 is not known, and costs nothing.
struct DeviceFigures {
  double memory_rate = 2e12;         // bytes
  double compute_rate = 100e12;      // products and sums of contractions
  double cache = 0, cache_rate = 0;  // bytes that stay near, and bytes a second of them
  double light_rate = 0;             // additions, and what takes as long, element by element
  double heavy_rate = 0;             // exponentials
  double launch = 0;                 // seconds that a kernel takes beside its work
  double start = 0;                  // and a run beside its kernels
  friend bool operator==(const DeviceFigures&, const DeviceFigures&) = default;
};

class Mesh {
 public:
  // One device.
  Mesh() = default;
  static Expected<Mesh> make(std::vector<MeshAxis> axes, double local_bandwidth = 2e12,
                             double local_operations = 100e12);
  static Expected<Mesh> make(std::vector<MeshAxis> axes, const DeviceFigures& device,
                             std::vector<TimedMove> timed = {});
  // "node=2,gpu=8" or with links "node=2:25GB/s:5us,gpu=8". Adds mesh axes to the registry; names
  // of kernel axes (block, cluster, warp, lane) get their size there.
  static Expected<Mesh> parse(std::string_view text, AxisRegistry& axes);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  const MeshAxis* find(AxisId axis) const;
  std::int64_t devices() const;
  // Bytes per second that a holder copies inside its own memory.
  double local_bandwidth() const { return device_.memory_rate; }
  // Products and sums per second of a holder.
  double local_operations() const { return device_.compute_rate; }
  const DeviceFigures& device() const { return device_; }
  // What collectives of all devices take, where somebody timed them.
  const std::vector<TimedMove>& timed() const { return timed_; }
  std::uint64_t hash() const { return hash_; }
  std::string str() const;  // "node=2,gpu=8"
  friend bool operator==(const Mesh& a, const Mesh& b);

 private:
  std::vector<MeshAxis> axes_;
  DeviceFigures device_;
  std::vector<TimedMove> timed_;
  std::uint64_t hash_ = 0;
};

// Links that are assumed where none are given.
Link default_link(std::string_view axis_name, Medium medium);

}  // namespace heddle
