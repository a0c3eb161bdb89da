#include "parallel/search/split_lists.h"

namespace heddle::search {

int complete_split(OnMesh& on, int split) {
  Split done = on.splits[split];
  done.pending.clear();
  return on.split_id(std::move(done));
}

int SplitLists::id(std::vector<int> splits) {
  const auto [it, is_new] = ids_.try_emplace(std::move(splits), static_cast<int>(lists_.size()));
  if (is_new) lists_.push_back(it->first);
  return it->second;
}

const std::vector<std::int64_t>& SplitLists::bytes(int list, TypeId type) {
  auto [it, is_new] = bytes_.try_emplace({list, type});
  if (is_new)
    for (int split : (*this)[list])
      it->second.push_back(local_type(on_.program.type(type), on_.splits[split]).bytes());
  return it->second;
}

const SplitLists::Distinct& SplitLists::distinct(int list) {
  const auto [it, is_new] = distinct_.try_emplace(list);
  if (!is_new) return it->second;
  std::map<int, int> known;
  for (int split : (*this)[list]) {
    const auto [place, is_first] = known.try_emplace(split, static_cast<int>(known.size()));
    if (is_first) it->second.splits.push_back(split);
    it->second.places.push_back(place->second);
  }
  return it->second;
}

const std::vector<CostNetwork::Cost>& SplitLists::moves(int from, int to, TypeId type) {
  auto [it, is_new] = moves_.try_emplace({from, to, type});
  if (!is_new) return it->second;
  const Distinct &rows = distinct(from), &columns = distinct(to);
  std::vector<CostNetwork::Cost> costs;
  costs.reserve(rows.splits.size() * columns.splits.size());
  for (int a : rows.splits)
    for (int b : columns.splits) costs.push_back(costs_.of(a, b, on_.program.type(type)));
  it->second.reserve(rows.places.size() * columns.places.size());
  for (int a : rows.places) {
    const auto row = costs.begin() + a * static_cast<std::ptrdiff_t>(columns.splits.size());
    for (int b : columns.places) it->second.push_back(row[b]);
  }
  return it->second;
}

}  // namespace heddle::search
