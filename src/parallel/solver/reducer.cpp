#include "parallel/solver/reducer.h"

#include <algorithm>
#include <numeric>

namespace heddle::solver {
namespace {

constexpr int kVisits = 64;  // after which it looks whether it has to stop

std::uint64_t key_of(int a, int b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<unsigned>(std::max(a, b));
}

std::vector<Cost> transposed(const std::vector<Cost>& table, std::size_t rows,
                             std::size_t columns) {
  std::vector<Cost> result(table.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = table[r * columns + c];
  return result;
}

template <typename Number>
std::vector<Number> picked(const std::vector<Number>& all, const std::vector<int>& kept) {
  std::vector<Number> found;
  for (const int x : kept) found.push_back(all[x]);
  return found;
}

// The moments at which something begins or ends, in their order.
std::vector<std::int64_t> moments_of(const CostNetwork& network) {
  std::vector<std::int64_t> moments;
  for (const CostNetwork::Usage& usage : network.usages()) {
    moments.push_back(usage.life.begin);
    moments.push_back(usage.life.end);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

// The variables with what they take, and the room at each moment; no pairs.
Model memory_of(const CostNetwork& network) {
  Model model;
  model.variables.resize(network.variables());
  for (int v = 0; v < network.variables(); ++v)
    model.variables[v].costs.assign(network.costs(v).begin(), network.costs(v).end());
  if (network.limit() == CostNetwork::kNoLimit) return model;
  const std::vector<std::int64_t> moments = moments_of(network);
  const auto number = [&](std::int64_t moment) {
    return static_cast<int>(std::lower_bound(moments.begin(), moments.end(), moment) -
                            moments.begin());
  };
  for (const CostNetwork::Usage& usage : network.usages())
    model.variables[usage.variable].pieces.push_back(
        {number(usage.life.begin), number(usage.life.end), usage.amounts});
  model.room.assign(moments.size(), network.limit());
  return model;
}

// Times, and amounts at times.
std::size_t memory_size(const Model& model) {
  std::size_t size = model.room.size();
  for (const Variable& variable : model.variables)
    size += variable.pieces.size() * (1 + variable.costs.size());
  return size;
}

}  // namespace

Reducer::Reducer(const CostNetwork& network, std::function<bool()> stop)
    : model_(memory_of(network)), stop_(std::move(stop)) {
  const int count = network.variables();
  begin(count);
  for (int v = 0; v < count; ++v) {
    const auto costs = network.costs(v);
    original_[v].resize(costs.size());
    std::iota(original_[v].begin(), original_[v].end(), 0);
    original_values_.push_back(static_cast<int>(costs.size()));
  }
  for (const CostNetwork::Edge& edge : network.edges()) {
    const auto table = network.table(edge.table);
    add_table(edge.first, edge.second, {table.begin(), table.end()});
  }
}

Reducer::Reducer(const Model& model, const std::vector<std::vector<int>>& kept,
                 std::function<bool()> stop)
    : stop_(std::move(stop)) {
  const int count = static_cast<int>(model.variables.size());
  model_.room = model.room;
  model_.constant = model.constant;
  model_.variables.resize(model.variables.size());
  begin(count);
  original_ = kept;
  for (int v = 0; v < count; ++v) {
    const Variable& whole = model.variables[v];
    model_.variables[v].costs = picked(whole.costs, kept[v]);
    for (const Piece& piece : whole.pieces)
      model_.variables[v].pieces.push_back(
          {piece.begin, piece.end, picked(piece.amounts, kept[v])});
    original_values_.push_back(static_cast<int>(whole.costs.size()));
  }
  for (const Pair& pair : model.pairs) {
    const std::size_t columns = model.variables[pair.second].costs.size();
    std::vector<Cost> table;
    for (const int x : kept[pair.first])
      for (const int y : kept[pair.second]) table.push_back(pair.table[x * columns + y]);
    add_table(pair.first, pair.second, std::move(table));
  }
}

void Reducer::begin(int variables) {
  taken_.assign(model_.room.size() + 1, 0);
  around_.resize(variables);
  original_.resize(variables);
  gone_.assign(variables, 0);
  waiting_.assign(variables, 0);
  changed_.assign(variables, 1);
}

Reducer::Side Reducer::side(int pair, int v) const {
  const Pair& p = model_.pairs[pair];
  const bool is_first = p.first == v;
  return {&p, is_first, is_first ? p.second : p.first, static_cast<std::size_t>(values(p.second))};
}

void Reducer::touch(int v) {
  changed_[v] = 1;
  if (gone_[v] != 0 || waiting_[v] != 0) return;
  waiting_[v] = 1;
  queue_.push_back(v);
}

// A pair that became another one, for both of its variables to look at.
void Reducer::mark(int pair) {
  is_new_[pair] = 1;
  touch(model_.pairs[pair].first);
  touch(model_.pairs[pair].second);
}

void Reducer::forget_dropped(int v) {
  std::erase_if(around_[v], [&](int pair) { return model_.pairs[pair].table.empty(); });
}

void Reducer::add_table(int a, int b, std::vector<Cost> table) {
  if (a > b) {
    table = transposed(table, values(a), values(b));
    std::swap(a, b);
  }
  const int next = static_cast<int>(model_.pairs.size());
  const auto [known, is_new] = between_.emplace(key_of(a, b), next);
  if (!is_new) {
    std::vector<Cost>& sum = model_.pairs[known->second].table;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = add_costs(sum[i], table[i]);
    return mark(known->second);
  }
  around_[a].push_back(next);
  around_[b].push_back(next);
  model_.pairs.push_back({a, b, std::move(table)});
  is_new_.push_back(1);
  mark(next);
}

void Reducer::drop_pair(int pair) {
  between_.erase(key_of(model_.pairs[pair].first, model_.pairs[pair].second));
  touch(model_.pairs[pair].first);
  touch(model_.pairs[pair].second);
  model_.pairs[pair].table = {};
}

void Reducer::remove(int v) {
  gone_[v] = 1;
  model_.variables[v] = {};
  around_[v] = {};
}

Expected<Reduction> Reducer::run() {
  result_.variables_ = static_cast<int>(model_.variables.size());
  HEDDLE_TRY_VOID(shrink_memory());
  for (std::size_t size = 0, before = 1; (size != before || !may_grow_) && !stop_();) {
    may_grow_ = size == before;
    std::fill(is_new_.begin(), is_new_.end(), 1);
    before = size;
    for (int v = 0; v < result_.variables_; ++v) touch(v);
    do {
      if (!propagate()) return reason("no assignment is allowed: forbidden costs leave none");
      dominate_all();
    } while (!queue_.empty() && !stop_());
    HEDDLE_TRY_VOID(shrink_memory());
    size = model_.room.size();
    for (const Variable& variable : model_.variables)
      size += variable.costs.size() + variable.pieces.size();
  }
  return finish();
}

Verdict Reducer::shrink_memory() {
  std::int64_t taken = 0;
  for (std::size_t t = 0; t < model_.room.size(); ++t) model_.room[t] -= taken += taken_[t];
  HEDDLE_TRY_VOID(compress_times(model_));
  forbid_too_large();
  if (const std::size_t size = memory_size(model_); size != memory_before_) {
    drop_dominated_times(model_);
    HEDDLE_TRY_VOID(compress_times(model_));
    memory_before_ = memory_size(model_);
  }
  taken_.assign(model_.room.size() + 1, 0);
  return yes();
}

// A value that does not fit with the least of all others cannot be taken.
void Reducer::forbid_too_large() {
  for (const int v : forbid_without_room(model_)) touch(v);
}

bool Reducer::visit(int v) {
  forget_dropped(v);
  if (!restrict(v)) return false;
  if (!eliminate(v)) merge_around(v);
  return true;
}

bool Reducer::propagate() {
  for (int visits = 1; !queue_.empty(); ++visits) {
    // What is left is a whole network at any time.
    if (visits % kVisits == 0 && stop_()) return true;
    const int v = queue_.front();
    queue_.pop_front();
    waiting_[v] = 0;
    if (gone_[v] == 0 && !visit(v)) return false;
  }
  return true;
}

Reduction Reducer::finish() {
  Model& model = result_.model_;
  model.constant = model_.constant;
  model.room = model_.room;
  std::vector<int> number(model_.variables.size(), -1);
  for (std::size_t v = 0; v < model_.variables.size(); ++v) {
    if (gone_[v] != 0) continue;
    number[v] = static_cast<int>(result_.kept_.size());
    result_.kept_.push_back(static_cast<int>(v));
    result_.values_.push_back(original_[v]);
    model.variables.push_back(std::move(model_.variables[v]));
  }
  for (Pair& pair : model_.pairs) {
    if (pair.table.empty()) continue;
    model.pairs.push_back({number[pair.first], number[pair.second], std::move(pair.table)});
  }
  return std::move(result_);
}

}  // namespace heddle::solver
