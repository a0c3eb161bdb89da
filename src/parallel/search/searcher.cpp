#include "parallel/search/searcher.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "heddle/log.h"
#include "heddle/op.h"
#include "parallel/search/classes.h"
#include "parallel/search/copies.h"
#include "parallel/search/details.h"
#include "parallel/search/few_rounds.h"
#include "parallel/search/op_seconds.h"
#include "parallel/search/room.h"
#include "parallel/search/traits.h"

namespace heddle::search {

namespace {

constexpr double kLeastSeconds = 0.01;

// Nobody sees the difference, and a proof of the last digits may take long: the longer, the more
// there is to choose.
SolveOptions near_enough(SolveOptions options, std::size_t cells) {
  constexpr double kNear = 1e-5, kNearOfMany = 2e-4, kNearOfVeryMany = 2e-3;
  constexpr std::size_t kMany = 1500, kVeryMany = 40'000;
  const bool quick = options.level == 2 && cells >= kMany;
  const double near = !quick ? kNear : cells < kVeryMany ? kNearOfMany : kNearOfVeryMany;
  options.gap = std::max(options.gap, near);
  return options;
}

}  // namespace

Expected<std::unique_ptr<Searcher>> Searcher::make(Tables& tables, const Function& function,
                                                   const Wanted& wanted) {
  std::unique_ptr<Searcher> made(new Searcher(tables, function, wanted));
  HEDDLE_TRY(made->cells_, cells_of(tables.on, tables.lists, tables.ways, function, made->wanted_));
  made->classes_ = classes_of(made->cells_);
  return made;
}

Verdict Searcher::has_room(std::int64_t limit) {
  const std::lock_guard lock(tables_.shared);
  return search::has_room(cells_, tables_.lists, program_, limit);
}

double Searcher::least_seconds() const {
  return seconds_of_cost(least_of_cells(cells_, tables_.lists));
}

bool Searcher::prepare(const std::function<bool()>& stop) {
  const std::lock_guard lock(tables_.shared);
  if (!costs_) costs_ = network_of(cells_, classes_, tables_.lists, stop);
  return costs_.has_value();
}

Expected<bool> Searcher::solve_freely(std::int64_t limit, const SolveOptions& how) {
  if (free_) {
    std::tie(ways_, found_) = *free_;
    bound_ = free_bound_;
  } else {
    HEDDLE_TRY_VOID(solve_at(INT64_MAX, {}, how));
    free_.emplace(ways_, found_);
    free_bound_ = bound_;
  }
  is_tight_ = false;
  return found_.held_bytes <= limit;
}

Verdict Searcher::solve_within(const Within& within, const SolveOptions& how) {
  const auto& [limit, harmless, briefly] = within;
  constexpr int kRounds = 8;
  // No round can find less than those before it, which knew less, or nothing of memory.
  SolveOptions known = how;
  known.bound = free_bound_;
  std::vector<std::int64_t> times;
  {
    const std::lock_guard lock(tables_.shared);
    times = busy_times(cells_, tables_.lists, program_);
  }
  for (int round = 0;; ++round) {
    HEDDLE_TRY(const std::int64_t fullest,
               solve_at(limit, times, briefly ? for_a_few_rounds(known) : known));
    is_tight_ = true;
    known.bound = std::max(known.bound, bound_);
    if (found_.held_bytes - harmless <= limit) return yes();
    if (round == kRounds)
      return reason("no plan was found that takes at most {} bytes of a device: the best has {}",
                    limit, found_.held_bytes);
    times.insert(std::ranges::lower_bound(times, fullest), fullest);
  }
}

void Searcher::note_recomputed(const Recomputing& how, std::size_t which) {
  Recomputed& note = found_.recomputed.emplace();
  note = {which, how.effort, how.copies.size(), 0, 0};
  for (OpId id : how.copies)
    if (const int cell = cells_.of_op[id]; cell >= 0) {
      const Cell& one = cells_.cells[static_cast<std::size_t>(cell)];
      note.seconds += one.times * seconds_of_cost(one.strategies->costs[way_of(cell)]);
    }
  for (ValueId v : how.needed) note.bytes += bytes_of(v);
  for (ValueId v : how.kept) note.bytes -= bytes_of(v);
}

FoundPlan Searcher::take(bool details) {
  write_layouts();
  std::vector<std::int64_t> held = held_with_copies(cells_, ways_, tables_.lists, let_go_);
  found_.peak_bytes = *std::ranges::max_element(held);
  found_.op_seconds = op_seconds(cells_, ways_, tables_.lists, program_, function_);
  if (details)
    found_.details = details_of(tables_.on, tables_.lists, cells_, classes_, ways_, found_.cost,
                                std::move(held));
  const Moved moved = moved_by(cells_, ways_, tables_.lists);
  found_.moves = seconds_of_cost(moved.all);
  found_.exposed = seconds_of_cost(moved.exposed);
  found_.carried = wanted_.carried;
  return std::move(found_);
}

Expected<std::int64_t> Searcher::solve_at(std::int64_t limit,
                                          const std::vector<std::int64_t>& times,
                                          const SolveOptions& how) {
  const auto begun = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  const auto has_to_stop = [&] {
    return how.stop.stop_requested() || (how.seconds > 0 && since() >= how.seconds);
  };
  const Reason stopped{"the search was stopped before it had found anything"};
  // To bring a large network into the solver takes long too.
  if (!prepare(has_to_stop) || has_to_stop()) return stopped;
  CostNetwork network = *costs_;
  if (limit != INT64_MAX) {
    const std::lock_guard lock(tables_.shared);
    add_memory(network, cells_, classes_, tables_.lists, {limit, times});
  }
  const double built = since();
  SolveOptions solving = near_enough(how, cells_.cells.size());
  if (how.seconds > 0) solving.seconds = std::max(kLeastSeconds, how.seconds - built);
  HEDDLE_TRY(const Solution solution, solve(network, solving));
  ways_.clear();
  for (int c : classes_) ways_.push_back(solution.values[static_cast<std::size_t>(c)]);
  const Peak peak = [&] {
    const std::lock_guard lock(tables_.shared);
    return peak_of(cells_, ways_, tables_.lists);
  }();
  log(kLogSteps,
      "search: {} choices, {} pairs, memory at {} times: built in {:.3g} s, solved in {:.3g} s; "
      "{} bytes",
      network.variables(), network.edges().size(), times.size(), built, since() - built,
      peak.bytes);
  found_.cost = seconds_of_cost(solution.cost);
  bound_ = std::min(solution.bound, solution.cost);
  found_.bound = seconds_of_cost(bound_);
  found_.held_bytes = peak.bytes;
  found_.cells = cells_.cells.size();
  found_.variables = static_cast<std::size_t>(network.variables());
  return peak.time;
}

std::size_t Searcher::way_of(int cell) const {
  return static_cast<std::size_t>(ways_[static_cast<std::size_t>(cell)]);
}

int Searcher::split_of(ValueId v) const {
  const auto [cell, list] = cells_.lies[v];
  return list < 0 ? -1 : tables_.lists[list][way_of(cell)];
}

std::int64_t Searcher::bytes_of(ValueId v) const {
  const int split = split_of(v);
  return split < 0 ? 0 : local_type(program_.type_of(v), tables_.on.splits[split]).bytes();
}

void Searcher::write_layouts() {
  Propagation& layouts = found_.layouts;
  layouts.splits.resize(program_.value_count());
  for (ValueId v = 0; v < program_.value_count(); ++v) {
    if (!program_.type_of(v).is_tensor()) continue;
    const int split = split_of(v);
    layouts.splits[v] = split < 0 ? Split::whole(program_.type_of(v))
                                  : tables_.on.splits[complete_split(tables_.on, split)];
  }
  layouts.chosen.resize(program_.op_count());
  for (OpId id = 0; id < program_.op_count(); ++id)
    if (const int cell = cells_.of_op[id]; cell >= 0)
      layouts.chosen[id] =
          cells_.cells[static_cast<std::size_t>(cell)].strategies->ways[way_of(cell)];
  const Op& end = program_.op(program_.region(function_.body).ops.back());
  const auto returned = program_.operands(end);
  for (std::size_t i = 0; i < returned.size(); ++i)
    layouts.results.push_back(result_split(i, returned[i]));
  if (is_tight_) let_copies_go();
}

void Searcher::let_copies_go() {
  constexpr std::int64_t kParts = 64, kLeast = 8;  // of the time, and how long one is
  const std::int64_t every = std::max(kLeast, cells_.ops / kParts);
  const Traits traits = traits_of(program_, function_, tables_.on.rules);
  std::int64_t next = every;
  for (OpId id : program_.region(function_.body).ops) {
    if (traits.begin[id] < next) continue;
    found_.layouts.let_go_at.push_back(id);
    let_go_.push_back(traits.begin[id]);
    next = traits.begin[id] + every;
  }
}

Split Searcher::result_split(std::size_t i, ValueId returned) const {
  const std::vector<ValueId>& args = program_.region(function_.body).args;
  for (const Carried& c : wanted_.carried)
    if (c.result == i) return found_.layouts.splits[args[c.argument]];
  if (wanted_.results[i] >= 0) return tables_.on.splits[wanted_.results[i]];
  return found_.layouts.splits[returned];
}

}  // namespace heddle::search
