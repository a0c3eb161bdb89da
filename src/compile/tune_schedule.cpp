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
  std::string text = fmt::format("# found by timing on {}: {}\n", machine_name(), tuned.why);
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
    HEDDLE_TRY_VOID(put_together(tuned.tried));
    std::vector<std::size_t> order;
    for (std::size_t i = 1; i < tuned.tried.size(); ++i)
      if (tuned.tried[i].refused.empty()) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return tuned.tried[i].predicted; });
    keep_what_goes_inside(tuned.tried, order);
    order.insert(order.begin(), 0);
    HEDDLE_TRY_VOID(time_in_turns(tuned.tried, order));
    HEDDLE_TRY_VOID(try_settings(tuned.tried));
    HEDDLE_TRY_VOID(take_best(tuned));
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

  // Those for one collective that should save time, one after the other on top of what is best so
  // far.
  Verdict put_together(std::vector<ScheduleTrial>& tried) const {
    std::vector<std::size_t> better;
    for (std::size_t i = 1; i < tried.size(); ++i)
      if (tried[i].refused.empty() && tried[i].predicted < tried[0].predicted) better.push_back(i);
    std::ranges::stable_sort(better, {}, [&](std::size_t i) { return tried[i].predicted; });
    if (better.size() < 2) return yes();
    ScheduleTrial best = tried[better[0]];
    std::size_t parts = 1;
    for (std::size_t k = 1; k < better.size() && parts < kMostParts; ++k) {
      ScheduleTrial more = best;
      const ScheduleTrial& next = tried[better[k]];
      more.name += " + " + next.name;
      more.schedule.steps.insert(more.schedule.steps.end(), next.schedule.steps.begin(),
                                 next.schedule.steps.end());
      price(more);
      if (!more.refused.empty()) continue;
      std::vector<ScheduleTrial> one = {more};
      HEDDLE_TRY_VOID(take_prices_of_first(one));
      if (one[0].predicted >= best.predicted) continue;
      best = std::move(one[0]);
      ++parts;
    }
    if (parts > 1) tried.push_back(std::move(best));
    return yes();
  }

  static bool has(const ScheduleTrial& trial, ScheduleStep::Kind kind) {
    return std::ranges::any_of(trial.schedule.steps,
                               [&](const ScheduleStep& step) { return step.kind == kind; });
  }
  // Whether something is, or can go, inside of its collectives.
  static bool goes_inside(const ScheduleTrial& trial) {
    return has(trial, ScheduleStep::Kind::fuse) ||
           (has(trial, ScheduleStep::Kind::split) && has(trial, ScheduleStep::Kind::reorder));
  }

  // The best few, and among them one that can go on inside of its collectives: prices do not know
  // what that saves.
  void keep_what_goes_inside(const std::vector<ScheduleTrial>& tried,
                             std::vector<std::size_t>& order) const {
    const auto inside =
        std::ranges::find_if(order, [&](std::size_t i) { return goes_inside(tried[i]); });
    const bool late = inside != order.end() &&
                      inside - order.begin() >= static_cast<std::ptrdiff_t>(options_.most_timed);
    const std::size_t its = late ? *inside : 0;
    order.resize(std::min(order.size(), options_.most_timed));
    if (late) order.push_back(its);
  }

  // How what is inside of collectives is done.
  struct Setting {
    std::string by = "", through = "";
    int chunks = 0, lanes = 0;
  };
  static void set(DeviceSchedule& schedule, const Setting& setting) {
    for (ScheduleStep& step : schedule.steps) {
      if (step.kind != ScheduleStep::Kind::fuse) continue;
      step.by = setting.by;
      step.through = setting.through;
      step.chunks = setting.chunks;
      step.lanes = setting.lanes;
    }
  }

  // Of what was timed the best that goes inside: algorithm, protocol, chunks and lanes one after
  // the other, each with what is best so far of the others.
  Verdict try_settings(std::vector<ScheduleTrial>& tried) {
    std::size_t base = 0;
    for (std::size_t i = 1; i < tried.size(); ++i)
      if (tried[i].timed && goes_inside(tried[i]) &&
          (base == 0 || *tried[i].timed < *tried[base].timed))
        base = i;
    if (base == 0) return yes();
    ScheduleTrial model = tried[base];
    model.timed.reset();
    if (!has(model, ScheduleStep::Kind::fuse)) add_fuse(model.schedule);
    Setting best;
    std::optional<double> seconds;
    const auto try_all = [&](const std::vector<Setting>& settings) -> Verdict {
      std::vector<std::size_t> order = {0};
      const std::size_t first = tried.size();
      for (const Setting& setting : settings) {
        ScheduleTrial trial = model;
        set(trial.schedule, setting);
        if (std::ranges::any_of(
                tried, [&](const ScheduleTrial& t) { return t.schedule == trial.schedule; }))
          continue;
        price(trial);
        trial.name = model.name + "; " + text_of(trial.schedule.steps.back());
        if (trial.refused.empty()) order.push_back(tried.size());
        tried.push_back(std::move(trial));
      }
      if (order.size() < 2) return yes();
      HEDDLE_TRY_VOID(time_in_turns(tried, order));
      for (std::size_t i = first; i < tried.size(); ++i)
        if (tried[i].timed && (!seconds || *tried[i].timed < *seconds)) {
          const ScheduleStep& step = tried[i].schedule.steps.back();
          best = {step.by, step.through, step.chunks, step.lanes};
          seconds = tried[i].timed;
        }
      return yes();
    };
    std::vector<Setting> ways = {best};
    if (devices() > 2)  // two ranks have one way
      for (const char* by : {"ring", "tree"}) ways.push_back({.by = by});
    HEDDLE_TRY_VOID(try_all(ways));
    ways.clear();
    for (const char* through : {"direct", "bandwidth", "latency"})
      ways.push_back({best.by, through, 0, 0});
    HEDDLE_TRY_VOID(try_all(ways));
    ways.clear();
    for (const int chunks : {1, 4, 16}) ways.push_back({best.by, best.through, chunks, 0});
    HEDDLE_TRY_VOID(try_all(ways));
    return try_all({{best.by, best.through, best.chunks, 2}});
  }

  // All sums that were split, with what follows them inside.
  static void add_fuse(DeviceSchedule& schedule) {
    std::vector<std::string> sums;
    for (const ScheduleStep& step : schedule.steps)
      if (step.kind == ScheduleStep::Kind::split) sums.push_back(step.names[0]);
    for (const std::string& sum : sums) {
      ScheduleStep fuse;
      fuse.kind = ScheduleStep::Kind::fuse;
      fuse.values = {sum, "*"};
      schedule.steps.push_back(std::move(fuse));
    }
  }

  // The fastest, where it stays so beside the program as it is: in most of several turns, and in
  // the middle of them by more than noise. Else the next one.
  Verdict take_best(TunedSchedule& tuned) {
    std::vector<std::size_t> order;
    for (std::size_t i = 1; i < tuned.tried.size(); ++i)
      if (tuned.tried[i].timed && *tuned.tried[i].timed < *tuned.tried[0].timed) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *tuned.tried[i].timed; });
    tuned.why = "nothing else was faster";
    for (std::size_t k = 0; k < order.size() && k < kMostConfirmed; ++k) {
      HEDDLE_TRY(const std::vector<double> ratios, ratios_of(tuned.tried, order[k]));
      const double middle = ratios[ratios.size() / 2];
      const auto faster = std::ranges::count_if(ratios, [](double r) { return r < 1; });
      const std::string text =
          fmt::format("`{}` took {:.2f} of the time in {} turns, less in {}",
                      tuned.tried[order[k]].name, middle, ratios.size(), faster);
      if (middle < 1 - options_.noise &&
          faster * kMostOf.first >= std::ssize(ratios) * kMostOf.second) {
        tuned.taken = order[k];
        tuned.why = text;
        return yes();
      }
      tuned.why = "no other is faster beyond noise: " + text;
    }
    return yes();
  }

  // Its times by those of the program as it is, in growing order.
  Expected<std::vector<double>> ratios_of(std::vector<ScheduleTrial>& tried, std::size_t other) {
    say(fmt::format("taking turns: {}", tried[other].name));
    std::vector<ScheduleTrial> two = {tried[0], tried[other]};
    std::vector<double> ratios;
    std::vector<std::vector<double>> seconds;
    HEDDLE_TRY_VOID(time_in_turns(two, {0, 1}, kConfirmTurns, &seconds));
    if (seconds.size() < two.size())
      return reason("{}: it was compiled before, and is not any more", two[1].refused);
    for (std::size_t turn = 0; turn < kConfirmTurns; ++turn)
      ratios.push_back(seconds[1][turn] / seconds[0][turn]);
    std::ranges::sort(ratios);
    return ratios;
  }

  void say(const std::string& text) const {
    if (options_.on_progress) options_.on_progress(text);
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
  Verdict time_in_turns(std::vector<ScheduleTrial>& tried, const std::vector<std::size_t>& order,
                        std::size_t turns = 3, std::vector<std::vector<double>>* each = nullptr) {
    std::vector<Compiled> all;
    for (std::size_t i : order) {
      HEDDLE_TRY(auto one, compiled(tried[i]));
      if (one) all.push_back(*std::move(one));
    }
    if (each != nullptr) each->resize(all.size());
    std::optional<ThreadMesh> mesh;
    if (options_.ranks == nullptr) mesh.emplace(static_cast<int>(devices()));
    const TrialPlace place{mesh ? &*mesh : nullptr, options_.ranks};
    for (std::size_t turn = 0; turn < turns; ++turn)
      for (std::size_t i = 0; i < all.size(); ++i) {
        Compiled& one = all[i];
        say(fmt::format("turn {} of {}: {}", turn + 1, turns, one.trial.name));
        HEDDLE_TRY(const double mine, seconds_of(place, one.executable, one.arguments));
        HEDDLE_TRY(const double seconds, longest(mine));
        one.trial.timed = std::min(one.trial.timed.value_or(seconds), seconds);
        if (each != nullptr) (*each)[i].push_back(seconds);
      }
    for (const Compiled& one : all)
      log(kLogPlans, "schedule {}: {}", one.trial.name, time_text(*one.trial.timed));
    return yes();
  }

  static constexpr std::size_t kMostParts = 8;      // schedules that are put together
  static constexpr std::size_t kMostConfirmed = 3;  // that take turns with the program as it is
  static constexpr std::size_t kConfirmTurns = 9;
  // Of so many turns so many must be faster.
  static constexpr std::pair<std::ptrdiff_t, std::ptrdiff_t> kMostOf = {9, 7};

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
  table += fmt::format("{}: {}\n", schedule.steps.empty() ? "stays as it is" : "taken", why);
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
