#include "mesh_request.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "heddle/plan_file.h"

namespace heddle::cli {
namespace {

constexpr const char* kNoMesh = "none";

std::string wrong_mesh_word(const std::string& text) {
  return text.empty() ? "it is empty: leave it out, or say which" : "";
}

}  // namespace

void add_mesh_options(CLI::App& command, MeshRequest& request) {
  command
      .add_option("--mesh", request.mesh,
                  "Devices to run on, as dp=2,tp=4, or @NAME for a mesh of the program;\n"
                  "otherwise the one that its shardings name; none: one device")
      ->check(wrong_mesh_word);
  command
      .add_option("--shard", request.shards,
                  "NAME=SHARDING of arguments, results: arg0=dp,_ or arg1=[{}, {\"tp\"}];\n"
                  "NAME may be a range (arg2-5), a name that `heddle plan` lists\n"
                  "(params['q']) or a type; * is anything, & joins two")
      ->allow_extra_args(false);
  command
      .add_option("--plan", request.plan, "JSON file with \"mesh\" and \"shard\": {NAME: SHARDING}")
      ->check(wrong_mesh_word);
  command.add_flag("--closed", request.closed,
                   "Arguments and results of which nothing is said stay whole");
}

std::string as_option(const std::string& reason) {
  constexpr std::array kOptions = {"carry", "closed",  "input", "output",
                                   "plan",  "restore", "save",  "shard"};
  const std::string word = reason.substr(0, reason.find_first_of(" :"));
  return std::ranges::find(kOptions, word) == kOptions.end() ? reason : "--" + reason;
}

Target target_of(const MeshRequest& request, const std::string& entry) {
  Target target;
  PlanFile plan;
  if (!request.plan.empty()) plan = of_option(read_plan_file(request.plan));
  target.options.entry = entry;
  target.mesh = !request.mesh.empty() ? request.mesh : plan.mesh;
  if (target.mesh.empty()) target.mesh = kOwnMesh;
  if (target.mesh == kNoMesh) target.mesh.clear();
  target.layouts.closed = request.closed;
  // The command line after the file, whose words count less.
  target.layouts.shards = std::move(plan.shards);
  for (const std::string& shard : request.shards)
    target.layouts.shards.push_back(of_option(shard_entry(shard)));
  return target;
}

CarryPlan carry_of(const Program& program, const Function& function,
                   const std::vector<std::string>& said, bool needed) {
  const bool evident = said.empty() || (said.size() == 1 && said[0] == "evident");
  if (!evident) return of_option(parse_carry(program, function, said));
  CarryPlan plan = evident_carry(program, function);
  if (plan.pairs.empty() && needed)
    throw Error(fmt::format(
        "which results are the next step's arguments is not evident: {}\n  say it with "
        "--carry, as in --carry {}",
        plan.because, plan.suggestion.empty() ? "arg0-85=result1-86" : plan.suggestion));
  return plan;
}

const SpmdFunction& function_on_mesh(const Spmd& spmd, const std::string& name) {
  const SpmdFunction* found = spmd.find(name);
  if (found == nullptr || found->mesh == kNone)
    throw Error(
        fmt::format("nothing says on which mesh @{} runs: name one, as in --mesh dp=2,tp=2", name));
  return *found;
}

}  // namespace heddle::cli
