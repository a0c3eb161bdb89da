// Cluster: devices and what connects them, level by level, as a file describes it:
//
//   {"name": "h100-64",
//    "device": {"memory": "80GB", "memory_rate": "3.35TB/s", "compute_rate": "690TFLOP/s"},
//    "levels": [{"name": "node", "size": 8, "rate": "50GB/s", "latency": "14us"},
//               {"name": "gpu", "size": 8, "rate": "320GB/s", "latency": "3us"}]}
#pragma once

#include <string>
#include <vector>

#include "heddle/mesh.h"
#include "heddle/step_work.h"

namespace heddle {

struct Cluster {
  struct Level {
    std::string name;
    std::int64_t size = 1;  // parts of the next level, or devices
    Link link;              // between them
    friend bool operator==(const Level&, const Level&) = default;
  };
  std::string name, about;
  std::int64_t memory = 0;    // bytes of one device
  DeviceFigures device = {};  // what it does by itself
  std::vector<Level> levels;  // the outermost first
  // Where they were measured: steps of a device, and collectives of all devices, by size.
  StepFigures steps = {};
  std::vector<TimedMove> moves = {};

  std::int64_t devices() const;
  // The mesh with the cluster's figures: its axes lie on the devices in order, the last one
  // innermost; an axis across several levels has the slowest link of them.
  Expected<Mesh> with_figures(const Mesh& mesh) const;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

// A file, or the name of one of those that come along.
Expected<Cluster> find_cluster(const std::string& file_or_name);
Expected<Cluster> parse_cluster(const std::string& text, const std::string& file);
// The same as a file: it reads back as it is.
std::string cluster_text(const Cluster& cluster);
std::vector<std::string> known_clusters();

// Meshes of all of the cluster's devices that are worth a search: its levels as axes, and with a
// level cut in two.
std::vector<std::string> meshes_of(const Cluster& cluster);

}  // namespace heddle
