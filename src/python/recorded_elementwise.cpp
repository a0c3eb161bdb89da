// Elementwise calls: at once by NumPy, or recorded in the types that NumPy resolves.
#include <nanobind/stl/string.h>

#include <array>
#include <unordered_map>

#include "heddle/array_ops.h"
#include "heddle/hash.h"
#include "python/host_array.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

// NumPy's ufuncs, and what they have resolved so far.
class Ufuncs {
 public:
  static Ufuncs& get() {
    static Ufuncs* only = new Ufuncs;
    return *only;
  }
  nb::handle ufunc(int call) const { return ufuncs_[static_cast<std::size_t>(call)]; }

  const Loop& loop(int call, int first, int second) {
    const std::uint64_t key = (static_cast<std::uint64_t>(call) << 20) +
                              (static_cast<std::uint64_t>(first) << 10) +
                              static_cast<std::uint64_t>(second);
    auto& [known, last] = last_[hash_mix(key) % last_.size()];
    if (last != nullptr && known == key) return *last;
    const auto found = loops_.find(key);
    known = key;
    last = found != loops_.end() ? &found->second
                                 : &loops_.emplace(key, resolve(call, first, second)).first->second;
    return *last;
  }

 private:
  Ufuncs() {
    const nb::module_ numpy = nb::module_::import_("numpy");
    for (const ElementwiseCall& call : elementwise_calls())
      ufuncs_.push_back(nb::object(numpy.attr(std::string(call.name).c_str())).release());
  }

  static nb::object as_python(int code) {
    switch (code - 100) {
      case static_cast<int>(Weak::integer):
        return nb::borrow(reinterpret_cast<PyObject*>(&PyLong_Type));
      case static_cast<int>(Weak::real):
        return nb::borrow(reinterpret_cast<PyObject*>(&PyFloat_Type));
      case static_cast<int>(Weak::complex):
        return nb::borrow(reinterpret_cast<PyObject*>(&PyComplex_Type));
      default:
        return numpy_dtype(static_cast<DType>(code));
    }
  }

  Loop resolve(int call, int first, int second) const {
    const ElementwiseCall& row = elementwise_calls()[static_cast<std::size_t>(call)];
    Loop loop;
    try {
      const nb::tuple types = row.inputs == 1
                                  ? nb::make_tuple(as_python(first), nb::none())
                                  : nb::make_tuple(as_python(first), as_python(second), nb::none());
      const nb::tuple found = nb::cast<nb::tuple>(ufunc(call).attr("resolve_dtypes")(types));
      for (int i = 0; i < row.inputs; ++i) {
        const auto in = find_dtype(found[static_cast<std::size_t>(i)]);
        if (!in) return loop;
        loop.in[i] = *in;
      }
      const auto out = find_dtype(found[static_cast<std::size_t>(row.inputs)]);
      if (!out) return loop;
      loop.out = *out;
      loop.is_recorded = row.takes(loop.in[0]) && (row.inputs == 1 || loop.in[0] == loop.in[1]);
    } catch (nb::python_error&) {
      // NumPy has no such loop; asked with values, it says so.
    }
    return loop;
  }

  std::vector<nb::handle> ufuncs_;
  std::unordered_map<std::uint64_t, Loop> loops_;                    // whose places stay the same
  std::array<std::pair<std::uint64_t, const Loop*>, 64> last_ = {};  // what was asked for last
};

// One or two operands of a call, ready to be recorded.
struct Call {
  int number = 0;
  int inputs = 1;
  Operand in[2];
  std::optional<Array> numbers[2];
  Loop loop;
  Shape shape;
};

bool is_small(const Operand& operand, std::int64_t limit) {
  return operand.is_number() || (operand.array->at_rest() && operand.array->elements() <= limit);
}

// Nothing is recorded of what has no elements.
bool is_at_once(const Call& call) {
  const std::int64_t limit = Recording::get().at_once;
  const std::int64_t elements = AffineView::whole(call.shape).elements();
  if (elements == 0) return true;
  if (elements > limit) return false;
  for (int i = 0; i < call.inputs; ++i)
    if (!is_small(call.in[i], limit)) return false;
  return true;
}

