#include "runtime/run_fused.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "comm/combine.h"
#include "runtime/run_collective.h"
#include "runtime/run_state.h"
#include "runtime/step.h"

namespace heddle::runtime {

namespace {

using chunks::Chunk;
using chunks::ChunkOp;

// A chunk of sums stays in the last cache until the kernel has used it; ranks meet twice for each,
// so that smaller ones cost more than they save.
constexpr std::int64_t kChunkBytes = std::int64_t{1} << 21;
// Through slots ranks do not wait for one another, and slots stay in the cache, too.
constexpr std::int64_t kSlotBytes = std::int64_t{1} << 18;
constexpr std::int64_t kMostChunks = 256;
// Messages of a channel under way: one is used while the next one comes.
constexpr int kSlots = 2;
// With a product inside: rows of a chunk, and chunks of a slice, all of which may be under way.
constexpr std::int64_t kLeastRows = 32, kMostProductChunks = comm::kMostChunkSlots;

// Kernels expect what they are given to begin at multiples of so many bytes.
constexpr std::int64_t kAligned = Block::kAlignment;
std::int64_t up_to_aligned(std::int64_t bytes) {
  return (bytes + kAligned - 1) / kAligned * kAligned;
}

std::int64_t count_of(const Type& type) { return type.bytes() / byte_size(type.dtype); }

class FusedWork {
 public:
  FusedWork(const FusedStep& step, RunState& run, FusedRun& kept, Transport& transport)
      : step_(step), run_(run), kept_(kept), transport_(transport) {}

  Verdict prepare(const ResolvedCollective& resolved) {
    HEDDLE_TRY(chunks::ChunkProgram program, fused_program(step_, transport_, resolved, kept_));
    HEDDLE_TRY(kept_.runner, comm::ChunkRunner::make(std::move(program), transport_,
                                                     transport_.members(resolved.group)));
    make_room();
    return yes();
  }

  Verdict run() {
    kept_.slots = run_.now;
    comm::ChunkRunner::Work work;
    work.dtype = step_.first().operands[0].dtype;
    work.reduce = step_.first().reduce;
    work.what = step_.first().label;
    work.at = [this](const Chunk& chunk) { return at(chunk); };
    work.compute = [this](const ChunkOp& op) { return compute(op); };
    return kept_.runner->run(transport_, work);
  }

 private:
  const chunks::ChunkProgram& program() const { return kept_.runner->program(); }

  // Whether sums stay where they are made: on their way to others, or until a norm is known.
  bool keeps_sums() const {
    const std::uint32_t sum = program().buffer("sum");
    return sum != kNone &&
           (step_.norm.op || !step_.launch || program().buffers[sum].holds == chunks::Holds::all);
  }
  Chunk held_sums() const { return program().held(program().buffer("sum"), kept_.runner->me()); }

  // Sums of the own slice are mostly used soon after they are made: each lane has room for as many
  // chunks as it has under way.
  void make_room() {
    kept_.place.clear();
    kept_.largest = 0;
    const chunks::ChunkProgram& all = program();
    std::size_t lane = 0;
    for (const chunks::Lane& each : all.lanes) {
      if (each.rank != kept_.runner->me()) continue;
      std::size_t number = 0;
      for (const ChunkOp& op : each.ops) {
        if (op.function != chunks::Function::finish) continue;
        const auto slots = static_cast<std::size_t>(kept_.slots_of_lane);
        kept_.place.emplace(op.reads[0].first, lane * slots + number++ % slots);
        kept_.largest = std::max(kept_.largest, all.bytes(op.reads[0]));
      }
      ++lane;
    }
    kept_.largest = up_to_aligned(kept_.largest);
    std::int64_t bytes = kept_.largest * kept_.slots_of_lane *
                         static_cast<std::int64_t>(std::max<std::size_t>(lane, 1));
    if (keeps_sums()) {
      const Chunk held = held_sums(), own = all.slice(held.buffer, kept_.runner->me());
      const std::int64_t before = all.bytes({held.buffer, held.first, own.first - held.first});
      kept_.sums_begin = up_to_aligned(before) - before;
      bytes = kept_.sums_begin + all.bytes(held);
    }
    kept_.sums = Block::raw(static_cast<std::size_t>(bytes));
    if (!step_.norm.op) return;
    const std::uint32_t numbers = all.buffer("numbers");
    kept_.numbers =
        Block::raw(static_cast<std::size_t>(all.bytes(all.held(numbers, kept_.runner->me()))));
  }

