// The best of all meshes of a cluster.
#pragma once

#include <functional>
#include <memory>

#include "heddle/decide.h"
#include "heddle/target.h"

namespace heddle {

// What a search has found for one of the functions; null where none was searched.
const FoundPlan* found_in(const Parallel& decided);

// `decide` with each mesh of the target's cluster, two at a time: the cheapest plan, of equal ones
// that of the first mesh. The time of `search_seconds` is for all of them together.
using Decide = std::function<Expected<std::shared_ptr<Parallel>>(const Target&)>;
Expected<std::shared_ptr<Parallel>> best_of_meshes(const Target& target, const Decide& decide);

}  // namespace heddle
