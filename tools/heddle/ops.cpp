// heddle ops: the op table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "heddle/op.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

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

void write_report() {
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
  write_json(report);
}

void write_text(const Style& style) {
  std::size_t width = 0, rules = 0, evaluations = 0, indexed = 0;
  for (const OpDef& op : op_table()) {
    width = std::max(width, op.name.size());
    rules += op.type_rule != nullptr ? 1 : 0;
    evaluations += op.evaluate != nullptr ? 1 : 0;
    indexed += op.index_rule != nullptr ? 1 : 0;
  }
  std::string text = style.bold(fmt::format(
                         "{} ops, {} with a type rule, {} that can be run, {} with an index rule",
                         op_table().size(), rules, evaluations, indexed)) +
                     "\n\n";
  text +=
      style.dim(fmt::format("{:<{}}  {:<11}  {:>3}  {:>3}  {:>7}  {:<9}  {:<5}  {:<3}  index", "op",
                            width, "class", "in", "out", "regions", "form", "types", "run")) +
      "\n";
  for (const OpDef& op : op_table())
    text += fmt::format("{:<{}}  {:<11}  {:>3}  {:>3}  {:>7}  {:<9}  {:<5}  {:<3}  {}\n", op.name,
                        width, name(op.cls), count_text(op.operands), count_text(op.results),
                        count_text(op.regions), form_name(op.form),
                        op.type_rule != nullptr ? "yes" : "no",
                        op.evaluate != nullptr ? "yes" : "no", index_text(op));
  write_stdout(text);
}

}  // namespace

void add_ops(CLI::App& app) {
  const auto report = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("ops", "List the ops that programs may use");
  add_report_options(*command, *report);
  command->callback([report] {
    if (report->json)
      write_report();
    else
      write_text(Style::of_stdout(report->plain));
  });
}

}  // namespace heddle::cli
