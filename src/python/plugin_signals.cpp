// Signals while JAX compiles with the plugin, which knows nothing of Python itself.
#include "pjrt/python.h"
#include "python/bindings.h"
#include "python/signals.h"

namespace heddle::python {

namespace {

// Python calls it between two instructions.
int raise_kept(void* kept) {
  const nb::object error = nb::steal(static_cast<PyObject*>(kept));
  PyErr_SetObject(error.type().ptr(), error.ptr());
  return -1;
}

// What a handler has raised cannot pass through jaxlib, which makes an error of its own.
void raise_later() {
  nb::python_error error;
  nb::object value = nb::borrow(error.value());
  if (Py_AddPendingCall(raise_kept, value.ptr()) == 0) (void)value.release();
}

bool signal_raised() {
  if (!handles_signals()) return false;
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) return false;
  raise_later();
  return true;
}

}  // namespace

void add_plugin_signals() { pjrt::set_signals(signal_raised, PyErr_SetInterrupt); }

}  // namespace heddle::python
