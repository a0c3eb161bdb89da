#include "runtime/assembler.h"

#include <algorithm>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "kernel/flat_parts.h"
#include "runtime/in_place.h"
#include "runtime/reference.h"

namespace heddle::runtime {

namespace {

// Names of ops in a line of a report.
constexpr std::size_t kMostNames = 8;

std::string op_names(const Program& program, const std::vector<OpId>& ops) {
  std::string names;
  for (std::size_t i = 0; i < ops.size() && i < kMostNames; ++i)
    names += (i > 0 ? ", " : "") + std::string(program.op(ops[i]).def->short_name());
  if (ops.size() > kMostNames) names += fmt::format(", … {} more", ops.size() - kMostNames);
  return names;
}

// Each once, and no more than a reader wants.
void add_user_line(const Program& program, const Op& op, std::vector<std::string>& lines) {
  constexpr std::size_t kMostLines = 4;
  const std::string& user = program.location(op.loc).user;
  if (user.empty() || lines.size() == kMostLines) return;
  if (std::ranges::find(lines, user) == lines.end()) lines.push_back(user);
}

// Those of the first kernels that differ; the others of a launch are much alike.
std::vector<std::string> reasons_of(const CompiledUnit& unit, const Device& device) {
  constexpr std::size_t kMostKernels = 3;
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < unit.kernels.size() && k < kMostKernels; ++k)
    for (const std::string& line : unit.kernels[k].group.notes)
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  if (lines.empty()) return lines;  // nobody asked
  for (const std::string& line : device.mapping(unit.kernels[0].kernel)) lines.push_back(line);
  return lines;
}

bool has(const std::vector<SlotId>& slots, SlotId slot) {
  return std::ranges::find(slots, slot) != slots.end();
}

}  // namespace

Assembler::Assembler(const CompiledProgram& compiled, const AssembleOptions& options)
    : compiled_(compiled),
      program_(compiled.program),
      lifetimes_(compiled),
      slot_of_(program_.value_count(), kNone),
      overlaps_(options.overlap) {
  for (OpId id : program_.region(compiled.entry().body).ops) {
    const Op& op = program_.op(id);
    if (op.def->cls != OpClass::communicate || fused_mark(program_, op).number < 0) continue;
    if (op.def->collective == CollectiveKind::all_reduce) continue;  // of numbers
    const bool sums = op.def->collective == CollectiveKind::reduce_scatter;
    fused_values_.insert(lifetimes_.root(sums ? op.results : program_.operands(op)[0]));
  }
  const auto& args = program_.region(compiled.entry().body).args;
  for (std::uint32_t i = 0; i < args.size(); ++i)
    slot_of_[args[i]] = slots.add({.kind = SlotKind::argument,
                                   .bytes = program_.type_of(args[i]).bytes(),
                                   .value = args[i],
                                   .number = i,
                                   .donated = i < options.donated.size() && options.donated[i]});
}

// ---- places

SlotId Assembler::new_arena(ValueId v, std::int64_t bytes) {
  return slots.add({.kind = SlotKind::arena, .bytes = bytes, .value = v});
}

SlotId Assembler::slot(ValueId v) {
  const ValueId root = lifetimes_.root(v);
  if (slot_of_[root] != kNone) return slot_of_[root];
  const Value& value = program_.value(root);
  const Attr* attr = value.op == kNone ? nullptr : program_.attr(program_.op(value.op), "value");
  const Array* array = attr == nullptr ? nullptr : attr->get<Array>();
  HEDDLE_CHECK(array != nullptr, "value {} has no memory", v);
  slot_of_[root] = slots.add({.kind = SlotKind::constant,
                              .bytes = array->type().bytes(),
                              .value = root,
                              .number = static_cast<std::uint32_t>(constants.size())});
  constants.push_back(*array);
  return slot_of_[root];
}

bool Assembler::may_take(SlotId from, const Target* target) const {
  const Slot& slot = slots[from];
  if (target != nullptr && target->in_place == from) return !is_under_way(from);
  if (slot.pinned || scope_.written.contains(from) || is_under_way(from)) return false;
  if (target != nullptr && !target->any_place) return false;
  return slot.kind == SlotKind::arena || slot.kind == SlotKind::fresh ||
         (slot.kind == SlotKind::argument && slot.donated);
}