// False where NumPy has to do it.
bool prepare(Call& call) {
  for (int i = 0; i < call.inputs; ++i) {
    if (!call.in[i].array) continue;
    const auto shape = broadcast_shapes(call.shape, call.in[i].array->shape());
    if (!shape) return false;
    call.shape = *shape;
  }
  if (is_at_once(call)) return false;
  call.loop =
      Ufuncs::get().loop(call.number, call.in[0].code(), call.inputs == 2 ? call.in[1].code() : 0);
  if (!call.loop.is_recorded) return false;
  for (int i = 0; i < call.inputs; ++i) {
    if (call.in[i].array) {
      if (!can_show(*call.in[i].array)) return false;
    } else {
      call.numbers[i] = number_as(call.in[i], call.loop.in[i]);
      if (!call.numbers[i]) return false;
    }
  }
  return true;
}

Var write(Builder& b, const Call& call, DType as) {
  Var in[2];
  for (int i = 0; i < call.inputs; ++i)
    in[i] = read_as(b, call.in[i], call.numbers[i], call.loop.in[i], call.shape);
  const auto& row = elementwise_calls()[static_cast<std::size_t>(call.number)];
  const Var result = row.write(b, {in, static_cast<std::size_t>(call.inputs)});
  return cast(b, cast(b, result, call.loop.out), as);
}

std::vector<std::size_t> order_of(const Call& call) {
  const AffineView* views[2] = {};
  std::size_t count = 0;
  for (int i = 0; i < call.inputs; ++i)
    if (call.in[i].array) views[count++] = &call.in[i].array->view();
  return memory_order({views, count}, call.shape.size());
}

// Without a step where NumPy's own result is not the one that is recorded.
NumpyCall as_numpy(const Call& call, DType dtype) {
  if (has_rule_of_its_own(call.number)) return {};
  NumpyCall direct{nb::borrow(Ufuncs::get().ufunc(call.number)), {}, dtype};
  for (int i = 0; i < call.inputs; ++i)
    direct.given.push_back({call.in[i].array, call.in[i].array ? nb::object() : call.in[i].object});
  return direct;
}

nb::object for_numpy(const Operand& operand) {
  return operand.array ? host_of(*operand.array) : operand.object;
}

nb::object by_numpy(const Call& call) {
  nb::handle ufunc = Ufuncs::get().ufunc(call.number);
  const nb::object first = for_numpy(call.in[0]);
  if (has_rule_of_its_own(call.number)) {
    const nb::module_ standard = nb::module_::import_("heddle.numpy._standard");
    if (call.inputs == 2)
      return wrapped(standard.attr("floor_divide")(first, for_numpy(call.in[1])));
    if (is_complex(call.in[0].dtype)) return wrapped(standard.attr("expm1_complex")(first));
  }
  return wrapped(call.inputs == 1 ? ufunc(first) : ufunc(first, for_numpy(call.in[1])));
}

std::optional<Call> call_of(int number, nb::handle x, nb::handle y) {
  Call call;
  call.number = number;
  call.inputs = elementwise_calls()[static_cast<std::size_t>(number)].inputs;
  for (int i = 0; i < call.inputs; ++i) {
    auto operand = operand_of(i == 0 ? x : y);
    if (!operand) return {};
    call.in[i] = *std::move(operand);
  }
  return call;
}

// Another call for a power of floats by this number, as NumPy has it; -1: none.
int call_for_power(double exponent) {
  static const int square = elementwise_number("square"), sqrt = elementwise_number("sqrt"),
                   reciprocal = elementwise_number("reciprocal");
  if (exponent == 2) return square;
  if (exponent == 0.5) return sqrt;
  return exponent == -1 ? reciprocal : -1;
}

