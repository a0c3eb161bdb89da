// Work that the caller may want to end: on a thread of its own, while this one asks.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>

namespace heddle {

inline constexpr std::chrono::milliseconds kWatchPause{50};

// A thread that nobody waits for any more; `over` is set when its work is.
void leave_thread(std::thread thread, std::shared_ptr<const std::atomic<bool>> over);

// Until all work that was left is over, or `ask` says yes; to be called before the process ends,
// since that work uses what then is destroyed.
void wait_for_left_work(const std::function<bool()>& ask);

// Calls work(stop) and returns its future when it is over. Now and then `ask` is called here; its
// yes requests the stop, which the work is to look at. The caller does not wait for that: the
// future it gets then is not valid, and the work, which has to own all that it uses, ends when it
// can.
template <typename Work, typename Ask>
auto run_watched(Work work, Ask ask) {
  std::stop_source stop;
  auto over = std::make_shared<std::atomic<bool>>(false);
  using Result = decltype(work(stop.get_token()));
  std::packaged_task<Result()> task([work = std::move(work), token = stop.get_token()]() mutable {
    return work(std::move(token));
  });
  std::future<Result> result = task.get_future();
  std::thread thread([task = std::move(task), over]() mutable {
    task();
    task = {};  // what the work owns goes before it counts as over
    *over = true;
  });
  while (result.wait_for(kWatchPause) != std::future_status::ready) {
    if (!ask()) continue;
    stop.request_stop();
    leave_thread(std::move(thread), over);
    return std::future<Result>();
  }
  thread.join();
  return result;
}

}  // namespace heddle
