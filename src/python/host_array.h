// Arrays of NumPy, JAX and torch as Heddle's, and back, without copies where memory allows it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "heddle/array.h"

namespace heddle::python {

namespace nb = nanobind;

// The element type of NumPy's (or ml_dtypes') that stands for one of Heddle's, and back.
nb::object numpy_dtype(DType dtype);
DType dtype_of(nb::handle numpy_dtype);
// The same; none where there is none.
std::optional<DType> find_dtype(nb::handle numpy_dtype);

// What `value` holds, as an array of this type: NumPy arrays and whatever speaks DLPack or NumPy's
// protocols, and numbers. The memory is the caller's where it lies dense and in the right type.
Array to_array(nb::handle value, const Type& type);
// The same in the type that it has.
Array to_array(nb::handle value);

// A read-only NumPy array over the same memory.
nb::object to_numpy(const Array& array);

nb::tuple shape_tuple(const Shape& shape);

void add_host_arrays(nb::module_& module);

}  // namespace heddle::python
