#include "device/cuda/chunk_launch.h"

#include <algorithm>
#include <cstring>

#include "device/cuda/launch.h"
#include "kernel/emit_cuda.h"

namespace heddle::cuda {

namespace {

constexpr std::int64_t kMostArgument = 4000;  // bytes that a function takes
constexpr int kMostAtOnce = 4;                // blocks of a multiprocessor
constexpr int kMostBlocks = 512;              // of a lane

// Loads that the compiler may bring forward would be those of sums that are not there yet.
constexpr std::string_view kPlainLoads = "#define __ldg(at) (*(at))\n";

class CudaChunkLaunch final : public ChunkLaunch {
 public:
  CudaChunkLaunch(std::shared_ptr<Context> context, std::shared_ptr<ChunkTurns> turns,
                  Handle function, CudaChunks chunks, const chunks::ChunkProgram& program,
                  const std::vector<int>& parts)
      : context_(std::move(context)),
        turns_(std::move(turns)),
        function_(function),
        chunks_(std::move(chunks)),
        in_(program.buffer("in")),
        parts_(parts) {
    for (int r = 0; r < program.ranks; ++r)
      slice_.push_back(program.slice(in_, r).first * program.buffers[in_].element_bytes);
  }

  std::int64_t slot_bytes() const override { return chunks_.slot_bytes; }
  std::int64_t flag_bytes() const override { return chunks_.flags * 8; }
  bool keeps_sums() const override { return parts_.empty(); }

  std::vector<DeviceAddress> of_kernel(const Launch& launch,
                                       const DeviceAddress* slots) const override {
    const LaunchKernel& kernel = static_cast<const CudaLaunch&>(launch).kernels[0];
    std::vector<DeviceAddress> all;
    for (std::size_t b = 0; b < kernel.slots.size(); ++b)
      all.push_back(kernel.slots[b] == kNone ? DeviceAddress{}
                                             : slots[kernel.slots[b]] + kernel.shift[b]);
    return all;
  }

  // All blocks begin together, or the driver refuses: nobody waits for who has no room.
  Verdict run(Queue& queue, std::span<const ChunkAddresses> ranks, DeviceAddress slots,
              DeviceAddress flags, std::uint64_t turn) const override {
    std::vector<std::uint64_t> memory;
    for (const ChunkAddresses& rank : ranks)
      for (DeviceAddress a : rank.buffers) memory.push_back(a.value);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (DeviceAddress a : ranks[r].kernel) memory.push_back(a.value);
      for (int part : parts_)
        memory.push_back((ranks[static_cast<std::size_t>(part)].buffers[in_] + slice_[r]).value);
    }
    memory.insert(memory.end(), {slots.value, flags.value, 0, kPatience});
    int first_rank = 0;
    void* arguments[] = {memory.data(), &first_rank, &turn};
    const auto blocks =
        static_cast<unsigned>(chunks_.rank_blocks) * static_cast<unsigned>(ranks.size());
    HEDDLE_TRY_VOID(context_->enter());
    const std::lock_guard lock(turns_->mutex);
    HEDDLE_TRY_VOID(queue.wait(turns_->last));
    const auto stream = reinterpret_cast<Handle>(queue.stream_number());
    HEDDLE_TRY_VOID(context_->driver().checked(
        context_->driver().launch_together(function_, blocks, 1, 1, kChunkThreads, 1, 1, 0, stream,
                                           arguments),
        "launch a chunk program"));
    turns_->last = queue.record();
    return yes();
  }

 private:
  // Nanoseconds after which a wait is a mistake of ours.
  static constexpr std::uint64_t kPatience = 10'000'000'000;

  std::shared_ptr<Context> context_;
  std::shared_ptr<ChunkTurns> turns_;
  Handle function_;
  CudaChunks chunks_;
  const std::uint32_t in_;
  const std::vector<int> parts_;
  std::vector<std::int64_t> slice_;  // bytes at which that of a rank begins
};

// The buffer whose own slice is finished.
std::uint32_t finished_buffer(const chunks::ChunkProgram& program) {
  const std::uint32_t sum = program.buffer("sum");
  return sum != kNone ? sum : program.buffer("in");
}

std::string compute_text(const chunks::ChunkProgram& program, const CudaPart& part) {
  std::string slices;
  const std::uint32_t from = finished_buffer(program);
  for (int r = 0; r < program.ranks; ++r)
    slices += fmt::format("{}, ", program.slice(from, r).first);
  return fmt::format(R"cuda(
struct Entry {{ void* at[EXTRA]; }};
{}
__device__ const i64 h_slice[] = {{{}}};
__device__ void h_compute(int function, const Memory& m, int rank, i64 from, i64 to, i64 begin, i64 end) {{
  const i64 first = from - h_slice[rank];
  const unsigned last = (unsigned)((first + end + GRAIN - 1) / GRAIN);
  if (begin < end)
    for (unsigned b = (unsigned)((first + begin) / GRAIN); b < last; ++b)
      part0_0(*(const Entry*)m.extra[rank], b, 1u << 31);
}}
)cuda",
                     part.text, slices);
}

}  // namespace

