// Runs of executables: quick ones on the caller's thread, others behind what was called before.
#include <algorithm>

#include "heddle/deployment.h"
#include "heddle/device.h"
#include "pjrt/buffer.h"
#include "pjrt/callbacks.h"
#include "pjrt/executable.h"
#include "pjrt/interrupts.h"
#include "pjrt/python.h"

namespace heddle::pjrt {

namespace {

// One run with all that it needs; lives until it is over.
struct Run {
  CompiledRef compiled;
  const Worker* worker = nullptr;
  std::uint64_t interrupts = pjrt::interrupts();          // before it was called
  std::vector<std::vector<ValueRef>> arguments, results;  // [device][number]
  std::vector<std::vector<Memory*>> places;               // of results
  std::vector<std::vector<bool>> taken;                   // arguments that the run may overwrite
  std::vector<void*> callbacks;                           // Python functions that it may call
  // Where the device has queues of its own, results have begun when its work is known to it.
  EventRef over = new_event(), begun = over;
  Worker* watcher = nullptr;
};

bool is_excepted(const ExecuteArgs& args, std::size_t argument) {
  const ExecuteOptions* options = args.options;
  if (options == nullptr) return false;
  const std::int64_t* first = options->not_donated;
  const std::int64_t* last = first + options->not_donated_count;
  return std::find(first, last, static_cast<std::int64_t>(argument)) != last;
}

// A buffer that is given away must not come twice.
void check_donated(const ExecuteArgs& args, std::size_t device, std::size_t argument) {
  BufferHandle* const* list = args.arguments[device];
  for (std::size_t i = 0; i < args.argument_count; ++i)
    if (i != argument && list[i] == list[argument])
      throw Failure(Code::invalid_argument,
                    fmt::format("attempt to donate the same buffer twice: argument {} is donated, "
                                "and argument {} is the same buffer ({})",
                                argument, i, list[i]->type.str()));
}

void take_arguments(const ExecuteArgs& args, const Compiled& compiled, Run& run) {
  if (args.argument_count != compiled.arguments.size())
    throw Failure(Code::invalid_argument,
                  fmt::format("{} takes {} arguments, {} came in", compiled.name,
                              compiled.arguments.size(), args.argument_count));
  for (std::size_t d = 0; d < args.device_count; ++d) {
    std::vector<ValueRef>& values = run.arguments.emplace_back();
    std::vector<bool>& taken = run.taken.emplace_back(args.argument_count, false);
    for (std::size_t i = 0; i < args.argument_count; ++i) {
      values.push_back(args.arguments[d][i]->value());
      taken[i] = compiled.arguments[i].donated && !is_excepted(args, i);
      if (taken[i]) check_donated(args, d, i);
    }
  }
  for (std::size_t d = 0; d < args.device_count; ++d)
    for (std::size_t i = 0; i < args.argument_count; ++i)
      if (run.taken[d][i]) args.arguments[d][i]->remove();
}

void give_results(ExecuteArgs& args, const LoadedExecutable& loaded, Run& run) {
  const Compiled& compiled = *run.compiled;
  for (std::size_t d = 0; d < args.device_count; ++d) {
    DeviceHandle& device = args.device != nullptr ? *args.device : *loaded.devices[d];
    std::vector<ValueRef>& values = run.results.emplace_back();
    std::vector<Memory*>& places = run.places.emplace_back();
    for (std::size_t i = 0; i < compiled.results.size(); ++i) {
      const Boundary& result = compiled.results[i];
      Memory& memory = *device.memory_list[static_cast<std::size_t>(result.memory_kind)];
      values.push_back(new_value(memory, result.type, run.over, run.begun));
      places.push_back(&memory);
      args.results[d][i] = new_buffer(memory, values.back());
      args.results[d][i]->layout = result.layout;
    }
    if (args.complete != nullptr) args.complete[d] = handle_of(run.over);
  }
}

// Whether nobody but the run itself can get at what it computes.
bool is_unheld(const Run& run) {
  for (const std::vector<ValueRef>& values : run.results)
    for (const ValueRef& value : values)
      if (value.use_count() > 1) return false;
  return true;
}

// By the end of the process or by Ctrl-C. Who catches KeyboardInterrupt may want what is being
// computed, so that only the second one ends a run for sure. The first one, and the end, leave runs
// alone that somebody may see: they call into Python, or their results are held.
bool is_stopped(const Run& run) {
  const std::uint64_t pressed = interrupts() - run.interrupts;
  if (pressed > 1) return true;
  if (pressed == 0 && !run.worker->is_ending()) return false;
  return run.callbacks.empty() && (run.worker->is_ending() || is_unheld(run));
}

// The first failure among the arguments; it becomes that of the results.
Status wait_for(const Run& run) {
  for (const std::vector<ValueRef>& values : run.arguments)
    for (const ValueRef& value : values)
      if (const Status& status = value->begun()->wait(); !status.ok()) return status;
  return {};
}

bool are_ready(const Run& run) {
  for (const std::vector<ValueRef>& values : run.arguments)
    for (const ValueRef& value : values)
      if (!value->begun()->is_set()) return false;
  return true;
}

// An argument that nobody else looks at is handed over, to be overwritten in place.
DeviceValues values_of(Run& run) {
  DeviceValues values(run.arguments.size());
  for (std::size_t d = 0; d < values.size(); ++d)
    for (std::size_t i = 0; i < run.arguments[d].size(); ++i) {
      if (run.compiled->arguments[i].token) continue;
      ValueRef& value = run.arguments[d][i];
      const bool alone = run.taken[d][i] && value.use_count() == 1;
      values[d].push_back(alone ? value->take() : value->value());
    }
  return values;
}

Expected<std::vector<Array>> host_arrays(Device& device, const std::vector<DeviceValue>& values) {
  const auto queue = device.queue();
  std::vector<Array> arrays;
  for (const DeviceValue& value : values) {
    HEDDLE_TRY(Array array, to_host(*queue, value));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Expected<DeviceValues> run_threads(const Compiled& compiled, DeviceValues arguments,
                                   const RunOptions& options) {
  const std::vector<Executable> executables = {compiled.executable};
  if (compiled.request.count() > 1)
    return compiled.threads->run_values(executables, std::move(arguments), options);
  // One device to JAX, and a mesh of ours behind it.
  Device& device = compiled.executable.device();
  const Placement& placement = compiled.executable.placement();
  const auto devices = static_cast<std::size_t>(placement.devices());
  HEDDLE_TRY(const std::vector<Array> given, host_arrays(device, arguments[0]));
  DeviceValues parts(devices);
  for (std::size_t i = 0; i < given.size(); ++i) {
    HEDDLE_TRY(std::vector<Array> cut, placement.arguments[i].parts_of(given[i]));
    for (std::size_t d = 0; d < devices; ++d) parts[d].push_back(std::move(cut[d]));
  }
  HEDDLE_TRY(const DeviceValues results,
             compiled.threads->run_values(executables, std::move(parts), options));
  DeviceParts arrays;
  for (const std::vector<DeviceValue>& of_device : results) {
    HEDDLE_TRY(std::vector<Array> own, host_arrays(device, of_device));
    arrays.push_back(std::move(own));
  }
  std::vector<DeviceValue> wholes;
  for (std::size_t i = 0; i < placement.results.size(); ++i) {
    std::vector<Array> of_devices;
    for (const std::vector<Array>& of_device : arrays) of_devices.push_back(of_device[i]);
    HEDDLE_TRY(Array whole, placement.results[i].whole(of_devices));
    wholes.emplace_back(std::move(whole));
  }
  return DeviceValues{std::move(wholes)};
}

Expected<DeviceValues> run_values(const Run& run, DeviceValues arguments) {
  const Compiled& compiled = *run.compiled;
  RunOptions options;
  if (compiled.calls_host) options.host_call = caller_of(run.callbacks);
  if (!compiled.quick) options.stop = [&run] { return is_stopped(run); };
  if (compiled.threads) return run_threads(compiled, std::move(arguments), options);
  HEDDLE_TRY(arguments[0], compiled.executable.run_values(std::move(arguments[0]), options));
  return arguments;
}

bool is_argument(const Array& array, const std::vector<ValueRef>& arguments) {
  return std::ranges::any_of(arguments, [&](const ValueRef& value) {
    return value->type().bytes() > 0 && value->value().in_host_memory() &&
           value->value().type().bytes() > 0 && value->value().array().block() == array.block();
  });
}

// A result has memory of its own: that of an argument may be the caller's, and JAX takes the two
// for different arrays.
DeviceValue own(DeviceValue value, const std::vector<ValueRef>& arguments) {
  if (!value.in_host_memory()) return value;
  const Array& array = value.array();
  if (array.type().bytes() == 0 || array.block().use_count() == 1) return value;
  if (!array.block()->is_view() && !is_argument(array, arguments)) return value;
  return Array(array.type(), Block::copy_of(array.bytes()));
}

Status failure_of(const std::string& text) {
  const bool memory = text.find("not enough memory") != std::string::npos ||
                      text.find("has no room for") != std::string::npos;
  return {memory ? Code::resource_exhausted : Code::internal, text};
}

Status run_now(Run& run) {
  try {
    if (Status status = wait_for(run); !status.ok()) return status;
    if (is_stopped(run)) return {Code::cancelled, "the run was stopped before it began"};
    Expected<DeviceValues> results = run_values(run, values_of(run));
    if (!results && is_stopped(run)) return {Code::cancelled, results.reason()};
    if (!results) return failure_of(results.reason());
    for (std::size_t d = 0; d < run.results.size(); ++d) {
      auto next = (*results)[d].begin();
      for (std::size_t i = 0; i < run.results[d].size(); ++i)
        if (!run.compiled->results[i].token)
          run.results[d][i]->fill(
              placed_in(*run.places[d][i], own(std::move(*next++), run.arguments[d])));
    }
    return {};
  } catch (...) {
    return current_failure();
  }
}

// When all results are there; in the order in which runs began.
void watch(const std::shared_ptr<Run>& run) {
  std::vector<Event> events;
  for (const std::vector<ValueRef>& values : run->results)
    for (const ValueRef& value : values)
      if (Event ready = value->value().ready(); !ready.done()) events.push_back(std::move(ready));
  run->watcher->add([events = std::move(events), over = run->over] {
    Status status;
    for (const Event& event : events)
      if (const Verdict done = event.wait(); !done && status.ok())
        status = failure_of(done.reason());
    over->set(std::move(status));
  });
}

void finish(const std::shared_ptr<Run>& run) {
  Status status = run_now(*run);
  const EventRef over = run->over, begun = run->begun;
  if (begun != over && status.ok()) watch(run);
  run->arguments.clear();
  run->results.clear();
  begun->set(status);
  if (begun != over && !status.ok()) over->set(std::move(status));
}

}  // namespace

void execute(ExecuteArgs& args) {
  LoadedExecutable& loaded = *args.executable;
  if (loaded.deleted) throw Failure(Code::invalid_argument, "the executable has been deleted");
  const std::size_t devices = args.device != nullptr ? 1 : loaded.devices.size();
  if (args.device_count != devices)
    throw Failure(Code::invalid_argument,
                  fmt::format("{} runs on {} devices, arguments for {} came in",
                              loaded.compiled->name, devices, args.device_count));
  auto run = std::make_shared<Run>();
  run->compiled = loaded.compiled;
  if (loaded.compiled->calls_host && args.options != nullptr)
    run->callbacks = callbacks_of(args.options->context);
  run->watcher = &loaded.client->watcher;
  if (!loaded.client->device.in_host_memory()) run->begun = new_event();
  take_arguments(args, *loaded.compiled, *run);
  give_results(args, loaded, *run);
  Worker& worker = loaded.client->worker;
  run->worker = &worker;
  const bool quick = loaded.compiled->quick && worker.is_idle() && are_ready(*run);
  if (!loaded.compiled->quick) watch_interrupts();
  if (quick || is_in_python_call())
    finish(run);
  else
    worker.add([run] { finish(run); });
}

}  // namespace heddle::pjrt
