#include "steps.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

#include "batch_options.h"
#include "clock.h"
#include "command_line.h"
#include "commands.h"
#include "deploy.h"
#include "heddle/ranks.h"
#include "heddle/steps.h"
#include "progress.h"
#include "stop_request.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

class StepsRun {
 public:
  StepsRun(const Program& program, const Function& function, const RunRequest& request,
           const InterpretOptions& options)
      : program_(program),
        function_(function),
        request_(request),
        options_(options),
        ranks_(request.execute.ranks),
        first_(ranks_ == nullptr || ranks_->rank() == 0),
        arguments_(argument_types(program, function)),
        results_(result_types(program, function)) {}

  Outcome run() {
    carry_ = carry_of(program_, function_, request_.steps.carry, request_.steps.steps > 0);
    open_checkpoint();
    open_batches();
    compare_ranks();
    check_before();
    std::vector<Array> inputs = read_inputs();
    deploy_steps();
    give_arguments(std::move(inputs));
    Outcome outcome;
    outcome.function = &function_;
    outcome.types = results_;
    Progress progress(function_, numbers(), last_, !first_);
    const bool tells = first_ && !carry_.said && !carry_.pairs.empty();
    if (first_ && batches_.count() > 0)
      write_stderr(
          fmt::format("takes a new batch every step, of {}{}\n", batches_.count(),
                      request_.steps.cycle ? ", again from the first after the last" : ""));
    if (tells) write_stderr(fmt::format("carries {} ({})\n", carry_.text(), carry_.because));
    take_steps(progress, outcome.execution);
    outcome.results = steps_->wholes().value();
    deployed_->describe(outcome.execution);
    outcome.execution.explained = request_.explain;
    outcome.steps = std::move(progress.done);
    outcome.steps.scalars = progress.scalars();
    outcome.steps.first = from_ + 1;
    outcome.steps.last = last_;
    outcome.steps.restored = restored_;
    outcome.steps.carry = carry_.text();
    outcome.steps.batches = batches_.count();
    return outcome;
  }

 private:
  void open_checkpoint() {
    last_ = request_.steps.steps;
    if (request_.steps.restore.empty()) return;
    std::vector<std::string> passed_over;
    const auto found = checkpoint_to_restore(request_.steps.restore, ranks_, &passed_over);
    for (const std::string& why : passed_over) write_stderr(fmt::format("passed over: {}\n", why));
    restored_ = of_option(found);
    checkpoint_ = Checkpoint::open(restored_, CheckpointCheck::sizes).value();
    given_ = restored_arguments(*checkpoint_, restored_, arguments_, carry_.pairs).value();
    from_ = checkpoint_->step();
    if (last_ == 0) last_ = from_ + 1;
    if (last_ <= from_)
      throw Error(
          fmt::format("{} is at step {} already: --steps counts from the very beginning, "
                      "so give more than that",
                      restored_, from_));
    if (first_) write_stderr(fmt::format("goes on from {}, step {}\n", restored_, from_));
  }

  // All that could be wrong with them is found now.
  void open_batches() {
    const StepsRequest& steps = request_.steps;
    if (steps.batches.empty()) return;
    batches_ = open_batch_options(program_, function_, steps.batches, steps.cycle);
    for (const std::size_t i : batches_.arguments())
      if (carry_.takes(i))
        throw Error(
            fmt::format("--batch: argument {} is carried from step to step ({}), so that "
                        "it cannot have batches",
                        i, carry_.text()));
    if (const Verdict enough = batches_.check(from_ + 1, last_); !enough)
      throw Error(fmt::format("--batch: {}{}", enough.reason(),
                              batches_.count() < last_ && !steps.cycle
                                  ? "\n  give more, take fewer steps, or begin again after the "
                                    "last with --cycle"
                                  : ""));
  }

  // Ranks that count or save otherwise would wait for one another in different places.
  void compare_ranks() const {
    if (ranks_ == nullptr || ranks_->size() == 1) return;
    const SaveRequest& save = request_.steps.save;
    const std::vector<std::string> all =
        gather_texts(*ranks_, fmt::format("{} {} {} {} {} {}", from_, last_, carry_.text(),
                                          save.prefix, save.every, request_.steps.restore))
            .value();
    for (std::size_t r = 1; r < all.size(); ++r)
      if (all[r] != all[0])
        throw Error(
            fmt::format("rank {} of {} takes other steps than rank 0, or saves or restores "
                        "otherwise: start all ranks with the same options",
                        r, all.size()));
  }

  void check_before() const {
    const SaveRequest& save = request_.steps.save;
    if (save.prefix.empty() || !first_) return;
    std::int64_t bytes = 0;
    for (const Carried& c : carry_.pairs) bytes += arguments_[c.argument].bytes();
    (void)of_option(check_saving(save, from_, bytes, restored_ != request_.steps.restore));
  }

