// A device that keeps the runtime honest: its memory is handles that the host cannot dereference,
// and its queues run on threads of their own, late, with seeded delays. Its kernels and calls are
// the CPU's, in private memory.
#pragma once

#include <atomic>
#include <chrono>

#include "heddle/device.h"

namespace heddle::test {

class Memory;

struct TestDeviceOptions {
  std::uint64_t seed = 1;
  // One task in so many is held up for at most so long; the others only come from another thread.
  unsigned one_in = 8;
  std::chrono::microseconds most_delay = std::chrono::microseconds(200);
  // The device whose figures and wishes kernels are planned by, where that is another one: they run
  // here all the same.
  const Device* planned_for = nullptr;
  // Whether it does chunk programs for all ranks at once (test_chunks.h).
  bool runs_chunks = false;
};

class TestDevice : public Device {
 public:
  // `inner` works in host memory.
  explicit TestDevice(Device& inner, const TestDeviceOptions& options = {});
  ~TestDevice() override;

  std::string_view name() const override { return "test"; }
  MachineFigures figures(int sharers) const override { return planned_for().figures(sharers); }
  DeviceLimits limits() const override { return inner_.limits(); }

  bool has_call(const OpDef& def) const override { return inner_.has_call(def); }
  bool prefers_call(const Program& program, const Op& op) const override {
    return planned_for().prefers_call(program, op);
  }
  bool takes_views(const Program& program, const Op& op) const override {
    return inner_.takes_views(program, op);
  }
  EvenRows even_rows(const Program& program, const Op& op) const override {
    return planned_for().even_rows(program, op);
  }

  Expected<Buffer> allocate(std::int64_t bytes) override;
  DlpackDevice dlpack_device() const override { return {12, 0}; }  // some device of somebody's own

  Verdict can_compile() const override { return inner_.can_compile(); }
  bool rounds_late() const override { return planned_for().rounds_late(); }
  Expected<std::shared_ptr<const DeviceCode>> compile(const Kernel& kernel) override {
    return inner_.compile(kernel);
  }
  std::string source(const Kernel& kernel) const override { return inner_.source(kernel); }
  Expected<std::unique_ptr<Launch>> prepare(std::vector<LaunchKernel> kernels) override;
  std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                            const ProductViews* views) const override;
  bool runs_chunks() const override { return options_.runs_chunks; }
  Expected<std::unique_ptr<ChunkLaunch>> prepare_chunks(const ChunkWork& work) override;
  std::unique_ptr<Queue> queue() override;

  // Handles that are held, for tests that look for leaks.
  std::size_t live_buffers() const;
  // How often work that was kept has been done again.
  std::atomic<std::uint64_t> replays = 0;
  // How often queues have put together what ranks on this device brought.
  std::atomic<std::uint64_t> combinations = 0;
  // How often chunk programs were run, and how many more will be refused.
  std::atomic<std::int64_t> chunk_runs = 0, chunk_refusals = 0;

 private:
  const Device& planned_for() const {
    return options_.planned_for != nullptr ? *options_.planned_for : inner_;
  }

  Device& inner_;
  const TestDeviceOptions options_;
  std::shared_ptr<Memory> memory_;  // shared with the buffers, which may live longer
  std::atomic<std::uint64_t> queues_ = 0;
};

}  // namespace heddle::test
