// PastCalls: what was recorded lately, and how long the turns of the loop are that it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::record {

class PastCalls {
 public:
  // Hashes of calls, in order.
  void add(std::span<const std::uint64_t> calls);
  // How many calls a turn has: the distance at which the longest stretch up to now repeats what was
  // before it, and at least a whole turn does. 0: there is none. A loop inside of a turn repeats
  // for a shorter stretch than the turns do, once there were two of them.
  std::size_t turn() const;
  // Whether each of the last calls, so many, is as the one a turn before it.
  bool repeats(std::size_t turn, std::size_t calls) const;

 private:
  static constexpr std::size_t kMost = 8192;
  std::vector<std::uint64_t> calls_;
};

}  // namespace heddle::record
