// Optimisers inside of collectives, of ranks that are threads on one GPU.
#include <gmock/gmock.h>

#include <chrono>

#include "../unit/fused_programs.h"
#include "device/cuda/chunk_launch.h"
#include "device/cuda/nvrtc.h"
#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/deployment.h"
#include "heddle/schedule_text.h"
#include "ir/eval/scalar.h"
#include "kernel/emit_cuda.h"
#include "kernel/emit_cuda_chunks.h"
#include "schedule/chunks/collective_chunks.h"

namespace heddle::chunk_tests {
namespace {

std::vector<Array> arguments_of(const Program& program) {
  std::vector<Array> all;
  std::int32_t at = 0;
  for (ValueId v : program.region(program.find_function("main")->body).args) {
    Array& array = all.emplace_back(program.type_of(v));
    dispatch(array.type().dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (T& x : array.template as_mutable<T>()) x = convert_scalar<T>(at++ * 37 % 15 - 7);
    });
  }
  return all;
}

Expected<Executable> compiled_for(const Program& program, const std::string& schedule) {
  Target target;
  target.mesh = kOwnMesh;
  target.options.device = *gpu::device();
  HEDDLE_TRY(target.schedule, parse_schedule(schedule, "s"));
  return compile(program, target);
}

Expected<std::vector<Array>> run(const Program& program, const std::string& schedule, bool& fused) {
  HEDDLE_TRY(const Executable executable, compiled_for(program, schedule));
  fused = std::ranges::any_of(executable.steps(), [](const StepInfo& step) {
    return step.note.starts_with("computed inside of the collective");
  });
  HEDDLE_TRY(auto deployment, Deployment::open(executable));
  HEDDLE_TRY(auto once, deployment.run_whole(arguments_of(program)));
  HEDDLE_TRY(auto twice, deployment.run_whole(arguments_of(program)));
  for (std::size_t i = 0; i < once.size(); ++i)
    if (!std::ranges::equal(once[i].bytes(), twice[i].bytes())) return reason("twice is not once");
  return once;
}

// In whatever chunks: the bits of the same one by one. Sums of small whole numbers are exact in any
// order.
void expect_fused(const Program& program, const std::string& slices) {
  setenv("HEDDLE_CUDA_CHUNKS", "1", 1);
  bool is_fused = false;
  const auto wanted = run(program, slices, is_fused);
  ASSERT_TRUE(wanted) << wanted.reason();
  EXPECT_FALSE(is_fused);
  for (const std::string how : {"", " in 2", " by ring", " by tree"}) {
    SCOPED_TRACE(how);
    const auto got = run(program, slices + "fuse rs *" + how, is_fused);
    ASSERT_TRUE(got) << got.reason();
    EXPECT_TRUE(is_fused);
    for (std::size_t i = 0; i < wanted->size(); ++i)
      EXPECT_TRUE(std::ranges::equal((*got)[i].bytes(), (*wanted)[i].bytes())) << "result " << i;
  }
}

TEST(GpuChunks, AnOptimiserInsideOfTheCollectiveHasTheSameBits) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  for (const int devices : {2, 3, 4, 8})
    for (const std::string type : {"f32", "bf16"}) {
      SCOPED_TRACE(fmt::format("{} devices, {}", devices, type));
      expect_fused(momentum_step(devices, 48 * 16, type), kStateInSlices);
    }
}

TEST(GpuChunks, WhatIsNotGatheredGoesInsideAsWell) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  for (const int devices : {2, 8})
    expect_fused(momentum_step(devices, 48 * 16, "f32"), kAllInSlices);
}

TEST(GpuChunks, WhatComesBehindANormGoesWithTheGather) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  for (const int devices : {2, 4, 8}) expect_fused(lamb_step(devices, 48 * 16), kStateInSlices);
}

// Enough elements for many blocks that all wait for each other.
TEST(GpuChunks, ManyElementsGoInside) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  expect_fused(momentum_step(4, 4096, "f32"), kStateInSlices);
}

