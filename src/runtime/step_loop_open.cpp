// The beginning of a run of many steps: what is wrong with it is found here, before the work.
#include "heddle/inputs.h"
#include "heddle/ranks.h"
#include "heddle/signature.h"
#include "heddle/step_loop.h"
#include "heddle/value_names.h"
#include "runtime/step_progress.h"

namespace heddle {

StepLoop::StepLoop(const Program& program, const Function& function, StepLoopOptions options)
    : program_(program),
      function_(function),
      options_(std::move(options)),
      ranks_(options_.ranks),
      first_(ranks_ == nullptr || ranks_->rank() == 0),
      arguments_(argument_types(program, function)),
      result_types_(result_types(program, function)) {
  open_checkpoint();
  open_batches();
  compare_ranks();
  check_saving_works();
  read_inputs();
}

void StepLoop::open_checkpoint() {
  last_ = options_.steps;
  if (options_.restore.empty()) return;
  std::vector<std::string> passed_over;
  const auto found = checkpoint_to_restore(options_.restore, ranks_, &passed_over);
  if (options_.say)
    for (const std::string& why : passed_over) options_.say("passed over: " + why);
  restored_ = found.value();
  checkpoint_ = Checkpoint::open(restored_, CheckpointCheck::sizes).value();
  given_ = restored_arguments(*checkpoint_, restored_, arguments_, carried()).value();
  from_ = checkpoint_->step();
  if (last_ == 0) last_ = from_ + 1;
  if (last_ <= from_)
    throw Error(
        fmt::format("{} is at step {} already: `steps` counts from the very beginning, "
                    "so give more than that",
                    restored_, from_));
  say(fmt::format("goes on from {}, step {}", restored_, from_));
}

void StepLoop::open_batches() {
  if (options_.batches.empty()) return;
  batches_ = Batches::open(options_.batches, program_, function_, options_.cycle).value();
  for (const std::size_t i : batches_.arguments())
    if (options_.carry.takes(i))
      throw Error(
          fmt::format("batch: argument {} is carried from step to step ({}), so that "
                      "it cannot have batches",
                      i, options_.carry.text()));
  const Verdict enough = batches_.check(from_ + 1, last_);
  if (enough) return;
  const bool too_few = batches_.count() < last_ && !options_.cycle;
  throw Error(fmt::format("batch: {}{}", enough.reason(),
                          too_few ? "\n  give more, take fewer steps, or begin again after the "
                                    "last with `cycle`"
                                  : ""));
}

// Ranks that count or save otherwise would wait for one another in different places.
void StepLoop::compare_ranks() const {
  if (ranks_ == nullptr || ranks_->size() == 1) return;
  const SaveRequest& save = options_.save;
  const std::vector<std::string> all =
      gather_texts(*ranks_, fmt::format("{} {} {} {} {} {}", from_, last_, options_.carry.text(),
                                        save.prefix, save.every, options_.restore))
          .value();
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      throw Error(
          fmt::format("rank {} of {} takes other steps than rank 0, or saves or restores "
                      "otherwise: start all ranks with the same options",
                      r, all.size()));
}

void StepLoop::check_saving_works() const {
  if (options_.save.prefix.empty() || !first_) return;
  std::int64_t bytes = 0;
  for (const Carried& c : carried()) bytes += arguments_[c.argument].bytes();
  check_saving(options_.save, from_, bytes, restored_ != options_.restore).value();
}

// With the batches of the first step.
void StepLoop::read_inputs() {
  const std::vector<std::size_t> changing = batches_.arguments();
  std::vector<bool> elsewhere = given_;
  if (elsewhere.empty() && !changing.empty()) elsewhere.resize(arguments_.size());
  for (const std::size_t i : changing) elsewhere[i] = true;
  inputs_ =
      gather_inputs(program_, function_, options_.inputs, options_.memory_limit, elsewhere).value();
  say_passed_over(changing);
  for (const std::size_t i : changing) inputs_[i] = batches_.read(i, from_ + 1).value();
}

// What batches give counts more than what inputs give: a file with all arguments may stay as it is.
void StepLoop::say_passed_over(const std::vector<std::size_t>& changing) const {
  std::string names;
  for (const std::size_t i : changing) {
    if (inputs_[i].type() != arguments_[i]) continue;  // nothing has come in for it
    const std::string_view given = argument_name(function_, i);
    names += fmt::format("{}{}", names.empty() ? "" : ", ",
                         given.empty() ? fmt::format("arg{}", i) : std::string(given));
  }
  if (!names.empty()) say(fmt::format("inputs of {} are passed over: batches count more", names));
}

void StepLoop::begin(Deployment& deployment) {
  deployment_ = &deployment;
  steps_.emplace(deployment, carried());
  const bool saves = !options_.save.prefix.empty();
  const bool whole_everywhere = ranks_ != nullptr && ranks_->size() > 1 &&
                                !deployment.placement().on_mesh() && !options_.on_mesh;
  if (whole_everywhere && (saves || checkpoint_))
    throw Error("checkpoints of several ranks need `mesh`, which says how their values lie");
  if (saves) steps_->can_be_saved().value();
  give_arguments();
  now_ = from_;
  progress_ = std::make_unique<StepProgress>(function_, numbers(), last_,
                                             first_ ? options_.say : StepProgress::Say{});
  if (batches_.count() > 0)
    say(fmt::format("takes a new batch every step, of {}{}", batches_.count(),
                    options_.cycle ? ", again from the first after the last" : ""));
  const CarryPlan& carry = options_.carry;
  if (!carry.said && !carry.pairs.empty())
    say(fmt::format("carries {} ({})", carry.text(), carry.because));
  const bool launched = ranks_ != nullptr && ranks_->name() == "processes";
  if (options_.stop_by_signal && saves) stop_.emplace(launched);
}

// From files and the checkpoint.
void StepLoop::give_arguments() {
  std::vector<std::string> sources = options_.inputs;
  sources.insert(sources.end(), options_.batches.begin(), options_.batches.end());
  if (Transport* others = deployment_->ranks_with_parts())
    compare_inputs(*others, inputs_, sources).value();
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const bool restored = !given_.empty() && given_[i];
    (restored ? steps_->restore(i, *checkpoint_) : steps_->set(i, inputs_[i])).value();
    inputs_[i] = Array();
  }
}

// Results that a line can show.
std::vector<std::size_t> StepLoop::numbers() const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < result_types_.size(); ++i)
    if (result_types_[i].is_tensor() && result_types_[i].rank() == 0 && !options_.carry.gives(i))
      all.push_back(i);
  return all;
}

}  // namespace heddle
