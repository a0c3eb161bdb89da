#include "device/cuda/context.h"

#include <algorithm>

#include "base/text.h"

namespace heddle::cuda {

namespace {

// Numbers of the driver's interface.
constexpr int kMajor = 75, kMinor = 76, kMultiprocessors = 16, kClock = 13, kFarCache = 38,
              kMemoryClock = 36, kMemoryBits = 37, kSharedOptin = 97, kHasPools = 115;

constexpr int kFollowEvents = 1, kOpportunistic = 2, kInternal = 3, kThreshold = 4;

// CUmemPoolProps: plain device memory of one device.
struct PoolProperties {
  int type = 1, handles = 0;            // pinned; not to be exported
  int location_type = 1, location = 0;  // a device, its number
  void* security = nullptr;
  std::size_t most = 0;
  unsigned char reserved[56] = {};
};

}  // namespace

Expected<std::shared_ptr<Context>> Context::open(int number) {
  HEDDLE_TRY(const Driver* driver, cuda::driver());
  int count = 0, device = 0;
  HEDDLE_TRY_VOID(driver->checked(driver->count(&count), "count devices"));
  if (number < 0 || number >= count)
    return reason("there is no device cuda:{}: this machine has {}", number,
                  count == 0   ? "none"
                  : count == 1 ? "one, cuda:0"
                               : fmt::format("{}", count));
  HEDDLE_TRY_VOID(driver->checked(driver->device(&device, number), "find the device"));
  std::shared_ptr<Context> made(new Context(*driver, number));
  HEDDLE_TRY_VOID(
      driver->checked(driver->retain(&made->context_, device), "open the device for this process"));
  HEDDLE_TRY_VOID(made->enter());
  HEDDLE_TRY_VOID(made->read_facts(device));
  HEDDLE_TRY_VOID(made->make_pool(device));
  return made;
}

Verdict Context::enter() const {
  return driver_.checked(driver_.set_current(context_), "use the device");
}

Verdict Context::read_facts(int device) {
  const auto ask = [&](int what, int& value) {
    return driver_.checked(driver_.attribute(&value, what, device), "ask the device");
  };
  int major = 0, minor = 0, pools = 0;
  HEDDLE_TRY_VOID(ask(kMajor, major));
  HEDDLE_TRY_VOID(ask(kMinor, minor));
  HEDDLE_TRY_VOID(ask(kHasPools, pools));
  HEDDLE_TRY_VOID(ask(kMultiprocessors, facts_.multiprocessors));
  HEDDLE_TRY_VOID(ask(kClock, facts_.clock_khz));
  HEDDLE_TRY_VOID(ask(kFarCache, facts_.far_cache));
  HEDDLE_TRY_VOID(ask(kMemoryClock, facts_.memory_khz));
  HEDDLE_TRY_VOID(ask(kMemoryBits, facts_.memory_bits));
  HEDDLE_TRY_VOID(ask(kSharedOptin, facts_.shared_bytes));
  char text[128] = {};
  HEDDLE_TRY_VOID(
      driver_.checked(driver_.device_name(text, sizeof(text) - 1, device), "ask the device"));
  facts_.name = text;
  facts_.arch = fmt::format("sm_{}{}", major, minor);
  if (major < 7 || pools == 0)
    return reason("{} ({}) is too old: devices from sm_70 on are supported", facts_.name,
                  facts_.arch);
  std::size_t free = 0, total = 0;
  HEDDLE_TRY_VOID(driver_.checked(driver_.memory_info(&free, &total), "ask for its memory"));
  facts_.memory_bytes = static_cast<std::int64_t>(total);
  return yes();
}

// What has gone back is kept for the next who asks; nothing is taken before somebody does. Memory
// is used again only when the work before has really been done, so that none waits to get it.
Verdict Context::make_pool(int device) {
  PoolProperties properties;
  properties.location = device;
  HEDDLE_TRY_VOID(driver_.checked(driver_.create_pool(&pool_, &properties), "make a pool"));
  int no = 0, yes_ = 1;
  std::uint64_t keep = UINT64_MAX;
  HEDDLE_TRY_VOID(driver_.checked(driver_.set_pool(pool_, kInternal, &no), "set up the pool"));
  HEDDLE_TRY_VOID(driver_.checked(driver_.set_pool(pool_, kFollowEvents, &no), "set up the pool"));
  HEDDLE_TRY_VOID(
      driver_.checked(driver_.set_pool(pool_, kOpportunistic, &yes_), "set up the pool"));
  HEDDLE_TRY_VOID(driver_.checked(driver_.set_pool(pool_, kThreshold, &keep), "set up the pool"));
  HEDDLE_TRY_VOID(driver_.checked(driver_.create_stream(&coming_, kNonBlocking), "make a stream"));
  HEDDLE_TRY_VOID(driver_.checked(driver_.create_stream(&going_, kNonBlocking), "make a stream"));
  return driver_.checked(driver_.create_event(&fence_, kNoTiming), "make an event");
}

Expected<Pointer> Context::allocate(std::int64_t bytes) {
  HEDDLE_TRY_VOID(enter());
  const std::lock_guard lock(mutex_);
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  Pointer pointer = 0;
  int status = driver_.allocate(&pointer, size, pool_, coming_);
  if (status == kOutOfMemory) {
    // What is on its way back may be enough.
    HEDDLE_TRY_VOID(driver_.checked(driver_.synchronize_all(), "finish its work"));
    driver_.trim_pool(pool_, 0);
    status = driver_.allocate(&pointer, size, pool_, coming_);
  }
  if (status == kOutOfMemory) return no_room(bytes);
  HEDDLE_TRY_VOID(driver_.checked(status, fmt::format("take {} bytes", bytes)));
  HEDDLE_TRY_VOID(driver_.checked(driver_.synchronize(coming_), "take memory"));
  live_ += bytes;
  return pointer;
}

Reason Context::no_room(std::int64_t bytes) {
  std::size_t free = 0, total = 0;
  driver_.memory_info(&free, &total);
  const auto text = [](auto count) { return format_bytes(static_cast<double>(count)); };
  return reason(
      "{} has no room for {} more: of its {}, values of this process take {}, and {} are free; "
      "other processes may have the rest",
      facts_.name, text(bytes), text(total), text(live_), text(free));
}

// Nobody can be told of a failure here; the next who uses the device is.
void Context::release(Pointer pointer, std::int64_t bytes) {
  if (!enter()) return;
  const std::lock_guard lock(mutex_);
  for (Handle stream : streams_) {
    driver_.record(fence_, stream);
    driver_.wait_stream(going_, fence_, 0);
  }
  driver_.release(pointer, going_);
  live_ -= bytes;
}

std::int64_t Context::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

Expected<Handle> Context::add_stream() {
  HEDDLE_TRY_VOID(enter());
  Handle stream = nullptr;
  HEDDLE_TRY_VOID(driver_.checked(driver_.create_stream(&stream, kNonBlocking), "make a stream"));
  const std::lock_guard lock(mutex_);
  streams_.push_back(stream);
  return stream;
}

void Context::remove_stream(Handle stream) {
  const std::lock_guard lock(mutex_);
  std::erase(streams_, stream);
  if (enter()) driver_.destroy_stream(stream);
}

}  // namespace heddle::cuda
