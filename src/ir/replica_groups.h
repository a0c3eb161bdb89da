// Which processes an op between devices brings together.
#pragma once

#include "ir/eval/eval.h"

namespace heddle {

using Ids = std::vector<std::int64_t>;

// How StableHLO reads the ids of replica_groups.
enum class GroupBy : std::uint8_t {
  replica,                // ids are replicas; each partition by itself
  partition,              // ids are partitions; each replica by itself
  replica_and_partition,  // ids are replicas, with all of their partitions
  process,                // ids are replica * partitions + partition
};
// By channel and use_global_device_ids, as all_gather, all_reduce and reduce_scatter have it.
GroupBy reduction_grouping(const Program& program, const Op& op);
// By channel alone, as the others have it.
GroupBy exchange_grouping(const Program& program, const Op& op);

std::int64_t channel_of(const Program& program, const Op& op);

// replica_groups without padding; lists of ids, or groups along axes of a mesh. No id comes twice.
Expected<std::vector<Ids>> replica_groups(const Program& program, const Op& op);

// The axes of a mesh that groups lie along, where they are not lists of ids; else a reason.
struct GroupAxes {
  std::string mesh;  // its name
  std::vector<ShardingAxis> axes;
};
Expected<GroupAxes> axes_of_groups(const Program& program, const Op& op);

// source_target_pairs: who sends to whom. Nobody sends or receives twice; none given, none here.
Expected<std::vector<Ids>> source_target_pairs(const Program& program, const Op& op);
// Whether the two above give something; quick where many ops have the same.
Verdict check_groups(const Program& program, const Op& op);
Verdict check_pairs(const Program& program, const Op& op);

// The group that a process is in, as ids of processes in the group's order; empty where it is in
// none. A reason where an id is out of range.
Expected<Ids> group_of(const std::vector<Ids>& groups, GroupBy by, std::int64_t replicas,
                       std::int64_t partitions, const Process& process);

// ---- meshes

// How many devices a mesh has; a reason for sizes that make no sense.
Expected<std::int64_t> mesh_size(const MeshDecl& mesh);
// The device at a position of the mesh, row-major over its axes.
std::int64_t device_at(const MeshDecl& mesh, std::int64_t position);
// The other way round: the position of every device.
std::vector<std::int64_t> positions_of_devices(const MeshDecl& mesh);
// How far a step along the axis, or the part of it, goes in positions, and how many there are.
struct AxisSpan {
  std::int64_t size = 1, stride = 1;
  std::int64_t coordinate(std::int64_t position) const { return position / stride % size; }
};
Expected<AxisSpan> axis_span(const MeshDecl& mesh, const ShardingAxis& axis);

}  // namespace heddle
