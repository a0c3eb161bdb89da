// A run of many steps from beginning to end: arguments and batches come from files, results are the
// next step's arguments, checkpoints are saved and gone on from, and a signal ends it after a step.
#pragma once

#include "heddle/batches.h"
#include "heddle/carry.h"
#include "heddle/saving.h"
#include "heddle/steps.h"
#include "heddle/stop_request.h"

namespace heddle {

struct StepLoopOptions {
  std::int64_t steps = 0;                 // to reach, counted from the very beginning; 0: one more
  CarryPlan carry = {};                   // what the next step takes from the last one
  std::vector<std::string> inputs = {};   // as gather_inputs takes them
  std::vector<std::string> batches = {};  // NAME=SOURCE, or SOURCE: an array for each step
  bool cycle = false;                     // the first batch follows the last
  std::string restore = {};               // a checkpoint, or a folder of them
  SaveRequest save = {};
  // With checkpoints: SIGINT and SIGTERM end the run after the step that it is in.
  bool stop_by_signal = false;
  Transport* ranks = nullptr;             // the other processes of the run
  bool on_mesh = false;                   // somebody has named one, also where it is interpreted
  std::int64_t memory_limit = INT64_MAX;  // for arguments that are made up
  // What a user may want to know while it goes: of all ranks, only the first one speaks.
  std::function<void(const std::string& line)> say = {};
  // What to type to go on from a checkpoint, for messages; none: they name the checkpoint only.
  std::function<std::string(const std::string& checkpoint)> command = {};
};

// What a run of many steps tells beside its results.
struct StepsDone {
  std::int64_t first = 0, last = 0;  // steps that ran; last 0: this was no such run
  std::string restored, saved;       // the newest checkpoint
  std::string carry;
  std::int64_t batches = 0;
  // Results that are numbers and not carried, of some steps.
  std::vector<std::size_t> scalars;
  std::vector<std::pair<std::int64_t, std::vector<double>>> history;
  // The signal that has stopped it, and what to say of that; 0: it went to its end.
  int signal = 0;
  std::string stopped;
};

class StepProgress;

// All of it throws what is wrong as an Error; all ranks call it together.
class StepLoop {
 public:
  // Opens the checkpoint and the batches and reads the first step's arguments, so that what is
  // wrong with them is found before anything is compiled. Program and function must live longer.
  StepLoop(const Program& program, const Function& function, StepLoopOptions options);
  ~StepLoop();
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;

  // What the function has to be compiled to carry.
  const std::vector<Carried>& carried() const { return options_.carry.pairs; }
  // Hands the arguments to the devices, which must live longer.
  void begin(Deployment& deployment);
  // One step, and a checkpoint where that is due; false after the last one, or where a signal has
  // come: then done().signal says so.
  bool take(const RunOptions& run = {});

  // Of the last step: whole results, what each step took, and what else there is to tell.
  std::vector<Array> results() { return steps_->wholes().value(); }
  const std::vector<double>& seconds() const { return seconds_; }
  StepsDone done() const;

 private:
  void open_checkpoint();
  void open_batches();
  void compare_ranks() const;
  void check_saving_works() const;
  void read_inputs();
  void give_arguments();
  void take_batch(std::int64_t step);
  void take_step(const RunOptions& run);
  std::vector<std::size_t> numbers() const;
  Array number(std::size_t result);
  std::string save_if_due(std::int64_t step);
  std::string save(std::int64_t step);
  int asked_to_stop() const;
  void stop_here(int signal);
  bool speaks() const;
  std::string how_to_go_on() const;
  std::string command_to_restore(const std::string& checkpoint, std::string_view where = "") const;
  void say(const std::string& line) const;

  const Program& program_;
  const Function& function_;
  const StepLoopOptions options_;
  Transport* const ranks_;
  const bool first_;  // of all ranks, the one that speaks
  const std::vector<Type> arguments_, result_types_;
  std::optional<Checkpoint> checkpoint_ = {};
  std::string restored_ = {}, last_good_ = {};
  std::vector<bool> given_ = {};  // arguments that the checkpoint has
  std::vector<Array> inputs_ = {};
  std::int64_t from_ = 0, now_ = 0, last_ = 0;  // steps
  std::vector<double> seconds_ = {};
  Batches batches_ = {};
  Deployment* deployment_ = nullptr;
  std::optional<Steps> steps_ = {};
  std::optional<StopRequest> stop_ = {};
  std::unique_ptr<StepProgress> progress_;
  int signal_ = 0;
  std::string stopped_ = {};
};

}  // namespace heddle
