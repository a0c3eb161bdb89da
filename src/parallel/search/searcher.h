// The search for a plan of one function: its cells as a network, the solution as layouts.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "heddle/search.h"
#include "parallel/search/network.h"

namespace heddle::search {

// What all functions of a program share that a plan is searched for.
struct Tables {
  Tables(const Program& program, RuleCache& rules, const MeshDecl& mesh)
      : on(program, rules, mesh), lists(on), ways(on, lists) {}
  OnMesh on;
  SplitLists lists;
  StrategyTable ways;
  std::mutex shared;  // lists note what they are asked for, while functions are solved side by side
};

class Searcher {
 public:
  static Expected<std::unique_ptr<Searcher>> make(Tables& tables, const Function& function,
                                                  const Wanted& wanted);

  Verdict has_room(std::int64_t limit);
  // Seconds that every plan of it takes, known before anything is solved.
  double least_seconds() const;

  // Makes what is shared with others, after which two of them may be solved at the same time.
  // False: there was no time for it.
  bool prepare(const std::function<bool()>& stop);

  // The best plan whatever it takes, and whether that is at most `limit`. It is searched for once.
  Expected<bool> solve_freely(std::int64_t limit, const SolveOptions& how);

  // Times at which a plan turns out to take too much, beyond so many bytes that do no harm, are
  // looked at in the next round. Briefly: a little worse is good enough.
  struct Within {
    std::int64_t limit = INT64_MAX, harmless = 0;
    bool briefly = false;
  };
  Verdict solve_within(const Within& within, const SolveOptions& how);

  const FoundPlan& found() const { return found_; }

  void note_recomputed(const Recomputing& how, std::size_t which);

  // With what a report wants to know, where it asks for that.
  FoundPlan take(bool details);

 private:
  Searcher(Tables& tables, const Function& function, const Wanted& wanted)
      : program_(tables.on.program), function_(function), wanted_(wanted), tables_(tables) {}

  // Returns when it is fullest.
  Expected<std::int64_t> solve_at(std::int64_t limit, const std::vector<std::int64_t>& times,
                                  const SolveOptions& how);

  // ---- the solution as layouts

  std::size_t way_of(int cell) const;

  int split_of(ValueId v) const;

  // Of one device.
  std::int64_t bytes_of(ValueId v) const;

  void write_layouts();

  // A cost counts a move for every use. Where memory is short, copies stay no longer than that.
  void let_copies_go();

  Split result_split(std::size_t i, ValueId returned) const;

  const Program& program_;
  const Function& function_;
  const Wanted wanted_;
  Tables& tables_;
  Cells cells_;
  std::vector<int> classes_;
  std::optional<CostNetwork> costs_;                            // without memory
  std::vector<int> ways_;                                       // by cell
  CostNetwork::Cost bound_ = 0;                                 // of the last solution
  CostNetwork::Cost free_bound_ = 0;                            // whatever it takes
  std::optional<std::pair<std::vector<int>, FoundPlan>> free_;  // that plan, with its ways
  bool is_tight_ = false;             // the last solution is one that a limit asked for
  std::vector<std::int64_t> let_go_;  // times from which on no copy is there that was before
  FoundPlan found_;
};

}  // namespace heddle::search
