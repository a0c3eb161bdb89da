// Collectives that wait until somebody needs one of them, and are written as one then.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ir/replica_groups.h"
#include "schedule/copier.h"
#include "schedule/joined_permutes.h"

namespace heddle {

// What an op reads and writes that may wait for others.
inline constexpr std::int64_t kSmallWork = std::int64_t{1} << 16;

class WaitingCollectives : public Copier {
 public:
  WaitingCollectives(const Program& from, std::int64_t combine_bytes)
      : Copier(from), combine_bytes_(combine_bytes) {}

 protected:
  using Key = int;  // the number of a `collective_key`
  static constexpr Key kAlone = -1;

  struct Group {
    std::vector<OpId> ops;
    std::int64_t bytes = 0;
  };

  // Those of one number may be one.
  Key key_of(OpId id);
  void wait(RegionId at, Key key, OpId id);
  void flush(RegionId at, Key key);
  // A result of a collective is there.
  virtual void has_come(RegionId at, ValueId v) = 0;

  std::map<Key, Group> waiting_;
  std::unordered_map<ValueId, Key> waits_in_;  // results that are not there yet

 private:
  // Small permutes that wait too, and in which nobody takes part twice, go along. False: there are
  // none.
  bool write_ring(RegionId at, const Group& group);
  PermutePart part_of(const Group& group) const;
  // Of the same op, between partitions too, and of the same types.
  bool is_like(const Group& group, const Group& other) const;
  bool may_be_apart(const Group& group, const Group& other) const;
  void set_results(RegionId at, const Group& group, std::span<const ValueId> results);
  void write_group(RegionId at, const Group& group);

  const std::int64_t combine_bytes_;
  std::unordered_map<std::string, Key> keys_;
  std::unordered_map<OpId, Key> keys_of_ops_;
  // Where the pairs of a permute lie, how many numbers they are, and of what.
  using PairList = std::tuple<const std::byte*, std::int64_t, GroupBy>;
  std::map<PairList, Key> keys_of_lists_;
};

}  // namespace heddle
