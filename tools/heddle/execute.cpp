#include "execute.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "device/cpu/calibrate.h"
#include "heddle/compile.h"
#include "heddle/stablehlo.h"
#include "heddle/trace.h"

namespace heddle::cli {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Files of --dump, numbered in the order in which they come to be.
class Dump {
 public:
  explicit Dump(std::string folder) : folder_(std::move(folder)) {
    std::error_code error;
    if (!folder_.empty()) std::filesystem::create_directories(folder_, error);
    if (error) throw Error(fmt::format("--dump {}: {}", folder_, error.message()));
  }

  void write(std::string_view name, std::string_view ending, const std::string& text) {
    const std::string path = fmt::format("{}/{:03}-{}.{}", folder_, ++count_, name, ending);
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) throw Error(fmt::format("--dump: {} cannot be written", path));
  }

  explicit operator bool() const { return !folder_.empty(); }

 private:
  std::string folder_;
  int count_ = 0;
};

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
  for (int i = 0; i < request.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    done.results = interpret(program, function, arguments, options).value();
    done.seconds.push_back(since(start));
  }
  return done;
}

CompileOptions compile_options(const Function& function, const ExecuteRequest& request,
                               const InterpretOptions& options, std::size_t arguments, Dump& dump) {
  CompileOptions compile;
  compile.entry = function.name;
  compile.stitch.fuse = request.fuse;
  compile.stitch.machine = host_figures();
  compile.machine_code = request.engine != "kernels";
  compile.memory_limit = options.memory_limit;
  if (request.donate) compile.donated.assign(arguments, true);
  if (!dump) return compile;
  compile.on_program = [&dump](std::string_view stage, const Program& program) {
    dump.write(stage, "mlir", print_stablehlo(program));
  };
  compile.on_kernel = [&dump](const Kernel& kernel, const std::string& llvm) {
    dump.write(kernel.name, "kernel", print(kernel));
    if (!llvm.empty()) dump.write(kernel.name, "ll", llvm);
  };
  return compile;
}

}  // namespace

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
  Execution done;
  const auto begun = std::chrono::steady_clock::now();
  const Executable executable =
      compile(program, compile_options(function, request, options, arguments.size(), dump)).value();
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
  for (int i = 0; i < request.repeat; ++i) {
    std::vector<Array> given = request.donate ? owned(arguments) : arguments;
    done.results.clear();
    const auto start = std::chrono::steady_clock::now();
    done.results = executable.run(std::move(given), run).value();
    done.seconds.push_back(since(start));
    run.trace = nullptr;  // the first run says it all
  }
  if (request.time_steps) {
    run.times = &done.times;
    run.print = [](std::string_view) {};
    (void)executable.run(request.donate ? owned(arguments) : arguments, run).value();
  }
  done.steps = executable.steps();
  done.peak_bytes = executable.peak_bytes();
  done.interpreted_because = executable.interpreted_because();
  return done;
}

}  // namespace heddle::cli
