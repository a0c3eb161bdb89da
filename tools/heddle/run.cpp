// heddle run: compiles a program, runs it and says what came out.
#include <algorithm>
#include <memory>

#include "base/probe/usable_memory.h"
#include "base/text.h"
#include "command_line.h"
#include "commands.h"
#include "heddle/device_ranks.h"
#include "heddle/explain_report.h"
#include "heddle/inputs.h"
#include "heddle/log.h"
#include "heddle/pipeline_search.h"
#include "heddle/ranks.h"
#include "heddle/results.h"
#include "heddle/run_report.h"
#include "heddle/signature.h"
#include "heddle/trace.h"
#include "heddle/verify.h"
#include "option_values.h"
#include "program_files.h"
#include "run_request.h"
#include "stages.h"
#include "terminal.h"
#include "waiting.h"

namespace heddle::cli {
namespace {

bool runs_alone(const Program& program, const Function& f) {
  return !f.is_private && f.body != kNone && program.region(f.body).args.empty();
}

// The functions to run of one program: the entry, or all that need no arguments.
std::vector<const Function*> choose(const Program& program, const std::string& entry) {
  if (!entry.empty()) {
    const Function* f = program.find_function(entry);
    return f == nullptr ? std::vector<const Function*>{} : std::vector{f};
  }
  if (const Function* main = program.find_function("main")) return {main};
  std::vector<const Function*> alone, open;
  for (const Function& f : program.functions) {
    if (!f.is_private) open.push_back(&f);
    if (runs_alone(program, f)) alone.push_back(&f);
  }
  return open.size() == 1 ? open : alone;
}

Error nothing_to_run(const std::vector<Program>& programs, const RunRequest& request) {
  if (!request.entry.empty()) return no_function(programs, request.file, request.entry);
  return Error(
      fmt::format("{} has no main, and no function without arguments: choose one with "
                  "--entry of {}",
                  request.file, function_names(programs)));
}

// What all functions of one command share.
struct Session {
  const RunRequest& request;
  TraceRecorder trace = TraceRecorder();
  // With others each rank is a process of the picture.
  const Transport* ranks = request.execute.ranks;
  TraceLane lane = trace.lane(
      ranks != nullptr && ranks->size() > 1 ? fmt::format("rank {}", ranks->rank()) : "heddle",
      "main");