SlotId Assembler::place(ValueId v, std::size_t number, const std::vector<ValueId>& over) {
  const std::int64_t bytes = program_.type_of(v).bytes();
  const auto wanted = scope_.targets.find(lifetimes_.root(v));
  const Target* target = wanted == scope_.targets.end() ? nullptr : &wanted->second;
  SlotId chosen = kNone;
  for (ValueId u : over) {
    const SlotId from = slot(u);
    if (slots[from].bytes != bytes || bytes == 0) continue;
    if (!lifetimes_.dies_at(u, scope_.region, number) || !may_take(from, target)) continue;
    chosen = from;
    if (target != nullptr && target->any_place && slots[from].kind == SlotKind::arena)
      slots[from].kind = SlotKind::fresh;
    break;
  }
  if (chosen == kNone && target != nullptr && target->any_place)
    chosen = argument_without_use(bytes, number);
  if (chosen == kNone) chosen = target != nullptr ? target->slot : new_arena(v, bytes);
  scope_.written.insert(chosen);
  set_slot(v, chosen);
  return chosen;
}

// A result may lie where a donated argument was that nobody reads any more.
SlotId Assembler::argument_without_use(std::int64_t bytes, std::size_t number) const {
  if (bytes == 0 || number == 0) return kNone;
  for (ValueId v : program_.region(scope_.region).args) {
    const SlotId from = slot_of_[v];
    if (from == kNone || slots[from].kind != SlotKind::argument || !slots[from].donated ||
        slots[from].bytes != bytes)
      continue;
    if (lifetimes_.dies_at(v, scope_.region, number - 1) && may_take(from, nullptr) &&
        std::ranges::count(slot_of_, from) == 1)  // nothing else has been put there
      return from;
  }
  return kNone;
}

// A value that is wanted in two places gets the first; the other one is a copy.
void Assembler::set_targets(const RegionTask& task) {
  const Op& end = program_.op(program_.region(task.region).ops.back());
  for (std::size_t i = 0; i < task.targets.size(); ++i) {
    const ValueId root = lifetimes_.root(program_.operands(end)[i]);
    const OpId maker = program_.value(root).op;
    if (slot_of_[root] != kNone || maker == kNone || task.targets[i].slot == kNone) continue;
    scope_.targets.emplace(root, task.targets[i]);
  }
}

// ---- steps

Step& Assembler::emit(Step step, StepInfo info) {
  wait_before(step);
  info.depth = scope_.depth;
  step.info = static_cast<std::uint32_t>(infos.size());
  infos.push_back(std::move(info));
  append(std::move(step));
  return scope_.list.steps.back();
}

void Assembler::append(Step step) {
  step.time = slots.next_step();
  for (SlotId s : step.reads) slots.touch(s);
  for (SlotId s : step.writes) slots.touch(s);
  push(std::move(step));
}

void Assembler::push(Step step) {
  const auto number = static_cast<std::uint32_t>(scope_.list.steps.size());
  scope_.touches.add(number, effects_by_slot(step, slots));
  scope_.list.steps.push_back(std::move(step));
}

// In the order in which they began, as on every rank.
void Assembler::wait_before(const Step& step) {
  if (scope_.under_way.empty()) return;
  const std::vector<std::uint32_t> after = scope_.touches.before(effects_by_slot(step, slots));
  for (UnderWay& one : std::exchange(scope_.under_way, {})) {
    if (std::ranges::binary_search(after, one.start))
      append_wait(std::move(one.wait));
    else
      scope_.under_way.push_back(std::move(one));
  }
}

// Inside, nothing is written over what is around and under way: it depends on what it reads.
void Assembler::wait_before_regions(const Op& op) {
  Step step;
  for (ValueId v : program_.operands(op)) step.reads.push_back(slot(v));
  for (ValueId v : captured_values(program_, op)) step.reads.push_back(slot(v));
  wait_before(step);
}

void Assembler::wait_for_all() {
  for (UnderWay& one : std::exchange(scope_.under_way, {})) append_wait(std::move(one.wait));
}

// What has run since it began ran beside it.
void Assembler::append_wait(Step wait) {
  const std::size_t number = std::get<WaitStep>(wait.work).number;
  bool beside = false;
  for (std::size_t i = scope_.list.steps.size(); i-- > 0;) {
    auto& work = scope_.list.steps[i].work;
    auto* start = std::get_if<StartStep>(&work);
    if (start != nullptr && start->number == number) {
      start->beside = beside;
      break;
    }
    beside = beside || (start == nullptr && !std::holds_alternative<WaitStep>(work));
  }
  append(std::move(wait));
}

bool Assembler::is_under_way(SlotId slot) const {
  return std::ranges::any_of(scope_.under_way, [&](const UnderWay& one) {
    return has(one.wait.reads, slot) || has(one.wait.writes, slot);
  });
}

