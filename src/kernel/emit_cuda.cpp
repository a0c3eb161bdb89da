#include "kernel/emit_cuda.h"

#include <algorithm>

#include "kernel/emit_cuda_stage.h"

namespace heddle {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 4096;  // of a grid whose size does not matter

constexpr std::int64_t kRoomBytes = kThreads / 32 * 8;  // of a block, for what warps put together

// Workers' scratch lies apart by this.
std::int64_t scratch_stride(const Kernel& kernel) {
  return (kernel.scratch_bytes + 255) / 256 * 256;
}

std::string function_name(const Kernel& kernel, std::size_t phase) {
  std::string name = kernel.name.empty() ? "kernel" : kernel.name;
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  return fmt::format("k_{}_phase{}", name, phase);
}

bool is_shared(const Kernel& kernel, const CudaLimits& limits) {
  return kernel.scratch_bytes + kRoomBytes <= limits.shared_bytes;
}

class Emitter {
 public:
  Emitter(const Kernel& kernel, const CudaLimits& limits)
      : kernel_(kernel), shared_(is_shared(kernel, limits)) {}

  std::string emit() {
    text_ = IndentedText(std::string(cuda_prelude()));
    text_.line("struct Buffers {{ void* at[{}]; }};", kernel_.buffers.size() + 1);
    for (std::size_t p = 0; p < kernel_.phases.size(); ++p) emit(kernel_.phases[p], p);
    return text_.take();
  }

 private:
  void emit(const Phase& phase, std::size_t number) {
    text_.line("");
    text_.line(
        "extern \"C\" __launch_bounds__({}) __global__ void {}(const Buffers buffers, char* "
        "scratch) {{",
        kThreads, function_name(kernel_, number));
    text_.deeper();
    text_.line("__shared__ ui64 room[{}];", kThreads / 32);
    if (shared_) {
      text_.line("extern __shared__ ulonglong2 own[];");
      text_.line("scratch = (char*)own;");
    } else {
      text_.line("scratch += {}ll * blockIdx.x;", scratch_stride(kernel_));
    }
    for (std::size_t b = 0; b < kernel_.buffers.size(); ++b) emit(kernel_.buffers[b], b);
    const std::int64_t blocks = phase.blocks();
    if (phase.chunks > 0) {
      text_.line("const i64 chunk = blockIdx.x;");
      for (const Stage& stage : phase.begin)
        emit_cuda_stage(kernel_, phase, stage, kThreads, text_);
      text_.open(
          "for (i64 block = {0}ll * chunk / {1}; block < {0}ll * (chunk + 1) / {1}; ++block) {{",
          blocks, phase.chunks);
    } else {
      text_.open("for (i64 block = blockIdx.x; block < {}ll; block += gridDim.x) {{", blocks);
    }
    std::int64_t inner = 1;
    for (std::size_t i = phase.outer.size(); i-- > 0;) {
      const OuterLoop& loop = phase.outer[i];
      text_.line("const i64 outer{} = block / {}ll % {}ll * {}ll;", i, inner,
                 std::max<std::int64_t>(loop.blocks(), 1), loop.block);
      inner *= std::max<std::int64_t>(loop.blocks(), 1);
    }
    for (const Stage& stage : phase.stages) emit_cuda_stage(kernel_, phase, stage, kThreads, text_);
    text_.close();
    text_.close();
  }

  void emit(const KernelBuffer& buffer, std::size_t number) {
    const std::string_view type = cuda_memory_type(buffer.dtype);
    if (buffer.reach == Reach::block)
      text_.line("{0}* b{1} = ({0}*)(scratch + {2}ll);", type, number, buffer.offset);
    else
      text_.line("{0}* b{1} = ({0}*)buffers.at[{1}];", type, number);
  }

  const Kernel& kernel_;
  const bool shared_;  // whether scratch is shared memory
  IndentedText text_;
};

}  // namespace

std::string emit_cuda(const Kernel& kernel, const CudaLimits& limits) {
  return Emitter(kernel, limits).emit();
}

CudaPlan cuda_plan(const Kernel& kernel, const CudaLimits& limits) {
  CudaPlan launch;
  std::int64_t most = 0;
  for (std::size_t p = 0; p < kernel.phases.size(); ++p) {
    const Phase& phase = kernel.phases[p];
    const std::int64_t grid =
        phase.chunks > 0 ? phase.chunks : std::min(phase.blocks(), kMostBlocks);
    launch.phases.push_back({function_name(kernel, p), grid, kThreads});
    most = std::max(most, grid);
  }
  if (is_shared(kernel, limits))
    launch.shared_bytes = kernel.scratch_bytes;
  else
    launch.scratch_bytes = most * scratch_stride(kernel);
  return launch;
}

}  // namespace heddle
