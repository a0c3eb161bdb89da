// heddle._core: Heddle's library for Python. What users see is made of it in python/heddle.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "heddle/version.h"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  module.def("version", [] { return heddle::version(); }, "Heddle's version.");
}
