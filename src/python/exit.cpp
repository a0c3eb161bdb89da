// When Python ends: compiling that Ctrl-C has ended may still be in the middle of a kernel.
#include "base/watched.h"
#include "python/bindings.h"
#include "python/foreign.h"
#include "python/signals.h"

namespace heddle::python {

namespace {

// Where Ctrl-C ends Python itself, the process ends by the signal, and nothing is destroyed under
// the hands of who still works.
bool ends_by_signal() {
  const nb::object error = nb::getattr(nb::module_::import_("sys"), "last_value", nb::none());
  return PyErr_GivenExceptionMatches(error.ptr(), PyExc_KeyboardInterrupt) != 0;
}

void wait_for_work() {
  if (ends_by_signal()) return;
  return_all_borrowed();
  Signals signals;
  {
    const nb::gil_scoped_release free;
    wait_for_left_work([&] { return signals.raised(); });
  }
  signals.throw_pending();
}

}  // namespace

void add_exit() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(wait_for_work));
}

}  // namespace heddle::python
