#include "compile/pipeline_setting.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <set>

#include "compile/distribute.h"
#include "compile/micro_program.h"
#include "compile/pipeline_settings.h"
#include "heddle/log.h"
#include "heddle/micro_batches.h"
#include "heddle/op.h"
#include "parallel/messages.h"
#include "parallel/pipeline/cut.h"
#include "parallel/pipeline/program_graph.h"
#include "spmd/micro_ops.h"
#include "spmd/turns.h"

namespace heddle {

namespace {

using pipeline::MicroProgram;

struct Devices {
  Mesh all;
  Link between;  // stages
};

Expected<Devices> devices_of(const PipelineSetting& setting,
                             const std::optional<Cluster>& cluster) {
  AxisRegistry scratch = AxisRegistry::standard();
  Devices devices;
  HEDDLE_TRY(devices.all, Mesh::parse(setting.mesh, scratch));
  if (cluster) {
    HEDDLE_TRY(devices.all, cluster->with_figures(devices.all));
  }
  devices.between = {0, devices.all.local_bandwidth()};
  for (const MeshAxis& axis : devices.all.axes()) {
    if (axis.name == setting.axis) devices.between = axis.link;
  }
  return devices;
}

// The mesh of one stage, with the links that its axes have among all devices.
Expected<std::uint32_t> enter_stage_mesh(Program& program, const Devices& devices,
                                         const std::string& axis) {
  AxisSizes sizes;
  for (const MeshAxis& a : devices.all.axes())
    if (a.name != axis) sizes.emplace_back(a.name, a.size);
  if (sizes.empty()) sizes.emplace_back("one", 1);
  std::string name = "stage";
  while (program.find_mesh(name) != nullptr) name += "_";
  HEDDLE_TRY_VOID(program.add_mesh(name, sizes));
  std::vector<MeshAxis> axes = program.meshes.back().mesh.axes();
  for (MeshAxis& entered : axes)
    for (const MeshAxis& a : devices.all.axes())
      if (a.name == entered.name) entered.link = a.link;
  HEDDLE_TRY(program.meshes.back().mesh, Mesh::make(std::move(axes), devices.all.device()));
  return static_cast<std::uint32_t>(program.meshes.size() - 1);
}

// A part of a value may lie near where the whole does not.
DeviceFigures all_near(DeviceFigures device) {
  if (device.cache > 0) device.memory_rate = std::max(device.memory_rate, device.cache_rate);
  return device;
}

class Setting {
 public:
  Setting(const Program& core, const Target& target, const PipelineSetting& setting,
          const SettingLimits& limits)
      : core_(core),
        target_(target),
        setting_(setting),
        limits_(limits),
        memory_limit_(limits.memory) {}

  // What a device takes that does all of it.
  Expected<PipelineWork> work(const std::optional<Cluster>& cluster) {
    PipelineWork work;
    Target cut = target_;
    cut.micro_batches = setting_.micro_batches;
    HEDDLE_TRY(const auto whole, micro_batches_of(core_, cut));
    if (!whole) return reason("stages of a pipeline work on micro-batches: take 2 or more");
    work.micro = std::make_shared<const MicroBatches>(*whole);
    work.turns = turns_to_cut(*whole);
    // Every turn of a loop by itself: wherever it is cut, it is cut between two of them.
    parts_ = work.turns;
    HEDDLE_TRY_VOID(prepare());
    work.ops = program().region(function().body).ops.size();
    if (cluster) {
      Mesh& mesh = micro_->program.meshes[mesh_].mesh;
      HEDDLE_TRY(mesh, Mesh::make(mesh.axes(), all_near(cluster->device)));
    }
    HEDDLE_TRY_VOID(share_work(INT64_MAX));
    for (OpId id : program().region(function().body).ops) {
      work.all += found_.op_seconds[id];
      if (phases_[id] == MicroPhase::each) work.each += found_.op_seconds[id];
    }
    // As fine as it goes: what a search joins may as well be apart.
    constexpr std::size_t kMostNodes = 2048;
    pipeline::ProgramGraph fine = pipeline::graph_of(*micro_program_, kMostNodes);
    work.backward = fine.backward;
    work.graph = std::move(fine.graph);
    return work;
  }

