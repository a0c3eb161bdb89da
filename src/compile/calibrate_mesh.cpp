#include "compile/calibrate_mesh.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <thread>

#include "compile/calibrate_steps.h"
#include "compile/trial.h"
#include "heddle/builder.h"
#include "heddle/compile.h"
#include "heddle/cost.h"
#include "heddle/ranks.h"
#include "heddle/thread_mesh.h"
#include "layout/move_cost.h"
#include "parallel/here.h"

namespace heddle {

namespace {

// ---- links

struct Trial {
  CollectiveKind kind;
  MoveKind move;
  std::int64_t bytes;  // that a device has before it
  int times, rounds;
};

// Every rank makes the same ones in the same order.
std::vector<Trial> trials_of(int devices) {
  std::vector<Trial> trials;
  // Short and many, so that some are not interrupted.
  struct Size {
    std::int64_t bytes;
    int times, rounds;
  };
  constexpr Size kSizes[] = {{1 << 8, 4, 200},  {1 << 10, 4, 200}, {1 << 11, 4, 200},
                             {1 << 12, 4, 200}, {1 << 13, 4, 200}, {1 << 14, 4, 150},
                             {1 << 15, 4, 150}, {1 << 16, 2, 100}, {1 << 17, 2, 100},
                             {1 << 18, 1, 100}, {1 << 20, 1, 40},  {1 << 22, 1, 20}};
  for (const auto& [bytes, times, rounds] : kSizes) {
    trials.push_back({CollectiveKind::all_reduce, MoveKind::all_reduce, bytes, times, rounds});
    trials.push_back(
        {CollectiveKind::reduce_scatter, MoveKind::reduce_scatter, bytes, times, rounds});
    trials.push_back(
        {CollectiveKind::all_gather, MoveKind::all_gather, bytes / devices, times, rounds});
    trials.push_back({CollectiveKind::all_to_all, MoveKind::all_to_all, bytes, times, rounds});
    trials.push_back({CollectiveKind::permute, MoveKind::permute, bytes, times, rounds});
  }
  return trials;
}

Collective collective_of(const Trial& trial, GroupId group, const Transport& transport,
                         const std::byte* in, std::byte* out) {
  const int n = transport.size(), me = transport.rank();
  Collective c{.kind = trial.kind, .group = group, .in = in, .out = out};
  const bool scatters =
      trial.kind == CollectiveKind::reduce_scatter || trial.kind == CollectiveKind::all_to_all;
  const std::int64_t piece = scatters ? trial.bytes / n / 4 * 4 : trial.bytes / 4 * 4;
  c.in_pieces = {1, piece};
  c.out_pieces = {1, piece};
  if (trial.kind == CollectiveKind::permute) {
    c.from = (me + n - 1) % n;
    c.to = (me + 1) % n;
  }
  return c;
}

// A device has written what it sends, so that others find it in a cache of that device, and has
// worked before.
std::size_t bytes_written(const Trial& trial) {
  constexpr std::int64_t kLeast = 1 << 14;
  return static_cast<std::size_t>(std::max(kLeast, trial.bytes));
}

// Several that go at the same time, as those of one op do.
Verdict run_together(Transport& transport, const Collective& c, int messages) {
  std::vector<RequestId> requests;
  for (int i = 0; i < messages; ++i) {
    HEDDLE_TRY(const RequestId request, transport.start(c));
    requests.push_back(request);
  }
  for (const RequestId request : requests) HEDDLE_TRY_VOID(transport.wait(request));
  return yes();
}

// Of collectives after work, without the work.
Expected<double> seconds_of_moves(Transport& transport, const Collective& c,
                                  std::span<std::byte> written, int times, int messages) {
  HEDDLE_TRY_VOID(run_collective(transport, {.kind = CollectiveKind::barrier, .group = c.group}));
  double work = 0;
  const auto begun = Clock::now();
  for (int i = 0; i < times; ++i) {
    const auto before = Clock::now();
    std::memset(written.data(), i & 1, written.size());
    work += seconds_since(before);
    HEDDLE_TRY_VOID(run_together(transport, c, messages));
  }
  return (seconds_since(begun) - work) / times;
}

// What is between devices: collectives one by one, and what one takes beside another, as a share.
struct MeasuredLinks {
  std::vector<MeasuredMove> moves;
  double beside = 1;
};

class LinkTrials {
 public:
  LinkTrials(Transport& transport, GroupId group)
      : transport_(transport), group_(group), in_(kMost), out_(kMost) {}

