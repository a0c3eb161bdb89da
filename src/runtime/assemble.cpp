#include "runtime/assemble.h"

#include <algorithm>

#include "heddle/op.h"
#include "runtime/assembler.h"
#include "runtime/dependences.h"
#include "runtime/fuse_steps.h"
#include "runtime/state.h"
#include "runtime/stretch.h"
#include "runtime/whole_loops.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kMostNamed = 5;

std::string megabytes(std::int64_t bytes) {
  return bytes < 1'000'000 ? fmt::format("{} bytes", bytes)
                           : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// One line of what fills the memory: "64.0 MB  tensor<4096x4096xf32>  exp at f.mlir:3:5".
std::string buffer_line(const Program& program, const Slot& slot) {
  if (slot.value == kNone)
    return fmt::format("{}  room for a kernel or library", megabytes(slot.bytes));
  const Value& value = program.value(slot.value);
  const std::string type = program.type_of(slot.value).str();
  if (value.op == kNone) return fmt::format("{}  {}  an argument", megabytes(slot.bytes), type);
  const Op& op = program.op(value.op);
  return fmt::format("{}  {}  {} at {}", megabytes(slot.bytes), type, op.def->short_name(),
                     program.where(op.loc));
}

// Where the largest value that is computed comes from.
std::string where_of(const Program& program, const SlotTable& slots,
                     const std::vector<SlotId>& largest) {
  for (SlotId id : largest) {
    const ValueId v = slots[id].value;
    if (v != kNone && program.value(v).op != kNone)
      return program.where(program.op(program.value(v).op).loc);
  }
  return program.file;
}

PeakMemory peak_of(const Program& program, const SlotTable& slots, std::int64_t bytes) {
  std::vector<SlotId> ids, largest;
  const MemoryPeak peak = memory_peak(slots.live_buffers(ids));
  for (std::size_t i : peak.buffers) largest.push_back(ids[i]);
  PeakMemory memory{bytes, where_of(program, slots, largest), {}};
  for (std::size_t i = 0; i < largest.size() && i < kMostNamed; ++i)
    memory.largest.push_back(buffer_line(program, slots[largest[i]]));
  return memory;
}

Reason over_limit(const PeakMemory& peak, std::int64_t needed, std::int64_t limit) {
  std::string text = fmt::format(
      "{}: memory: values need {} at once, arguments included, and the limit is {}; memory_limit "
      "sets it, `heddle run --memory 64GB` on the command line; the largest are",
      peak.where, megabytes(needed), megabytes(limit));
  for (const std::string& line : peak.largest) text += "\n  " + line;
  return Reason{std::move(text)};
}

std::int64_t argument_bytes(const ExecutableState& state) {
  std::int64_t bytes = 0;
  for (const Type& type : state.argument_types) bytes += type.bytes();
  return bytes;
}

std::int64_t fresh_bytes(const SlotTable& slots) {
  std::int64_t bytes = 0;
  for (const Slot& slot : slots.all())
    if (slot.kind == SlotKind::fresh && slot.first >= 0) bytes += slot.bytes;
  return bytes;
}

void set_types(ExecutableState& state) {
  const Program& program = state.compiled.program;
  const Region& body = program.region(state.compiled.entry().body);
  for (ValueId v : body.args) state.argument_types.push_back(program.type_of(v));
  for (ValueId v : program.operands(program.op(body.ops.back())))
    state.output_types.push_back(program.type_of(v));
}

void sort_slots(ExecutableState& state) {
  state.inputs.assign(state.argument_types.size(), kNone);
  for (SlotId id = 0; id < state.slots.size(); ++id) {
    const Slot& slot = state.slots[id];
    if (slot.kind == SlotKind::argument) state.inputs[slot.number] = id;
    if (slot.kind == SlotKind::fresh && slot.first >= 0) state.fresh.push_back(id);
  }
}

}  // namespace

Expected<Executable> assemble(CompiledProgram compiled, const AssembleOptions& options) {
  auto state = std::make_shared<ExecutableState>();
  state->memory_limit = options.memory_limit;
  state->placement = options.placement;
  state->compiled = std::move(compiled);
  if (!state->compiled.interpreted_because.empty()) return Executable(std::move(state));
  set_types(*state);
  Assembler assembler(state->compiled, options);
  state->steps = assembler.assemble_entry();
  HEDDLE_TRY_VOID(assembler.trouble);
  const bool in_host_memory = state->device().in_host_memory();
  if (in_host_memory || state->device().runs_chunks())
    fuse_steps(state->steps, assembler.slots, assembler.infos, in_host_memory);
  const std::int64_t arena = assembler.slots.plan();
  state->peak =
      peak_of(state->compiled.program, assembler.slots, arena + fresh_bytes(assembler.slots));
  const std::int64_t needed = state->peak.bytes + argument_bytes(*state);
  if (needed > options.memory_limit && options.overlap && !assembler.meetings.empty()) {
    AssembleOptions in_turn = options;
    in_turn.overlap = false;
    return assemble(std::move(state->compiled), in_turn);
  }
  if (needed > options.memory_limit) return over_limit(state->peak, needed, options.memory_limit);
  if (!assembler.meetings.empty()) verify_overlaps(state->steps, assembler.slots);
  state->slots = assembler.slots.all();
  state->infos = std::move(assembler.infos);
  state->outputs = std::move(assembler.outputs);
  state->constants = std::move(assembler.constants);
  state->arena_bytes = arena;
  state->meetings = std::move(assembler.meetings);
  sort_slots(*state);
  state->stretches = find_stretches(state->steps, state->slots);
  find_whole_loops(state->steps, state->slots, state->device(), state->infos);
  return Executable(std::move(state));
}

}  // namespace heddle::runtime
