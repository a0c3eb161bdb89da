#include "mesh_request.h"

#include <fmt/format.h>

#include "heddle/plan_file.h"
#include "option_values.h"

namespace heddle::cli {
namespace {

constexpr const char* kNoMesh = "none";

std::string says_nothing(const std::string& text) {
  return text.empty() ? "it is empty: leave it out, or say which" : "";
}

}  // namespace

void add_mesh_options(Command& command, MeshRequest& request) {
  command
      .option("--mesh", request.mesh,
              "Devices to run on, as dp=2,tp=4, or @NAME for a mesh of the program;\n"
              "otherwise the one that its shardings name; none: one device")
      .check(says_nothing);
  command.option("--shard", request.shards,
                 "NAME=SHARDING of arguments, results: arg0=dp,_ or arg1=[{}, {\"tp\"}];\n"
                 "NAME may be a range (arg2-5), a name that `heddle plan` lists\n"
                 "(params['q']), a group of them (params) or a type; * is anything,\n"
                 "& joins two");
  command
      .option("--plan", request.plan,
              "JSON file with \"mesh\" and \"shard\": {NAME: SHARDING}; auto: the best\n"
              "plan is searched for, around what --shard says")
      .check(says_nothing);
  command
      .option("--cluster", request.cluster,
              "Whose figures a plan is made with: a JSON file, or one of those that\n"
              "come along, as h100-64; without --mesh all of its devices, on the\n"
              "best mesh")
      .check(says_nothing);
  command.flag("--closed", request.closed,
               "Arguments and results of which nothing is said stay whole");
}

Target target_of(const MeshRequest& request, const std::string& entry) {
  Target target;
  PlanFile plan;
  if (!request.cluster.empty()) target.cluster = of_option(find_cluster(request.cluster));
  // A cluster alone says nothing of where values lie.
  if (target.cluster && request.plan.empty()) plan.search = 2;
  if (!request.plan.empty()) plan = of_option(read_plan_file(request.plan));
  target.options.entry = entry;
  const std::string& said = request.mesh.empty() ? plan.mesh : request.mesh;
  target.mesh = said.empty() ? std::string(kOwnMesh) : said == kNoMesh ? std::string() : said;
  target.layouts.closed = request.closed;
  target.layouts.search = plan.search;
  // The command line after the file, whose words count less.
  target.layouts.shards = std::move(plan.shards);
  for (const std::string& shard : request.shards)
    target.layouts.shards.push_back(of_option(shard_entry(shard)));
  return target;
}

}  // namespace heddle::cli
