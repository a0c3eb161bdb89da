// heddle plan: how a program is dealt out over a mesh, and what its devices tell each other.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "compile.h"
#include "compile/device_memory.h"
#include "heddle/op.h"
#include "heddle/schedule.h"
#include "heddle/stablehlo.h"
#include "heddle/value_names.h"
#include "mesh_request.h"
#include "plan_pictures.h"
#include "program_commands.h"
#include "terminal.h"
#include "waiting.h"

namespace heddle::cli {
namespace {

struct PlanRequest {
  std::string file, entry;
  MeshRequest mesh;
  bool explain = false, program = false;
  std::string memory;              // of one device
  std::vector<std::string> carry;  // as a run of many steps has it
  ReportOptions report;
};

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string op_text(const Program& logical, OpId id) {
  if (id == kNone) return "the result";
  const Op& op = logical.op(id);
  std::string text = fmt::format("{} at {}", op.def->short_name(), logical.where(op.loc));
  const std::string& user = logical.location(op.loc).user;
  return user.empty() ? text : text + " (" + user + ")";
}

// What a device needs by the plan of its compiled program, for which no machine code is made.
DeviceMemory memory_of(const Spmd& spmd, const SpmdFunction& f) {
  Target target;
  target.options.entry = f.name;
  target.options.machine_code = false;
  target.ranks = true;  // a device is a machine of its own
  return device_memory(spmd, f, compile_distributed(spmd, target).value());
}

// By function; empty where nobody asks.
using Memories = std::map<std::string, DeviceMemory>;

Memories memories(const Spmd& spmd, const PlanRequest& request) {
  Memories all;
  if (request.memory.empty()) return all;
  for (const SpmdFunction& f : spmd.functions)
    if (f.mesh != kNone) all.emplace(f.name, memory_of(spmd, f));
  return all;
}

// What is too much for a device; empty where all fits.
std::string too_little_memory(const Spmd& spmd, const PlanRequest& request, const Memories& all) {
  for (const auto& [name, memory] : all) {
    const std::int64_t limit = parse_bytes(request.memory).value();
    const std::string whose = fmt::format("each has {}", format_bytes(static_cast<double>(limit)));
    const Verdict fits = want_memory(memory, limit, whose, spmd, *spmd.find(name));
    if (!fits) return fits.reason();
  }
  return "";
}

struct Totals {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_kind;  // count and bytes
  std::int64_t bytes = 0;
  double seconds = 0;
};

Totals totals_of(const SpmdFunction& f) {
  Totals totals;
  for (const Communication& c : f.communications) {
    auto& [count, bytes] = totals.by_kind[fmt::format("{} over {}", name(c.kind), c.over)];
    ++count;
    bytes += c.bytes;
    totals.bytes += c.bytes;
    totals.seconds += c.seconds;
  }
  return totals;
}

// As the program gives it; empty where it does not.
std::string name_of(const Function* function, bool is_result, std::size_t i) {
  if (function == nullptr) return "";
  return std::string(is_result ? heddle::result_name(*function, i) : argument_name(*function, i));
}

// One row of a table per argument or result.
struct BoundaryRow {
  std::string number, name, type, split, part;
};

std::string boundary(const SpmdFunction& f, const Function* logical, const Mesh& mesh, bool all) {
  constexpr std::size_t kMostShown = 40, kMostName = 32;
  std::vector<BoundaryRow> rows;
  std::vector<std::pair<std::size_t, std::size_t>> left_out;  // before which row, and how many
  const auto add = [&](bool is_result, const std::vector<Type>& types,
                       const std::vector<Split>& splits) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!all && i == kMostShown) {
        left_out.emplace_back(rows.size(), types.size() - i);
        break;
      }
      const std::string name = name_of(logical, is_result, i);
      rows.push_back({fmt::format("{}{}", is_result ? "result" : "arg", i), end_of(name, kMostName),
                      types[i].str(), text_of(splits[i], mesh),
                      types[i].is_tensor() ? local_type(types[i], splits[i]).str() + " each" : ""});
    }
  };
  add(false, f.argument_types, f.arguments);
  add(true, f.result_types, f.results);
  std::size_t names = 0, types = 0, splits = 0;
  for (const BoundaryRow& row : rows) {
    names = std::max(names, row.name.size() + (row.name.empty() ? 0 : 2));
    types = std::max(types, row.type.size());
    splits = std::max(splits, row.split.size());
  }
  std::string text;
  for (std::size_t r = 0; r <= rows.size(); ++r) {
    for (const auto& [before, count] : left_out)
      if (before == r) text += fmt::format("  ... and {} more (--explain shows all)\n", count);
    if (r == rows.size()) break;
    const BoundaryRow& row = rows[r];
    text += fmt::format("  {:<9} {:<{}}{:<{}}  {:<{}}  {}\n", row.number, row.name, names, row.type,
                        types, row.split, splits, row.part);
  }
  return text;
}

