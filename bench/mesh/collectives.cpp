// Collectives over MPI and over threads against MPI's own, of 1 kB to 256 MB, in one run:
//
//   mpirun -n 2 --bind-to core bench_mesh RAW_MODULE [--most BYTES] [--json FILE]
//
// Ranks take turns between MPI's own collective and ours; rank 0 measures threads afterwards.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "heddle/transport.h"
#include "raw_mpi.h"

namespace {

using namespace heddle;
using Clock = std::chrono::steady_clock;

constexpr CollectiveKind kKinds[] = {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                     CollectiveKind::reduce_scatter, CollectiveKind::all_to_all};
constexpr int kRounds = 7;
constexpr double kSecondsPerRound = 0.02;

struct Case {
  CollectiveKind kind;
  std::int64_t bytes;
};

struct Times {
  double raw = 1e30, mpi = 1e30, threads = 1e30;
};

std::vector<Case> cases(std::int64_t most) {
  std::vector<Case> all;
  for (CollectiveKind kind : kKinds)
    for (std::int64_t bytes = 1 << 10; bytes <= most; bytes *= 4) all.push_back({kind, bytes});
  return all;
}

Collective collective(const Case& what, GroupId group, int ranks, const std::byte* in,
                      std::byte* out) {
  Collective c{.kind = what.kind, .group = group};
  const std::int64_t piece = what.bytes / ranks;
  c.in = in;
  c.out = out;
  const bool whole = what.kind == CollectiveKind::all_reduce;
  c.in_pieces = {1, whole ? what.bytes : piece};
  c.out_pieces = {1, piece};
  return c;
}

GroupId everyone(Transport& transport) {
  std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = static_cast<int>(r);
  return transport.group(ranks).value();
}

// Seconds of one call, `turns` of them after a meeting.
template <typename Call>
double timed(int turns, Call call) {
  const auto start = Clock::now();
  for (int i = 0; i < turns; ++i) call();
  return std::chrono::duration<double>(Clock::now() - start).count() / turns;
}

int turns_for(double seconds) {
  return std::clamp(static_cast<int>(kSecondsPerRound / std::max(seconds, 1e-7)), 1, 20'000);
}

// ---- MPI

void measure_mpi(const RawMpi& raw, Transport& transport, const Case& what, Times& times) {
  std::vector<float> in(static_cast<std::size_t>(what.bytes) / 4, 1.0F), out(in.size());
  const auto* from = reinterpret_cast<const std::byte*>(in.data());
  auto* to = reinterpret_cast<std::byte*>(out.data());
  const Collective c = collective(what, everyone(transport), transport.size(), from, to);
  const auto kind = static_cast<int>(std::ranges::find(kKinds, what.kind) - kKinds);
  const auto run_raw = [&] { raw.run(kind, from, to, what.bytes); };
  const auto run_ours = [&] { (void)run_collective(transport, c).value(); };
  run_raw();
  run_ours();
  const int turns = turns_for(raw.slowest(timed(2, run_raw)));
  for (int round = 0; round < kRounds; ++round) {
    raw.barrier();
    times.raw = std::min(times.raw, raw.slowest(timed(turns, run_raw)));
    raw.barrier();
    times.mpi = std::min(times.mpi, raw.slowest(timed(turns, run_ours)));
  }
}

// ---- threads

void measure_threads(int ranks, const std::vector<Case>& all, std::vector<Times>& times) {
  auto transports = thread_transports(ranks);
  std::vector<double> seconds(static_cast<std::size_t>(ranks));
  const auto body = [&](std::size_t rank) {
    Transport& t = *transports[rank];
    t.enter();
    const GroupId group = everyone(t);
    const Collective meet{.kind = CollectiveKind::barrier, .group = group};
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<float> in(static_cast<std::size_t>(all[i].bytes) / 4, 1.0F), out(in.size());
      const Collective c = collective(all[i], group, ranks, reinterpret_cast<std::byte*>(in.data()),
                                      reinterpret_cast<std::byte*>(out.data()));
      const auto call = [&] { (void)run_collective(t, c).value(); };
      call();
      const int turns = turns_for(times[i].raw);
      for (int round = 0; round < kRounds; ++round) {
        (void)run_collective(t, meet).value();
        seconds[rank] = timed(turns, call);
        (void)run_collective(t, meet).value();
        if (rank == 0)
          times[i].threads = std::min(times[i].threads, *std::ranges::max_element(seconds));
        (void)run_collective(t, meet).value();
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) threads.emplace_back(body, r);
  for (std::thread& thread : threads) thread.join();
}

// ---- report

std::string size_text(std::int64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MB", bytes >> 20);
  return fmt::format("{} kB", bytes >> 10);
}

void report(int ranks, const std::vector<Case>& all, const std::vector<Times>& times,
            const std::string& json_file) {
  constexpr std::int64_t kLarge = 64 << 10;
  fmt::print("| {} ranks | size | MPI us | mpi us | x | threads us | x |\n", ranks);
  fmt::print("| --- | --- | --- | --- | --- | --- | --- |\n");
  double worst_mpi = 1e30, worst_threads = 1e30;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Times& t = times[i];
    const double mpi = t.raw / t.mpi, threads = t.raw / t.threads;
    fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.2f} | {:.1f} | {:.2f} |\n", op_name(all[i].kind),
               size_text(all[i].bytes), t.raw * 1e6, t.mpi * 1e6, mpi, t.threads * 1e6, threads);
    if (all[i].bytes >= kLarge) {
      worst_mpi = std::min(worst_mpi, mpi);
      worst_threads = std::min(worst_threads, threads);
    }
    rows.push_back({{"collective", op_name(all[i].kind)},
                    {"bytes", all[i].bytes},
                    {"raw_us", t.raw * 1e6},
                    {"mpi_us", t.mpi * 1e6},
                    {"threads_us", t.threads * 1e6}});
  }
  if (worst_mpi < 1e30)
    fmt::print("from 64 kB on, at least {:.2f}x of MPI over mpi, {:.2f}x over threads (due 0.9)\n",
               worst_mpi, worst_threads);
  if (json_file.empty()) return;
  std::ofstream(json_file) << nlohmann::ordered_json{{"ranks", ranks}, {"rows", rows}}.dump(1);
}

