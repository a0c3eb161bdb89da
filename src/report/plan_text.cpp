#include <fmt/ranges.h>

#include <map>

#include "base/text.h"
#include "heddle/plan_report.h"
#include "layout/picture.h"
#include "report/alike_moves.h"
#include "report/alike_values.h"
#include "report/table.h"
#include "report/words.h"

namespace heddle {
namespace {

std::string stages_text(const PlannedFunction::Value& v) {
  if (v.stages.empty()) return "";
  std::string text = fmt::format("stage {}", fmt::join(v.stages, ", "));
  if (!v.rows.empty()) text += fmt::format("; {} rows", fmt::join(v.rows, ", "));
  return text;
}

using report::exact_bytes;
using report::exact_seconds;
using report::Table;

std::string microseconds(double seconds) { return fmt::format("{:.3g} us", seconds * 1e6); }

// A few values have a line each; of many, those that lie alike are one.
std::string boundary_text(const PlannedFunction& plan, bool all) {
  constexpr std::size_t kMostApart = 16, kMostShown = 40, kMostName = 32;
  Table table({{.least = 9, .gap = 1}, {.right = true}, {}, {}, {}, {}, {}}, 2);
  const auto add = [&](const char* word, const std::vector<PlannedFunction::Value>& values) {
    const auto add_row = [&](std::size_t i, std::size_t alike, const std::string& name) {
      const PlannedFunction::Value& v = values[i];
      table.add({fmt::format("{}{}", word, i), alike > 1 ? fmt::format("x{}", alike) : "",
                 report::end_of(name, kMostName), v.type, v.sharding,
                 v.part.empty() ? "" : v.part + " each", stages_text(v)});
    };
    if (all || values.size() <= kMostApart) {
      for (std::size_t i = 0; i < values.size(); ++i) add_row(i, 1, values[i].name);
      return;
    }
    const std::vector<report::AlikeValues> alike = report::alike_values(values);
    for (std::size_t i = 0; i < alike.size(); ++i) {
      if (i == kMostShown) {
        std::size_t left = 0;
        for (std::size_t j = i; j < alike.size(); ++j) left += alike[j].numbers.size();
        return table.add_line(fmt::format("... and {} more (--explain shows all)", left));
      }
      add_row(alike[i].numbers[0], alike[i].numbers.size(), alike[i].name);
    }
  };
  add("arg", plan.arguments);
  add("result", plan.results);
  return table.text();
}

std::string pictures_text(const PlannedFunction& plan, const AxisRegistry& axes,
                          const Style& style) {
  constexpr std::size_t kMostPictures = 8, kMostNames = 72;
  constexpr std::int64_t kRows = 8;
  std::string text;
  for (std::size_t i = 0; i < plan.drawn.size(); ++i) {
    const PlannedFunction::Drawn& drawn = plan.drawn[i];
    if (i == kMostPictures) {
      text += fmt::format("\n{} other layouts are not drawn; heddle layout show draws any\n",
                          plan.drawn.size() - i);
      break;
    }
    const auto picture = draw(drawn.layout, axes, {{}, kRows, style.columns()});
    if (!picture) continue;
    std::string names = drawn.names;
    if (names.size() > kMostNames) names = names.substr(0, names.rfind(',', kMostNames)) + ", ...";
    text += fmt::format("\n{}  {}\n", style.bold(names), drawn.type);
    text += picture_text(*picture, {style.colour(), style.unicode(), style.columns()});
  }
  return text.empty() ? text : text + "\n";
}

// "stage 1: " of a pipeline's.
std::string stage_words(const PlannedFunction& plan, const PlannedFunction::Moved& moved) {
  if (!plan.timeline) return "";
  return moved.stage < 0 ? "at the end: " : fmt::format("stage {}: ", moved.stage);
}

// How much of which kind there is.
std::string totals_text(const PlannedFunction& plan) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_kind;  // count and bytes
  std::int64_t all_bytes = 0;
  double seconds = 0;
  std::int64_t all = 0;
  for (const PlannedFunction::Moved& m : plan.moved) {
    auto& [count, bytes] =
        by_kind[stage_words(plan, m) + fmt::format("{} over {}", m.kind, m.over)];
    count += m.times;
    all += m.times;
    bytes += m.times * m.bytes;
    all_bytes += m.times * m.bytes;
    seconds += static_cast<double>(m.times) * m.seconds;
  }
  const std::string count = counted(static_cast<std::size_t>(all), "communication");
  std::string text =
      plan.timeline ? fmt::format(
                          "{} in a step inside of stages, {} received by one device of "
                          "each together, {} predicted\n",
                          count, exact_bytes(all_bytes), exact_seconds(seconds))
                    : fmt::format("{} in {}, {} received per device, {} predicted\n", count,
                                  counted(static_cast<std::size_t>(plan.collectives), "collective"),
                                  exact_bytes(all_bytes), exact_seconds(seconds));
  for (const auto& [kind, sum] : by_kind)
    text += fmt::format("  {:<30} {:>6}  {}\n", kind, sum.first, exact_bytes(sum.second));
  return text;
}

// What the axes do, and the dearest communications.
std::string answer_text(const PlannedFunction& plan) {
  constexpr std::size_t kMostShown = 5, kPlaces = 48;
  std::string text;
  for (const PlannedFunction::AxisWords& axis : plan.layout)
    text += fmt::format("{:<9} {}: {}\n", text.empty() ? "layout" : "", axis.axis, axis.text);
  Table table({{.least = 9, .gap = 1}, {}, {.right = true}, {.right = true}, {.right = true}, {}},
              0);
  const std::vector<report::AlikeMoves> moves = report::alike_moves(plan.moved);
  for (std::size_t i = 0; i < moves.size() && i < kMostShown; ++i) {
    const report::AlikeMoves& one = moves[i];
    table.add({i == 0 ? "costs" : "",
               stage_words(plan, *one.first) +
                   fmt::format("{} over {}", one.first->kind, one.first->over),
               fmt::format("{} x", one.count), exact_bytes(one.first->bytes),
               exact_seconds(one.seconds),
               "for " + report::end_of(report::without_folders(one.first->needed_by), kPlaces)});
  }
  return text + table.text();
}

std::string search_text(const PlannedFunction::Search& search) {
  std::string text = fmt::format(
      "found in {}: {} per run as predicted, {}; {} of a device at most by its count; {} ops, {} "
      "choices\n",
      exact_seconds(search.seconds), exact_seconds(search.cost),
      report::bound_words("no plan", search.bound, search.gap, "with no bound yet"),
      exact_bytes(search.peak_bytes), search.ops, search.choices);
  if (search.too_much > 0)
    text += fmt::format(
        "no plan was found that keeps to the {} that a device has but for a tenth: it needs more "
        "devices; --memory says what would do\n",
        exact_bytes(search.too_much));
  if (search.moves > 0)
    text += fmt::format("moves take {}, of which {} have no work beside them\n",
                        exact_seconds(search.moves), exact_seconds(search.exposed));
  if (search.again > 0)
    text += fmt::format(
        "{} ops are computed again instead of keeping {} of a device, which takes {} (effort {})\n",
        search.again, exact_bytes(search.again_bytes), exact_seconds(search.again_seconds),
        search.effort);
  return text;
}

std::string choice_text(const PlannedFunction::Chosen& choice) {
  std::string text =
      fmt::format("{}{}: {}\n    split {}: {}\n", choice.op,
                  choice.alike > 1 ? fmt::format(" and {} alike", choice.alike - 1) : "",
                  choice.how, choice.chosen.what, microseconds(choice.chosen.seconds));
  for (const PlannedFunction::Rejected& other : choice.rejected)
    text += fmt::format("    rather than {}: {}\n", other.what, microseconds(other.seconds));
  return text;
}

// Every move, every choice and every conflict.
std::string reasons_text(const PlannedFunction& plan) {
  std::string text;
  for (const PlannedFunction::Moved& m : plan.moved)
    text += fmt::format("{}{} over {}: {}, {}, for {}\n    {}\n",
                        std::string(static_cast<std::size_t>(2 * m.loops), ' '), m.kind, m.over,
                        exact_bytes(m.bytes), exact_seconds(m.seconds), m.needed_by, m.value);
  for (const PlannedFunction::Chosen& choice : plan.choices) text += choice_text(choice);
  for (const PlannedFunction::Disagreement& c : plan.conflicts)
    text += fmt::format("conflict at {}: {}\n", c.op, c.what);
  return text;
}

}  // namespace