  Expected<PipelineAnswer> run(const std::vector<int>& chunks) {
    chunks_ = chunks;
    parts_ = std::int64_t{setting_.stages} * std::ranges::max(chunks);
    HEDDLE_TRY_VOID(prepare());
    constexpr int kRounds = 5;
    if (limits_.go_on) memory_ = *limits_.go_on;
    double low = 0;  // too little for a search
    for (int round = limits_.go_on ? 1 : 0; round < kRounds && memory_.limit != 0; ++round) {
      if (const Verdict shared = share_work(memory_.limit); !shared) {
        if (round == 0 || beaten_) return shared.why();
        low = static_cast<double>(memory_.limit);
      } else {
        if (round == 0) memory_.bound = bound_of(chunks);
        beaten_ = memory_.bound > limits_.to_beat;
        if (beaten_) return Reason{kBeaten};
        auto answer = best_cut(chunks);
        if (answer) return with_shared_split(*answer);
        if (memory_limit_ == INT64_MAX || memory_.needed <= memory_limit_) return answer;
        memory_.why = answer.why();
        memory_.too_much = static_cast<double>(found_.peak_bytes);
      }
      memory_.limit = next_limit(low);
      is_open_ = limits_.once && memory_.limit != 0;
      if (is_open_) break;
    }
    return memory_.why;
  }

  const SettingMemory& memory() const { return memory_; }
  bool is_beaten() const { return beaten_; }
  bool is_open() const { return is_open_; }

 private:
  // What one device of each stage has together shrinks by as much as the fullest stage has to, or
  // by half of that where it is too little for a search. 0: there is nothing between.
  std::int64_t next_limit(double low) const {
    constexpr double kSome = 0.95, kApart = 1.03;
    const double high = memory_.too_much;
    const double wanted =
        kSome * high * static_cast<double>(memory_limit_) / static_cast<double>(memory_.needed);
    const double next = wanted > kApart * low ? wanted : std::sqrt(low * high);
    return next > kApart * low && next * kApart < high ? static_cast<std::int64_t>(next) : 0;
  }

  Verdict prepare() {
    HEDDLE_TRY_VOID(leaves_axis_to_stages(target_, setting_.axis));
    HEDDLE_TRY(devices_, devices_of(setting_, target_.cluster));
    if (limits_.work != nullptr && limits_.work->micro != nullptr) {
      micro_ = *limits_.work->micro;
    } else {
      Target cut = target_;
      cut.micro_batches = setting_.micro_batches;
      HEDDLE_TRY(micro_, micro_batches_of(core_, cut));
    }
    if (!micro_) return reason("stages of a pipeline work on micro-batches: take 2 or more");
    if (parts_ > 1) HEDDLE_TRY_VOID(cut_turns(*micro_, parts_));
    if (setting_.effort > 0) HEDDLE_TRY_VOID(compute_again(*micro_, setting_.effort));
    HEDDLE_TRY(mesh_, enter_stage_mesh(micro_->program, devices_, setting_.axis));
    HEDDLE_TRY(phases_, micro_phases(program(), function(), *micro_));
    return yes();
  }

  const Program& program() const { return micro_->program; }
  const Function& function() const { return *program().find_function(micro_->function); }

