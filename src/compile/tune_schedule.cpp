#include "heddle/tune_schedule.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/cache_directory.h"
#include "base/file.h"
#include "base/text.h"
#include "compile/distribute.h"
#include "compile/predict.h"
#include "compile/trial.h"
#include "heddle/compile.h"
#include "heddle/cost.h"
#include "heddle/hash.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "heddle/ranks.h"
#include "heddle/schedule.h"
#include "heddle/thread_mesh.h"

namespace heddle {

namespace {

std::string time_text(double seconds) {
  return seconds >= 1e-3 ? fmt::format("{:.3f} ms", seconds * 1e3)
                         : fmt::format("{:.1f} us", seconds * 1e6);
}

// Programs of the same ops whose dimensions lie between the same powers of two: what is fast for
// one of them is mostly fast for the others.
std::uint64_t hash_by_size(const Program& program) {
  std::uint64_t key = 0;
  for (RegionId r = 0; r < program.region_count(); ++r)
    for (OpId id : program.region(r).ops) {
      const Op& op = program.op(id);
      key = hash_combine(key, op.def->name);
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const Type& type = program.type_of(program.result(op, i));
        key = hash_combine(key, static_cast<std::uint64_t>(type.dtype));
        for (std::int64_t size : type.shape)
          key = hash_combine(key, std::uint64_t{std::bit_width(static_cast<std::uint64_t>(size))});
      }
    }
  return key;
}

// Where what was found for such programs on this machine is kept; empty: nowhere.
std::filesystem::path file_for(const Spmd& spmd, const std::string& function, const Target& target,
                               const Transport* ranks) {
  const auto folder = cache_directory();
  if (!folder) return {};
  const SpmdFunction& placed = *spmd.find(function);
  std::uint64_t key = hash_combine(hash_by_size(spmd.program), machine_name());
  key = hash_combine(key, spmd.program.meshes[placed.mesh].mesh.str());
  key = hash_combine(key, ranks == nullptr ? "threads" : ranks->name());
  key = hash_combine(key, std::uint64_t{target.options.stitch.fuse ? 1U : 0U} +
                              (target.options.overlap ? 2U : 0U));
  for (const Carried& c : target.carried) key = hash_combine(key, c.argument * 65537 + c.result);
  return *folder / "schedules" / fmt::format("{:016x}.schedule", key);
}

std::optional<DeviceSchedule> remembered(const std::filesystem::path& file) {
  if (file.empty() || !std::filesystem::exists(file)) return std::nullopt;
  auto schedule = read_schedule(file.string());
  if (!schedule) {
    log(kLogSteps, "a schedule that was kept is left alone: {}", schedule.reason());
    return std::nullopt;
  }
  return *std::move(schedule);
}

void keep(const std::filesystem::path& file, const TunedSchedule& tuned) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  std::string text = "# found by timing on " + machine_name() + "\n";
  text += text_of(tuned.schedule);
  if (const Verdict kept = write_file(file, text, Durability::cache); !kept)
    log(kLogSteps, "a schedule is not kept: {}", kept.reason());
}

// What all ranks say, where there are ranks; all call it together.
Expected<std::vector<std::string>> said_by_all(Transport* ranks, const std::string& mine) {
  if (ranks == nullptr) return std::vector{mine};
  return gather_texts(*ranks, mine);
}

// A schedule that every rank remembers, and that can be taken.
Expected<std::optional<DeviceSchedule>> agreed_memory(const std::filesystem::path& file,
                                                      const Spmd& spmd, const Target& target,
                                                      Transport* ranks) {
  auto known = remembered(file);
  Spmd copy = spmd;
  if (known && !apply_schedule(copy, target.options.entry, *known, target.carried)) known.reset();
  HEDDLE_TRY(const auto all, said_by_all(ranks, known ? "known\n" + text_of(*known) : "none"));
  if (std::ranges::any_of(all, [&](const std::string& text) { return text != all[0]; }))
    known.reset();
  return known;
}

class Tuner {
 public:
  Tuner(const Target& target, const Spmd& spmd, const TuneOptions& options)
      : target_(target), spmd_(spmd), options_(options) {}

