// Queues, events and buffers, of the CPU and of the device that runs late.
#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "device/cpu/device.h"
#include "test_device.h"

namespace heddle {
namespace {

using testing::HasSubstr;

class Devices : public testing::TestWithParam<bool> {
 protected:
  CpuDevice cpu_;
  test::TestDevice late_{cpu_, {.one_in = 1}};
  Device& device() { return GetParam() ? static_cast<Device&>(late_) : cpu_; }
};

std::vector<std::byte> numbered(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

TEST_P(Devices, WhatIsWrittenComesBack) {
  const auto queue = device().queue();
  const Buffer a = device().allocate(1000).value(), b = device().allocate(1000).value();
  const auto sent = numbered(1000);
  std::vector<std::byte> got(1000);
  ASSERT_TRUE(queue->write(sent, a.address, nullptr));
  ASSERT_TRUE(queue->copy(a.address, b.address, 1000));
  ASSERT_TRUE(queue->zero(b.address + 100, 10));
  ASSERT_TRUE(read_now(*queue, b.address, got));
  auto wanted = sent;
  std::fill_n(wanted.begin() + 100, 10, std::byte{0});
  EXPECT_EQ(got, wanted);
}

TEST_P(Devices, AQueueWaitsForAnother) {
  for (int turn = 0; turn < 20; ++turn) {
    const auto first = device().queue(), second = device().queue();
    const Buffer a = device().allocate(64).value(), b = device().allocate(64).value();
    const auto sent = numbered(64);
    std::vector<std::byte> got(64);
    ASSERT_TRUE(first->write(sent, a.address, nullptr));
    ASSERT_TRUE(second->wait(first->record()));
    ASSERT_TRUE(second->copy(a.address, b.address, 64));
    ASSERT_TRUE(read_now(*second, b.address, got));
    EXPECT_EQ(got, sent);
  }
}

TEST_P(Devices, AnEventPassesOnce) {
  const auto queue = device().queue();
  EXPECT_TRUE(Event().done());
  const Buffer a = device().allocate(64).value();
  ASSERT_TRUE(queue->zero(a.address, 64));
  const Event event = queue->record();
  ASSERT_TRUE(event.wait());
  EXPECT_TRUE(event.done());
}

// The host may let go of what it sends: the queue holds it.
TEST_P(Devices, WritesKeepWhatTheyRead) {
  const auto queue = device().queue();
  const Buffer a = device().allocate(64).value();
  std::weak_ptr<Block> seen;
  {
    const auto sent = Block::copy_of(numbered(64));
    seen = sent;
    ASSERT_TRUE(queue->write({sent->data(), 64}, a.address, sent));
  }
  std::vector<std::byte> got(64);
  ASSERT_TRUE(read_now(*queue, a.address, got));
  EXPECT_EQ(got, numbered(64));
  EXPECT_TRUE(seen.expired());
}

TEST_P(Devices, MemoryIsAligned) {
  for (const std::int64_t bytes : {0, 1, 63, 4097})
    EXPECT_EQ(device().allocate(bytes)->address.value %
                  static_cast<std::uintptr_t>(device().limits().alignment),
              0U);
}

INSTANTIATE_TEST_SUITE_P(All, Devices, testing::Bool(),
                         [](const auto& info) { return info.param ? "late" : "cpu"; });

TEST(TestDevice, KnowsItsHandles) {
  CpuDevice cpu;
  test::TestDevice device(cpu);
  std::array<std::byte, 8> host = {};
  for (const int wrong : {0, 1, 2}) {
    const auto queue = device.queue();
    Buffer a = device.allocate(64).value();
    const DeviceAddress at = wrong == 0 ? address_of(host.data()) : a.address;
    if (wrong == 1) a = {};  // its memory is gone
    ASSERT_TRUE(queue->zero(at, wrong == 2 ? 65 : 8));
    const Verdict finished = queue->finish();
    ASSERT_FALSE(finished);
    EXPECT_THAT(finished.reason(), HasSubstr("handle"));
    // Nothing is done after a failure, and everybody hears of it.
    EXPECT_FALSE(queue->zero(at, 1));
    EXPECT_FALSE(queue->record().wait());
  }
  EXPECT_EQ(device.live_buffers(), 0U);
}

TEST(CpuDevice, BlocksAreBuffers) {
  CpuDevice cpu;
  const auto block = Block::copy_of(numbered(100));
  const Buffer buffer = buffer_of(cpu, block);
  EXPECT_EQ(host_pointer(buffer.address), block->data());
  EXPECT_EQ(block_of(buffer), block);
  EXPECT_EQ(block_of(cpu.allocate(10).value())->size(), 10U);
}

}  // namespace
}  // namespace heddle