std::string PlanReport::text(const Style& style) const {
  std::string text;
  for (const PlannedFunction& f : functions) {
    if (f.mesh.empty()) {
      text += fmt::format(
          "@{} on one device: nothing says where its values lie; --mesh dp=2 names devices\n",
          f.name);
      continue;
    }
    text += fmt::format("@{} on {} devices ({})\n", f.name, f.devices, f.mesh);
    if (pipeline) text += pipeline->text();
    if (f.search && !f.timeline) text += search_text(*f.search);
    if (f.search) text += answer_text(f);
    text += boundary_text(f, explain) + pictures_text(f, axes, style) + totals_text(f);
    text += fmt::format("arguments {} and results {} {}; values {} at most, {}\n",
                        exact_bytes(f.argument_bytes), exact_bytes(f.result_bytes),
                        f.timeline ? "of one device of each stage together" : "per device",
                        exact_bytes(f.peak_bytes),
                        f.timeline ? "on the fullest stage, arguments included" : "op by op");
    if (f.memory)
      text += fmt::format("needs {} on each device: {}\n", exact_bytes(f.memory->needed()),
                          f.memory->text());
    if (explain)
      text += reasons_text(f);
    else if (!f.conflicts.empty())
      text += counted(f.conflicts.size(), "conflict") + " between layouts; --explain shows them\n";
  }
  for (const StepTaken& taken : schedule) {
    text += (&taken == schedule.data() ? "schedule  " : "          ") + taken.step + "\n";
    for (const std::string& line : taken.said) text += "            " + line + "\n";
  }
  return text;
}

std::string PlanReport::svg(const PlannedFunction::Drawn& drawn) const {
  const Picture picture = draw(drawn.layout, axes).value();
  return picture_svg(picture, drawn.names + "  " + drawn.type,
                     describe_layout(drawn.layout, axes, picture));
}

}  // namespace heddle
