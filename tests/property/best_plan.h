// The best plan of a small function within a limit of memory, found without the solver: cells are
// eliminated one by one, which says exactly what the rest of a plan costs at least; then plans are
// gone through in the order of the cells, but for those that cannot be better or cannot fit.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>

#include "parallel/search/network.h"

namespace heddle::property {

class BestPlan {
 public:
  using Cost = CostNetwork::Cost;
  struct Plan {
    Cost cost = 0;
    std::int64_t peak = 0;
  };

  BestPlan(const search::Cells& cells, search::SplitLists& lists)
      : cells_(cells), lists_(lists), tables_by_last_(cells.cells.size()) {
    for (const search::Cell& cell : cells.cells) sizes_.push_back(search::ways_of(cell, lists));
    for (std::size_t i = 0; i < sizes_.size(); ++i) add(own_costs(i));
    for (const search::Bring& bring : cells.brings) add(costs_of(bring));
    for (const std::vector<Table>& tables : tables_by_last_) given_.push_back(tables.size());
    eliminate();
  }

  // Whether it was possible to look at all that had to be looked at.
  bool is_small() const { return is_small_; }

  // The most that is held were every value split as far as it can be.
  std::int64_t least_bytes() {
    std::vector<int> nothing(sizes_.size(), -1);
    return held(nothing);
  }

  // None: nothing fits.
  std::optional<Plan> within(std::int64_t limit) {
    best_.reset();
    limit_ = limit;
    looks_ = 0;
    chosen_.assign(sizes_.size(), -1);
    go_on(0, 0);
    return best_;
  }

 private:
  // Costs of cells together, which are in order; the last one counts fastest.
  struct Table {
    std::vector<std::size_t> scope;
    std::vector<Cost> costs;
  };

  static Cost sum(Cost a, Cost b) {
    const bool never = a == CostNetwork::kForbidden || b == CostNetwork::kForbidden;
    return never ? CostNetwork::kForbidden : a + b;
  }
  static Cost times(Cost cost, double count) {
    return static_cast<Cost>(std::llround(static_cast<double>(cost) * count));
  }

  void add(Table table) { tables_by_last_[table.scope.back()].push_back(std::move(table)); }

  Table own_costs(std::size_t i) const {
    const search::Cell& cell = cells_.cells[i];
    Table table{{i}, std::vector<Cost>(sizes_[i], 0)};
    for (std::size_t k = 0; k < sizes_[i]; ++k) {
      if (cell.strategies != nullptr)
        table.costs[k] += times(cell.strategies->costs[k], cell.times);
      if (!cell.more.empty()) table.costs[k] += cell.more[k];
    }
    return table;
  }

  Table costs_of(const search::Bring& bring) {
    const auto from = static_cast<std::size_t>(bring.from), to = static_cast<std::size_t>(bring.to);
    const std::vector<Cost>& moves = lists_.moves(bring.from_list, bring.to_list, bring.type);
    const auto cost = [&](std::size_t a, std::size_t b) {
      const Cost move = moves[a * sizes_[to] + b];
      if (move == CostNetwork::kForbidden) return move;
      return times(std::max<Cost>(0, move - bring.hidden), bring.times);
    };
    Table table;
    if (from == to) {
      table.scope = {from};
      for (std::size_t k = 0; k < sizes_[from]; ++k) table.costs.push_back(cost(k, k));
      return table;
    }
    table.scope = {std::min(from, to), std::max(from, to)};
    for (std::size_t a = 0; a < sizes_[table.scope[0]]; ++a)
      for (std::size_t b = 0; b < sizes_[table.scope[1]]; ++b)
        table.costs.push_back(from < to ? cost(a, b) : cost(b, a));
    return table;
  }

  Cost at(const Table& table, const std::vector<int>& chosen) const {
    std::size_t place = 0;
    for (std::size_t i : table.scope)
      place = place * sizes_[i] + static_cast<std::size_t>(chosen[i]);
    return table.costs[place];
  }

