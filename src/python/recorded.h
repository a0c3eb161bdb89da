// heddle.numpy's ndarray: a view of a store that calls are recorded on. What NumPy can do at once,
// on memory, is left to NumPy.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "heddle/array_library.h"
#include "heddle/recorder.h"

namespace heddle::python {

namespace nb = nanobind;

struct RecordedArray {
  StorePtr store;
  AffineView view;
  bool writable = true;
  nb::object host = {};  // a NumPy array over the memory of `generation`
  std::uint64_t generation = 0;

  explicit RecordedArray(StorePtr of) : store(std::move(of)) {
    view = AffineView::whole(store->type().shape);
  }
  RecordedArray(StorePtr of, AffineView shows, bool may_write)
      : store(std::move(of)), view(std::move(shows)), writable(may_write) {}

  DType dtype() const { return store->type().dtype; }
  const Shape& shape() const { return view.shape; }
  bool at_rest() const { return !store->is_pending() && store->memory().in_host_memory(); }
};

// The recorder of this process, and what decides between it and NumPy. It is never destroyed:
// Python cleans up behind it.
struct Recording {
  Recorder recorder;
  std::int64_t at_once =
      0;  // calls on at most so many elements, all of them in memory, are NumPy's
  ArrayLibrary library = own_operations();

  static Recording& get();
};

// ---- arrays (recorded_host.cpp)
RecordedArray* as_recorded(nb::handle object);  // null where it is none
nb::object to_object(RecordedArray array);
inline nb::object to_object(StorePtr store) { return to_object(RecordedArray(std::move(store))); }
// Whether the NumPy array that it keeps is still over its memory.
inline bool has_host(const RecordedArray& array) {
  return array.host.is_valid() && !array.store->is_pending() &&
         array.generation == array.store->generation();
}
// A NumPy array over its memory, after a flush where that is needed; it is not to be written to
// unless make_writable was called.
nb::object host_of(RecordedArray& array);
void make_writable(RecordedArray& array);
// NumPy's result as ours: its memory where nobody else has it, a view where it is memory of one of
// `given`, else a copy. What it is where NumPy has no number for it.
nb::object wrapped(nb::object result, std::span<RecordedArray* const> given = {});
// Any value as an array of ours: a copy of memory that is others'.
nb::object adopted(nb::handle value);

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
// NumPy's rule; none where they do not fit.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);
bool can_show(const RecordedArray& array);
// The dimensions of a result from the widest steps in memory to the narrowest, as NumPy lays it out
// for operands that lie so; each of these is a view of the result's shape, or broadcasts to it.
std::vector<std::size_t> memory_order(std::span<const AffineView* const> views, std::size_t rank);
// A new array with that value, whose dimensions lie in that order.
nb::object keep_in_order(const std::vector<std::size_t>& order, const Recorder::Write& write);

// ---- calls
nb::object call_elementwise(int call, nb::handle x, nb::handle y);              // y: null for one
nb::object call_elementwise_into(int call, nb::handle into, nb::handle other);  // in place
nb::object get_item(nb::handle self, nb::handle at);
void set_item(nb::handle self, nb::handle at, nb::handle value);
// NumPy does it, on memory.
nb::object fall_back(const char* function, std::initializer_list<nb::handle> arguments);
int elementwise_number(std::string_view name);  // -1: there is none

void add_recorded_calls(nb::module_& module);
void add_recorded_library(nb::module_& module);

}  // namespace heddle::python
