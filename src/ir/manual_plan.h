// How sdy.manual_computation deals its operands out to the devices of a mesh.
#pragma once

#include "ir/eval/index_space.h"
#include "ir/replica_groups.h"

namespace heddle {

struct ManualPlan {
  const MeshDecl* mesh = nullptr;  // none where there are no manual axes
  std::vector<std::string> axes;
  std::vector<Sharding> in, out;  // of operands and results
  std::int64_t devices = 1;
};
Expected<ManualPlan> manual_plan(const Program& program, const Op& op);

// The part of a value that one device has: split along the manual axes only.
Expected<Type> local_type(const ManualPlan& plan, const Sharding& sharding, const Type& global);
// Where it lies in the whole, for the device at a position of the mesh.
ElementPlaces local_place(const ManualPlan& plan, const Sharding& sharding, const Type& global,
                          std::int64_t position);
// Whether the device holds nothing but zeros, since another one holds the value of an unreduced
// axis.
bool holds_zeros(const ManualPlan& plan, const Sharding& sharding, std::int64_t position);
bool has_manual_unreduced(const ManualPlan& plan, const Sharding& sharding);

}  // namespace heddle
