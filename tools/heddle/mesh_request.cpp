#include "mesh_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "heddle/fix.h"
#include "heddle/pipeline_search.h"
#include "heddle/plan_file.h"
#include "heddle/transport.h"
#include "heddle/tune_schedule.h"
#include "option_values.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

constexpr const char* kNoMesh = "none";
constexpr std::int64_t kMostParts = 1 << 20;

std::string says_nothing(const std::string& text) {
  return text.empty() ? "it is empty: leave it out, or say which" : "";
}

std::string wrong_count(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 7 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  if (text == kAutomaticPlan || (digits && std::stoll(text) >= 1 && std::stoll(text) <= kMostParts))
    return "";
  return fmt::format("it is auto, or a number from 1 to {}, not {}", kMostParts, text);
}

// What is said, else what a file says; 0: a search says it.
std::int64_t count_of(const std::string& text, std::int64_t otherwise) {
  if (text.empty()) return std::max<std::int64_t>(1, otherwise);
  return text == kAutomaticPlan ? 0 : std::stoll(text);
}

// "arg0:0"
std::optional<BatchDim> batch_dim(const std::string& text) {
  if (text.empty()) return {};
  BatchDim batch;
  int read = 0;
  const bool whole =
      std::sscanf(text.c_str(), "arg%zu:%zu%n", &batch.argument, &batch.dim, &read) == 2 &&
      static_cast<std::size_t>(read) == text.size();
  if (!whole)
    throw WrongUse{"--batch-dim", "it is an argument and a dimension of it, as in arg0:0"};
  return batch;
}

// Beside an axis of stages their number may stand where it is the same; what is between them is
// searched for, as it is without the axis.
void want_stages_of_axis(const MeshRequest& request, Target& target) {
  if (request.stages.empty() || target.pipeline.empty()) return;
  AxisRegistry scratch = AxisRegistry::standard();
  if (const auto mesh = Mesh::parse(target.mesh, scratch))
    for (const MeshAxis& axis : mesh->axes()) {
      if (axis.name != target.pipeline) continue;
      if (target.stages != 0 && target.stages != axis.size)
        throw WrongUse{"--stages",
                       fmt::format("axis {} of the pipeline has {} devices, so that there are {} "
                                   "stages: write {}, or leave it out",
                                   axis.name, axis.size, axis.size, axis.size)};
    }
  target.stages = 1;  // the mesh says it
  if (!target.cut && target.layouts.search == 0) target.layouts.search = 2;
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
  command.option("--fix", request.fixes,
                 "As --shard, for plans that are searched for: nothing may overrule it;\n"
                 "also batch=dp, the axes that batches lie over, and memory=70GB, what\n"
                 "a plan may take of each device");
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
  command
      .option("--micro-batches", request.micro_batches,
              "Cuts the batch into so many parts, one after the other, and sums up;\n"
              "auto: as many as a search finds best")
      .check(wrong_count);
  command
      .option("--stages", request.stages,
              "Of a pipeline, as many as a search is to find on --cluster or along an\n"
              "axis of --mesh; auto: it says how many, and whether any")
      .check(wrong_count);
  command.option("--batch-dim", request.batch,
                 "Which dimension is the batch, as arg0:0; it is found where it is not\n"
                 "said");
  command.option("--pipeline", request.pipeline,
                 "The axis of --mesh along which stages lie that micro-batches pass\n"
                 "through, each with a part of the program: --pipeline pp");
  command
      .option("--interleave", request.chunks,
              "Parts of the program that each stage of --pipeline has")
      .from_to(1, kMostParts);
  command
      .option("--schedule", request.schedule,
              "File with steps for computation and communication, as in\n"
              "`rs, ag = split all_reduce.0` (docs/schedules.md); auto: schedules are\n"
              "made, timed on devices of this machine, and the fastest is taken")
      .check(says_nothing);
}

// What is said here counts more than what a plan has said.
void set_micro_batches(const MeshRequest& request, Target& target) {
  target.micro_batches = count_of(request.micro_batches, target.micro_batches);
  target.stages = static_cast<int>(count_of(request.stages, 1));
  target.batch = batch_dim(request.batch);
  if (!request.pipeline.empty()) target.pipeline = request.pipeline;
  // Stages without micro-batches would wait for each other.
  if (target.stages != 1 && request.micro_batches.empty()) target.micro_batches = 0;
  want_stages_of_axis(request, target);
  // A search says by itself whether it pays to interleave.
  if (searches_pipeline(target)) target.chunks = 0;
  if (request.chunks > 0) target.chunks = request.chunks;
  // What would be without effect is a mistake.
  const bool has_stages = !target.pipeline.empty() || searches_pipeline(target);
  if (request.chunks > 0 && !has_stages)
    throw WrongUse{"--interleave", "there are no stages: name their axis with --pipeline"};
  if (target.batch && !has_stages && target.micro_batches == 1)
    throw WrongUse{"--batch-dim", "the batch stays whole: add --micro-batches"};
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
  // The command line after the file, whose words count less.
  of_option(take_plan(target, plan));
  for (const std::string& shard : request.shards)
    target.layouts.shards.push_back(of_option(shard_entry(shard)));
  set_micro_batches(request, target);
  if (!request.schedule.empty() && request.schedule != kAutomaticSchedule)
    target.schedule = of_option(read_schedule(request.schedule));
  Fixes fixes = of_option(parse_fixes(request.fixes));
  for (ShardEntry& entry : fixes.shards) target.layouts.shards.push_back(std::move(entry));
  target.layouts.batch = std::move(fixes.batch);
  if (fixes.memory) target.layouts.device_memory = *fixes.memory;
  if (fixes.memory && target.layouts.search == 0 && !searches_pipeline(target))
    throw WrongUse{"--fix", "memory is for plans that are searched for: add --plan auto"};
  return target;
}

bool tune_for(const Program& program, const MeshRequest& request, Target& target,
              const std::function<void(const std::string&)>& say, Transport* ranks) {
  if (request.schedule != kAutomaticSchedule) return false;
  const bool speaks = ranks == nullptr || ranks->rank() == 0;
  const bool shows = speaks && ::isatty(STDERR_FILENO) == 1;
  TuneOptions options{.ranks = ranks};
  if (shows)
    options.on_progress = [](const std::string& line) {
      write_stderr(fmt::format("\r\x1b[K{}", line));
    };
  const TunedSchedule tuned = of_option(tune_schedule(program, target, options));
  if (shows) write_stderr("\r\x1b[K");
  target.schedule = tuned.schedule;
  if (speaks) say(tuned.text());
  return true;
}

}  // namespace heddle::cli
