// a[…] and a[…] = …: basic indices are views, others are for Python or NumPy.
#include <atomic>

#include "heddle/array_ops.h"
#include "python/host_array.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

nb::object index_error(const std::string& text) { throw nb::index_error(text.c_str()); }

bool is_whole_number(PyObject* at) { return PyLong_Check(at) && !PyBool_Check(at); }

std::int64_t whole_number(nb::handle at) {
  const Py_ssize_t number = PyNumber_AsSsize_t(at.ptr(), PyExc_IndexError);
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    index_error(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
        "boolean arrays are valid indices");
  }
  return number;
}

// A number as Python takes it for an index; none for arrays and truth values.
std::optional<std::int64_t> number_at(nb::handle at) {
  if (is_whole_number(at.ptr())) return whole_number(at);
  if (PyBool_Check(at.ptr()) || as_recorded(at) != nullptr || PyIndex_Check(at.ptr()) == 0)
    return {};
  // An array of NumPy's says that it is an index, and so do its truth values.
  if (nb::hasattr(at, "ndim") && nb::cast<int>(at.attr("ndim")) > 0) return {};
  if (nb::hasattr(at, "dtype") && find_dtype(at.attr("dtype")) == DType::i1) return {};
  return whole_number(at);
}

enum class Kind : std::uint8_t { number, slice, ellipsis, new_dim };
struct Item {
  Kind kind;
  std::int64_t number = 0;
  nb::handle slice = {};
};

// None where an index is not a basic one.
std::optional<std::vector<Item>> items_of(nb::handle at) {
  std::vector<Item> items;
  const bool many = PyTuple_Check(at.ptr());
  const Py_ssize_t count = many ? PyTuple_Size(at.ptr()) : 1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::handle one = many ? nb::handle(PyTuple_GetItem(at.ptr(), i)) : at;
    if (PySlice_Check(one.ptr())) {
      items.push_back({Kind::slice, 0, one});
    } else if (one.is_none()) {
      items.push_back({Kind::new_dim});
    } else if (one.ptr() == Py_Ellipsis) {
      items.push_back({Kind::ellipsis});
    } else if (const auto number = number_at(one)) {
      items.push_back({Kind::number, *number});
    } else {
      return {};
    }
  }
  return items;
}

struct Basic {
  AffineView view;
  bool is_element = false;  // one number for every dimension
};

AffineView sliced(const AffineView& view, std::size_t d, nb::handle slice) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
  const Py_ssize_t size = PySlice_AdjustIndices(view.shape[d], &start, &stop, step);
  return view.sliced(d, start, step, size);
}

Basic basic_view(const RecordedArray& array, const std::vector<Item>& items) {
  std::size_t given = 0, ellipses = 0;
  bool only_numbers = true;
  for (const Item& item : items) {
    given += item.kind == Kind::number || item.kind == Kind::slice ? 1 : 0;
    ellipses += item.kind == Kind::ellipsis ? 1 : 0;
    only_numbers = only_numbers && item.kind == Kind::number;
  }
  const std::size_t rank = array.view().rank();
  if (ellipses > 1) index_error("an index can only have a single ellipsis ('...')");
  if (given > rank)
    index_error(fmt::format(
        "too many indices for array: array is {}-dimensional, but {} were indexed", rank, given));
  Basic basic{array.view(), only_numbers && given == rank};
  std::size_t d = 0, axis = 0;
  for (const Item& item : items) {
    switch (item.kind) {
      case Kind::number: {
        const std::int64_t size = basic.view.shape[d];
        if (item.number < -size || item.number >= size)
          index_error(fmt::format("index {} is out of bounds for axis {} with size {}", item.number,
                                  axis, size));
        basic.view = basic.view.at(d, item.number < 0 ? item.number + size : item.number);
        ++axis;
        break;
      }
      case Kind::slice:
        basic.view = sliced(basic.view, d++, item.slice);
        ++axis;
        break;
      case Kind::ellipsis:
        d += rank - given;
        axis += rank - given;
        break;
      case Kind::new_dim:
        basic.view = basic.view.with_new_dim(d++);
        break;
    }
  }
  return basic;
}

// What may be written with other shapes before it: ones at the front.
Shape without_leading_ones(const Shape& shape, std::size_t rank) {
  Shape rest = shape;
  while (rest.size() > rank && rest.front() == 1) rest.erase(rest.begin());
  return rest;
}

