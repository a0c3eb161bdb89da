// heddle.numpy's ndarray: a view of a store that calls are recorded on. What NumPy can do at once,
// on memory, is left to NumPy.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>

#include "heddle/array_library.h"
#include "heddle/recorder.h"

namespace heddle::python {

namespace nb = nanobind;

// Which numbers of complex elements an array shows.
enum class Part : std::uint8_t { whole, real, imag };

struct RecordedArray {
  StorePtr store;
  bool writable = true;
  bool locked = false;  // it was made not writable by who has it, and may be made so again
  Part part = Part::whole;
  nb::object host = {};  // a NumPy array over the memory of `generation`
  std::uint64_t generation = 0;

  // What NumPy has just made, and nobody else has: it gets a store when one is needed (settle).
  explicit RecordedArray(nb::object made) : host(std::move(made)) {}
  explicit RecordedArray(StorePtr of) : store(std::move(of)) {}
  RecordedArray(StorePtr of, AffineView shows, bool may_write, Part numbers = Part::whole)
      : store(std::move(of)), writable(may_write), part(numbers) {
    show(std::move(shows));
  }
  // What NumPy shows of its memory: `made` is over the memory that the store has now, and begins so
  // many bytes behind it.
  RecordedArray(const RecordedArray& of, nb::object made, std::int64_t behind)
      : store(of.store),
        writable(of.writable),
        host(std::move(made)),
        generation(of.generation),
        behind_(behind) {}
  // Which elements of the store: all of them, until another view is given.
  const AffineView& view() const {
    if (!has_view_) view_ = behind_ < 0 ? AffineView::whole(store->type().shape) : view_of_host();
    has_view_ = true;
    return view_;
  }
  void show(AffineView view) {
    view_ = std::move(view);
    has_view_ = true;
    epoch_ = 0;
  }
  std::int64_t elements() const {
    return has_view_ || behind_ >= 0 ? view().elements() : store->type().elements();
  }
  // Of memory that it has no more.
  void drop_host() {
    if (behind_ >= 0) view();
    host = {};
  }
  // The number of its view, where it may be known already.
  ViewNumber number(Recorder& recorder) const {
    if (epoch_ != recorder.epoch())
      set_number(recorder.number_of(view(), store->type().shape), recorder.epoch());
    return number_;
  }
  void set_number(ViewNumber number, std::uint64_t epoch) const {
    number_ = number;
    epoch_ = epoch;
  }
  // Another view of what it shows.
  RecordedArray with(AffineView shows) const { return {store, std::move(shows), writable, part}; }

  DType dtype() const {
    const DType stored = store->type().dtype;
    if (part == Part::whole) return stored;
    return stored == DType::c64 ? DType::f32 : DType::f64;
  }
  const Shape& shape() const {
    return has_view_ || behind_ >= 0 ? view().shape : store->type().shape;
  }
  bool at_rest() const {
    return !store->is_pending() && !store->is_spread() && store->memory().in_host_memory();
  }

 private:
  AffineView view_of_host() const;  // recorded_quick.cpp

  std::int64_t behind_ = -1;  // of a view that the host shows, and nobody has asked for
  mutable AffineView view_;
  mutable bool has_view_ = false;
  mutable ViewNumber number_ = kNoView;
  mutable std::uint64_t epoch_ = 0;  // that the number is of
};

// The recorder of this process, and what decides between it and NumPy. It is never destroyed:
// Python cleans up behind it.
struct Recording {
  Recorder recorder;
  std::int64_t at_once =
      0;  // calls on at most so many elements, all of them in memory, are NumPy's
  ArrayLibrary library = own_operations();

  // Waits, with the interpreter's lock given up, while another thread's window runs.
  static Recording& get();
  // Without a wait: whether a call may be NumPy's at once is no matter of windows.
  static std::int64_t limit();
  static std::int64_t usual_limit();
  // Before the process ends.
  static void end();
};

// ---- arrays (recorded_host.cpp)
RecordedArray* as_recorded(nb::handle object);  // null where it is none; it has a store
void settle(RecordedArray& array);
PyTypeObject* numpy_array_type();
// A new object of Python's, made of what a RecordedArray is made of.
template <typename... Parts>
nb::object make_object(Parts&&... parts) {
  static const nb::handle type = nb::type<RecordedArray>();
  nb::object made = nb::inst_alloc(type);
  new (nb::inst_ptr<RecordedArray>(made)) RecordedArray(std::forward<Parts>(parts)...);
  nb::inst_mark_ready(made);
  return made;
}
nb::object to_object(RecordedArray array);
inline nb::object to_object(StorePtr store) { return make_object(std::move(store)); }
// Whether the NumPy array that it keeps is still over its memory.
inline bool has_host(const RecordedArray& array) {
  return array.host.is_valid() && !array.store->is_pending() &&
         array.generation == array.store->generation();
}
// Where its elements lie in the memory of the store, in bytes.
struct Placed {
  std::int64_t offset = 0;
  Shape strides;
};
Placed placed_in_bytes(const RecordedArray& array);
// A NumPy array over its memory, after a flush where that is needed; it is not to be written to
// unless make_writable was called.
nb::object host_of(RecordedArray& array);
void make_writable(RecordedArray& array);
// What others may keep: a later write does not reach it.
nb::object snapshot(RecordedArray& array);
// What cannot be computed: too little memory in NumPy's words.
[[noreturn]] void throw_unread(const std::string& why, const Type& type);
// The same for NumPy, or others, to read and write at any time: from then on calls on it are
// NumPy's at once. An array over such memory that NumPy shows otherwise; NumPy's own where none of
// ours can.
nb::object shared_host(RecordedArray& array);
nb::object wrapped_shared(nb::object made);
// While one lives, what NumPy makes on this thread lies as kernels want it (numpy_memory.cpp).
class AlignedResults {
 public:
  AlignedResults();
  ~AlignedResults();
  AlignedResults(const AlignedResults&) = delete;
  AlignedResults& operator=(const AlignedResults&) = delete;

