// Copies between host and device by way of page-locked memory, which the device reads and writes by
// itself, at full rate, while the host goes on.
#pragma once

#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "device/cuda/driver.h"

namespace heddle::cuda {

// A piece of page-locked memory, and the moment after which the device is done with it.
struct PinnedChunk {
  std::byte* bytes = nullptr;
  Handle event = nullptr;
};

// Chunks for all queues of a GPU, made when they are first needed and used again; never destroyed.
// May be used from several threads at once, in the context of the device.
class PinnedPool {
 public:
  static constexpr std::size_t kChunkBytes = 4 << 20;
  static constexpr std::size_t kMostChunks = 16;

  explicit PinnedPool(const Driver& driver) : driver_(driver) {}

  // One that nobody uses; waits for the device where all are under way. Null bytes: there is none,
  // because memory cannot be locked or others hold what there is.
  PinnedChunk take();
  // The device is done with it when what is on the stream now has been done; null: it is.
  void give_back(PinnedChunk chunk, Handle stream);

 private:
  PinnedChunk make();

  const Driver& driver_;
  std::mutex mutex_;
  std::deque<PinnedChunk> spare_, under_way_;  // in order
  std::size_t made_ = 0;
  bool refused_ = false;
};

// The copies of one stream, in its order.
class Staging {
 public:
  Staging(PinnedPool& pool, const Driver& driver) : pool_(pool), driver_(driver) {}
  ~Staging() { drop(); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // How many of the first bytes it has taken, which the host may change at once: less than all
  // where there is no chunk for the rest.
  Expected<std::size_t> write(std::span<const std::byte> from, Pointer to, Handle stream);
  // The same; the bytes are there after land().
  Expected<std::size_t> read(Pointer from, std::span<std::byte> to, Handle stream);
  // Waits for what was read, and puts it where it is wanted.
  Verdict land(Handle stream);
  bool has_landed() const { return filled_.empty() && out_.pieces.empty(); }
  // All on the stream has been done, or will never be: what was to be read is given up.
  void drop();

 private:
  // A piece of a chunk that was read, and where it is wanted.
  struct Piece {
    const std::byte* from;
    std::span<std::byte> to;
  };
  // A chunk that is filled from its beginning on.
  struct Open {
    PinnedChunk chunk = {};
    std::size_t used = 0;
    std::vector<Piece> pieces = {};
    bool is_full() const;
  };
  // Room for some of so many bytes; none where there is no chunk.
  std::span<std::byte> room(Open& open, std::size_t bytes);
  Verdict land_first();

  PinnedPool& pool_;
  const Driver& driver_;
  Open in_, out_;
  std::deque<Open> filled_;  // that were read, the first one first; their events are recorded
};

}  // namespace heddle::cuda
