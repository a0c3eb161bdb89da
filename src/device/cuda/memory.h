// Memory of one GPU: what goes back is kept, and given out again when no stream can still use it.
#pragma once

#include <deque>
#include <map>
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

  // That this stream may use from now on, or any where none is named; a reason where there is no
  // room.
  Expected<Pointer> take(std::int64_t bytes, Handle stream = nullptr);
  // Others get it when all that is on the streams by now has been done. Nobody can be told of a
  // failure here; the next who uses the device is.
  void give_back(Pointer pointer, std::int64_t bytes);
  std::int64_t live_bytes() const;

  // Streams whose work memory has to outlast.
  void add_stream(Handle stream);
  void remove_stream(Handle stream);

 private:
  // What came back together, and what it waits for.
  struct Batch {
    std::uint64_t number = 0;
    std::vector<std::pair<Handle, Handle>> events;  // a stream, and its event
  };

  // ---- under the mutex
  Pointer find(std::int64_t size);  // 0: there is none
  // Of those that wait, for a stream that can wait with them.
  Pointer find_waiting(std::int64_t size, Handle stream);
  void seal();
  void collect();
  void settle_first();
  Expected<Pointer> take_new(std::int64_t size);
  void let_go_of_all();
  Reason no_room(std::int64_t bytes) const;

  const Driver& driver_;
  Handle pool_ = nullptr, stream_ = nullptr;
  mutable std::mutex mutex_;
  std::vector<Handle> streams_, spare_events_;
  std::unordered_map<std::int64_t, std::vector<Pointer>> ready_;  // by size
  std::vector<std::pair<std::int64_t, Pointer>> fresh_;           // that came back
  // For streams, in order; their blocks by size, with the numbers of their batches.
  std::deque<Batch> waiting_;
  std::unordered_map<std::int64_t, std::deque<std::pair<std::uint64_t, Pointer>>> waiting_blocks_;
  std::unordered_map<Handle, std::uint64_t> waited_;  // by stream: the last batch it waits for
  std::uint64_t batches_ = 0;
  std::int64_t live_ = 0, waiting_bytes_ = 0;
  std::map<std::int64_t, std::int64_t> live_sizes_;  // how many blocks of a size are given out
};

}  // namespace heddle::cuda
