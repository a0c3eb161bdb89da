// Times a program on ranks, with a schedule and over an emulated link; bench/schedules/run.py calls
// it:
//
//   heddle launch -n 2 -- heddle_time_schedule FILE SCHEDULE|- BYTES_PER_SECOND overlap|sequence
//   ROUNDS
//
// Rank 0 prints the times of its rounds in seconds, and what its steps read and write.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "emulated_link.h"
#include "heddle/compile.h"
#include "heddle/deployment.h"
#include "heddle/inputs.h"
#include "heddle/schedule_text.h"
#include "heddle/stablehlo.h"
#include "heddle/steps.h"

namespace {

using namespace heddle;

// Numbers between 0 and 1 that are the same everywhere.
Array filled(const Type& type) {
  auto block = Block::raw(static_cast<std::size_t>(type.bytes()));
  auto* to = reinterpret_cast<float*>(block->data());
  for (std::size_t i = 0; i < block->size() / sizeof(float); ++i)
    to[i] = static_cast<float>(i * 2654435761u % 1000) / 1000.0f;
  return Array(type, std::move(block));
}

nlohmann::json measure(const Program& program, const Target& target, Transport& link, int rounds) {
  Executable executable = compile(program, target).value();
  Deployment devices = Deployment::open(executable, {.ranks = &link}).value();
  std::vector<Array> whole;
  for (ValueId v : program.region(program.find_function("main")->body).args)
    whole.push_back(filled(program.type_of(v)));
  const DeviceParts parts =
      target.carried.empty() ? devices.deal_out(whole).value() : DeviceParts{};
  Steps steps(devices, target.carried);
  if (!target.carried.empty()) steps.begin(whole).value();
  whole.clear();
  const std::vector<int> everyone = [&] {
    std::vector<int> all;
    for (int r = 0; r < link.size(); ++r) all.push_back(r);
    return all;
  }();
  const GroupId group = link.group(everyone, 0).value();
  nlohmann::json times = nlohmann::json::array();
  for (int round = -2; round < rounds; ++round) {
    run_collective(link, {.kind = CollectiveKind::barrier, .group = group}).value();
    const auto since = std::chrono::steady_clock::now();
    if (target.carried.empty())
      (void)devices.run(parts).value();
    else
      steps.take().value();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - since;
    if (round >= 0) times.push_back(took.count());
  }
  std::int64_t bytes = 0;
  for (const StepInfo& step : executable.steps()) bytes += step.bytes_read + step.bytes_written;
  return {{"seconds", times}, {"bytes", bytes}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6) {
    fmt::print(stderr,
               "use: heddle_time_schedule FILE SCHEDULE|- RATE overlap|sequence|steps ROUNDS\n");
    return 2;
  }
  auto transport = connect_transport("auto").value();
  if (!transport) throw Error("start it by `heddle launch -n 2` or mpirun");
  const double rate = std::atof(argv[3]);
  bench::EmulatedLink emulated(*transport, rate);
  Transport& link = rate > 0 ? emulated : *transport;
  link.enter();
  const Program program = read_stablehlo_file(argv[1]).value();
  Target target{.mesh = std::string(kOwnMesh)};
  target.ranks = true;
  target.rank = link.rank();
  if (std::string_view(argv[2]) != "-") target.schedule = read_schedule(argv[2]).value();
  const std::string_view way = argv[4];
  target.options.overlap = way != "sequence";
  if (way == "steps") {
    const std::size_t results = program.find_function("main")->results.size();
    target.options.donated.assign(results + 1, true);
    target.options.donated[0] = false;
    for (std::size_t i = 0; i < results; ++i) target.carried.push_back({i + 1, i});
  }
  const nlohmann::json all = measure(program, target, link, std::atoi(argv[5]));
  if (link.rank() == 0) fmt::print("{}\n", all.dump());
  return 0;
} catch (const std::exception& trouble) {
  fmt::print(stderr, "heddle_time_schedule: {}\n", trouble.what());
  return 1;
}
