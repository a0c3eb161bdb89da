#include "deploy.h"

#include <chrono>

#include "compile.h"
#include "dump.h"
#include "heddle/compile.h"
#include "heddle/log.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"
#include "mesh_request.h"
#include "terminal.h"
#include "waiting.h"

namespace heddle::cli {
namespace {

Placement whole_placement(const Program& program, const Function& function) {
  return Placement::on_one_device(argument_types(program, function),
                                  result_types(program, function));
}

// Ranks of an interpreter all run all of it.
Deployed on_interpreter(const Program& program, const Function& function,
                        const ExecuteRequest& request, const InterpretOptions& options) {
  const auto run = [&program, &function, options](std::vector<Array> arguments) {
    return interpret(program, function, std::move(arguments), options);
  };
  return {Deployment::of(run, whole_placement(program, function), request.ranks),
          {},
          0,
          options.memory_limit,
          request.explain ? interpreter_text(program, function) : ""};
}

Deployed on_interpreted_mesh(const Program& program, const Function& function, const Target& target,
                             const ExecuteRequest& request, const InterpretOptions& options) {
  const auto spmd = std::make_shared<const Spmd>(of_option(distribute(program, target)));
  const SpmdFunction& local = function_on_mesh(*spmd, function.name);
  const auto run = [spmd, &local](const std::vector<Array>& arguments) {
    return interpret_on_mesh(*spmd, local, arguments);
  };
  return {Deployment::of(run, whole_placement(program, function), request.ranks),
          {},
          0,
          options.memory_limit,
          request.explain
              ? interpreter_text(spmd->program, *spmd->program.find_function(function.name))
              : ""};
}

Executable compiled(const Program& program, Target target, const ExecuteRequest& request,
                    const InterpretOptions& options) {
  const bool writes = target.mesh.empty() || request.ranks == nullptr || request.ranks->rank() == 0;
  Dump dump(writes ? request.dump : "");
  target.options.memory_limit = options.memory_limit;
  target.ranks = request.ranks != nullptr;
  dump.watch(target.options);
  Waiting waiting;
  target.options.progress = &waiting.progress;
  Executable executable = of_option(compile(program, target));
  (void)executable.placement().has_wholes().value();
  return executable;
}

// What nobody but the program asked for must not keep it from running.
Executable compiled_where_it_can(const Program& program, Target target,
                                 const ExecuteRequest& request, const InterpretOptions& options) {
  if (target.mesh != kOwnMesh || !target.layouts.shards.empty())
    return compiled(program, target, request, options);
  try {
    return compiled(program, target, request, options);
  } catch (const Error& error) {
    target.mesh.clear();
    Executable executable = compiled(program, target, request, options);
    if (request.ranks == nullptr || request.ranks->rank() == 0)
      write_stderr(
          fmt::format("runs on one device, not on the program's mesh: {}\n", error.what()));
    return executable;
  }
}

}  // namespace

void Deployed::describe(Execution& done) const {
  done.compile_seconds = compile_seconds;
  done.interpreted_because = interpreted_because;
  if (!executable) return;
  done.steps = executable->steps();
  done.peak_bytes = executable->peak_bytes();
  if (!deployment.placement().on_mesh()) return;
  done.argument_bytes = deployment.placement().argument_bytes();
  done.devices = deployment.placement().devices();
  done.memory_limit = memory_limit;
}

Deployed deploy(const Program& program, const Function& function, const Target& target,
                const ExecuteRequest& request, const InterpretOptions& options) {
  if (request.engine == "interpreter")
    return target.mesh.empty() ? on_interpreter(program, function, request, options)
                               : on_interpreted_mesh(program, function, target, request, options);
  const auto begun = std::chrono::steady_clock::now();
  Executable executable = compiled_where_it_can(program, target, request, options);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const std::string why = executable.interpreted_because();
  if (!executable.placement().on_mesh() && !why.empty() && request.parallel) {
    InterpretOptions parallel = options;
    parallel.run_parallel = request.parallel;
    Deployed done = on_interpreter(program, function, request, parallel);
    done.interpreted_because = why;
    return done;
  }
  Deployment deployment =
      Deployment::open(executable, {.ranks = request.ranks, .watchdog = request.watchdog}).value();
  const std::int64_t limit = options.memory_limit / executable.placement().devices();
  return {std::move(deployment), std::move(executable), seconds, limit, why};
}

}  // namespace heddle::cli
