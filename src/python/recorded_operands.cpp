// What a call on recorded arrays takes: arrays, numbers of Python, numbers of NumPy.
#include <algorithm>

#include "heddle/array_ops.h"
#include "ir/eval/scalar.h"
#include "python/host_array.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

struct NumpyTypes {
  nb::handle generic, ndarray;
  static const NumpyTypes& get() {
    static const NumpyTypes types = [] {
      const nb::module_ numpy = nb::module_::import_("numpy");
      return NumpyTypes{nb::object(numpy.attr("generic")).release(),
                        nb::object(numpy.attr("ndarray")).release()};
    }();
    return types;
  }
};

bool is_a(nb::handle value, nb::handle type) {
  return PyObject_IsInstance(value.ptr(), type.ptr()) == 1;
}

Operand number(nb::handle value, Weak weak, DType dtype) {
  Operand operand;
  operand.weak = weak;
  operand.dtype = dtype;
  operand.object = nb::borrow(value);
  return operand;
}

// Whole numbers of Python in an element type; none where they do not fit.
std::optional<Array> integer_as(nb::handle value, DType dtype) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  unsigned long long big = 0;
  if (overflow > 0 && dtype == DType::ui64) {
    big = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return {};
    }
  } else if (overflow != 0) {
    return {};
  }
  return dispatch(dtype, [&](auto tag) -> std::optional<Array> {
    using T = typename decltype(tag)::type;
    if constexpr (IntScalar<T>) {
      using Raw = std::remove_cv_t<T>;
      if constexpr (std::is_same_v<Raw, std::uint64_t>) {
        if (overflow == 0 && small < 0) return {};
        return make_array<T>(Shape{}, {overflow > 0 ? T(big) : static_cast<T>(small)});
      } else if constexpr (std::is_integral_v<Raw>) {
        if (small < static_cast<long long>(std::numeric_limits<Raw>::min()) ||
            small > static_cast<long long>(std::numeric_limits<Raw>::max()))
          return {};
        return make_array<T>(Shape{}, {static_cast<T>(small)});
      } else {
        return {};
      }
    } else {
      const auto as_double = static_cast<double>(small);
      if (overflow != 0) return {};
      return filled_array<T>(Type::tensor(dtype, {}), convert_scalar<T>(as_double));
    }
  });
}

std::optional<Array> real_as(double value, DType dtype) {
  if (is_integer(dtype) || dtype == DType::i1) return {};
  // Too great a number is an overflow that NumPy warns of.
  if (std::isfinite(value) && dtype == DType::f16 && std::abs(value) > 65504) return {};
  if (std::isfinite(value) && (dtype == DType::f32 || dtype == DType::c64) &&
      std::abs(value) > 3.4028235e38)
    return {};
  return dispatch(dtype, [&](auto tag) -> std::optional<Array> {
    using T = typename decltype(tag)::type;
    return filled_array<T>(Type::tensor(dtype, {}), convert_scalar<T>(value));
  });
}

// Numbers of NumPy: it converts them itself.
Array typed_as(nb::handle value, DType dtype) { return to_array(value, Type::tensor(dtype, {})); }

}  // namespace

int Operand::code() const {
  return weak == Weak::none ? static_cast<int>(dtype) : 100 + static_cast<int>(weak);
}

std::optional<Operand> operand_of(nb::handle value) {
  if (RecordedArray* array = as_recorded(value)) {
    Operand operand;
    operand.array = array;
    operand.dtype = array->dtype();
    operand.object = nb::borrow(value);
    return operand;
  }
  PyObject* raw = value.ptr();
  if (PyFloat_CheckExact(raw)) return number(value, Weak::real, DType::f64);
  if (PyBool_Check(raw)) return number(value, Weak::none, DType::i1);
  if (PyLong_CheckExact(raw)) return number(value, Weak::integer, DType::i64);
  if (PyFloat_Check(raw)) return number(value, Weak::none, DType::f64);  // numpy.float64
  if (PyComplex_CheckExact(raw)) return number(value, Weak::complex, DType::c128);
  const NumpyTypes& types = NumpyTypes::get();
  if (is_a(value, types.generic)) {
    const auto dtype = find_dtype(value.attr("dtype"));
    if (!dtype) return {};
    return number(value, Weak::none, *dtype);
  }
  if (!value.type().is(types.ndarray) && !PyList_Check(raw) && !PyTuple_Check(raw)) return {};
  const nb::object array = adopted(value);
  if (as_recorded(array) == nullptr) return {};
  Operand operand;
  operand.array = as_recorded(array);
  operand.dtype = operand.array->dtype();
  operand.object = array;
  return operand;
}

