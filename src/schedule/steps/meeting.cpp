#include "schedule/steps/meeting.h"

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/replica_groups.h"

namespace heddle {

namespace {

bool meets_along_groups(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::reduce:
    case CollectiveKind::broadcast:
      return true;
    default:
      return false;
  }
}

// As one process per device reads the groups; others have groups of replicas.
bool is_between_partitions(const Program& program, const Op& op) {
  const bool exchanges = op.def->collective == CollectiveKind::all_to_all ||
                         op.def->collective == CollectiveKind::broadcast;
  return exchanges ? exchange_grouping(program, op) == GroupBy::partition
                   : reduction_grouping(program, op) == GroupBy::process;
}

// Whether the listed groups are those along these axes, their members in this order.
bool are_along(const MeshDecl& mesh, const SplitAxes& axes, const std::vector<Ids>& groups) {
  const std::vector<std::int64_t> position = positions_of_devices(mesh);
  for (const Ids& group : groups) {
    if (std::ssize(group) != total(axes)) return false;
    std::optional<std::int64_t> first;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i] < 0 || group[i] >= std::ssize(position)) return false;
      const auto at = member_of(mesh.mesh, axes, position[static_cast<std::size_t>(group[i])]);
      if (at.second != static_cast<std::int64_t>(i) || first.value_or(at.first) != at.first)
        return false;
      first = at.first;
    }
  }
  return true;
}

// Of a list of groups, as a program says it that was written by hand.
Expected<Meeting> meeting_of_list(const Program& program, const Op& op) {
  constexpr std::size_t kMostAxes = 10;
  HEDDLE_TRY(const std::vector<Ids> groups, replica_groups(program, op));
  for (std::uint32_t m = 0; m < program.meshes.size(); ++m) {
    const Mesh& mesh = program.meshes[m].mesh;
    const std::size_t count = mesh.axes().size();
    if (count > kMostAxes) continue;
    for (std::uint32_t chosen = 0; chosen < std::uint32_t{1} << count; ++chosen) {
      Meeting meeting{m, {}, 1};
      for (std::size_t a = 0; a < count; ++a)
        if (chosen >> a & 1) meeting.axes.push_back({mesh.axes()[a].size, static_cast<int>(a), 1});
      meeting.members = total(meeting.axes);
      const bool all = groups.empty() && meeting.members == mesh.devices();
      if (all || (!groups.empty() && are_along(program.meshes[m], meeting.axes, groups)))
        return meeting;
    }
  }
  return reason("its groups are lists of devices, and lie along no axes of a mesh");
}

}  // namespace

std::pair<std::int64_t, std::int64_t> member_of(const Mesh& mesh, const SplitAxes& axes,
                                                std::int64_t position) {
  std::int64_t first = position, place = 0;
  for (const SplitDigit& d : axes) {
    std::int64_t inner = d.stride;
    for (std::size_t a = static_cast<std::size_t>(d.axis) + 1; a < mesh.axes().size(); ++a)
      inner *= mesh.axes()[a].size;
    const std::int64_t c = coordinate(d, mesh, position);
    first -= c * inner;
    place = place * d.extent + c;
  }
  return {first, place};
}

Expected<Meeting> meeting_of(const Program& program, const Op& op) {
  if (!meets_along_groups(op.def->collective))
    return reason("{} is no collective of groups of devices", op.def->short_name());
  if (!is_between_partitions(program, op))
    return reason("its groups are of replicas, not of the devices of a mesh");
  const auto along = axes_of_groups(program, op);
  if (!along) return meeting_of_list(program, op);
  Meeting meeting;
  for (std::uint32_t m = 0; m < program.meshes.size(); ++m)
    if (program.meshes[m].name == along->mesh) meeting.mesh = m;
  if (meeting.mesh == kNone) return reason("its mesh is none of the program's");
  const auto& axes = program.meshes[meeting.mesh].mesh.axes();
  for (const ShardingAxis& wanted : along->axes)
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (axes[a].name != wanted.name) continue;
      HEDDLE_TRY(const AxisPart part, axis_part(axes[a].size, wanted));
      meeting.axes.push_back({part.size, static_cast<int>(a), part.stride});
    }
  meeting.members = total(meeting.axes);
  return meeting;
}

std::string over_text(const Program& program, const Meeting& meeting) {
  return "over " + axes_text(meeting.axes, program.meshes[meeting.mesh].mesh);
}

namespace {

std::optional<std::size_t> dim_attr(const Program& program, const Op& op, CollectiveKind kind,
                                    std::string_view name) {
  if (op.def->collective != kind) return std::nullopt;
  return static_cast<std::size_t>(integer_or(program.attr(op, name), 0));
}

}  // namespace

std::optional<std::size_t> gathered_dim(const Program& program, const Op& op) {
  return dim_attr(program, op, CollectiveKind::all_gather, "all_gather_dim");
}

std::optional<std::size_t> scattered_dim(const Program& program, const Op& op) {
  return dim_attr(program, op, CollectiveKind::reduce_scatter, "scatter_dimension");
}

}  // namespace heddle
