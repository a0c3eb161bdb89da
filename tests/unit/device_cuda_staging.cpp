// Copies through page-locked memory, by a driver that does nothing before somebody waits for it.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>

#include "device/cuda/staging.h"

namespace heddle::cuda {
namespace {

// Work of one stream in order, and what the driver has handed out. Device memory is the test's own.
struct Machine {
  std::deque<std::function<void()>> work;
  std::map<Handle, std::size_t> due;  // by event: how much work has to be done before it
  std::size_t done = 0;
  std::vector<std::unique_ptr<std::byte[]>> locked;
  std::size_t most_locked = SIZE_MAX;
  int waits = 0;

  void run_until(std::size_t count) {
    for (; done < count; ++done) {
      work.front()();
      work.pop_front();
    }
  }
  std::size_t all() const { return done + work.size(); }
};
Machine* machine = nullptr;

Driver late_driver() {
  Driver d;
  d.lock_memory = [](void** bytes, std::size_t size, unsigned) {
    if (machine->locked.size() >= machine->most_locked) return kOutOfMemory;
    machine->locked.push_back(std::make_unique<std::byte[]>(size));
    *bytes = machine->locked.back().get();
    return 0;
  };
  d.unlock_memory = [](void*) { return 0; };
  d.create_event = [](Handle* event, unsigned) {
    *event = reinterpret_cast<Handle>(machine->due.size() + 1);
    machine->due[*event] = 0;
    return 0;
  };
  d.record = [](Handle event, Handle) {
    machine->due[event] = machine->all();
    return 0;
  };
  d.query = [](Handle event) { return machine->due[event] <= machine->done ? 0 : kNotReady; };
  d.wait_host = [](Handle event) {
    ++machine->waits;
    machine->run_until(machine->due[event]);
    return 0;
  };
  d.synchronize = [](Handle) {
    ++machine->waits;
    machine->run_until(machine->all());
    return 0;
  };
  d.copy_in = [](Pointer to, const void* from, std::size_t size, Handle) {
    machine->work.emplace_back([=] { std::memcpy(reinterpret_cast<void*>(to), from, size); });
    return 0;
  };
  d.copy_out = [](void* to, Pointer from, std::size_t size, Handle) {
    machine->work.emplace_back([=] { std::memcpy(to, reinterpret_cast<void*>(from), size); });
    return 0;
  };
  d.error = [](int, const char** text) {
    *text = "no";
    return 0;
  };
  return d;
}

const Handle kStream = reinterpret_cast<Handle>(1);

class CudaStaging : public testing::Test {
 protected:
  CudaStaging() { machine = &machine_; }
  ~CudaStaging() override { machine = nullptr; }

  static std::vector<std::byte> numbers(std::size_t bytes, unsigned seed) {
    std::vector<std::byte> made(bytes);
    for (std::byte& byte : made)
      byte = static_cast<std::byte>((seed = seed * 1664525 + 1013904223) >> 24);
    return made;
  }
  static Pointer pointer_to(std::vector<std::byte>& bytes) {
    return reinterpret_cast<Pointer>(bytes.data());
  }

