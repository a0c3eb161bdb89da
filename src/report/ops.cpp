// The op table.
#include "heddle/op.h"
#include "heddle/program_report.h"
#include "report/json.h"
#include "report/table.h"

namespace heddle {

using report::Json;

namespace {

std::string_view form_name(Form form) {
  switch (form) {
    case Form::generic:
      return "generic";
    case Form::operands:
      return "operands";
    case Form::words:
      return "words";
    case Form::call_like:
      return "call-like";
    default:
      return "own";
  }
}

// "2", "1+", "0-1"
std::string count_text(const Count& count) {
  if (count.most < 0) return fmt::format("{}+", count.least);
  if (count.most == count.least) return fmt::format("{}", count.least);
  return fmt::format("{}-{}", count.least, count.most);
}

// Whether the op has an index rule; one without is whole.
std::string_view index_text(const OpDef& op) { return op.index_rule != nullptr ? "yes" : "whole"; }

std::string yes_or_no(bool is) { return is ? "yes" : "no"; }

}  // namespace

std::string OpsReport::text(const Style& style) const {
  report::Table table({{},
                       {.least = 11},
                       {.right = true, .least = 3},
                       {.right = true},
                       {.right = true},
                       {.least = 9},
                       {},
                       {},
                       {}},
                      0);
  table.add({"op", "class", "in", "out", "regions", "form", "types", "run", "index"});
  std::size_t rules = 0, evaluations = 0, indexed = 0;
  for (const OpDef& op : op_table()) {
    rules += op.type_rule != nullptr ? 1 : 0;
    evaluations += op.evaluate != nullptr ? 1 : 0;
    indexed += op.index_rule != nullptr ? 1 : 0;
    table.add({std::string(op.name), std::string(name(op.cls)), count_text(op.operands),
               count_text(op.results), count_text(op.regions), std::string(form_name(op.form)),
               yes_or_no(op.type_rule != nullptr), yes_or_no(op.evaluate != nullptr),
               std::string(index_text(op))});
  }
  std::vector<std::string> lines = table.lines();
  lines[0] = style.dim(lines[0]);
  std::string text = style.bold(fmt::format(
                         "{} ops, {} with a type rule, {} that can be run, {} with an index rule",
                         op_table().size(), rules, evaluations, indexed)) +
                     "\n\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string OpsReport::json() const {
  Json report = Json::array();
  for (const OpDef& op : op_table())
    report.push_back({{"name", op.name},
                      {"class", name(op.cls)},
                      {"operands", count_text(op.operands)},
                      {"results", count_text(op.results)},
                      {"regions", count_text(op.regions)},
                      {"form", form_name(op.form)},
                      {"attributes", attribute_names(op)},
                      {"type_rule", op.type_rule != nullptr},
                      {"evaluation", op.evaluate != nullptr},
                      {"index", index_text(op)}});
  return report::json_text(report);
}

}  // namespace heddle
