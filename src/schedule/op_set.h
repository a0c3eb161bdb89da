// Ops that are looked up far more often than they are put in.
#pragma once

#include <vector>

#include "heddle/program.h"

namespace heddle {

class OpSet {
 public:
  OpSet() = default;
  OpSet(std::initializer_list<OpId> ids) : OpSet(std::vector<OpId>(ids)) {}
  explicit OpSet(const std::vector<OpId>& ids) { insert(ids); }

  void insert(OpId id) {
    if (id >= is_in_.size()) is_in_.resize(static_cast<std::size_t>(id) + 1);
    if (!is_in_[id]) ids_.push_back(id);
    is_in_[id] = true;
  }
  void insert(const std::vector<OpId>& ids) {
    for (OpId id : ids) insert(id);
  }
  bool contains(OpId id) const { return id < is_in_.size() && is_in_[id]; }
  bool empty() const { return ids_.empty(); }
  const std::vector<OpId>& ids() const { return ids_; }  // each once, as they were put in

 private:
  std::vector<bool> is_in_;  // by OpId
  std::vector<OpId> ids_;
};

}  // namespace heddle
