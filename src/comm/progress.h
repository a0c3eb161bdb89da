// A thread that goes on with collectives while their rank computes.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "heddle/transport.h"

namespace heddle::comm {

// It begins with the first request that it is given, and sleeps while it has none. Whoever else
// uses the transport holds `mutex()` meanwhile.
class Progress {
 public:
  // Whether a request is over, after what can be done for it now; called with the mutex held.
  using Advance = std::function<Expected<bool>(RequestId)>;

  explicit Progress(Advance advance) : advance_(std::move(advance)) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  std::mutex& mutex() { return mutex_; }
  void look_after(RequestId request);
  // From here on nothing is touched on behalf of earlier requests.
  void forget();

 private:
  void live();
  // Drops those that are over, or have failed: who waits for them meets that again.
  void advance_all();

  Advance advance_;
  std::mutex mutex_;
  std::condition_variable change_;
  std::vector<RequestId> requests_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace heddle::comm
