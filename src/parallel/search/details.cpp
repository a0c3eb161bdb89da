#include "parallel/search/details.h"

#include <algorithm>
#include <deque>

#include "heddle/op.h"
#include "parallel/search/network.h"
#include "parallel/search/room.h"

namespace heddle::search {

namespace {

using Cost = CostNetwork::Cost;

// The network around a plan: what changes where one variable goes another way and its neighbours
// follow.
class Around {
 public:
  // `held`: what variables hold where most is, by their values.
  using HeldBytes = std::map<int, std::vector<std::int64_t>>;

  Around(const CostNetwork& network, std::vector<int> values, const HeldBytes& held)
      : network_(network),
        values_(std::move(values)),
        held_(held),
        edges_(static_cast<std::size_t>(network.variables())) {
    for (const CostNetwork::Edge& edge : network.edges()) {
      edges_[static_cast<std::size_t>(edge.first)].push_back(&edge);
      edges_[static_cast<std::size_t>(edge.second)].push_back(&edge);
    }
  }

  struct Change {
    Cost cost = 0;           // beside that of the plan; kForbidden: cannot be
    std::int64_t bytes = 0;  // the same, of what is held
  };

  // Neighbours, and theirs, take what is cheapest for them one after the other; each such step
  // makes the plan cheaper, so that it ends. All is put back afterwards.
  Change with(int variable, int value) {
    constexpr int kMostSteps = 64;
    Change change;
    std::vector<std::pair<int, int>> before;  // variables, and what they were
    std::deque<int> open;
    take(variable, value, change, before, open);
    for (int step = 0; step < kMostSteps && !open.empty(); ++step) {
      const int next = open.front();
      open.pop_front();
      const int best = next == variable ? value : cheapest(next);
      if (best != at(next)) take(next, best, change, before, open);
    }
    for (auto it = before.rbegin(); it != before.rend(); ++it)
      values_[static_cast<std::size_t>(it->first)] = it->second;
    if (change.cost >= kNever) change.cost = CostNetwork::kForbidden;
    return change;
  }

  int at(int variable) const { return values_[static_cast<std::size_t>(variable)]; }

 private:
  // More than any plan costs, and little enough to be added up.
  static constexpr Cost kNever = CostNetwork::kMostCost;
  static Cost bounded(Cost cost) { return std::min(cost, kNever); }

  Cost cost_here(int variable, int value) const {
    Cost sum = bounded(network_.costs(variable)[static_cast<std::size_t>(value)]);
    for (const CostNetwork::Edge* edge : edges_[static_cast<std::size_t>(variable)]) {
      const bool first = edge->first == variable;
      const auto row = static_cast<std::size_t>(first ? value : at(edge->first));
      const auto column = static_cast<std::size_t>(first ? at(edge->second) : value);
      sum += bounded(network_.table(
          edge->table)[row * static_cast<std::size_t>(network_.values(edge->second)) + column]);
    }
    return sum;
  }

  int cheapest(int variable) const {
    int best = at(variable);
    Cost least = cost_here(variable, best);
    for (int value = 0; value < network_.values(variable); ++value)
      if (const Cost cost = cost_here(variable, value); cost < least) {
        least = cost;
        best = value;
      }
    return best;
  }

  std::int64_t held_by(int variable, int value) const {
    const auto known = held_.find(variable);
    return known == held_.end() ? 0 : known->second[static_cast<std::size_t>(value)];
  }

  void take(int variable, int value, Change& change, std::vector<std::pair<int, int>>& before,
            std::deque<int>& open) {
    change.cost += cost_here(variable, value) - cost_here(variable, at(variable));
    change.bytes += held_by(variable, value) - held_by(variable, at(variable));
    before.emplace_back(variable, at(variable));
    values_[static_cast<std::size_t>(variable)] = value;
    for (const CostNetwork::Edge* edge : edges_[static_cast<std::size_t>(variable)]) {
      const int other = edge->first == variable ? edge->second : edge->first;
      if (std::ranges::find(open, other) == open.end()) open.push_back(other);
    }
  }

  const CostNetwork& network_;
  std::vector<int> values_;
  const HeldBytes& held_;
  std::vector<std::vector<const CostNetwork::Edge*>> edges_;
};

class DetailMaker {
 public:
  DetailMaker(OnMesh& on, SplitLists& lists, const Cells& cells, const std::vector<int>& classes,
              const std::vector<int>& ways)
      : on_(on), lists_(lists), cells_(cells), classes_(classes), ways_(ways) {}

  std::shared_ptr<const PlanDetails> run(double cost, std::vector<std::int64_t> held) {
    add_seconds(cost);
    out_.held = std::move(held);
    add_memory();
    add_choices();
    return std::make_shared<PlanDetails>(std::move(out_));
  }

 private:
  void add_seconds(double cost) {
    for (std::size_t i = 0; i < cells_.cells.size(); ++i)
      if (const Cell& cell = cells_.cells[i]; cell.strategies != nullptr)
        out_.compute_seconds +=
            cell.times *
            seconds_of_cost(cell.strategies->costs[static_cast<std::size_t>(ways_[i])]);
    out_.move_seconds = std::max(0.0, cost - out_.compute_seconds);
  }

  // ---- memory

  std::int64_t bytes_of(const Held& held, std::size_t way) {
    return lists_.bytes(held.list, held.type)[way];
  }