 private:
  PyObject* before_;
};
void add_aligned_results(nb::module_& module);
// NumPy's result as ours: its memory where nobody else has it, a view where it is memory of one of
// `given`, else a copy. What it is where NumPy has no number for it.
nb::object wrapped(nb::object result, std::span<RecordedArray* const> given = {});
// Any value as an array of ours: a copy of memory that is others'.
nb::object adopted(nb::handle value);

// ---- small arrays, at once (recorded_quick.cpp)
// NumPy's array where it is there, and small enough for a call at once; else null. Borrowed.
PyObject* quick_host(PyObject* x);
// NumPy's array where its memory is there, of whatever size; else null. Borrowed.
PyObject* host_at_rest(PyObject* x);
struct QuickHosts {
  PyObject *x = nullptr, *y = nullptr;
};
// The same for the operands of a call, of which one may be a number; y: null for one.
std::optional<QuickHosts> quick_hosts(PyObject* x, PyObject* y);
// NumPy's array to write to at once, borrowed; else null.
PyObject* quick_to_write(PyObject* self);
// Arithmetic on the smallest arrays of NumPy's, or one and a number (recorded_tiny.cpp): a new
// array, or the first where that is written to. Null where NumPy has to do it.
enum class Tiny : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  less,
  less_equal,
  equal,
  not_equal,
  greater,
  greater_equal,
  none
};
PyObject* tiny_call(Tiny what, PyObject* x, PyObject* y, bool in_place = false);
// A number of Python's in that type (f64, f32 or i64), at `to`; no where NumPy has something to say
// about it.
bool put_number(PyObject* from, DType dtype, void* to);
// An elementwise call on dense arrays of NumPy's, of one shape and type, or one and a number, by
// NumPy's own loop (numpy_loops.cpp). Null where NumPy has to do it all.
PyObject* loop_call(int call, PyObject* x, PyObject* y);
// All elements to one number, likewise.
enum class Whole : std::uint8_t { sum, prod, max, min, mean, any, all, none };
Whole whole_of(std::string_view name);
PyObject* whole_at_once(Whole what, PyObject* x);
// What NumPy has made of them, or its error: takes the reference.
PyObject* quick_result(PyObject* result);
// The product with a vector where all is in memory, of whatever size; null where it is none.
PyObject* library_product(PyObject* x, PyObject* y);
// What NumPy shows of the memory of one of these arrays of ours; null where it is none of theirs.
PyObject* quick_view(PyObject* shown, std::span<PyObject* const> arrays);
// a[…] as a view that NumPy makes, or one element; none where it is not for NumPy at once.
PyObject* quick_part(PyObject* self, PyObject* at);
// a[…] = value, likewise: 0 where it is done, 1 where it is not for NumPy, -1 for NumPy's error.
int quick_assign(PyObject* self, PyObject* at, PyObject* value);
bool owns_its_memory(PyObject* numpy_array);
nb::handle dtype_of_numpy(PyObject* numpy_array);
int rank_of_numpy(PyObject* numpy_array);
bool is_writable_numpy(PyObject* numpy_array);
void add_recorded_quick(nb::module_& module);

// A NumPy array over memory of ours, in its shape, and memory of NumPy's as ours.
nb::object host_over(const Array& array);
// `owner` keeps the memory.
nb::object over_memory(std::byte* data, nb::handle dtype, const Shape& shape, const Shape& strides,
                       nb::handle owner);
Array array_of_numpy(const nb::object& made);
std::byte* data_of_numpy(PyObject* numpy_array);
bool is_dense_numpy(PyObject* numpy_array);