std::int64_t Assembler::bytes_of(const Op& op) const {
  std::int64_t bytes = 0;
  for (ValueId v : program_.operands(op)) bytes += program_.type_of(v).bytes();
  for (std::size_t i = 0; i < op.result_count; ++i)
    bytes += program_.type_of(program_.result(op, i)).bytes();
  return bytes;
}

StepInfo Assembler::info_of(const Op& op, std::string kind) const {
  StepInfo info{.kind = std::move(kind),
                .name = std::string(op.def->short_name()),
                .ops = std::string(op.def->short_name()),
                .op_count = 1,
                .where = program_.where(op.loc),
                .bytes_apart = bytes_of(op)};
  add_user_line(program_, op, info.from);
  for (ValueId v : program_.operands(op)) info.bytes_read += program_.type_of(v).bytes();
  info.bytes_written = info.bytes_apart - info.bytes_read;
  return info;
}

StepList Assembler::assemble_entry() {
  const Function& f = compiled_.entry();
  RegionTask task{.region = f.body, .targets = {}, .depth = 0};
  const Op& end = program_.op(program_.region(f.body).ops.back());
  for (ValueId v : program_.operands(end))
    task.targets.push_back(
        {.slot =
             slots.add({.kind = SlotKind::fresh, .bytes = program_.type_of(v).bytes(), .value = v}),
         .any_place = true});
  return region(task, &outputs);
}

StepList Assembler::region(const RegionTask& task, const std::vector<SlotId>* function_results) {
  Scope outer = std::exchange(scope_, Scope{.region = task.region, .depth = task.depth});
  scope_.boundaries = Boundaries(compiled_, lifetimes_, task.region);
  set_targets(task);
  const auto& units = compiled_.regions.at(task.region);
  for (std::size_t u = 0; u < units.size(); ++u) {
    scope_.written.clear();
    unit(units[u], u);
  }
  const Op& end = program_.op(program_.region(task.region).ops.back());
  for (std::size_t i = 0; i < task.targets.size(); ++i) {
    const ValueId v = program_.operands(end)[i];
    const SlotId is = slot(v);
    const Target& target = task.targets[i];
    const bool there = target.any_place ? slots[is].kind != SlotKind::arena
                                        : is == target.slot || is == target.in_place;
    if (!there && target.slot != kNone) copy(is, target.slot, program_.type_of(v));
    if (function_results != nullptr) outputs.push_back(there ? is : target.slot);
  }
  wait_for_all();
  Scope done = std::exchange(scope_, std::move(outer));
  return std::move(done.list);
}

void Assembler::unit(const CompiledUnit& unit, std::size_t number) {
  if (!unit.kernels.empty()) return launch(unit, number);
  const Op& op = program_.op(unit.op);
  if (is_view(program_, op)) return;
  if (op.region_count > 0 && compiled_.regions.contains(program_.regions(op)[0]))
    wait_before_regions(op);
  if (op.def->control == Control::loop) return while_loop(op, number);
  if (op.def->control == Control::branch || op.def->control == Control::choice) return branches(op);
  const ProductViews* views = unit.views ? &*unit.views : nullptr;
  if (auto call = compiled_.device->library_call(program_, op, views))
    return library(unit, std::move(call), number);
  HEDDLE_CHECK(views == nullptr, "no library computes {} by strides", op.def->name);
  if (op.def->cls == OpClass::communicate) return collective(unit.op, number);
  reference(unit);
}

std::unordered_map<ValueId, std::size_t> Assembler::readers_of(const CompiledUnit& unit) const {
  std::unordered_map<ValueId, std::size_t> readers;
  for (const CompiledKernel& kernel : unit.kernels) {
    std::unordered_set<ValueId> roots;
    for (ValueId in : kernel.group.inputs) roots.insert(lifetimes_.root(in));
    for (const KernelBuffer& buffer : kernel.kernel.buffers)
      if (buffer.reach == Reach::input) roots.insert(lifetimes_.root(buffer.value));
    for (ValueId root : roots) ++readers[root];
  }
  return readers;
}

// The sum of a collective that is to be fused, or what it gathers: these lie elsewhere then.
bool Assembler::may_be_fused(ValueId v) const {
  const ValueId root = lifetimes_.root(v);
  return fused_values_.contains(root);
}

