#include "heddle/executable.h"

#include <algorithm>

#include "heddle/interpreter.h"
#include "heddle/thread_pool.h"
#include "runtime/state.h"

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

// The places that never change: constants and the arena.
void bind_fixed(ExecutableState& state) {
  if (state.arena) return;
  state.scratch =
      Block::raw(static_cast<std::size_t>(state.scratch_stride * ThreadPool::shared().threads()));
  auto arena = Block::raw(static_cast<std::size_t>(state.arena_bytes));
  state.home.assign(state.slots.size(), nullptr);
  state.now.assign(state.slots.size(), nullptr);
  for (SlotId id = 0; id < state.slots.size(); ++id) {
    const Slot& slot = state.slots[id];
    if (slot.kind == SlotKind::constant)
      state.home[id] = const_cast<std::byte*>(state.constants[slot.number].bytes().data());
    if (slot.kind == SlotKind::arena && slot.first >= 0)
      state.home[id] = arena->data() + slot.offset;
  }
  state.arena = std::move(arena);
}

Blocks bind_slots(ExecutableState& state, std::vector<Array>& arguments) {
  Blocks blocks(state.slots.size());
  for (SlotId id = 0; id < state.slots.size(); ++id) {
    const Slot& slot = state.slots[id];
    if (slot.kind == SlotKind::argument)
      state.home[id] = argument_data(arguments[slot.number], slot.donated);
    if (slot.kind != SlotKind::fresh || slot.first < 0) continue;
    blocks[id] = Block::raw(static_cast<std::size_t>(slot.bytes));
    state.home[id] = blocks[id]->data();
  }
  std::copy(state.home.begin(), state.home.end(), state.now.begin());
  return blocks;
}

// The block that a slot has come to lie in; loops exchange those of two slots.
std::shared_ptr<Block> block_of(const ExecutableState& state, SlotId id,
                                const std::vector<Array>& arguments, const Blocks& blocks) {
  const std::byte* data = state.now[id];
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

std::vector<Array> collect(const ExecutableState& state, const std::vector<Array>& arguments,
                           const Blocks& blocks) {
  std::vector<Array> results;
  results.reserve(state.outputs.size());
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    const Type& type = state.output_types[i];
    if (type.elements() == 0) {
      results.emplace_back(type);
      continue;
    }
    auto block = block_of(state, state.outputs[i], arguments, blocks);
    HEDDLE_CHECK(block != nullptr, "result {} lies in memory that is not to be kept", i);
    results.emplace_back(type, std::move(block));
  }
  return results;
}

}  // namespace

Expected<std::vector<Array>> Executable::run(std::vector<Array> arguments,
                                             const RunOptions& options) const {
  ExecutableState& state = *state_;
  if (!state.compiled.interpreted_because.empty()) {
    InterpretOptions whole;
    whole.verified = true;
    whole.memory_limit = state.memory_limit;
    whole.print = options.print;
    whole.trace = options.trace;
    return interpret(state.compiled.program, state.compiled.entry(), std::move(arguments), whole);
  }
  const std::lock_guard turn(state.turn);
  HEDDLE_TRY_VOID(check_arguments(state, arguments));
  if (options.times != nullptr && options.times->size() < state.infos.size())
    options.times->resize(state.infos.size());
  try {
    bind_fixed(state);
    const Blocks blocks = bind_slots(state, arguments);
    HEDDLE_TRY_VOID(run_steps(state, state.steps, options));
    return collect(state, arguments, blocks);
  } catch (const std::bad_alloc&) {
    return reason(
        "{}: there is not enough memory: {:.1f} MB for values that are computed, beside the "
        "arguments",
        state.compiled.program.file, static_cast<double>(state.peak_bytes) / 1e6);
  } catch (const Error& error) {
    return Reason{error.what()};
  }
}

Verdict Executable::finish_compiling() const {
  const auto& background = state_->compiled.background;
  return background ? background->wait() : yes();
}

const std::vector<StepInfo>& Executable::steps() const { return state_->infos; }
std::int64_t Executable::peak_bytes() const { return state_->peak_bytes; }
const std::string& Executable::interpreted_because() const {
  return state_->compiled.interpreted_because;
}

}  // namespace heddle
