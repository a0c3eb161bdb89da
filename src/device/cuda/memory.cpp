#include "device/cuda/memory.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace heddle::cuda {

namespace {

constexpr int kThreshold = 4;  // the attribute of a pool: bytes that it keeps
constexpr std::int64_t kGrain = 512;
// What may wait for streams before somebody who needs memory waits with it, so that a host that
// runs ahead does not take all there is.
constexpr std::int64_t kMostWaiting = 1LL << 30;
constexpr std::size_t kMostNamed = 4;  // sizes, where there is no room

// CUmemPoolProps: plain device memory of one device.
struct PoolProperties {
  int type = 1, handles = 0;            // pinned; not to be exported
  int location_type = 1, location = 0;  // a device, its number
  void* security = nullptr;
  std::size_t most = 0;
  unsigned char reserved[56] = {};
};

std::int64_t rounded(std::int64_t bytes) {
  return std::max<std::int64_t>(1, (bytes + kGrain - 1) / kGrain) * kGrain;
}

}  // namespace

// Nothing is taken before somebody asks.
Verdict Memory::open(int device) {
  PoolProperties properties;
  properties.location = device;
  std::uint64_t keep = UINT64_MAX;
  HEDDLE_TRY_VOID(driver_.checked(driver_.create_pool(&pool_, &properties), "make a pool"));
  HEDDLE_TRY_VOID(driver_.checked(driver_.set_pool(pool_, kThreshold, &keep), "set up the pool"));
  return driver_.checked(driver_.create_stream(&stream_, kNonBlocking), "make a stream");
}

Expected<Pointer> Memory::take(std::int64_t bytes, Handle stream) {
  const std::lock_guard lock(mutex_);
  const std::int64_t size = rounded(bytes);
  Pointer found = find(size);
  if (found == 0 && stream != nullptr) found = find_fresh(size, stream);
  if (found == 0) {
    seal();
    collect();
    found = find(size);
  }
  if (found == 0 && stream != nullptr) found = find_waiting(size, stream);
  while (found == 0 && waiting_bytes_ > kMostWaiting) {
    settle_first();
    found = find(size);
  }
  if (found == 0) {
    HEDDLE_TRY(found, take_new(size));
  }
  live_ += size;
  ++live_sizes_[size];
  return found;
}

void Memory::give_back(Pointer pointer, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  fresh_.emplace_back(rounded(bytes), pointer);
  is_gone(rounded(bytes));
}

void Memory::let_go(Pointer pointer, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  is_gone(rounded(bytes));
  driver_.release(pointer, stream_);
  driver_.synchronize(stream_);
  driver_.trim_pool(pool_, 0);
}

void Memory::is_gone(std::int64_t size) {
  live_ -= size;
  if (--live_sizes_[size] == 0) live_sizes_.erase(size);
}

Pointer Memory::find(std::int64_t size) {
  const auto bucket = ready_.find(size);
  if (bucket == ready_.end() || bucket->second.empty()) return 0;
  const auto lowest = std::ranges::min_element(bucket->second);
  const Pointer pointer = *lowest;
  bucket->second.erase(lowest);
  return pointer;
}

Pointer Memory::find_fresh(std::int64_t size, Handle stream) {
  if (!std::ranges::all_of(streams_,
                           [&](const Stream& s) { return s.handle == stream || s.is_quiet(); }))
    return 0;
  auto found = fresh_.end();
  for (auto at = fresh_.begin(); at != fresh_.end(); ++at)
    if (at->first == size && (found == fresh_.end() || at->second < found->second)) found = at;
  if (found == fresh_.end()) return 0;
  const Pointer pointer = found->second;
  fresh_.erase(found);
  return pointer;
}

// Work on the stream comes after all that was on any stream when the block came back.
Pointer Memory::find_waiting(std::int64_t size, Handle stream) {
  auto& blocks = waiting_blocks_[size];
  if (blocks.empty()) return 0;
  const auto [number, pointer] = blocks.front();
  if (std::uint64_t& waited = waited_[stream]; waited < number) {
    for (const Batch& batch : waiting_) {
      if (batch.number != number) continue;
      for (const Moment& moment : batch.events)
        if (moment.stream != stream && driver_.wait_stream(stream, moment.event, 0) != 0) return 0;
    }
    waited = number;
  }
  blocks.pop_front();
  waiting_bytes_ -= size;
  return pointer;
}

