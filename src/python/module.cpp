// heddle._core: Heddle's library for Python. What users see is made of it in python/heddle.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "heddle/version.h"
#include "python/bindings.h"

NB_MODULE(_core, module) {
  using namespace heddle::python;
  module.def("version", [] { return heddle::version(); }, "Heddle's version, as in \"0.1.0\".");
  module.def(
      "version_line", [] { return heddle::version_line(); },
      "Heddle's version, and what it was built with.");
  add_errors(module);
  add_arrays(module);
  add_programs(module);
  add_functions(module);
  add_dispatch(module);
  add_checkpoints(module);
  add_reports(module);
  add_plugin_signals();
  add_exit();
}
