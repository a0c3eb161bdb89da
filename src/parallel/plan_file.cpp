#include "heddle/plan_file.h"

#include <fmt/format.h>

#include <set>

#include "base/json.h"
#include "base/text.h"
#include "frontend/array_file.h"

namespace heddle {
namespace {

constexpr const char* kForm =
    "a plan is a JSON object, {\"mesh\": \"dp=2,tp=4\", \"shard\": {\"arg0\": \"dp,_\"}, "
    "\"search\": 2}";

// What stands where something else was expected, on one short line.
std::string shown(const Json& json) { return shortened(print_json(json, -1, true), 60); }

Reason wrong_type(const std::string& file, const std::string& key, const Json& value,
                  const std::string& expected) {
  return reason("plan {}: \"{}\" is {}, and should be {}", file, key, shown(value), expected);
}

// JSON lets a key come twice, of which one would count in silence.
Expected<Json> parsed(const std::string& text, const std::string& file) {
  std::set<std::pair<int, std::string>> keys;
  std::string twice;
  const auto look = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key && depth <= 2 &&
        !keys.emplace(depth, value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  Json plan = parse_json(text, look);
  if (!plan.is_object())
    return reason("plan {}: {}; {}", file,
                  plan.is_discarded() ? "this is no correct JSON" : "this is no object", kForm);
  if (!twice.empty()) return reason("plan {}: \"{}\" is given twice", file, twice);
  return plan;
}

Expected<std::vector<ShardEntry>> shards_of(const Json& shards, const std::string& file) {
  constexpr const char* kSharding = "a sharding in quotes: \"dp,_\" or \"[{dp}, {}]\"";
  if (!shards.is_object())
    return wrong_type(file, "shard", shards, "an object, {\"arg0\": \"dp,_\"}");
  std::vector<ShardEntry> all;
  for (const auto& [name, where] : shards.items()) {
    if (!where.is_string()) return wrong_type(file, name, where, kSharding);
    const auto text = where.get<std::string>();
    all.push_back({name, text, fmt::format("plan {}: {}={}", file, name, text), true});
  }
  return all;
}

Expected<std::int64_t> count_of(const Json& value, const std::string& key,
                                const std::string& file) {
  constexpr std::int64_t kMost = 1 << 20;
  if (!value.is_number_integer() || value < 1 || value > kMost)
    return wrong_type(file, key, value, "a whole number of at least 1");
  return value.get<std::int64_t>();
}

}  // namespace

Expected<PlanFile> read_plan_file(const std::string& file) {
  if (file == kAutomaticPlan) {
    PlanFile plan;
    plan.search = 2;
    return plan;
  }
  const auto text = frontend::read_bytes(file);
  if (!text) return reason("plan: {}", text.reason());
  HEDDLE_TRY(const Json json, parsed(*text, file));
  PlanFile plan;
  for (const auto& [key, value] : json.items()) {
    if (key == "mesh") {
      if (!value.is_string() || value.get<std::string>().empty())
        return wrong_type(file, key, value, "axes in quotes, \"dp=2,tp=4\", or \"@NAME\"");
      plan.mesh = value.get<std::string>();
    } else if (key == "shard") {
      HEDDLE_TRY(plan.shards, shards_of(value, file));
    } else if (key == "search") {
      if (!value.is_number_integer() || (value != 0 && value != 2 && value != 3))
        return wrong_type(file, key, value, "a level: 2 or 3, or 0 for none");
      plan.search = value.get<int>();
    } else if (key == "pipeline" || key == "cut") {
      if (!value.is_string() || value.get<std::string>().empty())
        return wrong_type(file, key, value,
                          key == "cut" ? "positions of ops in quotes, \"0x12 1x30\""
                                       : "an axis of the mesh in quotes, \"pp\"");
      (key == "cut" ? plan.cut : plan.pipeline) = value.get<std::string>();
    } else if (key == "stages" || key == "micro_batches" || key == "interleave") {
      HEDDLE_TRY(const std::int64_t count, count_of(value, key, file));
      if (key == "micro_batches")
        plan.micro_batches = count;
      else
        (key == "stages" ? plan.stages : plan.interleave) = static_cast<int>(count);
    } else if (key == "memory") {
      if (!value.is_number_integer() || value.get<std::int64_t>() <= 0)
        return wrong_type(file, key, value, "bytes of one device, a whole number above 0");
      plan.memory = value.get<std::int64_t>();
    } else if (key == "recompute") {
      constexpr int kMost = 1'000'000;
      if (!value.is_number_integer() || value < 0 || value > kMost)
        return wrong_type(file, key, value,
                          "an effort: 0 for nothing, 2 to 1024 for little to all of it");
      plan.recompute = value.get<int>();
    } else {
      return reason("plan {}: \"{}\" is no key of a plan; {}", file, key, kForm);
    }
  }
  const bool of_stages = plan.stages > 1 || plan.interleave > 1 || !plan.cut.empty();
  if (of_stages && plan.pipeline.empty())
    return reason(
        "plan {}: \"stages\", \"interleave\" and \"cut\" are of a pipeline: say with \"pipeline\" "
        "along which axis of the mesh it lies",
        file);
  return plan;
}

std::string plan_file_text(const PlanFile& plan) {
  Json json = Json::object();
  if (!plan.mesh.empty()) json["mesh"] = plan.mesh;
  json["shard"] = Json::object();
  for (const ShardEntry& entry : plan.shards) json["shard"][entry.name] = entry.sharding;
  if (plan.search > 0) json["search"] = plan.search;
  if (plan.stages > 0) json["stages"] = plan.stages;
  if (plan.micro_batches > 0) json["micro_batches"] = plan.micro_batches;
  if (plan.interleave > 0) json["interleave"] = plan.interleave;
  if (!plan.pipeline.empty()) json["pipeline"] = plan.pipeline;
  if (!plan.cut.empty()) json["cut"] = plan.cut;
  if (plan.memory) json["memory"] = *plan.memory;
  if (plan.recompute) json["recompute"] = *plan.recompute;
  return print_json(json, 2) + "\n";
}

}  // namespace heddle
