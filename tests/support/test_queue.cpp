#include "test_queue.h"

#include <cstring>

#include "comm/combine.h"

namespace heddle::test {

// Set by the queue's thread, also where it does nothing more.
struct TestQueue::Passed : Event::State {
  bool done() const override {
    const std::lock_guard lock(mutex);
    return passed;
  }
  Verdict wait() override {
    std::unique_lock lock(mutex);
    change.wait(lock, [&] { return passed; });
    return verdict;
  }
  void pass(Verdict how) {
    {
      const std::lock_guard lock(mutex);
      passed = true;
      verdict = std::move(how);
    }
    change.notify_all();
  }

  mutable std::mutex mutex;
  std::condition_variable change;
  bool passed = false;
  Verdict verdict = yes();
};

struct TestQueue::Kept : Recording {
  std::vector<std::function<Verdict()>> tasks;
};

TestQueue::TestQueue(TestDevice& device, std::unique_ptr<Queue> inner,
                     std::shared_ptr<Memory> memory, const TestDeviceOptions& options)
    : device_(device),
      inner_(std::move(inner)),
      memory_(std::move(memory)),
      options_(options),
      random_(static_cast<unsigned>(options.seed)),
      thread_([this] { live(); }) {}

TestQueue::~TestQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  change_.notify_all();
  thread_.join();
}

void TestQueue::dawdle() {
  if (options_.one_in == 0 || random_() % options_.one_in != 0) return;
  const auto most = static_cast<unsigned>(options_.most_delay.count());
  std::this_thread::sleep_for(std::chrono::microseconds(most == 0 ? 0 : random_() % most));
}

void TestQueue::live() {
  for (;;) {
    Task task;
    Verdict how = yes();
    {
      std::unique_lock lock(mutex_);
      change_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      how = state_;
    }
    if (how) {
      dawdle();
      how = run(task);
    }
    if (task.event) task.event->pass(how);
    const std::lock_guard lock(mutex_);
    if (!how && state_) state_ = std::move(how);
  }
}

Verdict TestQueue::run(const Task& task) {
  try {
    return task.run ? task.run() : yes();
  } catch (const std::exception& error) {
    return Reason{error.what()};
  }
}

Verdict TestQueue::add(Task task) {
  if (recording_) {
    HEDDLE_CHECK(!task.event, "an event cannot be kept");
    recording_->tasks.push_back(std::move(task.run));
    return yes();
  }
  {
    const std::lock_guard lock(mutex_);
    if (!state_) return state_;
    tasks_.push_back(std::move(task));
  }
  change_.notify_one();
  return yes();
}

Verdict TestQueue::launch(const Launch& launch, const DeviceAddress* slots) {
  const auto& mine = static_cast<const TestLaunch&>(launch);
  std::vector<DeviceAddress> table;
  for (const auto& used : mine.used) table.push_back(slots[used.slot]);
  return add({[this, &mine, table = std::move(table)]() mutable -> Verdict {
    for (std::size_t i = 0; i < table.size(); ++i) {
      HEDDLE_TRY(const std::byte* at, memory_->find(table[i], mine.used[i].bytes));
      table[i] = address_of(at);
    }
    return inner_->launch(*mine.inner, table.data());
  }});
}

Verdict TestQueue::call(const LibraryCall& call, const CallMemory& memory) {
  const auto& mine = static_cast<const TestCall&>(call);
  std::vector<DeviceAddress> all(memory.operands.begin(), memory.operands.end());
  all.insert(all.end(), memory.results.begin(), memory.results.end());
  return add({[this, &mine, all = std::move(all), operands = memory.operands.size(),
               workspace = memory.workspace]() mutable -> Verdict {
    for (DeviceAddress& a : all) {
      HEDDLE_TRY(const std::byte* at, memory_->find(a, 0));
      a = address_of(at);
    }
    HEDDLE_TRY(const std::byte* room, memory_->find(workspace, mine.workspace_bytes()));
    const std::span<const DeviceAddress> found(all);
    return inner_->call(*mine.inner,
                        {found.first(operands), found.subspan(operands), address_of(room)});
  }});
}