  // What all tables of the last cell of a scope say at their best, for each choice of the others.
  void eliminate() {
    constexpr double kMost = 50'000;
    std::vector<int> chosen(sizes_.size(), 0);
    best_rest_.resize(sizes_.size());
    for (std::size_t last = sizes_.size(); last-- > 0;) {
      std::set<std::size_t> others;
      for (const Table& table : tables_by_last_[last])
        others.insert(table.scope.begin(), table.scope.end() - 1);
      double count = static_cast<double>(sizes_[last]);
      for (std::size_t i : others) count *= static_cast<double>(sizes_[i]);
      if (count > kMost) {
        is_small_ = false;
        return;
      }
      Table rest{{others.begin(), others.end()}, {}};
      for (std::size_t i : others) chosen[i] = 0;
      do {
        Cost least = CostNetwork::kForbidden;
        for (std::size_t k = 0; k < sizes_[last]; ++k) {
          chosen[last] = static_cast<int>(k);
          Cost cost = 0;
          for (const Table& table : tables_by_last_[last]) cost = sum(cost, at(table, chosen));
          least = std::min(least, cost);
        }
        rest.costs.push_back(least);
      } while (next(rest.scope, chosen));
      best_rest_[last] = rest;
      if (!rest.scope.empty()) add(std::move(rest));
    }
  }

  bool next(const std::vector<std::size_t>& scope, std::vector<int>& chosen) const {
    for (std::size_t i = scope.size(); i-- > 0;) {
      if (++chosen[scope[i]] < static_cast<int>(sizes_[scope[i]])) return true;
      chosen[scope[i]] = 0;
    }
    return false;
  }

  // At the fullest time; who has not chosen yet takes the least.
  std::int64_t held(const std::vector<int>& chosen) {
    std::vector<std::int64_t> then = search::held_over_time(cells_, [&](const search::Held& one) {
      const auto& bytes = lists_.bytes(one.list, one.type);
      const int way = chosen[static_cast<std::size_t>(one.cell)];
      return way < 0 ? *std::ranges::min_element(bytes) : bytes[static_cast<std::size_t>(way)];
    });
    return *std::ranges::max_element(then);
  }

  // `behind`: what the cells before this one cost that no table of the rest knows of.
  void go_on(std::size_t cell, Cost behind) {
    constexpr int kMostLooks = 5'000;
    if (++looks_ > kMostLooks) {
      is_small_ = false;
      return;
    }
    if (cell == sizes_.size()) {
      const std::int64_t peak = held(chosen_);
      if (peak <= limit_) best_ = Plan{behind, peak};
      return;
    }
    std::vector<std::pair<Cost, int>> order;  // by what a plan with it costs at least
    for (std::size_t k = 0; k < sizes_[cell]; ++k) {
      chosen_[cell] = static_cast<int>(k);
      const Cost least = sum(sum(behind, known_at(cell)), rest_after(cell));
      if (least != CostNetwork::kForbidden) order.emplace_back(least, static_cast<int>(k));
    }
    std::ranges::sort(order);
    for (const auto& [least, k] : order) {
      if (best_ && least >= best_->cost) break;
      chosen_[cell] = k;
      if (held(chosen_) <= limit_) go_on(cell + 1, sum(behind, known_at(cell)));
    }
    chosen_[cell] = -1;
  }

  // Of the tables that the program gives, those that end with this cell.
  Cost known_at(std::size_t cell) const {
    Cost cost = 0;
    for (const Table& table : given_at(cell)) cost = sum(cost, at(table, chosen_));
    return cost;
  }
  // What all cells behind this one cost at their best.
  Cost rest_after(std::size_t cell) const {
    Cost cost = 0;
    for (std::size_t last = cell + 1; last < sizes_.size(); ++last) {
      const Table& rest = best_rest_[last];
      if (rest.scope.empty() || rest.scope.back() <= cell)
        cost = sum(cost, rest.scope.empty() ? rest.costs[0] : at(rest, chosen_));
    }
    return cost;
  }
  std::span<const Table> given_at(std::size_t cell) const {
    return std::span(tables_by_last_[cell]).first(given_[cell]);
  }

  const search::Cells& cells_;
  search::SplitLists& lists_;
  std::vector<std::size_t> sizes_;
  std::vector<std::vector<Table>> tables_by_last_;  // by the last cell of their scopes
  std::vector<std::size_t> given_;                  // how many of these the program gives
  std::vector<Table> best_rest_;                    // what a cell and those behind it leave
  bool is_small_ = true;
  int looks_ = 0;
  std::vector<int> chosen_;  // -1: not yet
  std::int64_t limit_ = INT64_MAX;
  std::optional<Plan> best_;
};

}  // namespace heddle::property
