// Optimisers inside of collectives on a device that does chunk programs for all ranks at once.
#include <gmock/gmock.h>

#include "compiled.h"
#include "device/cpu/device.h"
#include "fused_programs.h"
#include "heddle/deployment.h"
#include "heddle/schedule_text.h"
#include "test_device.h"

namespace heddle::device_chunk_tests {
namespace {

using testing::HasSubstr;

class ChunksOnADevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_.can_compile()) GTEST_SKIP() << cpu_.can_compile().reason();
  }
  Target target(const std::string& schedule) {
    Target made;
    made.mesh = kOwnMesh;
    made.options.machine_code = true;  // what is interpreted cannot be done in parts
    made.options.machine = MachineFigures{};
    made.options.device = &device_;
    made.schedule = parse_schedule(schedule, "s").value();
    return made;
  }
  std::vector<Array> twice(const Program& program, const std::string& schedule) {
    const Executable executable = compile(program, target(schedule)).value();
    notes_.clear();
    for (const StepInfo& step : executable.steps()) notes_ += step.note + "\n";
    auto deployment = Deployment::open(executable).value();
    auto once = deployment.run_whole(arguments_for(program)).value();
    expect_same(deployment.run_whole(arguments_for(program)).value(), once);
    return once;
  }
  static void expect_same(const std::vector<Array>& a, const std::vector<Array>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(a[i].bytes(), b[i].bytes())) << "result " << i;
  }
  // In whatever chunks and ways: the bits of the same one by one.
  void expect_fused(const Program& program, const std::string& slices, const std::string& note) {
    const std::vector<Array> wanted = twice(program, slices);
    for (const std::string how : {"", " in 2", " by ring", " by tree"}) {
      SCOPED_TRACE(how);
      const std::int64_t before = device_.chunk_runs;
      const std::vector<Array> got = twice(program, slices + "fuse rs *" + how);
      EXPECT_THAT(notes_, HasSubstr(note));
      EXPECT_EQ(device_.chunk_runs, before + 2);
      // Small whole numbers, whose sums are exact in any order.
      expect_same(got, wanted);
    }
  }

  CpuDevice cpu_;
  test::TestDevice device_{cpu_, {.runs_chunks = true}};
  std::string notes_;
};

TEST_F(ChunksOnADevice, AnOptimiserGoesInside) {
  for (const int devices : {2, 3, 4}) {
    SCOPED_TRACE(devices);
    expect_fused(momentum_step(devices, 192, "f32"), kStateInSlices, "chunk by chunk\n");
  }
  expect_fused(momentum_step(2, 192, "bf16"), kStateInSlices, "chunk by chunk\n");
}

TEST_F(ChunksOnADevice, WhatIsNotGatheredGoesInsideAsWell) {
  expect_fused(momentum_step(3, 192, "f32"), kAllInSlices, "chunk by chunk\n");
}

TEST_F(ChunksOnADevice, WhatComesBehindANormGoesWithTheGather) {
  for (const int devices : {2, 4})
    expect_fused(lamb_step(devices, 192), kStateInSlices, "once its norm is known");
}

// Groups of their own, each with a launch.
TEST_F(ChunksOnADevice, EachGroupOfAMeshHasItsOwn) {
  std::string text = momentum_text(2, 192, "f32");
  for (const auto& [from, to] : {std::pair("[\"dp\"=2]", "[\"dp\"=2, \"tp\"=2]"),
                                 std::pair("[{\"dp\"}, {}, {}]", "[{\"dp\"}, {}, {\"tp\"}]"),
                                 std::pair("[{}, {}]", "[{}, {\"tp\"}]")})
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += std::string_view(to).size())
      text.replace(at, std::string_view(from).size(), to);
  const Program program = read(text);
  const std::vector<Array> wanted = twice(program, kStateInSlices);
  const std::int64_t before = device_.chunk_runs;
  expect_same(twice(program, kStateInSlices + "fuse rs *"), wanted);
  EXPECT_EQ(device_.chunk_runs, before + 4);
}

// Whether ranks go one by one is decided by all of them.
TEST_F(ChunksOnADevice, WhereOneRankCannotAllGoOneByOne) {
  for (const Program& program : {momentum_step(3, 192, "f32"), lamb_step(3, 192)})
    for (const int refusals : {1, 3}) {
      const std::vector<Array> wanted = twice(program, kStateInSlices);
      device_.chunk_refusals = refusals;
      const std::int64_t before = device_.chunk_runs;
      expect_same(twice(program, kStateInSlices + "fuse rs *"), wanted);
      EXPECT_EQ(device_.chunk_runs, before);
      EXPECT_EQ(device_.chunk_refusals, 0);
    }
}

// A rank that does not come: the others say so.
TEST_F(ChunksOnADevice, ARankThatIsLostIsNamed) {
  const Program program = momentum_step(2, 192, "f32");
  const Executable executable = compile(program, target(kStateInSlices + "fuse rs *")).value();
  auto deployment = Deployment::open(executable).value();
  DeviceParts parts = deployment.deal_out(arguments_for(program)).value();
  parts[1][1] = Array(Type::tensor(DType::f32, {3}));
  const auto lost = deployment.run(parts);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.reason(), HasSubstr("rank 1 of 2 failed"));
  EXPECT_EQ(device_.chunk_runs, 0);
}

}  // namespace
}  // namespace heddle::device_chunk_tests
