// heddle._core: Heddle's library for Python. What users see is made of it in python/heddle.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <filesystem>

#include "device/cuda/libraries.h"
#include "heddle/version.h"
#include "python/bindings.h"

namespace {

namespace nb = nanobind;

// Where NVIDIA's packages may be: those of the environment that Python runs in.
void tell_package_folders() {
  std::vector<std::filesystem::path> folders;
  for (nb::handle folder : nb::module_::import_("sys").attr("path"))
    if (nb::isinstance<nb::str>(folder) && nb::len(folder) > 0)
      folders.emplace_back(nb::cast<std::string>(folder));
  heddle::cuda::set_package_folders(std::move(folders));
}

}  // namespace

NB_MODULE(_core, module) {
  using namespace heddle::python;
#ifdef NDEBUG
  nb::set_leak_warnings(false);  // of what a program still holds at its end
#endif
  tell_package_folders();
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
  add_recorded(module);
  add_plugin_signals();
  add_exit();
}
