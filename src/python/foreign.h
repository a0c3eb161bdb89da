// Memory of a device that other libraries lend by DLPack, and that they are lent.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <optional>

#include "heddle/device_value.h"
#include "python/device_array.h"

namespace heddle::python {

namespace nb = nanobind;

// What a call has borrowed: it is held until the call's work is over, and streams of its owners go
// on after that.
class Borrowings {
 public:
  // The value without a copy where it lies dense, aligned and on this device; what is on its
  // owner's stream comes before. None where it lies in host memory.
  std::optional<DeviceValue> borrow(nb::handle value, const Type& type, Device& device);
  // After the work was given to the device: `over` is when it is done. With the GIL.
  void give_back(Device& device, const Event& over);

 private:
  std::vector<std::shared_ptr<void>> held_;
  std::vector<std::uintptr_t> streams_;  // of owners who may write to it from now on
};

// Lets go of what calls have borrowed that are over. With the GIL.
void return_borrowed();
// When Python ends: waits for calls that still read what they have borrowed.
void return_all_borrowed();

// The capsule of DLPack's protocol: the memory itself, unless a copy is wished for. Whoever takes
// it must not write to it. The stream that is named waits for the value.
nb::object to_dlpack(const DeviceArray& array, const nb::object& stream, bool copy);

}  // namespace heddle::python
