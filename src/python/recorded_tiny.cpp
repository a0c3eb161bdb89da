// Arithmetic on the smallest arrays: NumPy takes longer to find its loop than to run it.
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <type_traits>

#include "python/float_flags.h"
#include "python/host_array.h"
#include "python/numpy_fields.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

// Beyond so many elements NumPy's wider loops win: of new arrays, in place, and of comparisons.
constexpr std::int64_t kMostNew = 4096, kMostInPlace = 1024, kMostCompared = 256;

// One operand: elements one after the other, or a number.
template <typename T>
struct In {
  const T* data = nullptr;
  T number = 0;
};

template <typename T, typename Op>
void compare(const In<T>& x, const In<T>& y, bool* out, std::int64_t n, Op op) {
  if (x.data != nullptr && y.data != nullptr)
    for (std::int64_t i = 0; i < n; ++i) out[i] = op(x.data[i], y.data[i]);
  else if (x.data != nullptr)
    for (std::int64_t i = 0; i < n; ++i) out[i] = op(x.data[i], y.number);
  else
    for (std::int64_t i = 0; i < n; ++i) out[i] = op(x.number, y.data[i]);
}

// As many elements as one register holds on every machine.
template <typename T>
struct Wide {
  static constexpr std::int64_t kCount = 16 / sizeof(T);
  typedef T Lanes __attribute__((vector_size(16)));
  Lanes lanes;
  explicit Wide(T number) : lanes(Lanes{} + number) {}
  template <bool is_array>
  void load(const In<T>& in, std::int64_t at) {
    if constexpr (is_array) std::memcpy(&lanes, in.data + at, sizeof(Lanes));
  }
};

template <bool x_is_array, bool y_is_array, typename T, typename Op>
void loop_over(const In<T>& x, const In<T>& y, T* out, std::int64_t n, Op op) {
  constexpr std::int64_t kCount = Wide<T>::kCount;
  Wide<T> a(x.number), b(y.number), to(0);
  std::int64_t i = 0;
  for (; i + kCount <= n; i += kCount) {
    a.template load<x_is_array>(x, i);
    b.template load<y_is_array>(y, i);
    op(a.lanes, b.lanes, to.lanes);
    std::memcpy(out + i, &to.lanes, sizeof to.lanes);
  }
  for (; i < n; ++i)
    op(x_is_array ? x.data[i] : x.number, y_is_array ? y.data[i] : y.number, out[i]);
}

template <typename T, typename Op>
void loop(const In<T>& x, const In<T>& y, T* out, std::int64_t n, Op op) {
  if (x.data != nullptr && y.data != nullptr) return loop_over<true, true>(x, y, out, n, op);
  if (x.data != nullptr) return loop_over<true, false>(x, y, out, n, op);
  loop_over<false, true>(x, y, out, n, op);
}

// Whole numbers are unsigned here, so that they go around as NumPy's do.
template <typename T>
bool arithmetic(Tiny what, const In<T>& x, const In<T>& y, T* out, std::int64_t n) {
  switch (what) {
    case Tiny::add:
      loop(x, y, out, n, [](const auto& a, const auto& b, auto& to) { to = a + b; });
      return true;
    case Tiny::subtract:
      loop(x, y, out, n, [](const auto& a, const auto& b, auto& to) { to = a - b; });
      return true;
    case Tiny::multiply:
      loop(x, y, out, n, [](const auto& a, const auto& b, auto& to) { to = a * b; });
      return true;
    case Tiny::divide:
      if constexpr (std::is_floating_point_v<T>) {
        loop(x, y, out, n, [](const auto& a, const auto& b, auto& to) { to = a / b; });
        return true;
      }
      return false;
    default:
      return false;
  }
}

template <typename T>
void comparison(Tiny what, const In<T>& x, const In<T>& y, bool* out, std::int64_t n) {
  switch (what) {
    case Tiny::less:
      return compare(x, y, out, n, std::less<>());
    case Tiny::less_equal:
      return compare(x, y, out, n, std::less_equal<>());
    case Tiny::equal:
      return compare(x, y, out, n, std::equal_to<>());
    case Tiny::not_equal:
      return compare(x, y, out, n, std::not_equal_to<>());
    case Tiny::greater:
      return compare(x, y, out, n, std::greater<>());
    default:
      return compare(x, y, out, n, std::greater_equal<>());
  }
}

bool is_dense(const NumpyFields& array) {
  constexpr int kByRowsAndAligned = 0x0001 | 0x0100;
  return (array.flags & kByRowsAndAligned) == kByRowsAndAligned;
}

bool have_one_shape(const NumpyFields& a, const NumpyFields& b) {
  return a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes);
}

bool is_float64(PyObject* x) {
  static PyTypeObject* const type = reinterpret_cast<PyTypeObject*>(
      nb::object(nb::module_::import_("numpy").attr("float64")).release().ptr());
  return Py_TYPE(x) == type;
}

