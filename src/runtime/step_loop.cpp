#include "heddle/step_loop.h"

#include <chrono>

#include "heddle/ranks.h"
#include "runtime/step_progress.h"

namespace heddle {

StepLoop::~StepLoop() = default;

bool StepLoop::take(const RunOptions& run) {
  if (now_ == last_ || signal_ != 0) return false;
  try {
    ++now_;
    take_step(run);
  } catch (const Error& error) {
    if (ranks_ != nullptr) ranks_->abort(error.what());
    throw Error(fmt::format("{}\n  in step {} of {}{}", error.what(), now_, last_, how_to_go_on()));
  }
  if (now_ == last_ || signal_ != 0) stop_.reset();  // from here on signals end it as usual
  return signal_ == 0;
}

void StepLoop::take_step(const RunOptions& run) {
  take_batch(now_);
  const auto start = std::chrono::steady_clock::now();
  steps_->take(run).value();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  seconds_.push_back(took.count());
  std::vector<Array> numbers;
  for (const std::size_t i : progress_->scalars()) numbers.push_back(number(i));
  progress_->step(now_, numbers, save_if_due(now_));
  if (const int signal = stop_ ? asked_to_stop() : 0; signal != 0) stop_here(signal);
}

// In a pipeline some stage has it, and ranks of the others are told.
Array StepLoop::number(std::size_t result) {
  const Placement& placement = deployment_->placement();
  if (placement.stages().empty()) return steps_->parts()[0][result];
  if (deployment_->ranks_with_parts() != nullptr) return steps_->whole(result).value();
  std::size_t d = 0;
  while (!placement.results[result].number_on_mesh(deployment_->device(d))) ++d;
  return steps_->parts()[d][result];
}

// That of the first step has been given with the other arguments.
void StepLoop::take_batch(std::int64_t step) {
  if (step == from_ + 1) return;
  for (const std::size_t i : batches_.arguments())
    steps_->set(i, batches_.read(i, step).value()).value();
}

// The checkpoint's name; empty where it is not the time for one.
std::string StepLoop::save_if_due(std::int64_t step) {
  const SaveRequest& request = options_.save;
  const bool due = step == last_ || (request.every > 0 && step % request.every == 0);
  return request.prefix.empty() || !due ? "" : save(step);
}

std::string StepLoop::save(std::int64_t step) {
  // Interpreters of several ranks all have the whole of it.
  if (deployment_->ranks_with_parts() == nullptr && !first_) return "";
  std::string name = checkpoint_name(options_.save.prefix, step);
  const Verdict saved = steps_->save(name, step);
  if (!saved)
    throw Error(fmt::format("checkpoint {} could not be saved: {}", name, saved.reason()));
  last_good_ = name;
  if (first_) remove_old(options_.save, step);
  return name;
}

// Ranks stop after the same step, or not at all.
int StepLoop::asked_to_stop() const {
  const bool alone = ranks_ == nullptr || ranks_->size() == 1;
  return alone ? stop_->signal() : largest_of(*ranks_, stop_->signal()).value();
}

void StepLoop::stop_here(int signal) {
  const std::string name = checkpoint_name(options_.save.prefix, now_);
  if (last_good_ != name) (void)save(now_);
  signal_ = signal;
  stopped_ = now_ == last_
                 ? fmt::format("stopped by a signal after the last step, which is {}", name)
                 : fmt::format("stopped by a signal after step {} of {}, which is saved as {}{}",
                               now_, last_, name, command_to_restore(name));
}

// Once for all ranks: by the first one, or the next where that one is lost.
bool StepLoop::speaks() const {
  if (first_ || ranks_->rank() != 1) return first_;
  const std::string why = ranks_->failure();
  const bool met_error = why.starts_with(fmt::format("rank 0 of {} failed", ranks_->size()));
  return why.starts_with("rank 0 ") && !met_error;  // one that met an error speaks itself
}

std::string StepLoop::how_to_go_on() const {
  if (!speaks()) return "";
  const std::string& good = last_good_.empty() ? restored_ : last_good_;
  if (!good.empty())
    return fmt::format("\nthe last good checkpoint is {}{}", good,
                       command_to_restore(good, " on any number of devices"));
  return options_.save.prefix.empty() ? "" : "\nno checkpoint had been saved before";
}

// ": continue with\n  heddle run ..."; nothing where nobody has said what to type.
std::string StepLoop::command_to_restore(const std::string& checkpoint,
                                         std::string_view where) const {
  if (!options_.command) return "";
  return fmt::format(": continue{} with\n  {}", where, options_.command(checkpoint));
}

void StepLoop::say(const std::string& line) const {
  if (first_ && options_.say) options_.say(line);
}

StepsDone StepLoop::done() const {
  StepsDone done;
  done.first = from_ + 1;
  done.last = last_;
  done.restored = restored_;
  done.carry = options_.carry.text();
  done.batches = batches_.count();
  done.signal = signal_;
  done.stopped = stopped_;
  if (!progress_) return done;
  done.saved = progress_->saved();
  done.scalars = progress_->scalars();
  done.history = progress_->history();
  return done;
}

}  // namespace heddle
