#include "python/function.h"

#include <algorithm>
#include <utility>

#include "pjrt/callbacks.h"
#include "python/host_array.h"
#include "python/places.h"

namespace heddle::python {

namespace {

constexpr const char* kDonated = "was donated to a call, which has taken its memory";

// Whoever runs it polls for signals; only the caller's thread may.
template <typename Run>
auto run_with_signals(RunOptions options, Run run) {
  Signals signals;
  options.stop = [&] { return signals.raised(); };
  auto results = [&] {
    const nb::gil_scoped_release free;
    return run(options);
  }();
  signals.throw_pending();
  return std::move(results).value();
}

// A result that is an argument must not be memory that Python has lent.
void own(DeviceValue& result) {
  if (!result.in_host_memory()) return;
  const Array& array = result.array();
  if (array.block() && array.block()->is_view())
    result = Array(array.type(), Block::copy_of(array.bytes()));
}

// What lies on one GPU cannot be used on another device; what lies in host memory can be copied.
void want_usable(const DeviceArray& array, const Device& device) {
  const Device* lies_on = array.memory_of();
  if (lies_on == nullptr || lies_on == &device) return;
  const std::string_view there = lies_on->name();
  throw Error(fmt::format(
      "an array of type {} on {} came in, and the function runs on {}: make it with "
      "heddle.jit(..., device=\"{}\"), or bring the array to the host with numpy.asarray",
      array.type().str(), there, device.name(), there));
}

}  // namespace

CompiledFunction::CompiledFunction(const Executable& executable, std::vector<bool> donated,
                                   Transport* ranks, nb::list callbacks)
    : executable_(executable),
      placement_(std::make_shared<const Placement>(executable.placement())),
      donated_(std::move(donated)),
      ranks_(ranks),
      held_(std::move(callbacks)),
      deployment_(Deployment::open(executable, {.ranks = ranks}).value()) {
  donated_.resize(placement_->arguments.size());
  for (nb::handle function : held_) callbacks_.push_back(function.ptr());
}

DeviceValue CompiledFunction::one_value(nb::handle leaf, const Type& type, DeviceArray* ours,
                                        bool donate, Held& held) {
  Device& device = executable_.device();
  if (device.in_host_memory()) {
    if (ours != nullptr) return donate ? ours->take_value(kDonated) : ours->whole_for_call();
    held.arrays.push_back(to_array(leaf, type));
    return held.arrays.back();
  }
  if (ours == nullptr) {
    if (auto lent = held.borrowed.borrow(leaf, type, device)) {
      held.values.push_back(*lent);  // so that nothing is written there
      return *std::move(lent);
    }
    const Array array = to_array(leaf, type);
    const nb::gil_scoped_release free;
    return upload(device, array);
  }
  DeviceValue value = donate ? ours->take_value(kDonated) : ours->value();
  if (!value.in_host_memory()) return value;
  const nb::gil_scoped_release free;
  return upload(device, std::move(value));
}

// In host memory, to be dealt out from there.
Array CompiledFunction::host_whole(nb::handle leaf, const Type& type, DeviceArray* ours,
                                   bool donate, Held& held) {
  if (ours == nullptr && !executable_.in_host_memory())
    if (auto lent = held.borrowed.borrow(leaf, type, executable_.device())) {
      const nb::gil_scoped_release free;
      return download(*lent);
    }
  if (ours == nullptr) return to_array(leaf, type);
  const nb::gil_scoped_release free;
  Array whole = ours->whole_for_call();
  if (donate) ours->drop(kDonated);
  return whole;
}

void CompiledFunction::add_argument(nb::handle leaf, std::size_t number, bool donate,
                                    DeviceValues& parts, Held& held) {
  const PlacedValue& placed = placement_->arguments[number];
  DeviceArray* ours = nullptr;
  if (nb::inst_check(leaf) && nb::isinstance<DeviceArray>(leaf))
    ours = nb::inst_ptr<DeviceArray>(leaf);
  if (ours != nullptr) want_usable(*ours, executable_.device());
  if (ours != nullptr && ours->type() != placed.type()) ours = nullptr;
  if (!placement_->on_mesh() && (ours == nullptr || !ours->on_mesh())) {
    parts[0].push_back(one_value(leaf, placed.type(), ours, donate, held));
    return;
  }
  if (ours != nullptr && ours->on_mesh() && placement_->on_mesh() &&
      lies_alike(*ours->placed(), placed)) {
    std::vector<DeviceValue> own = donate ? ours->take_parts(kDonated) : ours->parts();
    for (std::size_t d = 0; d < parts.size(); ++d) parts[d].push_back(std::move(own[d]));
    return;
  }
  const Array whole = host_whole(leaf, placed.type(), ours, donate, held);
  held.arrays.push_back(whole);
  const nb::gil_scoped_release free;
  if (!placement_->on_mesh()) {
    parts[0].push_back(upload(executable_.device(), whole));
    return;
  }
  std::vector<Array> dealt = deployment_.parts_of(whole, number).value();
  for (std::size_t d = 0; d < parts.size(); ++d)
    parts[d].push_back(upload(executable_.device(), std::move(dealt[d])));
}

DeviceValues CompiledFunction::arguments_from(nb::handle leaves, bool keep, Held& held) {
  const std::size_t count = nb::len(leaves);
  if (count != placement_->arguments.size())
    throw Error(fmt::format("the program takes {} arguments, and {} came in",
                            placement_->arguments.size(), count));
  DeviceValues parts(deployment_.here());
  for (std::vector<DeviceValue>& of_device : parts) of_device.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    add_argument(leaves[i], i, !keep && donated_[i], parts, held);
  return parts;
}

nb::list CompiledFunction::wrap(DeviceValues results) {
  for (std::vector<DeviceValue>& of_device : results)
    for (DeviceValue& result : of_device) own(result);
  nb::list out;
  for (std::size_t i = 0; i < placement_->results.size(); ++i) {
    if (!placement_->on_mesh()) {
      out.append(
          nb::cast(new DeviceArray(std::move(results[0][i])), nb::rv_policy::take_ownership));
      continue;
    }
    std::vector<DeviceValue> parts;
    for (std::vector<DeviceValue>& of_device : results) parts.push_back(std::move(of_device[i]));
    const std::shared_ptr<const PlacedValue> placed(placement_, &placement_->results[i]);
    out.append(
        nb::cast(new DeviceArray(placed, std::move(parts), ranks_), nb::rv_policy::take_ownership));
  }
  return out;
}

namespace {

// Functions in whose calls into Python this thread is.
thread_local std::vector<const CompiledFunction*> calling;

}  // namespace

RunOptions CompiledFunction::with_callbacks(RunOptions options) const {
  if (callbacks_.empty()) return options;
  std::vector<const CompiledFunction*> inside = calling;
  inside.push_back(this);
  options.host_call = [call = pjrt::caller_of(callbacks_),
                       inside = std::move(inside)](const HostCall& host) {
    const auto before = std::exchange(calling, inside);
    auto results = call(host);
    calling = before;
    return results;
  };
  return options;
}

nb::list CompiledFunction::call(nb::handle leaves, const RunOptions& options) {
  if (placement_->on_mesh() && std::ranges::find(calling, this) != calling.end())
    throw Error(
        "a function on a mesh was called again from a call into Python that it makes itself, and "
        "would wait for its own end: call another function there, or one on one device");
  Held held;
  DeviceValues arguments = arguments_from(leaves, false, held);
  DeviceValues results = run_with_signals(with_callbacks(options), [&](const RunOptions& own) {
    return deployment_.run_values(std::move(arguments), own);
  });
  if (!executable_.in_host_memory())
    held.borrowed.give_back(executable_.device(),
                            results[0].empty() ? Event() : results[0][0].ready());
  return wrap(std::move(results));
}

std::vector<StepTime> CompiledFunction::profile(nb::handle leaves, int runs, TraceRecorder* trace) {
  Held held;
  const DeviceValues arguments = arguments_from(leaves, true, held);
  std::vector<StepTime> times;
  (void)run_with_signals({}, [&](const RunOptions& polled) {
    // Machine code and memory are there after the first.
    auto results = deployment_.run_values(arguments, with_callbacks(polled));
    for (int i = 0; i < runs && results; ++i) {
      RunOptions own = with_callbacks(polled);
      own.times = &times;
      own.trace = trace;
      results = deployment_.run_values(arguments, own);
    }
    if (results)
      for (const std::vector<DeviceValue>& of_device : *results)
        for (const DeviceValue& value : of_device) value.ready().wait().value();
    return results;
  });
  return times;
}

}  // namespace heddle::python