  void deploy_steps() {
    ExecuteRequest execution = request_.execute;
    execution.explain = request_.explain;
    Target target = with_options(target_to_run(program_, function_, request_), execution);
    target.carried = carry_.pairs;
    deployed_ = deploy(program_, function_, target, execution, options_);
    steps_.emplace(deployed_->deployment, carry_.pairs);
    const bool saves = !request_.steps.save.prefix.empty();
    const bool on_mesh = request_.mesh.given() || deployed_->deployment.placement().on_mesh();
    if (ranks_ != nullptr && ranks_->size() > 1 && !on_mesh && (saves || checkpoint_))
      throw Error("checkpoints of several ranks need --mesh, which says how their values lie");
    if (saves) (void)steps_->can_be_saved().value();
  }

  // What the command line names for arguments, in its order.
  std::vector<std::string> sources() const {
    std::vector<std::string> all = request_.inputs;
    if (!request_.io.empty()) all.push_back(request_.io);
    all.insert(all.end(), request_.steps.batches.begin(), request_.steps.batches.end());
    return all;
  }

  // Before anything is compiled for them, with the batches of the first step.
  std::vector<Array> read_inputs() const {
    std::vector<std::string> files = request_.inputs;
    if (!request_.io.empty()) files.push_back(request_.io);
    std::vector<bool> elsewhere = given_;
    if (elsewhere.empty() && !batches_.arguments().empty()) elsewhere.resize(arguments_.size());
    for (const std::size_t i : batches_.arguments()) elsewhere[i] = true;
    std::vector<Array> inputs =
        of_option(gather_inputs(program_, function_, files, options_.memory_limit, elsewhere));
    for (const std::size_t i : batches_.arguments())
      inputs[i] = batches_.read(i, from_ + 1).value();
    return inputs;
  }

  // From files and the checkpoint.
  void give_arguments(std::vector<Array> inputs) {
    if (Transport* others = deployed_->deployment.ranks_with_parts())
      (void)compare_inputs(*others, inputs, sources()).value();
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const bool restored = !given_.empty() && given_[i];
      (void)(restored ? steps_->restore(i, *checkpoint_) : steps_->set(i, inputs[i])).value();
      inputs[i] = Array();
    }
  }

  // That of the first step has been given with the other arguments.
  void take_batch(std::int64_t step) {
    if (step == from_ + 1) return;
    for (const std::size_t i : batches_.arguments())
      (void)steps_->set(i, batches_.read(i, step).value()).value();
  }

  std::vector<std::size_t> numbers() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (results_[i].is_tensor() && results_[i].rank() == 0 && !carry_.gives(i)) all.push_back(i);
    return all;
  }

  void take_steps(Progress& progress, Execution& done) {
    RunOptions run;
    run.trace = options_.trace;
    run.print = options_.print;
    if (request_.explain) run.times = &done.times;
    std::int64_t step = from_ + 1;
    std::optional<StopRequest> stop;
    if (!request_.steps.save.prefix.empty()) stop.emplace(ranks_are_launched());
    try {
      for (; step <= last_; ++step) {
        take_batch(step);
        const auto start = std::chrono::steady_clock::now();
        (void)steps_->take(run).value();
        done.seconds.push_back(seconds_since(start));
        run.trace = nullptr;  // the first step says it all
        std::vector<Array> numbers;
        for (const std::size_t i : progress.scalars()) numbers.push_back(steps_->parts()[0][i]);
        progress.step(step, numbers, save_if_due(step));
        if (const int signal = stop ? asked_to_stop(*stop) : 0; signal != 0)
          stop_here(step, signal);
      }
    } catch (const Error& error) {
      if (ranks_ != nullptr) ranks_->abort(error.what());
      throw Error(
          fmt::format("{}\n  in step {} of {}{}", error.what(), step, last_, how_to_go_on()));
    }
  }

  bool ranks_are_launched() const { return ranks_ != nullptr && ranks_->name() == "processes"; }

  // Ranks stop after the same step, or not at all.
  int asked_to_stop(const StopRequest& stop) const {
    const bool alone = ranks_ == nullptr || ranks_->size() == 1;
    return alone ? stop.signal() : largest_of(*ranks_, stop.signal()).value();
  }

  void stop_here(std::int64_t step, int signal) {
    const std::string name = checkpoint_name(request_.steps.save.prefix, step);
    if (last_good_ != name) (void)save(step);
    const int status = 128 + signal;
    if (!first_) throw Exit{status};
    if (step == last_)
      throw Exit{status, fmt::format("stopped by a signal after the last step, which is {}", name)};
    throw Exit{status, fmt::format("stopped by a signal after step {} of {}, which is saved as {}: "
                                   "continue with\n  {}",
                                   step, last_, name, command_to_restore(name))};
  }

  // The checkpoint's name; empty where it is not the time for one.
  std::string save_if_due(std::int64_t step) {
    const SaveRequest& request = request_.steps.save;
    const bool due = step == last_ || (request.every > 0 && step % request.every == 0);
    return request.prefix.empty() || !due ? "" : save(step);
  }

  std::string save(std::int64_t step) {
    const SaveRequest& request = request_.steps.save;
    // Interpreters of several ranks all have the whole of it.
    if (deployed_->deployment.ranks_with_parts() == nullptr && !first_) return "";
    const std::string name = checkpoint_name(request.prefix, step);
    const Verdict saved = steps_->save(name, step);
    if (!saved)
      throw Error(fmt::format("checkpoint {} could not be saved: {}", name, saved.reason()));
    last_good_ = name;
    if (first_) remove_old(request, step);
    return name;
  }

  // Once for all ranks: by the first one, or the next where that one is lost.
  bool speaks() const {
    if (first_ || ranks_->rank() != 1) return first_;
    const std::string why = ranks_->failure();
    const bool met_error = why.starts_with(fmt::format("rank 0 of {} failed", ranks_->size()));
    return why.starts_with("rank 0 ") && !met_error;  // one that met an error speaks itself
  }

  std::string how_to_go_on() const {
    if (!speaks()) return "";
    const std::string& good = last_good_.empty() ? restored_ : last_good_;
    if (!good.empty())
      return fmt::format(
          "\nthe last good checkpoint is {}: continue on any number of devices with\n  {}", good,
          command_to_restore(good));
    return request_.steps.save.prefix.empty() ? "" : "\nno checkpoint had been saved before";
  }

  const Program& program_;
  const Function& function_;
  const RunRequest& request_;
  const InterpretOptions& options_;
  Transport* const ranks_;
  const bool first_;  // of all ranks, the one that speaks
  const std::vector<Type> arguments_, results_;
  CarryPlan carry_ = {};
  std::optional<Checkpoint> checkpoint_ = {};
  std::string restored_ = {}, last_good_ = {};
  std::vector<bool> given_ = {};      // arguments that the checkpoint has
  std::int64_t from_ = 0, last_ = 0;  // steps
  Batches batches_ = {};
  std::optional<Deployed> deployed_ = {};
  std::optional<Steps> steps_ = {};
};

}  // namespace

