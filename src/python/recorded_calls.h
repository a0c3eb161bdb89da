// What files of calls on recorded arrays share.
#pragma once

#include "heddle/array_ops.h"
#include "python/host_array.h"
#include "python/recorded.h"

namespace heddle::python {

using Dims = Builder::Dims;

inline Recorder& recorder() { return Recording::get().recorder; }

// Whether a call on these is recorded: something is large or not there yet, and all can be shown.
inline bool is_recorded(std::initializer_list<RecordedArray*> arrays) {
  bool worth = false;
  for (RecordedArray* array : arrays) {
    if (!can_show(*array)) return false;
    worth = worth || !array->at_rest() || array->elements() > Recording::get().at_once;
  }
  return worth;
}

// As the array lies.
inline std::vector<std::size_t> order_of(const RecordedArray& array) {
  const AffineView* view = &array.view();
  return memory_order({&view, 1}, array.view().rank());
}

template <typename T>
Given object(const T& value) {
  return {nullptr, nb::cast(value)};
}
inline Given given_of(const Operand& operand) {
  return {operand.array, operand.array ? nb::object() : operand.object};
}
inline nb::object numpy_function(const char* name) {
  return nb::module_::import_("numpy").attr(name);
}

inline RecordedArray* array_of(nb::handle value) {
  RecordedArray* array = as_recorded(value);
  if (array == nullptr) throw nb::type_error("an ndarray of heddle.numpy was expected");
  return array;
}

void add_recorded_choices(nb::module_& calls);  // recorded_choices.cpp
void add_recording_state(nb::module_& calls);   // recorded_state.cpp

}  // namespace heddle::python