Verdict TestQueue::copy(DeviceAddress from, DeviceAddress to, std::int64_t bytes) {
  return add({[this, from, to, bytes]() -> Verdict {
    HEDDLE_TRY(const std::byte* source, memory_->find(from, bytes));
    HEDDLE_TRY(std::byte * target, memory_->find(to, bytes));
    if (bytes > 0) std::memcpy(target, source, static_cast<std::size_t>(bytes));
    return yes();
  }});
}

Verdict TestQueue::write(std::span<const std::byte> from, DeviceAddress to,
                         std::shared_ptr<const void> keep) {
  return add({[this, from, to, keep = std::move(keep)]() -> Verdict {
    HEDDLE_TRY(std::byte * target, memory_->find(to, static_cast<std::int64_t>(from.size())));
    if (!from.empty()) std::memcpy(target, from.data(), from.size());
    return yes();
  }});
}

Verdict TestQueue::read(DeviceAddress from, std::span<std::byte> to) {
  return add({[this, from, to]() -> Verdict {
    HEDDLE_TRY(const std::byte* source, memory_->find(from, static_cast<std::int64_t>(to.size())));
    if (!to.empty()) std::memcpy(to.data(), source, to.size());
    return yes();
  }});
}

Verdict TestQueue::zero(DeviceAddress at, std::int64_t bytes) {
  return add({[this, at, bytes]() -> Verdict {
    HEDDLE_TRY(std::byte * target, memory_->find(at, bytes));
    if (bytes > 0) std::memset(target, 0, static_cast<std::size_t>(bytes));
    return yes();
  }});
}

Verdict TestQueue::copy_runs(const Copy& copy) {
  for (std::int64_t i = 0; i < copy.count; ++i)
    HEDDLE_TRY_VOID(
        this->copy(copy.from + i * copy.from_step, copy.to + i * copy.to_step, copy.run));
  return yes();
}

// Some sums only, so that others show the way without.
bool TestQueue::can_combine(ReduceOp op, DType dtype, std::size_t) const {
  return op != ReduceOp::max && comm::combine_function(op, dtype) != nullptr;
}

Verdict TestQueue::combine(const Combination& c) {
  ++device_.combinations;
  return add(
      {[this, c, parts = std::vector<DeviceAddress>(c.parts.begin(), c.parts.end())]() -> Verdict {
        const comm::Combine combine = comm::combine_function(c.op, c.dtype);
        const std::int64_t size = byte_size(c.dtype), run = c.run * size;
        HEDDLE_TRY(std::byte * out, memory_->find(c.out, run * c.count));
        for (std::int64_t i = 0; i < c.count; ++i) {
          std::vector<std::byte> sum(static_cast<std::size_t>(run));
          for (std::size_t p = 0; p < parts.size(); ++p) {
            HEDDLE_TRY(const std::byte* part, memory_->find(parts[p] + i * c.step * size, run));
            if (p == 0)
              std::memcpy(sum.data(), part, sum.size());
            else
              combine(sum.data(), sum.data(), part, c.run);
          }
          std::memcpy(out + i * run, sum.data(), sum.size());
        }
        return yes();
      }});
}

Event TestQueue::record() {
  const auto passed = std::make_shared<Passed>();
  if (const Verdict added = add({.run = {}, .event = passed}); !added) passed->pass(added);
  return Event(passed);
}

Verdict TestQueue::wait(const Event& event) {
  return add({[event] { return event.wait(); }});
}

Verdict TestQueue::begin_recording() {
  recording_ = std::make_shared<Kept>();
  return yes();
}

Expected<std::shared_ptr<const Recording>> TestQueue::end_recording() {
  return std::shared_ptr<const Recording>(std::exchange(recording_, nullptr));
}

Verdict TestQueue::replay(const Recording& recording) {
  ++device_.replays;
  // A copy: a task may change what it has brought along.
  for (std::function<Verdict()> task : static_cast<const Kept&>(recording).tasks)
    HEDDLE_TRY_VOID(add({std::move(task)}));
  return yes();
}

Verdict TestQueue::finish() { return record().wait(); }

void TestQueue::set_workers(ThreadPool& workers) {
  (void)add({[this, &workers] {
    inner_->set_workers(workers);
    return yes();
  }});
}

}  // namespace heddle::test
