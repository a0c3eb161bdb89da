// The plan of a program as values.
#include <algorithm>
#include <unordered_map>

#include "heddle/compile.h"
#include "heddle/op.h"
#include "heddle/plan_report.h"
#include "heddle/schedule.h"
#include "heddle/value_names.h"
#include "report/layout_words.h"
#include "report/planned.h"
#include "report/words.h"

namespace heddle {
namespace {

std::string op_text(const Program& logical, OpId id) {
  if (id == kNone) return "the result";
  const Op& op = logical.op(id);
  std::string text = fmt::format("{} at {}", op.def->short_name(), logical.where(op.loc));
  const std::string& user = logical.location(op.loc).user;
  return user.empty() ? text : text + " (" + user + ")";
}

std::vector<PlannedFunction::Value> values_of(const Function* logical, bool is_result,
                                              const std::vector<Type>& types,
                                              const std::vector<Split>& splits, const Mesh& mesh) {
  std::vector<PlannedFunction::Value> values;
  for (std::size_t i = 0; i < types.size(); ++i) {
    PlannedFunction::Value value;
    if (logical != nullptr)
      value.name = is_result ? result_name(*logical, i) : argument_name(*logical, i);
    value.type = types[i].str();
    value.sharding = text_of(splits[i], mesh);
    if (types[i].is_tensor()) value.part = local_type(types[i], splits[i]).str();
    values.push_back(std::move(value));
  }
  return values;
}

// In the order of the first one of each kind: "arg1, arg2, result0".
std::vector<PlannedFunction::Drawn> drawn_of(const SpmdFunction& f, const Program& program) {
  struct Alike {
    Type type;
    Split split;
    std::string names;
  };
  std::vector<Alike> all;
  const auto add = [&](const char* word, const std::vector<Type>& types,
                       const std::vector<Split>& splits) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!types[i].is_tensor() || types[i].elements() == 0 || splits[i].is_whole()) continue;
      const auto known = std::ranges::find_if(
          all, [&](const Alike& one) { return one.type == types[i] && one.split == splits[i]; });
      if (known != all.end())
        known->names += fmt::format(", {}{}", word, i);
      else
        all.push_back({types[i], splits[i], fmt::format("{}{}", word, i)});
    }
  };
  add("arg", f.argument_types, f.arguments);
  add("result", f.result_types, f.results);
  std::vector<PlannedFunction::Drawn> drawn;
  for (const Alike& one : all) {
    auto layout = layout_of(one.split, program.meshes[f.mesh].mesh, program.axes.mem());
    if (layout) drawn.push_back({one.names, one.type.str(), *std::move(layout)});
  }
  return drawn;
}

std::string splits_text(const Decisions& decisions, const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids)
    text += (text.empty() ? "" : " ") + text_of(decisions.split(id), decisions.on.mesh.mesh);
  return text;
}

PlannedFunction::Chosen chosen_of(const Decisions& decisions, OpId first, std::size_t alike,
                                  const Choice& choice) {
  const Program& program = decisions.on.program;
  const Mesh& mesh = decisions.on.mesh.mesh;
  const Op& op = program.op(first);
  PlannedFunction::Chosen chosen;
  chosen.op = fmt::format("{} at {}", op.def->short_name(), program.where(op.loc));
  chosen.how = fmt::format("{} -> {}", splits_text(decisions, choice.operands),
                           splits_text(decisions, choice.results));
  chosen.alike = alike;
  const auto way = [&](const auto& of) {
    return fmt::format("{} ({})", text_of(of.axes, mesh), name(of.way));
  };
  chosen.chosen = {way(choice), choice.price.total()};
  for (const Choice::Rejected& other : choice.rejected)
    chosen.rejected.push_back({way(other), other.seconds});
  std::ranges::stable_sort(chosen.rejected, {}, &PlannedFunction::Rejected::seconds);
  return chosen;
}

// Each choice once, with the op that it was first made for.
std::vector<PlannedFunction::Chosen> choices_of(const Decisions& decisions) {
  std::unordered_map<const Choice*, std::size_t> count;
  for (const Decision& d : decisions.ops)
    if (d.choice) ++count[d.choice.get()];
  std::vector<PlannedFunction::Chosen> all;
  for (OpId id = 0; id < decisions.ops.size(); ++id) {
    const Choice* choice = decisions.ops[id].choice.get();
    const auto known = count.find(choice);
    // Where nothing else was possible there is nothing to say.
    if (choice == nullptr || choice->rejected.empty() || known == count.end()) continue;
    all.push_back(chosen_of(decisions, id, known->second, *choice));
    count.erase(known);
  }
  return all;
}

