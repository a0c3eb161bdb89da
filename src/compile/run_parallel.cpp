#include "heddle/run_parallel.h"

#include <map>
#include <unordered_map>

#include "heddle/hash.h"
#include "heddle/op.h"
#include "heddle/stablehlo.h"
#include "heddle/thread_mesh.h"
#include "ir/eval/run_parallel.h"
#include "ir/replica_groups.h"

namespace heddle {

namespace {

using Arrays = std::vector<Array>;

Expected<Executable> compiled(const ParallelRun& run, std::size_t rank, CompileOptions options) {
  options.entry = run.functions[rank]->name;
  HEDDLE_TRY(Executable executable, compile(run.program, options));
  if (!executable.interpreted_because().empty())
    return reason("function @{} cannot run on a device: {}", options.entry,
                  executable.interpreted_because());
  return executable;
}

// Sends and receives of test programs name only a channel: who uses it says the rest.
std::vector<ChannelEnds> channels_of(const ParallelRun& run) {
  std::map<std::int64_t, ChannelEnds> found;
  for (std::size_t r = 0; r < run.functions.size(); ++r)
    for (OpId id : run.program.region(run.functions[r]->body).ops) {
      const Op& op = run.program.op(id);
      const bool sends = op.def->collective == CollectiveKind::send;
      if (!sends && op.def->collective != CollectiveKind::receive) continue;
      ChannelEnds& ends = found[channel_of(run.program, op)];
      ends.channel = channel_of(run.program, op);
      (sends ? ends.from : ends.to) = static_cast<int>(r);
    }
  std::vector<ChannelEnds> all;
  for (const auto& [channel, ends] : found) all.push_back(ends);
  return all;
}

Expected<GroupId> everyone(Transport& transport) {
  std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = static_cast<int>(r);
  return transport.group(ranks);
}

Verdict broadcast(Transport& transport, GroupId group, int root, Array& array,
                  std::string_view what) {
  const auto bytes = array.mutable_bytes();
  if (bytes.empty()) return yes();
  const std::vector<std::byte> mine(bytes.begin(), bytes.end());
  Collective c{.kind = CollectiveKind::broadcast, .group = group};
  c.in = mine.data();
  c.out = bytes.data();
  c.in_pieces = {1, static_cast<std::int64_t>(bytes.size())};
  c.from = root;
  c.what = what;
  return run_collective(transport, c);
}

// The most processes that any op of the program runs at a time.
std::size_t most_processes(const Program& program) {
  std::size_t most = 0;
  for (OpId id = 0; id < program.op_count(); ++id) {
    const Op& op = program.op(id);
    if (op.def->control != Control::processes) continue;
    if (const auto grid = program_grid(program, op)) most = std::max(most, grid->functions.size());
  }
  return most;
}

// All ranks have to mean the same program, and to be as many as it has processes.
Verdict agree(Transport& transport, GroupId group, const ParallelRun& run) {
  const std::size_t most = std::max(most_processes(run.program), run.functions.size());
  if (static_cast<std::size_t>(transport.size()) != most)
    return reason("{} runs {} processes, but {} ranks were started: start {}", run.program.file,
                  most, transport.size(), most);
  std::uint64_t mine = hash_combine(0, print_stablehlo(run.program, TextForm::generic));
  Array first(Type::tensor(DType::ui64, {}));
  first.as_mutable<std::uint64_t>()[0] = mine;
  HEDDLE_TRY_VOID(broadcast(transport, group, 0, first, "comparing programs before the run"));
  if (first.as<std::uint64_t>()[0] == mine) return yes();
  return reason(
      "{}: rank {} of {} runs another program than rank 0: start all ranks with the same file, "
      "options and version",
      run.program.file, transport.rank(), transport.size());
}

// What every rank has got, for all: the functions say of which types it is.
Expected<std::vector<Arrays>> all_results(Transport& transport, GroupId group,
                                          const ParallelRun& run, Arrays mine) {
  std::vector<Arrays> results(run.functions.size());
  for (std::size_t r = 0; r < results.size(); ++r) {
    const bool is_mine = static_cast<int>(r) == transport.rank();
    for (std::size_t i = 0; i < run.functions[r]->results.size(); ++i) {
      const Type& type = run.program.type(run.functions[r]->results[i]);
      Array array = is_mine ? mine[i] : Array(type);
      if (type.is_tensor())
        HEDDLE_TRY_VOID(broadcast(transport, group, static_cast<int>(r), array, "sharing results"));
      results[r].push_back(std::move(array));
    }
  }
  return results;
}

Expected<std::vector<Arrays>> run_as_rank(Transport& transport, const ParallelRun& run,
                                          const CompileOptions& options) {
  HEDDLE_TRY(const GroupId group, everyone(transport));
  HEDDLE_TRY_VOID(agree(transport, group, run));
  const auto me = static_cast<std::size_t>(transport.rank());
  if (me >= run.functions.size()) return all_results(transport, group, run, {});
  HEDDLE_TRY(const Executable executable, compiled(run, me, options));
  RunOptions how;
  how.transport = &transport;
  how.replicas = run.replicas;
  how.partitions = run.partitions;
  how.same_program = false;
  how.channels = channels_of(run);
  how.print = run.print;
  HEDDLE_TRY(Arrays mine, executable.run(run.arguments[me], how));
  return all_results(transport, group, run, std::move(mine));
}

}  // namespace

ParallelRunner run_parallel_on_threads(const CompileOptions& options) {
  return [options](const ParallelRun& run) -> Expected<std::vector<Arrays>> {
    std::unordered_map<const Function*, Executable> made;
    std::vector<Executable> executables;
    for (std::size_t r = 0; r < run.functions.size(); ++r) {
      auto found = made.find(run.functions[r]);
      if (found == made.end()) {
        HEDDLE_TRY(Executable executable, compiled(run, r, options));
        found = made.emplace(run.functions[r], std::move(executable)).first;
      }
      executables.push_back(found->second);
    }
    RunOptions how;
    how.replicas = run.replicas;
    how.print = run.print;
    how.same_program = false;
    how.channels = channels_of(run);
    ThreadMesh mesh(static_cast<int>(run.functions.size()));
    return mesh.run(executables, run.arguments, how);
  };
}

ParallelRunner run_parallel_on(Transport& transport, const CompileOptions& options) {
  return [&transport, options](const ParallelRun& run) -> Expected<std::vector<Arrays>> {
    auto results = run_as_rank(transport, run, options);
    if (!results) transport.abort(results.reason());
    return results;
  };
}

}  // namespace heddle
