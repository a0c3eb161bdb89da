// How an all_reduce is dealt out to its members.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::comm {

// The part that a member takes: whole cache lines.
struct Share {
  std::int64_t first = 0, bytes = 0;
};
inline Share share_of(std::int64_t bytes, std::size_t member, std::size_t members) {
  constexpr std::int64_t kLine = 64;
  const auto n = static_cast<std::int64_t>(members), k = static_cast<std::int64_t>(member);
  const std::int64_t lines = (bytes + kLine - 1) / kLine;
  const std::int64_t first = std::min(bytes, lines * k / n * kLine);
  return {first, std::min(bytes, lines * (k + 1) / n * kLine) - first};
}

}  // namespace heddle::comm