  Expected<TunedSchedule> run() {
    TunedSchedule tuned;
    tuned.tried = candidate_schedules(spmd_, target_.options.entry, target_.carried);
    for (ScheduleTrial& trial : tuned.tried)
      if (trial.refused.empty()) price(trial);
    HEDDLE_TRY_VOID(take_prices_of_first(tuned.tried));
    std::vector<std::size_t> order;
    for (std::size_t i = 1; i < tuned.tried.size(); ++i)
      if (tuned.tried[i].refused.empty()) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return tuned.tried[i].predicted; });
    order.resize(std::min(order.size(), options_.most_timed));
    order.insert(order.begin(), 0);
    HEDDLE_TRY_VOID(time_in_turns(tuned.tried, order));
    std::vector<std::size_t> inside = add_fused(tuned.tried, order);
    if (!inside.empty()) {
      inside.insert(inside.begin(), 0);
      HEDDLE_TRY_VOID(time_in_turns(tuned.tried, inside));
      order.insert(order.end(), inside.begin() + 1, inside.end());
    }
    double best = *tuned.tried[0].timed * (1 - options_.noise);
    for (std::size_t i : order)
      if (i != 0 && tuned.tried[i].timed && *tuned.tried[i].timed < best) {
        best = *tuned.tried[i].timed;
        tuned.taken = i;
      }
    tuned.schedule = tuned.tried[tuned.taken].schedule;
    return tuned;
  }

 private:
  std::int64_t devices() const {
    return spmd_.program.meshes[spmd_.find(target_.options.entry)->mesh].mesh.devices();
  }

  // Figures may differ from rank to rank, and all of them must time the same.
  Verdict take_prices_of_first(std::vector<ScheduleTrial>& tried) const {
    if (options_.ranks == nullptr) return yes();
    std::string mine;
    for (const ScheduleTrial& trial : tried) mine += fmt::format("{} ", trial.predicted);
    HEDDLE_TRY(const auto all, said_by_all(options_.ranks, mine));
    std::istringstream first(all[0]);
    for (ScheduleTrial& trial : tried) first >> trial.predicted;
    return yes();
  }

  // Of those that were timed the best that splits sums and has slices of what follows, with that
  // inside of the collective: by every algorithm, in the runtime's own chunks and in few.
  std::vector<std::size_t> add_fused(std::vector<ScheduleTrial>& tried,
                                     const std::vector<std::size_t>& timed) const {
    std::size_t best = 0;
    const auto has = [&](std::size_t i, ScheduleStep::Kind kind) {
      return std::ranges::any_of(tried[i].schedule.steps,
                                 [&](const ScheduleStep& step) { return step.kind == kind; });
    };
    for (std::size_t i : timed)
      if (tried[i].timed && has(i, ScheduleStep::Kind::split) &&
          has(i, ScheduleStep::Kind::reorder) &&
          (best == 0 || *tried[i].timed < *tried[best].timed))
        best = i;
    std::vector<std::size_t> added;
    if (best == 0) return added;
    for (const std::string_view by : {"direct", "ring", "tree"})
      for (const int chunks : {0, 4}) {
        if (by != "direct" && devices() == 2) continue;  // two ranks have one way
        ScheduleTrial trial{"", tried[best].schedule, 0, {}, {}};
        const std::string& sum = std::ranges::find_if(trial.schedule.steps, [](const auto& step) {
                                   return step.kind == ScheduleStep::Kind::split;
                                 })->names[0];
        ScheduleStep fuse;
        fuse.kind = ScheduleStep::Kind::fuse;
        fuse.values = {sum, "*"};
        fuse.by = by;
        fuse.chunks = chunks;
        trial.name = fmt::format("{}; {}", tried[best].name, text_of(fuse));
        trial.schedule.steps.push_back(std::move(fuse));
        price(trial);
        if (trial.refused.empty()) added.push_back(tried.size());
        tried.push_back(std::move(trial));
      }
    return added;
  }

  Target target_with(const DeviceSchedule& schedule) const {
    Target target = target_;
    target.schedule = schedule;
    target.options.on_program = {};
    target.options.on_spmd = {};
    target.options.on_schedule = {};
    target.options.on_kernel = {};
    target.options.report = nullptr;
    return target;
  }

  Expected<Spmd> scheduled(const DeviceSchedule& schedule) const {
    Spmd copy = spmd_;
    HEDDLE_TRY_VOID(apply_schedule(copy, target_.options.entry, schedule, target_.carried));
    copy.program = heddle::schedule(copy.program, schedule_options(target_));
    return copy;
  }

  // By the steps that it is compiled to where the cluster's figures know them, else by its ops.
  void price(ScheduleTrial& trial) const {
    const auto made = scheduled(trial.schedule);
    if (!made) {
      trial.refused = made.reason();
      return;
    }
    const Function& f = *made->program.find_function(target_.options.entry);
    trial.predicted = predicted_seconds(made->program, f);
    if (!target_.cluster || target_.cluster->steps.workers == 0) return;
    Target without_code = target_with(trial.schedule);
    without_code.options.machine_code = false;
    if (const auto executable = compile_distributed(*made, without_code))
      if (const auto steps = predict(*executable, *target_.cluster))
        trial.predicted = steps->seconds;
  }

  struct Compiled {
    ScheduleTrial& trial;
    Executable executable;
    std::vector<Type> arguments;
  };

  Expected<std::optional<Compiled>> compiled(ScheduleTrial& trial) const {
    HEDDLE_TRY(const Spmd made, scheduled(trial.schedule));
    auto executable = compile_distributed(made, target_with(trial.schedule));
    HEDDLE_TRY(const auto all,
               said_by_all(options_.ranks, executable ? std::string() : executable.reason()));
    for (const std::string& why : all)
      if (!why.empty() && trial.refused.empty()) trial.refused = why;
    if (!trial.refused.empty() && trial.schedule.steps.empty()) return Reason{trial.refused};
    if (!trial.refused.empty()) return std::optional<Compiled>();
    const Function& f = *made.program.find_function(target_.options.entry);
    std::vector<Type> types;
    for (ValueId v : made.program.region(f.body).args) types.push_back(made.program.type_of(v));
    return std::optional(Compiled{trial, *std::move(executable), std::move(types)});
  }

  // Of what the ranks have measured.
  Expected<double> longest(double mine) const {
    HEDDLE_TRY(const auto all, said_by_all(options_.ranks, fmt::format("{}", mine)));
    double most = 0;
    for (const std::string& text : all) most = std::max(most, std::strtod(text.c_str(), nullptr));
    return most;
  }

  // One after the other, several times: what else the machine does then falls on all of them.
  Verdict time_in_turns(std::vector<ScheduleTrial>& tried, const std::vector<std::size_t>& order) {
    constexpr int kTurns = 3;
    std::vector<Compiled> all;
    for (std::size_t i : order) {
      HEDDLE_TRY(auto one, compiled(tried[i]));
      if (one) all.push_back(*std::move(one));
    }
    std::optional<ThreadMesh> mesh;
    if (options_.ranks == nullptr) mesh.emplace(static_cast<int>(devices()));
    const TrialPlace place{mesh ? &*mesh : nullptr, options_.ranks};
    for (int turn = 0; turn < kTurns; ++turn)
      for (Compiled& one : all) {
        HEDDLE_TRY(const double mine, seconds_of(place, one.executable, one.arguments));
        HEDDLE_TRY(const double seconds, longest(mine));
        one.trial.timed = std::min(one.trial.timed.value_or(seconds), seconds);
      }
    for (const Compiled& one : all)
      log(kLogPlans, "schedule {}: {}", one.trial.name, time_text(*one.trial.timed));
    return yes();
  }

  const Target& target_;
  const Spmd& spmd_;
  const TuneOptions& options_;
};

}  // namespace

