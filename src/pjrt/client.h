// The client: Heddle's devices as JAX sees them. One device that is the whole machine, or as many
// as HEDDLE_DEVICES says, which are threads and share its cores; or a GPU, as HEDDLE_DEVICE says.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/spare_queues.h"
#include "heddle/thread_mesh.h"
#include "pjrt/error.h"
#include "pjrt/named_values.h"
#include "pjrt/worker.h"

namespace heddle::pjrt {

// The first is the default one, of the device. The others are the host's memory, and so is the
// first where the device works there.
inline constexpr std::array<const char*, 3> kMemoryKinds = {"device", "pinned_host",
                                                            "unpinned_host"};

struct Memory {
  const void* table = nullptr;  // of functions for data of the caller's: none
  DeviceHandle* device = nullptr;
  int id = 0, kind = 0;
  std::string kind_name = {}, text = {};

  bool in_host_memory() const;
};

struct DeviceDescription {
  int id = 0;
  std::string kind = {}, text = {}, debug_text = {};
  NamedValues attributes = {};
};

// Bytes of buffers that live.
class MemoryUse {
 public:
  void add(std::int64_t bytes);
  void remove(std::int64_t bytes) { in_use_ -= bytes; }
  std::int64_t in_use() const { return in_use_; }
  std::int64_t peak() const { return peak_; }
  std::int64_t largest() const { return largest_; }
  std::int64_t allocations() const { return allocations_; }
  void clear() { peak_.store(in_use_), largest_ = 0, allocations_ = 0; }

 private:
  std::atomic<std::int64_t> in_use_ = 0, peak_ = 0, largest_ = 0, allocations_ = 0;
};

struct DeviceHandle {
  Client* client = nullptr;
  DeviceDescription description = {};
  std::deque<Memory> memories = {};
  std::vector<Memory*> memory_list = {};
  std::vector<DeviceHandle*> self = {};
  std::shared_ptr<MemoryUse> use = std::make_shared<MemoryUse>();
  std::shared_ptr<SpareQueues> queues = {};  // of what is behind it, for copies
  std::int64_t memory_limit = 0;
};

struct Topology {
  std::vector<DeviceDescription*> descriptions;
  NamedValues attributes = {};
};

struct Client {
  Client(int count, Device& what);

  Device& device;  // what each of them is, or has a part of
  std::deque<DeviceHandle> devices = {};
  std::vector<DeviceHandle*> device_list = {};
  std::vector<Memory*> memories = {};
  Topology topology = {};
  // Devices of programs for so many; the same for all of these programs.
  std::shared_ptr<ThreadMesh> threads(int count);
  Worker watcher;  // waits for what a device of its own does, in the order in which it began
  Worker worker;   // runs programs in the order in which they were called; ends first

 private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<ThreadMesh>> threads_;
};

// "cpu": JAX's rules for that platform fit, and programs run unchanged.
const std::string& platform_name();
// Names Heddle, its version and its build.
const std::string& platform_version();
// From HEDDLE_DEVICE; a Failure where it names none that is there.
Device& device_from_environment();
// From HEDDLE_DEVICES; a Failure where it is no number that makes sense.
int device_count_from_environment();

}  // namespace heddle::pjrt
