#include "device/cuda/staging.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "heddle/log.h"
#include "heddle/thread_pool.h"

namespace heddle::cuda {

namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kMostFilled = 3;  // chunks of a queue with what it has read
// One core copies a fraction of what the link carries.
constexpr std::size_t kPart = 256 << 10;

void copy_bytes(const std::byte* from, std::span<std::byte> to) {
  if (to.size() <= kPart) {
    if (!to.empty()) std::memcpy(to.data(), from, to.size());
    return;
  }
  const std::size_t parts = (to.size() + kPart - 1) / kPart;
  ThreadPool::shared().parallel_for(static_cast<std::int64_t>(parts), [&](std::int64_t i, int) {
    const std::size_t at = static_cast<std::size_t>(i) * kPart;
    std::memcpy(to.data() + at, from + at, std::min(kPart, to.size() - at));
  });
}

}  // namespace

// ---- chunks

PinnedChunk PinnedPool::make() {
  PinnedChunk chunk;
  void* bytes = nullptr;
  int status = driver_.lock_memory(&bytes, kChunkBytes, 0);
  if (status == 0) {
    status = driver_.create_event(&chunk.event, kNoTiming);
    if (status != 0) driver_.unlock_memory(bytes);
  }
  if (status != 0) {
    refused_ = true;
    log(kLogSteps, "copies go without page-locked memory: {}",
        driver_.checked(status, "lock memory").reason());
    return {};
  }
  chunk.bytes = static_cast<std::byte*>(bytes);
  ++made_;
  return chunk;
}

PinnedChunk PinnedPool::take() {
  const std::lock_guard lock(mutex_);
  while (!under_way_.empty() && driver_.query(under_way_.front().event) != kNotReady) {
    spare_.push_back(under_way_.front());
    under_way_.pop_front();
  }
  if (!spare_.empty()) {
    const PinnedChunk chunk = spare_.front();
    spare_.pop_front();
    return chunk;
  }
  if (made_ < kMostChunks && !refused_)
    if (const PinnedChunk chunk = make(); chunk.bytes != nullptr) return chunk;
  if (under_way_.empty()) return {};
  const PinnedChunk chunk = under_way_.front();
  under_way_.pop_front();
  driver_.wait_host(chunk.event);  // a failure comes to light with the next work on the stream
  return chunk;
}

void PinnedPool::give_back(PinnedChunk chunk, Handle stream) {
  const std::lock_guard lock(mutex_);
  if (stream != nullptr && driver_.record(chunk.event, stream) == 0)
    under_way_.push_back(chunk);
  else
    spare_.push_back(chunk);
}

// ---- copies

bool Staging::Open::is_full() const {
  return chunk.bytes != nullptr && used + kAlignment > PinnedPool::kChunkBytes;
}

std::span<std::byte> Staging::room(Open& open, std::size_t bytes) {
  if (open.chunk.bytes == nullptr) open.chunk = pool_.take();
  if (open.chunk.bytes == nullptr) return {};
  const std::size_t begin = open.used;
  const std::size_t size = std::min(bytes, PinnedPool::kChunkBytes - begin);
  open.used = begin + (size + kAlignment - 1) / kAlignment * kAlignment;
  return {open.chunk.bytes + begin, size};
}

Expected<std::size_t> Staging::write(std::span<const std::byte> from, Pointer to, Handle stream) {
  std::size_t done = 0;
  while (done < from.size()) {
    if (in_.is_full()) pool_.give_back(std::exchange(in_, {}).chunk, stream);
    const auto place = room(in_, from.size() - done);
    if (place.empty()) break;
    copy_bytes(from.data() + done, place);
    HEDDLE_TRY_VOID(driver_.checked(driver_.copy_in(to + done, place.data(), place.size(), stream),
                                    "copy to the device"));
    done += place.size();
  }
  return done;
}

// While the host copies what has come, the next chunk is on its way.
Expected<std::size_t> Staging::read(Pointer from, std::span<std::byte> to, Handle stream) {
  std::size_t done = 0;
  while (done < to.size()) {
    if (out_.is_full()) {
      HEDDLE_TRY_VOID(driver_.checked(driver_.record(out_.chunk.event, stream), "record an event"));
      filled_.push_back(std::exchange(out_, {}));
    }
    while (filled_.size() >= kMostFilled) HEDDLE_TRY_VOID(land_first());
    auto place = room(out_, to.size() - done);
    if (place.empty() && !filled_.empty()) {  // others have all chunks but ours
      HEDDLE_TRY_VOID(land_first());
      place = room(out_, to.size() - done);
    }
    if (place.empty()) break;
    HEDDLE_TRY_VOID(driver_.checked(
        driver_.copy_out(place.data(), from + done, place.size(), stream), "copy from the device"));
    out_.pieces.push_back({place.data(), to.subspan(done, place.size())});
    done += place.size();
  }
  return done;
}

Verdict Staging::land_first() {
  const Open first = std::move(filled_.front());
  filled_.pop_front();
  const Verdict over =
      driver_.checked(driver_.wait_host(first.chunk.event), "copy from the device");
  if (over)
    for (const Piece& piece : first.pieces) copy_bytes(piece.from, piece.to);
  pool_.give_back(first.chunk, nullptr);
  return over;
}

Verdict Staging::land(Handle stream) {
  while (!filled_.empty()) HEDDLE_TRY_VOID(land_first());
  if (out_.pieces.empty()) return yes();
  HEDDLE_TRY_VOID(driver_.checked(driver_.synchronize(stream), "copy from the device"));
  for (const Piece& piece : out_.pieces) copy_bytes(piece.from, piece.to);
  out_.pieces.clear();
  out_.used = 0;
  return yes();
}

void Staging::drop() {
  filled_.push_back(std::exchange(in_, {}));
  filled_.push_back(std::exchange(out_, {}));
  for (const Open& open : std::exchange(filled_, {}))
    if (open.chunk.bytes != nullptr) pool_.give_back(open.chunk, nullptr);
}

}  // namespace heddle::cuda