// Products instead of a power by a small whole number, and of floats what NumPy has for some.
std::optional<nb::object> small_power(int number, nb::handle x, nb::handle y) {
  static const int power = elementwise_number("power"), square = elementwise_number("square"),
                   multiply = elementwise_number("multiply");
  if (number != power) return {};
  const bool is_whole = PyLong_CheckExact(y.ptr());
  RecordedArray* array = is_whole || PyFloat_CheckExact(y.ptr()) ? as_recorded(x) : nullptr;
  if (array == nullptr || array->dtype() == DType::i1) return {};
  const double value = PyFloat_AsDouble(y.ptr());  // of what is too large: -1, with an error
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return {};
  }
  const bool is_integers = is_integer(array->dtype());
  if (const int call = is_float(array->dtype()) ? call_for_power(value) : -1; call >= 0)
    return call_elementwise(call, x, {});
  if (is_complex(array->dtype()) && value == 2) return call_elementwise(square, x, {});
  const double most = is_integers ? 64 : 4;
  if (is_complex(array->dtype()) || (is_integers && !is_whole)) return {};
  if (!(value >= 2 && value <= most) || value != std::floor(value)) return {};
  nb::object result;
  nb::object factor = nb::borrow(x);
  for (int rest = static_cast<int>(value); rest > 0; rest /= 2) {
    if (rest % 2 == 1)
      result = result.is_valid() ? call_elementwise(multiply, result, factor) : factor;
    if (rest > 1) factor = call_elementwise(square, factor, {});
  }
  return result;
}

}  // namespace

int elementwise_number(std::string_view name) {
  const ElementwiseCall* found = find_elementwise(name);
  return found == nullptr ? -1 : static_cast<int>(found - elementwise_calls().data());
}

bool has_rule_of_its_own(int call) {
  static const int divide = elementwise_number("floor_divide"), expm1 = elementwise_number("expm1");
  return call == divide || call == expm1;
}

nb::handle ufunc_of(int call) { return Ufuncs::get().ufunc(call); }

const Loop& loop_of(int call, int first, int second) {
  return Ufuncs::get().loop(call, first, second);
}

bool may_become(DType from, DType to) {
  const auto kind = [](DType t) {
    if (t == DType::i1) return 0;
    if (t >= DType::ui2 && t <= DType::ui64) return 1;
    if (is_integer(t)) return 2;
    return is_float(t) ? 3 : 4;
  };
  return kind(from) <= kind(to);
}

nb::object call_elementwise(int number, nb::handle x, nb::handle y) {
  if (auto result = small_power(number, x, y)) return *std::move(result);
  if (PyObject* const made = plain_elementwise(number, x.ptr(), y.ptr())) return nb::steal(made);
  auto call = call_of(number, x, y);
  if (!call) return nb::borrow(Py_NotImplemented);
  if (!prepare(*call)) return by_numpy(*call);
  return keep_in_order(
      order_of(*call), [&](Builder& b) { return write(b, *call, call->loop.out); },
      as_numpy(*call, call->loop.out));
}

nb::object call_elementwise_into(int number, nb::handle into, nb::handle other) {
  if (plain_elementwise_into(number, into.ptr(), other.ptr())) return nb::borrow(into);
  RecordedArray& to = *as_recorded(into);
  auto call = call_of(number, into, other);
  if (other.is_none()) {  // which no type is made of: in NumPy's words
    Ufuncs::get().ufunc(number)(host_of(to), other, host_of(to));
    return nb::borrow(into);
  }
  if (!call) return nb::borrow(Py_NotImplemented);
  const bool is_ready = to.writable && prepare(*call) && call->shape == to.shape() &&
                        may_become(call->loop.out, to.dtype()) &&
                        Recorder::can_write(*to.store, to.view());
  if (is_ready) {
    NumpyCall direct = as_numpy(*call, to.dtype());
    if (!direct.given.empty()) direct.given[0] = {};
    direct.given.push_back({});
    write_array(to, [&](Builder& b) { return write(b, *call, to.dtype()); }, direct);
    return nb::borrow(into);
  }
  if (!to.writable) throw nb::value_error("output array is read-only");
  make_writable(to);
  const nb::object host = host_of(to);
  if (has_rule_of_its_own(number)) {
    const nb::module_ standard = nb::module_::import_("heddle.numpy._standard");
    standard.attr("floor_divide_into")(host, for_numpy(call->in[1]));
    return nb::borrow(into);
  }
  Ufuncs::get().ufunc(number)(host, for_numpy(call->in[1]), host);
  return nb::borrow(into);
}

}  // namespace heddle::python
