// Splits of a manual computation. Its body has what lies at one place along the manual axes; the
// other axes are free to deal that out like any other value.
#pragma once

#include "heddle/index_rule.h"
#include "heddle/split.h"
#include "ir/manual_plan.h"

namespace heddle {

// Of a whole value, along the manual axes alone.
Split manual_split(const ManualPlan& plan, const Sharding& sharding, const Type& type,
                   const Mesh& mesh);
// Of what the body has of it, along the free ones.
Split free_split(const ManualPlan& plan, const Sharding& sharding, const Type& local,
                 const Mesh& mesh);
// Of the whole value where its parts lie as `inside` says; none where those are no equal blocks.
std::optional<Split> joined_split(const Split& manual, const Split& inside);

SplitAxes manual_axes(const ManualPlan& plan, const Mesh& mesh);

// How a whole value (the operand) and what the body has of it (the result) are split together.
IndexRule body_rule(const Type& whole, const Type& local);

}  // namespace heddle
