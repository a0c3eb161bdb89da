// Windows on a device whose memory the host cannot touch: what goes there, stays there and comes
// back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cpu/device.h"
#include "heddle/recorder.h"
#include "ir/eval/scalar.h"
#include "test_device.h"

namespace heddle::own_memory_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kLeast = 3, kBytes = kLeast * std::int64_t{sizeof(double)};

class OwnMemoryTest : public testing::Test {
 protected:
  OwnMemoryTest() {
    RecordOptions options;
    options.target.options.machine_code = false;
    recorder = std::make_unique<Recorder>(std::move(options));
    recorder->set_device(&device, kLeast).value();
  }
  StorePtr given(std::vector<double> values) {
    return recorder->store(make_array<double>({static_cast<std::int64_t>(values.size())}, values));
  }
  StorePtr sum(const StorePtr& x, const StorePtr& y) {
    return recorder->keep(
        [&](Builder& b) { return b.op("add", {recorder->read(*x), recorder->read(*y)}); });
  }
  std::vector<double> values(const StorePtr& store) {
    const Array array = recorder->host(*store).value();
    const auto all = array.as<double>();
    return {all.begin(), all.end()};
  }
  void run() { recorder->flush().value(); }
  const RecordCounts& counts() const { return recorder->counts(); }

  test::TestDevice device{cpu_device()};
  std::unique_ptr<Recorder> recorder;
};

TEST_F(OwnMemoryTest, ArgumentsGoThereOnceAndResultsStayThere) {
  const StorePtr x = given({1, 2, 3});
  StorePtr y = sum(x, x);
  run();
  EXPECT_FALSE(y->memory().in_host_memory());
  for (int turn = 0; turn < 3; ++turn) {
    y = sum(y, x);
    run();
  }
  EXPECT_EQ(counts().bytes_there, kBytes);
  EXPECT_EQ(counts().bytes_back, 0);
  EXPECT_THAT(values(y), ElementsAre(5, 10, 15));
  EXPECT_THAT(values(x), ElementsAre(1, 2, 3));
  EXPECT_EQ(counts().bytes_back, kBytes);  // the host has x
  EXPECT_THAT(recorder->explain(), HasSubstr("run on test"));
}

TEST_F(OwnMemoryTest, WhatWasReadIsStillThere) {
  const StorePtr x = given({1, 2, 3}), y = sum(x, x);
  EXPECT_THAT(values(y), ElementsAre(2, 4, 6));
  EXPECT_TRUE(y->memory().in_host_memory());
  EXPECT_THAT(values(sum(y, x)), ElementsAre(3, 6, 9));
  EXPECT_EQ(counts().bytes_there, kBytes);
}

TEST_F(OwnMemoryTest, WhatTheHostWritesGoesThereAgain) {
  const StorePtr x = given({1, 2, 3});
  EXPECT_THAT(values(sum(x, x)), ElementsAre(2, 4, 6));
  recorder->make_writable(*x).value();
  reinterpret_cast<double*>(x->memory().array().block()->data())[0] = 10;
  EXPECT_THAT(values(sum(x, x)), ElementsAre(20, 4, 6));
  EXPECT_EQ(counts().bytes_there, 2 * kBytes);
}

TEST_F(OwnMemoryTest, SmallWindowsAreTheHosts) {
  const StorePtr x = given({1, 2}), y = sum(x, x);
  run();
  EXPECT_TRUE(y->memory().in_host_memory());
  const StorePtr large = given({1, 2, 3});
  const StorePtr part =
      recorder->keep([&](Builder& b) { return b.slice(recorder->read(*large), {0}, {2}); });
  run();
  EXPECT_FALSE(part->memory().in_host_memory());
  EXPECT_THAT(values(sum(part, y)), ElementsAre(3, 6));  // brought back for it
  EXPECT_EQ(counts().bytes_back, 16);
}

TEST_F(OwnMemoryTest, MemoryGoesBack) {
  for (int turn = 0; turn < 4; ++turn) {
    StorePtr x = given({1, 2, 3});
    x = sum(x, x);
    run();
    x = sum(x, x);  // over an argument that nobody has any more
    EXPECT_THAT(values(x), ElementsAre(4, 8, 12));
  }
  recorder->flush().value();
  recorder = nullptr;
  EXPECT_EQ(device.live_buffers(), 0U);
}

TEST_F(OwnMemoryTest, WindowsComeBackToTheHost) {
  const StorePtr x = given({1, 2, 3}), y = sum(x, x);
  run();
  recorder->set_device(nullptr).value();
  const StorePtr z = sum(x, y);
  run();
  EXPECT_TRUE(z->memory().in_host_memory());
  EXPECT_THAT(values(z), ElementsAre(3, 6, 9));
}

TEST_F(OwnMemoryTest, SeveralDevicesShareTheHostsMemory) {
  const auto threads = std::make_shared<WindowDevices>(2);
  EXPECT_THAT(recorder->set_devices(threads).reason(), HasSubstr("windows run on test"));
  recorder->set_device(nullptr).value();
  recorder->set_devices(threads).value();
  EXPECT_THAT(recorder->set_device(&device).reason(), HasSubstr("and not on test too"));
}

}  // namespace
}  // namespace heddle::own_memory_tests
