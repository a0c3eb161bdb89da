#include "heddle/ranks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "runtime/checkpoint_files.h"

namespace heddle {

namespace {

// A line with the hash of each argument; then what they were read from.
std::string inputs_text(const std::vector<Array>& inputs, const std::vector<std::string>& sources) {
  std::string text;
  for (const Array& array : inputs) {
    const auto bytes = array.bytes();
    const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text += fmt::format("{:016x}\n", runtime::content_hash(content));
  }
  return text + fmt::format("{}", fmt::join(sources, ", "));
}

// "rank 1", "ranks 1, 3 and 4 more"
std::string ranks_text(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t kMost = 8;
  const std::size_t named = std::min(ranks.size(), kMost);
  std::string text =
      fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s",
                  fmt::join(ranks.begin(), ranks.begin() + static_cast<int>(named), ", "));
  if (ranks.size() > named) text += fmt::format(" and {} more", ranks.size() - named);
  return text;
}

}  // namespace

Expected<std::vector<std::string>> gather_texts(Transport& ranks, const std::string& mine) {
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<int> everyone(count);
  std::iota(everyone.begin(), everyone.end(), 0);
  HEDDLE_TRY(const GroupId group, ranks.group(everyone));
  Collective c{.kind = CollectiveKind::all_gather, .group = group};
  c.what = "sharing texts";
  const std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(count);
  c.in = reinterpret_cast<const std::byte*>(&length);
  c.out = reinterpret_cast<std::byte*>(lengths.data());
  c.in_pieces = c.out_pieces = {1, sizeof length};
  HEDDLE_TRY_VOID(run_collective(ranks, c));
  const std::size_t most = std::ranges::max(lengths);
  std::vector<std::string> texts(count);
  if (most == 0) return texts;
  std::string padded = mine, all(most * count, '\0');
  padded.resize(most);
  c.in = reinterpret_cast<const std::byte*>(padded.data());
  c.out = reinterpret_cast<std::byte*>(all.data());
  c.in_pieces = c.out_pieces = {1, static_cast<std::int64_t>(most)};
  HEDDLE_TRY_VOID(run_collective(ranks, c));
  for (std::size_t r = 0; r < count; ++r) texts[r] = all.substr(r * most, lengths[r]);
  return texts;
}

Expected<std::int32_t> largest_of(Transport& ranks, std::int32_t mine) {
  std::vector<int> everyone(static_cast<std::size_t>(ranks.size()));
  std::iota(everyone.begin(), everyone.end(), 0);
  HEDDLE_TRY(const GroupId group, ranks.group(everyone));
  Collective c{.kind = CollectiveKind::all_reduce, .group = group};
  c.what = "finding the largest number";
  c.dtype = DType::i32;
  c.reduce = ReduceOp::max;
  std::int32_t most = 0;
  c.in = reinterpret_cast<const std::byte*>(&mine);
  c.out = reinterpret_cast<std::byte*>(&most);
  c.in_pieces = {1, sizeof mine};
  HEDDLE_TRY_VOID(run_collective(ranks, c));
  return most;
}

Verdict compare_inputs(Transport& ranks, const std::vector<Array>& inputs,
                       const std::vector<std::string>& sources) {
  constexpr std::size_t kLine = 17;
  HEDDLE_TRY(const std::vector<std::string> all, gather_texts(ranks, inputs_text(inputs, sources)));
  const std::size_t hashes = kLine * inputs.size();
  std::vector<std::size_t> others;
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r].compare(0, hashes, all[0], 0, hashes) != 0) others.push_back(r);
  if (others.empty()) return yes();
  const std::string& other = all[others[0]];
  const auto differs = std::ranges::mismatch(all[0], other).in1 - all[0].begin();
  const auto sources_of = [&](const std::string& text) {
    return text.size() > hashes ? text.substr(hashes) : "nothing";
  };
  return reason(
      "{} of {} read other data for argument {} than rank 0: rank 0 was given {}, and rank {} {}\n"
      "  every rank takes its part of the whole: start all of them with the same inputs",
      ranks_text(others), all.size(), static_cast<std::size_t>(differs) / kLine, sources_of(all[0]),
      others[0], sources_of(other));
}

}  // namespace heddle
