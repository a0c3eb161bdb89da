#include "parallel/meets.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/replica_groups.h"

namespace heddle {

bool stays_inside(const Program& program, const Op& op, const MeshDecl& mesh,
                  const FactorAxes& axes) {
  const std::int64_t devices = mesh.mesh.devices();
  const std::vector<std::int64_t> position = positions_of_devices(mesh);
  auto alike = [&](std::int64_t a, std::int64_t b) {
    for (const SplitAxes& list : axes)
      for (const SplitDigit& d : list)
        if (!d.local() && coordinate(d, mesh.mesh, position[static_cast<std::size_t>(a)]) !=
                              coordinate(d, mesh.mesh, position[static_cast<std::size_t>(b)]))
          return false;
    return true;
  };
  const CollectiveKind kind = op.def->collective;
  const bool pairs = kind == CollectiveKind::permute;
  const bool reduces = kind == CollectiveKind::all_gather || kind == CollectiveKind::all_reduce ||
                       kind == CollectiveKind::reduce_scatter;
  const GroupBy by = reduces ? reduction_grouping(program, op) : exchange_grouping(program, op);
  if (by == GroupBy::replica) return true;  // there is one replica: nobody meets
  if (by == GroupBy::replica_and_partition) return false;
  const auto groups = pairs ? source_target_pairs(program, op) : replica_groups(program, op);
  if (!groups || (groups->empty() && !pairs)) return false;
  return std::ranges::all_of(*groups, [&](const Ids& members) {
    return std::ranges::all_of(members, [&](std::int64_t one) {
      return one >= 0 && one < devices && alike(members[0], one);
    });
  });
}

}  // namespace heddle
