#include "heddle/executable.h"

#include <algorithm>

#include "heddle/hash.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "heddle/thread_pool.h"
#include "heddle/transport.h"
#include "runtime/run_collective.h"

namespace heddle {

using namespace runtime;

namespace {

Verdict check_arguments(const ExecutableState& state, const std::vector<Array>& arguments) {
  const CompiledProgram& compiled = state.compiled;
  const Function& f = compiled.entry();
  const std::string where = compiled.program.where(f.loc);
  if (arguments.size() != state.argument_types.size())
    return reason("{}: function @{} takes {} arguments, {} came in", where, f.name,
                  state.argument_types.size(), arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!(arguments[i].type() == state.argument_types[i]))
      return reason("{}: argument {} of function @{} is {}, {} came in", where, i, f.name,
                    state.argument_types[i].str(), arguments[i].type().str());
  return yes();
}

// Blocks that were made for this run, by slot.
using Blocks = std::vector<std::shared_ptr<Block>>;

// The caller's memory, or a copy of it where somebody else would see it change, or where kernels
// cannot read it as it lies.
std::byte* argument_data(Array& argument, bool donated) {
  const auto at = reinterpret_cast<std::uintptr_t>(argument.bytes().data());
  if (at % Block::kAlignment != 0)
    argument = Array(argument.type(), Block::copy_of(argument.bytes()));
  if (donated) return argument.mutable_bytes().data();
  return const_cast<std::byte*>(argument.bytes().data());  // nobody writes to it
}

Blocks bind_slots(const ExecutableState& state, RankState& rank, std::vector<Array>& arguments) {
  Blocks blocks(state.slots.size());
  for (SlotId id = 0; id < state.slots.size(); ++id) {
    const Slot& slot = state.slots[id];
    if (slot.kind == SlotKind::argument)
      rank.home[id] = argument_data(arguments[slot.number], slot.donated);
    if (slot.kind != SlotKind::fresh || slot.first < 0) continue;
    blocks[id] = Block::raw(static_cast<std::size_t>(slot.bytes));
    rank.home[id] = blocks[id]->data();
  }
  std::copy(rank.home.begin(), rank.home.end(), rank.now.begin());
  return blocks;
}

// The block that a slot has come to lie in; loops exchange those of two slots.
std::shared_ptr<Block> block_of(const ExecutableState& state, const RankState& rank, SlotId id,
                                const std::vector<Array>& arguments, const Blocks& blocks) {
  const std::byte* data = rank.now[id];
  const Slot& slot = state.slots[id];
  if (slot.kind == SlotKind::constant) return state.constants[slot.number].block();
  if (slot.kind == SlotKind::argument && arguments[slot.number].bytes().data() == data)
    return arguments[slot.number].block();
  if (blocks[id] && blocks[id]->data() == data) return blocks[id];
  for (const auto& block : blocks)
    if (block && block->data() == data) return block;
  for (const Array& argument : arguments)
    if (argument.bytes().data() == data) return argument.block();
  return nullptr;
}

std::vector<Array> collect(const ExecutableState& state, const RankState& rank,
                           const std::vector<Array>& arguments, const Blocks& blocks) {
  std::vector<Array> results;
  results.reserve(state.outputs.size());
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    const Type& type = state.output_types[i];
    if (type.bytes() == 0) {
      results.emplace_back(type);
      continue;
    }
    auto block = block_of(state, rank, state.outputs[i], arguments, blocks);
    HEDDLE_CHECK(block != nullptr, "result {} lies in memory that is not to be kept", i);
    results.emplace_back(type, std::move(block));
  }
  return results;
}

// The first time that ranks meet over a program: it has to be the same.
Verdict agree(ExecutableState& state, Transport& transport) {
  std::vector<int> everyone(static_cast<std::size_t>(transport.size()));
  for (int r = 0; r < transport.size(); ++r) everyone[static_cast<std::size_t>(r)] = r;
  HEDDLE_TRY(const GroupId group, transport.group(everyone));
  const std::uint64_t mine = state.fingerprint();
  std::vector<std::uint64_t> all(everyone.size());
  Collective c{.kind = CollectiveKind::all_gather, .group = group};
  c.in = reinterpret_cast<const std::byte*>(&mine);
  c.out = reinterpret_cast<std::byte*>(all.data());
  c.in_pieces = c.out_pieces = {1, sizeof mine};
  c.what = "comparing programs before the run";
  HEDDLE_TRY_VOID(run_collective(transport, c));
  std::string others;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r] != all[0]) others += fmt::format("{}{}", others.empty() ? "" : ", ", r);
  if (others.empty()) return yes();
  return reason(
      "{}: rank {} of {} runs another program than rank 0 (this is rank {}): start all ranks with "
      "the same file, options and version",
      state.compiled.program.file, others, transport.size(), transport.rank());
}

Verdict prepare(ExecutableState& state, RankState& rank, const RunOptions& options,
                Transport& transport) {
  const ResolvedFor now{transport.id(), options.replicas, options.partitions};
  if (rank.resolved_for == now) return yes();
  HEDDLE_TRY_VOID(rank_grid(transport, options));
  rank.collectives.assign(state.collectives, {});
  if (transport.size() > 1 && options.same_program) HEDDLE_TRY_VOID(agree(state, transport));
  rank.resolved_for = now;
  return yes();
}

