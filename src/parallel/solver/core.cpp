#include "parallel/solver/core.h"

#include <map>

namespace heddle::solver {
namespace {

double as_number(Cost cost) { return cost == kForbidden ? kInfinite : static_cast<double>(cost); }

// Equal tables lie at one place.
class TablePool {
 public:
  explicit TablePool(std::vector<double>& numbers) : numbers_(numbers) {}

  // Where a table of `rows` lies, and its transpose.
  std::pair<std::size_t, std::size_t> place(const std::vector<Cost>& table, std::size_t rows) {
    const auto [known, is_new] = places_.try_emplace({rows, table});
    if (!is_new) return known->second;
    const std::size_t columns = table.size() / rows;
    const std::size_t straight = numbers_.size();
    for (const Cost cost : table) numbers_.push_back(as_number(cost));
    const std::size_t across = numbers_.size();
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r) numbers_.push_back(as_number(table[r * columns + c]));
    return known->second = {straight, across};
  }

 private:
  std::vector<double>& numbers_;
  std::map<std::pair<std::size_t, std::vector<Cost>>, std::pair<std::size_t, std::size_t>> places_;
};

}  // namespace

Core::Core(const Model& model) : room_(model.room), constant_(static_cast<double>(model.constant)) {
  const int count = static_cast<int>(model.variables.size());
  starts_.push_back(0);
  usage_starts_.push_back(0);
  std::vector<std::size_t> amounts_at;
  for (const Variable& variable : model.variables) {
    sizes_.push_back(static_cast<int>(variable.costs.size()));
    for (const Cost cost : variable.costs) costs_.push_back(as_number(cost));
    starts_.push_back(static_cast<int>(costs_.size()));
    for (const Piece& piece : variable.pieces) {
      amounts_at.push_back(amounts_.size());
      amounts_.insert(amounts_.end(), piece.amounts.begin(), piece.amounts.end());
      usages_.push_back({piece.begin, piece.end, nullptr});
    }
    usage_starts_.push_back(static_cast<int>(usages_.size()));
  }
  for (std::size_t i = 0; i < usages_.size(); ++i)
    usages_[i].amounts = amounts_.data() + amounts_at[i];

  TablePool pool(tables_);
  std::vector<std::pair<std::size_t, std::size_t>> places;
  std::vector<std::vector<int>> pairs_of(count);
  for (std::size_t p = 0; p < model.pairs.size(); ++p) {
    const Pair& pair = model.pairs[p];
    places.push_back(pool.place(pair.table, sizes_[pair.first]));
    pairs_of[pair.first].push_back(static_cast<int>(p));
    pairs_of[pair.second].push_back(static_cast<int>(p));
  }
  around_starts_.push_back(0);
  for (int v = 0; v < count; ++v) {
    for (const int p : pairs_of[v]) {
      const Pair& pair = model.pairs[p];
      const double* const straight = tables_.data() + places[p].first;
      const double* const across = tables_.data() + places[p].second;
      around_.push_back(pair.first == v ? Neighbour{pair.second, straight, across}
                                        : Neighbour{pair.first, across, straight});
    }
    around_starts_.push_back(static_cast<int>(around_.size()));
  }
}

double Core::cost_of(std::span<const int> chosen) const {
  double sum = constant_;
  for (int v = 0; v < variables(); ++v) {
    sum += costs(v)[chosen[v]];
    for (const Neighbour& next : around(v))
      if (next.other > v) sum += next.by_own[chosen[v] * values(next.other) + chosen[next.other]];
  }
  return sum;
}

std::vector<std::int64_t> Core::taken_by(std::span<const int> chosen) const {
  std::vector<std::int64_t> taken(times() + 1);
  for (int v = 0; v < variables(); ++v)
    for (const Usage& usage : usages(v)) {
      taken[usage.begin] += usage.amounts[chosen[v]];
      taken[usage.end] -= usage.amounts[chosen[v]];
    }
  for (int t = 1; t < times(); ++t) taken[t] += taken[t - 1];
  taken.resize(times());
  return taken;
}

std::vector<double> priced_costs(const Core& core, const std::vector<double>& prices) {
  std::vector<double> until(prices.size() + 1);  // sums of the prices before a time
  for (std::size_t t = 0; t < prices.size(); ++t) until[t + 1] = until[t] + prices[t];
  std::vector<double> costs(core.costs(0), core.costs(0) + core.all_values());
  for (int v = 0; v < core.variables(); ++v)
    for (const Core::Usage& usage : core.usages(v)) {
      const double price = until[usage.end] - until[usage.begin];
      if (price == 0) continue;
      double* const own = costs.data() + core.start(v);
      for (int x = 0; x < core.values(v); ++x)
        own[x] += price * static_cast<double>(usage.amounts[x]);
    }
  return costs;
}

}  // namespace heddle::solver