std::string TunedSchedule::text() const {
  if (remembered)
    return schedule.steps.empty() ? "schedule: as it is, as was found before\n"
                                  : "schedule that was found before:\n" + text_of(schedule);
  std::string table = fmt::format("{:<52} {:>12} {:>12}\n", "schedule", "predicted", "timed");
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const ScheduleTrial& t = tried[i];
    if (!t.refused.empty()) {
      table += fmt::format("  {:<50} refused: {}\n", t.name, t.refused);
      continue;
    }
    table += fmt::format("{} {:<50} {:>12} {:>12}\n", i == taken ? "*" : " ", t.name,
                         time_text(t.predicted), t.timed ? time_text(*t.timed) : "-");
  }
  return table + text_of(schedule);
}

Expected<TunedSchedule> tune_schedule(const Program& program, const Target& asked,
                                      const TuneOptions& options) {
  Target target = asked;
  target.schedule.reset();
  if (!target.pipeline.empty())
    return reason("stages of a pipeline have programs of their own: they are not tuned");
  // The program of each device before anything of it has an order.
  std::optional<Spmd> found;
  Target plain = target;
  plain.schedule = DeviceSchedule{"auto", {}};
  plain.options.on_program = {};
  plain.options.report = nullptr;
  plain.options.on_unordered = [&](const Spmd& spmd) { found = spmd; };
  HEDDLE_TRY_VOID(distribute(program, plain));
  const SpmdFunction* placed = found ? found->find(target.options.entry) : nullptr;
  if (placed == nullptr || placed->mesh == kNone)
    return reason("a schedule is for devices of a mesh: name one, as in `mesh` dp=2");
  const std::int64_t devices = found->program.meshes[placed->mesh].mesh.devices();
  if (options.ranks != nullptr && options.ranks->size() != devices)
    return reason("the mesh has {} devices, and there are {} ranks", devices,
                  options.ranks->size());
  const std::filesystem::path file =
      options.keep ? file_for(*found, target.options.entry, target, options.ranks)
                   : std::filesystem::path();
  HEDDLE_TRY(auto known, agreed_memory(file, *found, target, options.ranks));
  if (known) {
    TunedSchedule tuned;
    tuned.remembered = true;
    tuned.schedule = *std::move(known);
    return tuned;
  }
  HEDDLE_TRY(TunedSchedule tuned, Tuner(target, *found, options).run());
  if (!file.empty() && (options.ranks == nullptr || options.ranks->rank() == 0)) keep(file, tuned);
  return tuned;
}

}  // namespace heddle