  // From the first element that this rank has of a buffer.
  std::int64_t beyond_held(const Chunk& chunk) const {
    const Chunk held = program().held(chunk.buffer, kept_.runner->me());
    return program().bytes({chunk.buffer, 0, chunk.first - held.first});
  }

  std::byte* at(const Chunk& chunk) {
    const std::int64_t bytes = program().buffers[chunk.buffer].element_bytes;
    if (chunk.buffer == program().buffer("in"))
      return host_pointer(run_.now[step_.reduce ? step_.given : step_.made]) + beyond_held(chunk);
    if (chunk.buffer == program().buffer("out"))
      return host_pointer(run_.now[step_.gather ? step_.gathered : step_.sum]) + beyond_held(chunk);
    if (chunk.buffer == program().buffer("numbers"))
      return kept_.numbers->data() + chunk.first * bytes;
    if (keeps_sums())
      return kept_.sums->data() + kept_.sums_begin + (chunk.first - held_sums().first) * bytes;
    return kept_.sums->data() +
           static_cast<std::int64_t>(kept_.place.at(chunk.first)) * kept_.largest;
  }

  Verdict compute(const ChunkOp& op) {
    switch (op.function) {
      case chunks::Function::partial:
        return give_numbers(op);
      case chunks::Function::total:
        return sum_numbers();
      case chunks::Function::produce:
        return multiply(step_.produce, op.to);
      case chunks::Function::consume:
        return multiply(step_.consume, op.reads[0]);
      default:
        return finish(op);
    }
  }

  // Rows of a product: those that a chunk has.
  Verdict multiply(const FusedStep::Product& product, const Chunk& chunk) {
    const std::int64_t row = product.rows->row_elements();
    HEDDLE_TRY(const RowProducts::Part part,
               product.rows->part(chunk.first / row, chunk.count / row));
    const DeviceAddress operands[] = {run_.now[product.operands[0]] + part.operands[0],
                                      run_.now[product.operands[1]] + part.operands[1]};
    const DeviceAddress result = run_.now[product.result] + part.result;
    const auto workspace = static_cast<std::size_t>(part.call->workspace_bytes());
    if (workspace > 0 && (kept_.workspace == nullptr || kept_.workspace->size() < workspace))
      kept_.workspace = Block::raw(workspace);
    return run_.queue->call(
        *part.call, {operands,
                     {&result, 1},
                     workspace > 0 ? address_of(kept_.workspace->data()) : DeviceAddress{}});
  }

  Verdict launch_all(const std::vector<std::unique_ptr<Launch>>& launches) {
    for (const auto& launch : launches)
      HEDDLE_TRY_VOID(run_.queue->launch(*launch, kept_.slots.data()));
    return yes();
  }

  // What all of this rank's slice gives for the norm.
  Verdict give_numbers(const ChunkOp& op) {
    kept_.slots[step_.sum] = address_of(at(op.reads[0]));
    HEDDLE_TRY_VOID(launch_all(step_.norm.before));
    std::byte* to = at(op.to);
    for (std::size_t i = 0; i < step_.norm.operands.size(); ++i) {
      const std::int64_t bytes = step_.norm.op->operands[i].bytes();
      if (bytes > 0)
        std::memcpy(to, host_pointer(run_.now[step_.norm.operands[i]]),
                    static_cast<std::size_t>(bytes));
      to += bytes;
    }
    return yes();
  }