  Machine machine_;
  const Driver driver_ = late_driver();
  PinnedPool pool_{driver_};
};

TEST_F(CudaStaging, BytesGoThereAndBack) {
  Staging staging(pool_, driver_);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{100'000},
        PinnedPool::kChunkBytes, PinnedPool::kChunkBytes * 5 + 77}) {
    std::vector<std::byte> from = numbers(bytes, 7), device(bytes), back(bytes);
    const std::vector<std::byte> wanted = from;
    ASSERT_EQ(staging.write(from, pointer_to(device), kStream).value(), bytes);
    std::ranges::fill(from, std::byte{0});  // the host may change them at once
    ASSERT_EQ(staging.read(pointer_to(device), back, kStream).value(), bytes);
    ASSERT_TRUE(staging.land(kStream));
    EXPECT_TRUE(back == wanted) << bytes;
  }
}

TEST_F(CudaStaging, SmallCopiesWaitForNothing) {
  Staging staging(pool_, driver_);
  constexpr std::size_t kCopies = 400, kBytes = 1000;
  std::vector<std::byte> from = numbers(kCopies * kBytes, 3), device(from.size()),
                         back(from.size());
  for (std::size_t i = 0; i < kCopies; ++i) {
    const std::size_t at = i * kBytes;
    ASSERT_TRUE(
        staging.write(std::span(from).subspan(at, kBytes), pointer_to(device) + at, kStream));
    ASSERT_TRUE(
        staging.read(pointer_to(device) + at, std::span(back).subspan(at, kBytes), kStream));
  }
  EXPECT_EQ(machine_.waits, 0);
  EXPECT_EQ(machine_.locked.size(), 2U);  // one for each way
  EXPECT_FALSE(staging.has_landed());
  ASSERT_TRUE(staging.land(kStream));
  EXPECT_EQ(machine_.waits, 1);
  EXPECT_TRUE(back == from);
}

TEST_F(CudaStaging, ChunksAreBoundedAndUsedAgain) {
  constexpr std::size_t kBytes = PinnedPool::kChunkBytes * 3;
  std::vector<std::byte> from = numbers(kBytes, 5), device(kBytes);
  for (int turn = 0; turn < 20; ++turn) {
    Staging staging(pool_, driver_);
    ASSERT_EQ(staging.write(from, pointer_to(device), kStream).value(), kBytes);
    machine_.run_until(machine_.all());  // a queue is finished before it goes
  }
  EXPECT_LE(machine_.locked.size(), 4U);
  Staging many(pool_, driver_);
  for (int turn = 0; turn < 20; ++turn)
    ASSERT_EQ(many.write(from, pointer_to(device), kStream).value(), kBytes);
  EXPECT_EQ(machine_.locked.size(), PinnedPool::kMostChunks);
  machine_.run_until(machine_.all());
  EXPECT_TRUE(device == from);
}

TEST_F(CudaStaging, ALongReadLandsWhileTheNextChunkIsOnItsWay) {
  Staging staging(pool_, driver_);
  constexpr std::size_t kBytes = PinnedPool::kChunkBytes * 12;
  std::vector<std::byte> device = numbers(kBytes, 9), back(kBytes);
  ASSERT_EQ(staging.read(pointer_to(device), back, kStream).value(), kBytes);
  EXPECT_LE(machine_.locked.size(), 4U);
  EXPECT_GT(machine_.all(), machine_.done);  // the last ones are not waited for yet
  EXPECT_EQ(std::memcmp(back.data(), device.data(), PinnedPool::kChunkBytes), 0);
  ASSERT_TRUE(staging.land(kStream));
  EXPECT_TRUE(back == device);
}

TEST_F(CudaStaging, WithoutLockedMemoryTheRestIsTheCallers) {
  machine_.most_locked = 0;
  Staging staging(pool_, driver_);
  std::vector<std::byte> from(100), device(100);
  EXPECT_EQ(staging.write(from, pointer_to(device), kStream).value(), 0U);
  EXPECT_EQ(staging.read(pointer_to(device), from, kStream).value(), 0U);
  EXPECT_TRUE(staging.land(kStream));
}

TEST_F(CudaStaging, WhereOthersHoldAllChunksTheRestIsTheCallers) {
  machine_.most_locked = 2;
  Staging staging(pool_, driver_);
  const PinnedChunk held = pool_.take();
  std::vector<std::byte> device = numbers(PinnedPool::kChunkBytes * 3, 2), back(device.size());
  // One chunk is enough, if slowly.
  ASSERT_EQ(staging.read(pointer_to(device), back, kStream).value(), back.size());
  ASSERT_TRUE(staging.land(kStream));
  EXPECT_TRUE(back == device);
  Staging other(pool_, driver_);
  EXPECT_EQ(other.write(back, pointer_to(device), kStream).value(), 0U);
  pool_.give_back(held, nullptr);
  EXPECT_GT(other.write(back, pointer_to(device), kStream).value(), 0U);
  machine_.run_until(machine_.all());
}

TEST_F(CudaStaging, WhatIsGivenUpIsNotWritten) {
  Staging staging(pool_, driver_);
  std::vector<std::byte> device = numbers(64, 2), back(64);
  ASSERT_TRUE(staging.read(pointer_to(device), back, kStream));
  staging.drop();
  ASSERT_TRUE(staging.land(kStream));
  EXPECT_TRUE(back == std::vector<std::byte>(64));
  machine_.run_until(machine_.all());
}

}  // namespace
}  // namespace heddle::cuda
