#include "parallel/search/network.h"

#include <algorithm>
#include <cmath>

namespace heddle::search {

namespace {

using Cost = CostNetwork::Cost;

// Memory is looked at so often; what is more at other times is found once there is a plan.
constexpr std::int64_t kTimes = 64;
constexpr std::size_t kPeaks = 24;

Cost times(Cost cost, double count) {
  if (cost == CostNetwork::kForbidden) return cost;
  return static_cast<Cost>(std::llround(static_cast<double>(cost) * count));
}

// What is forbidden stays so.
void add(Cost& sum, Cost more) {
  const bool forbidden = sum == CostNetwork::kForbidden || more == CostNetwork::kForbidden;
  sum = forbidden ? CostNetwork::kForbidden : sum + more;
}

void add_costs(CostNetwork& network, const Cells& cells, const std::vector<int>& classes,
               const SplitLists& lists, std::vector<std::vector<Cost>> shared) {
  std::vector<double> counts(shared.size(), 0);
  std::vector<const Cell*> members(shared.size(), nullptr);  // which are all alike
  for (std::size_t i = 0; i < cells.cells.size(); ++i) {
    const auto c = static_cast<std::size_t>(classes[i]);
    counts[c] += 1;
    members[c] = &cells.cells[i];
  }
  for (std::size_t c = 0; c < shared.size(); ++c) {
    const Cell& cell = *members[c];
    std::vector<Cost>& costs = shared[c];
    costs.resize(ways_of(cell, lists), 0);
    for (std::size_t k = 0; k < costs.size(); ++k) {
      if (cell.strategies != nullptr)
        add(costs[k], times(cell.strategies->costs[k], cell.times * counts[c]));
      if (!cell.more.empty()) add(costs[k], times(cell.more[k], counts[c]));
    }
    network.add_variable(costs);
  }
}

// Moves that are alike, and how often they are made with so much work beside them.
using MoveKinds = std::map<std::tuple<int, int, int, int, TypeId>, std::map<Cost, double>>;

MoveKinds kinds_of(const Cells& cells, const std::vector<int>& classes) {
  MoveKinds kinds;
  for (const Bring& bring : cells.brings)
    kinds[{classes[static_cast<std::size_t>(bring.from)],
           classes[static_cast<std::size_t>(bring.to)], bring.from_list, bring.to_list, bring.type}]
         [bring.hidden] += bring.times;
  return kinds;
}

// What all moves of a kind cost, for each pair of splits.
std::vector<Cost> cost_of_kind(const std::vector<Cost>& moves,
                               const std::map<Cost, double>& counts) {
  std::vector<Cost> sums(moves.size(), 0);
  for (const auto& [hidden, count] : counts)
    for (std::size_t k = 0; k < moves.size(); ++k)
      add(sums[k], times(moves[k] == CostNetwork::kForbidden ? moves[k]
                                                             : std::max<Cost>(0, moves[k] - hidden),
                         count));
  return sums;
}

// Times at which something is there: from the first at or after `begin` to before `end`.
CostNetwork::Lifetime life_of(const Held& held, const std::vector<std::int64_t>& times) {
  auto place = [&](std::int64_t t) { return std::ranges::lower_bound(times, t) - times.begin(); };
  return {place(held.begin), place(held.end)};
}

}  // namespace

std::optional<CostNetwork> network_of(const Cells& cells, const std::vector<int>& classes,
                                      SplitLists& lists, const std::function<bool()>& stop) {
  const int count = classes.empty() ? 0 : *std::ranges::max_element(classes) + 1;
  std::vector<std::vector<Cost>> costs(static_cast<std::size_t>(count));
  std::map<std::pair<int, int>, std::vector<Cost>> tables;
  for (const auto& [kind, counts] : kinds_of(cells, classes)) {
    if (stop()) return std::nullopt;
    const auto& [from, to, from_list, to_list, type] = kind;
    const std::vector<Cost> moves = cost_of_kind(lists.moves(from_list, to_list, type), counts);
    const std::size_t rows = lists[from_list].size(), columns = lists[to_list].size();
    if (from == to) {  // they go the same way
      std::vector<Cost>& own = costs[static_cast<std::size_t>(from)];
      own.resize(rows, 0);
      for (std::size_t k = 0; k < rows; ++k) add(own[k], moves[k * columns + k]);
      continue;
    }
    const bool turned = from > to;
    std::vector<Cost>& table = tables[std::minmax(from, to)];
    table.resize(rows * columns, 0);
    for (std::size_t a = 0; a < rows; ++a)
      for (std::size_t b = 0; b < columns; ++b)
        add(table[turned ? b * rows + a : a * columns + b], moves[a * columns + b]);
  }
  CostNetwork network;
  add_costs(network, cells, classes, lists, std::move(costs));
  for (const auto& [pair, table] : tables)
    if (std::ranges::any_of(table, [](Cost c) { return c != 0; }))
      network.add_edge(pair.first, pair.second, table);
  return network;
}

CostNetwork::Cost least_of_cells(const Cells& cells, const SplitLists& lists) {
  Cost sum = 0;
  for (const Cell& cell : cells.cells) {
    Cost least = CostNetwork::kForbidden;
    for (std::size_t k = 0; k < ways_of(cell, lists); ++k) {
      Cost cost = 0;
      if (cell.strategies != nullptr) add(cost, times(cell.strategies->costs[k], cell.times));
      if (!cell.more.empty()) add(cost, cell.more[k]);
      least = std::min(least, cost);
    }
    if (least != CostNetwork::kForbidden) sum += least;
  }
  return sum;
}

void add_memory(CostNetwork& network, const Cells& cells, const std::vector<int>& classes,
                SplitLists& lists, const MemoryOptions& options) {
  network.set_limit(options.limit);
  // What members of a class hold at the same times is one.
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::vector<std::int64_t>> usages;
  for (const Held& held : cells.held) {
    const CostNetwork::Lifetime life = life_of(held, options.times);
    if (life.begin >= life.end) continue;
    const auto& bytes = lists.bytes(held.list, held.type);
    auto& amounts = usages[{classes[static_cast<std::size_t>(held.cell)], life.begin, life.end}];
    amounts.resize(bytes.size(), 0);
    for (std::size_t k = 0; k < bytes.size(); ++k) amounts[k] += bytes[k];
  }
  for (const auto& [key, amounts] : usages) {
    const auto& [variable, begin, end] = key;
    network.add_usage(variable, {begin, end}, amounts);
  }
}

Peak peak_of(const Cells& cells, const std::vector<int>& ways, SplitLists& lists) {
  const std::vector<std::int64_t> held = held_over_time(cells, [&](const Held& one) {
    const auto way = static_cast<std::size_t>(ways[static_cast<std::size_t>(one.cell)]);
    return lists.bytes(one.list, one.type)[way];
  });
  const auto most = std::ranges::max_element(held);
  return {*most, most - held.begin()};
}

namespace {

// The fullest of so many stretches of equal length, and of all others the fullest ones that stand
// out.
void add_busy(const std::vector<std::int64_t>& held, std::int64_t ops,
              std::vector<std::int64_t>& found) {
  const std::int64_t every = std::max<std::int64_t>(1, ops / kTimes);
  for (std::int64_t t = 0; t < ops; t += every) {
    const auto begin = held.begin() + t, end = held.begin() + std::min(t + every, ops);
    found.push_back(std::max_element(begin, end) - held.begin());
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> peaks;  // the fullest first
  for (std::size_t t = 1; t + 1 < held.size(); ++t)
    if (held[t] > held[t - 1] && held[t] >= held[t + 1])
      peaks.emplace_back(-held[t], static_cast<std::int64_t>(t));
  std::ranges::sort(peaks);
  for (std::size_t i = 0; i < peaks.size() && i < kPeaks; ++i) found.push_back(peaks[i].second);
}

}  // namespace

std::vector<std::int64_t> busy_times(const Cells& cells, SplitLists& lists,
                                     const Program& program) {
  std::vector<std::int64_t> found;
  add_busy(held_over_time(cells, [&](const Held& one) { return program.type(one.type).bytes(); }),
           cells.ops, found);
  add_busy(held_over_time(cells,
                          [&](const Held& one) {
                            return *std::ranges::min_element(lists.bytes(one.list, one.type));
                          }),
           cells.ops, found);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

Moved moved_by(const Cells& cells, const std::vector<int>& ways, SplitLists& lists) {
  Moved moved;
  for (const Bring& bring : cells.brings) {
    const auto from = static_cast<std::size_t>(ways[static_cast<std::size_t>(bring.from)]),
               to = static_cast<std::size_t>(ways[static_cast<std::size_t>(bring.to)]);
    const Cost move = lists.moves(bring.from_list, bring.to_list,
                                  bring.type)[from * lists[bring.to_list].size() + to];
    moved.all += times(move, bring.times);
    moved.exposed += times(exposed(move, bring), bring.times);
  }
  return moved;
}

}  // namespace heddle::search
