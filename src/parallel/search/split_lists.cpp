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

const std::vector<CostNetwork::Cost>& SplitLists::moves(int from, int to, TypeId type) {
  auto [it, is_new] = moves_.try_emplace({from, to, type});
  if (is_new)
    for (int a : (*this)[from])
      for (int b : (*this)[to]) it->second.push_back(costs_.of(a, b, on_.program.type(type)));
  return it->second;
}

}  // namespace heddle::search
