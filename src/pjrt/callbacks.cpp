#include "pjrt/callbacks.h"

#include "ir/attr_access.h"
#include "pjrt/python.h"

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
  if (!calls_python(target))
    return reason("custom call @{} is not implemented by Heddle", target);
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

HostCaller caller_of(std::vector<void*> functions) {
  return [functions = std::move(functions)](const HostCall& host) { return call(functions, host); };
}

}  // namespace heddle::pjrt
