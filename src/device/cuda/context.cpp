#include "device/cuda/context.h"

namespace heddle::cuda {

namespace {

// Numbers of the driver's interface.
constexpr int kMajor = 75, kMinor = 76, kMultiprocessors = 16, kClock = 13, kFarCache = 38,
              kMemoryClock = 36, kMemoryBits = 37, kSharedOptin = 97, kHasPools = 115;

}  // namespace

Verdict can_be_used(const GpuFacts& facts, int major, bool has_pools) {
  if (major < 7)
    return reason(
        "{} ({}) is too old: devices from sm_70 on are supported; heddle run without "
        "--device takes the CPU",
        facts.name, facts.arch);
  if (!has_pools)
    return reason(
        "{} ({}) gives no memory by streams: a driver for CUDA 12 or later is needed, and "
        "a GPU that is no part of a virtual one",
        facts.name, facts.arch);
  return yes();
}

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
  HEDDLE_TRY_VOID(made->memory_.open(device));
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
  HEDDLE_TRY_VOID(can_be_used(facts_, major, pools != 0));
  std::size_t free = 0, total = 0;
  HEDDLE_TRY_VOID(driver_.checked(driver_.memory_info(&free, &total), "ask for its memory"));
  facts_.memory_bytes = static_cast<std::int64_t>(total);
  return yes();
}

Expected<Pointer> Context::allocate(std::int64_t bytes, Handle stream) {
  HEDDLE_TRY_VOID(enter());
  return memory_.take(bytes, stream);
}

void Context::release(Pointer pointer, std::int64_t bytes) { memory_.give_back(pointer, bytes); }

void Context::let_go(Pointer pointer, std::int64_t bytes) {
  if (enter()) memory_.let_go(pointer, bytes);
}

Expected<Context::Stream> Context::add_stream() {
  HEDDLE_TRY_VOID(enter());
  Handle stream = nullptr;
  HEDDLE_TRY_VOID(driver_.checked(driver_.create_stream(&stream, kNonBlocking), "make a stream"));
  return Stream{stream, memory_.add_stream(stream)};
}

Expected<Handle> Context::take_event() {
  {
    const std::lock_guard lock(mutex_);
    if (!spare_events_.empty()) {
      const Handle event = spare_events_.back();
      spare_events_.pop_back();
      return event;
    }
  }
  Handle event = nullptr;
  HEDDLE_TRY_VOID(driver_.checked(driver_.create_event(&event, kNoTiming), "make an event"));
  return event;
}

void Context::give_back_event(Handle event) {
  const std::lock_guard lock(mutex_);
  spare_events_.push_back(event);
}

void Context::remove_stream(Handle stream) {
  memory_.remove_stream(stream);
  if (enter()) driver_.destroy_stream(stream);
}

}  // namespace heddle::cuda
