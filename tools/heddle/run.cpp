// heddle run: compiles a program, runs it and says what came out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/file.h"
#include "base/probe/probe.h"
#include "commands.h"
#include "execute.h"
#include "explain.h"
#include "heddle/interpreter.h"
#include "heddle/log.h"
#include "heddle/trace.h"
#include "heddle/verify.h"
#include "run_report.h"
#include "stages.h"
#include "steps.h"
#include "terminal.h"

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

// What --io says that the results are, one each: found missing or of another type before the run.
std::vector<Array> expected_results(const Program& program, const Function& function,
                                    const RunRequest& request) {
  if (!request.check) return {};
  const NamedArrays recorded = read_safetensors(request.io).value();
  const std::vector<Type> types = result_types(program, function);
  std::vector<Array> expected;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Array* found = find_array(recorded, fmt::format("out.{}", i));
    if (found == nullptr)
      throw Error(fmt::format("{} has no out.{} to compare result {} with", request.io, i, i));
    if (types[i].is_tensor() && found->type() != types[i])
      throw Error(fmt::format("{} has out.{} as {}, and result {} of {} is {}", request.io, i,
                              found->type().str(), i, function.name, types[i].str()));
    expected.push_back(*found);
  }
  if (find_array(recorded, fmt::format("out.{}", types.size())) != nullptr)
    throw Error(fmt::format("{} has out.{}, but {} gives only {}", request.io, types.size(),
                            function.name, counted(types.size(), "result")));
  return expected;
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
  if (!request.memory.empty()) return parse_bytes(request.memory).value();
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

Outcome run_once(const Program& program, const Function& function, Session& session,
                 const InterpretOptions& options) {
  const RunRequest& request = session.request;
  Outcome outcome;
  outcome.function = &function;
  std::vector<std::string> sources = request.inputs;
  if (!request.io.empty()) sources.push_back(request.io);
  const std::vector<Array> inputs = session.timed("inputs", [&] {
    return of_option(gather_inputs(program, function, sources, options.memory_limit));
  });
  ExecuteRequest execution = request.execute;
  execution.explain = request.explain;
  execution.time_steps = request.explain || log_level() >= kLogSteps;
  execution.sources = sources;
  outcome.execution = session.timed("run @" + function.name, [&] {
    const Target target = target_to_run(program, function, request);
    return execute(program, function, inputs, target, execution, options);
  });
  outcome.results = std::move(outcome.execution.results);
  outcome.types = result_types(program, function);
  return outcome;
}

