#include "heddle/ranks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "heddle/hash.h"
#include "heddle/stablehlo.h"
#include "heddle/version.h"
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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

// What the one has where the two first differ.
std::string first_other(const std::vector<std::string>& lines,
                        const std::vector<std::string>& than) {
  const auto at = std::ranges::mismatch(lines, than).in1;
  return at == lines.end() ? "nothing of that" : *at;
}

// The ranks whose text is not that of rank 0, in this part of it.
template <typename Part>
std::vector<std::size_t> that_differ(const std::vector<std::string>& all, Part part) {
  std::vector<std::size_t> others;
  for (std::size_t r = 1; r < all.size(); ++r)
    if (part(all[r]) != part(all[0])) others.push_back(r);
  return others;
}

// "step.mlir, @main with 3 arguments and 40 ops"
std::string summary_of(const Program& program, const Function& function) {
  const std::size_t arguments =
      function.body == kNone ? 0 : program.region(function.body).args.size();
  return fmt::format("{}, @{} with {} of a program of {}", program.file, function.name,
                     counted(arguments, "argument"), counted(program.op_count(), "op"));
}

// Two lines of text where the programs of two ranks first differ; all ranks call it together.
Expected<std::string> difference(Transport& ranks, const std::string& mine, std::size_t other) {
  const std::vector<std::string> lines = lines_of(mine);
  std::string hashes;
  for (const std::string& line : lines) hashes += fmt::format("{:016x}\n", hash_combine(0, line));
  HEDDLE_TRY(const std::vector<std::string> all, gather_texts(ranks, hashes));
  constexpr std::size_t kHash = 17, kColumns = 120;
  const auto differs =
      static_cast<std::size_t>(std::ranges::mismatch(all[0], all[other]).in1 - all[0].begin()) /
      kHash;
  const std::string here = differs < lines.size() ? lines[differs] : "(its end)";
  HEDDLE_TRY(const std::vector<std::string> both, gather_texts(ranks, here));
  return fmt::format("; they differ first in\n  rank 0: {}\n  rank {}: {}",
                     shortened(both[0], kColumns), other, shortened(both[other], kColumns));
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

Verdict meet(Transport& ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks.size()));
  std::iota(all.begin(), all.end(), 0);
  HEDDLE_TRY(const GroupId group, ranks.group(all));
  return run_collective(ranks, {.kind = CollectiveKind::barrier, .group = group});
}

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

Verdict compare_programs(Transport& ranks, const Program& program, const Function& function,
                         const std::vector<std::string>& asked) {
  if (ranks.size() == 1) return yes();
  const std::string text = print_stablehlo(program, TextForm::generic);
  HEDDLE_TRY(const std::vector<std::string> all,
             gather_texts(ranks, fmt::format("{:016x} @{}\n{}", hash_combine(0, text),
                                             function.name, summary_of(program, function))));
  const auto identity = [](const std::string& one) { return one.substr(0, one.find('\n')); };
  const auto summary = [](const std::string& one) { return one.substr(one.find('\n') + 1); };
  if (const auto others = that_differ(all, identity); !others.empty()) {
    HEDDLE_TRY(const std::string where, difference(ranks, text, others[0]));
    return reason(
        "{} of {} runs another program than rank 0: rank 0 has {}, and rank {} {}{}\n  start all "
        "ranks with the same file",
        ranks_text(others), all.size(), summary(all[0]), others[0], summary(all[others[0]]), where);
  }
  HEDDLE_TRY(const std::vector<std::string> words,
             gather_texts(ranks, fmt::format("version {}\n{}", version(), fmt::join(asked, "\n"))));
  const auto others = that_differ(words, [](const std::string& one) { return one; });
  if (others.empty()) return yes();
  const std::vector<std::string> first = lines_of(words[0]), other = lines_of(words[others[0]]);
  return reason(
      "{} of {} runs the program otherwise than rank 0: rank 0 has {}, and rank {} {}\n  start all "
      "ranks with the same options and version",
      ranks_text(others), words.size(), first_other(first, other), others[0],
      first_other(other, first));
}

Verdict compare_inputs(Transport& ranks, const std::vector<Array>& inputs,
                       const std::vector<std::string>& sources) {
  constexpr std::size_t kLine = 17;
  HEDDLE_TRY(const std::vector<std::string> all, gather_texts(ranks, inputs_text(inputs, sources)));
  const std::size_t hashes = kLine * inputs.size();
  const auto others = that_differ(all, [&](const auto& one) { return one.substr(0, hashes); });
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
