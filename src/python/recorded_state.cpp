// What Python asks of the recorder itself: counts, limits, devices, reports.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "python/bindings.h"
#include "python/recorded_calls.h"

namespace heddle::python {

namespace {

// Threads of this process as devices; as ranks it has those that were started.
void set_devices(int count, std::optional<std::int64_t> least) {
  if (recorder().devices() && recorder().devices()->are_ranks())
    throw Error("devices are the ranks that were started, and their number does not change");
  constexpr int kMost = 1024;
  if (count < 1 || count > kMost)
    throw Error(fmt::format("{} devices are asked for: threads can be 1 to {}", count, kMost));
  std::shared_ptr<WindowDevices> devices;
  if (count > 1)
    devices = std::make_shared<WindowDevices>(count, least.value_or(WindowDevices::kLeastElements));
  recorder().set_devices(std::move(devices)).value();
}

// "cuda", "cuda:1"; "cpu": all windows run in the host's memory.
void set_device(const std::string& name, std::optional<std::int64_t> least) {
  Device* const device = find_device(name).value();
  recorder().set_device(device, least.value_or(Recorder::kLeastThere)).value();
}

nb::dict counts() {
  const RecordCounts& all = recorder().counts();
  nb::dict numbers;
  numbers["windows"] = all.windows;
  numbers["calls"] = all.calls;
  numbers["ops"] = all.ops;
  numbers["launches"] = all.launches;
  numbers["compiled"] = all.compiled;
  numbers["found"] = all.found;
  numbers["direct"] = all.direct;
  numbers["pieces"] = all.pieces;
  numbers["bytes_sent"] = all.bytes_sent;
  numbers["bytes_there"] = all.bytes_there;
  numbers["bytes_back"] = all.bytes_back;
  numbers["bytes_in"] = all.bytes_in;
  numbers["bytes_out"] = all.bytes_out;
  return numbers;
}

}  // namespace

void add_recording_state(nb::module_& calls) {
  calls.def("counts", counts);
  calls.def("at_once", [] { return Recording::get().at_once; });
  calls.def("set_at_once", [](std::int64_t elements) { Recording::get().at_once = elements; });
  calls.def("devices", [] {
    const auto& devices = recorder().devices();
    return devices ? devices->count() : 1;
  });
  calls.def("memory_limit", [] { return recorder().memory_limit(); });
  calls.def("set_memory_limit", [](std::int64_t bytes) { recorder().set_memory_limit(bytes); });
  calls.def("devices_for", [](std::int64_t elements) {
    const auto& devices = recorder().devices();
    return devices ? devices->count_for(elements) : 1;
  });
  calls.def("set_devices", set_devices, nb::arg("count"), nb::arg("least") = nb::none());
  calls.def("set_device", set_device, nb::arg("name"), nb::arg("least") = nb::none());
  calls.def("device", [] {
    const Device* const device = recorder().device();
    return std::string(device != nullptr ? device->name() : "cpu");
  });
  calls.def("runs_there", [](std::int64_t elements) { return recorder().runs_there(elements); });
  calls.def("set_direct", [](const std::string& when) {
    recorder().set_direct(when == "never"    ? DirectRuns::never
                          : when == "always" ? DirectRuns::always
                                             : DirectRuns::unknown);
  });
  calls.def("wait_for_code", [] {
    const nb::gil_scoped_release free;
    recorder().wait_for_code();
  });
  calls.def("stop_compiling", [] { Recording::end(); });
  calls.def("explain", [] { return recorder().explain(); });
  calls.def("set_profiling", [](bool on) { recorder().set_profiling(on); });
  calls.def("profile", [] { return recorder().profile(); });
  calls.def("flush", [] { recorder().flush().value(); });
}

}  // namespace heddle::python
