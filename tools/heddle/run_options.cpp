// The options of `heddle run`.
#include "base/file.h"
#include "heddle/results.h"
#include "option_values.h"
#include "run_request.h"
#include "stages.h"

namespace heddle::cli {
namespace {

void add_inputs(Command& command, RunRequest& request) {
  command.option("--input", request.inputs,
                 "x.npy, x.safetensors with in.0, in.1, ..., dense<[1, 2]> : tensor<2xi32>\n"
                 "(the type may be left out), or random:SEED for all that is missing");
  command.option("--io", request.io, "Safetensors file with inputs in.* and results out.*")
      .not_empty();
  command
      .option("--output", request.output, "Folder for one .npy per result, or a file x.safetensors")
      .not_empty();
}

void add_check(Command& command, RunRequest& request) {
  command.flag("--check", request.check, "Compare the results with out.* of --io");
  command.option("--rtol", request.tolerance.rtol, "Relative tolerance of --check")
      .check(wrong_tolerance);
  command.option("--atol", request.tolerance.atol, "Absolute tolerance of --check")
      .check(wrong_tolerance);
}

void add_engine(Command& command, RunRequest& request) {
  ExecuteOptions& execute = request.execute;
  command
      .option("--engine", request.engine,
              "compiled; interpreter, the reference; or kernels: compiled, with kernels\n"
              "interpreted")
      .one_of({kEngineNames.begin(), kEngineNames.end()})
      .shows_default();
  command
      .option("--device", request.device,
              "What it runs on: cpu, cuda, or cuda:1 for the second GPU")
      .shows_default();
  command.flag("--explain", execute.explain,
               "Show every kernel and library call: ops, bytes, time, why it ends");
  command.option("--repeat", execute.repeat, "Run so many times and give the median time")
      .from_to(1, 1'000'000);
  command.flag("!--no-fuse", request.fuse, "Every op by itself, to see what stitching gains");
  command.flag("!--sequence", request.overlap,
               "Nothing runs beside a collective, to see what overlapping gains");
  command.flag("--async", request.async,
               "Begin at once; kernels are interpreted until their code is there");
  command.flag("--donate", execute.donate, "Let the program overwrite its arguments");
  command.option("--dump", execute.dump, "Folder for the program after every stage, and kernels")
      .not_empty();
}

void add_steps(Command& command, StepsRequest& request) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  command
      .option("--steps", request.steps,
              "Run until this step, the results of one being the arguments of the next")
      .from_to(1, kMost);
  command.option("--carry", request.carry,
                 "Which results are the next step's arguments: arg0-85=result1-86, or by\n"
                 "names, params=result[1]; not needed where names or the order of types\n"
                 "make it evident");
  command
      .option("--batch", request.batches,
              "NAME=SOURCE, an array of every step for an argument: a folder or\n"
              "pattern of .npy or .safetensors files, or one file with one dimension\n"
              "more, the first; without NAME= as arrays of .safetensors are called:\n"
              "in.3, or the argument")
      .not_empty();
  command.flag("--cycle", request.cycle, "Begin with the first batch again after the last");
  command
      .option("--save", request.save.prefix,
              "Checkpoints of what is carried: run/step for run/step-100, and so on")
      .not_empty();
  command.option("--every", request.save.every, "Steps from one --save to the next")
      .from_to(1, kMost);
  command.option("--keep", request.save.keep, "Remove all but the newest so many checkpoints")
      .from_to(1, kMost);
  command
      .option("--restore", request.restore,
              "Go on from a checkpoint, run/step-300, or from the newest whole one of a\n"
              "folder, run; on any mesh, or on one device")
      .not_empty();
}

void check_steps(const RunRequest& request) {
  const StepsRequest& steps = request.steps;
  if (steps.steps == 0 && (!steps.carry.empty() || !steps.save.prefix.empty()))
    throw WrongUse{steps.carry.empty() ? "--save" : "--carry",
                   "it is for runs of many steps: add --steps"};
  if (!steps.given() && !steps.batches.empty())
    throw WrongUse{"--batch", "it is for runs of many steps: add --steps"};
  if (steps.cycle && steps.batches.empty())
    throw WrongUse{"--cycle", "there are no batches: add --batch, as in arg3=data/*.npy"};
  if (steps.save.prefix.empty() && (steps.save.every > 0 || steps.save.keep > 0))
    throw WrongUse{steps.save.every > 0 ? "--every" : "--keep",
                   "nothing is saved: add --save, as in --save run/step"};
  if (steps.given() && request.execute.donate)
    throw WrongUse{"--donate", "steps overwrite what they carry anyway: leave it out"};
  if (steps.given() && request.execute.repeat > 1)
    throw WrongUse{"--repeat", "--steps repeats already: leave one of them out"};
}

void check_inputs(const RunRequest& request) {
  if (!request.io.empty() && !request.io.ends_with(".safetensors"))
    throw WrongUse{"--io", fmt::format("{} does not end in .safetensors; --input takes other files",
                                       request.io)};
  if (request.check && request.io.empty())
    throw WrongUse{"--check", "it compares with out.0, out.1, ... of a file: name it with --io"};
  if ((request.tolerance.rtol || request.tolerance.atol) && !request.check)
    throw WrongUse{request.tolerance.rtol ? "--rtol" : "--atol",
                   "without --check nothing is compared: add it, with --io"};
  std::vector<std::string> seeds;
  for (const std::string& input : request.inputs)
    if (input.starts_with("random:")) seeds.push_back(input);
  if (seeds.size() > 1)
    throw WrongUse{"--input", fmt::format("{} and {}: one seed fills all that is missing, so give "
                                          "one",
                                          seeds[0], seeds[1])};
  if (!seeds.empty() && !request.io.empty())
    throw WrongUse{"--input", fmt::format("{} and --io {} both give the inputs: leave one of them "
                                          "out",
                                          seeds[0], request.io)};
}

}  // namespace

