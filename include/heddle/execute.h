// Running a function of a program by one of the engines, as often as asked, with what it cost.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/deployment.h"
#include "heddle/interpreter.h"
#include "heddle/target.h"

namespace heddle {

// compiled: machine code. kernels: the compiled plan with its kernels interpreted. interpreter: the
// reference.
enum class Engine : std::uint8_t { compiled, kernels, interpreter };
inline constexpr std::array<std::string_view, 3> kEngineNames = {"compiled", "kernels",
                                                                 "interpreter"};
std::string_view name(Engine engine);
Expected<Engine> parse_engine(std::string_view name);

struct ExecuteOptions {
  Engine engine = Engine::compiled;
  int repeat = 1;
  bool donate = false;                            // all arguments
  bool time_steps = false;                        // in one more run than `repeat`
  bool explain = false;                           // why each kernel is as it is
  Transport* ranks = nullptr;                     // the other processes of the run
  ParallelRunner parallel = {};                   // of interpreter.run_parallel
  std::string dump = {};                          // folder for programs and kernels; empty: none
  std::vector<std::string> sources = {};          // of the arguments, for ranks to compare
  WatchdogOptions watchdog = default_watchdog();  // of threads
  std::function<void(const std::string& line)> say = {};  // what a user may want to know
};

// What a program became, and what its runs took.
struct Execution {
  std::vector<Array> results = {};
  double compile_seconds = 0;
  std::vector<double> seconds = {};  // of every run
  std::vector<StepInfo> steps = {};
  std::vector<std::size_t> stage_steps =
      {};                            // of a pipeline: how many each has; `steps` are the first's
  bool explained = false;            // steps say why they are as they are
  std::vector<StepTime> times = {};  // one for each step, where that was asked for
  std::int64_t peak_bytes = 0, argument_bytes = 0;  // on one device
  std::int64_t devices = 1, memory_limit = 0;       // of a mesh; what one device may have
  std::string interpreted_because = {};
  std::optional<double> predicted_seconds = {};  // of a run whose plan was searched for

  double median() const;
};

// A function on its way to run: compiled or interpreted, on one device or on those of a mesh.
struct Deployed {
  Deployment deployment;
  std::optional<Executable> executable = {};  // none: interpreted
  double compile_seconds = 0;
  std::int64_t memory_limit = 0;  // of one device
  std::string interpreted_because = {};
  std::optional<double> predicted_seconds = {};  // of a run, where its plan was searched for
  std::vector<double> predicted_steps = {};      // of each step, where they could be counted

  // What it became: steps, memory, the time to compile.
  void describe(Execution& done) const;
};

// `program`, which has been verified, and `function` must live longer. Where a program cannot run
// on the mesh that only it has named, it runs on one device, and `say` gets why. Ranks compare what
// they were given before anything is compiled.
Expected<Deployed> deploy(const Program& program, const Function& function, const Target& target,
                          const ExecuteOptions& how, const InterpretOptions& options = {});

// From whole arrays to whole arrays, as often as asked.
Expected<Execution> execute(Deployed& deployed, const std::vector<Array>& arguments,
                            const ExecuteOptions& how, const InterpretOptions& options = {});

}  // namespace heddle
