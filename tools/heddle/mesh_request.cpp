#include "mesh_request.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "heddle/inline.h"
#include "heddle/lower.h"
#include "heddle/schedule.h"
#include "plan_file.h"

namespace heddle::cli {
namespace {

// The mesh of the command line under a name of its own, or the program's that is the same.
std::string enter_mesh(Program& program, const std::string& text) {
  if (text.empty()) return "";
  if (text[0] == '@') {
    if (program.find_mesh(text.substr(1)) != nullptr) return text.substr(1);
    throw Error(fmt::format("--mesh {}: the program has no such mesh", text));
  }
  AxisRegistry scratch = AxisRegistry::standard();
  const Mesh mesh = Mesh::parse(text, scratch).value();
  AxisSizes sizes;
  for (const MeshAxis& axis : mesh.axes()) sizes.emplace_back(axis.name, axis.size);
  for (const MeshDecl& known : program.meshes) {
    AxisSizes other;
    for (const MeshAxis& axis : known.mesh.axes()) other.emplace_back(axis.name, axis.size);
    if (other == sizes) return known.name;
  }
  std::string name = "mesh";
  while (program.find_mesh(name) != nullptr) name += "_";
  (void)program.add_mesh(name, sizes).value();
  std::vector<MeshAxis> axes = program.meshes.back().mesh.axes();
  for (std::size_t a = 0; a < axes.size(); ++a) axes[a].link = mesh.axes()[a].link;
  program.meshes.back().mesh = Mesh::make(std::move(axes), mesh.local_bandwidth()).value();
  return name;
}

std::string wrong_name(const std::string& text) {
  return text.empty() ? "it is empty: leave it out, or say which" : "";
}

// The command line after the file, whose words count less.
std::vector<ShardEntry> all_shards(const MeshRequest& request, PlanFile& plan) {
  std::vector<ShardEntry> all = std::move(plan.shards);
  for (const std::string& shard : request.shards) all.push_back(shard_entry(shard));
  return all;
}

// The function that runs stays, also where only others call it.
void keep_function(Program& program, const std::string& name) {
  for (Function& f : program.functions)
    if (f.name == name && f.body != kNone) f.is_private = false;
}

const Function& function_to_shard(const Program& program, const std::string& name) {
  if (name.empty())
    throw Error("--shard: there is no main, and several functions: choose one with --entry");
  const Function* found = program.find_function(name);
  if (found == nullptr || found->body == kNone)
    throw Error(fmt::format("--shard: there is no function @{} with a body", name));
  return *found;
}

}  // namespace

void add_mesh_options(CLI::App& command, MeshRequest& request) {
  command
      .add_option("--mesh", request.mesh,
                  "Devices to run on, as dp=2,tp=4, or @NAME for a mesh of the program")
      ->check(wrong_name);
  command
      .add_option("--shard", request.shards,
                  "NAME=SHARDING of arguments, results: arg0=dp,_ or arg1=[{}, {\"tp\"}];\n"
                  "NAME may be a range (arg2-5) or a type; * is anything, & joins two")
      ->allow_extra_args(false);
  command
      .add_option("--plan", request.plan, "JSON file with \"mesh\" and \"shard\": {NAME: SHARDING}")
      ->check(wrong_name);
  command.add_flag("--closed", request.closed,
                   "Arguments and results of which nothing is said stay whole");
}

std::string entry_of(const Program& program, const std::string& asked) {
  if (!asked.empty()) return asked;
  if (program.find_function("main") != nullptr) return "main";
  std::string only;
  for (const Function& f : program.functions) {
    if (f.is_private || f.body == kNone) continue;
    if (!only.empty()) return "";
    only = f.name;
  }
  return only;
}

Spmd partition_for(Program program, const MeshRequest& request, const std::string& function,
                   const std::vector<Carried>& carried) {
  PlanFile plan = request.plan.empty() ? PlanFile{} : read_plan_file(request.plan);
  keep_function(program, function);
  program = inline_calls(program).value();
  program = lower_chlo(program).value();
  SpmdOptions options;
  options.mesh = enter_mesh(program, request.mesh.empty() ? plan.mesh : request.mesh);
  options.closed_boundary = request.closed;
  options.function = function;
  options.carried = carried;
  if (request.closed && options.mesh.empty() && program.meshes.empty())
    throw Error("--closed needs a mesh: give one, as in --mesh dp=2,tp=4");
  if (const std::vector<ShardEntry> shards = all_shards(request, plan); !shards.empty()) {
    if (options.mesh.empty() && !program.meshes.empty()) options.mesh = program.meshes[0].name;
    if (options.mesh.empty()) throw Error("--shard needs a mesh: give one, as in --mesh dp=2,tp=4");
    const Function meant = function_to_shard(program, function);
    options.seeds = seeds_of(program, meant, options.mesh, shards);
  }
  Spmd spmd = partition(program, options).value();
  spmd.program = schedule(spmd.program);
  return spmd;
}

const SpmdFunction& function_on_mesh(const Spmd& spmd, const std::string& name) {
  const SpmdFunction* found = spmd.find(name);
  if (found == nullptr || found->mesh == kNone)
    throw Error(
        fmt::format("nothing says on which mesh @{} runs: name one, as in --mesh dp=2,tp=2", name));
  return *found;
}

}  // namespace heddle::cli
