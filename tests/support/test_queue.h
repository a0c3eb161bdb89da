// A queue on a thread of its own, which takes its time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

#include "device/moves.h"
#include "test_device.h"
#include "test_memory.h"

namespace heddle::test {

// A launch of the inner device, over a table of just the slots that it uses.
class TestLaunch final : public Launch {
 public:
  struct Used {
    std::uint32_t slot = 0;
    std::int64_t bytes = 0;  // that the kernels touch
  };
  StepWork work() const override { return inner->work(); }

  std::unique_ptr<Launch> inner;
  std::vector<Used> used;
};

class TestCall final : public LibraryCall {
 public:
  explicit TestCall(std::unique_ptr<LibraryCall> call) : inner(std::move(call)) {}
  std::string text() const override { return inner->text(); }
  std::int64_t workspace_bytes() const override { return inner->workspace_bytes(); }
  int in_place_operand() const override { return inner->in_place_operand(); }
  StepWork work() const override { return inner->work(); }
  std::unique_ptr<LibraryCall> inner;
};

class TestQueue final : public Queue, public DeviceMoves {
 public:
  TestQueue(TestDevice& device, std::unique_ptr<Queue> inner, std::shared_ptr<Memory> memory,
            const TestDeviceOptions& options);
  ~TestQueue() override;

  Device& device() override { return device_; }
  Verdict launch(const Launch& launch, const DeviceAddress* slots) override;
  Verdict call(const LibraryCall& call, const CallMemory& memory) override;
  Verdict copy(DeviceAddress from, DeviceAddress to, std::int64_t bytes) override;
  Verdict write(std::span<const std::byte> from, DeviceAddress to,
                std::shared_ptr<const void> keep) override;
  Verdict read(DeviceAddress from, std::span<std::byte> to) override;
  Verdict zero(DeviceAddress at, std::int64_t bytes) override;
  Verdict copy_runs(const Copy& copy) override;
  bool can_combine(ReduceOp op, DType dtype, std::size_t parts) const override;
  Verdict combine(const Combination& combination) override;
  Event record() override;
  Verdict wait(const Event& event) override;
  Verdict finish() override;
  bool can_record() const override { return true; }
  Verdict begin_recording() override;
  Expected<std::shared_ptr<const Recording>> end_recording() override;
  Verdict replay(const Recording& recording) override;
  void set_workers(ThreadPool& workers) override;

  // Anything, in its turn, with the queue that works in host memory.
  Verdict do_late(std::function<Verdict(Queue& inner)> work) {
    return add({[this, work = std::move(work)] { return work(*inner_); }});
  }

 private:
  struct Passed;
  struct Task {
    std::function<Verdict()> run;
    std::shared_ptr<Passed> event = {};  // passes after it, done or left out
  };

  struct Kept;

  // A reason where an earlier task has failed: then nothing is done any more.
  Verdict add(Task task);
  void live();
  static Verdict run(const Task& task);
  void dawdle();

  TestDevice& device_;
  std::unique_ptr<Queue> inner_;
  std::shared_ptr<Memory> memory_;
  const TestDeviceOptions options_;
  std::minstd_rand random_;

  std::mutex mutex_;
  std::condition_variable change_;
  std::deque<Task> tasks_;
  Verdict state_ = yes();
  bool stopping_ = false;
  std::shared_ptr<Kept> recording_;  // that work goes to instead, where there is one
  std::thread thread_;
};

}  // namespace heddle::test