  // How the devices of a stage share every op.
  Verdict share_work(std::int64_t limit) {
    search_limit_ = limit;
    RuleCache rules(program());
    PropagateOptions options;
    options.mesh = mesh_;
    HEDDLE_TRY(options.seeds, seeds_on(micro_->program, program().meshes[mesh_].name, target_));
    options.closed_boundary = target_.layouts.closed;
    options.carried = target_.carried;
    SearchOptions how = search_options(target_);
    how.memory_limit = limit;
    how.memory_wish = INT64_MAX;
    how.recompute = 0;  // the function has it
    how.details = false;
    // Settings are compared with each other, for which this is near enough.
    constexpr double kNear = 1e-3;
    how.solve.gap = kNear;
    count_micro_batches(program(), function(), *micro_, setting_.stages, how);
    for (std::size_t a = 0; a < std::min(shared_.size(), how.argument_times.size()); ++a)
      how.argument_times[a] += shared_[a];
    std::atomic<double> to_beat =
        shared_.empty() ? work_to_beat() : std::numeric_limits<double>::infinity();
    if (to_beat < std::numeric_limits<double>::infinity()) how.to_beat = &to_beat;
    auto found = search_plan(program(), function(), rules, options, how);
    beaten_ = !found && found.reason() == kBeaten;
    if (!found) return found.why();
    found_ = *std::move(found);
    HEDDLE_TRY_VOID(shares_micro_batches(program(), function(), *micro_, found_.layouts));
    return make_micro_program(how.times);
  }

  Verdict make_micro_program(const std::vector<double>& times) {
    MicroCosts costs{{}, [&](ValueId v) { return &found_.layouts.splits[v]; }, target_.carried};
    for (OpId id = 0; id < program().op_count(); ++id)
      costs.seconds.push_back(found_.op_seconds[id] / times[id]);
    HEDDLE_TRY(MicroProgram made,
               micro_program_of(program(), function(), *micro_, std::move(costs)));
    micro_program_.emplace(std::move(made));
    graph_ = pipeline::graph_of(*micro_program_);
    return yes();
  }

  // An argument that two stages use goes from one to the other in every step, which a search that
  // knows of no stages does not see. Where that is much of a step, it is searched once more with
  // what it takes.
  PipelineAnswer with_shared_split(PipelineAnswer answer) {
    constexpr double kMuch = 0.03;
    double seconds = 0;
    std::vector<double> more(micro_->number(), 0);
    // The stages that have it are most often those that the others wait for.
    const double worth = least_bandwidth(program().meshes[mesh_].mesh) / devices_.between.bandwidth;
    for (std::size_t r = 0; r < graph_.argument_of.size(); ++r) {
      const std::size_t a = graph_.argument_of[r];
      const pipeline::CutGraph::Resident& one = graph_.graph.residents[r];
      std::set<int> stages;
      for (int user : one.users)
        stages.insert(best_stages_[static_cast<std::size_t>(user)] % setting_.stages);
      if (stages.size() < 2) continue;
      if (a >= more.size()) continue;
      more[a] = 2 * worth * static_cast<double>(stages.size() - 1);
      seconds += 2 * static_cast<double>(one.shared_bytes) / devices_.between.bandwidth;
    }
    if (seconds < kMuch * answer.times.seconds) return answer;
    if (answer.times.seconds - seconds >= limits_.to_beat) return answer;
    shared_ = std::move(more);
    if (!share_work(search_limit_)) return answer;
    auto split = best_cut(chunks_);
    log(kLogSteps,
        "pipeline: arguments of two stages take {:.3g} ms of {:.3g} to travel, {:.3g} where that "
        "counts",
        seconds * 1e3, answer.times.seconds * 1e3, split ? split->times.seconds * 1e3 : 0);
    if (!split || split->times.seconds >= answer.times.seconds) return answer;
    split->lies_as_said = true;
    return *std::move(split);
  }

