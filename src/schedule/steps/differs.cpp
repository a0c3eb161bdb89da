#include "schedule/steps/differs.h"

#include <algorithm>
#include <cstring>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/replica_groups.h"
#include "schedule/steps/meeting.h"

namespace heddle {

namespace {

// Beyond it numbers of devices are not followed one by one.
constexpr std::int64_t kMostPositions = std::int64_t{1} << 16;

// Axes that are covered from end to end.
Differs::Axes whole_axes(const SplitAxes& axes, const Mesh& mesh) {
  Differs::Axes bits = 0;
  for (const SplitDigit& d : axes)
    if (d.extent == mesh.axes()[static_cast<std::size_t>(d.axis)].size)
      bits |= Differs::Axes{1} << d.axis;
  return bits;
}

Differs::Axes split_bits(const Split& split) {
  Differs::Axes bits = axis_bits(split.pending);
  for (const DimSplit& dim : split.dims) bits |= axis_bits(dim.axes());
  return bits;
}

bool talks(const Program& program, RegionId region) {
  return std::ranges::any_of(program.region(region).ops, [&](OpId id) {
    const Op& op = program.op(id);
    return op.def->cls == OpClass::communicate || op.def->cls == OpClass::opaque ||
           std::ranges::any_of(program.regions(op), [&](RegionId r) { return talks(program, r); });
  });
}

}  // namespace

Differs::Axes axis_bits(const SplitAxes& axes) {
  Differs::Axes bits = 0;
  for (const SplitDigit& d : axes)
    if (!d.local()) bits |= Differs::Axes{1} << d.axis;
  return bits;
}

Differs::Differs(const Program& program, const Function& function, const SpmdFunction& placed)
    : program_(program),
      mesh_(program.meshes[placed.mesh]),
      mesh_number_(placed.mesh),
      all_((Axes{1} << mesh_.mesh.axes().size()) - 1),
      along_(program.value_count(), all_) {
  const std::vector<ValueId>& args = program.region(function.body).args;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool here = placed.argument_meshes[i] == placed.mesh;
    const Axes bits = split_bits(placed.arguments[i]);
    along_[args[i]] = here || bits == 0 ? bits : all_;
  }
  follow(function.body);
}

bool Differs::is_same(ValueId v, const SplitAxes& axes) const {
  return (along_[v] & axis_bits(axes)) == 0;
}

const std::vector<std::int64_t>* Differs::number(ValueId v) const {
  const auto found = numbers_.find(v);
  return found == numbers_.end() ? nullptr : &found->second;
}

std::string Differs::text(ValueId v, const SplitAxes& axes) const {
  std::string names;
  const Axes bits = along_[v] & axis_bits(axes);
  for (std::size_t a = 0; a < mesh_.mesh.axes().size(); ++a)
    if (bits >> a & 1) names += (names.empty() ? "" : ", ") + mesh_.mesh.axes()[a].name;
  return names;
}

void Differs::follow(RegionId region) {
  for (OpId id : program_.region(region).ops) follow_op(program_.op(id));
}

Differs::Axes Differs::of_operands(const Op& op) const {
  Axes axes = 0;
  for (ValueId v : program_.operands(op)) axes |= along_[v];
  if (op.region_count > 0)
    for (ValueId v : captured_values(program_, op)) axes |= along_[v];
  return axes;
}

void Differs::set_results(const Op& op, Axes axes) {
  for (std::size_t i = 0; i < op.result_count; ++i) along_[program_.result(op, i)] = axes;
}

void Differs::follow_op(const Op& op) {
  if (op.def->cls == OpClass::communicate) return follow_collective(op);
  if (op.def->control == Control::loop) return follow_loop(op);
  if (op.def->control == Control::branch || op.def->control == Control::choice)
    return follow_branches(op);
  if (find_number(op)) return;
  const bool is_barrier = op.def->view == ViewKind::always && op.def->cls == OpClass::control;
  if (is_barrier) {
    for (std::size_t i = 0; i < op.result_count; ++i)
      along_[program_.result(op, i)] = along_[program_.operands(op)[i]];
    return;
  }
  const bool unknown =
      op.def->cls == OpClass::opaque ||
      std::ranges::any_of(program_.regions(op), [&](RegionId r) { return talks(program_, r); });
  set_results(op, unknown ? all_ : of_operands(op));
}

void Differs::follow_collective(const Op& op) {
  if (op.def->collective == CollectiveKind::partition_id) {
    set_results(op, all_);
    const std::int64_t devices = mesh_.mesh.devices();
    if (devices > kMostPositions) return;
    std::vector<std::int64_t>& ids = numbers_[program_.result(op, 0)];
    ids.clear();
    for (std::int64_t p = 0; p < devices; ++p) ids.push_back(device_at(mesh_, p));
    return;
  }
  const auto meeting = meeting_of(program_, op);
  if (!meeting || meeting->mesh != mesh_number_) return set_results(op, all_);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Axes before = along_[program_.operands(op)[i]];
    Axes& now = along_[program_.result(op, i)];
    switch (op.def->collective) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::all_gather:
      case CollectiveKind::broadcast:
        now = before & ~whole_axes(meeting->axes, mesh_.mesh);
        break;
      default:
        now = before | axis_bits(meeting->axes);
    }
  }
}

std::vector<ValueId> Differs::yielded(RegionId region) const {
  const auto values = program_.operands(program_.op(program_.region(region).ops.back()));
  return {values.begin(), values.end()};
}

