// ThreadPool: one worker per core, for loops whose pieces are independent.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "heddle/error.h"

namespace heddle {

class AfterFork;

// In a child of fork the workers come anew with the first loop.
class ThreadPool {
 public:
  // `threads` workers, the caller of a loop among them.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The one of the process: HEDDLE_THREADS workers, or one per core.
  static ThreadPool& shared();

  int threads() const { return threads_; }

  // work(chunk, worker) for every chunk from 0 to chunks - 1, in any order and at the same time;
  // worker is 0 … threads() - 1, and no two run with the same number at once. Comes back when all
  // are done; what the first of them threw is thrown here, and chunks not yet begun are left out.
  // Inside a worker, or while another thread uses the pool, the caller does all of it.
  template <typename Work>
  void parallel_for(std::int64_t chunks, Work&& work) {
    using Callable = std::remove_reference_t<Work>;
    run({[](void* context, std::int64_t chunk, int worker) {
           (*static_cast<Callable*>(context))(chunk, worker);
         },
         const_cast<void*>(static_cast<const void*>(&work)), chunks});
  }

 private:
  struct Job {
    void (*call)(void* context, std::int64_t chunk, int worker) = nullptr;
    void* context = nullptr;
    std::int64_t chunks = 0;
  };

  void start();
  void forget_workers();
  void run(const Job& job);
  void run_alone(const Job& job);
  void work_off(const Job& job, int worker);
  void live(int worker);
  bool enter();
  bool await_change(std::uint64_t seen);
  void keep_failure();

  // The loop that is open: its number << 32, kOpen, and how many workers are inside.
  std::atomic<std::uint64_t> state_{0};
  alignas(64) std::atomic<std::int64_t> next_{0};
  alignas(64) Job job_;
  std::atomic<bool> failed_{false}, stopping_{false};
  std::exception_ptr failure_;
  std::mutex failure_mutex_, callers_;
  std::mutex sleep_mutex_;
  std::condition_variable sleep_;
  std::atomic<int> sleepers_{0};
  const int threads_;
  std::vector<std::thread> workers_;
  std::unique_ptr<AfterFork> after_fork_;
};

// The text of HEDDLE_THREADS as a number from 1 to 1024.
Expected<int> parse_thread_count(const std::string& text);

}  // namespace heddle