Outcome run_function(const Program& program, const Function& function, Session& session) {
  const RunRequest& request = session.request;
  const InterpretOptions options = interpret_options(session);
  const std::vector<Array> expected = expected_results(program, function, request);
  if (!request.output.empty())
    (void)of_option(check_output(request.output, result_types(program, function)));
  Outcome outcome =
      request.steps.given()
          ? session.timed("steps of @" + function.name,
                          [&] { return run_steps(program, function, request, options); })
          : run_once(program, function, session, options);
  outcome.seconds = outcome.execution.median();
  log_steps(outcome.execution);
  if (request.check)
    session.timed("compare", [&] {
      for (std::size_t i = 0; i < expected.size(); ++i)
        outcome.comparisons.push_back(
            compare_arrays(outcome.results[i], expected[i], request.tolerance));
    });
  if (!request.output.empty())
    outcome.written = session.timed(
        "write", [&] { return of_option(write_results(request.output, outcome.results)); });
  return outcome;
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

// Options that contradict one another, or would be without effect.
void check_request(const RunRequest& request) {
  check_step_options(request);
  if (request.mesh.closed && !request.mesh.given())
    throw CLI::ValidationError("--closed",
                               "it says how values lie on a mesh: give one, as in --mesh dp=2");
  if (!request.execute.dump.empty() && request.execute.engine == "interpreter")
    throw CLI::ValidationError("--dump",
                               "the interpreter compiles nothing: `heddle opt` prints programs");
  if (!request.io.empty() && !request.io.ends_with(".safetensors"))
    throw CLI::ValidationError(
        "--io",
        fmt::format("{} does not end in .safetensors; --input takes other files", request.io));
  if (request.check && request.io.empty())
    throw CLI::ValidationError("--check",
                               "it compares with out.0, out.1, ... of a file: name it with --io");
  if ((request.tolerance.rtol || request.tolerance.atol) && !request.check)
    throw CLI::ValidationError(request.tolerance.rtol ? "--rtol" : "--atol",
                               "without --check nothing is compared: add it, with --io");
  std::vector<std::string> seeds;
  for (const std::string& input : request.inputs)
    if (input.starts_with("random:")) seeds.push_back(input);
  if (seeds.size() > 1)
    throw CLI::ValidationError(
        "--input", fmt::format("{} and {}: one seed fills all that is missing, so give one",
                               seeds[0], seeds[1]));
  if (!seeds.empty() && !request.io.empty())
    throw CLI::ValidationError(
        "--input", fmt::format("{} and --io {} both give the inputs: leave one of them out",
                               seeds[0], request.io));
}

std::vector<Program> prepare(Session& session) {
  const std::string& last = session.request.until;
  std::vector<Program> programs =
      session.timed("read", [&] { return read_programs(session.request.file); });
  session.timed("verify", [&] {
    for (const Program& program : programs) (void)verify(program).value();
  });
  if (last == stage_names().front()) return programs;
  session.timed("stages until " + last, [&] {
    for (Program& program : programs) program = after_stage(std::move(program), last);
  });
  return programs;
}

// Found before the work, not after it.
void check_files(const RunRequest& request) {
  if (!request.output.empty()) (void)of_option(check_output(request.output));
  const auto want = [](std::string_view option, const std::string& name, const Verdict& can) {
    if (!can) throw Error(fmt::format("{} {}: {}", option, name, can.reason()));
  };
  if (!request.trace.empty()) want("--trace", request.trace, can_write(request.trace));
  const std::string& dump = request.execute.dump;
  if (!dump.empty()) want("--dump", dump, can_write_into(dump));
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
  if (ranks != nullptr && ranks->rank() != 0) return;
  (void)session.trace.write(file).value();
  if (session.request.report.json) return;
  write_stdout(fmt::format("wrote a trace of {} to {}; ui.perfetto.dev shows it\n",
                           counted(session.trace.size(), "event"), file));
}

void run_alone(const RunRequest& request);

// One of several processes: the first one speaks and writes for all.
void run(const RunRequest& asked) {
  check_request(asked);
  const std::unique_ptr<Transport> ranks = connect_ranks(asked.ranks);
  RunRequest request = asked;
  request.execute.ranks = ranks.get();
  request.execute.watchdog = asked.ranks.watchdog_options();
  request.execute.parallel = parallel_runner(asked.ranks, ranks.get());
  if (ranks && ranks->rank() != 0) request.output.clear();
  try {
    run_alone(request);
  } catch (const Error& error) {
    if (ranks) ranks->abort(error.what());
    throw;
  }
}

void run_alone(const RunRequest& request) {
  if (request.execute.ranks == nullptr || request.execute.ranks->rank() == 0) check_files(request);
  Session session{request};
  const std::vector<Program> programs = prepare(session);
  std::vector<std::pair<const Program*, const Function*>> chosen;
  for (const Program& program : programs)
    for (const Function* f : choose(program, request.entry)) chosen.emplace_back(&program, f);
  if (chosen.empty()) throw nothing_to_run(programs, request);
  if (chosen.size() > 1 && !request.output.empty())
    throw Error(fmt::format("{} functions would write to {}: choose one with --entry",
                            chosen.size(), request.output));
  if (chosen.size() > 1 && request.steps.given())
    throw Error(fmt::format("{} functions cannot take steps at once: choose one with --entry",
                            chosen.size()));
  std::vector<Outcome> outcomes;
  Failures failures;
  for (const auto& [program, function] : chosen) {
    try {
      outcomes.push_back(run_function(*program, *function, session));
      if (const auto worst = worst_result(outcomes.back()); worst >= 0)
        failures.add(*function, disagreement(outcomes.back(), static_cast<std::size_t>(worst)));
    } catch (const Error& error) {
      failures.add(*function, error.what());
    }
  }
  const std::string failure = failures.text();
  if (request.report.json)
    write_report(outcomes, request, failure);
  else
    write_tables(outcomes, request);
  write_trace(session, failure.empty());
  if (!failure.empty()) throw Error(failure);
  const Style style = Style::of_stdout(request.report.plain);
  if (!request.report.json) write_stdout(style.bold(verdict(outcomes, request)) + "\n");
}

// For CLI11: empty where the text is a tolerance, else what is wrong.
std::string wrong_tolerance(const std::string& text) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0) return "";
  return fmt::format("{} is no tolerance: write a number of at least 0, as in 1e-4", text);
}