// A rank that does not come: the others say so, and the GPU goes on.
TEST(GpuChunks, ARankThatIsLostIsNamed) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  setenv("HEDDLE_CUDA_CHUNKS", "1", 1);
  const Program program = momentum_step(2, 48, "f32");
  const auto executable = compiled_for(program, kStateInSlices + "fuse rs *");
  ASSERT_TRUE(executable) << executable.reason();
  {
    auto deployment = Deployment::open(*executable).value();
    DeviceParts parts = deployment.deal_out(arguments_of(program)).value();
    parts[1][1] = Array(Type::tensor(DType::f32, {3}));
    const auto begin = std::chrono::steady_clock::now();
    const auto lost = deployment.run(parts);
    ASSERT_FALSE(lost);
    EXPECT_THAT(lost.reason(), testing::HasSubstr("rank 1 of 2 failed"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  }
  auto again = Deployment::open(*executable).value();
  const auto ran = again.run_whole(arguments_of(program));
  EXPECT_TRUE(ran) << ran.reason();
}

// A chunk program on the GPU, one stream for each rank; flags in memory are all that keeps them in
// step.
class OnStreams {
 public:
  OnStreams(const chunks::ChunkProgram& program, int blocks) : program_(program) {
    chunks_ = emit_cuda_chunks(program, {.blocks = blocks, .compute = kNothing}).value();
    const std::string text =
        fmt::format("{}{}{}", cuda_prelude(), cuda_chunk_clock(), chunks_.text);
    code_ = compile_cuda(text, "sm_90").value().code;
    for (int r = 0; r < program.ranks; ++r) queues_.push_back(device().queue());
    for (int r = 0; r < program.ranks; ++r)
      for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
        const chunks::Chunk held = program.held(b, r);
        words_.push_back(take(program.bytes(held)).value -
                         4 * static_cast<std::uint64_t>(held.first));
      }
    words_.resize(words_.size() + static_cast<std::size_t>(program.ranks), 0);
    for (const std::int64_t bytes : {chunks_.slot_bytes, chunks_.flags * 8, std::int64_t{8}})
      words_.push_back(take(bytes).value);
    words_.push_back(2'000'000'000);
    EXPECT_EQ(cuda::driver().value()->load(&module_, code_.data()), 0);
    EXPECT_EQ(cuda::driver().value()->function(&function_, module_, "chunks"), 0);
  }
  ~OnStreams() {
    for (auto& queue : queues_) EXPECT_TRUE(queue->finish());
    cuda::driver().value()->unload(module_);
  }
  OnStreams(const OnStreams&) = delete;
  OnStreams& operator=(const OnStreams&) = delete;

  static CudaDevice& device() { return **gpu::device(); }
  DeviceAddress at(int rank, std::string_view name) const {
    const std::uint32_t b = program_.buffer(name);
    const auto place = static_cast<std::size_t>(rank) * program_.buffers.size() + b;
    return {words_[place] + 4 * static_cast<std::uint64_t>(program_.held(b, rank).first)};
  }
  Queue& queue(int rank) { return *queues_[static_cast<std::size_t>(rank)]; }
  void launch(int rank, std::uint64_t turn) {
    void* arguments[] = {words_.data(), &rank, &turn};
    EXPECT_EQ(
        cuda::driver().value()->launch(
            function_, static_cast<unsigned>(chunks_.rank_blocks), 1, 1, kChunkThreads, 1, 1, 0,
            reinterpret_cast<cuda::Handle>(queue(rank).stream_number()), arguments, nullptr),
        0);
  }
  cuda::Handle function() const { return function_; }
  // The driver's answer to so many blocks that all begin at once.
  int launch_together(std::int64_t blocks) {
    int rank = 0;
    std::uint64_t turn = 0;
    void* arguments[] = {words_.data(), &rank, &turn};
    return cuda::driver().value()->launch_together(
        function_, static_cast<unsigned>(blocks), 1, 1, kChunkThreads, 1, 1, 0,
        reinterpret_cast<cuda::Handle>(queue(0).stream_number()), arguments);
  }
  bool stopped() {
    std::uint64_t stop = 0;
    EXPECT_TRUE(
        queue(0).read({words_[words_.size() - 2]}, std::as_writable_bytes(std::span(&stop, 1))));
    EXPECT_TRUE(queue(0).finish());
    return stop != 0;
  }

 private:
  static constexpr const char* kNothing =
      "__device__ void h_compute(int, const Memory&, int, i64, i64, i64, i64) {}\n";

  DeviceAddress take(std::int64_t bytes) {
    memory_.push_back(device().allocate(std::max<std::int64_t>(bytes, 16)).value());
    EXPECT_TRUE(queue(0).zero(memory_.back().address, memory_.back().bytes));
    EXPECT_TRUE(queue(0).finish());
    return memory_.back().address;
  }

  const chunks::ChunkProgram& program_;
  CudaChunks chunks_;
  std::string code_;
  std::vector<Buffer> memory_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::uint64_t> words_;
  cuda::Handle module_ = nullptr, function_ = nullptr;
};

float given(int rank, std::size_t i, std::uint64_t turn) {
  return static_cast<float>((static_cast<std::size_t>(rank) * 31 + i * 7 + turn) % 64);
}

TEST(GpuChunks, RanksOnStreamsOfTheirOwnSumUp) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  for (const int ranks : {2, 4, 8})
    for (const auto algorithm :
         {chunks::Algorithm::direct, chunks::Algorithm::ring, chunks::Algorithm::tree})
      for (const auto protocol :
           {chunks::Protocol::direct, chunks::Protocol::bandwidth, chunks::Protocol::latency}) {
        SCOPED_TRACE(fmt::format("{} ranks, {}, {}", ranks, name(algorithm), name(protocol)));
        const std::size_t count = 100'003;
        const auto program =
            chunks::collective_chunks({.algorithm = algorithm,
                                       .protocol = protocol,
                                       .ranks = ranks,
                                       .elements = static_cast<std::int64_t>(count),
                                       .chunks = 3,
                                       .channels = 2})
                .value();
        OnStreams streams(program, 4);
        for (std::uint64_t turn = 0; turn < 3; ++turn) {
          std::vector<float> due(count, 0);
          std::vector<std::vector<float>> in;
          for (int r = 0; r < ranks; ++r) {
            in.emplace_back(count);
            for (std::size_t i = 0; i < count; ++i) due[i] += in.back()[i] = given(r, i, turn);
            ASSERT_TRUE(streams.queue(r).write(std::as_bytes(std::span(in.back())),
                                               streams.at(r, "in"), nullptr));
          }
          for (int r = 0; r < ranks; ++r) ASSERT_TRUE(streams.queue(r).finish());
          for (int r = ranks; r-- > 0;) streams.launch(r, turn);
          for (int r = 0; r < ranks; ++r) {
            std::vector<float> out(count);
            ASSERT_TRUE(streams.queue(r).read(streams.at(r, "out"),
                                              std::as_writable_bytes(std::span(out))));
            ASSERT_TRUE(streams.queue(r).finish());
            ASSERT_EQ(out, due) << "rank " << r << ", turn " << turn;
          }
        }
        ASSERT_FALSE(streams.stopped());
      }
}

