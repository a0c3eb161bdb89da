// CompiledFunction: an executable on its devices, called with what Python has.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "heddle/deployment.h"
#include "heddle/target.h"
#include "python/device_array.h"
#include "python/foreign.h"
#include "python/signals.h"

namespace heddle::python {

// The process's place among others, where a launcher has started it; else null.
Transport* launched_rank();

class CompiledFunction {
 public:
  // `callbacks`: Python functions that the program calls while it runs, by their numbers in it.
  CompiledFunction(const Executable& executable, std::vector<bool> donated, Transport* ranks,
                   nb::list callbacks);

  // One value per argument; results as heddle.Array.
  nb::list call(nb::handle leaves, const RunOptions& options = {});

  // For Python's collector: callbacks may lead back to who calls this.
  nb::handle held() const { return held_; }
  void drop_callbacks() {
    callbacks_.clear();
    held_ = nb::list();
  }

  const Executable& executable() const { return executable_; }
  const Placement& placement() const { return *placement_; }

  // Times of all steps over so many runs on the same arguments, which stay as they are.
  std::vector<StepTime> profile(nb::handle leaves, int runs, TraceRecorder* trace);

 private:
  // What a call holds while it runs: what Python lends is given back with the GIL.
  struct Held {
    std::vector<Array> arrays;
    std::vector<DeviceValue> values;
    Borrowings borrowed;
  };
  DeviceValues arguments_from(nb::handle leaves, bool keep, Held& held);
  void add_argument(nb::handle leaf, std::size_t number, bool donate, DeviceValues& parts,
                    Held& held);
  DeviceValue one_value(nb::handle leaf, const Type& type, DeviceArray* ours, bool donate,
                        Held& held);
  Array host_whole(nb::handle leaf, const Type& type, DeviceArray* ours, bool donate, Held& held);
  nb::list wrap(DeviceValues results);
  // For one run: devices that call together count their calls from its beginning.
  RunOptions with_callbacks(RunOptions options) const;

  Executable executable_;
  std::shared_ptr<const Placement> placement_;
  std::vector<bool> donated_;
  Transport* ranks_;
  nb::list held_;  // keeps the callbacks alive
  std::vector<void*> callbacks_;
  Deployment deployment_;
};

}  // namespace heddle::python