  Expected<MeasuredLinks> run() {
    MeasuredLinks links;
    for (const Trial& trial : trials_of(transport_.size())) {
      HEDDLE_TRY(const double seconds, least_seconds(trial, 1));
      links.moves.push_back({trial.move, static_cast<double>(trial.bytes), seconds});
    }
    constexpr int kTogether = 5;
    const Trial large{CollectiveKind::reduce_scatter, MoveKind::reduce_scatter, 1 << 15, 2, 200};
    HEDDLE_TRY(const double one, least_seconds(large, 1));
    HEDDLE_TRY(const double several, least_seconds(large, kTogether));
    links.beside = std::clamp((several - one) / (kTogether - 1) / one, 0.1, 2.0);
    return links;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 23;

  // Of a few rounds: what others do on the machine makes it longer, never shorter.
  Expected<double> least_seconds(const Trial& trial, int messages) {
    const Collective c = collective_of(trial, group_, transport_, in_.data(), out_.data());
    const auto one_round = [&](int times) {
      return seconds_of_moves(transport_, c, {in_.data(), bytes_written(trial)}, times, messages);
    };
    int times = trial.times, rounds = trial.rounds;
    if (take_turns(transport_.size())) {
      HEDDLE_TRY(const double once, one_round(trial.times));
      HEDDLE_TRY(times, runs_in_a_row(once, &transport_));
      rounds = 5;
    }
    double least = 1e30;
    for (int round = 0; round < rounds; ++round) {
      HEDDLE_TRY(const double seconds, one_round(times));
      least = std::min(least, seconds);
    }
    return least;
  }

  Transport& transport_;
  const GroupId group_;
  std::vector<std::byte> in_, out_;
};

Expected<MeasuredLinks> measure_links(Transport& transport) {
  std::vector<int> all(static_cast<std::size_t>(transport.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  HEDDLE_TRY(const GroupId group, transport.group(all));
  return LinkTrials(transport, group).run();
}

// By kind, the smallest first.
std::vector<TimedMove> timed_moves(const std::vector<MeasuredMove>& moves) {
  std::vector<TimedMove> timed;
  for (const MeasuredMove& move : moves) timed.push_back({move.kind, move.bytes, move.seconds});
  std::ranges::sort(timed, {}, [](const TimedMove& m) { return std::pair(m.kind, m.bytes); });
  return timed;
}

void take_links(const MeasuredLinks& links, Cluster& cluster) {
  cluster.levels[0].link = fit_link(links.moves, cluster.devices());
  cluster.moves = timed_moves(links.moves);
  cluster.steps.beside = links.beside;
}

// ---- devices

// Products of n by n matrices, one after the other.
Expected<Executable> products(std::int64_t n, int count) {
  Builder b;
  const Type square = Type::tensor(DType::f32, {n, n});
  b.function("main", {square, square}, [&](const Vars& in) -> Vars {
    Var x = in[0];
    for (int i = 0; i < count; ++i) x = b.dot(x, in[1]);
    return {x};
  });
  HEDDLE_TRY(const Program program, b.finish());
  return compile(program);
}

Expected<Executable> negated(std::int64_t elements) {
  Builder b;
  b.function("main", {Type::tensor(DType::f32, {elements})},
             [&](const Vars& in) -> Vars { return {-in[0]}; });
  HEDDLE_TRY(const Program program, b.finish());
  return compile(program);
}

// What cannot be measured by itself comes from the machine's figures, of which `devices` have a
// share each.
Expected<DeviceFigures> measure_devices(const TrialPlace& place, DeviceFigures device) {
  // Short ones: of many runs, some are not interrupted by others on the machine.
  constexpr std::int64_t kLarge = 256, kSmall = 48, kElements = 1 << 23;
  constexpr int kFew = 4, kMany = 100;
  const Type large = Type::tensor(DType::f32, {kLarge, kLarge});
  const Type small = Type::tensor(DType::f32, {kSmall, kSmall});
  HEDDLE_TRY(const Executable few, products(kLarge, kFew));
  HEDDLE_TRY(const double few_seconds, seconds_of(place, few, {large, large}));
  device.compute_rate = 2.0 * kFew * kLarge * kLarge * kLarge / few_seconds;
  HEDDLE_TRY(const Executable many, products(kSmall, kMany));
  HEDDLE_TRY(const double many_seconds, seconds_of(place, many, {small, small}));
  const double product = 2.0 * kSmall * kSmall * kSmall / device.compute_rate;
  device.launch = std::max(1e-7, many_seconds / kMany - product);
  constexpr std::int64_t kFewElements = 16;
  HEDDLE_TRY(const Executable tiny, negated(kFewElements));
  HEDDLE_TRY(const double tiny_seconds,
             seconds_of(place, tiny, {Type::tensor(DType::f32, {kFewElements})}));
  device.start = std::max(1e-8, tiny_seconds - device.launch);
  HEDDLE_TRY(const Executable copy, negated(kElements));
  HEDDLE_TRY(const double copy_seconds,
             seconds_of(place, copy, {Type::tensor(DType::f32, {kElements})}));
  device.memory_rate = 8.0 * kElements / copy_seconds;
  return device;
}

}  // namespace

Link fit_link(std::span<const MeasuredMove> moves, std::int64_t devices) {
  // Least squares of relative errors, of which each move has two shares: latencies and bytes.
  double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
  for (const MeasuredMove& move : moves) {
    const Hop latency{devices, {1, 1e300}, Medium::network},
        bytes{devices, {0, 1}, Medium::network};
    const double x = collective_seconds(move.kind, latency, move.bytes) / move.seconds;
    const double y = collective_seconds(move.kind, bytes, move.bytes) / move.seconds;
    aa += x * x;
    ab += x * y;
    bb += y * y;
    a += x;
    b += y;
  }
  const double determinant = aa * bb - ab * ab;
  double latency = (a * bb - b * ab) / determinant, per_byte = (b * aa - a * ab) / determinant;
  if (!(latency > 0)) {
    latency = 1e-9;
    per_byte = b / bb;
  }
  if (!(per_byte > 0)) {
    per_byte = 1e-15;
    latency = a / aa;
  }
  return {latency, 1 / per_byte};
}

Expected<Cluster> calibrate_threads(int devices, const MachineFigures& machine) {
  Cluster cluster = default_cluster_here(devices, machine);
  {
    std::optional<ThreadMesh> mesh;
    if (devices > 1) mesh.emplace(devices);
    const TrialPlace place{mesh ? &*mesh : nullptr};
    HEDDLE_TRY(cluster.device, measure_devices(place, cluster.device));
    HEDDLE_TRY(cluster.steps, measure_steps(place, machine, devices, cluster.device.memory_rate));
  }
  if (devices == 1) return cluster;
  const auto transports = thread_transports(devices);
  std::vector<Expected<MeasuredLinks>> links(transports.size(), Reason{"not measured"});
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < transports.size(); ++i)
      threads.emplace_back([&, i] { links[i] = measure_links(*transports[i]); });
  }
  HEDDLE_TRY(const MeasuredLinks first, std::move(links[0]));
  take_links(first, cluster);
  cluster.about = "measured: threads of one process";
  return cluster;
}

Expected<Cluster> calibrate_ranks(Transport& ranks, const MachineFigures& machine) {
  // A rank's figures are those of its part of the machine already.
  Cluster cluster = default_cluster_here(1, machine);
  cluster.levels[0].size = ranks.size();
  cluster.memory = std::max<std::int64_t>(1, cluster.memory / ranks.size());
  cluster.device.cache /= ranks.size();
  HEDDLE_TRY_VOID(gather_texts(ranks, ""));  // all begin together
  std::optional<OwnCore> core;
  if (machine.workers == 1) core.emplace(ranks.rank());
  const TrialPlace place{nullptr, &ranks};
  HEDDLE_TRY(cluster.device, measure_devices(place, cluster.device));
  HEDDLE_TRY(cluster.steps,
             measure_steps(place, machine, ranks.size(), cluster.device.memory_rate));
  HEDDLE_TRY_VOID(gather_texts(ranks, ""));
  HEDDLE_TRY(const MeasuredLinks links, measure_links(ranks));
  take_links(links, cluster);
  cluster.about = fmt::format("measured: {} of one machine", ranks.name());
  // The slowest of all is what they wait for; that of the first stands for them.
  HEDDLE_TRY(const auto texts, gather_texts(ranks, cluster_text(cluster)));
  return parse_cluster(texts[0], "rank 0");
}

}  // namespace heddle