  Expected<PipelineAnswer> best_cut(const std::vector<int>& all_chunks) {
    std::optional<PipelineAnswer> best;
    std::optional<Reason> no;
    memory_.needed = 0;
    for (int chunks : all_chunks) {
      const PipelineShape shape = shape_with(chunks);
      // A proof for many nodes could take for ever: some seconds, counted in steps.
      int asked = 0;
      constexpr int kMostAsked = 2000;
      const auto cut = pipeline::find_cut(
          {graph_.graph, shape, devices_.between, memory_limit_},
          {target_.layouts.search == 3 ? 3 : 2, [&asked] { return ++asked > kMostAsked; }});
      if (!cut) {
        if (!no) no = cut.why();
        note_least(shape);
        continue;
      }
      if (best && cut->times.seconds >= best->times.seconds) continue;
      best.emplace();
      best->shape = shape;
      best->cut = pipeline::cut_of(*micro_program_, graph_, shape, cut->stages);
      best->cut.memory = search_limit_;
      best->times = cut->times;
      best->peak_bytes = cut->least_bytes;
      best_stages_ = cut->stages;
    }
    if (!best) return *no;
    // That of all layouts was known before any of them was kept from taking too much.
    best->bound = std::min(memory_.bound, best->times.seconds);
    best->memory_costs = memory_costs(*best);
    add_values(*micro_, mesh_, found_.layouts, *best);
    return *std::move(best);
  }

  double once() const { return weight_of_once(setting_.micro_batches, setting_.stages); }
  PipelineShape shape_with(int chunks) const {
    const bool backward = limits_.work != nullptr ? limits_.work->backward : graph_.backward;
    return {setting_.stages, static_cast<int>(setting_.micro_batches), chunks, backward};
  }
  // Of values that are computed again, and of those who do it, nothing is known.
  pipeline::LeastStep least_step(int chunks) const {
    const bool is_known = limits_.work != nullptr && setting_.effort == 0;
    const double devices =
        static_cast<double>(devices_.all.devices()) / static_cast<double>(setting_.stages);
    return {is_known ? limits_.work->graph : pipeline::CutGraph{}, shape_with(chunks), devices,
            devices_.between};
  }

  // No cut of any sharing of the work takes less. Where all virtual stages have something of the
  // way through the program, each waits for the one before it, in the order that is fixed.
  double bound_of(const std::vector<int>& all_chunks) const {
    if (setting_.stages == 1) return found_.bound;
    double of_all = std::numeric_limits<double>::infinity();
    for (int chunks : all_chunks) {
      const pipeline::LeastStep least = least_step(chunks);
      const double waiting = pipeline::least_of_chain(shape_with(chunks), found_.bound, once(),
                                                      devices_.between.latency);
      of_all = std::min(of_all,
                        std::max(least.of(found_.bound, once()),
                                 std::min(least.with_fewer_on_way(found_.bound, once()), waiting)));
    }
    return of_all;
  }

  // How much work in a step, as a search counts it, is too much for the plan to beat.
  double work_to_beat() const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    if (limits_.to_beat == kNever) return kNever;
    if (setting_.stages == 1) return limits_.to_beat;
    std::vector<pipeline::LeastStep> least;
    for (int chunks : chunks_) least.push_back(least_step(chunks));
    double low = 0, high = limits_.to_beat * setting_.stages;
    constexpr int kHalvings = 12;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      const bool is_too_much = std::ranges::all_of(
          least, [&](const auto& one) { return one.of(middle, once()) > limits_.to_beat; });
      (is_too_much ? high : low) = middle;
    }
    return high;
  }

  // Whether another cut would be better if there were room for it.
  bool memory_costs(const PipelineAnswer& best) const {
    constexpr double kWorth = 0.99, kFull = 0.85;
    if (memory_limit_ == INT64_MAX || search_limit_ != INT64_MAX) return search_limit_ != INT64_MAX;
    if (static_cast<double>(best.peak_bytes) < kFull * static_cast<double>(memory_limit_))
      return false;
    const auto roomy = pipeline::find_cut({graph_.graph, best.shape, devices_.between, INT64_MAX});
    return roomy && roomy->times.seconds < kWorth * best.times.seconds;
  }

  // What the best cut would need if there were room for anything.
  void note_least(const PipelineShape& shape) {
    const auto roomy = pipeline::find_cut({graph_.graph, shape, devices_.between, INT64_MAX});
    if (roomy && (memory_.needed == 0 || roomy->least_bytes < memory_.needed))
      memory_.needed = roomy->least_bytes;
  }