  void add_memory() {
    constexpr std::size_t kMostNamed = 12;
    const auto now = [&](const Held& held) {
      return bytes_of(held, static_cast<std::size_t>(ways_[static_cast<std::size_t>(held.cell)]));
    };
    const auto most = std::ranges::max_element(out_.held);
    out_.fullest = most - out_.held.begin();
    std::vector<std::pair<std::int64_t, const Held*>> there;
    for (const Held& held : cells_.held) {
      if (held.begin > out_.fullest || held.end <= out_.fullest) continue;
      there.emplace_back(now(held), &held);
      auto& amounts = at_fullest_[classes_[static_cast<std::size_t>(held.cell)]];
      const auto& bytes = lists_.bytes(held.list, held.type);
      amounts.resize(bytes.size(), 0);
      for (std::size_t k = 0; k < bytes.size(); ++k) amounts[k] += bytes[k];
    }
    std::ranges::stable_sort(there, std::ranges::greater(),
                             [](const auto& one) { return one.first; });
    std::int64_t copies = *most;  // what is left beside the values
    for (const auto& [bytes, held] : there) copies -= bytes;
    if (copies > 0) out_.at_fullest.push_back({"copies of values that are moved", copies});
    for (std::size_t i = 0; i < there.size() && i < kMostNamed; ++i)
      out_.at_fullest.push_back({name_of(cells_, *there[i].second, on_.program), there[i].first});
    std::ranges::stable_sort(out_.at_fullest, std::ranges::greater(), &PlanDetails::Held::bytes);
  }

  // ---- choices

  void add_choices() {
    const CostNetwork network = *network_of(cells_, classes_, lists_);
    std::vector<int> values(static_cast<std::size_t>(network.variables()), 0);
    for (std::size_t i = 0; i < cells_.cells.size(); ++i)
      values[static_cast<std::size_t>(classes_[i])] = ways_[i];
    Around around(network, values, at_fullest_);
    choice_of_class_.assign(values.size(), -1);
    out_.of_op.assign(on_.program.op_count(), -1);
    out_.of_argument.assign(cells_.arguments.size(), -1);
    for (std::size_t i = 0; i < cells_.cells.size(); ++i) {
      const Cell& cell = cells_.cells[i];
      int& known = choice_of_class_[static_cast<std::size_t>(classes_[i])];
      if (known < 0) {
        known = static_cast<int>(out_.choices.size());
        out_.choices.push_back(chosen(cell, classes_[i], around));
      } else {
        ++out_.choices[static_cast<std::size_t>(known)].alike;
      }
      if (cell.op != kNone) out_.of_op[cell.op] = known;
    }
    for (std::size_t i = 0; i < cells_.arguments.size(); ++i)
      if (const int cell = cells_.arguments[i]; cell >= 0)
        out_.of_argument[i] =
            choice_of_class_[static_cast<std::size_t>(classes_[static_cast<std::size_t>(cell)])];
  }

  PlanDetails::Chosen chosen(const Cell& cell, int variable, Around& around) {
    constexpr std::size_t kMostListed = 12;
    PlanDetails::Chosen out{.op = cell.op, .value = cell.value, .way = {}, .others = {}};
    const auto count = static_cast<int>(ways_of(cell, lists_));
    std::vector<std::pair<Around::Change, int>> changes;
    for (int k = 0; k < count; ++k) {
      if (k == around.at(variable)) continue;
      const Around::Change change = around.with(variable, k);
      if (change.cost != CostNetwork::kForbidden) changes.emplace_back(change, k);
    }
    std::ranges::stable_sort(changes, {}, [](const auto& one) { return one.first.cost; });
    out.way = way_of(cell, around.at(variable));
    if (cell.strategies != nullptr)
      out.seconds =
          cell.times *
          seconds_of_cost(cell.strategies->costs[static_cast<std::size_t>(around.at(variable))]);
    for (const auto& [change, k] : changes) {
      if (out.others.size() == kMostListed) break;
      PlanDetails::Way way = way_of(cell, k);
      way.more_seconds = seconds_of_cost(change.cost);
      way.more_bytes = change.bytes;
      out.others.push_back(std::move(way));
    }
    out.not_listed = changes.size() - out.others.size();
    return out;
  }

  PlanDetails::Way way_of(const Cell& cell, int k) const {
    const Mesh& mesh = on_.mesh.mesh;
    const auto way = static_cast<std::size_t>(k);
    if (cell.strategies == nullptr)
      return {.what = {}, .takes = {}, .lies = split_text(cell.list, way)};
    const Strategies& strategies = *cell.strategies;
    PlanDetails::Way out{.what = text_of(strategies.ways[way].axes, mesh), .takes = {}, .lies = {}};
    const auto all = [&](const std::vector<int>& all_lists) {
      std::string text;
      for (const int list : all_lists)
        if (list >= 0) text += (text.empty() ? "" : " ") + split_text(list, way);
      return text;
    };
    out.takes = all(strategies.operands);
    out.lies = all(strategies.results);
    return out;
  }

  std::string split_text(int list, std::size_t way) const {
    return text_of(on_.splits[lists_[list][way]], on_.mesh.mesh);
  }

  OnMesh& on_;
  SplitLists& lists_;
  const Cells& cells_;
  const std::vector<int>& classes_;
  const std::vector<int>& ways_;
  Around::HeldBytes at_fullest_;  // by class
  std::vector<int> choice_of_class_;
  PlanDetails out_;
};

}  // namespace

std::shared_ptr<const PlanDetails> details_of(OnMesh& on, SplitLists& lists, const Cells& cells,
                                              const std::vector<int>& classes,
                                              const std::vector<int>& ways, double cost,
                                              std::vector<std::int64_t> held) {
  return DetailMaker(on, lists, cells, classes, ways).run(cost, std::move(held));
}

}  // namespace heddle::search