std::optional<Array> number_as(const Operand& number, DType dtype) {
  if (number.weak == Weak::integer) return integer_as(number.object, dtype);
  if (number.weak == Weak::real) return real_as(PyFloat_AsDouble(number.object.ptr()), dtype);
  if (number.weak == Weak::complex && !is_complex(dtype)) return {};
  if (PyBool_Check(number.object.ptr())) return integer_as(number.object, dtype);
  if (PyFloat_Check(number.object.ptr()) && !is_integer(dtype) && dtype != DType::i1)
    return real_as(PyFloat_AsDouble(number.object.ptr()), dtype);
  return typed_as(number.object, dtype);
}

Var read_array(RecordedArray& array) {
  Recorder& recorder = Recording::get().recorder;
  const Var x = recorder.read(*array.store, array.view()).value();
  if (array.part == Part::whole) return x;
  return x.builder()->op(array.part == Part::real ? "real" : "imag", {x});
}

void write_array(const RecordedArray& array, const Recorder::Write& write,
                 const NumpyCall& direct) {
  Recorder& recorder = Recording::get().recorder;
  recorder
      .write(
          array.store, array.view(),
          [&](Builder& b) {
            const Var x = write(b);
            if (array.part == Part::whole) return x;
            const Var old = recorder.read(*array.store, array.view()).value();
            return array.part == Part::real ? b.op("complex", {x, b.op("imag", {old})})
                                            : b.op("complex", {b.op("real", {old}), x});
          },
          direct_write(direct, array))
      .value();
}

Var read_as(Builder& b, const Operand& operand, const std::optional<Array>& number, DType dtype,
            const Shape& shape) {
  const Var x =
      operand.array ? read_array(*operand.array) : Recording::get().recorder.scalar(*number);
  return spread(b, cast(b, x, dtype), shape);
}

std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  Shape all = a.size() >= b.size() ? a : b;
  const Shape& other = a.size() >= b.size() ? b : a;
  const std::size_t added = all.size() - other.size();
  for (std::size_t d = 0; d < other.size(); ++d) {
    if (all[added + d] == 1)
      all[added + d] = other[d];
    else if (other[d] != 1 && other[d] != all[added + d])
      return {};
  }
  return all;
}

namespace {

// The step of a view along a dimension of a result that it is broadcast to.
std::int64_t step_along(const AffineView& view, std::size_t d, std::size_t rank) {
  const std::size_t added = rank - view.rank();
  if (d < added || view.shape[d - added] == 1) return 0;
  return std::abs(view.strides[d - added]);
}

enum class Nesting : std::uint8_t { inside, outside, either };
// Whether dimension a belongs inside of b; where operands differ, the usual order wins.
Nesting nesting(std::span<const AffineView* const> views, std::size_t a, std::size_t b,
                std::size_t rank) {
  Nesting found = Nesting::either;
  for (const AffineView* view : views) {
    const std::int64_t x = step_along(*view, a, rank), y = step_along(*view, b, rank);
    if (x == 0 || y == 0) continue;
    if (y <= x)
      found = Nesting::outside;
    else if (found == Nesting::either)
      found = Nesting::inside;
  }
  return found;
}

}  // namespace

// NumPy's iterator sorts so, by insertion, from the innermost dimension on.
std::vector<std::size_t> memory_order(std::span<const AffineView* const> views, std::size_t rank) {
  std::vector<std::size_t> order;  // from the innermost
  for (std::size_t d = rank; d-- > 0;) {
    std::size_t place = order.size();
    for (std::size_t i = order.size(); i-- > 0;) {
      const Nesting found = nesting(views, d, order[i], rank);
      if (found == Nesting::outside) break;
      if (found == Nesting::inside) place = i;
    }
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), d);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

nb::object keep_array(const Recorder::Write& write, const NumpyCall& direct) {
  return to_object(Recording::get().recorder.keep(write, direct_keep(direct)));
}

nb::object keep_in_order(const std::vector<std::size_t>& order, const Recorder::Write& write,
                         const NumpyCall& direct) {
  Recorder& recorder = Recording::get().recorder;
  if (std::is_sorted(order.begin(), order.end())) return keep_array(write, direct);
  std::vector<std::size_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  RecordedArray array(recorder.keep(
      [&](Builder& b) { return b.transpose(write(b), Builder::Dims(order.begin(), order.end())); },
      direct_keep(direct, order)));
  array.show(array.view().transposed(back));
  return to_object(std::move(array));
}

bool can_show(const RecordedArray& array) {
  Recorder& recorder = Recording::get().recorder;
  return !array.store->is_shared() && recorder.view(array.number(recorder)).can_show;
}

}  // namespace heddle::python
