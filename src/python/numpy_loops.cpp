// NumPy's own loops on small arrays, without the way to them: it takes longer to find one than to
// run it.
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "heddle/array_ops.h"
#include "python/float_flags.h"
#include "python/host_array.h"
#include "python/numpy_fields.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

using InnerLoop = void (*)(char** operands, const Py_ssize_t* sizes, const Py_ssize_t* steps,
                           void* data);

// The fields of a ufunc, as NumPy's C interface has them, in 1.x and 2.x alike.
struct UfuncFields {
  PyObject head;
  int inputs, outputs, operands, identity;
  InnerLoop* loops;
  void* const* data;
  int loop_count;
  int reserved;
  const char* name;
  const char* types;  // of the operands of each loop, by NumPy's numbers
};

// Beyond so many elements the way to a loop is short beside the loop.
constexpr std::int64_t kMostLooped = 16384;

// The element types whose loops are called from here.
constexpr std::array kLooped = {DType::f64, DType::f32, DType::i64, DType::i1};

const std::array<PyObject*, kLooped.size()>& looped_types() {
  static const auto types = [] {
    std::array<PyObject*, kLooped.size()> all = {};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = numpy_dtype(kLooped[i]).release().ptr();
    return all;
  }();
  return types;
}

// Which of them; their number where it is none.
std::size_t looped_type(PyObject* dtype) {
  const auto& types = looped_types();
  std::size_t at = 0;
  while (at < types.size() && types[at] != dtype) ++at;
  return at;
}

// NumPy's number for the types above.
const std::array<char, kLooped.size()>& numpy_numbers() {
  static const auto numbers = [] {
    std::array<char, kLooped.size()> all = {};
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<char>(nb::cast<int>(nb::handle(looped_types()[i]).attr("num")));
    return all;
  }();
  return numbers;
}

struct FoundLoop {
  InnerLoop loop = nullptr;
  void* data = nullptr;
  DType out = DType::f64;
  mutable int rests = 0;  // calls for which NumPy does it all, after one that it had to do again
};

// The first loop whose inputs are all of that type, which is the one that NumPy takes.
FoundLoop find_loop(nb::handle ufunc, std::size_t type) {
  const auto& fields = *reinterpret_cast<const UfuncFields*>(ufunc.ptr());
  const auto& numbers = numpy_numbers();
  for (int i = 0; i < fields.loop_count; ++i) {
    const char* const operands = fields.types + i * fields.operands;
    bool fits = fields.outputs == 1;
    for (int in = 0; in < fields.inputs; ++in) fits = fits && operands[in] == numbers[type];
    if (!fits) continue;
    for (std::size_t out = 0; out < kLooped.size(); ++out)
      if (operands[fields.inputs] == numbers[out])
        return {fields.loops[i], fields.data == nullptr ? nullptr : fields.data[i], kLooped[out]};
    return {};
  }
  return {};
}

const FoundLoop& loop_for(int call, std::size_t type) {
  static auto* known = [] {
    auto* made = new std::vector<std::array<FoundLoop, kLooped.size()>>;
    for (std::size_t i = 0; i < elementwise_calls().size(); ++i) {
      made->emplace_back();
      for (std::size_t t = 0; t < kLooped.size(); ++t)
        made->back()[t] = find_loop(ufunc_of(static_cast<int>(i)), t);
    }
    return made;
  }();
  return (*known)[static_cast<std::size_t>(call)][type];
}

bool lies_densely(const NumpyFields& array) {
  constexpr int kByRowsAndAligned = 0x0001 | 0x0100;
  return (array.flags & kByRowsAndAligned) == kByRowsAndAligned;
}

std::int64_t count_in(const NumpyFields& array) {
  std::int64_t count = 1;
  for (int d = 0; d < array.rank; ++d) count *= array.sizes[d];
  return count;
}

// No where NumPy would warn, or raise: then it has to do it all again, in its own way.
bool run_loop(const FoundLoop& found, char** operands, std::int64_t count,
              const Py_ssize_t* steps) {
  if (has_raised()) forget_raised();
  const Py_ssize_t size = count;
  found.loop(operands, &size, steps, found.data);
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  return !has_raised();
}

// A reduction as a fold by a ufunc. Where it starts with no number, it starts with the first
// element.
struct Folding {
  std::string_view name;
  const char* ufunc;
  std::optional<int> start = {};
};
constexpr std::array<Folding, 7> kFoldings = {{{"sum", "add", 0},
                                               {"prod", "multiply", 1},
                                               {"max", "maximum"},
                                               {"min", "minimum"},
                                               {"mean", "add", 0},
                                               {"any", "logical_or", 0},
                                               {"all", "logical_and", 1}}};

