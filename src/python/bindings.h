// The parts of heddle._core, each added by one function.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace heddle::python {

namespace nb = nanobind;

void add_errors(nb::module_& module);
void add_arrays(nb::module_& module);
void add_programs(nb::module_& module);
void add_functions(nb::module_& module);
void add_dispatch(nb::module_& module);
void add_checkpoints(nb::module_& module);
void add_reports(nb::module_& module);
void add_recorded(nb::module_& module);
// Not seen from Python.
void add_plugin_signals();
void add_exit();

// Inside of a catch, where Python calls directly: what was caught becomes Python's exception.
void set_python_error();

}  // namespace heddle::python