std::optional<PlannedFunction::Search> search_of(const Spmd& spmd, const SpmdFunction& f) {
  const Program& logical = spmd.logical();
  for (std::size_t i = 0; i < logical.functions.size(); ++i)
    if (const auto& found = spmd.decided->functions[i].found;
        found && logical.functions[i].name == f.name) {
      PlannedFunction::Search search{.cost = found->cost,
                                     .bound = found->bound,
                                     .gap = found->gap(),
                                     .moves = found->moves,
                                     .exposed = found->exposed,
                                     .seconds = found->seconds,
                                     .ops = found->cells,
                                     .choices = found->variables,
                                     .peak_bytes = found->peak_bytes,
                                     .memory = found->memory == INT64_MAX ? 0 : found->memory,
                                     .too_much = found->memory > found->wish ? found->wish : 0,
                                     .details = found->details};
      if (const auto& again = found->recomputed) {
        search.effort = again->effort;
        search.again = again->ops;
        search.again_bytes = again->bytes;
        search.again_seconds = again->seconds;
      }
      return search;
    }
  return std::nullopt;
}

}  // namespace

PlanReport report::plan_head(const Spmd& spmd, const PlanReportOptions& options) {
  PlanReport report;
  report.axes = spmd.program.axes;
  report.propagate_seconds = spmd.decided->propagate_seconds;
  report.decide_seconds = spmd.decided->decide_seconds;
  report.partition_seconds = spmd.partition_seconds;
  report.ops = spmd.program.op_count();
  report.explain = options.explain;
  return report;
}

PlannedFunction report::planned_on_mesh(const Spmd& spmd, const SpmdFunction& f, bool explain) {
  const Mesh& mesh = spmd.program.meshes[f.mesh].mesh;
  const Function& local = *spmd.program.find_function(f.name);
  const Function* const logical = spmd.logical().find_function(f.name);
  PlannedFunction plan;
  plan.name = f.name;
  plan.mesh = mesh.str();
  plan.devices = mesh.devices();
  plan.arguments = values_of(logical, false, f.argument_types, f.arguments, mesh);
  plan.results = values_of(logical, true, f.result_types, f.results, mesh);
  for (const Communication& c : f.communications)
    plan.moved.push_back({std::string(name(c.kind)), c.over, c.bytes, c.seconds,
                          op_text(spmd.logical(), c.needed_by), c.value, c.depth});
  for (const Conflict& c : f.conflicts)
    plan.conflicts.push_back({op_text(spmd.logical(), c.op), c.what});
  plan.collectives = collectives_of(spmd.program, local);
  plan.argument_bytes = f.argument_bytes;
  plan.result_bytes = f.result_bytes;
  plan.peak_bytes = peak_bytes(spmd.program, local);
  const Decisions* decisions = report::decisions_of(spmd, f.name);
  if (decisions != nullptr) {
    plan.compute_seconds = decisions->compute_seconds();
    plan.bring_seconds = decisions->bring_seconds();
    if (logical != nullptr) plan.layout = report::layout_words(*decisions, *logical);
  }
  plan.search = search_of(spmd, f);
  if (!explain) return plan;
  plan.drawn = drawn_of(f, spmd.program);
  if (decisions != nullptr) plan.choices = choices_of(*decisions);
  return plan;
}

const Decisions* report::decisions_of(const Spmd& spmd, const std::string& function) {
  const std::vector<Function>& all = spmd.logical().functions;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == function) return spmd.decided->functions[i].decisions.get();
  return nullptr;
}

PlanReport plan_report(const Spmd& spmd, const PlanReportOptions& options) {
  PlanReport report = report::plan_head(spmd, options);
  for (const SpmdFunction& f : spmd.functions) {
    if (f.mesh == kNone) {
      report.functions.push_back({.name = f.name});
      continue;
    }
    PlannedFunction plan = report::planned_on_mesh(spmd, f, options.explain);
    if (options.memory) {
      plan.memory = memory_when_compiled(spmd, f).value();
      const std::string whose = "each has " + report::bytes_text(*options.memory);
      const Verdict fits = want_memory(*plan.memory, *options.memory, whose, spmd, f);
      if (!fits && report.failure.empty()) report.failure = fits.reason();
    }
    report.functions.push_back(std::move(plan));
  }
  return report;
}

}  // namespace heddle
