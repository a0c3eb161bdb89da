// Memory of one GPU: what goes back is kept, and given out again when no stream can still use it.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
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
  // The same for what no stream uses any more, and nobody here will want again.
  void let_go(Pointer pointer, std::int64_t bytes);
  std::int64_t live_bytes() const;

  // Streams whose work memory has to outlast. The counter grows before anything comes to the
  // stream: one whose work is known to be over is not asked again.
  using WorkCounter = std::atomic<std::uint64_t>;
  std::shared_ptr<WorkCounter> add_stream(Handle stream);
  void remove_stream(Handle stream);

 private:
  struct Stream {
    Handle handle = nullptr;
    std::shared_ptr<WorkCounter> work;
    std::uint64_t over = 0;  // of its work
    bool is_quiet() const { return work->load(std::memory_order_relaxed) == over; }
  };
  struct Moment {
    Handle stream = nullptr, event = nullptr;
    std::uint64_t work = 0;  // that had come to the stream by then
  };
  // What came back together, and what it waits for.
  struct Batch {
    std::uint64_t number = 0;
    std::vector<Moment> events;
  };

  // ---- under the mutex
  // The lowest that is ready, so that runs that take and give back the same sizes find the same
  // addresses, and with them graphs that were made before; 0: there is none.
  Pointer find(std::int64_t size);
  // Of what is live.
  void is_gone(std::int64_t size);
  // Of those that came back, where nobody but the stream itself can still use them.
  Pointer find_fresh(std::int64_t size, Handle stream);
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
  std::vector<Stream> streams_;
  std::vector<Handle> spare_events_;
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