// Whether NumPy reduces elements of this type in the type itself.
bool reduces_in(Whole what, DType dtype) {
  if (what == Whole::any || what == Whole::all) return dtype == DType::i1;
  if (what == Whole::max || what == Whole::min) return true;
  return dtype != DType::i1 && (what != Whole::mean || dtype != DType::i64);
}

// Runs `use` on a number of that type.
template <typename Use>
void with_number(DType dtype, Use use) {
  if (dtype == DType::f64) return use(0.0);
  if (dtype == DType::f32) return use(0.0F);
  if (dtype == DType::i64) return use(std::int64_t{0});
  use(false);
}

}  // namespace

Whole whole_of(std::string_view name) {
  std::size_t at = 0;
  while (at < kFoldings.size() && kFoldings[at].name != name) ++at;
  return static_cast<Whole>(at);
}

PyObject* loop_call(int call, PyObject* x, PyObject* y) {
  const bool x_is_array = Py_TYPE(x) == numpy_array_type(),
             y_is_array = y != nullptr && Py_TYPE(y) == numpy_array_type();
  const NumpyFields& shape = fields_of(x_is_array ? x : y);
  if (shape.rank == 0 || !lies_densely(shape)) return nullptr;
  const std::size_t type = looped_type(shape.dtype);
  const std::int64_t count = count_in(shape);
  if (type == kLooped.size() || count > kMostLooped) return nullptr;
  const FoundLoop& found = loop_for(call, type);
  if (found.loop == nullptr || (found.rests > 0 && found.rests-- > 0)) return nullptr;
  const std::int64_t item = byte_size(kLooped[type]);
  alignas(8) char number[8];
  std::array<char*, 3> operands = {};
  std::array<Py_ssize_t, 3> steps = {};
  std::size_t inputs = 0;
  for (PyObject* const one : {x, y}) {
    if (one == nullptr) continue;
    if (one == x ? x_is_array : y_is_array) {
      const NumpyFields& in = fields_of(one);
      if (in.dtype != shape.dtype || !lies_densely(in) || in.rank != shape.rank ||
          !std::equal(in.sizes, in.sizes + in.rank, shape.sizes))
        return nullptr;
      operands[inputs] = in.data;
      steps[inputs++] = item;
    } else {
      if (!put_number(one, kLooped[type], number)) return nullptr;
      operands[inputs++] = number;
    }
  }
  PyObject* const made = new_numpy(found.out, shape);
  if (made == nullptr) {
    PyErr_Clear();  // NumPy says it in its own words
    return nullptr;
  }
  operands[inputs] = fields_of(made).data;
  steps[inputs] = byte_size(found.out);
  if (run_loop(found, operands.data(), count, steps.data())) return made;
  constexpr int kRests = 16;
  found.rests = kRests;
  Py_DECREF(made);
  return nullptr;
}

PyObject* whole_at_once(Whole what, PyObject* x) {
  const NumpyFields& of = fields_of(x);
  const std::size_t type = looped_type(of.dtype);
  const std::int64_t count = count_in(of);
  if (type == kLooped.size() || !lies_densely(of) || count == 0) return nullptr;
  const DType dtype = kLooped[type];
  if (!reduces_in(what, dtype)) return nullptr;
  const Folding& folding = kFoldings[static_cast<std::size_t>(what)];
  static std::array<int, kFoldings.size()> numbers = {};
  int& number = numbers[static_cast<std::size_t>(what)];
  if (number == 0) number = elementwise_number(folding.ufunc) + 1;
  const FoundLoop& found = loop_for(number - 1, type);
  if (found.loop == nullptr) return nullptr;
  const std::int64_t item = byte_size(dtype);
  alignas(8) char result[8];
  std::memcpy(result, of.data, static_cast<std::size_t>(item));
  if (folding.start)
    with_number(dtype, [&](auto one) {
      one = static_cast<decltype(one)>(*folding.start);
      std::memcpy(result, &one, sizeof one);
    });
  const std::int64_t first = folding.start ? 0 : 1;
  std::array<char*, 3> operands = {result, of.data + first * item, result};
  const std::array<Py_ssize_t, 3> steps = {0, item, 0};
  if (count > first && !run_loop(found, operands.data(), count - first, steps.data()))
    return nullptr;
  if (what == Whole::mean)
    with_number(dtype, [&](auto one) {
      std::memcpy(&one, result, sizeof one);
      one = static_cast<decltype(one)>(one / static_cast<decltype(one)>(count));
      std::memcpy(result, &one, sizeof one);
    });
  return numpy_number(result, of.dtype);
}

}  // namespace heddle::python