// Whether an element of one type may be put in place of another without a word from NumPy.
bool is_put_quietly(const Operand& value, DType to) {
  if (value.array || value.weak == Weak::none) return !is_complex(value.dtype) || is_complex(to);
  return value.weak != Weak::complex || is_complex(to);
}

// Numbers go to any type; what NumPy would refuse or warn of is left to it.
std::optional<Array> number_for(const Operand& value, DType dtype) {
  if (value.weak == Weak::real && (is_integer(dtype) || dtype == DType::i1)) return {};
  return number_as(value, dtype);
}

bool write_recorded(const RecordedArray& self, const AffineView& into, nb::handle value) {
  if (!Recorder::can_write(*self.store, into)) return false;
  const auto operand = operand_of(value);
  if (!operand || !is_put_quietly(*operand, self.dtype())) return false;
  std::optional<Array> number;
  Shape shape;
  if (operand->array) {
    if (!can_show(*operand->array)) return false;
    shape = without_leading_ones(operand->array->shape(), into.rank());
    if (broadcast_shapes(into.shape, shape) != into.shape) return false;
  } else {
    number = number_for(*operand, self.dtype());
    if (!number) return false;
  }
  if (plain_assign(self, into, *operand, number)) return true;
  write_array(self.with(into),
              [&](Builder& b) {
                if (!operand->array) return read_as(b, *operand, number, self.dtype(), into.shape);
                Var x = cast(b, read_array(*operand->array), self.dtype());
                if (x.type().shape != shape) x = b.reshape(x, shape);
                return spread(b, x, into.shape);
              },
              {setitem(),
               {{},
                {nullptr, nb::borrow(Py_Ellipsis)},
                {operand->array, operand->array ? nb::object() : operand->object}}});
  return true;
}

bool is_small_at_rest(nb::handle value, std::int64_t limit) {
  const RecordedArray* array = as_recorded(value);
  return array == nullptr || (array->at_rest() && array->elements() <= limit);
}

// No static that is made by importing: another thread would wait for it with the interpreter's
// lock.
nb::handle helpers() {
  static std::atomic<PyObject*> module;
  if (module.load() == nullptr)
    module = nb::object(nb::module_::import_("heddle.numpy._index")).release().ptr();
  return module.load();
}

}  // namespace

nb::object get_item(nb::handle self, nb::handle at) {
  RecordedArray& array = *as_recorded(self);
  const auto items = items_of(at);
  if (!items) return helpers().attr("get")(self, at);
  Basic basic = basic_view(array, *items);
  const std::int64_t limit = Recording::get().at_once;
  if (!basic.is_element) {
    RecordedArray part = array.with(std::move(basic.view));
    // What NumPy will be asked for next is quickest made from what it has.
    if (has_host(array) && part.elements() <= limit && part.elements() > 0) {
      part.host = array.host[at];
      part.generation = array.generation;
    }
    return to_object(std::move(part));
  }
  // Whoever reads elements one by one wants numbers: each of them recorded would be a program of
  // its own.
  if (array.at_rest() || limit > 0 || !Recorder::can_show(*array.store, basic.view))
    return host_of(array)[at];
  RecordedArray element = array.with(std::move(basic.view));
  return keep_array(
      [&](Builder&) { return read_array(element); },
      {direct_function("part"), {{&element}, {nullptr, nb::make_tuple()}}, element.dtype()});
}

void set_item(nb::handle self, nb::handle at, nb::handle value) {
  RecordedArray& array = *as_recorded(self);
  if (!array.writable) throw nb::value_error("assignment destination is read-only");
  const auto items = items_of(at);
  if (!items) {
    helpers().attr("put")(self, at, value);
    return;
  }
  const Basic basic = basic_view(array, *items);
  const std::int64_t limit = Recording::get().at_once;
  const bool one_by_one = basic.is_element && limit > 0;
  const bool at_once = basic.view.elements() == 0 || one_by_one ||
                       (basic.view.elements() <= limit && array.at_rest() &&
                        array.store->is_sole_owner() && is_small_at_rest(value, limit));
  if (!at_once && write_recorded(array, basic.view, value)) return;
  const nb::object held = as_recorded(value) ? host_of(*as_recorded(value)) : nb::borrow(value);
  make_writable(array);
  // Where it was memory of the same array that was just copied, the old memory holds the same.
  const nb::object host = host_of(array);
  if (PyObject_SetItem(host.ptr(), at.ptr(), held.ptr()) != 0) throw nb::python_error();
}

}  // namespace heddle::python