  // In the order of the ranks, as transports do.
  Verdict sum_numbers() {
    const CollectiveOp& norm = *step_.norm.op;
    const std::uint32_t numbers = program().buffer("numbers");
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < norm.operands.size(); ++i) {
      const Type& type = norm.operands[i];
      std::byte* sum = host_pointer(run_.now[step_.norm.results[i]]);
      const comm::Combine combine = comm::combine_function(norm.reduce, type.dtype);
      for (std::size_t k = 0; k < kept_.order.size(); ++k) {
        const std::byte* next = at({numbers, kept_.order[k], 1}) + begin;
        if (k > 0)
          combine(sum, sum, next, count_of(type));
        else if (type.bytes() > 0)
          std::memcpy(sum, next, static_cast<std::size_t>(type.bytes()));
      }
      begin += type.bytes();
    }
    return launch_all(step_.norm.after);
  }

  // The kernel on the elements of a chunk: it finds their sums and leaves its result where they
  // travel, by addresses that are moved as far as it counts on.
  Verdict finish(const ChunkOp& op) {
    const Chunk& sums = op.reads[0];
    const std::int64_t first = sums.first - program().slice(sums.buffer, kept_.runner->me()).first;
    const std::int64_t bytes = program().buffers[sums.buffer].element_bytes;
    kept_.slots[step_.sum] = address_of(at(sums)) + -first * bytes;
    if (!step_.gather) return launch(first, sums.count);
    std::byte* const to = at(op.to);
    std::byte* const made = where_made(op.to, to);
    kept_.slots[step_.made] =
        address_of(made) + -first * program().buffers[op.to.buffer].element_bytes;
    HEDDLE_TRY_VOID(launch(first, sums.count));
    if (made != to) std::memcpy(to, made, static_cast<std::size_t>(program().bytes(op.to)));
    return yes();
  }

  Verdict launch(std::int64_t first, std::int64_t count) {
    if (step_.grain == 0) return run_.queue->launch(*step_.launch, kept_.slots.data());
    return run_.queue->launch_blocks(*step_.launch, kept_.slots.data(), first / step_.grain,
                                     (first + count + step_.grain - 1) / step_.grain);
  }

  // In its place, or beside it where slices begin anywhere.
  std::byte* where_made(const Chunk& chunk, std::byte* place) {
    if (reinterpret_cast<std::uintptr_t>(place) % kAligned == 0) return place;
    const std::int64_t bytes = program().bytes(program().slice(chunk.buffer, kept_.runner->me()));
    if (kept_.made == nullptr) kept_.made = Block::raw(static_cast<std::size_t>(bytes));
    return kept_.made->data();
  }

  const FusedStep& step_;
  RunState& run_;
  FusedRun& kept_;
  Transport& transport_;
};

}  // namespace

namespace {

// Chunks begin where blocks of the kernel, rows of the products and aligned addresses do.
std::int64_t grain_of(const FusedStep& step, const chunks::ChunkedCollective& wanted) {
  std::int64_t grain = 1;
  if (step.launch && step.grain > 0) {
    const std::int64_t narrowest =
        step.gather ? std::min(wanted.element_bytes, wanted.result_bytes) : wanted.element_bytes;
    grain = std::lcm(step.grain, std::max<std::int64_t>(kAligned / narrowest, 1));
  }
  for (const FusedStep::Product& product : {step.produce, step.consume})
    if (product.rows) grain = std::lcm(grain, product.rows->row_elements());
  return grain;
}

std::int64_t chunks_of(const FusedStep& step, const chunks::ChunkedCollective& wanted) {
  if (step.launch && step.grain == 0) return 1;
  const std::int64_t slice = wanted.elements / wanted.ranks;
  const std::int64_t grains = (slice + wanted.grain - 1) / wanted.grain;
  const bool direct = wanted.protocol == chunks::Protocol::direct;
  const std::int64_t most = direct ? kChunkBytes : kSlotBytes;
  std::int64_t fit = std::min(kMostChunks, slice * wanted.element_bytes / most);
  for (const FusedStep::Product& product : {step.produce, step.consume})
    if (product.rows)
      fit = std::min(kMostProductChunks, slice / product.rows->row_elements() / kLeastRows);
  const std::int64_t asked = step.first().fused.chunk_count;
  return std::clamp<std::int64_t>(asked > 0 ? asked : fit, 1, std::max<std::int64_t>(1, grains));
}

}  // namespace

