// Times a program on a device, with its arguments there already:
//   time_program FILE.mlir [--device cuda] [--runs 30] [--input A.safetensors] [--output
//   R.safetensors] [--profile 20]
// Arguments are random, or in.0, in.1, ... of a file, whose numbers are repeated where an argument
// has more. Results of the first run go to R. Prints the seconds of a run as JSON: many runs one
// after the other, less few of them, over the difference, so that what a start takes drops out.
// --profile adds so many lines on stderr: the steps that take longest, those alike together.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "heddle/compile.h"
#include "heddle/inputs.h"
#include "heddle/results.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"

namespace heddle {
namespace {

constexpr double kMostSeconds = 0.5;  // of many runs, where one takes long

struct Wishes {
  std::string file, device = "cuda", input, output;
  int runs = 30, profile = 0;
};

struct Timed {
  double seconds = 0, compile_seconds = 0, host_seconds = 0;
  std::size_t steps = 0;
  double start_seconds = 0;  // of the host, to start a run while the device has nothing to do
};

std::pair<double, double> run(const Executable& executable, const std::vector<Buffer>& arguments,
                              int runs);

// The median of many; a few at a time, so that the device takes them all.
double seconds_to_start(const Executable& executable, const std::vector<Buffer>& arguments) {
  constexpr int kTurns = 200, kAtOnce = 4;
  std::vector<double> seconds;
  for (int turn = 0; turn < kTurns; ++turn)
    seconds.push_back(run(executable, arguments, kAtOnce).second / kAtOnce);
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

// Starts so many runs and waits for the last; the seconds of the whole, and of the host alone.
std::pair<double, double> run(const Executable& executable, const std::vector<Buffer>& arguments,
                              int runs) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::vector<Buffer> last;
  for (int i = 0; i < runs; ++i) last = executable.run_on_device(arguments).value();
  const std::chrono::duration<double> host = Clock::now() - begin;
  for (const Buffer& buffer : last) HEDDLE_CHECK(buffer.ready.wait(), "the run has failed");
  return {std::chrono::duration<double>(Clock::now() - begin).count(), host.count()};
}

// The same numbers over and over: making many takes longer than what is timed.
Buffer filled_buffer(Queue& queue, const Type& type, const Array& part) {
  Buffer buffer = queue.device().allocate(type.bytes()).value();
  for (std::int64_t at = 0; at < type.bytes(); at += part.type().bytes()) {
    const auto bytes = part.bytes().first(
        static_cast<std::size_t>(std::min(part.type().bytes(), type.bytes() - at)));
    HEDDLE_CHECK(queue.write(bytes, buffer.address + at, part.block()), "a copy has failed");
  }
  return buffer;
}

// The same random numbers for all arguments of a type: to draw them takes longer than what is
// timed.
const Array& random_part(DType dtype) {
  constexpr std::int64_t kMost = 1 << 20;
  static std::map<DType, Array> drawn;
  const auto found = drawn.find(dtype);
  if (found != drawn.end()) return found->second;
  return drawn.emplace(dtype, random_array(Type::tensor(dtype, {kMost}), 1)).first->second;
}

std::vector<Buffer> arguments_of(Queue& queue, const Program& program, const std::string& input) {
  const NamedArrays given = input.empty() ? NamedArrays{} : read_safetensors(input).value();
  std::vector<Buffer> arguments;
  for (const Type& type : argument_types(program, *program.find_function("main"))) {
    const std::string name = fmt::format("in.{}", arguments.size());
    const Array* part = find_array(given, name);
    if (!input.empty() && (part == nullptr || part->dtype() != type.dtype || part->elements() == 0))
      throw Error(fmt::format("{} needs {} of {}", input, name, heddle::name(type.dtype)));
    arguments.push_back(
        filled_buffer(queue, type, part != nullptr ? *part : random_part(type.dtype)));
  }
  HEDDLE_CHECK(queue.finish(), "the copies have failed");
  return arguments;
}

void write(Queue& queue, const Program& program, const std::vector<Buffer>& results,
           const std::string& file) {
  std::vector<Array> arrays;
  for (const Type& type : result_types(program, *program.find_function("main")))
    arrays.push_back(to_host(queue, results[arrays.size()], type).value());
  write_results(file, arrays).value();
}

// Step by step, with a wait behind each.
void print_profile(const Executable& executable, const std::vector<Buffer>& arguments, int lines) {
  constexpr int kTurns = 3;
  std::vector<StepTime> times;
  RunOptions options;
  options.times = &times;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto results = executable.run_on_device(arguments, options).value();
    for (const Buffer& buffer : results) HEDDLE_CHECK(buffer.ready.wait(), "the run has failed");
    if (turn == 0) times.assign(times.size(), {});  // the first one makes what later ones have
  }
  struct Alike {
    int steps = 0;
    double seconds = 0;
    std::int64_t bytes = 0;
  };
  std::map<std::string, Alike> all;
  double sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const StepInfo& step = executable.steps()[i];
    const std::int64_t bytes = step.bytes_read + step.bytes_written;
    Alike& alike = all[fmt::format("{} {}: {} ops, {:.1f} MB", step.kind, step.name, step.op_count,
                                   static_cast<double>(bytes) / 1e6)];
    ++alike.steps;
    alike.seconds += times[i].seconds / (kTurns - 1);
    alike.bytes += bytes;
    sum += times[i].seconds / (kTurns - 1);
  }
  std::vector<std::pair<std::string, Alike>> sorted(all.begin(), all.end());
  std::ranges::sort(sorted, std::ranges::greater(), [](const auto& a) { return a.second.seconds; });
  fmt::print(stderr, "{} steps take {:.2f} ms one by one\n", times.size(), sum * 1e3);
  for (std::size_t i = 0; i < sorted.size() && i < static_cast<std::size_t>(lines); ++i) {
    const Alike& alike = sorted[i].second;
    fmt::print(stderr, "{:8.3f} ms {:5.1f} % {:7.0f} GB/s {:3} x {}\n", alike.seconds * 1e3,
               100 * alike.seconds / sum, static_cast<double>(alike.bytes) / alike.seconds / 1e9,
               alike.steps, sorted[i].first);
  }
}

