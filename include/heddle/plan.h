// The redistribution planner: from "the data lies like this" to "it should lie like that" by a
// cheap sequence of moves, the cheapest where all could be looked at. One planner for all levels:
// devices exchange over links, lanes by shuffles, warps through shared memory. The search, the
// schedule and the executor use one Plan.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "heddle/collective_kind.h"
#include "heddle/layout.h"
#include "heddle/mesh.h"

namespace heddle {

// What carries out a move of a plan.
using MoveKind = CollectiveKind;

// A part of a mesh axis: positions (c / stride) % extent.
struct SubAxis {
  AxisId axis = kNoAxis;
  std::int64_t extent = 1, stride = 1;
  friend bool operator==(const SubAxis&, const SubAxis&) = default;
};

struct Move {
  MoveKind kind = MoveKind::local_copy;
  std::vector<SubAxis> over;  // holders that differ only here talk to each other
  Layout from, to;
  std::int64_t bytes = 0;  // received by one holder
  std::int64_t live = 0;   // bytes on one holder while the move runs: source and result
  double seconds = 0;
  Medium medium = Medium::network;
  std::string why;
};

// What was not done, and why.
struct Alternative {
  std::string what;
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  std::string why_not;
};

struct Plan {
  Layout source, target;
  std::int64_t element_bits = 32;
  std::vector<Move> moves;
  double seconds = 0;
  std::int64_t bytes = 0;        // received by one holder, over all moves
  std::int64_t peak_bytes = 0;   // on one holder
  std::int64_t bound_bytes = 0;  // some holder receives this under any plan; 0: nothing proved
  double bound_seconds = 0;
  int states = 0;  // looked at by the search
  // The cheapest sequence of collectives over the pieces that both layouts are made of. False where
  // there were too many to look at all, or where an exchange takes part: that is tried with a few.
  bool exhaustive = true;
  std::vector<Alternative> rejected;  // with PlanOptions::explain
};

struct PlanOptions {
  std::int64_t element_bits = 32;
  std::int64_t memory_cap = 0;  // bytes on one holder during any move; 0: no cap
  bool explain = false;         // fill Plan::rejected, which costs more searches
  bool bound = true;            // fill Plan::bound_bytes and bound_seconds
  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

// Plans without memory of earlier ones. Time does not grow with the sizes of axes or dimensions.
Expected<Plan> plan_redistribution(const Layout& source, const Layout& target, const Mesh& mesh,
                                   const AxisRegistry& axes, const PlanOptions& options = {});

// Remembers plans; safe to share between threads. The registry must outlive it.
class Planner {
 public:
  explicit Planner(const AxisRegistry& axes, std::size_t capacity = 4096)
      : axes_(axes), capacity_(capacity) {}
  Expected<std::shared_ptr<const Plan>> plan(const Layout& source, const Layout& target,
                                             const Mesh& mesh, const PlanOptions& options = {});
  std::size_t size() const;

 private:
  struct Entry {
    Layout source, target;
    Mesh mesh;
    PlanOptions options;
    std::shared_ptr<const Plan> plan;
  };
  std::shared_ptr<const Plan> find(std::uint64_t key, const Layout& source, const Layout& target,
                                   const Mesh& mesh, const PlanOptions& options) const;
  const AxisRegistry& axes_;
  std::size_t capacity_;
  mutable std::shared_mutex mutex_;
  std::unordered_multimap<std::uint64_t, Entry> plans_;
};

// What a simulated plan has moved.
struct Traffic {
  std::int64_t bytes = 0;  // received by the busiest holder, over all moves
};

// Whether a plan is small enough to be executed element by element.
Verdict can_simulate(const Plan& plan, const Mesh& mesh);

// Executes the plan on tagged elements and says what is wrong with the result, if anything: every
// cell of the target holds its element with each contribution exactly once, no move reaches past
// its group, and none receives more than its model says.
Expected<Traffic> simulate(const Plan& plan, const Mesh& mesh, const AxisRegistry& axes);

}  // namespace heddle