void make_scratch(const ExecutableState& state, RankState& rank, int threads) {
  const auto bytes = static_cast<std::size_t>(state.scratch_stride * threads);
  if (!rank.scratch || rank.scratch->size() < bytes) rank.scratch = Block::raw(bytes);
}

Expected<std::vector<Array>> run_rank(ExecutableState& state, std::vector<Array> arguments,
                                      const RunOptions& options, Transport& transport) {
  RankState& rank = state.of_rank(transport.rank());
  const std::lock_guard turn(rank.turn);
  ThreadPool& pool = options.pool != nullptr ? *options.pool : ThreadPool::shared();
  HEDDLE_TRY_VOID(check_arguments(state, arguments));
  if (options.times != nullptr && options.times->size() < state.infos.size())
    options.times->resize(state.infos.size());
  HEDDLE_TRY_VOID(prepare(state, rank, options, transport));
  make_scratch(state, rank, pool.threads());
  const Blocks blocks = bind_slots(state, rank, arguments);
  HEDDLE_TRY_VOID(run_steps(state, rank, options, transport, pool));
  HEDDLE_TRY_VOID(finish_sends(rank, transport));
  return collect(state, rank, arguments, blocks);
}

// A rank that fails ends the run of all; otherwise they would wait for it.
Expected<std::vector<Array>> run_among_others(ExecutableState& state, std::vector<Array> arguments,
                                              const RunOptions& options) {
  Transport& transport = *options.transport;
  transport.enter();
  auto results = run_rank(state, std::move(arguments), options, transport);
  if (!results) transport.abort(results.reason());
  transport.leave();
  return results;
}

Expected<std::vector<Array>> run_alone(ExecutableState& state, std::vector<Array> arguments,
                                       const RunOptions& options) {
  const RankState& rank = state.of_rank(0);
  return run_rank(state, std::move(arguments), options, *rank.solo);
}

}  // namespace

RankState& ExecutableState::of_rank(int rank) {
  if (rank == 0 && first_ != nullptr) return *first_;  // made before anybody else knew of this
  const std::lock_guard lock(mutex_);
  auto& place = ranks_[rank];
  if (place) return *place;
  auto made = std::make_unique<RankState>();
  made->arena = Block::raw(static_cast<std::size_t>(arena_bytes));
  made->home.assign(slots.size(), nullptr);
  made->now.assign(slots.size(), nullptr);
  made->pointers.resize(pointers);
  made->collectives.resize(collectives);
  if (rank == 0) made->solo = solo_transport();
  for (SlotId id = 0; id < slots.size(); ++id) {
    const Slot& slot = slots[id];
    if (slot.kind == SlotKind::constant)
      made->home[id] = const_cast<std::byte*>(constants[slot.number].bytes().data());
    if (slot.kind == SlotKind::arena && slot.first >= 0)
      made->home[id] = made->arena->data() + slot.offset;
  }
  place = std::move(made);
  if (rank == 0) first_ = place.get();
  return *place;
}

std::uint64_t ExecutableState::fingerprint() {
  const std::lock_guard lock(mutex_);
  if (!fingerprint_)
    fingerprint_ = hash_combine(0, print_stablehlo(compiled.program, TextForm::generic));
  return *fingerprint_;
}

Expected<std::vector<Array>> Executable::run(std::vector<Array> arguments,
                                             const RunOptions& options) const {
  ExecutableState& state = *state_;
  if (!state.compiled.interpreted_because.empty()) {
    if (options.transport != nullptr && options.transport->size() > 1)
      return reason("{} cannot run on {} ranks, since it can only be interpreted: {}",
                    state.compiled.program.file, options.transport->size(),
                    state.compiled.interpreted_because);
    InterpretOptions whole;
    whole.verified = true;
    whole.memory_limit = state.memory_limit;
    whole.print = options.print;
    whole.trace = options.trace;
    return interpret(state.compiled.program, state.compiled.entry(), std::move(arguments), whole);
  }
  try {
    if (options.transport != nullptr) return run_among_others(state, std::move(arguments), options);
    return run_alone(state, std::move(arguments), options);
  } catch (const std::bad_alloc&) {
    return reason(
        "{}: there is not enough memory: {:.1f} MB for values that are computed, beside the "
        "arguments",
        state.compiled.program.file, static_cast<double>(state.peak.bytes) / 1e6);
  } catch (const Error& error) {
    return Reason{error.what()};
  }
}

Verdict Executable::finish_compiling() const {
  const auto& background = state_->compiled.background;
  return background ? background->wait() : yes();
}

std::uint64_t Executable::fingerprint() const { return state_->fingerprint(); }
const std::vector<StepInfo>& Executable::steps() const { return state_->infos; }
const Placement& Executable::placement() const { return state_->placement; }
const PeakMemory& Executable::peak() const { return state_->peak; }
const std::string& Executable::interpreted_because() const {
  return state_->compiled.interpreted_because;
}

}  // namespace heddle