// What a turn leaves is what the next one begins with.
void Differs::follow_loop(const Op& op) {
  const auto operands = program_.operands(op);
  const RegionId asks = program_.regions(op)[0], body = program_.regions(op)[1];
  std::vector<Axes> carried;
  for (ValueId v : operands) carried.push_back(along_[v]);
  for (bool changes = true; changes;) {
    changes = false;
    for (RegionId r : {asks, body})
      for (std::size_t i = 0; i < carried.size(); ++i)
        along_[program_.region(r).args[i]] = carried[i];
    follow(asks);
    follow(body);
    const Axes turns = along_[yielded(asks)[0]];
    const std::vector<ValueId> left = yielded(body);
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const Axes now = carried[i] | along_[left[i]] | turns;
      changes = changes || now != carried[i];
      carried[i] = now;
    }
  }
  for (std::size_t i = 0; i < carried.size(); ++i) along_[program_.result(op, i)] = carried[i];
}

void Differs::follow_branches(const Op& op) {
  const Axes choice = along_[program_.operands(op)[0]];
  set_results(op, choice);
  for (RegionId r : program_.regions(op)) {
    follow(r);
    const std::vector<ValueId> given = yielded(r);
    for (std::size_t i = 0; i < op.result_count; ++i)
      along_[program_.result(op, i)] |= along_[given[i]];
  }
}

// ---- numbers

namespace {

// Far from where any of the types that are followed would wrap.
constexpr std::int64_t kMostNumber = std::int64_t{1} << 31;

std::optional<std::int64_t> applied(ScalarOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case ScalarOp::add:
      return a + b;
    case ScalarOp::subtract:
      return a - b;
    case ScalarOp::multiply:
      return a * b;
    case ScalarOp::divide:
      return b == 0 ? std::optional<std::int64_t>() : a / b;
    case ScalarOp::remainder:
      return b == 0 ? std::optional<std::int64_t>() : a % b;
    default:
      return std::nullopt;
  }
}

template <typename T>
T element_of(const Array& array, std::int64_t i) {
  T value;
  std::memcpy(&value, array.element(i).data(), sizeof value);
  return value;
}

std::optional<std::int64_t> whole_number(const Array& array) {
  if (array.type().dtype == DType::i64) return element_of<std::int64_t>(array, 0);
  if (array.type().dtype == DType::i32) return element_of<std::int32_t>(array, 0);
  if (array.type().dtype == DType::ui32) return element_of<std::uint32_t>(array, 0);
  return std::nullopt;
}

bool is_count(const Type& type) {
  const DType d = type.is_tensor() ? type.dtype : DType::f32;
  return type.is_tensor() && type.elements() == 1 &&
         (d == DType::i64 || d == DType::i32 || d == DType::ui32);
}

}  // namespace

Differs::Axes Differs::axes_of(const std::vector<std::int64_t>& by_position) const {
  Axes bits = 0;
  std::int64_t inner = mesh_.mesh.devices();
  const auto& axes = mesh_.mesh.axes();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    inner /= axes[a].size;
    for (std::size_t p = 0; p < by_position.size(); ++p) {
      const auto at = static_cast<std::int64_t>(p) / inner % axes[a].size;
      if (by_position[p] != by_position[p - static_cast<std::size_t>(at * inner)])
        bits |= Axes{1} << a;
    }
  }
  return bits;
}

// Positions of devices, and what is counted of them, on one element each.
bool Differs::find_number(const Op& op) {
  if (op.result_count != 1 || !is_count(program_.type_of(op.results))) return false;
  const std::int64_t devices = mesh_.mesh.devices();
  if (devices > kMostPositions) return false;
  const auto operands = program_.operands(op);
  std::vector<std::int64_t> found;
  if (op.def->rearranges == Rearrange::constant) {
    const auto value = whole_number(*program_.attr(op, "value")->get<Array>());
    if (!value) return false;
    found.assign(static_cast<std::size_t>(devices), *value);
  } else if (operands.size() == 1 && number(operands[0]) != nullptr &&
             (op.def->scalar == ScalarOp::convert || op.def->rearranges == Rearrange::reshape)) {
    found = *number(operands[0]);
  } else if (operands.size() == 2 && number(operands[0]) != nullptr &&
             number(operands[1]) != nullptr) {
    for (std::size_t p = 0; p < static_cast<std::size_t>(devices); ++p) {
      const auto value =
          applied(op.def->scalar, (*number(operands[0]))[p], (*number(operands[1]))[p]);
      if (!value) return false;
      found.push_back(*value);
    }
  } else if (op.def->emission == Emission::dynamic_slice && operands.size() == 2 &&
             number(operands[1]) != nullptr && program_.value(operands[0]).op != kNone) {
    const Op& table = program_.op(program_.value(operands[0]).op);
    const Attr* value = program_.attr(table, "value");
    const Array* array = value == nullptr ? nullptr : value->get<Array>();
    if (table.def->rearranges != Rearrange::constant || array == nullptr ||
        array->type().dtype != DType::i64)
      return false;
    for (const std::int64_t at : *number(operands[1]))
      found.push_back(
          element_of<std::int64_t>(*array, std::clamp<std::int64_t>(at, 0, array->elements() - 1)));
  } else {
    return false;
  }
  const bool is_natural = program_.type_of(op.results).dtype == DType::ui32;
  if (std::ranges::any_of(found, [&](std::int64_t n) {
        return n >= kMostNumber || n < (is_natural ? 0 : -kMostNumber);
      }))
    return false;
  along_[op.results] = axes_of(found);
  numbers_[op.results] = std::move(found);
  return true;
}

}  // namespace heddle
