// Programs, read from text.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "heddle/carry.h"
#include "heddle/schedule_text.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"
#include "heddle/value_names.h"
#include "pjrt/whole_calls.h"
#include "python/bindings.h"

namespace heddle::python {

namespace {

const Function& entry_function(const Program& program) {
  const Function* found = program.find_function(entry_of(program));
  if (found == nullptr) throw Error(program.file + ": there is no function to run");
  return *found;
}

using Described = std::vector<std::pair<std::string, std::string>>;  // name and type

Described arguments_of(const Program& program) {
  const Function& f = entry_function(program);
  Described all;
  const std::vector<Type> types = argument_types(program, f);
  for (std::size_t i = 0; i < types.size(); ++i)
    all.emplace_back(argument_name(f, i), types[i].str());
  return all;
}

Described results_of(const Program& program) {
  const Function& f = entry_function(program);
  Described all;
  const std::vector<Type> types = result_types(program, f);
  for (std::size_t i = 0; i < types.size(); ++i)
    all.emplace_back(result_name(f, i), types[i].str());
  return all;
}

// tf.aliasing_output: the result that takes a donated argument's place.
std::vector<std::pair<std::size_t, std::size_t>> aliases_of(const Program& program) {
  const Function& f = entry_function(program);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < f.arg_attrs.size(); ++i) {
    const Attr* found = find_attr(f.arg_attrs[i], "tf.aliasing_output");
    if (const auto* result = found == nullptr ? nullptr : found->get<Attr::Integer>())
      pairs.emplace_back(i, static_cast<std::size_t>(result->value));
  }
  return pairs;
}

}  // namespace

void add_programs(nb::module_& module) {
  nb::class_<Program>(module, "Program", "A program, read from StableHLO text.")
      .def_prop_ro("file", [](const Program& self) { return self.file; })
      .def_prop_ro("arguments", arguments_of, "Names and types of what its function takes.")
      .def_prop_ro("results", results_of, "Names and types of what its function gives.")
      .def_prop_ro("aliases", aliases_of,
                   "Donated arguments, each with the result that takes its place.")
      .def("text", [](const Program& self) { return print_stablehlo(self); }, "StableHLO text.");
  module.def(
      "schedule_text",
      [](const std::string& text) { return text_of(parse_schedule(text, "schedule").value()); },
      nb::arg("text"), "A schedule as it is printed; what is wrong with it is an Error.");
  module.def(
      "read_program",
      [](const std::string& text, const std::string& file, bool callbacks) {
        const nb::gil_scoped_release free;
        Program program = read_stablehlo(text, file, {.keep_callbacks = callbacks}).value();
        if (callbacks) program = pjrt::mark_whole_calls(program).value();
        return new Program(std::move(program));
      },
      nb::arg("text"), nb::arg("file") = "program", nb::arg("callbacks") = false,
      nb::rv_policy::take_ownership,
      "Reads StableHLO text; `file` is what messages call it. With `callbacks`, calls into Python "
      "stay.");
}

}  // namespace heddle::python
