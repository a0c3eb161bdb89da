#include "schedule/waiting_collectives.h"

#include <algorithm>

#include "heddle/op.h"
#include "schedule/collective_key.h"

namespace heddle {

WaitingCollectives::Key WaitingCollectives::key_of(OpId id) {
  const auto [known, is_new] = keys_of_ops_.try_emplace(id, kAlone);
  if (!is_new) return known->second;
  // Long lists of pairs are mostly one and the same.
  const Op& op = from_.op(id);
  const Attr* attr = from_.attr(op, "source_target_pairs");
  const Array* pairs = attr == nullptr ? nullptr : attr->get<Array>();
  const bool permutes = op.def->collective == CollectiveKind::permute && pairs != nullptr;
  PairList list;
  if (permutes) list = {pairs->bytes().data(), pairs->elements(), exchange_grouping(from_, op)};
  if (const auto same = keys_of_lists_.find(list); permutes && same != keys_of_lists_.end())
    return known->second = same->second;
  std::string key = collective_key(from_, op);
  if (key.empty()) return kAlone;
  const auto number = static_cast<Key>(keys_.size());
  known->second = keys_.try_emplace(std::move(key), number).first->second;
  if (permutes) keys_of_lists_[list] = known->second;
  return known->second;
}

void WaitingCollectives::wait(RegionId at, Key key, OpId id) {
  const Op& op = from_.op(id);
  std::int64_t bytes = 0;
  for (ValueId v : from_.operands(op)) bytes += from_.type_of(v).bytes();
  if (waiting_[key].bytes + bytes > combine_bytes_) flush(at, key);
  Group& group = waiting_[key];
  group.ops.push_back(id);
  group.bytes += bytes;
  for (std::size_t i = 0; i < op.result_count; ++i) waits_in_[from_.result(op, i)] = key;
}

void WaitingCollectives::flush(RegionId at, Key key) {
  const auto it = waiting_.find(key);
  if (it == waiting_.end() || it->second.ops.empty()) return;
  const Group group = std::move(it->second);
  waiting_.erase(it);
  if (!write_ring(at, group)) write_group(at, group);
}

bool WaitingCollectives::write_ring(RegionId at, const Group& group) {
  const Op& first = from_.op(group.ops[0]);
  if (first.def->collective != CollectiveKind::permute || group.bytes > kSmallWork ||
      exchange_grouping(from_, first) != GroupBy::partition)
    return false;
  std::vector<PermutePart> parts;
  std::vector<Group> groups{group};
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->second.ops.empty() || !is_like(it->second, group) || !may_be_apart(it->second, group)) {
      ++it;
      continue;
    }
    if (parts.empty()) parts.push_back(part_of(group));
    PermutePart other = part_of(it->second);
    const bool joins = std::ranges::all_of(
        parts, [&](const PermutePart& part) { return are_apart(part.pairs, other.pairs); });
    if (joins) {
      parts.push_back(std::move(other));
      groups.push_back(std::move(it->second));
    }
    it = joins ? waiting_.erase(it) : std::next(it);
  }
  if (parts.size() < 2) return false;
  const auto results =
      write_joined_permutes(out_, at, parts, from_.attrs_of(first), location(first.loc));
  for (std::size_t g = 0; g < groups.size(); ++g) set_results(at, groups[g], results[g]);
  return true;
}

// Of more pairs than there are devices some have one in common.
bool WaitingCollectives::may_be_apart(const Group& group, const Group& other) const {
  std::int64_t devices = 1, pairs = 0;
  for (const MeshDecl& mesh : from_.meshes) devices = std::max(devices, mesh.mesh.devices());
  for (const Group* one : {&group, &other}) {
    const Attr* attr = from_.attr(from_.op(one->ops[0]), "source_target_pairs");
    const Array* array = attr == nullptr ? nullptr : attr->get<Array>();
    if (array != nullptr) pairs += array->elements() / 2;
  }
  return from_.meshes.empty() || pairs <= devices;
}

PermutePart WaitingCollectives::part_of(const Group& group) const {
  PermutePart part{source_target_pairs(from_, from_.op(group.ops[0])).value(), {}};
  for (OpId id : group.ops)
    for (ValueId v : from_.operands(from_.op(id))) part.operands.push_back(values_.at(v));
  return part;
}

bool WaitingCollectives::is_like(const Group& group, const Group& other) const {
  const Op &first = from_.op(group.ops[0]), &second = from_.op(other.ops[0]);
  if (first.def != second.def ||
      exchange_grouping(from_, first) != exchange_grouping(from_, second))
    return false;
  const auto types = [&](const Group& one) {
    std::vector<TypeId> all;
    for (OpId id : one.ops)
      for (ValueId v : from_.operands(from_.op(id))) all.push_back(from_.value(v).type);
    return all;
  };
  return types(group) == types(other);
}

void WaitingCollectives::set_results(RegionId at, const Group& group,
                                     std::span<const ValueId> results) {
  std::size_t next = 0;
  for (OpId id : group.ops) {
    const Op& op = from_.op(id);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      values_[from_.result(op, i)] = results[next++];
      waits_in_.erase(from_.result(op, i));
    }
  }
  for (OpId id : group.ops)
    for (std::size_t i = 0; i < from_.op(id).result_count; ++i)
      has_come(at, from_.result(from_.op(id), i));
}

void WaitingCollectives::write_group(RegionId at, const Group& group) {
  const Op& first = from_.op(group.ops[0]);
  std::vector<ValueId> operands;
  std::vector<TypeId> types;
  for (OpId id : group.ops) {
    const Op& op = from_.op(id);
    for (ValueId v : from_.operands(op)) operands.push_back(values_.at(v));
    for (std::size_t i = 0; i < op.result_count; ++i)
      types.push_back(out_.intern(from_.type_of(from_.result(op, i))));
  }
  std::vector<RegionId> regions;
  for (RegionId r : from_.regions(first)) regions.push_back(clone_region(out_, from_, r, values_));
  const OpId made = out_.add_op(at, *first.def, operands, types, from_.attrs_of(first), regions,
                                location(first.loc));
  std::vector<ValueId> results;
  for (std::size_t i = 0; i < types.size(); ++i) results.push_back(out_.result(out_.op(made), i));
  set_results(at, group, results);
}

}  // namespace heddle
