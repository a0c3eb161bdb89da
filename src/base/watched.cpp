#include "base/watched.h"

#include <mutex>
#include <vector>

#include "base/fork.h"

namespace heddle {

namespace {

struct Left {
  std::thread thread;
  std::shared_ptr<const std::atomic<bool>> over;
};

// Never destroyed: a thread in it that still runs would end the process.
struct LeftWork {
  std::mutex mutex;
  std::vector<Left> all;
  const AfterFork after_fork{[this] {
    make_anew(mutex);
    make_anew(all);
  }};
};

LeftWork& left_work() {
  static auto* const left = new LeftWork;
  return *left;
}

// Of threads that are over nothing stays. With the mutex.
void tidy(std::vector<Left>& all) {
  std::erase_if(all, [](Left& left) {
    if (!left.over->load()) return false;
    left.thread.join();
    return true;
  });
}

}  // namespace

void leave_thread(std::thread thread, std::shared_ptr<const std::atomic<bool>> over) {
  LeftWork& left = left_work();
  const std::lock_guard lock(left.mutex);
  tidy(left.all);
  left.all.push_back({std::move(thread), std::move(over)});
}

void wait_for_left_work(const std::function<bool()>& ask) {
  LeftWork& left = left_work();
  for (;;) {
    {
      const std::lock_guard lock(left.mutex);
      tidy(left.all);
      if (left.all.empty()) return;
    }
    if (ask()) return;
    std::this_thread::sleep_for(kWatchPause);
  }
}

}  // namespace heddle