// A rank of MPI is bound to its own cores; devices as threads are not.
void use_all_cores() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (unsigned c = 0; c < std::thread::hardware_concurrency(); ++c) CPU_SET(c, &all);
  ::sched_setaffinity(0, sizeof all, &all);
}

// Beside other work figures say little: takes the cores first, where the system lets it.
void take_precedence() {
  std::ofstream("/proc/self/autogroup") << -19;
  ::setpriority(PRIO_PROCESS, 0, -19);
}

const RawMpi* load_raw(const char* file) {
  void* module = ::dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) throw Error(fmt::format("{}: {}", file, ::dlerror()));
  using Entry = const RawMpi* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(module, "raw_mpi"));
  if (entry == nullptr) throw Error(fmt::format("{} is no module of this benchmark", file));
  return entry();
}

void run(int argc, char** argv) {
  std::int64_t most = 256 << 20;
  std::string json;
  if (argc < 2)
    throw Error("usage: mpirun -n 2 --bind-to core bench_mesh RAW_MODULE [--most BYTES]");
  for (int i = 2; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--most") == 0) most = std::atoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--json") == 0) json = argv[i + 1];
  }
  take_precedence();
  const auto all = cases(most);
  std::vector<Times> times(all.size());
  auto transport = connect_transport("mpi").value();
  const RawMpi& raw = *load_raw(argv[1]);
  for (std::size_t i = 0; i < all.size(); ++i) measure_mpi(raw, *transport, all[i], times[i]);
  const int rank = transport->rank(), ranks = transport->size();
  raw.barrier();
  transport.reset();
  if (rank != 0) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the others end
  use_all_cores();
  measure_threads(ranks, all, times);
  report(ranks, all, times, json);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_mesh: {}\n", error.what());
    return 1;
  }
}
