// Optimisers inside of collectives, of ranks that are threads on one GPU.
#include <gmock/gmock.h>

#include "device/cuda/nvrtc.h"
#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/deployment.h"
#include "heddle/schedule_text.h"
#include "heddle/stablehlo.h"
#include "ir/eval/scalar.h"
#include "kernel/emit_cuda.h"
#include "kernel/emit_cuda_chunks.h"
#include "schedule/chunks/collective_chunks.h"

namespace heddle::chunk_tests {
namespace {

Program momentum(int devices, std::int64_t rows, const std::string& type) {
  return read_stablehlo(fmt::format(R"(
    sdy.mesh @mesh = <["dp"={0}]>
    func.func @main(%g: tensor<{0}x{1}x512x{2}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"dp"}}, {{}}, {{}}]>}},
                    %p: tensor<{1}x512xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}},
                    %m: tensor<{1}x512xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}})
        -> (tensor<{1}x512xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}},
            tensor<{1}x512xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
      %zero = stablehlo.constant dense<0.0> : tensor<{2}>
      %sum = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<{0}x{1}x512x{2}>, tensor<{2}>) -> tensor<{1}x512x{2}>
      %w = stablehlo.convert %sum : (tensor<{1}x512x{2}>) -> tensor<{1}x512xf32>
      %rate = stablehlo.constant dense<0.9> : tensor<{1}x512xf32>
      %0 = stablehlo.multiply %rate, %m : tensor<{1}x512xf32>
      %m1 = stablehlo.add %0, %w : tensor<{1}x512xf32>
      %p1 = stablehlo.subtract %p, %m1 : tensor<{1}x512xf32>
      return %p1, %m1 : tensor<{1}x512xf32>, tensor<{1}x512xf32>
    }})",
                                    devices, rows, type))
      .value();
}

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

Expected<std::vector<Array>> run(const Program& program, const std::string& schedule, bool& fused) {
  Target target;
  target.mesh = kOwnMesh;
  target.options.device = *gpu::device();
  HEDDLE_TRY(target.schedule, parse_schedule(schedule, "s"));
  HEDDLE_TRY(const Executable executable, compile(program, target));
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

TEST(GpuChunks, AnOptimiserInsideOfTheCollectiveHasTheSameBits) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  setenv("HEDDLE_CUDA_CHUNKS", "1", 1);
  const std::string zero =
      "rs, ag = split all_reduce.0 along 0\nreorder * under ag\nas_slice arg2 result1\n";
  for (const int devices : {2, 3, 4, 8})
    for (const std::string type : {"f32", "bf16"}) {
      const Program program = momentum(devices, 48 * 16, type);
      bool is_fused = false;
      const auto wanted = run(program, zero, is_fused);
      ASSERT_TRUE(wanted) << wanted.reason();
      EXPECT_FALSE(is_fused);
      for (const std::string how : {"", " in 2", " by ring", " by tree"}) {
        SCOPED_TRACE(fmt::format("{} devices, {}{}", devices, type, how));
        const auto got = run(program, zero + "fuse rs *" + how, is_fused);
        ASSERT_TRUE(got) << got.reason();
        EXPECT_TRUE(is_fused);
        if (how.starts_with(" by")) continue;
        for (std::size_t i = 0; i < wanted->size(); ++i)
          EXPECT_TRUE(std::ranges::equal((*got)[i].bytes(), (*wanted)[i].bytes()));
      }
    }
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

}  // namespace
}  // namespace heddle::chunk_tests
