// Phases, chunks and blocks of a kernel, in order.
#include "kernel/interpret.h"

#include <algorithm>

namespace heddle {

namespace {

// Memory of our own that remembers which bytes were written.
struct Scratch {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> left;

  explicit Scratch(std::int64_t size = 0)
      : bytes(static_cast<std::size_t>(size)), left(static_cast<std::size_t>(size)) {}
  void forget() { std::ranges::fill(left, std::uint8_t{0}); }
};

class KernelRun {
 public:
  explicit KernelRun(const Kernel& kernel)
      : kernel_(kernel), scratch_(kernel.scratch_bytes), temporary_(kernel.temporary_bytes) {}

  Verdict bind(std::span<const std::span<std::byte>> buffers) {
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const KernelBuffer& buffer = kernel_.buffers[i];
      BufferBytes bytes{.elements = buffer.elements,
                        .size = static_cast<std::size_t>(byte_size(buffer.dtype))};
      const auto size = static_cast<std::size_t>(buffer.elements) * bytes.size;
      if (buffer.reach == Reach::block || buffer.reach == Reach::phases) {
        Scratch& memory = buffer.reach == Reach::block ? scratch_ : temporary_;
        bytes.data = memory.bytes.data() + buffer.offset;
        bytes.left = memory.left.data() + buffer.offset;
      } else {
        if (i >= buffers.size() || buffers[i].size() != size)
          return reason("[kernel] {}: buffer {} has {} bytes, but {} were given", kernel_.name, i,
                        size, i < buffers.size() ? buffers[i].size() : 0);
        bytes.data = buffers[i].data();
        if (buffer.reach == Reach::output) bytes.left = output_left_.emplace_back(size).data();
      }
      buffers_.push_back(bytes);
    }
    return yes();
  }

  Verdict run() {
    for (std::size_t p = 0; p < kernel_.phases.size(); ++p)
      if (Verdict fine = run(kernel_.phases[p]); !fine)
        return reason("[kernel] {}: phase {}, {}", kernel_.name, p, fine.reason());
    return yes();
  }

 private:
  Verdict run(const Phase& phase) {
    std::vector<StageRun> begin = prepare(phase, phase.begin),
                          stages = prepare(phase, phase.stages);
    const std::int64_t blocks = phase.blocks(), chunks = std::max<std::int64_t>(phase.chunks, 1);
    BlockPosition at{.outer = std::vector<std::int64_t>(phase.outer.size())};
    for (at.chunk = 0; at.chunk < chunks; ++at.chunk) {
      scratch_.forget();
      HEDDLE_TRY_VOID(run("begin", begin, at));
      const std::int64_t last = blocks * (at.chunk + 1) / chunks;
      for (std::int64_t block = blocks * at.chunk / chunks; block < last; ++block) {
        place(phase, block, at);
        scratch_.forget();
        HEDDLE_TRY_VOID(run("stage", stages, at));
      }
    }
    return yes();
  }

  std::vector<StageRun> prepare(const Phase& phase, const std::vector<Stage>& stages) const {
    std::vector<StageRun> runs;
    for (const Stage& stage : stages) runs.emplace_back(kernel_, phase, stage, buffers_);
    return runs;
  }

  static void place(const Phase& phase, std::int64_t block, BlockPosition& at) {
    for (std::size_t i = phase.outer.size(); i-- > 0;) {
      const OuterLoop& loop = phase.outer[i];
      at.outer[i] = block % loop.blocks() * loop.block;
      block /= loop.blocks();
    }
  }

  static Verdict run(std::string_view word, std::vector<StageRun>& stages,
                     const BlockPosition& at) {
    for (std::size_t s = 0; s < stages.size(); ++s)
      if (Verdict fine = stages[s].run(at); !fine)
        return reason("{} {}: {}", word, s, fine.reason());
    return yes();
  }

  const Kernel& kernel_;
  Scratch scratch_, temporary_;
  std::vector<std::vector<std::uint8_t>> output_left_;
  std::vector<BufferBytes> buffers_;
};

}  // namespace

Verdict interpret(const Kernel& kernel, std::span<const std::span<std::byte>> buffers) {
  HEDDLE_TRY_VOID(verify(kernel));
  try {
    KernelRun run(kernel);
    HEDDLE_TRY_VOID(run.bind(buffers));
    return run.run();
  } catch (const std::bad_alloc&) {
    return reason(
        "[kernel] {}: there is not enough memory for {} bytes of scratch and {} of "
        "temporaries",
        kernel.name, kernel.scratch_bytes, kernel.temporary_bytes);
  }
}

}  // namespace heddle
