// Heddle's errors as exceptions of heddle.errors.
#include <string>
#include <string_view>

#include "heddle/error.h"
#include "heddle/recorder.h"
#include "python/bindings.h"

namespace heddle::python {

namespace {

void raise(const char* kind, const std::string& message) {
  try {
    const nb::object type = nb::module_::import_("heddle.errors").attr(kind);
    PyErr_SetObject(type.ptr(), nb::str(message.c_str()).ptr());
  } catch (nb::python_error& trouble) {
    trouble.restore();
  }
}

void raise_error(const Error& error) {
  const std::string text = error.what();
  if (!is_about_memory(text)) return raise("Error", text);
  // NumPy's own words, where a call of it has failed.
  constexpr std::string_view kNumpys = "MemoryError: ";
  const std::size_t at = text.rfind(kNumpys);
  PyErr_SetString(PyExc_MemoryError,
                  text.substr(at == std::string::npos ? 0 : at + kNumpys.size()).c_str());
}

void translate(const std::exception_ptr& pending, void*) {
  try {
    std::rethrow_exception(pending);
  } catch (const Error& error) {
    raise_error(error);
  } catch (const InternalError& error) {
    raise("InternalError", error.what());
  }
}

}  // namespace

void set_python_error() {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Error& error) {
    raise_error(error);
  } catch (const InternalError& error) {
    raise("InternalError", error.what());
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(error.type() == nb::exception_type::index_error  ? PyExc_IndexError
                    : error.type() == nb::exception_type::type_error ? PyExc_TypeError
                                                                     : PyExc_ValueError,
                    error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void add_errors(nb::module_&) { nb::register_exception_translator(translate, nullptr); }

}  // namespace heddle::python
