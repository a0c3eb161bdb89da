// Deployment: an executable on the devices of its placement. All of them are threads of this
// process, or this process is one of them, a rank.
#pragma once

#include <memory>
#include <vector>

#include "heddle/executable.h"
#include "heddle/placement.h"
#include "heddle/thread_mesh.h"
#include "heddle/transport.h"

namespace heddle {

// Arrays of each device that is here: parts[device][number].
using DeviceParts = std::vector<std::vector<Array>>;
// The same where they lie.
using DeviceValues = std::vector<std::vector<DeviceValue>>;

struct DeployOptions {
  Transport* ranks = nullptr;  // the devices, or replicas, of which this process is one
  WatchdogOptions watchdog = default_watchdog();  // of threads
};

class Deployment {
 public:
  // A reason where there are not as many ranks as devices, or more devices than threads can be.
  static Expected<Deployment> open(Executable executable, const DeployOptions& options = {});
  // What runs whole arrays here instead of an executable, such as the interpreter. With ranks all
  // of them run all of it.
  using RunWhole = std::function<Expected<std::vector<Array>>(std::vector<Array>)>;
  static Deployment of(RunWhole run, Placement placement, Transport* ranks = nullptr);

  const Placement& placement() const { return placement_; }
  std::size_t here() const { return device_.size(); }
  // The number that the mesh gives to a device that is here.
  std::int64_t device(std::size_t i) const { return device_[i]; }
  bool is_first() const { return ranks_ == nullptr || ranks_->rank() == 0; }
  // The ranks that each have a part; null where this process has everything.
  Transport* ranks_with_parts() const { return placement_.on_mesh() ? ranks_ : nullptr; }

  // What the devices here have of a whole argument: a part each.
  Expected<std::vector<Array>> parts_of(const Array& whole, std::size_t argument) const;
  Expected<DeviceParts> deal_out(const std::vector<Array>& arguments) const;

  // One run, from the parts of the devices that are here to theirs.
  Expected<DeviceParts> run(DeviceParts arguments, const RunOptions& options = {});
  // The same on values where they lie; of an executable only.
  Expected<DeviceValues> run_values(DeviceValues arguments, const RunOptions& options = {});
  // The whole of one result, from its parts here and elsewhere; all ranks call it together.
  Expected<Array> whole(const DeviceParts& results, std::size_t result);
  Expected<std::vector<Array>> whole(const DeviceParts& results);

  // From whole arrays to whole arrays.
  Expected<std::vector<Array>> run_whole(const std::vector<Array>& arguments,
                                         const RunOptions& options = {});

 private:
  // Of arrays, or of values: `Run` knows how to run either.
  template <typename Run, typename Parts>
  Expected<Parts> run_as(Parts arguments, const RunOptions& options);
  template <typename Run, typename Parts>
  Expected<Parts> run_stages(Parts arguments, const RunOptions& options);

  explicit Deployment(Placement placement, Transport* ranks)
      : placement_(std::move(placement)), ranks_(ranks) {}

  Placement placement_;
  Transport* ranks_;
  std::vector<std::int64_t> device_ = {0};
  std::shared_ptr<const Executable> executable_;
  RunWhole run_whole_;
  std::unique_ptr<ThreadMesh> threads_;
};

}  // namespace heddle
