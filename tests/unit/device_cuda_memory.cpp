// Which memory of a GPU is given out again, and when, with a driver that only counts.
#include <gtest/gtest.h>

#include <map>

#include "device/cuda/memory.h"

namespace heddle::cuda_memory_tests {
namespace {

using cuda::Handle;
using cuda::Pointer;

// What the driver was asked; events pass when the test says so.
struct Asked {
  Pointer next = 4096;
  std::uintptr_t handles = 1;
  std::map<Handle, bool> passed;
  int records = 0, waits = 0;
};
Asked asked;

cuda::Driver counting_driver() {
  asked = {};
  cuda::Driver d;
  d.create_pool = [](Handle* pool, const void*) { return *pool = &asked, 0; };
  d.set_pool = [](Handle, int, void*) { return 0; };
  d.create_stream = [](Handle* stream, unsigned) {
    *stream = reinterpret_cast<Handle>(++asked.handles);
    return 0;
  };
  d.allocate = [](Pointer* pointer, std::size_t bytes, Handle, Handle) {
    *pointer = asked.next;
    asked.next += bytes;
    return 0;
  };
  d.synchronize = [](Handle) { return 0; };
  d.create_event = [](Handle* event, unsigned) {
    *event = reinterpret_cast<Handle>(++asked.handles);
    return 0;
  };
  d.record = [](Handle event, Handle) {
    ++asked.records;
    asked.passed[event] = false;
    return 0;
  };
  d.query = [](Handle event) { return asked.passed[event] ? 0 : cuda::kNotReady; };
  d.wait_host = [](Handle event) { return asked.passed[event] = true, 0; };
  d.wait_stream = [](Handle, Handle, unsigned) { return ++asked.waits, 0; };
  return d;
}

class CudaMemory : public ::testing::Test {
 protected:
  CudaMemory() {
    EXPECT_TRUE(memory_.open(0));
    work_a_ = memory_.add_stream(a_);
    work_b_ = memory_.add_stream(b_);
  }
  cuda::Driver driver_ = counting_driver();
  cuda::Memory memory_{driver_};
  Handle a_ = reinterpret_cast<Handle>(0xa0), b_ = reinterpret_cast<Handle>(0xb0);
  std::shared_ptr<cuda::Memory::WorkCounter> work_a_, work_b_;
};

// A stream that is alone gets what it gave back without a word to the driver.
TEST_F(CudaMemory, OneStreamNeedsNoEvents) {
  const Pointer first = memory_.take(1000, a_).value();
  for (int turn = 0; turn < 5; ++turn) {
    ++*work_a_;
    memory_.give_back(first, 1000);
    EXPECT_EQ(memory_.take(1000, a_).value(), first);
  }
  EXPECT_EQ(asked.records, 0);
  EXPECT_EQ(memory_.live_bytes(), 1024);
}

// Two generations of results, the older given back in another order: every second one lies alike.
TEST_F(CudaMemory, TheSameSizesComeToTheSamePlaces) {
  std::vector<std::vector<Pointer>> generations;
  for (int turn = 0; turn < 8; ++turn) {
    ++*work_a_;
    std::vector<Pointer> now;
    for (int i = 0; i < 5; ++i) now.push_back(memory_.take(i < 3 ? 1000 : 3000, a_).value());
    generations.push_back(now);
    if (turn == 0) continue;
    const std::vector<Pointer>& old = generations[generations.size() - 2];
    for (std::size_t i : {3U, 1U, 4U, 2U, 0U}) memory_.give_back(old[i], i < 3 ? 1000 : 3000);
  }
  for (std::size_t turn = 4; turn < generations.size(); ++turn)
    EXPECT_EQ(generations[turn], generations[turn - 2]) << turn;
}

// What another stream may still use is waited for, on the device.
TEST_F(CudaMemory, AnotherStreamIsWaitedFor) {
  const Pointer first = memory_.take(1000, a_).value();
  ++*work_a_;
  ++*work_b_;
  memory_.give_back(first, 1000);
  EXPECT_EQ(memory_.take(1000, a_).value(), first);
  EXPECT_EQ(asked.records, 2);
  EXPECT_EQ(asked.waits, 1);
}

// Nobody without a stream gets it before all is over; then the other stream is known to be quiet.
TEST_F(CudaMemory, WhatIsOverIsForgotten) {
  const Pointer first = memory_.take(1000, a_).value();
  ++*work_b_;
  memory_.give_back(first, 1000);
  EXPECT_NE(memory_.take(1000).value(), first);
  for (auto& [event, passed] : asked.passed) passed = true;
  EXPECT_EQ(memory_.take(1000).value(), first);
  const int before = asked.records;
  memory_.give_back(first, 1000);
  EXPECT_EQ(memory_.take(1000, a_).value(), first);
  EXPECT_EQ(asked.records, before);
  ++*work_b_;
  memory_.give_back(first, 1000);
  EXPECT_EQ(memory_.take(1000, a_).value(), first);
  EXPECT_EQ(asked.records, before + 1);
}

}  // namespace
}  // namespace heddle::cuda_memory_tests