// What came back waits for all that is on the streams now.
void Memory::seal() {
  if (fresh_.empty()) return;
  Batch batch{.number = ++batches_, .events = {}};
  for (const auto& [size, pointer] : std::exchange(fresh_, {})) {
    waiting_blocks_[size].emplace_back(batch.number, pointer);
    waiting_bytes_ += size;
  }
  for (Stream& stream : streams_) {
    if (stream.is_quiet()) continue;
    const std::uint64_t work = stream.work->load(std::memory_order_relaxed);
    Handle event = nullptr;
    if (!spare_events_.empty()) {
      event = spare_events_.back();
      spare_events_.pop_back();
    } else if (driver_.create_event(&event, kNoTiming) != 0) {
      driver_.synchronize(stream.handle);
      stream.over = work;
      continue;
    }
    driver_.record(event, stream.handle);
    batch.events.push_back({stream.handle, event, work});
  }
  waiting_.push_back(std::move(batch));
}

void Memory::collect() {
  const auto is_over = [&](const Batch& batch) {
    return std::ranges::all_of(
        batch.events, [&](const Moment& m) { return driver_.query(m.event) != kNotReady; });
  };
  while (!waiting_.empty() && is_over(waiting_.front())) settle_first();
}

// Waits for its events; then anybody may have its blocks.
void Memory::settle_first() {
  if (waiting_.empty()) {
    waiting_bytes_ = 0;
    return;
  }
  const Batch& batch = waiting_.front();
  for (const Moment& moment : batch.events) {
    driver_.wait_host(moment.event);
    spare_events_.push_back(moment.event);
    for (Stream& stream : streams_)
      if (stream.handle == moment.stream) stream.over = std::max(stream.over, moment.work);
  }
  for (auto& [size, blocks] : waiting_blocks_)
    for (; !blocks.empty() && blocks.front().first <= batch.number; blocks.pop_front()) {
      ready_[size].push_back(blocks.front().second);
      waiting_bytes_ -= size;
    }
  waiting_.pop_front();
}

Expected<Pointer> Memory::take_new(std::int64_t size) {
  Pointer pointer = 0;
  int status = driver_.allocate(&pointer, static_cast<std::size_t>(size), pool_, stream_);
  if (status == kOutOfMemory) {
    let_go_of_all();
    status = driver_.allocate(&pointer, static_cast<std::size_t>(size), pool_, stream_);
  }
  if (status == kOutOfMemory) return no_room(size);
  HEDDLE_TRY_VOID(driver_.checked(status, fmt::format("take {} bytes", size)));
  HEDDLE_TRY_VOID(driver_.checked(driver_.synchronize(stream_), "take memory"));
  return pointer;
}

// What is kept in other sizes may be enough.
void Memory::let_go_of_all() {
  seal();
  while (!waiting_.empty()) settle_first();
  for (const auto& [size, pointers] : ready_)
    for (Pointer pointer : pointers) driver_.release(pointer, stream_);
  ready_.clear();
  driver_.synchronize(stream_);
  driver_.trim_pool(pool_, 0);
}

Reason Memory::no_room(std::int64_t bytes) const {
  std::size_t free = 0, total = 0;
  driver_.memory_info(&free, &total);
  const auto text = [](auto count) { return format_bytes(static_cast<double>(count)); };
  std::vector<std::string> largest;
  for (auto at = live_sizes_.rbegin(); at != live_sizes_.rend() && largest.size() < kMostNamed;
       ++at)
    largest.push_back(at->second == 1 ? text(at->first)
                                      : fmt::format("{} of {}", at->second, text(at->first)));
  return reason(
      "the GPU has no room for {} more: of its {}, values of this process take {}{}, and {} are "
      "free; other processes may have the rest",
      text(bytes), text(total), text(live_),
      largest.empty() ? "" : fmt::format(" (the largest: {})", fmt::join(largest, ", ")),
      text(free));
}

std::int64_t Memory::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

std::shared_ptr<Memory::WorkCounter> Memory::add_stream(Handle stream) {
  const std::lock_guard lock(mutex_);
  streams_.push_back({stream, std::make_shared<WorkCounter>(0), 0});
  return streams_.back().work;
}

// Its work is over.
void Memory::remove_stream(Handle stream) {
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [&](const Stream& s) { return s.handle == stream; });
  waited_.erase(stream);
  // A later stream may have the same handle.
  for (Batch& batch : waiting_)
    for (Moment& moment : batch.events)
      if (moment.stream == stream) moment.stream = nullptr;
}

}  // namespace heddle::cuda
