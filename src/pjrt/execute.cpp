// Runs of executables: quick ones on the caller's thread, others behind what was called before.
#include <algorithm>

#include "heddle/deployment.h"
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
  std::vector<std::vector<bool>> taken;                   // arguments that the run may overwrite
  std::vector<void*> callbacks;                           // Python functions that it may call
  EventRef over = new_event();
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
    for (std::size_t i = 0; i < compiled.results.size(); ++i) {
      const Boundary& result = compiled.results[i];
      Memory& memory = *device.memory_list[static_cast<std::size_t>(result.memory_kind)];
      values.push_back(new_value(memory, result.type, run.over));
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
      if (const Status& status = value->ready()->wait(); !status.ok()) return status;
  return {};
}

bool are_ready(const Run& run) {
  for (const std::vector<ValueRef>& values : run.arguments)
    for (const ValueRef& value : values)
      if (!value->ready()->is_set()) return false;
  return true;
}

// An argument that nobody else looks at is handed over, to be overwritten in place.
DeviceParts arrays_of(Run& run) {
  DeviceParts arrays(run.arguments.size());
  for (std::size_t d = 0; d < arrays.size(); ++d)
    for (std::size_t i = 0; i < run.arguments[d].size(); ++i) {
      if (run.compiled->arguments[i].token) continue;
      ValueRef& value = run.arguments[d][i];
      const bool alone = run.taken[d][i] && value.use_count() == 1;
      arrays[d].push_back(alone ? value->take() : value->array());
    }
  return arrays;
}

Expected<DeviceParts> run_threads(const Compiled& compiled, DeviceParts arguments,
                                  const RunOptions& options) {
  if (compiled.request.count() > 1)
    return compiled.threads->run(compiled.executable, std::move(arguments), options);
  // One device to JAX, and a mesh of ours behind it.
  const Placement& placement = compiled.executable.placement();
  const auto devices = static_cast<std::size_t>(placement.devices());
  DeviceParts parts(devices);
  for (std::size_t i = 0; i < arguments[0].size(); ++i) {
    HEDDLE_TRY(std::vector<Array> cut, placement.arguments[i].parts_of(arguments[0][i]));
    for (std::size_t d = 0; d < devices; ++d) parts[d].push_back(std::move(cut[d]));
  }
  HEDDLE_TRY(const DeviceParts results,
             compiled.threads->run(compiled.executable, std::move(parts), options));
  std::vector<Array> wholes;
  for (std::size_t i = 0; i < placement.results.size(); ++i) {
    std::vector<Array> of_devices;
    for (const std::vector<Array>& of_device : results) of_devices.push_back(of_device[i]);
    HEDDLE_TRY(Array whole, placement.results[i].whole(of_devices));
    wholes.push_back(std::move(whole));
  }
  return DeviceParts{std::move(wholes)};
}

Expected<DeviceParts> run_arrays(const Run& run, DeviceParts arguments) {
  const Compiled& compiled = *run.compiled;
  RunOptions options;
  if (compiled.calls_host) options.host_call = caller_of(run.callbacks);
  if (!compiled.quick) options.stop = [&run] { return is_stopped(run); };
  if (compiled.threads) return run_threads(compiled, std::move(arguments), options);
  HEDDLE_TRY(std::vector<Array> results, compiled.executable.run(std::move(arguments[0]), options));
  return DeviceParts{std::move(results)};
}

bool is_argument(const Array& array, const std::vector<ValueRef>& arguments) {
  return std::ranges::any_of(arguments, [&](const ValueRef& value) {
    return value->type().bytes() > 0 && value->array().type().bytes() > 0 &&
           value->array().block() == array.block();
  });
}

// A result has memory of its own: that of an argument may be the caller's, and JAX takes the two
// for different arrays.
Array own(Array array, const std::vector<ValueRef>& arguments) {
  if (array.type().bytes() == 0 || array.block().use_count() == 1) return array;
  if (!array.block()->is_view() && !is_argument(array, arguments)) return array;
  return Array(array.type(), Block::copy_of(array.bytes()));
}

Status failure_of(const std::string& text) {
  const bool memory = text.find("not enough memory") != std::string::npos;
  return {memory ? Code::resource_exhausted : Code::internal, text};
}

Status run_now(Run& run) {
  try {
    if (Status status = wait_for(run); !status.ok()) return status;
    if (is_stopped(run)) return {Code::cancelled, "the run was stopped before it began"};
    Expected<DeviceParts> results = run_arrays(run, arrays_of(run));
    if (!results && is_stopped(run)) return {Code::cancelled, results.reason()};
    if (!results) return failure_of(results.reason());
    for (std::size_t d = 0; d < run.results.size(); ++d) {
      auto next = (*results)[d].begin();
      for (std::size_t i = 0; i < run.results[d].size(); ++i)
        if (!run.compiled->results[i].token)
          run.results[d][i]->fill(own(std::move(*next++), run.arguments[d]));
    }
    return {};
  } catch (...) {
    return current_failure();
  }
}

void finish(const std::shared_ptr<Run>& run) {
  Status status = run_now(*run);
  const EventRef over = run->over;
  run->arguments.clear();
  run->results.clear();
  over->set(std::move(status));
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