Outcome run_steps(const Program& program, const Function& function, const RunRequest& request,
                  const InterpretOptions& options) {
  return StepsRun(program, function, request, options).run();
}

void add_step_options(CLI::App& command, StepsRequest& request) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  command
      .add_option("--steps", request.steps,
                  "Run until this step, the results of one being the arguments of the next")
      ->check(CLI::Range(std::int64_t{1}, kMost));
  command
      .add_option("--carry", request.carry,
                  "Which results are the next step's arguments: arg0-85=result1-86, or by\n"
                  "names, params=result[1]; not needed where names or the order of types\n"
                  "make it evident")
      ->allow_extra_args(false);
  command
      .add_option("--batch", request.batches,
                  "NAME=SOURCE, an array of every step for an argument: a folder or\n"
                  "pattern of .npy or .safetensors files, or one file with one dimension\n"
                  "more, the first; without NAME= as arrays of .safetensors are called:\n"
                  "in.3, or the argument")
      ->allow_extra_args(false)
      ->check(wrong_name);
  command.add_flag("--cycle", request.cycle, "Begin with the first batch again after the last");
  command
      .add_option("--save", request.save.prefix,
                  "Checkpoints of what is carried: run/step for run/step-100, and so on")
      ->check(wrong_name);
  command.add_option("--every", request.save.every, "Steps from one --save to the next")
      ->check(CLI::Range(std::int64_t{1}, kMost));
  command.add_option("--keep", request.save.keep, "Remove all but the newest so many checkpoints")
      ->check(CLI::Range(std::int64_t{1}, kMost));
  command
      .add_option("--restore", request.restore,
                  "Go on from a checkpoint, run/step-300, or from the newest whole one of a\n"
                  "folder, run; on any mesh, or on one device")
      ->check(wrong_name);
}

void check_step_options(const RunRequest& request) {
  const StepsRequest& steps = request.steps;
  if (steps.steps == 0 && (!steps.carry.empty() || !steps.save.prefix.empty()))
    throw CLI::ValidationError(steps.carry.empty() ? "--save" : "--carry",
                               "it is for runs of many steps: add --steps");
  if (!steps.given() && !steps.batches.empty())
    throw CLI::ValidationError("--batch", "it is for runs of many steps: add --steps");
  if (steps.cycle && steps.batches.empty())
    throw CLI::ValidationError("--cycle",
                               "there are no batches: add --batch, as in arg3=data/*.npy");
  if (steps.save.prefix.empty() && (steps.save.every > 0 || steps.save.keep > 0))
    throw CLI::ValidationError(steps.save.every > 0 ? "--every" : "--keep",
                               "nothing is saved: add --save, as in --save run/step");
  if (steps.given() && request.execute.donate)
    throw CLI::ValidationError("--donate", "steps overwrite what they carry anyway: leave it out");
  if (steps.given() && request.execute.repeat > 1)
    throw CLI::ValidationError("--repeat", "--steps repeats already: leave one of them out");
}

}  // namespace heddle::cli