Expected<chunks::ChunkProgram> fused_program(const FusedStep& step, const Transport& transport,
                                             const ResolvedCollective& resolved, FusedRun& kept) {
  const CollectiveOp& first = step.first();
  chunks::ChunkedCollective wanted;
  wanted.kind = !step.reduce  ? CollectiveKind::all_gather
                : step.gather ? CollectiveKind::all_reduce
                              : CollectiveKind::reduce_scatter;
  wanted.algorithm = first.fused.by;
  wanted.protocol = first.fused.through.value_or(
      transport.prefers_room() ? chunks::Protocol::bandwidth : chunks::Protocol::direct);
  wanted.channels = first.fused.lanes;
  wanted.ranks = static_cast<int>(resolved.size);
  wanted.elements = count_of(step.reduce ? first.operands[0] : first.results[0]);
  wanted.element_bytes = byte_size(first.operands[0].dtype);
  wanted.result_bytes = step.gather ? byte_size(step.gather->operands[0].dtype) : 1;
  wanted.finish = step.launch != nullptr;
  wanted.produce = step.produce.rows != nullptr;
  wanted.consume = step.consume.rows != nullptr;
  wanted.norm = step.norm.op != nullptr;
  if (wanted.norm && step.apart) {  // what comes before the norm is done apart
    wanted.norm = false;
    wanted.kind = CollectiveKind::all_gather;
  }
  wanted.number_bytes = 0;
  if (wanted.norm)
    for (const Type& type : step.norm.op->operands) wanted.number_bytes += type.bytes();
  wanted.number_bytes = std::max<std::int64_t>(wanted.number_bytes, 1);
  wanted.grain = grain_of(step, wanted);
  wanted.chunks = static_cast<int>(chunks_of(step, wanted));
  wanted.channels = std::min(wanted.channels, wanted.chunks);
  wanted.slots = kSlots;
  if (wanted.produce || wanted.consume)
    wanted.slots = std::clamp(wanted.chunks / wanted.channels, kSlots, comm::kMostChunkSlots);
  kept.slots_of_lane = wanted.slots;
  // As transports do: in the order of the ranks.
  const std::vector<int>& ranks = transport.members(resolved.group);
  for (int i = 0; i < wanted.ranks; ++i) wanted.order.push_back(i);
  std::ranges::sort(wanted.order, {}, [&](int i) { return ranks[static_cast<std::size_t>(i)]; });
  kept.order = wanted.order;
  return chunks::collective_chunks(wanted);
}

Verdict run_fused(const FusedStep& step, RunState& run, Transport& transport,
                  const RunOptions& options) {
  ResolvedCollective& resolved = run.collectives[step.number];
  FusedRun& kept = run.fused[step.number];
  FusedWork work(step, run, kept, transport);
  if (!resolved.done) {
    HEDDLE_TRY(const RankGrid grid, rank_grid(transport, options));
    HEDDLE_TRY(resolved, resolve(step.first(), transport, grid));
    if (!resolved.member)
      return reason("{}: this rank is in none of its groups", step.first().label);
    if (!step.apart) HEDDLE_TRY_VOID(work.prepare(resolved));
  }
  return step.apart ? run_fused_on_device(step, run, kept, resolved, transport, options)
                    : work.run();
}

}  // namespace heddle::runtime