// Elements of a block, where the launch works on fused values and can be done in parts.
std::int64_t Assembler::fused_grain(const CompiledUnit& unit) const {
  if (unit.kernels.size() != 1 || !unit.kernels[0].code) return 0;
  const Kernel& kernel = unit.kernels[0].kernel;
  std::vector<std::uint32_t> buffers;
  for (std::uint32_t b = 0; b < kernel.buffers.size(); ++b)
    if (kernel.buffers[b].value != kNone && may_be_fused(kernel.buffers[b].value))
      buffers.push_back(b);
  return buffers.empty() ? 0 : flat_grain(kernel, buffers).value_or(0);
}

LaunchKernel Assembler::launch_kernel(const CompiledKernel& compiled,
                                      const std::unordered_map<ValueId, std::size_t>& readers,
                                      std::size_t number) {
  LaunchKernel launch{.kernel = compiled.kernel, .code = compiled.code};
  const auto& buffers = compiled.kernel.buffers;
  launch.slots.assign(buffers.size(), kNone);
  launch.shift.assign(buffers.size(), 0);
  for (std::size_t b = 0; b < buffers.size(); ++b)
    if (buffers[b].reach == Reach::input) launch.slots[b] = slot(buffers[b].value);
  // Another kernel of the launch may still read what this one would overwrite.
  const auto read_elsewhere = [&](ValueId v) { return readers.at(lifetimes_.root(v)) > 1; };
  for (std::uint32_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].reach != Reach::output) continue;
    std::vector<ValueId> over;
    for (std::uint32_t in = 0; in < buffers.size(); ++in)
      if (buffers[in].reach == Reach::input && !may_be_fused(buffers[in].value) &&
          !may_be_fused(buffers[b].value) && can_work_in_place(compiled.kernel, in, b) &&
          std::ranges::count(launch.slots, launch.slots[in]) == 1 &&
          !read_elsewhere(buffers[in].value))
        over.push_back(buffers[in].value);
    launch.slots[b] = place(buffers[b].value, number, over);
  }
  SlotId temporary = kNone;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].reach != Reach::phases) continue;
    if (temporary == kNone) temporary = new_arena(kNone, compiled.kernel.temporary_bytes);
    launch.slots[b] = temporary;
    launch.shift[b] = buffers[b].offset;
  }
  return launch;
}

void Assembler::launch(const CompiledUnit& unit, std::size_t number) {
  std::vector<LaunchKernel> kernels;
  Step step;
  StepInfo info{.kind = "kernel",
                .name = unit.kernels[0].kernel.name,
                .note = scope_.boundaries.note(unit),
                .kernels = unit.kernels.size()};
  std::vector<OpId> ops;
  const auto readers = readers_of(unit);
  for (std::size_t k = 0; k < unit.kernels.size(); ++k) {
    kernels.push_back(launch_kernel(unit.kernels[k], readers, number));
    const LaunchKernel& made = kernels.back();
    for (std::size_t b = 0; b < made.slots.size(); ++b) {
      if (made.slots[b] == kNone) continue;
      const KernelBuffer& buffer = made.kernel.buffers[b];
      const std::int64_t bytes = buffer.elements * byte_size(buffer.dtype);
      (buffer.reach == Reach::input ? step.reads : step.writes).push_back(made.slots[b]);
      if (buffer.reach == Reach::input) info.bytes_read += bytes;
      if (buffer.reach == Reach::output) info.bytes_written += bytes;
    }
    const StitchGroup& group = unit.kernels[k].group;
    ops.insert(ops.end(), group.ops.begin(), group.ops.end());
    info.expected_seconds += group.seconds;
    info.bytes_read += static_cast<std::int64_t>(group.bytes_again);
  }
  info.because = reasons_of(unit, *compiled_.device);
  info.ops = op_names(program_, ops);
  info.op_count = ops.size();
  if (!ops.empty()) info.where = program_.where(program_.op(ops[0]).loc);
  for (OpId id : ops) add_user_line(program_, program_.op(id), info.from);
  for (OpId id : ops) info.bytes_apart += bytes_of(program_.op(id));
  auto prepared = compiled_.device->prepare(std::move(kernels));
  if (!prepared && trouble) trouble = reason("{}: {}", info.where, prepared.reason());
  step.work = LaunchStep{prepared ? *std::move(prepared) : nullptr, fused_grain(unit)};
  emit(std::move(step), std::move(info));
}