void add_inputs(CLI::App& command, RunRequest& request) {
  command
      .add_option("--input", request.inputs,
                  "x.npy, x.safetensors with in.0, in.1, ..., dense<[1, 2]> : tensor<2xi32>\n"
                  "(the type may be left out), or random:SEED for all that is missing")
      ->allow_extra_args(false);
  command.add_option("--io", request.io, "Safetensors file with inputs in.* and results out.*")
      ->check(wrong_name);
}

void add_engine(CLI::App& command, RunRequest& request) {
  ExecuteRequest& execute = request.execute;
  command
      .add_option("--engine", execute.engine,
                  "compiled; interpreter, the reference; or kernels: compiled, with kernels\n"
                  "interpreted")
      ->check(CLI::IsMember(kEngines))
      ->capture_default_str();
  command.add_flag("--explain", request.explain,
                   "Show every kernel and library call: ops, bytes, time, why it ends");
  command.add_option("--repeat", execute.repeat, "Run so many times and give the median time")
      ->check(CLI::Range(1, 1'000'000));
  command.add_flag("!--no-fuse", execute.fuse, "Every op by itself, to see what stitching gains");
  command.add_flag("--async", execute.async,
                   "Begin at once; kernels are interpreted until their code is there");
  command.add_flag("--donate", execute.donate, "Let the program overwrite its arguments");
  command
      .add_option("--dump", execute.dump, "Folder for the program after every stage, and kernels")
      ->check(wrong_name);
}

void add_check(CLI::App& command, RunRequest& request) {
  command.add_flag("--check", request.check, "Compare the results with out.* of --io");
  command.add_option("--rtol", request.tolerance.rtol, "Relative tolerance of --check")
      ->check(wrong_tolerance);
  command.add_option("--atol", request.tolerance.atol, "Absolute tolerance of --check")
      ->check(wrong_tolerance);
}

}  // namespace

Target target_to_run(const Program& program, const Function& function, const RunRequest& request) {
  if (request.mesh.given()) return target_of(request.mesh, function.name);
  Target target;
  target.options.entry = function.name;
  // The interpreter is the reference: it takes the program as it stands.
  if (request.execute.engine == "interpreter") return target;
  const MeshDecl* large = too_large(program, request);
  if (large == nullptr)
    target.mesh = kOwnMesh;
  else if (request.execute.ranks == nullptr)
    write_stderr(fmt::format(
        "runs on one device: mesh @{0} has {1} devices, and the program's own mesh is used "
        "up to {2}; --mesh @{0} insists\n",
        large->name, large->mesh.devices(), kMostOwnDevices));
  return target;
}

void add_run(CLI::App& app) {
  const auto request = std::make_shared<RunRequest>();
  CLI::App* command = app.add_subcommand("run", "Run a program and show its results");
  command->add_option("FILE", request->file, "StableHLO text; - is standard input")->required();
  command
      ->add_option("--entry", request->entry,
                   "Function to run; otherwise main, or all that take no arguments")
      ->check(wrong_name);
  add_inputs(*command, *request);
  command
      ->add_option("--output", request->output,
                   "Folder for one .npy per result, or a file x.safetensors")
      ->check(wrong_name);
  add_check(*command, *request);
  add_engine(*command, *request);
  add_step_options(*command, request->steps);
  add_mesh_options(*command, request->mesh);
  add_rank_options(*command, request->ranks);
  command
      ->add_option("--memory", request->memory,
                   "The most memory for values, as 16GB, of all devices together;\n"
                   "otherwise half of the machine's")
      ->check(wrong_size);
  command
      ->add_option("--trace", request->trace,
                   "File for what ran when, for Perfetto: a span per step and kernel, or op")
      ->check(wrong_name);
  command->add_option("--until", request->until, "Run the program as it is after this stage")
      ->check(CLI::IsMember(stage_names()))
      ->capture_default_str();
  add_report_options(*command, request->report);
  command->callback([request] { run(*request); });
}

}  // namespace heddle::cli