  const Program& core_;
  const Target& target_;
  const PipelineSetting& setting_;
  const SettingLimits& limits_;
  std::int64_t memory_limit_;
  std::vector<int> chunks_ = {};
  std::int64_t parts_ = 1;             // into which loops over layers are taken apart
  pipeline::Stages best_stages_ = {};  // by node of the graph: those of the last cut
  std::vector<double> shared_ = {};    // by argument: how often it goes to others, as it counts
  SettingMemory memory_ = {};
  bool beaten_ = false, is_open_ = false;
  std::int64_t search_limit_ = INT64_MAX;  // of what one device of every stage has together
  Devices devices_;
  std::optional<MicroBatches> micro_;
  std::uint32_t mesh_ = 0;
  std::vector<MicroPhase> phases_;
  FoundPlan found_;
  std::optional<MicroProgram> micro_program_;
  pipeline::ProgramGraph graph_;
};

}  // namespace

namespace {

// An answer that takes less; where there is none, what may still be answered with less memory.
bool is_better(const SettingOutcome& a, const SettingOutcome& b) {
  if (a.answer && b.answer) return a.answer->times.seconds < b.answer->times.seconds;
  if (a.answer || b.answer) return a.answer.ok();
  return a.is_open && (!b.is_open || a.memory.needed < b.memory.needed);
}

}  // namespace

SettingOutcome answer_for(const Program& core, const Target& target, const PipelineSetting& setting,
                          const std::vector<int>& chunks, const SettingLimits& limits) {
  const auto look = [&](const std::vector<int>& at) {
    Setting one(core, target, setting, limits);
    SettingOutcome outcome;
    outcome.answer = one.run(at);
    if (!outcome.answer) outcome.memory = one.memory();
    outcome.beaten = one.is_beaten();
    outcome.is_open = one.is_open();
    outcome.chunks = at;
    return outcome;
  };
  const bool has_loops = limits.work != nullptr && limits.work->turns > 1;
  if (!has_loops || chunks.size() == 1) return look(chunks);
  // Loops over layers are taken apart into as many parts as there are virtual stages.
  std::optional<SettingOutcome> best;
  double bound = std::numeric_limits<double>::infinity();
  for (int chunk : chunks) {
    SettingOutcome one = look({chunk});
    if (one.answer) bound = std::min(bound, one.answer->bound);
    if (one.is_open) bound = std::min(bound, one.memory.bound);
    if (!best || is_better(one, *best)) best = std::move(one);
  }
  if (best->answer) best->answer->bound = bound;
  if (best->is_open) best->memory.bound = bound;
  return *std::move(best);
}

Expected<PipelineWork> work_on_one(const Program& core, const Target& target,
                                   const std::optional<Cluster>& cluster,
                                   std::int64_t micro_batches) {
  const PipelineSetting setting{target.mesh, "", 1, micro_batches, 0};
  const SettingLimits limits;
  return Setting(core, target, setting, limits).work(cluster);
}

double floor_of(const PipelineSetting& setting, const std::vector<int>& chunks,
                const PipelineWork& work, const std::optional<Cluster>& cluster) {
  const auto devices = devices_of(setting, cluster);
  if (!devices) return 0;
  const auto all = static_cast<double>(devices->all.devices());
  const double even = work.all / all;
  if (setting.stages == 1) return even;
  double of_all = std::numeric_limits<double>::infinity();
  for (int chunk : chunks) {
    const PipelineShape shape{setting.stages, static_cast<int>(setting.micro_batches), chunk,
                              work.backward};
    const pipeline::LeastStep least(work.graph, shape, all / setting.stages, devices->between);
    of_all = std::min(of_all, least.of(work.each * setting.stages / all, 0));
  }
  return std::max(even, of_all);
}

}  // namespace heddle
