// Small 64-bit hashing, the same on every machine and in every run. Not for secrets.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace heddle {

// Spreads every bit of `v` over the whole word; a bijection (constants of splitmix64).
constexpr std::uint64_t hash_mix(std::uint64_t v) {
  v += 0x9e3779b97f4a7c15ULL;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ULL;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebULL;
  return v ^ (v >> 31);
}

// Adds one value to a running hash; order matters.
constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t v) {
  return hash_mix(seed ^ hash_mix(v));
}

// Adds a text: its length, then eight bytes at a time.
constexpr std::uint64_t hash_combine(std::uint64_t seed, std::string_view text) {
  seed = hash_combine(seed, static_cast<std::uint64_t>(text.size()));
  std::uint64_t word = 0;
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little)
    for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
      std::memcpy(&word, text.data(), sizeof word);
      seed = hash_combine(seed, word);
    }
  word = 0;
  int filled = 0;
  for (char c : text) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(c)) << (8 * filled);
    if (++filled == 8) {
      seed = hash_combine(seed, word);
      word = 0;
      filled = 0;
    }
  }
  return filled == 0 ? seed : hash_combine(seed, word);
}

}  // namespace heddle
