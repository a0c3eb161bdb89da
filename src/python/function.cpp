#include "python/function.h"

#include "pjrt/callbacks.h"
#include "python/host_array.h"

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

Array whole_of(DeviceArray& array, bool donate) {
  if (!array.on_mesh()) return donate ? array.take_whole(kDonated) : array.whole_for_call();
  const nb::gil_scoped_release free;
  return donate ? array.take_whole(kDonated) : array.whole_for_call();
}

// A result that is an argument must not be memory that Python has lent.
void own(Array& result) {
  if (result.block() && result.block()->is_view())
    result = Array(result.type(), Block::copy_of(result.bytes()));
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

void CompiledFunction::add_argument(nb::handle leaf, std::size_t number, bool donate,
                                    DeviceParts& parts, std::vector<Array>& held) {
  const PlacedValue& placed = placement_->arguments[number];
  DeviceArray* ours = nullptr;
  if (nb::inst_check(leaf) && nb::isinstance<DeviceArray>(leaf))
    ours = nb::inst_ptr<DeviceArray>(leaf);
  const bool fits = ours != nullptr && ours->type() == placed.type();
  if (fits && ours->on_mesh() && placement_->on_mesh() && lies_alike(*ours->placed(), placed)) {
    std::vector<Array> own = donate ? ours->take_parts(kDonated) : ours->parts();
    for (std::size_t d = 0; d < parts.size(); ++d) parts[d].push_back(std::move(own[d]));
    return;
  }
  const Array whole = fits ? whole_of(*ours, donate) : to_array(leaf, placed.type());
  if (!placement_->on_mesh()) {
    // What Python lends is given back while the GIL is held.
    if (!fits) held.push_back(whole);
    parts[0].push_back(whole);
    return;
  }
  held.push_back(whole);
  const nb::gil_scoped_release free;
  std::vector<Array> dealt = deployment_.parts_of(whole, number).value();
  for (std::size_t d = 0; d < parts.size(); ++d) parts[d].push_back(std::move(dealt[d]));
}

DeviceParts CompiledFunction::arguments_from(nb::handle leaves, bool keep,
                                             std::vector<Array>& held) {
  const std::size_t count = nb::len(leaves);
  if (count != placement_->arguments.size())
    throw Error(fmt::format("the program takes {} arguments, and {} came in",
                            placement_->arguments.size(), count));
  DeviceParts parts(deployment_.here());
  for (std::vector<Array>& of_device : parts) of_device.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    add_argument(leaves[i], i, !keep && donated_[i], parts, held);
  return parts;
}

nb::list CompiledFunction::wrap(DeviceParts results) {
  for (std::vector<Array>& of_device : results)
    for (Array& result : of_device) own(result);
  nb::list out;
  for (std::size_t i = 0; i < placement_->results.size(); ++i) {
    if (!placement_->on_mesh()) {
      out.append(
          nb::cast(new DeviceArray(std::move(results[0][i])), nb::rv_policy::take_ownership));
      continue;
    }
    std::vector<Array> parts;
    for (std::vector<Array>& of_device : results) parts.push_back(std::move(of_device[i]));
    const std::shared_ptr<const PlacedValue> placed(placement_, &placement_->results[i]);
    out.append(
        nb::cast(new DeviceArray(placed, std::move(parts), ranks_), nb::rv_policy::take_ownership));
  }
  return out;
}

RunOptions CompiledFunction::with_callbacks(RunOptions options) const {
  if (!callbacks_.empty()) options.host_call = pjrt::caller_of(callbacks_);
  return options;
}

nb::list CompiledFunction::call(nb::handle leaves, const RunOptions& options) {
  std::vector<Array> held;
  DeviceParts arguments = arguments_from(leaves, false, held);
  return wrap(run_with_signals(with_callbacks(options), [&](const RunOptions& own) {
    return deployment_.run(std::move(arguments), own);
  }));
}

std::vector<StepTime> CompiledFunction::profile(nb::handle leaves, int runs, TraceRecorder* trace) {
  std::vector<Array> held;
  const DeviceParts arguments = arguments_from(leaves, true, held);
  std::vector<StepTime> times;
  (void)run_with_signals({}, [&](const RunOptions& polled) {
    // Machine code and memory are there after the first.
    auto results = deployment_.run(arguments, with_callbacks(polled));
    for (int i = 0; i < runs && results; ++i) {
      RunOptions own = with_callbacks(polled);
      own.times = &times;
      own.trace = trace;
      results = deployment_.run(arguments, own);
    }
    return results;
  });
  return times;
}

}  // namespace heddle::python
