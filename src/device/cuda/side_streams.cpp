#include "device/cuda/side_streams.h"

namespace heddle::cuda {

SideStreams::~SideStreams() {
  if (begin_ == nullptr || !context_.enter()) return;
  const Driver& driver = context_.driver();
  driver.destroy_event(begin_);
  for (const Side& side : sides_) {
    if (side.event != nullptr) driver.destroy_event(side.event);
    driver.destroy_stream(side.stream);
  }
}

Verdict SideStreams::make(std::size_t sides) {
  const Driver& driver = context_.driver();
  const auto event = [&](Handle& made) {
    return driver.checked(driver.create_event(&made, kNoTiming), "make an event");
  };
  if (begin_ == nullptr) HEDDLE_TRY_VOID(event(begin_));
  while (sides_.size() < sides) {
    Handle stream = nullptr;
    HEDDLE_TRY_VOID(driver.checked(driver.create_stream(&stream, kNonBlocking), "make a stream"));
    sides_.push_back({stream, nullptr});
    HEDDLE_TRY_VOID(event(sides_.back().event));
  }
  return yes();
}

Verdict SideStreams::fork(Handle main, std::size_t lanes) {
  if (lanes < 2) return yes();
  HEDDLE_TRY_VOID(make(lanes - 1));
  const Driver& driver = context_.driver();
  HEDDLE_TRY_VOID(driver.checked(driver.record(begin_, main), "record an event"));
  for (std::size_t i = 0; i + 1 < lanes; ++i)
    HEDDLE_TRY_VOID(
        driver.checked(driver.wait_stream(sides_[i].stream, begin_, 0), "wait for an event"));
  return yes();
}

Verdict SideStreams::join(Handle main, std::size_t lanes) {
  const Driver& driver = context_.driver();
  for (std::size_t i = 0; i + 1 < lanes; ++i) {
    HEDDLE_TRY_VOID(
        driver.checked(driver.record(sides_[i].event, sides_[i].stream), "record an event"));
    HEDDLE_TRY_VOID(
        driver.checked(driver.wait_stream(main, sides_[i].event, 0), "wait for an event"));
  }
  return yes();
}

}  // namespace heddle::cuda
