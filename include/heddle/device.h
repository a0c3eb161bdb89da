// Device: what a program is compiled for and runs on. Memory, code and library calls are behind
// this one interface, so that nothing above it knows a CPU or a GPU.
//
//   Buffer x = device.allocate(bytes).value();
//   auto queue = device.queue();
//   queue->write(host, x.address, nullptr);
//   queue->launch(*device.prepare({{kernel, code, {0, 1}, {0, 0}}}).value(), slots);
//   queue->finish();
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/array.h"
#include "heddle/block.h"
#include "heddle/chunk_launch.h"
#include "heddle/device_calls.h"
#include "heddle/kernel.h"
#include "heddle/machine.h"
#include "heddle/queue.h"
#include "heddle/step_work.h"
#include "heddle/strided_view.h"

namespace heddle {

class LazyCode;
class LoopLaunch;
struct LoopWork;

// What a device has made of a kernel: functions, a module, a binary. Only the device looks inside.
class DeviceCode {
 public:
  virtual ~DeviceCode() = default;
};

// One kernel of a launch: its buffers lie in slots, places in a table of addresses that comes with
// every launch.
struct LaunchKernel {
  Kernel kernel;
  std::shared_ptr<LazyCode> code = {};    // none: it is interpreted
  std::vector<std::uint32_t> slots = {};  // by buffer; kNone: of reach `block`
  std::vector<std::int64_t> shift = {};   // by buffer: bytes from the start of the slot
};

// Kernels that run at the same time, with all that can be known before: prepared once, launched
// often.
class Launch {
 public:
  virtual ~Launch() = default;
  // What it does, for the cost model.
  virtual StepWork work() const { return {.is_counted = false}; }
  // How often the host has to start something for it.
  virtual std::size_t starts() const { return 1; }
};

// One op, prepared for its types and attributes.
class LibraryCall {
 public:
  virtual ~LibraryCall() = default;
  // What it is, for people: "gemm 512x64x128 f32".
  virtual std::string text() const = 0;
  virtual std::int64_t workspace_bytes() const { return 0; }
  // The operand whose memory result 0 may have, or -1.
  virtual int in_place_operand() const { return -1; }
  // Whether it only puts work on the queue: then a queue may keep it (Queue::begin_recording).
  virtual bool can_be_recorded() const { return true; }
  // What it does, for the cost model; bytes of operands and results are the caller's to count.
  virtual StepWork work() const { return {.is_counted = false}; }
};

// What DLPack calls the memory of a device: 1 is the host's, 2 that of a CUDA GPU.
struct DlpackDevice {
  int kind = 1, number = 0;
  friend bool operator==(const DlpackDevice&, const DlpackDevice&) = default;
};

struct DeviceLimits {
  std::int64_t alignment = 64;            // of buffers, in bytes
  std::int64_t memory_bytes = INT64_MAX;  // that it has
};

// All of it may be used from several threads at once. A device outlives what it has made.
class Device : public DeviceCalls {
 public:
  virtual std::string_view name() const = 0;  // cpu
  // What people call such a thing: "NVIDIA H200".
  virtual std::string model() const { return std::string(name()); }
  // Of one of so many that share it, as threads of a mesh share the cores.
  virtual MachineFigures figures(int sharers) const = 0;
  virtual DeviceLimits limits() const { return {}; }

  // ---- memory
  // With whatever is in it; aligned. A reason where there is no room.
  virtual Expected<Buffer> allocate(std::int64_t bytes) = 0;
  // Whether it works in the host's memory: then blocks are its buffers, and the memory of its
  // buffers is blocks, so that arrays come and go without a copy.
  virtual bool in_host_memory() const { return false; }
  // Whether memory may be given back while work on it is under way.
  virtual bool memory_outlasts_work() const { return false; }

  // Bytes of it that are taken now.
  virtual std::int64_t live_bytes() const { return 0; }
  virtual DlpackDevice dlpack_device() const { return {}; }

  // ---- code
  // Why it cannot compile, as where its compiler was not found.
  virtual Verdict can_compile() const = 0;
  // Whether kernels round f16 and bf16 where they keep them, not at every step; but for those on
  // whose digits something depends.
  virtual bool rounds_late() const { return false; }
  virtual Expected<std::shared_ptr<const DeviceCode>> compile(const Kernel& kernel) = 0;
  // The same for a kernel that has this share of the time that all of its program take: who can
  // make it faster by trying may find it worth that.
  virtual Expected<std::shared_ptr<const DeviceCode>> compile_for(const Kernel& kernel,
                                                                  double /*share*/) {
    return compile(kernel);
  }
  // What it hands to its compiler, for people; empty where there is nothing to show.
  virtual std::string source(const Kernel& kernel) const = 0;
  // How its blocks, threads and vectors share a kernel, in lines for people; none where it has
  // nothing to say.
  virtual std::vector<std::string> mapping(const Kernel& /*kernel*/) const { return {}; }
  // Plans how the kernels of one launch share the device. A reason where it cannot run one.
  virtual Expected<std::unique_ptr<Launch>> prepare(std::vector<LaunchKernel> kernels) = 0;

  // The turns of a loop as one function; null where it does them step by step. What `work` points
  // to outlives it. `slot_bytes`: by slot.
  virtual std::unique_ptr<LoopLaunch> prepare_loop(LoopWork work,
                                                   const std::vector<std::int64_t>& slot_bytes);

  // Whether it may run chunk programs for ranks that share it.
  virtual bool runs_chunks() const { return false; }
  // Of a chunk program for ranks that share it. A reason where it cannot run all of them at once.
  virtual Expected<std::unique_ptr<ChunkLaunch>> prepare_chunks(const ChunkWork& /*work*/) {
    return reason("{} runs no chunk programs", name());
  }

  // ---- calls
  // Null where none fits the op. A product may have its operands and its result by strides, where
  // takes_views() says so.
  virtual std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                                    const ProductViews* views) const = 0;

  // Begins to open what calls of such a program need, while the host does other things; whoever
  // gives up what comes back waits for the end of that. Null where there is nothing to wait for.
  virtual std::shared_ptr<void> open_ahead(const Program& /*program*/) { return nullptr; }

  virtual std::unique_ptr<Queue> queue() = 0;
};

// An array in the queue's device, ready when the queue has brought it there; the array's own block
// where the device works in the host's memory.
Expected<Buffer> to_device(Queue& queue, const Array& array);
// Back again; waits until it is there.
Expected<Array> to_host(Queue& queue, const Buffer& buffer, const Type& type);

// ---- of devices in host memory

Buffer buffer_of(Device& device, std::shared_ptr<Block> block);
std::shared_ptr<Block> block_of(const Buffer& buffer);

}  // namespace heddle
