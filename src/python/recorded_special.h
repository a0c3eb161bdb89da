// Functions and methods of heddle.numpy with a way of their own, which needs no step through
// Python.
#pragma once

#include "python/recorded.h"

namespace heddle::python {

enum class QuickKind : std::uint8_t {
  usual,
  where,
  product,  // of two, which may be one of NumPy's library
  reshape,
  view,   // whatever the size, where the memory is there
  grows,  // more elements than it is given
};
QuickKind quick_kind_of(const std::string& name);

// Without names: what needs no more than a look at the arguments. Null where there is none.
PyObject* special(QuickKind kind, PyObject* theirs, PyObject* const* args, Py_ssize_t count);

PyTypeObject* type_of_ours();
// Whether NumPy may have it as it is.
bool is_plain(PyObject* one);

}  // namespace heddle::python