// ---- operands (recorded_operands.cpp)
// A number of Python's own has no type of its own: NumPy fits it to the other operand.
enum class Weak : std::uint8_t { none, integer, real, complex };
struct Operand {
  RecordedArray* array = nullptr;  // else a number
  Weak weak = Weak::none;
  DType dtype = DType::f64;  // of arrays and typed numbers
  nb::object object;         // as it came, or an array that was made of it
  bool is_number() const { return array == nullptr; }
  int code() const;  // of its type
};
// None where recording does not know it.
std::optional<Operand> operand_of(nb::handle value);
// A number in an element type; none where NumPy would refuse it or warn.
std::optional<Array> number_as(const Operand& number, DType dtype);
// Inside of a call that is being recorded: in this type and shape.
Var read_as(Builder& builder, const Operand& operand, const std::optional<Array>& number,
            DType dtype, const Shape& shape);
Var read_array(RecordedArray& array);
// A new version in which what the array shows, which can be written, has that value.
void write_array(const RecordedArray& array, const Recorder::Write& write,
                 const struct NumpyCall& direct);
// NumPy's rule; none where they do not fit.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);
bool can_show(const RecordedArray& array);
// The dimensions of a result from the widest steps in memory to the narrowest, as NumPy lays it out
// for operands that lie so; each of these is a view of the result's shape, or broadcasts to it.
std::vector<std::size_t> memory_order(std::span<const AffineView* const> views, std::size_t rank);
// A new array with that value, whose dimensions lie in that order.
nb::object keep_in_order(const std::vector<std::size_t>& order, const Recorder::Write& write,
                         const NumpyCall& direct);
nb::object keep_array(const Recorder::Write& write, const NumpyCall& direct);

// ---- calls as NumPy does them at once (recorded_direct.cpp)
// An operand of one: an array, some other object, or neither: the array that is written to.
struct Given {
  const RecordedArray* array = nullptr;
  nb::object object = {};
};
struct NumpyCall {
  nb::object function = {};  // none: there is no such call
  std::vector<Given> given = {};
  DType dtype = DType::f64;  // of the result
  nb::object named = {};
};
// The step of a call that gives a new array, and of one that writes into an array.
DirectStepPtr direct_keep(const NumpyCall& call, const std::vector<std::size_t>& order = {});
DirectStepPtr direct_write(const NumpyCall& call, const RecordedArray& into);
std::unique_ptr<DirectMemory> numpy_memory();
DirectStepPtr direct_step(const Recorder& recorder, const RecordedCall& call);
// A function of python/heddle/numpy/_direct.py.
nb::object direct_function(const char* name);
nb::object setitem();  // operator.setitem

// ---- plain calls (recorded_plain.cpp): null, or no, where a call is none
PyObject* plain_elementwise(int call, PyObject* x, PyObject* y);  // y: null for one
bool plain_elementwise_into(int call, PyObject* into, PyObject* other);
bool plain_assign(const RecordedArray& self, const AffineView& into, const Operand& value,
                  const std::optional<Array>& number);
PyObject* plain_reduce(std::string_view name, const RecordedArray& of,
                       std::span<const std::int64_t> dims, bool keep, DType dtype);
// Products of matrices and vectors, in a type that both become.
PyObject* plain_product(const RecordedArray& x, const RecordedArray& y, DType dtype);
// The same where both are arrays of one type, and something of it is large or not there.
PyObject* plain_product_of(PyObject* x, PyObject* y);
// where(condition, x, y) of truth values, and arrays of one type or one such and a number.
PyObject* plain_where(PyObject* condition, PyObject* x, PyObject* y);
// The types of a call's loop, as NumPy resolves them for operands of these codes.
struct Loop {
  bool is_recorded = false;
  DType in[2] = {}, out = DType::f64;
};
const Loop& loop_of(int call, int first, int second);
// Whether NumPy lets a result of one type be written into another.
bool may_become(DType from, DType to);

// ---- calls
nb::object call_elementwise(int call, nb::handle x, nb::handle y);              // y: null for one
nb::object call_elementwise_into(int call, nb::handle into, nb::handle other);  // in place
nb::object get_item(nb::handle self, nb::handle at);
void set_item(nb::handle self, nb::handle at, nb::handle value);
// NumPy does it, on memory.
nb::object fall_back(const char* function, std::initializer_list<nb::handle> arguments);
int elementwise_number(std::string_view name);  // -1: there is none
nb::handle ufunc_of(int call);                  // NumPy's own
// Whether NumPy's results are not taken as they are (python/heddle/numpy/_standard.py).
bool has_rule_of_its_own(int call);

PyType_Slot* array_slots();  // recorded_operators.cpp
void add_recorded_calls(nb::module_& module);
void add_recorded_functions(nb::module_& module);  // recorded_functions.cpp
void add_recorded_library(nb::module_& module);

}  // namespace heddle::python
