// Decisions: for every op of a logical program which of its factors are split over which axes, by
// what it is computed, and how its operands get to where it takes them. Nothing is written here;
// `partition` (spmd.h) writes what it is told.
#pragma once

#include "heddle/price.h"
#include "heddle/search.h"

namespace heddle {

// How a value gets to where an op takes it. Uses that find it there have none.
struct Fetch {
  ValueId value = kNone;
  int from = -1, to = -1;  // splits
  // The moves from one to the other, as the planner has them; none where they are the same.
  const Route* route = nullptr;
  bool anew = false;   // a constant is written once more as `from`
  bool zeros = false;  // zeros are written as `to`, contributions to a sum
  // It is computed once more where it is needed; what that takes is fetched before.
  std::shared_ptr<const Choice> again = {};
  int loops_left = 0;  // they are made so many loops further out: the value does not change inside
  double times = 1;    // that they are made in one run, as far as loops say how often they go round
};

// A part of what is put together (PartWay::joined).
struct JoinedPart {
  ValueId source = kNone;
  int split = -1;                 // that it is taken in
  std::int64_t size = 0;          // of the source
  std::int64_t from = 0, to = 0;  // where it begins in the source and in the result
  std::int64_t count = 0;
  // Who sends which of its elements to whom; none: by neighbours.
  struct Delivery {
    std::int64_t from, to;  // positions along the axes
    std::int64_t first;     // of the part's elements
    std::int64_t count;
  };
  std::vector<Delivery> deliveries = {};
};

struct Decision {
  PartWay way = PartWay::nothing;
  // For loops and branches the splits of what they carry and give, for manual computations those
  // outside of the body.
  std::shared_ptr<const Choice> choice;
  // Values with splits in which they are not there from here on: who needs them so fetches them.
  std::vector<std::pair<ValueId, int>> let_go;
  std::vector<Fetch> fetches;  // in the order in which they are made
  std::vector<OpId> first;     // ops that are written right before it, for it
  bool by_user = false;        // it is one of these, and not written where it stands
  std::vector<OpId> gives;     // ops whose results it gives too: slices of a sort
  std::vector<int> inside;     // splits of the arguments of a manual computation's body
  std::vector<JoinedPart> parts;
  double times = 1;  // that it is done in one run

  double bring_seconds() const;
};

// Of one function.
struct Decisions {
  Decisions(const Program& program, RuleCache& rules, const MeshDecl& mesh,
            std::int64_t memory_limit)
      : on(program, rules, mesh, memory_limit) {}

  OnMesh on;
  std::vector<Decision> ops;  // by OpId; a region's last op has the fetches of what it returns
  std::vector<int> arguments, results;
  // Where each value lies once it is there, by ValueId; -1 for those outside of the function and
  // for constants, which are written as they are needed.
  std::vector<int> lies;

  const Split& split(int id) const { return on.splits[id]; }
  // Over all ops: what they bring, and what they take beside that.
  double bring_seconds() const;
  double compute_seconds() const;
};

Expected<std::unique_ptr<Decisions>> decide(const Program& program, const Function& function,
                                            RuleCache& rules, const MeshDecl& mesh,
                                            const Propagation& layouts,
                                            std::int64_t memory_limit = INT64_MAX);

// The values from around a loop that its arguments stay equal to; kNone for others.
std::vector<ValueId> kept_in_loop(const Program& program, const Op& loop);

// ---- a whole program

struct ParallelOptions {
  std::string mesh;      // of the program; empty: the one that its shardings name, or the first
  std::string function;  // that seeds and what is carried are of; empty: seeds of all public ones
  std::vector<Seed> seeds;
  bool closed_boundary = false;
  // What the next run of the function takes from the last one, so that it stays where it lies.
  std::vector<Carried> carried;
  // The most that arguments and results may take together on one device; more is refused. Ops are
  // split further than it pays where their operands and results would take more.
  std::int64_t memory_limit = INT64_MAX;
  // Where nothing is said of values, the best layouts are searched for instead of following from
  // what is.
  std::optional<SearchOptions> search = {};
  // As in SearchOptions: slices that take rows of arguments stay what they are.
  bool rows_lie_on_stages = false;
};

struct FunctionPlan {
  std::uint32_t mesh = kNone;            // into the program's meshes; kNone: on one device
  std::unique_ptr<Decisions> decisions;  // none on one device
  std::vector<Conflict> conflicts;
  std::optional<FoundPlan> found;  // where somebody searched; its layouts are in the decisions
};

// A logical program of which everything is decided. Layouts ride on all of its values; decisions
// refer to it, so that it stays where it is.
struct Parallel {
  explicit Parallel(Program logical) : program(std::move(logical)), rules(program) {}
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;

  Program program;
  RuleCache rules;
  std::vector<FunctionPlan> functions;               // as the program's
  double propagate_seconds = 0, decide_seconds = 0;  // that it took
};

// `program` is verified, without calls of functions that have a body (inline_calls).
Expected<std::shared_ptr<Parallel>> parallelize(const Program& program,
                                                const ParallelOptions& options = {});

}  // namespace heddle