Timed time_program(const Wishes& wishes) {
  const Program program = read_stablehlo_file(wishes.file).value();
  Target target;
  target.options.device = find_device(wishes.device).value();
  const auto begin = std::chrono::steady_clock::now();
  const Executable executable = compile(program, target).value();
  Timed timed;
  timed.compile_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto queue = executable.device().queue();
  const auto arguments = arguments_of(*queue, program, wishes.input);
  if (!wishes.output.empty())
    write(*queue, program, executable.run_on_device(arguments).value(), wishes.output);
  const double one = run(executable, arguments, 3).first / 3;
  std::vector<double> seconds;
  const int runs = std::clamp(static_cast<int>(kMostSeconds / one), 1, wishes.runs);
  const int few = std::max(1, runs / 5);
  for (int turn = 0; turn < 5; ++turn) {
    const double little = run(executable, arguments, few).first;
    const auto [much, host] = run(executable, arguments, few + runs);
    seconds.push_back((much - little) / runs);
    timed.host_seconds = host / (few + runs);
  }
  std::ranges::sort(seconds);
  timed.seconds = seconds[seconds.size() / 2];
  timed.steps = executable.steps().size();
  if (wishes.profile > 0) print_profile(executable, arguments, wishes.profile);
  if (timed.seconds < 0.02) timed.start_seconds = seconds_to_start(executable, arguments);
  return timed;
}

}  // namespace
}  // namespace heddle

int main(int count, char** words) {
  heddle::Wishes wishes;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_more = i + 1 < count;
    if (word == "--device" && has_more)
      wishes.device = words[++i];
    else if (word == "--runs" && has_more)
      wishes.runs = std::max(1, std::atoi(words[++i]));
    else if (word == "--profile" && has_more)
      wishes.profile = std::max(0, std::atoi(words[++i]));
    else if (word == "--input" && has_more)
      wishes.input = words[++i];
    else if (word == "--output" && has_more)
      wishes.output = words[++i];
    else
      wishes.file = word;
  }
  try {
    const heddle::Timed timed = heddle::time_program(wishes);
    fmt::print("{{\"ms\": {:.4f}, \"host_ms\": {:.4f}, \"compile_s\": {:.2f}, \"steps\": {}}}\n",
               timed.seconds * 1e3, timed.host_seconds * 1e3, timed.compile_seconds, timed.steps);
    if (timed.start_seconds > 0)
      fmt::print(stderr, "the host starts a run in {:.2f} us\n", timed.start_seconds * 1e6);
  } catch (const std::exception& error) {
    fmt::print(stderr, "time_program: {}\n", error.what());
    return 1;
  }
  return 0;
}
