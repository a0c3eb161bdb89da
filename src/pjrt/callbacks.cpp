#include "pjrt/callbacks.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "ir/attr_access.h"
#include "pjrt/python.h"
#include "pjrt/whole_calls.h"

namespace heddle::pjrt {

namespace {

// The two ways in which JAX lowers pure_callback, io_callback and debug.callback.
bool calls_python(std::string_view target) {
  return target == "xla_ffi_python_cpu_callback" ||
         target == "xla_ffi_partitioned_python_cpu_callback";
}

std::vector<Type> types_of(const Program& program, std::span<const ValueId> values) {
  std::vector<Type> types;
  for (ValueId v : values) types.push_back(program.type_of(v));
  return types;
}

Expected<std::vector<Array>> call(const std::vector<void*>& functions, const HostCall& call) {
  const std::string_view target = text_or(call.program.attr(call.op, "call_target_name"), "");
  if (!calls_python(target)) return reason("custom call @{} is not implemented by Heddle", target);
  const Attr* config = call.program.attr(call.op, "mhlo.backend_config");
  const std::int64_t index = integer_or(field(config, "index"), -1);
  if (index < 0 || index >= static_cast<std::int64_t>(functions.size()))
    return reason("@{} calls Python function {} of {} that came with the run", target, index,
                  functions.size());
  std::vector<Type> results;
  for (std::size_t i = 0; i < call.op.result_count; ++i)
    results.push_back(call.program.type_of(call.program.result(call.op, i)));
  const std::vector<Array> operands(call.operands.begin(), call.operands.end());
  return call_python(functions[static_cast<std::size_t>(index)], operands,
                     types_of(call.program, call.program.operands(call.op)), results);
}

}  // namespace

std::vector<void*> callbacks_of(const ExecuteContext* context) {
  if (context == nullptr || context->callbacks == nullptr) return {};
  const CallbackList& list = *context->callbacks;
  std::vector<void*> functions;
  for (std::uint32_t i = 0; i < list.count; ++i) functions.push_back(list.callbacks[i]);
  return functions;
}

namespace {

// Calls that all devices of a run make together. Each device, a thread, comes to them in the same
// order; the first one calls, and the others take what it got.
class SharedCalls {
 public:
  using Results = Expected<std::vector<Array>>;

  Results call(const std::vector<void*>& functions, const HostCall& host) {
    std::unique_lock lock(mutex_);
    const std::size_t number = next_[std::this_thread::get_id()]++;
    if (number < calls_.size()) {
      change_.wait(lock, [&] { return calls_[number].has_value(); });
      return *calls_[number];
    }
    calls_.emplace_back();
    lock.unlock();
    Results results = pjrt::call(functions, host);
    lock.lock();
    calls_[number] = results;
    change_.notify_all();
    return results;
  }

 private:
  std::mutex mutex_;
  std::condition_variable change_;
  std::map<std::thread::id, std::size_t> next_;
  std::deque<std::optional<Results>> calls_;
};

}  // namespace

HostCaller caller_of(std::vector<void*> functions) {
  return [functions = std::move(functions),
          shared = std::make_shared<SharedCalls>()](const HostCall& host) {
    const bool once = host.program.attr(host.op, kOnce) != nullptr;
    return once ? shared->call(functions, host) : call(functions, host);
  };
}

}  // namespace heddle::pjrt
