// The library's reports for Python: text, JSON, and pictures of layouts.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "heddle/explain_report.h"
#include "heddle/plan_report.h"
#include "python/bindings.h"
#include "python/function.h"
#include "python/target_words.h"

namespace heddle::python {

namespace {

using Pictures = std::vector<std::pair<std::string, std::string>>;  // title and SVG

// How the program is dealt out, before it is compiled.
std::tuple<std::string, std::string, Pictures> plan(const Program& program,
                                                    const TargetWords& words, bool explain) {
  const nb::gil_scoped_release free;
  PlanReport report = plan_report(program, target_from(program, words), {.explain = true}).value();
  report.explain = explain;
  Pictures pictures;
  for (PlannedFunction& function : report.functions) {
    for (const PlannedFunction::Drawn& drawn : function.drawn)
      pictures.emplace_back(drawn.names, report.svg(drawn));
    if (!explain) function.drawn.clear();  // in the text
  }
  return {report.text(), report.json(), std::move(pictures)};
}

std::pair<std::string, std::string> explained(const CompiledFunction& function) {
  const nb::gil_scoped_release free;
  const ExplainReport report = explain(function.executable());
  return {report.text(), report.json()};
}

// The same with the times of so many calls.
std::tuple<std::string, std::string, nb::list> profiled(CompiledFunction& function,
                                                        nb::handle leaves, int runs) {
  std::vector<StepTime> times = function.profile(leaves, runs, nullptr);
  nb::list rows;
  for (const StepTime& time : times) rows.append(nb::make_tuple(time.calls, time.seconds));
  const ExplainReport report = explain(function.executable(), std::move(times));
  return {report.text(), report.json(), std::move(rows)};
}

}  // namespace

void add_reports(nb::module_& module) {
  module.def("plan", plan, nb::arg("program"), nb::arg("target"), nb::arg("explain") = false,
             "Text, JSON and pictures of how a program is dealt out.");
  module.def("explain", explained, nb::arg("function"), "Text and JSON of what it does.");
  module.def("profile", profiled, nb::arg("function"), nb::arg("leaves"), nb::arg("runs"),
             nb::sig("def profile(function: CompiledFunction, leaves: typing.Sequence[typing.Any], "
                     "runs: int) -> tuple[str, str, list[tuple[int, float]]]"),
             "Text, JSON, and calls and seconds of every step.");
}

}  // namespace heddle::python
