#include "ranks.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "heddle/cost.h"
#include "heddle/run_parallel.h"
#include "runtime/checkpoint_files.h"

namespace heddle::cli {
namespace {

std::string wrong_watchdog(const std::string& text) {
  const auto seconds = parse_watchdog(text);
  return seconds ? "" : seconds.reason();
}

void be_quiet() {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

// Ranks of one machine share its cores; what the user has set stays.
void share_cores() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    const char* ranks = std::getenv(variable);
    const int count = ranks == nullptr ? 0 : std::atoi(ranks);
    if (count < 1) continue;
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    ::setenv("HEDDLE_THREADS", std::to_string(std::max(1, cores / count)).c_str(), 0);
  }
}

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

WatchdogOptions RankRequest::watchdog_options() const {
  WatchdogOptions options = default_watchdog();
  if (!watchdog.empty()) options.seconds = parse_watchdog(watchdog).value();
  return options;
}

void add_rank_options(CLI::App& command, RankRequest& request) {
  command
      .add_option("--transport", request.transport,
                  "How devices exchange data: threads of this process; processes, of\n"
                  "`heddle launch`; mpi, of mpirun; auto: by who has started this one")
      ->check(CLI::IsMember(kTransports))
      ->capture_default_str();
  command
      .add_option("--watchdog", request.watchdog,
                  "Seconds after which a rank without a sign of life ends the run (3)")
      ->check(wrong_watchdog);
}

std::unique_ptr<Transport> connect_ranks(const RankRequest& request) {
  if (request.transport == "threads") return nullptr;
  share_cores();
  auto ranks = connect_transport(request.transport, request.watchdog_options()).value();
  if (ranks && ranks->rank() != 0) be_quiet();
  return ranks;
}

std::vector<std::string> gather_texts(Transport& ranks, const std::string& mine) {
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<int> everyone(count);
  std::iota(everyone.begin(), everyone.end(), 0);
  Collective c{.kind = CollectiveKind::all_gather, .group = ranks.group(everyone).value()};
  c.what = "sharing texts";
  const std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(count);
  c.in = reinterpret_cast<const std::byte*>(&length);
  c.out = reinterpret_cast<std::byte*>(lengths.data());
  c.in_pieces = c.out_pieces = {1, sizeof length};
  (void)run_collective(ranks, c).value();
  const std::size_t most = std::ranges::max(lengths);
  std::vector<std::string> texts(count);
  if (most == 0) return texts;
  std::string padded = mine, all(most * count, '\0');
  padded.resize(most);
  c.in = reinterpret_cast<const std::byte*>(padded.data());
  c.out = reinterpret_cast<std::byte*>(all.data());
  c.in_pieces = c.out_pieces = {1, static_cast<std::int64_t>(most)};
  (void)run_collective(ranks, c).value();
  for (std::size_t r = 0; r < count; ++r) texts[r] = all.substr(r * most, lengths[r]);
  return texts;
}

void compare_inputs(Transport& ranks, const std::vector<Array>& inputs,
                    const std::vector<std::string>& sources) {
  constexpr std::size_t kLine = 17;
  const std::vector<std::string> all = gather_texts(ranks, inputs_text(inputs, sources));
  const std::size_t hashes = kLine * inputs.size();
  std::vector<std::size_t> others;
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r].compare(0, hashes, all[0], 0, hashes) != 0) others.push_back(r);
  if (others.empty()) return;
  const std::string& other = all[others[0]];
  const auto differs = std::ranges::mismatch(all[0], other).in1 - all[0].begin();
  const auto sources_of = [&](const std::string& text) {
    return text.size() > hashes ? text.substr(hashes) : "nothing";
  };
  throw Error(fmt::format(
      "{} of {} read other data for argument {} than rank 0: rank 0 was given {}, and rank {} {}\n"
      "  every rank takes its part of the whole: start all of them with the same inputs",
      ranks_text(others), all.size(), static_cast<std::size_t>(differs) / kLine, sources_of(all[0]),
      others[0], sources_of(other)));
}

ParallelRunner parallel_runner(const RankRequest& request, Transport* ranks) {
  CompileOptions options;
  options.stitch.machine = figures_of_this_machine();
  if (ranks != nullptr) return run_parallel_on(*ranks, options);
  if (request.transport == "threads") return run_parallel_on_threads(options);
  return {};
}

}  // namespace heddle::cli
