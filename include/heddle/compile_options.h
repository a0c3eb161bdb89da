// How a program is compiled, whatever it is compiled for.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/device.h"
#include "heddle/kernel.h"
#include "heddle/machine.h"
#include "heddle/program.h"
#include "heddle/stitch.h"

namespace heddle {

struct Spmd;
struct StepTaken;

// What compiling took.
struct CompileReport {
  struct Stage {
    // verify, inline, client, spmd and schedule (on a mesh), lower, simplify, stitch, kernels,
    // code, memory
    std::string name;
    double seconds = 0;
  };
  std::vector<Stage> stages = {};
  std::size_t ops = 0;               // of the entry, after simplification
  std::size_t kernels = 0;           // in all places
  std::size_t distinct_kernels = 0;  // that need machine code of their own
  bool plan_from_cache = false;      // which ops share a kernel was decided in another run
  // Of a pipeline, by what was decided: seconds of a step, and of it those in which each stage
  // works.
  double pipeline_seconds = 0;
  std::vector<double> stage_seconds = {};
};

// Where compiling is, for another thread to look at while it goes.
struct CompileProgress {
  std::atomic<const char*> done = "";               // the last stage that is over
  std::atomic<std::size_t> kernels = 0, coded = 0;  // distinct ones; those with machine code
  // Of a search for a plan: seconds of the best so far, and of the bound; below 0: none yet.
  std::atomic<double> searched_cost = -1, searched_bound = -1;
};
// The stage that comes after one; the first after none.
std::string next_stage(std::string_view done);

// The device of programs that name none: this machine's CPU.
Device& default_device();

// "cpu", "cuda" or "cuda:1". A reason where there is none, or where it lacks something.
Expected<Device*> find_device(std::string_view name);
// The same, and kinds of GPU that need not be there: cuda:h200. Those compile and run nothing.
Expected<Device*> find_target(std::string_view name);

struct CompileOptions {
  std::string entry = "main";
  bool verified = false;  // by the caller: it is not done again
  // What it is compiled for, and runs on; it outlives the executable. None: default_device().
  Device* device = nullptr;
  // False: the same plan, with kernels interpreted. For tests.
  bool machine_code = true;
  // Machine code is made while the program runs already: until a kernel's is there, it is
  // interpreted. One that would take longer to interpret than to compile is waited for.
  bool async = false;
  StitchOptions stitch = {};
  // Whether other work runs while a collective is under way; else all is done in sequence, each
  // collective waited for where it begins. Given up where memory_limit does not allow it.
  bool overlap = true;
  // The figures that plans are made with; none: those of the machine that it compiles on, and of
  // their share of it for devices that are threads.
  std::optional<MachineFigures> machine = {};
  // Arguments that a run may overwrite, by number.
  std::vector<bool> donated = {};
  // The most bytes that values may take, on all devices of a mesh together.
  std::int64_t memory_limit = INT64_MAX;
  // See the program after every stage, what became of it on a mesh, and every distinct kernel with
  // what the device's compiler gets of it.
  std::function<void(std::string_view stage, const Program&)> on_program = {};
  std::function<void(const Spmd&)> on_spmd = {};
  // The program of each device before steps of a schedule; and what these did.
  std::function<void(const Spmd&)> on_unordered = {};
  std::function<void(const std::vector<StepTaken>&)> on_schedule = {};
  std::function<void(const Kernel&, const std::string& source)> on_kernel = {};
  // Asked between stages and kernels, from any thread: yes ends it with an Error.
  std::function<bool()> stop = {};
  // Filled in where it is given.
  CompileReport* report = nullptr;
  CompileProgress* progress = nullptr;
};

}  // namespace heddle