namespace {

// Whether parts of the kernel begin where its accesses of 16 bytes do.
Verdict check_parts(const chunks::ChunkProgram& program, std::int64_t of_block) {
  for (const chunks::Lane& lane : program.lanes)
    for (const chunks::ChunkOp& op : lane.ops) {
      if (op.function != chunks::Function::finish) continue;
      const std::int64_t first =
          op.reads[0].first - program.slice(op.reads[0].buffer, lane.rank).first;
      if (first % of_block != 0)
        return reason("chunks begin inside of what a block of {} elements has", of_block);
      for (const chunks::Chunk& chunk : {op.reads[0], op.to})
        if (program.slice(chunk.buffer, lane.rank).first *
                program.buffers[chunk.buffer].element_bytes % kCudaAccess !=
            0)
          return reason("slices do not begin at multiples of 16 bytes");
    }
  return yes();
}

// The slices of all ranks, which are of one size.
Expected<std::int64_t> slice_elements(const chunks::ChunkProgram& program) {
  const std::uint32_t from = finished_buffer(program);
  const std::int64_t slice = program.slice(from, 0).count;
  for (int r = 1; r < program.ranks; ++r)
    if (program.slice(from, r).count != slice)
      return reason("slices differ, and the kernel is for {} elements", slice);
  return slice;
}

struct Inside {
  Kernel kernel;
  CudaPart part;
  std::optional<ChunkSums> sums;
};

// With sums that the kernel takes by itself where it can.
std::optional<Inside> kernel_inside(const ChunkWork& work, const Kernel& kernel,
                                    std::uint32_t sum) {
  const chunks::ChunkProgram& program = *work.program;
  auto sums = sum == kNone ? std::nullopt : chunk_sums(program);
  if (sums)
    if (auto made = with_sum_inside(kernel, sum, program.ranks, work.reduce))
      if (auto part = emit_cuda_part(*made))
        return Inside{*std::move(made), *std::move(part), std::move(sums)};
  if (auto part = emit_cuda_part(kernel)) return Inside{kernel, *std::move(part), std::nullopt};
  return std::nullopt;
}

}  // namespace

Expected<ChunkText> chunk_text(const ChunkWork& work, const Kernel& kernel, std::uint32_t sum,
                               int blocks) {
  const auto inside = kernel_inside(work, kernel, sum);
  if (!inside) return reason("the kernel does not take its elements one after the other");
  const chunks::ChunkProgram& program = *work.program;
  HEDDLE_TRY(const std::int64_t slice, slice_elements(program));
  const std::int64_t extent = kernel.phases[0].outer[0].extent;
  if (extent == 0 || slice % extent != 0)
    return reason("{} elements are no multiple of the {} that the kernel goes over", slice, extent);
  const std::int64_t of_block = inside->part.positions * (slice / extent);
  const std::size_t pointers = inside->kernel.buffers.size();
  const auto words = static_cast<std::int64_t>(program.buffers.size() + pointers) * program.ranks;
  if (words * 8 > kMostArgument)
    return reason("{} ranks with {} buffers each are too many for one launch", program.ranks,
                  pointers);
  HEDDLE_TRY_VOID(check_parts(program, of_block));
  ChunkText made;
  HEDDLE_TRY(made.chunks,
             emit_cuda_chunks(program, {.reduce = work.reduce,
                                        .dtype = work.dtype,
                                        .blocks = blocks,
                                        .grain = of_block,
                                        .extra = static_cast<int>(pointers),
                                        .compute = compute_text(program, inside->part),
                                        .sums = inside->sums ? &*inside->sums : nullptr}));
  if (inside->sums) made.parts = inside->sums->order;
  made.text =
      fmt::format("{}{}{}{}", kPlainLoads, cuda_prelude(), cuda_chunk_clock(), made.chunks.text);
  return made;
}

Expected<std::int64_t> blocks_at_once(const Context& context, Handle function, int threads) {
  HEDDLE_TRY_VOID(context.enter());
  int of_one = 0;
  HEDDLE_TRY_VOID(context.driver().checked(
      context.driver().most_blocks(&of_one, function, threads, 0), "ask the device"));
  return std::int64_t{of_one} * context.facts().multiprocessors;
}

Verdict check_room(std::int64_t blocks, std::int64_t room) {
  if (blocks <= room) return yes();
  return reason("{} blocks would wait for each other, and there is room for {} at once", blocks,
                room);
}

Expected<std::unique_ptr<ChunkLaunch>> prepare_chunks(const std::shared_ptr<Context>& context,
                                                      const std::shared_ptr<ChunkTurns>& turns,
                                                      const FunctionLoader& load,
                                                      const ChunkWork& work,
                                                      const LaunchKernel& finish) {
  const auto sum =
      static_cast<std::size_t>(std::ranges::find(finish.slots, work.sum) - finish.slots.begin());
  const bool finds_sums = sum < finish.slots.size() && finish.shift[sum] == 0;
  // As many as there is room for: what waits for memory has others beside it.
  Verdict room = yes();
  for (int of_one = kMostAtOnce; of_one > 0; --of_one) {
    const int lanes = static_cast<int>(work.program->lanes.size());  // of all ranks
    const int blocks =
        std::clamp(of_one * context->facts().multiprocessors / lanes, 1, kMostBlocks);
    HEDDLE_TRY(ChunkText made,
               chunk_text(work, finish.kernel, finds_sums ? static_cast<std::uint32_t>(sum) : kNone,
                          blocks));
    HEDDLE_TRY(const Handle function, load(made.text, "chunks"));
    HEDDLE_TRY(const std::int64_t most, blocks_at_once(*context, function, kChunkThreads));
    room = check_room(made.chunks.rank_blocks * work.program->ranks, most);
    if (room)
      return std::unique_ptr<ChunkLaunch>(std::make_unique<CudaChunkLaunch>(
          context, turns, function, std::move(made.chunks), *work.program, made.parts));
  }
  return room.why();
}

}  // namespace heddle::cuda