void show(const Spmd& spmd, const PlanRequest& request, const Memories& memory) {
  std::string text;
  for (const SpmdFunction& f : spmd.functions) {
    if (f.mesh == kNone) {
      text += fmt::format(
          "@{} on one device: nothing says where its values lie; --mesh dp=2 names devices\n",
          f.name);
      continue;
    }
    const Mesh& mesh = spmd.program.meshes[f.mesh].mesh;
    const Function& local = *spmd.program.find_function(f.name);
    text += fmt::format("@{} on {} devices ({})\n", f.name, mesh.devices(), mesh.str());
    text += boundary(f, spmd.logical.find_function(f.name), mesh, request.explain);
    if (request.explain)
      text += boundary_pictures(f, spmd.program, Style::of_stdout(request.report.plain));
    const Totals totals = totals_of(f);
    text +=
        fmt::format("{} communications in {} collectives, {} received per device, {} predicted\n",
                    f.communications.size(), collectives_of(spmd.program, local),
                    bytes_text(static_cast<double>(totals.bytes)), seconds_text(totals.seconds));
    for (const auto& [kind, sum] : totals.by_kind)
      text += fmt::format("  {:<30} {:>6}  {}\n", kind, sum.first,
                          bytes_text(static_cast<double>(sum.second)));
    text += fmt::format("arguments {} and results {} per device; values {} at most, op by op\n",
                        bytes_text(static_cast<double>(f.argument_bytes)),
                        bytes_text(static_cast<double>(f.result_bytes)),
                        bytes_text(static_cast<double>(peak_bytes(spmd.program, local))));
    if (const auto known = memory.find(f.name); known != memory.end())
      text += fmt::format("needs {} on each device: {}\n",
                          bytes_text(static_cast<double>(known->second.needed())),
                          known->second.text());
    if (!request.explain && !f.conflicts.empty())
      text += fmt::format("{} conflict{} between layouts; --explain shows them\n",
                          f.conflicts.size(), f.conflicts.size() == 1 ? "" : "s");
    if (!request.explain) continue;
    for (const Communication& c : f.communications)
      text += fmt::format("{}{} over {}: {}, {}, for {}\n    {}\n",
                          std::string(static_cast<std::size_t>(2 * c.depth), ' '), name(c.kind),
                          c.over, bytes_text(static_cast<double>(c.bytes)), seconds_text(c.seconds),
                          op_text(spmd.logical, c.needed_by), c.value);
    for (const Conflict& c : f.conflicts)
      text += fmt::format("conflict at {}: {}\n", op_text(spmd.logical, c.op), c.what);
  }
  write_stdout(text);
}

