#include "heddle/thread_mesh.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/fork.h"
#include "heddle/thread_pool.h"

namespace heddle {

namespace {

// How often the caller asks whether to stop.
constexpr std::chrono::milliseconds kAskEvery{20};

// One run of all devices.
struct MeshRun {
  const std::vector<Executable>* executables = nullptr;  // one for all, or one each
  // Of one device.
  std::function<Verdict(std::size_t device, const Executable&, const RunOptions&)> work;
  RunOptions options;
};

}  // namespace

class ThreadMesh::Impl {
 public:
  Impl(int devices, const ThreadMeshOptions& options)
      : devices_(devices), options_(options), errors_(static_cast<std::size_t>(devices)) {
    const int cores = ThreadPool::shared().threads();
    const int workers = options.workers > 0 ? options.workers : std::max(1, cores / devices);
    for (int d = 0; d < devices; ++d) pools_.push_back(std::make_unique<ThreadPool>(workers));
    start();
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    change_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int devices() const { return devices_; }

  Verdict run(MeshRun run) {
    const std::lock_guard turn(callers_);
    if (threads_.empty()) start();
    if (transports_.empty() || transports_[0]->failed())
      transports_ = thread_transports(devices_, options_.watchdog);
    std::unique_lock lock(mutex_);
    run_ = &run;
    left_ = devices_;
    defect_ = nullptr;
    ++round_;
    change_.notify_all();
    wait_for_all(lock, run.options);
    run_ = nullptr;
    if (defect_) std::rethrow_exception(defect_);
    if (transports_[0]->failed()) return Reason{transports_[0]->failure()};
    for (const std::string& error : errors_)
      if (!error.empty()) return Reason{error};
    return yes();
  }

 private:
  void start() {
    for (int d = 0; d < devices_; ++d) threads_.emplace_back([this, d] { live(d); });
  }

  // In a child of fork; they come anew with the next run.
  void forget_threads() {
    make_anew(threads_);
    make_anew(transports_);
    make_anew(callers_);
    make_anew(mutex_);
    make_anew(change_);
    round_ = 0;
  }

  // Devices have no say in whether to stop: the caller's thread asks for all of them.
  void wait_for_all(std::unique_lock<std::mutex>& lock, const RunOptions& options) {
    const auto is_over = [&] { return left_ == 0; };
    if (!options.stop) return change_.wait(lock, is_over);
    bool stopped = false;
    while (!change_.wait_for(lock, kAskEvery, is_over)) {
      lock.unlock();
      if (!stopped && options.stop()) {
        stopped = true;
        transports_[0]->abort("the run was stopped");
      }
      lock.lock();
    }
  }

  void live(int device) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      change_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
      MeshRun& run = *run_;
      lock.unlock();
      run_device(run, device);
      lock.lock();
      if (--left_ == 0) change_.notify_all();
    }
  }

  void run_device(MeshRun& run, int device) {
    const auto d = static_cast<std::size_t>(device);
    RunOptions options = run.options;
    options.transport = transports_[d].get();
    options.pool = pools_[d].get();
    options.stop = {};
    if (device != 0) options.times = nullptr;
    errors_[d].clear();
    try {
      const Executable& executable = (*run.executables)[run.executables->size() == 1 ? 0 : d];
      const Verdict done = run.work(d, executable, options);
      if (done) return;
      errors_[d] = done.reason();
      options.transport->abort(errors_[d]);
    } catch (...) {
      options.transport->abort("it met an internal error");
      const std::lock_guard lock(mutex_);
      if (!defect_) defect_ = std::current_exception();
    }
  }

  const int devices_;
  const ThreadMeshOptions options_;
  std::vector<std::unique_ptr<ThreadPool>> pools_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::string> errors_;
  std::mutex callers_, mutex_;
  std::condition_variable change_;
  MeshRun* run_ = nullptr;
  int left_ = 0;
  std::uint64_t round_ = 0;
  std::exception_ptr defect_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
  const AfterFork after_fork_{[this] { forget_threads(); }};
};

ThreadMesh::ThreadMesh(int devices, const ThreadMeshOptions& options) {
  if (devices < 1) throw Error(fmt::format("a mesh of {} devices: there has to be one", devices));
  try {
    impl_ = std::make_unique<Impl>(devices, options);
  } catch (const std::system_error&) {
    throw Error(fmt::format("there are not enough threads for {} devices", devices));
  }
}

ThreadMesh::~ThreadMesh() = default;

int ThreadMesh::devices() const { return impl_->devices(); }

// `one` runs one device's program on its arguments.
template <typename Value, typename One>
Expected<std::vector<std::vector<Value>>> ThreadMesh::run_all(
    const std::vector<Executable>& executables, std::vector<std::vector<Value>> arguments,
    const RunOptions& options, One one) {
  const auto n = static_cast<std::size_t>(devices());
  if (arguments.size() != n || (executables.size() != n && executables.size() != 1))
    return reason("a mesh of {} devices got {} programs and arguments for {}", n,
                  executables.size(), arguments.size());
  std::vector<std::vector<Value>> results(n);
  MeshRun run;
  run.executables = &executables;
  run.options = options;
  if (executables.size() > 1) run.options.same_program = false;
  run.work = [&](std::size_t d, const Executable& executable, const RunOptions& own) -> Verdict {
    HEDDLE_TRY(results[d], one(executable, std::move(arguments[d]), own));
    return yes();
  };
  HEDDLE_TRY_VOID(impl_->run(std::move(run)));
  return results;
}

Expected<std::vector<ThreadMesh::Arrays>> ThreadMesh::run(const Executable& executable,
                                                          std::vector<Arrays> arguments,
                                                          const RunOptions& options) {
  return run(std::vector<Executable>{executable}, std::move(arguments), options);
}

Expected<std::vector<ThreadMesh::Arrays>> ThreadMesh::run(
    const std::vector<Executable>& executables, std::vector<Arrays> arguments,
    const RunOptions& options) {
  return run_all<Array>(executables, std::move(arguments), options,
                        [](const Executable& executable, Arrays own, const RunOptions& how) {
                          return executable.run(std::move(own), how);
                        });
}

Expected<std::vector<ThreadMesh::Values>> ThreadMesh::run_values(
    const std::vector<Executable>& executables, std::vector<Values> arguments,
    const RunOptions& options) {
  return run_all<DeviceValue>(executables, std::move(arguments), options,
                              [](const Executable& executable, Values own, const RunOptions& how) {
                                return executable.run_values(std::move(own), how);
                              });
}

}  // namespace heddle
