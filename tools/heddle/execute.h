// Running a function by one of the engines, as often as asked, with what it cost.
#pragma once

#include <string>
#include <vector>

#include "heddle/executable.h"
#include "heddle/interpreter.h"
#include "heddle/program.h"
#include "heddle/target.h"
#include "heddle/transport.h"

namespace heddle::cli {

// interpreter: the reference. compiled: machine code. kernels: the compiled plan with its kernels
// interpreted.
inline const std::vector<std::string> kEngines = {"compiled", "kernels", "interpreter"};

struct ExecuteRequest {
  std::string engine = "compiled";
  int repeat = 1;
  bool donate = false;  // all arguments
  bool fuse = true;     // false: every op by itself
  bool overlap = true;  // false: collectives are waited for where they begin
  bool async = false;   // machine code is made while it runs
  bool time_steps = false;
  bool explain = false;                           // why each kernel is as it is
  Transport* ranks = nullptr;                     // the other processes of the run
  ParallelRunner parallel = {};                   // of interpreter.run_parallel
  std::string dump = {};                          // folder for programs and kernels; empty: none
  std::vector<std::string> sources = {};          // of the arguments, for ranks to compare
  WatchdogOptions watchdog = default_watchdog();  // of threads
};

struct Execution {
  std::vector<Array> results;
  double compile_seconds = 0;
  std::vector<double> seconds = {};  // of every run
  std::vector<StepInfo> steps = {};
  bool explained = false;            // steps say why they are as they are
  std::vector<StepTime> times = {};  // of one more run than `repeat`, with time_steps
  std::int64_t peak_bytes = 0, argument_bytes = 0;  // on one device
  std::int64_t devices = 1, memory_limit = 0;       // of a mesh; what one device may have
  std::string interpreted_because = {};

  double median() const;
};

// Completes a target with what the request says of how to compile.
Target with_options(Target target, const ExecuteRequest& request);

// What --explain can say where the interpreter runs: which ops, how many.
std::string interpreter_text(const Program& program, const Function& function);

// On whole arrays, as often as asked. Throws what is wrong.
Execution execute(const Program& program, const Function& function,
                  const std::vector<Array>& arguments, const Target& target,
                  const ExecuteRequest& request, const InterpretOptions& options);

}  // namespace heddle::cli
