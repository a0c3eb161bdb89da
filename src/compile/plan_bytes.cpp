#include "compile/plan_bytes.h"

#include <algorithm>

#include "ir/program_bytes.h"

namespace heddle {

using namespace runtime;

namespace {

// ---- to bytes

void write_numbers(const std::vector<std::uint32_t>& numbers, ByteWriter& to) {
  to.number(numbers.size());
  for (std::uint32_t number : numbers) to.number(number);
}

void write_group(const StitchGroup& group, ByteWriter& to) {
  write_numbers(group.ops, to);
  write_numbers(group.inputs, to);
  write_numbers(group.outputs, to);
  // A new field does not compile until it is kept too.
  const auto& [block_elements, keep_heavy, across, streams, sweep_rows] = group.choice;
  to.integer(block_elements);
  to.number((keep_heavy ? 1 : 0) + (across ? 2 : 0) + (streams ? 4 : 0));
  to.integer(sweep_rows);
  to.real(group.seconds);
  to.real(group.bytes_again);
}

void write_unit(const CompiledUnit& unit, ByteWriter& to) {
  to.number(unit.op);
  to.text(unit.note);
  to.number(unit.kernels.size());
  for (const CompiledKernel& kernel : unit.kernels) {
    write_group(kernel.group, to);
    to.number(kernel.alike);
    to.number(kernel.kernel.buffers.size());
    for (const KernelBuffer& buffer : kernel.kernel.buffers) to.number(buffer.value);
  }
  to.number(unit.views ? 1 : 0);
  if (!unit.views) return;
  for (const StridedView* view : {&unit.views->lhs, &unit.views->rhs, &unit.views->result}) {
    to.number(view->value);
    write_strides(*view, to);
  }
}

// ---- and back

class Units {
 public:
  Units(std::string_view bytes, const Program& program) : from_(bytes), program_(program) {}

  Expected<std::unordered_map<RegionId, std::vector<CompiledUnit>>> all() {
    std::unordered_map<RegionId, std::vector<CompiledUnit>> regions;
    for (std::size_t left = from_.count(); left > 0; --left) {
      std::vector<CompiledUnit>& units = regions[number(program_.region_count())];
      units.resize(from_.count());
      for (CompiledUnit& unit : units) unit = this->unit();
    }
    if (!fits_ || !from_.is_whole()) return reason("it is not of this program");
    return regions;
  }

 private:
  // Below so many.
  std::uint32_t number(std::size_t count) {
    const std::uint64_t value = from_.number();
    if (value < count) return static_cast<std::uint32_t>(value);
    fits_ = false;
    return 0;
  }
  std::uint32_t number_or_none(std::size_t count) {
    const std::uint64_t value = from_.number();
    if (value == kNone) return kNone;
    fits_ = fits_ && value < count;
    return value < count ? static_cast<std::uint32_t>(value) : 0;
  }
  std::vector<std::uint32_t> numbers(std::size_t count) {
    std::vector<std::uint32_t> made(from_.count());
    for (std::uint32_t& one : made) one = number(count);
    return made;
  }

  StitchGroup group() {
    StitchGroup group;
    group.ops = numbers(program_.op_count());
    group.inputs = numbers(program_.value_count());
    group.outputs = numbers(program_.value_count());
    fits_ = fits_ && !group.ops.empty();
    group.choice.block_elements = from_.integer();
    const std::uint32_t switches = number(8);
    group.choice.keep_heavy = (switches & 1) != 0;
    group.choice.across = (switches & 2) != 0;
    group.choice.streams = (switches & 4) != 0;
    group.choice.sweep_rows = from_.integer();
    group.seconds = from_.real();
    group.bytes_again = from_.real();
    return group;
  }

  StridedView view() {
    StridedView view;
    view.value = number(program_.value_count());
    view.offset = from_.integer();
    view.dims.resize(from_.count());
    for (auto& dim : view.dims) {
      dim.resize(from_.count());
      for (Stride& stride : dim) {
        stride.size = from_.integer();
        stride.step = from_.integer();
      }
    }
    return view;
  }

  CompiledUnit unit() {
    CompiledUnit unit;
    unit.op = number_or_none(program_.op_count());
    unit.note = from_.text();
    unit.kernels.resize(from_.count());
    for (CompiledKernel& kernel : unit.kernels) {
      kernel.group = group();
      kernel.alike = number_or_none(kNone);
      kernel.values.resize(from_.count());
      for (ValueId& value : kernel.values) value = number_or_none(program_.value_count());
    }
    fits_ = fits_ && (unit.op == kNone) != unit.kernels.empty();
    if (number(2) == 0) return unit;
    unit.views.emplace();
    for (StridedView* view : {&unit.views->lhs, &unit.views->rhs, &unit.views->result})
      *view = this->view();
    return unit;
  }

  ByteReader from_;
  const Program& program_;
  bool fits_ = true;
};

}  // namespace

void write_units(const CompiledProgram& compiled, ByteWriter& to) {
  std::vector<RegionId> ids;
  for (const auto& [region, units] : compiled.regions) ids.push_back(region);
  std::ranges::sort(ids);
  to.number(ids.size());
  for (RegionId region : ids) {
    to.number(region);
    to.number(compiled.regions.at(region).size());
    for (const CompiledUnit& unit : compiled.regions.at(region)) write_unit(unit, to);
  }
}

Verdict read_units(std::string_view bytes, CompiledProgram& compiled) {
  HEDDLE_TRY(compiled.regions, Units(bytes, compiled.program).all());
  return yes();
}

}  // namespace heddle
