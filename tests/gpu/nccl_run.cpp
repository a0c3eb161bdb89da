// Collectives on a CUDA device by NCCL, with the one rank that one GPU can be.
#include <gmock/gmock.h>

#include <numeric>

#include "gpu_device.h"
#include "heddle/device_ranks.h"

namespace heddle::nccl_tests {
namespace {

class GpuNccl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
    auto ranks = solo_transport();
    const Transport* plain = ranks.get();
    transport_ = with_device_collectives(std::move(ranks), **gpu::device());
    if (transport_.get() == plain) GTEST_SKIP() << "there is no NCCL";
    queue_ = (*gpu::device())->queue();
    const int me[] = {0};
    group_ = transport_->group(me).value();
  }

  // What one rank alone gets of 300 numbers.
  std::vector<float> result_of(Collective c, bool in_place = false) {
    std::vector<float> numbers(300);
    std::iota(numbers.begin(), numbers.end(), 1.0F);
    const auto bytes = static_cast<std::int64_t>(numbers.size() * sizeof(float));
    const Buffer in = (*gpu::device())->allocate(bytes).value();
    const Buffer out = in_place ? in : (*gpu::device())->allocate(bytes).value();
    EXPECT_TRUE(queue_->write(std::as_bytes(std::span(numbers)), in.address, nullptr));
    if (!in_place) {
      EXPECT_TRUE(queue_->zero(out.address, bytes));
    }
    c.group = group_;
    c.in_pieces = c.out_pieces = {1, bytes};
    c.what = "a test";
    const auto request = transport_->start_on(*queue_, c, in.address, out.address);
    EXPECT_TRUE(request) << request.reason();
    if (!request) return {};
    EXPECT_TRUE(transport_->wait_on(*queue_, *request));
    std::vector<float> got(numbers.size());
    EXPECT_TRUE(read_now(*queue_, out.address, std::as_writable_bytes(std::span(got))));
    return got;
  }

  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Queue> queue_;
  GroupId group_ = 0;
};

TEST_F(GpuNccl, EveryCollectiveOfOneRankIsACopy) {
  std::vector<float> numbers(300);
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  for (CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all, CollectiveKind::broadcast, CollectiveKind::permute}) {
    Collective c{.kind = kind};
    c.from = c.to = 0;
    EXPECT_EQ(result_of(c), numbers) << name(kind);
  }
  EXPECT_EQ(result_of({.kind = CollectiveKind::all_reduce}, true), numbers);
}

TEST_F(GpuNccl, WhatNobodySendsIsZero) {
  EXPECT_EQ(result_of({.kind = CollectiveKind::permute}), std::vector<float>(300, 0.0F));
}

// What lies in host memory goes the way of the transport behind it.
TEST_F(GpuNccl, HostMemoryIsTheRanksOwn) {
  const std::uint64_t mine = 7;
  std::uint64_t all = 0;
  Collective c{.kind = CollectiveKind::all_gather, .group = group_};
  c.in = reinterpret_cast<const std::byte*>(&mine);
  c.out = reinterpret_cast<std::byte*>(&all);
  c.in_pieces = c.out_pieces = {1, sizeof mine};
  ASSERT_TRUE(run_collective(*transport_, c));
  EXPECT_EQ(all, 7U);
}

}  // namespace
}  // namespace heddle::nccl_tests
