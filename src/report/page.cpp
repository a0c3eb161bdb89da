// The page of a plan: a frame, a style and a script (src/report/page), and what they show as JSON.
#include <fmt/ranges.h>

#include <algorithm>

#include "heddle/op.h"
#include "heddle/schedule.h"
#include "report/alike_moves.h"
#include "report/layout_words.h"
#include "report/page_data.h"
#include "report/page_files.h"
#include "report/pipeline.h"
#include "report/words.h"

namespace heddle {
namespace {

using report::Json;

// Text of the program is data: nothing in it may end the script that it stands in.
std::string safe_json(const Json& json) {
  std::string out;
  for (const char c : print_json(json, -1, true)) {
    if (c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

// Each place of the frame once, in order: what is put in is not looked at again.
class Frame {
 public:
  explicit Frame(std::string_view frame) : left_(frame) {}
  void put(std::string_view place, std::string_view by) {
    const std::size_t at = left_.find(place);
    HEDDLE_CHECK(at != left_.npos, "the page has no place {}", place);
    page_.append(left_.substr(0, at)).append(by);
    left_.remove_prefix(at + place.size());
  }
  std::string page() { return std::move(page_.append(left_)); }

 private:
  std::string_view left_;
  std::string page_;
};

Json answer_json(const PlannedFunction& f, std::optional<std::int64_t> memory) {
  Json answer = {{"arguments", f.argument_bytes}, {"results", f.result_bytes}, {"words", {}}};
  answer["words"] = Json::array();
  for (const PlannedFunction::AxisWords& axis : f.layout)
    answer["words"].push_back({axis.axis, axis.text});
  if (f.search) {
    answer["step"] = f.search->cost;
    answer["bound"] = f.search->bound;
    answer["gap"] = f.search->gap;
    answer["searched"] = f.search->seconds;
    if (f.search->details) {
      answer["compute"] = f.search->details->compute_seconds;
      answer["moves"] = f.search->details->move_seconds;
    }
  } else if (f.compute_seconds && f.bring_seconds) {
    answer["step"] = *f.compute_seconds + *f.bring_seconds;
    answer["compute"] = *f.compute_seconds;
    answer["moves"] = *f.bring_seconds;
  }
  if (f.memory) answer["compiled"] = f.memory->needed();
  if (memory) answer["limit"] = *memory;
  return answer;
}

// Of a step of all stages; what is computed and moved meanwhile is shown stage by stage.
void add_pipeline(const PipelineReport& pipeline, Json& answer) {
  answer["step"] = pipeline.cost;
  answer["bubble"] = pipeline.bubble;
  answer.erase("compute");
  answer.erase("moves");
  std::int64_t peak = 0;
  for (const PipelineReport::Stage& stage : pipeline.per_stage)
    peak = std::max(peak, stage.peak_bytes);
  answer["compiled"] = peak;
}

Json values_json(const std::vector<PlannedFunction::Value>& values, const report::Choices* choices,
                 report::Texts& texts) {
  Json list = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const PlannedFunction::Value& v = values[i];
    list.push_back({texts(v.name), texts(v.type), texts(v.sharding), texts(v.part),
                    choices == nullptr ? -1 : choices->of_argument(i),
                    texts(v.stages.empty() ? "" : fmt::format("{}", fmt::join(v.stages, ", ")))});
  }
  return list;
}

Json moves_json(const std::vector<PlannedFunction::Moved>& moved, report::Texts& texts) {
  Json list = Json::array();
  for (const report::AlikeMoves& one : report::alike_moves(moved))
    list.push_back({{"kind", texts(one.first->kind)},
                    {"over", texts(one.first->over)},
                    {"count", one.count},
                    {"bytes", one.first->bytes},
                    {"seconds", one.seconds},
                    {"for", texts(one.first->needed_by)},
                    {"value", texts(one.first->value)},
                    {"loops", one.first->loops},
                    {"stage", one.first->stage}});
  return list;
}

// At most so many points, each the largest of its stretch.
Json points_of(const std::vector<std::int64_t>& bytes) {
  constexpr std::size_t kMost = 600;
  const std::size_t each = bytes.size() / kMost + 1;
  Json points = Json::array();
  for (std::size_t i = 0; i < bytes.size(); i += each) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(std::min(i + each, bytes.size()));
    const auto most = std::max_element(begin, end);
    points.push_back({most - bytes.begin(), *most});
  }
  return points;
}

std::string maker_of(const Program& program, const Value& value) {
  if (value.op == kNone) return "an argument";
  const Op& op = program.op(value.op);
  return fmt::format("{} at {}", op.def->short_name(), program.where(op.loc));
}

Json memory_json(const Spmd& spmd, const PlannedFunction& f, report::Texts& texts) {
  Json largest = Json::array();
  if (f.search && f.search->details) {
    const PlanDetails& details = *f.search->details;
    for (const PlanDetails::Held& held : details.at_fullest)
      largest.push_back({texts(held.what), held.bytes});
    return {{"points", points_of(details.held)},
            {"fullest", details.fullest},
            {"peak", details.held[static_cast<std::size_t>(details.fullest)]},
            {"largest", std::move(largest)},
            {"from", "the search's count: what kernels keep to themselves takes nothing"}};
  }
  const Function& local = *spmd.program.find_function(f.name);
  const HeldOverTime held = held_over_time(spmd.program, local);
  constexpr std::size_t kMostNamed = 12;
  for (std::size_t i = 0; i < held.there.size() && i < kMostNamed; ++i) {
    const Value& value = spmd.program.value(held.there[i]);
    const Type& type = spmd.program.type_of(held.there[i]);
    if (!type.is_tensor()) continue;
    largest.push_back(
        {texts(fmt::format("{} of {}", type.str(), maker_of(spmd.program, value))), type.bytes()});
  }
  return {{"points", points_of(held.bytes)},
          {"fullest", held.fullest},
          {"peak", held.bytes.empty() ? 0 : held.bytes[held.fullest]},
          {"largest", std::move(largest)},
          {"from", "op by op, with nothing fused or computed in place"}};
}

// A page stays small enough to open.
constexpr std::size_t kMostSpans = 20'000;

Json function_json(const Spmd& spmd, const PlannedFunction& f, const PipelineReport* pipeline,
                   std::optional<std::int64_t> memory, report::Texts& texts) {
  Json json = {{"name", f.name}, {"mesh", f.mesh}, {"devices", f.devices}};
  const Decisions* decisions = report::decisions_of(spmd, f.name);
  const Function* logical = spmd.logical().find_function(f.name);
  if (f.mesh.empty() || decisions == nullptr || logical == nullptr) return json;
  const PlanDetails* details = f.search ? f.search->details.get() : nullptr;
  const report::Choices choices(*decisions, details);
  report::Pictures pictures(*decisions, texts);
  const std::vector<ValueId>& arguments = spmd.logical().region(logical->body).args;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    pictures.add(spmd.logical().type_of(arguments[i]), decisions->arguments[i]);
  for (std::size_t i = 0; i < logical->results.size(); ++i)
    pictures.add(spmd.logical().type(logical->results[i]), decisions->results[i]);
  json["answer"] = answer_json(f, memory);
  if (pipeline != nullptr) add_pipeline(*pipeline, json["answer"]);
  json["arguments"] = values_json(f.arguments, &choices, texts);
  json["results"] = values_json(f.results, nullptr, texts);
  json["moves"] = moves_json(f.moved, texts);
  json["collectives"] = f.collectives;
  json["program"] = report::ops_json(*decisions, *logical, choices, texts, pictures);
  json["choices"] = choices.json(texts);
  json["memory"] = memory_json(spmd, f, texts);
  json["pictures"] = pictures.json();
  if (f.timeline) json["timeline"] = report::timeline_json(*f.timeline, kMostSpans);
  if (pipeline != nullptr) json["pipeline"] = report::pipeline_json(*pipeline);
  json["conflicts"] = Json::array();
  for (const PlannedFunction::Disagreement& c : f.conflicts)
    json["conflicts"].push_back({texts(c.op), texts(c.what)});
  return json;
}

}  // namespace

std::string plan_page(const Spmd& spmd, const PlanReport& report, const std::string& title,
                      std::optional<std::int64_t> memory) {
  report::Texts texts;
  Json data = {{"title", title}, {"functions", Json::array()}};
  for (const PlannedFunction& f : report.functions)
    data["functions"].push_back(
        function_json(spmd, f, f.timeline ? &*report.pipeline : nullptr, memory, texts));
  if (!report.failure.empty()) data["failure"] = report.failure;
  data["texts"] = texts.json();
  Frame frame(report::page_frame());
  frame.put("@TITLE@", escaped(title));
  frame.put("@STYLE@", report::page_style());
  frame.put("@DATA@", safe_json(data));
  frame.put("@SCRIPT@", report::page_script());
  return frame.page();
}

}  // namespace heddle
