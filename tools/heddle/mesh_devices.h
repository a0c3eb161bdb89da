// The devices of a run on a mesh that this process has: all of them as threads, or the one that it
// is as a rank.
#pragma once

#include <memory>
#include <vector>

#include "heddle/checkpoint.h"
#include "heddle/executable.h"
#include "heddle/spmd.h"
#include "heddle/thread_mesh.h"
#include "heddle/transport.h"

namespace heddle::cli {

// Arrays of each device that is here: parts[device][number].
using DeviceParts = std::vector<std::vector<Array>>;

class MeshDevices {
 public:
  // `ranks` is null for threads. Throws where there are not as many ranks as devices.
  MeshDevices(const Spmd& spmd, const SpmdFunction& function, Transport* ranks,
              const WatchdogOptions& watchdog);

  const MeshDecl& mesh() const { return mesh_; }
  // Throws where an argument lies on devices in another order.
  CheckpointMesh for_checkpoints() const;
  bool is_first() const { return ranks_ == nullptr || ranks_->rank() == 0; }
  Transport* ranks() const { return ranks_; }
  std::size_t here() const { return device_.size(); }
  // The number that the mesh gives to a device that is here.
  std::int64_t device(std::size_t i) const { return device_[i]; }

  // What the devices here have of one whole argument: a part each.
  std::vector<Array> parts_of(const Array& whole, std::size_t argument) const;

  // One run.
  DeviceParts run(const Executable& executable, DeviceParts arguments, RunOptions options);

  // The whole of one result, from its parts here and elsewhere; all ranks call it together.
  Array whole_result(const DeviceParts& results, std::size_t result);

 private:
  std::vector<Array> gathered(const Array& part);

  const SpmdFunction& function_;
  const std::vector<MeshDecl>& meshes_;
  const MeshDecl& mesh_;
  const AxisRegistry& axes_;
  Transport* ranks_;
  std::vector<std::int64_t> device_;
  std::unique_ptr<ThreadMesh> threads_;
};

// Throws where a result has no whole, because a sum of it is pending.
void want_whole_results(const SpmdFunction& function);

}  // namespace heddle::cli
