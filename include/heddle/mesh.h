// Mesh: named axes with sizes, and what it costs to move data along each.
#pragma once

#include <string_view>
#include <vector>

#include "heddle/axis.h"

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

class Mesh {
 public:
  // One device.
  Mesh() = default;
  static Expected<Mesh> make(std::vector<MeshAxis> axes, double local_bandwidth = 2e12,
                             double local_operations = 100e12);
  // "node=2,gpu=8" or with links "node=2:25GB/s:5us,gpu=8". Adds mesh axes to the registry; names
  // of kernel axes (block, cluster, warp, lane) get their size there.
  static Expected<Mesh> parse(std::string_view text, AxisRegistry& axes);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  const MeshAxis* find(AxisId axis) const;
  std::int64_t devices() const;
  // Bytes per second that a holder copies inside its own memory.
  double local_bandwidth() const { return local_bandwidth_; }
  // Products and sums per second of a holder.
  double local_operations() const { return local_operations_; }
  std::uint64_t hash() const { return hash_; }
  std::string str() const;  // "node=2,gpu=8"
  friend bool operator==(const Mesh& a, const Mesh& b);

 private:
  std::vector<MeshAxis> axes_;
  double local_bandwidth_ = 2e12, local_operations_ = 100e12;
  std::uint64_t hash_ = 0;
};

// Links that are assumed where none are given.
Link default_link(std::string_view axis_name, Medium medium);

}  // namespace heddle
