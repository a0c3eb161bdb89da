// Runs on values where they lie: in host memory, or in that of a device which the host cannot
// touch.
#include <gmock/gmock.h>

#include "device/cpu/device.h"
#include "device/spare_queues.h"
#include "heddle/builder.h"
#include "heddle/compile.h"
#include "heddle/deployment.h"
#include "test_device.h"

namespace heddle {
namespace device_value_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Type kType = Type::tensor(DType::f32, {4});

Array numbers(float first) {
  Array array(kType);
  for (float& x : array.as_mutable<float>()) x = first++;
  return array;
}

class ValuesOnDevices : public testing::TestWithParam<bool> {
 protected:
  CpuDevice cpu_;
  test::TestDevice late_{cpu_};
  Device& device() { return GetParam() ? static_cast<Device&>(late_) : cpu_; }

  // x + y, and x donated.
  Executable sum(bool donates) {
    Builder b;
    b.function("main", {kType, kType}, [](const Vars& in) -> Vars { return {in[0] + in[1]}; });
    CompileOptions options;
    options.device = &device();
    options.machine_code = device().can_compile().ok();
    options.donated = {donates, false};
    return compile(b.finish().value(), options).value();
  }
  DeviceValue there(const Array& array) {
    const auto queue = device().queue();
    DeviceValue value = to_device(*queue, DeviceValue(array)).value();
    EXPECT_TRUE(queue->finish());
    return value;
  }
  std::vector<float> back(const DeviceValue& value) {
    const auto queue = device().queue();
    const Array array = to_host(*queue, value).value();
    const auto all = array.as<float>();
    return {all.begin(), all.end()};
  }
};

TEST_P(ValuesOnDevices, ArraysGoThereAndResultsStay) {
  const Executable executable = sum(false);
  DeviceValue x = there(numbers(0));
  EXPECT_EQ(x.in_host_memory(), !GetParam());
  for (int i = 0; i < 5; ++i) x = executable.run_values({x, numbers(1)}).value()[0];
  EXPECT_EQ(x.in_host_memory(), executable.in_host_memory());
  EXPECT_EQ(x.type(), kType);
  EXPECT_THAT(back(x), ElementsAre(5, 11, 17, 23));
}

TEST_P(ValuesOnDevices, ADonatedValueThatOthersHoldStaysAsItIs) {
  const Executable executable = sum(true);
  const DeviceValue held = there(numbers(0));
  const DeviceValue result = executable.run_values({held, numbers(1)}).value()[0];
  EXPECT_THAT(back(held), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(back(result), ElementsAre(1, 3, 5, 7));
  // The same twice, of which one is donated.
  DeviceValue alone = there(numbers(0));
  std::vector<DeviceValue> both = {alone, alone};
  alone = {};
  EXPECT_THAT(back(executable.run_values(std::move(both)).value()[0]), ElementsAre(0, 2, 4, 6));
}

TEST_P(ValuesOnDevices, OfAnotherDeviceAreRefused) {
  test::TestDevice other(cpu_);
  const auto queue = other.queue();
  const DeviceValue elsewhere = to_device(*queue, DeviceValue(numbers(0))).value();
  ASSERT_TRUE(queue->finish());
  EXPECT_THAT(sum(false).run_values({elsewhere, numbers(1)}).reason(),
              HasSubstr("bring it to the host first"));
}

TEST_P(ValuesOnDevices, OnAMeshOfThreads) {
  Builder b;
  b.function("main", {kType}, [](const Vars& in) -> Vars { return {in[0] + in[0]}; });
  Target target = mesh_target("dp=2", {"arg0=dp"}).value();
  target.options.device = &device();
  target.options.machine_code = device().can_compile().ok();
  auto deployment = Deployment::open(compile(b.finish().value(), target).value()).value();
  DeviceValues parts(2);
  const auto cut = deployment.parts_of(numbers(1), 0).value();
  for (std::size_t d = 0; d < 2; ++d) parts[d].push_back(there(cut[d]));
  for (int i = 0; i < 2; ++i) parts = deployment.run_values(std::move(parts)).value();
  EXPECT_THAT(back(parts[0][0]), ElementsAre(4, 8));
  EXPECT_THAT(back(parts[1][0]), ElementsAre(12, 16));
}

INSTANTIATE_TEST_SUITE_P(All, ValuesOnDevices, testing::Bool(),
                         [](const auto& info) { return info.param ? "late" : "cpu"; });

TEST(SpareQueues, AreUsedAgainUnlessTheyHaveFailed) {
  CpuDevice cpu;
  test::TestDevice late(cpu);
  SpareQueues queues(late);
  const Queue* first = nullptr;
  {
    const auto queue = queues.take();
    first = &*queue;
    const auto second = queues.take();
    EXPECT_NE(&*second, first);
  }
  {
    const auto queue = queues.take();
    const Buffer small = late.allocate(4).value();
    EXPECT_TRUE(queue->zero(small.address, 64));  // more than there is
    EXPECT_FALSE(queue->finish());
  }
  const auto queue = queues.take();
  EXPECT_TRUE(queue->finish());
}

}  // namespace
}  // namespace device_value_tests
}  // namespace heddle
