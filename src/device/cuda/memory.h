// Memory of one GPU: what goes back is kept, and given out again when no stream can still use it.
#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/cuda/driver.h"

namespace heddle::cuda {

// All of it may be used from several threads at once, in the context of the device. Never
// destroyed.
class Memory {
 public:
  explicit Memory(const Driver& driver) : driver_(driver) {}
  Verdict open(int device);

  // That any stream may use from now on; a reason where there is no room.
  Expected<Pointer> take(std::int64_t bytes);
  // Others get it when all that is on the streams by now has been done. Nobody can be told of a
  // failure here; the next who uses the device is.
  void give_back(Pointer pointer, std::int64_t bytes);
  std::int64_t live_bytes() const;

  // Streams whose work memory has to outlast.
  void add_stream(Handle stream);
  void remove_stream(Handle stream);

 private:
  struct Batch {
    std::vector<std::pair<std::int64_t, Pointer>> blocks;
    std::vector<Handle> events;  // one of each stream
    std::int64_t bytes = 0;
  };

  // ---- under the mutex
  Pointer find(std::int64_t size);  // 0: there is none
  void seal();
  void collect();
  void settle(Batch& batch);
  Expected<Pointer> take_new(std::int64_t size);
  void let_go_of_all();
  Reason no_room(std::int64_t bytes) const;

  const Driver& driver_;
  Handle pool_ = nullptr, stream_ = nullptr;
  mutable std::mutex mutex_;
  std::vector<Handle> streams_, spare_events_;
  std::unordered_map<std::int64_t, std::vector<Pointer>> ready_;  // by size
  std::vector<std::pair<std::int64_t, Pointer>> fresh_;           // that came back
  std::deque<Batch> waiting_;                                     // for streams, in order
  std::int64_t live_ = 0, waiting_bytes_ = 0;
};

}  // namespace heddle::cuda