// A number of Python's in the array's type; no where NumPy has something to say about it.
template <typename T>
bool number_of(PyObject* from, T& number) {
  if constexpr (std::is_integral_v<T>) {
    int overflow = 0;
    if (!PyLong_CheckExact(from)) return false;
    number = PyLong_AsLongLongAndOverflow(from, &overflow);
    return overflow == 0;
  } else {
    double value = 0;
    // numpy.float64 is a float of Python's, and has the type of such arrays only.
    if (PyFloat_CheckExact(from) || (std::is_same_v<T, double> && is_float64(from))) {
      value = PyFloat_AsDouble(from);
    } else {
      int overflow = 0;
      if (!PyLong_CheckExact(from)) return false;
      const long long whole = PyLong_AsLongLongAndOverflow(from, &overflow);
      constexpr long long kExact = 1LL << 24;
      if (overflow != 0 || whole > kExact || whole < -kExact) return false;
      value = static_cast<double>(whole);
    }
    number = static_cast<T>(value);
    return std::isfinite(number);
  }
}

// Whether they share bytes without being the same.
bool overlap_in_part(const NumpyFields& a, const NumpyFields& b, std::int64_t bytes) {
  return a.data != b.data && a.data < b.data + bytes && b.data < a.data + bytes;
}

struct Arrays {
  PyObject *x = nullptr, *y = nullptr;  // NumPy's; one of them may be a number
  const NumpyFields* shape = nullptr;
  std::int64_t n = 1;
};

template <typename T>
bool take(PyObject* from, bool is_array, In<T>& in) {
  if (!is_array) return number_of(from, in.number);
  in.data = reinterpret_cast<const T*>(fields_of(from).data);
  return true;
}

template <typename T>
PyObject* compute(Tiny what, const Arrays& of, bool x_is_array, bool y_is_array, bool in_place,
                  DType dtype) {
  In<T> x, y;
  if (!take(of.x, x_is_array, x) || !take(of.y, y_is_array, y)) return nullptr;
  if (what >= Tiny::less) {
    PyObject* const made = new_numpy(DType::i1, *of.shape);
    if (made != nullptr)
      comparison(what, x, y, reinterpret_cast<bool*>(fields_of(made).data), of.n);
    return made;
  }
  if (in_place && y_is_array &&
      overlap_in_part(fields_of(of.x), fields_of(of.y), of.n * std::int64_t{sizeof(T)}))
    return nullptr;
  using Word =
      std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  const In<Word> a{reinterpret_cast<const Word*>(x.data), static_cast<Word>(x.number)},
      b{reinterpret_cast<const Word*>(y.data), static_cast<Word>(y.number)};
  if (has_raised()) forget_raised();
  if (in_place) {  // so that it is as it was where NumPy has to do it
    Word scratch[kMostInPlace];
    if (!arithmetic(what, a, b, scratch, of.n) || has_raised()) return nullptr;
    std::copy(scratch, scratch + of.n, reinterpret_cast<Word*>(fields_of(of.x).data));
    return of.x;
  }
  PyObject* const made = new_numpy(dtype, *of.shape);
  if (made == nullptr) return nullptr;
  if (arithmetic(what, a, b, reinterpret_cast<Word*>(fields_of(made).data), of.n) && !has_raised())
    return made;
  Py_DECREF(made);
  return nullptr;
}

}  // namespace

bool put_number(PyObject* from, DType dtype, void* to) {
  const auto put = [&](auto number) {
    if (!number_of(from, number)) return false;
    std::memcpy(to, &number, sizeof number);
    return true;
  };
  if (dtype == DType::f64) return put(0.0);
  if (dtype == DType::f32) return put(0.0F);
  return dtype == DType::i64 && put(std::int64_t{0});
}

PyObject* tiny_call(Tiny what, PyObject* x, PyObject* y, bool in_place) {
  const bool x_is_array = Py_TYPE(x) == numpy_array_type(),
             y_is_array = Py_TYPE(y) == numpy_array_type();
  const NumpyFields& first = fields_of(x_is_array ? x : y);
  Arrays of{x, y, &first, 1};
  for (int d = 0; d < first.rank; ++d) of.n *= first.sizes[d];
  const std::int64_t most = in_place ? kMostInPlace : what >= Tiny::less ? kMostCompared : kMostNew;
  if (of.n > most || !is_dense(first) || first.rank == 0) return nullptr;
  if (x_is_array && y_is_array) {
    const NumpyFields& other = fields_of(y);
    if (other.dtype != first.dtype || !is_dense(other) || !have_one_shape(first, other))
      return nullptr;
  }
  static const std::array<PyObject*, 3> types = {numpy_dtype(DType::f64).release().ptr(),
                                                 numpy_dtype(DType::f32).release().ptr(),
                                                 numpy_dtype(DType::i64).release().ptr()};
  if (first.dtype == types[0])
    return compute<double>(what, of, x_is_array, y_is_array, in_place, DType::f64);
  if (first.dtype == types[1])
    return compute<float>(what, of, x_is_array, y_is_array, in_place, DType::f32);
  if (first.dtype == types[2])
    return compute<std::int64_t>(what, of, x_is_array, y_is_array, in_place, DType::i64);
  return nullptr;
}

}  // namespace heddle::python