std::vector<std::string> RunRequest::sources() const {
  std::vector<std::string> all = inputs;
  if (!io.empty()) all.push_back(io);
  return all;
}

void add_run_options(Command& command, RunRequest& request) {
  command.program_file(request.file);
  command
      .option("--entry", request.entry,
              "Function to run; otherwise main, or all that take no arguments")
      .not_empty();
  add_inputs(command, request);
  add_check(command, request);
  add_engine(command, request);
  add_steps(command, request.steps);
  add_mesh_options(command, request.mesh);
  add_rank_options(command, request.ranks);
  command
      .option("--memory", request.memory,
              "The most memory for values, as 16GB, of all devices together; a plan\n"
              "that is searched for keeps an equal part on each; otherwise half of\n"
              "the machine's")
      .check(wrong_size);
  command
      .option("--trace", request.trace,
              "File for what ran when, for Perfetto: a span per step and kernel, or op")
      .not_empty();
  command.option("--until", request.until, "Run the program as it is after this stage")
      .one_of(stage_names())
      .shows_default();
  command.report(request.report);
}

void check_run_options(const RunRequest& request) {
  check_steps(request);
  if (request.mesh.closed && !request.mesh.given())
    throw WrongUse{"--closed", "it says how values lie on a mesh: give one, as in --mesh dp=2"};
  if (!request.execute.dump.empty() && request.engine == "interpreter")
    throw WrongUse{"--dump", "the interpreter compiles nothing: `heddle opt` prints programs"};
  check_inputs(request);
}

void check_files(const RunRequest& request) {
  if (!request.output.empty()) (void)of_option(check_output(request.output));
  const auto want = [](std::string_view option, const std::string& name, const Verdict& can) {
    if (!can) throw Error(fmt::format("{} {}: {}", option, name, can.reason()));
  };
  const std::string &trace = request.trace, &dump = request.execute.dump;
  if (!trace.empty()) want("--trace", trace, can_write(trace));
  if (!dump.empty()) want("--dump", dump, can_write_into(dump));
}

}  // namespace heddle::cli