TEST(GpuChunks, ARankThatIsNotLaunchedIsGivenUp) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  const auto program = chunks::collective_chunks({.ranks = 2, .elements = 4096}).value();
  OnStreams streams(program, 2);
  streams.launch(1, 0);
  ASSERT_TRUE(streams.queue(1).finish());
  EXPECT_TRUE(streams.stopped());
}

// What would spin without room is refused: by us before it is launched, and by the driver.
TEST(GpuChunks, BlocksThatHaveNoRoomAreRefused) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  const auto program = chunks::collective_chunks({.ranks = 2, .elements = 4096}).value();
  OnStreams streams(program, 2);
  cuda::Context& context = static_cast<cuda::CudaQueue&>(streams.queue(0)).context();
  const auto room = cuda::blocks_at_once(context, streams.function(), kChunkThreads);
  ASSERT_TRUE(room) << room.reason();
  EXPECT_GE(*room, context.facts().multiprocessors);
  EXPECT_TRUE(cuda::check_room(*room, *room));
  EXPECT_FALSE(cuda::check_room(*room + 1, *room));
  EXPECT_NE(streams.launch_together(*room + 1), 0);
  EXPECT_TRUE(streams.queue(0).finish());
}

}  // namespace
}  // namespace heddle::chunk_tests