void show_json(const Spmd& spmd, const Memories& memory, const std::string& failure) {
  nlohmann::ordered_json report = {{"ok", failure.empty()}};
  if (!failure.empty()) report.update(failure_json(failure, kExitFailed));
  report["propagate_seconds"] = spmd.propagate_seconds;
  report["partition_seconds"] = spmd.partition_seconds;
  report["ops"] = spmd.program.op_count();
  auto all = nlohmann::ordered_json::array();
  for (const SpmdFunction& f : spmd.functions) {
    nlohmann::ordered_json one;
    one["function"] = f.name;
    if (f.mesh == kNone) {
      one["devices"] = 1;
      all.push_back(std::move(one));
      continue;
    }
    const Mesh& mesh = spmd.program.meshes[f.mesh].mesh;
    const Function& local = *spmd.program.find_function(f.name);
    one["mesh"] = mesh.str();
    one["devices"] = mesh.devices();
    const Function* const logical = spmd.logical.find_function(f.name);
    auto rows = [&](bool is_result, const std::vector<Type>& types,
                    const std::vector<Split>& splits) {
      auto list = nlohmann::ordered_json::array();
      for (std::size_t i = 0; i < types.size(); ++i) {
        nlohmann::ordered_json row;
        const std::string name = name_of(logical, is_result, i);
        if (!name.empty()) row["name"] = name;
        row["type"] = types[i].str();
        row["sharding"] = text_of(splits[i], mesh);
        list.push_back(std::move(row));
      }
      return list;
    };
    one["arguments"] = rows(false, f.argument_types, f.arguments);
    one["results"] = rows(true, f.result_types, f.results);
    one["argument_bytes"] = f.argument_bytes;
    one["result_bytes"] = f.result_bytes;
    one["peak_bytes"] = peak_bytes(spmd.program, local);
    if (const auto known = memory.find(f.name); known != memory.end())
      one["memory"] = {{"bytes", known->second.needed()},
                       {"values", known->second.values},
                       {"from", known->second.planned ? "compiled" : "op by op"},
                       {"where", known->second.peak.where},
                       {"largest", known->second.peak.largest}};
    one["collectives"] = collectives_of(spmd.program, local);
    one["communications"] = nlohmann::ordered_json::array();
    for (const Communication& c : f.communications)
      one["communications"].push_back({{"kind", name(c.kind)},
                                       {"over", c.over},
                                       {"bytes", c.bytes},
                                       {"seconds", c.seconds},
                                       {"for", op_text(spmd.logical, c.needed_by)},
                                       {"value", c.value},
                                       {"loops", c.depth}});
    one["conflicts"] = nlohmann::ordered_json::array();
    for (const Conflict& c : f.conflicts)
      one["conflicts"].push_back({{"op", op_text(spmd.logical, c.op)}, {"what", c.what}});
    all.push_back(std::move(one));
  }
  report["functions"] = std::move(all);
  write_stdout(report.dump(2) + "\n");
}

Spmd distributed(const Program& program, const PlanRequest& request) {
  const std::string entry = entry_of(program, request.entry);
  const Function* function = program.find_function(entry);
  if (function == nullptr && !request.entry.empty())
    throw no_function({program}, request.file, request.entry);
  Target target = target_of(request.mesh, entry);
  Waiting waiting;
  target.options.progress = &waiting.progress;
  if (request.carry.empty()) return of_option(distribute(program, target));
  if (function == nullptr)
    throw Error(
        fmt::format("--carry is for @main, which {} does not have: choose another with "
                    "--entry",
                    request.file));
  target.carried = carry_of(program, *function, request.carry, true).pairs;
  return of_option(distribute(program, target));
}

void run(const PlanRequest& request) {
  for (const Program& program : read_programs(request.file)) {
    const Spmd spmd = distributed(program, request);
    const Memories memory = memories(spmd, request);
    const std::string failure = too_little_memory(spmd, request, memory);
    if (request.program)
      write_stdout(print_stablehlo(spmd.program));
    else if (request.report.json)
      show_json(spmd, memory, failure);
    else
      show(spmd, request, memory);
    if (!failure.empty()) throw Error(failure);
  }
}

}  // namespace

void add_plan(CLI::App& app) {
  const auto request = std::make_shared<PlanRequest>();
  CLI::App* command = app.add_subcommand("plan", "Deal a program out over the devices of a mesh");
  command->add_option("FILE", request->file, "StableHLO text; - is standard input")->required();
  add_mesh_options(*command, request->mesh);
  command->add_option("--entry", request->entry, "The function that --shard and --carry are for");
  command->add_flag("--explain", request->explain,
                    "Draw how arguments and results lie; list every communication with\n"
                    "bytes, time and the op that needs it");
  command->add_flag("--program", request->program, "Print the program of one device instead");
  command
      ->add_option("--carry", request->carry,
                   "As `heddle run --steps` has it: arg0-85=result1-86, or evident")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--memory", request->memory,
          "What one device has, as 16GB: compiles for it, and fails\nwhere it is too little")
      ->check(wrong_size);
  add_report_options(*command, request->report);
  command->callback([request] { run(*request); });
}

}  // namespace heddle::cli