  template <typename Work>
  auto timed(std::string what, Work work) {
    const TraceSpan span(trace, lane, std::move(what), "step");
    return work();
  }
};

// Half of what the machine has; 8 GB where that cannot be told.
std::int64_t memory_limit(const RunRequest& request) {
  if (const auto said = bytes_of_option(request.memory)) return *said;
  const std::int64_t usable = usable_memory();
  return usable > 0 ? usable / 2 : std::int64_t{8'000'000'000};
}

InterpretOptions interpret_options(Session& session) {
  InterpretOptions options;
  options.verified = true;
  options.memory_limit = memory_limit(session.request);
  // A report in JSON has standard output to itself.
  options.print = session.request.report.json ? std::function<void(std::string_view)>(write_stderr)
                                              : write_stdout;
  if (!session.request.trace.empty()) options.trace = &session.trace;
  return options;
}

// How many devices a target names; 0: nobody knows yet.
std::int64_t devices_of(const Program& program, const Target& target) {
  const bool own = target.mesh.empty() || target.mesh == kOwnMesh;
  if (own && target.cluster) return target.cluster->devices();
  if (own && !program.meshes.empty()) return program.meshes[0].mesh.devices();
  if (own) return 0;
  if (target.mesh[0] == '@') {
    const MeshDecl* mesh = program.find_mesh(target.mesh.substr(1));
    return mesh == nullptr ? 0 : mesh->mesh.devices();
  }
  AxisRegistry scratch = AxisRegistry::standard();
  const auto mesh = Mesh::parse(target.mesh, scratch);
  return mesh ? mesh->devices() : 0;
}

// A plan that is searched for keeps an equal part of what is said on each device.
void search_within(const Program& program, const RunRequest& request, Target& target) {
  const auto said = bytes_of_option(request.memory);
  const bool searched = target.layouts.search > 0 || searches_pipeline(target);
  const std::int64_t devices = devices_of(program, target);
  if (!said || !searched || target.layouts.device_memory != INT64_MAX || devices == 0) return;
  target.layouts.device_memory = *said / devices;
}

// Without ranks devices are threads: more than this is for a cluster.
constexpr std::int64_t kMostOwnDevices = 64;

// The first of the program's meshes that nobody here can stand for, or null.
const MeshDecl* too_large(const Program& program, const RunRequest& request) {
  const Transport* ranks = request.execute.ranks;
  for (const MeshDecl& mesh : program.meshes) {
    const std::int64_t devices = mesh.mesh.devices();
    const bool fits = ranks != nullptr ? devices == ranks->size() : devices <= kMostOwnDevices;
    if (devices > 1 && !fits) return &mesh;
  }
  return nullptr;
}

// Where the function is to run: as the command line says, else on the program's own mesh where that
// has a number of devices that threads, or the ranks at hand, can stand for.
Target target_to_run(const Program& program, const Function& function, const RunRequest& request) {
  Target target;
  target.options.entry = function.name;
  const MeshDecl* large = too_large(program, request);
  if (request.mesh.given())
    target = target_of(request.mesh, function.name);
  else if (request.engine == "interpreter")  // the reference takes the program as it stands
    target.mesh.clear();
  else if (large == nullptr)
    target.mesh = std::string(kOwnMesh);
  else if (request.execute.ranks == nullptr)
    say(fmt::format(
        "runs on one device: mesh @{0} has {1} devices, and the program's own mesh is used "
        "up to {2}; --mesh @{0} insists",
        large->name, large->mesh.devices(), kMostOwnDevices));
  if (!request.mesh.given()) set_micro_batches(request.mesh, target);
  if (request.device != "cpu") target.options.device = of_option(find_device(request.device));
  target.options.stitch.fuse = request.fuse;
  target.options.overlap = request.overlap;
  target.options.async = request.async;
  search_within(program, request, target);
  target.ranks = target.ranks || request.execute.ranks != nullptr;
  (void)tune_for(program, request.mesh, target, say, request.execute.ranks);
  return target;
}

Deployed deploy_waiting(const Program& program, const Function& function, Target target,
                        const ExecuteOptions& how, const InterpretOptions& options) {
  Waiting waiting;
  target.options.progress = &waiting.progress;
  return of_option(deploy(program, function, target, how, options));
}

Execution run_once(const Program& program, const Function& function, Session& session,
                   const InterpretOptions& options) {
  const RunRequest& request = session.request;
  const std::vector<Array> inputs = session.timed("inputs", [&] {
    return of_option(gather_inputs(program, function, request.sources(), options.memory_limit));
  });
  ExecuteOptions how = request.execute;
  how.time_steps = how.explain || log_level() >= kLogSteps;
  how.sources = request.sources();
  return session.timed("run @" + function.name, [&] {
    Target target = target_to_run(program, function, request);
    if (how.donate) target.options.donated.assign(inputs.size(), true);
    Deployed deployed = deploy_waiting(program, function, std::move(target), how, options);
    return of_option(execute(deployed, inputs, how, options));
  });
}

StepLoopOptions loop_options(const Program& program, const Function& function,
                             const RunRequest& request, std::int64_t memory) {
  const StepsRequest& steps = request.steps;
  StepLoopOptions loop;
  loop.steps = steps.steps;
  loop.carry = of_option(find_carry(program, function, steps.carry, steps.steps > 0));
  loop.inputs = request.sources();
  loop.batches = steps.batches;
  loop.cycle = steps.cycle;
  loop.restore = steps.restore;
  loop.save = steps.save;
  loop.stop_by_signal = true;
  loop.ranks = request.execute.ranks;
  loop.on_mesh = request.mesh.given();
  loop.memory_limit = memory;
  loop.say = say;
  loop.command = command_to_restore;
  return loop;
}

Execution run_steps(const Program& program, const Function& function, const RunRequest& request,
                    const InterpretOptions& options, StepsDone& done) {
  StepLoop loop(program, function, loop_options(program, function, request, options.memory_limit));
  Target target = target_to_run(program, function, request);
  target.carried = loop.carried();
  Deployed deployed = deploy_waiting(program, function, target, request.execute, options);
  loop.begin(deployed.deployment);
  Execution execution;
  RunOptions run;
  run.trace = options.trace;
  run.print = options.print;
  if (request.execute.explain) run.times = &execution.times;
  while (loop.take(run)) run.trace = nullptr;  // the first step says it all
  done = loop.done();
  if (done.signal != 0) throw Exit{128 + done.signal, request.is_first_rank() ? done.stopped : ""};
  execution.results = loop.results();
  execution.seconds = loop.seconds();
  deployed.describe(execution);
  execution.explained = request.execute.explain;
  return execution;
}

FunctionRun run_function(const Program& program, const Function& function, Session& session) {
  const RunRequest& request = session.request;
  const InterpretOptions options = interpret_options(session);
  // Before anything of it is read, so that nobody looks for a difference in the data.
  if (request.execute.ranks != nullptr)
    compare_programs(*request.execute.ranks, program, function).value();
  FunctionRun run(program, function);
  std::vector<Array> expected;
  if (request.check) expected = recorded_results(request.io, run.types, function.name).value();
  if (!request.output.empty()) (void)of_option(check_output(request.output, run.types));
  if (request.steps.given())
    run.execution = session.timed("steps of @" + function.name, [&] {
      return with_option_names(
          [&] { return run_steps(program, function, request, options, run.steps.emplace()); });
    });
  else
    run.execution =
        with_option_names([&] { return run_once(program, function, session, options); });
  ExplainReport{run.execution}.log();
  const std::vector<Array>& results = run.execution.results;
  if (request.check)
    session.timed("compare", [&] {
      for (std::size_t i = 0; i < expected.size(); ++i)
        run.comparisons.push_back(compare_arrays(results[i], expected[i], request.tolerance));
    });
  if (!request.output.empty())
    run.written =
        session.timed("write", [&] { return of_option(write_results(request.output, results)); });
  return run;
}

// What went wrong, in the order of the functions.
struct Failures {
  std::string first;
  std::vector<std::string> functions;

  void add(const Function& function, const std::string& message) {
    if (functions.empty()) first = message;
    functions.push_back(function.name);
  }
  std::string text() const {
    if (functions.size() < 2) return first;
    std::string names;
    for (std::size_t i = 1; i < std::min<std::size_t>(functions.size(), 9); ++i)
      names += (i > 1 ? ", " : "") + functions[i];
    return fmt::format("{}\n  {} more failed: {}{}", first,
                       counted(functions.size() - 1, "function"), names,
                       functions.size() > 9 ? ", ..." : "");
  }
};

std::vector<Program> prepare(Session& session) {
  const std::string& last = session.request.until;
  std::vector<Program> programs =
      session.timed("read", [&] { return read_programs(session.request.file); });
  session.timed("verify", [&] {
    for (const Program& program : programs) verify(program).value();
  });
  if (last == stage_names().front()) return programs;
  session.timed("stages until " + last, [&] {
    for (Program& program : programs) program = after_stage(std::move(program), last);
  });
  return programs;
}

// The first rank writes what all have seen.
void write_trace(Session& session, bool all_well) {
  const std::string& file = session.request.trace;
  Transport* ranks = session.request.execute.ranks;
  if (file.empty()) return;
  if (ranks != nullptr && ranks->size() > 1 && all_well) {
    const std::vector<std::string> others = gather_texts(*ranks, session.trace.shared()).value();
    for (std::size_t r = 1; r < others.size(); ++r) session.trace.absorb(others[r]);
  }
  if (!session.request.is_first_rank()) return;
  session.trace.write(file).value();
  if (session.request.report.json) return;
  write_stdout(fmt::format("wrote a trace of {} to {}; ui.perfetto.dev shows it\n",
                           counted(session.trace.size(), "event"), file));
}

using Chosen = std::vector<std::pair<const Program*, const Function*>>;

Chosen chosen_functions(const std::vector<Program>& programs, const RunRequest& request) {
  Chosen chosen;
  for (const Program& program : programs)
    for (const Function* f : choose(program, request.entry)) chosen.emplace_back(&program, f);
  if (chosen.empty()) throw nothing_to_run(programs, request);
  if (chosen.size() > 1 && !request.output.empty())
    throw Error(fmt::format("{} functions would write to {}: choose one with --entry",
                            chosen.size(), request.output));
  if (chosen.size() > 1 && request.steps.given())
    throw Error(fmt::format("{} functions cannot take steps at once: choose one with --entry",
                            chosen.size()));
  return chosen;
}

void run_alone(const RunRequest& request) {
  if (request.is_first_rank()) check_files(request);
  Session session{request};
  const std::vector<Program> programs = prepare(session);
  RunReport report{.file = request.file, .engine = request.engine, .output = request.output};
  report.explain = request.execute.explain;
  if (request.check) report.compared_with = request.io;
  Failures failures;
  for (const auto& [program, function] : chosen_functions(programs, request)) {
    try {
      report.functions.push_back(run_function(*program, *function, session));
      if (const std::string why = report.functions.back().disagreement(); !why.empty())
        failures.add(*function, why);
    } catch (const Error& error) {
      failures.add(*function, error.what());
    }
  }
  report.failure = failures.text();
  write_report(report, request.report);
  write_trace(session, report.failure.empty());
  if (!report.failure.empty()) throw Error(report.failure);
  const Style style = Style::of_stdout(request.report.plain);
  if (!request.report.json) write_stdout(style.bold(report.verdict()) + "\n");
}

// Those of other devices than the CPU exchange data there, where they can.
std::unique_ptr<Transport> ranks_with_devices(const RunRequest& asked, std::string& device) {
  std::unique_ptr<Transport> ranks = connect_ranks(asked.ranks);
  if (!ranks || device == "cpu") return ranks;
  device = device_of_rank(device, ranks->rank());
  const auto found = find_device(device);
  if (!found) {
    ranks->abort(found.reason());
    throw Error(found.reason());
  }
  return with_device_collectives(std::move(ranks), **found);
}

// One of several processes: the first one speaks and writes for all.
void run(const RunRequest& asked) {
  check_run_options(asked);
  RunRequest request = asked;
  const std::unique_ptr<Transport> ranks = ranks_with_devices(asked, request.device);
  request.execute.engine = parse_engine(asked.engine).value();
  request.execute.ranks = ranks.get();
  request.execute.watchdog = asked.ranks.watchdog_options();
  request.execute.parallel = parallel_runner(asked.ranks, ranks.get());
  request.execute.say = say;
  if (ranks && ranks->rank() != 0) request.output.clear();
  try {
    run_alone(request);
  } catch (const Error& error) {
    if (ranks) ranks->abort(error.what());
    throw;
  }
}

}  // namespace

void add_run(Command app) {
  const auto request = std::make_shared<RunRequest>();
  Command command = app.add("run", "Run a program and show its results");
  add_run_options(command, *request);
  command.on_run([request] { run(*request); });
}

}  // namespace heddle::cli
