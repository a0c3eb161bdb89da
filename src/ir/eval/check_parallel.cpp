// interpreter.run_parallel: functions in a grid of replicas and partitions.
#include "ir/attr_access.h"
#include "ir/eval/check.h"
#include "ir/eval/process_group.h"
#include "ir/eval/run_parallel.h"

namespace heddle {

namespace {

using Arrays = std::vector<Array>;

Expected<const Function*> function_named(const Program& program, const Attr& attr) {
  const auto* symbol = attr.get<Attr::Symbol>();
  if (!symbol) return reason("expected the name of a function, got {}", describe(&attr));
  const Function* f = program.find_function(symbol->name);
  if (!f) return reason("there is no function @{}", symbol->name);
  if (f->body == kNone) return reason("function @{} has no body", symbol->name);
  return f;
}

Expected<std::vector<const Function*>> function_list(const Program& program, const Attr* attr) {
  std::vector<const Function*> functions;
  if (!attr) return functions;
  if (const auto* none = attr->get<Attr::Integers>(); none && none->empty()) return functions;
  const auto* list = attr->get<Attr::List>();
  if (!list) return reason("expected a list of functions, got {}", describe(attr));
  for (const Attr& item : *list) {
    HEDDLE_TRY(const Function* f, function_named(program, item));
    functions.push_back(f);
  }
  return functions;
}

Arrays joined(std::vector<Arrays> results) {
  Arrays all;
  for (Arrays& r : results) std::move(r.begin(), r.end(), std::back_inserter(all));
  return all;
}

// On devices of somebody else's.
Results run_elsewhere(EvalContext& ctx, const ProgramGrid& grid, std::vector<Arrays> arguments,
                      const ParallelRunner& runner) {
  ParallelRun run{ctx.program,    grid.replicas,        grid.partitions,
                  grid.functions, std::move(arguments), {}};
  run.print = [machine = ctx.machine](std::string_view text) { machine->print(text); };
  HEDDLE_TRY(auto results, runner(run));
  return joined(std::move(results));
}

}  // namespace

Expected<ProgramGrid> program_grid(const Program& program, const Op& op) {
  ProgramGrid grid;
  const Attr* attr = program.attr(op, "programs");
  const auto* rows = attr ? attr->get<Attr::List>() : nullptr;
  if (!rows || rows->empty())
    return reason("attribute programs must be a list of lists of functions, got {}",
                  describe(attr));
  grid.replicas = static_cast<std::int64_t>(rows->size());
  for (const Attr& row : *rows) {
    HEDDLE_TRY(auto functions, function_list(program, &row));
    const auto width = static_cast<std::int64_t>(functions.size());
    if (&row == rows->data()) grid.partitions = width;
    if (width == 0 || width != grid.partitions)
      return reason("attribute programs must be a grid; its rows have {} and {} functions",
                    grid.partitions, width);
    grid.functions.insert(grid.functions.end(), functions.begin(), functions.end());
  }
  if (grid.functions.size() > kMostProcesses)
    return reason("{} processes are more than the interpreter runs, which is {}",
                  grid.functions.size(), kMostProcesses);
  HEDDLE_TRY(grid.infeed, function_list(program, program.attr(op, "infeed")));
  return grid;
}

Results eval_run_parallel(EvalContext& ctx) {
  HEDDLE_TRY(ProgramGrid grid, program_grid(ctx.program, ctx.op));
  ProcessGroup group(grid.replicas, grid.partitions);
  for (const Function* f : grid.infeed) {
    HEDDLE_TRY(Arrays entry, ctx.call(*f, {}));
    group.infeed.push_back(std::move(entry));
  }
  std::vector<Arrays> arguments(grid.functions.size()), results(grid.functions.size());
  std::size_t next = 0;
  for (std::size_t id = 0; id < grid.functions.size(); ++id)
    for (ValueId v : ctx.program.region(grid.functions[id]->body).args)
      for (std::size_t n = leaf_count(ctx.program.type_of(v)); n-- > 0;)
        arguments[id].push_back(ctx.operands[next++]);
  if (const ParallelRunner* runner = ctx.machine->parallel_runner(); runner && grid.infeed.empty())
    return run_elsewhere(ctx, grid, std::move(arguments), *runner);
  HEDDLE_TRY_VOID(group.run([&](std::int64_t id) -> Verdict {
    const auto i = static_cast<std::size_t>(id);
    const Process process{&group, id / grid.partitions, id % grid.partitions};
    HEDDLE_TRY(results[i], ctx.machine->call_as(process, *grid.functions[i], arguments[i]));
    return yes();
  }));
  return joined(std::move(results));
}

}  // namespace heddle
