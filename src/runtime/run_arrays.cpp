#include "runtime/run_arrays.h"

#include <unordered_map>

namespace heddle::runtime {

namespace {

void set_home(RunState& run, SlotId id, DeviceAddress address) {
  run.home[id] = address;
  run.now[id] = address;
}

// The caller's memory, or a copy of it where somebody else would see it change, or where kernels
// cannot read it as it lies.
DeviceAddress argument_data(Array& argument, bool donated) {
  const auto at = reinterpret_cast<std::uintptr_t>(argument.bytes().data());
  if (at % Block::kAlignment != 0)
    argument = Array(argument.type(), Block::copy_of(argument.bytes()));
  return address_of(donated ? argument.mutable_bytes().data() : argument.bytes().data());
}

// The block that a result has come to lie in; loops exchange those of two slots.
std::shared_ptr<Block> block_at(const ExecutableState& state, const RunState& run, SlotId id,
                                const std::vector<Array>& arguments) {
  const DeviceAddress at = run.now[id];
  const Slot& slot = state.slots[id];
  if (slot.kind == SlotKind::constant) return state.constants[slot.number].block();
  const auto is_there = [&](const Array& array) { return address_of(array.bytes().data()) == at; };
  if (slot.kind == SlotKind::argument && is_there(arguments[slot.number]))
    return arguments[slot.number].block();
  if (run.buffers[id].memory && run.buffers[id].address == at) return block_of(run.buffers[id]);
  for (SlotId other : state.fresh)
    if (run.buffers[other].address == at) return block_of(run.buffers[other]);
  for (const Array& argument : arguments)
    if (is_there(argument)) return argument.block();
  return nullptr;
}

Verdict make_fresh(const ExecutableState& state, RunState& run) {
  for (SlotId id : state.fresh) {
    HEDDLE_TRY(run.buffers[id], run.queue->allocate(state.slots[id].bytes));
    set_home(run, id, run.buffers[id].address);
  }
  return yes();
}

Verdict copy_in(const ExecutableState& state, RunState& run, const std::vector<Array>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const SlotId id = state.inputs[i];
    HEDDLE_TRY(run.buffers[id], to_device(*run.queue, arguments[i]));
    set_home(run, id, run.buffers[id].address);
  }
  return make_fresh(state, run);
}

// On the CPU, where a run may take less than a microsecond.
void use_in_place(const ExecutableState& state, RunState& run, std::vector<Array>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const SlotId id = state.inputs[i];
    set_home(run, id, argument_data(arguments[i], state.slots[id].donated));
  }
  for (SlotId id : state.fresh) {
    run.buffers[id] =
        buffer_of(state.device(), Block::raw(static_cast<std::size_t>(state.slots[id].bytes)));
    set_home(run, id, run.buffers[id].address);
  }
}

void let_go(const ExecutableState& state, RunState& run) {
  for (SlotId id : state.inputs) run.buffers[id] = {};
  for (SlotId id : state.fresh) run.buffers[id] = {};
}

}  // namespace

Verdict bring_in(const ExecutableState& state, RunState& run, std::vector<Array>& arguments) {
  if (!state.device().in_host_memory()) return copy_in(state, run, arguments);
  use_in_place(state, run, arguments);
  return yes();
}

Expected<std::vector<Array>> bring_out(const ExecutableState& state, RunState& run,
                                       const std::vector<Array>& arguments) {
  const bool in_place = state.device().in_host_memory();
  Verdict read = yes();
  std::vector<Array> results;
  results.reserve(state.outputs.size());
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    const Type& type = state.output_types[i];
    if (type.bytes() == 0) {
      results.emplace_back(type);
      continue;
    }
    std::shared_ptr<Block> block;
    if (in_place) {
      block = block_at(state, run, state.outputs[i], arguments);
      HEDDLE_CHECK(block != nullptr, "result {} lies in memory that is not to be kept", i);
    } else {
      block = Block::raw(static_cast<std::size_t>(type.bytes()));
      if (read) read = run.queue->read(run.now[state.outputs[i]], {block->data(), block->size()});
    }
    results.emplace_back(type, std::move(block));
  }
  HEDDLE_TRY_VOID(run.queue->finish());  // nobody writes to the blocks any more
  HEDDLE_TRY_VOID(read);
  let_go(state, run);
  return results;
}

Verdict take_buffers(const ExecutableState& state, RunState& run, std::vector<Buffer> arguments) {
  while (!run.retired.empty() && run.retired.front().first.done()) run.retired.pop_front();
  const void* waited = nullptr;  // results of one run have one event
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const SlotId id = state.inputs[i];
    if (const void* ready = arguments[i].ready.state().get(); ready != waited) {
      HEDDLE_TRY_VOID(run.queue->wait(arguments[i].ready));
      waited = ready;
    }
    run.buffers[id] = std::move(arguments[i]);
    set_home(run, id, run.buffers[id].address);
  }
  return make_fresh(state, run);
}

Expected<std::vector<Buffer>> buffers_from(const ExecutableState& state, RunState& run,
                                           std::vector<DeviceValue> arguments) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::int64_t bytes = arguments[i].type().bytes();
    HEDDLE_TRY(DeviceValue there, to_device(*run.queue, std::move(arguments[i])));
    Buffer buffer = there.take_buffer();
    const bool is_donated = i < state.inputs.size() && state.slots[state.inputs[i]].donated;
    if (is_donated && bytes > 0 && buffer.memory.use_count() > 1) {
      HEDDLE_TRY_VOID(run.queue->wait(buffer.ready));
      HEDDLE_TRY(Buffer copy, run.queue->allocate(bytes));
      HEDDLE_TRY_VOID(run.queue->copy(buffer.address, copy.address, bytes));
      copy.ready = run.queue->record();
      if (!state.device().memory_outlasts_work())
        run.retired.emplace_back(copy.ready, std::vector<Buffer>{std::move(buffer)});
      buffer = std::move(copy);
    }
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

Expected<std::vector<Buffer>> give_buffers(const ExecutableState& state, RunState& run) {
  std::unordered_map<std::uintptr_t, Buffer> ours;  // that may be given out, each once
  const auto add = [&](const Buffer& buffer) { ours.try_emplace(buffer.address.value, buffer); };
  for (SlotId id : state.fresh) add(run.buffers[id]);
  for (SlotId id : state.inputs)
    if (state.slots[id].donated) add(run.buffers[id]);
  std::vector<Buffer> results;
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    const std::int64_t bytes = state.output_types[i].bytes();
    const DeviceAddress at = run.now[state.outputs[i]];
    if (auto found = bytes > 0 ? ours.extract(at.value) : decltype(ours)::node_type{}) {
      results.push_back(std::move(found.mapped()));
      continue;
    }
    HEDDLE_TRY(Buffer copy, run.queue->allocate(bytes));
    if (bytes > 0) HEDDLE_TRY_VOID(run.queue->copy(at, copy.address, bytes));
    results.push_back(std::move(copy));
  }
  const Event over = run.queue->record();
  for (Buffer& result : results) result.ready = over;
  if (!state.device().memory_outlasts_work() && !over.done()) {
    std::vector<Buffer> used = results;
    for (const auto* slots : {&state.inputs, &state.fresh})
      for (SlotId id : *slots) used.push_back(run.buffers[id]);
    run.retired.emplace_back(over, std::move(used));
  }
  let_go(state, run);
  return results;
}

}  // namespace heddle::runtime
