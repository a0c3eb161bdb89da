#include "execute.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "dump.h"
#include "heddle/compile.h"
#include "heddle/cost.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "heddle/trace.h"
#include "program_commands.h"

namespace heddle::cli {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Bytes of their own, so that a run may overwrite them.
std::vector<Array> owned(const std::vector<Array>& arrays) {
  std::vector<Array> copies = arrays;
  for (Array& a : copies) (void)a.mutable_bytes();
  return copies;
}

Execution interpreted(const Program& program, const Function& function,
                      const std::vector<Array>& arguments, const ExecuteRequest& request,
                      const InterpretOptions& options) {
  Execution done;
  if (request.explain) done.interpreted_because = interpreter_text(program, function);
  for (int i = 0; i < request.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    done.results = interpret(program, function, arguments, options).value();
    done.seconds.push_back(since(start));
  }
  return done;
}

void count_ops(const Program& program, RegionId region, std::map<std::string, int>& counts) {
  for (const OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    if (op.def->form != Form::terminator) ++counts[std::string(op.def->short_name())];
    for (const RegionId inner : program.regions(op)) count_ops(program, inner, counts);
  }
}

// mhlo.num_replicas and mhlo.num_partitions of a module; 1 where it says nothing.
std::int64_t number_of(const Program& program, std::string_view attr) {
  const Attr* found = find_attr(program.attrs, attr);
  const auto* number = found == nullptr ? nullptr : found->get<Attr::Integer>();
  return number == nullptr ? 1 : number->value;
}

}  // namespace

std::int64_t replicas_among(const Program& program, const Transport* ranks) {
  const std::int64_t replicas = number_of(program, "mhlo.num_replicas");
  const std::int64_t partitions = number_of(program, "mhlo.num_partitions");
  if (ranks == nullptr || ranks->size() == 1 || replicas == 1) return 1;
  if (replicas < 1 || partitions < 1 || ranks->size() % replicas != 0 ||
      ranks->size() / replicas != partitions)
    throw Error(fmt::format(
        "the module is for {} of {} (mhlo.num_replicas, mhlo.num_partitions), and {} ranks were "
        "started: start as many as it is for",
        counted(static_cast<std::size_t>(replicas), "replica"),
        counted(static_cast<std::size_t>(partitions), "partition"), ranks->size()));
  return replicas;
}

std::string interpreter_text(const Program& program, const Function& function) {
  constexpr std::size_t kMostNamed = 8;
  std::map<std::string, int> counts;
  count_ops(program, function.body, counts);
  std::vector<std::pair<int, std::string>> most;
  int all = 0;
  for (const auto& [name, n] : counts) {
    most.emplace_back(-n, name);
    all += n;
  }
  std::ranges::sort(most);
  std::string text = fmt::format(
      "the reference takes ops one by one as they stand, with nothing fused or planned; @{} has {}",
      function.name, all);
  for (std::size_t i = 0; i < std::min(most.size(), kMostNamed); ++i)
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",", -most[i].first, most[i].second);
  return text + (most.size() > kMostNamed ? ", ..." : "");
}

CompileOptions compile_options(const std::string& entry, const ExecuteRequest& request) {
  CompileOptions compile;
  compile.entry = entry;
  compile.stitch.fuse = request.fuse;
  compile.stitch.machine = figures_of_this_machine();
  compile.stitch.explain = request.explain;
  compile.machine_code = request.engine != "kernels";
  compile.async = request.async;
  compile.donated = request.donated;
  return compile;
}

double Execution::median() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

Execution execute(const Program& program, const Function& function,
                  const std::vector<Array>& arguments, const ExecuteRequest& request,
                  const InterpretOptions& options) {
  if (request.engine == "interpreter")
    return interpreted(program, function, arguments, request, options);
  Dump dump(request.dump);
  CompileOptions compiling = compile_options(function.name, request);
  compiling.memory_limit = options.memory_limit;
  if (request.donate) compiling.donated.assign(arguments.size(), true);
  dump.watch(compiling);
  Execution done;
  const auto begun = std::chrono::steady_clock::now();
  const Executable executable = compile(program, compiling).value();
  done.compile_seconds = since(begun);
  if (!executable.interpreted_because().empty() && request.parallel) {
    InterpretOptions parallel = options;
    parallel.run_parallel = request.parallel;
    done = interpreted(program, function, arguments, request, parallel);
    done.interpreted_because = executable.interpreted_because();
    return done;
  }
  RunOptions run;
  run.trace = options.trace;
  run.print = options.print;
  run.transport = request.ranks;
  run.replicas = replicas_among(program, request.ranks);
  for (int i = 0; i < request.repeat; ++i) {
    std::vector<Array> given = request.donate ? owned(arguments) : arguments;
    done.results.clear();
    const auto start = std::chrono::steady_clock::now();
    done.results = executable.run(std::move(given), run).value();
    done.seconds.push_back(since(start));
    run.trace = nullptr;  // the first run says it all
  }
  if (request.time_steps) {
    if (Verdict code = executable.finish_compiling(); !code)
      log(kLogSteps, "not all kernels have machine code: {}", code.reason());
    run.times = &done.times;
    run.print = [](std::string_view) {};
    (void)executable.run(request.donate ? owned(arguments) : arguments, run).value();
  }
  done.steps = executable.steps();
  done.explained = request.explain;
  done.peak_bytes = executable.peak_bytes();
  done.interpreted_because = executable.interpreted_because();
  return done;
}

}  // namespace heddle::cli
