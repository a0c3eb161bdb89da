// What is told of the collectives that a device's program has.
#include "spmd/report.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/replica_groups.h"
#include "parallel/messages.h"
#include "spmd/core.h"

namespace heddle {

void Core::tell(MoveKind kind, const SplitAxes& axes, const Type& sent, std::int64_t bytes,
                double seconds) {
  result.communications.push_back(
      {kind, axes_text(axes, mesh.mesh), bytes, seconds, current, sent.str(), depth});
}

namespace {

// What a collective op is, and what one device receives by it.
std::optional<std::pair<MoveKind, double>> received(const Program& program, const Op& op) {
  if (op.operand_count == 0) return std::nullopt;
  const auto in = static_cast<double>(program.type_of(program.operands(op)[0]).bytes());
  const auto out = static_cast<double>(program.type_of(program.result(op, 0)).bytes());
  switch (op.def->collective) {
    case CollectiveKind::all_gather:
      return std::pair(MoveKind::all_gather, out - in);
    case CollectiveKind::reduce_scatter:
      return std::pair(MoveKind::reduce_scatter, in - out);
    case CollectiveKind::all_reduce:
      return std::pair(MoveKind::all_reduce, 2 * in);
    case CollectiveKind::all_to_all:
      return std::pair(MoveKind::all_to_all, in);
    case CollectiveKind::permute:
      return std::pair(MoveKind::permute, in);
    default:
      return std::nullopt;
  }
}

// The axes along which its members lie: "dp, tp:(1)2".
std::string group_axes(const Program& program, const Op& op) {
  const Attr* groups = program.attr(op, "replica_groups");
  const auto* along = groups == nullptr ? nullptr : groups->get<Attr::Struct>();
  const Attr* axes = along == nullptr ? nullptr : find_attr(along->fields, "axes");
  std::string text;
  if (axes == nullptr) return text;
  for (const Attr& axis : *axes->get<Attr::List>()) {
    text += text.empty() ? "" : ", ";
    for (const NamedAttr& field : axis.get<Attr::Struct>()->fields)
      text += (field.name == "name" ? "" : ":") + *field.value.get<std::string>();
  }
  return text;
}

// The axes along which devices that a collective brings together differ, by its first group.
SplitAxes axes_of_groups(const Program& program, const Op& op, const MeshDecl& mesh) {
  const bool pairs = op.def->collective == CollectiveKind::permute;
  const auto groups = pairs ? source_target_pairs(program, op) : replica_groups(program, op);
  SplitAxes axes;
  if (!groups || groups->empty()) return axes;
  const std::int64_t devices = mesh.mesh.devices();
  const std::vector<std::int64_t> position = positions_of_devices(mesh);
  for (std::size_t a = 0; a < mesh.mesh.axes().size(); ++a) {
    const SplitDigit digit{mesh.mesh.axes()[a].size, static_cast<int>(a), 1};
    std::optional<std::int64_t> first;
    bool differ = false;
    for (std::int64_t id : groups->front()) {
      if (id < 0 || id >= devices) return {};
      const std::int64_t at = coordinate(digit, mesh.mesh, position[static_cast<std::size_t>(id)]);
      differ = differ || (first && *first != at);
      first = at;
    }
    if (differ) axes.push_back(digit);
  }
  return axes;
}

}  // namespace

// One entry per collective that stands for the step.
void Core::record(const Route::Step& step, ValueId v, int from, std::size_t first) {
  std::vector<std::pair<MoveKind, double>> made;
  std::vector<std::string> over;
  const std::vector<OpId>& ops = out.region(w.at).ops;
  for (std::size_t i = first; i < ops.size(); ++i)
    if (const auto one = received(out, out.op(ops[i]))) {
      made.push_back(*one);
      over.push_back(group_axes(out, out.op(ops[i])));
      if (over.back().empty()) over.back() = step.over;
    }
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto& [kind, bytes] = made[i];
    // The planner knows best what a move of its own costs.
    const bool same = made.size() == 1 && step.bytes > 0;
    result.communications.push_back(
        {kind, over[i], same ? step.bytes : static_cast<std::int64_t>(bytes),
         step.seconds / static_cast<double>(made.size()), current,
         fmt::format("{} {} -> {}", type_of(v).str(), text_of(split(from), mesh.mesh),
                     text_of(split(step.to), mesh.mesh)),
         depth});
  }
}

// A collective that the program's author wrote, as it has just become one of a device.
void Core::tell_of(const Op& op) {
  const std::vector<OpId>& ops = out.region(w.at).ops;
  const auto made =
      std::find_if(ops.rbegin(), ops.rend(), [&](OpId id) { return out.op(id).def == op.def; });
  if (made == ops.rend()) return;
  const Op& local = out.op(*made);
  const auto what = received(out, local);
  if (!what) return;
  const auto bytes = static_cast<std::int64_t>(what->second);
  const SplitAxes axes = axes_of_groups(out, local, mesh);
  tell(what->first, axes, out.type_of(out.operands(local)[0]), bytes,
       link_seconds(mesh.mesh, axes, bytes));
}

namespace {

void find_communications(const Program& local, RegionId region, const MeshDecl& mesh, int depth,
                         std::vector<Communication>& all) {
  for (OpId id : local.region(region).ops) {
    const Op& op = local.op(id);
    const int inside = depth + (op.def->control == Control::loop ? 1 : 0);
    if (op.def->cls == OpClass::control)
      for (RegionId inner : local.regions(op)) find_communications(local, inner, mesh, inside, all);
    if (op.def->cls != OpClass::communicate || op.result_count == 0 ||
        !local.type_of(op.results).is_tensor())
      continue;
    const auto what = received(local, op);
    if (!what) continue;
    const auto bytes = static_cast<std::int64_t>(what->second);
    const SplitAxes axes = axes_of_groups(local, op, mesh);
    all.push_back({what->first, axes_text(axes, mesh.mesh), bytes,
                   link_seconds(mesh.mesh, axes, bytes), kNone,
                   local.type_of(local.operands(op)[0]).str(), depth});
  }
}

}  // namespace

std::vector<Communication> communications_in(const Program& local, const Function& function,
                                             const MeshDecl& mesh) {
  std::vector<Communication> all;
  find_communications(local, function.body, mesh, 0, all);
  return all;
}

}  // namespace heddle