void Assembler::library(const CompiledUnit& unit, std::unique_ptr<LibraryCall> call,
                        std::size_t number) {
  const Op& op = program_.op(unit.op);
  LibraryStep work;
  const std::vector<ValueId> operands = lifetimes_.reads(unit);
  for (std::size_t i = 0; i < op.operand_count; ++i) work.operands.push_back(slot(operands[i]));
  std::vector<ValueId> over;
  const int in_place = call->in_place_operand();
  if (in_place >= 0) {
    const auto i = static_cast<std::size_t>(in_place);
    if (std::ranges::count(work.operands, work.operands[i]) == 1) over.push_back(operands[i]);
  }
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId result = unit.views && i == 0 ? unit.views->result.value : program_.result(op, i);
    work.results.push_back(place(result, number, i == 0 ? over : std::vector<ValueId>{}));
  }
  Step step{.work = {}, .reads = work.operands, .writes = work.results};
  if (call->workspace_bytes() > 0) {
    work.workspace = new_arena(kNone, call->workspace_bytes());
    step.writes.push_back(work.workspace);
  }
  StepInfo info = info_of(op, "library");
  info.name = call->text();
  work.call = std::move(call);
  if (const FusedMark mark = fused_mark(program_, op); mark.number >= 0) set_rows(unit, mark, work);
  step.work = std::move(work);
  emit(std::move(step), std::move(info));
}

// A product that was marked, some rows at a time: of what is gathered, or of its result.
void Assembler::set_rows(const CompiledUnit& unit, const FusedMark& mark, LibraryStep& work) const {
  const Op& op = program_.op(unit.op);
  int gathered = -1;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const OpId maker = program_.value(program_.operands(op)[i]).op;
    if (maker != kNone && program_.op(maker).def->collective == CollectiveKind::all_gather &&
        fused_mark(program_, program_.op(maker)).number == mark.number)
      gathered = static_cast<int>(i);
  }
  work.fused = mark.number;
  auto rows = RowProducts::make(*compiled_.device, program_, op,
                                unit.views ? &*unit.views : nullptr, gathered);
  if (rows)
    work.rows = *std::move(rows);
  else
    work.why_whole = rows.reason();
}

void Assembler::reference(const CompiledUnit& unit) {
  const Op& op = program_.op(unit.op);
  ReferenceStep work;
  std::vector<ValueId> reads;
  std::unordered_set<ValueId> seen;
  for (ValueId v : lifetimes_.reads(unit))
    if (seen.insert(v).second) reads.push_back(v);
  for (ValueId v : reads) work.operands.push_back(slot(v));
  work.program = program_of_op(program_, op, reads);
  for (std::size_t i = 0; i < op.result_count; ++i)
    work.results.push_back(place(program_.result(op, i), 0, {}));
  Step step{.work = {}, .reads = work.operands, .writes = work.results};
  step.work = std::move(work);
  StepInfo info = info_of(op, "reference");
  info.note = unit.note;
  emit(std::move(step), std::move(info));
}

void Assembler::collective(OpId id, std::size_t number) {
  const Op& op = program_.op(id);
  auto what = collective_op(program_, op);
  HEDDLE_CHECK(what.ok(), "a collective that was to be compiled: {}",
               what.ok() ? "" : what.reason());
  StartStep work{.op = nullptr, .number = meetings.size()};
  meetings.push_back(id);
  for (ValueId v : program_.operands(op)) work.operands.push_back(slot(v));
  for (std::size_t i = 0; i < op.result_count; ++i) {
    std::vector<ValueId> over;
    if (what->works_in_place() && std::ranges::count(work.operands, work.operands[i]) == 1)
      over.push_back(program_.operands(op)[i]);
    // What is fused writes its result while others of its operands are still read.
    const bool fused = what->fused.number >= 0;
    work.results.push_back(place(program_.result(op, i), fused ? 0 : number, over));
  }
  Step step{.work = {}, .reads = work.operands, .writes = work.results};
  what->label =
      fmt::format("{} at {} (step {})", op.def->short_name(), program_.where(op.loc), infos.size());
  work.op = std::make_shared<const CollectiveOp>(*std::move(what));
  Step wait{.work = WaitStep{work.op, work.number, work.results},
            .reads = step.reads,
            .writes = step.writes};
  step.work = std::move(work);
  wait.info = emit(std::move(step), info_of(op, "collective")).info;
  if (!std::get<WaitStep>(wait.work).op->travels()) return;
  const auto start = static_cast<std::uint32_t>(scope_.list.steps.size() - 1);
  scope_.under_way.push_back({start, std::move(wait)});
  if (!overlaps_) wait_for_all();
}

void Assembler::copy(SlotId from, SlotId to, const Type& type) {
  Step step{.work = CopyStep{from, to, type.bytes()}, .reads = {from}, .writes = {to}};
  emit(std::move(step), {.kind = "copy",
                         .name = "copy of " + type.str(),
                         .bytes_read = type.bytes(),
                         .bytes_written = type.bytes()});
}

}  // namespace heddle::runtime
