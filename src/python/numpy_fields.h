// The fields of a NumPy array, as its C interface has them, in 1.x and 2.x alike.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "heddle/dtype.h"

namespace heddle::python {

struct NumpyFields {
  PyObject head;
  char* data;
  int rank;
  Py_ssize_t* sizes;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;
};
inline const NumpyFields& fields_of(PyObject* array) {
  return *reinterpret_cast<NumpyFields*>(array);
}

// A new array of that shape, whose elements are not set; null with Python's error.
PyObject* new_numpy(DType dtype, const NumpyFields& shape);
// Sets how it gets memory on this thread, and gives what was there before; null with Python's
// error.
PyObject* set_numpy_memory(PyObject* policy);
// A number of NumPy's, of one element at `data`.
PyObject* numpy_number(void* data, PyObject* dtype);

}  // namespace heddle::python
