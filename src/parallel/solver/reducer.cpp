#include "parallel/solver/reducer.h"

#include <algorithm>
#include <numeric>

namespace heddle::solver {
namespace {

constexpr std::size_t kMostTable = 1 << 14;     // of a table that an elimination makes
constexpr std::size_t kMostMerged = 1 << 16;    // and that a merge makes
constexpr int kVisits = 64;                     // after which it looks whether it has to stop
constexpr std::size_t kMostCompared = 1 << 24;  // costs that are compared to drop values of one

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
  taken_.assign(model_.room.size() + 1, 0);
  around_.resize(count);
  original_.resize(count);
  gone_.assign(count, 0);
  waiting_.assign(count, 0);
  changed_.assign(count, 1);
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

bool Reducer::has_partner(const Side& side, int value) const {
  const int others = values(side.other);
  for (int y = 0; y < others; ++y)
    if (side.at(value, y) != kForbidden && allows(side.other, y)) return true;
  return false;
}

// Forbids the values of v that go with none of the pair's other variable.
bool Reducer::forbid_lonely(int pair, int v) {
  const Side own = side(pair, v);
  bool changed = false;
  for (int x = 0; x < values(v); ++x)
    if (allows(v, x) && !has_partner(own, x)) {
      model_.variables[v].costs[x] = kForbidden;
      changed = true;
    }
  return changed;
}

bool Reducer::restrict(int v) {
  for (const int pair : around_[v]) {
    if (is_new_[pair] == 0) continue;
    forbid_lonely(pair, v);
    const int other = side(pair, v).other;
    if (forbid_lonely(pair, other)) touch(other);
  }
  int allowed = 0;
  for (int x = 0; x < values(v); ++x) allowed += allows(v, x) ? 1 : 0;
  if (allowed > 0 && allowed < values(v)) compact(v);
  return allowed > 0;
}

// Only values that are allowed stay.
void Reducer::compact(int v) {
  std::vector<int> kept;
  for (int x = 0; x < values(v); ++x)
    if (allows(v, x)) kept.push_back(x);
  for (const int pair : around_[v]) compact_table(pair, v, kept), mark(pair);
  const auto pick = [&](auto& list) {
    for (std::size_t i = 0; i < kept.size(); ++i) list[i] = list[kept[i]];
    list.resize(kept.size());
  };
  pick(model_.variables[v].costs);
  pick(original_[v]);
  for (Piece& piece : model_.variables[v].pieces) pick(piece.amounts);
}

void Reducer::compact_table(int pair, int v, const std::vector<int>& kept) {
  const Side old = side(pair, v);
  const int others = values(old.other);
  const int rows = old.is_first ? static_cast<int>(kept.size()) : others;
  const int columns = old.is_first ? others : static_cast<int>(kept.size());
  std::vector<Cost> table;
  table.reserve(static_cast<std::size_t>(rows) * columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      table.push_back(old.is_first ? old.at(kept[r], c) : old.at(kept[c], r));
  model_.pairs[pair].table = std::move(table);
}

std::vector<int> Reducer::function_of(int pair, int v) const {
  const Side from = side(pair, v);
  const int others = values(from.other);
  std::vector<int> function(values(v), -1);
  for (int x = 0; x < values(v); ++x)
    for (int y = 0; y < others; ++y) {
      if (from.at(x, y) == kForbidden) continue;
      if (function[x] >= 0) return {};
      function[x] = y;
    }
  const bool is_whole = std::find(function.begin(), function.end(), -1) == function.end();
  return is_whole ? function : std::vector<int>();
}

bool Reducer::stays_small(int gone, int into) const {
  if (values(into) <= values(gone)) return true;
  if (!may_grow_) return false;
  for (const int pair : around_[gone]) {
    if (model_.pairs[pair].table.empty()) continue;
    const std::size_t others = values(side(pair, gone).other);
    if (values(into) * others > kMostMerged) return false;
  }
  return true;
}

// Where a value of one of two says which value the other one has, the other one is not needed.
void Reducer::merge_around(int v) {
  for (std::size_t i = 0; i < around_[v].size(); ++i) {
    const int pair = around_[v][i];
    if (is_new_[pair] == 0 || model_.pairs[pair].table.empty()) continue;
    is_new_[pair] = 0;
    const int other = side(pair, v).other;
    const std::vector<int> of_own = function_of(pair, v), of_other = function_of(pair, other);
    const bool can_drop_other = !of_own.empty() && stays_small(other, v);
    const bool can_drop_own = !of_other.empty() && stays_small(v, other);
    // The one with fewer pairs goes, since these have to be made anew.
    if (can_drop_other && (!can_drop_own || around_[other].size() <= around_[v].size()))
      merge(other, v, pair, of_own);
    else if (can_drop_own)
      return merge(v, other, pair, of_other);
  }
}

// `gone` is function[value of `into`].
void Reducer::merge(int gone, int into, int pair, const std::vector<int>& function) {
  const Side between = side(pair, into);
  const int count = values(into);
  Reduction::Step step{gone, into, -1, 1, std::vector<int>(original_values_[into], 0)};
  for (int x = 0; x < count; ++x) {
    step.values[original_[into][x]] = original_[gone][function[x]];
    Cost& cost = model_.variables[into].costs[x];
    cost = add_costs(
        cost, add_costs(between.at(x, function[x]), model_.variables[gone].costs[function[x]]));
  }
  result_.steps_.push_back(std::move(step));
  for (const Piece& piece : model_.variables[gone].pieces) {
    Piece moved{piece.begin, piece.end, {}};
    for (const int y : function) moved.amounts.push_back(piece.amounts[y]);
    model_.variables[into].pieces.push_back(std::move(moved));
  }
  drop_pair(pair);
  forget_dropped(gone);
  const std::vector<int> others = around_[gone];
  for (const int next : others) {
    const Side old = side(next, gone);
    std::vector<Cost> table;
    const int columns = values(old.other);
    table.reserve(static_cast<std::size_t>(count) * columns);
    for (int x = 0; x < count; ++x)
      for (int y = 0; y < columns; ++y) table.push_back(old.at(function[x], y));
    const int other = old.other;
    drop_pair(next);
    add_table(into, other, std::move(table));
  }
  remove(gone);
  touch(into);
}

bool Reducer::eliminate(int v) {
  const bool is_plain = model_.variables[v].pieces.empty() || values(v) == 1;
  if (!is_plain || (around_[v].size() > 2 && values(v) > 1)) return false;
  if (values(v) == 1) {
    eliminate_alone(v);
    return true;
  }
  if (around_[v].empty()) {
    eliminate_alone(v);
    return true;
  }
  if (around_[v].size() == 1) {
    eliminate_leaf(v);
    return true;
  }
  const std::size_t a = values(side(around_[v][0], v).other);
  const std::size_t b = values(side(around_[v][1], v).other);
  if (a * b > kMostTable) return false;
  eliminate_inner(v);
  return true;
}

// Its cheapest value, or the only one that it has.
void Reducer::eliminate_alone(int v) {
  const auto& costs = model_.variables[v].costs;
  const int best = static_cast<int>(std::min_element(costs.begin(), costs.end()) - costs.begin());
  model_.constant += costs[best];
  result_.steps_.push_back({v, -1, -1, 1, {original_[v][best]}});
  const std::vector<int> around = around_[v];
  for (const int pair : around) {
    const Side other = side(pair, v);
    for (int y = 0; y < values(other.other); ++y) {
      Cost& cost = model_.variables[other.other].costs[y];
      cost = add_costs(cost, other.at(best, y));
    }
    drop_pair(pair);
  }
  // What it takes is taken always.
  for (const Piece& piece : model_.variables[v].pieces) {
    taken_[piece.begin] += piece.amounts[best];
    taken_[piece.end] -= piece.amounts[best];
  }
  remove(v);
}

void Reducer::eliminate_leaf(int v) {
  const int pair = around_[v][0];
  const Side own = side(pair, v);
  const int u = own.other;
  Reduction::Step step{v, u, -1, 1, std::vector<int>(original_values_[u], 0)};
  for (int y = 0; y < values(u); ++y) {
    Cost best = kForbidden;
    for (int x = 0; x < values(v); ++x) {
      const Cost cost = add_costs(model_.variables[v].costs[x], own.at(x, y));
      if (cost >= best) continue;
      best = cost;
      step.values[original_[u][y]] = original_[v][x];
    }
    model_.variables[u].costs[y] = add_costs(model_.variables[u].costs[y], best);
  }
  result_.steps_.push_back(std::move(step));
  drop_pair(pair);
  remove(v);
  touch(u);
}

void Reducer::eliminate_inner(int v) {
  const int left = around_[v][0], right = around_[v][1];
  const Side to_a = side(left, v), to_b = side(right, v);
  const int a = to_a.other, b = to_b.other;
  Reduction::Step step{
      v, a, b, original_values_[b],
      std::vector<int>(static_cast<std::size_t>(original_values_[a]) * original_values_[b], 0)};
  std::vector<Cost> table;
  table.reserve(static_cast<std::size_t>(values(a)) * values(b));
  for (int y = 0; y < values(a); ++y)
    for (int z = 0; z < values(b); ++z) {
      Cost best = kForbidden;
      for (int x = 0; x < values(v); ++x) {
        const Cost cost =
            add_costs(model_.variables[v].costs[x], add_costs(to_a.at(x, y), to_b.at(x, z)));
        if (cost >= best) continue;
        best = cost;
        step.values[static_cast<std::size_t>(original_[a][y]) * step.columns + original_[b][z]] =
            original_[v][x];
      }
      table.push_back(best);
    }
  result_.steps_.push_back(std::move(step));
  drop_pair(left);
  drop_pair(right);
  remove(v);
  add_table(a, b, std::move(table));
  touch(a);
  touch(b);
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

ComparedRows Reducer::rows_of(int v) const {
  ComparedRows rows(values(v));
  for (const int pair : around_[v]) {
    const Side own = side(pair, v);
    const auto width = static_cast<std::size_t>(values(own.other));
    std::vector<Cost> costs;
    costs.reserve(width * static_cast<std::size_t>(values(v)));
    for (int x = 0; x < values(v); ++x)
      for (int y = 0; y < values(own.other); ++y) costs.push_back(own.at(x, y));
    rows.add_neighbour(width, std::move(costs));
  }
  return rows;
}

// Whether `other` never costs more and never takes more.
bool Reducer::is_worse(int v, int value, int other, const ComparedRows& rows) const {
  for (const Piece& piece : model_.variables[v].pieces)
    if (piece.amounts[other] > piece.amounts[value]) return false;
  const std::vector<Cost>& costs = model_.variables[v].costs;
  return rows.is_worse(value, other, costs[other] - costs[value]);
}

void Reducer::dominate(int v) {
  std::size_t work = 0;
  for (const int pair : around_[v]) work += values(side(pair, v).other);
  if (work * values(v) * values(v) > kMostCompared) return;
  bool changed = false;
  const ComparedRows rows = rows_of(v);
  for (int x = 0; x < values(v); ++x)
    for (int y = 0; y < values(v); ++y)
      if (x != y && allows(v, x) && allows(v, y) && is_worse(v, x, y, rows)) {
        model_.variables[v].costs[x] = kForbidden;
        changed = true;
      }
  if (!changed) return;
  compact(v);
  touch(v);
}

void Reducer::dominate_all() {
  for (int v = 0; v < static_cast<int>(model_.variables.size()); ++v) {
    if (gone_[v] != 0 || changed_[v] == 0) continue;
    if (v % kVisits == 0 && stop_()) return;
    changed_[v] = 0;
    forget_dropped(v);
    dominate(v);
  }
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
