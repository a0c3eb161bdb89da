#include "pjrt/python.h"

#include <atomic>

#include "pjrt/buffer.h"
#include "pjrt/error.h"
#include "pjrt/hooks.h"

namespace heddle::pjrt {

namespace {

std::atomic<const HeddlePjrtHooks*> set_hooks = nullptr;
std::atomic<bool (*)()> signal_check = nullptr;
std::atomic<void (*)()> interrupt_again = nullptr;
thread_local int python_calls = 0;

void append(void* sink, const char* text, std::size_t size) {
  static_cast<std::string*>(sink)->append(text, size);
}

// Whether a hook has failed. Ctrl-C that came up inside of it comes up once more in who has called
// the entry at hand.
bool has_failed(int status) {
  void (*again)() = interrupt_again;
  if (status == kHeddleInterrupted && again != nullptr) again();
  return status != 0;
}

HeddleArray described(const Type& type, const std::string& dtype, void* data) {
  HeddleArray array = {};
  array.dtype = dtype.c_str();
  array.dims = type.shape.data();
  array.rank = type.shape.size();
  array.data = data;
  array.bytes = type.is_tensor() ? static_cast<std::size_t>(type.bytes()) : 0;
  return array;
}

std::string dtype_text(const Type& type) {
  return type.is_tensor() ? std::string(name(type.dtype)) : "token";
}

}  // namespace

std::string decode_bytecode(std::string_view code) {
  const HeddlePjrtHooks* hooks = set_hooks;
  if (hooks == nullptr)
    throw Failure(Code::failed_precondition,
                  "the program is MLIR bytecode, which only the Python package `heddle` can turn "
                  "into text: load the plugin through it");
  std::string text;
  if (has_failed(hooks->decode(code.data(), code.size(), &text, append)))
    throw Failure(Code::invalid_argument, "jaxlib cannot read the program: " + text);
  return text;
}

std::string only_hlo(std::string_view text) {
  const HeddlePjrtHooks* hooks = set_hooks;
  std::string code;
  if (hooks == nullptr || has_failed(hooks->only_hlo(text.data(), text.size(), &code, append)))
    throw Failure(Code::unimplemented, "the program cannot be written as HLO: " + code);
  return code;
}

std::string trouble_with_options(std::string_view options) {
  const HeddlePjrtHooks* hooks = set_hooks;
  std::string text;
  if (hooks == nullptr ||
      has_failed(hooks->check_options(options.data(), options.size(), &text, append)))
    return "";
  return text;
}

Expected<std::vector<Array>> call_python(void* callable, const std::vector<Array>& arguments,
                                         const std::vector<Type>& argument_types,
                                         const std::vector<Type>& result_types) {
  const HeddlePjrtHooks* hooks = set_hooks;
  if (hooks == nullptr)
    return Reason{
        "a call into Python needs the Python package `heddle`: load the plugin through it"};
  std::vector<std::string> names;
  names.reserve(argument_types.size() + result_types.size());
  std::vector<HeddleArray> in, out;
  for (std::size_t i = 0; i < argument_types.size(); ++i) {
    names.push_back(dtype_text(argument_types[i]));
    in.push_back(described(argument_types[i], names.back(), address_of(arguments[i])));
  }
  std::vector<Array> results;
  for (const Type& type : result_types) {
    names.push_back(dtype_text(type));
    results.emplace_back(type);
    void* data = type.is_tensor() && type.bytes() > 0 ? results.back().mutable_bytes().data()
                                                      : address_of(results.back());
    out.push_back(described(type, names.back(), data));
  }
  std::string message;
  ++python_calls;
  const int failed =
      hooks->call(callable, in.data(), in.size(), out.data(), out.size(), &message, append);
  --python_calls;
  if (has_failed(failed)) return Reason{std::move(message)};
  return results;
}

bool is_in_python_call() { return python_calls > 0; }

bool signal_raised() {
  bool (*check)() = signal_check;
  return check != nullptr && check();
}

void set_signals(bool (*check)(), void (*again)()) {
  signal_check = check;
  interrupt_again = again;
}

}  // namespace heddle::pjrt

extern "C" void heddle_pjrt_set_hooks(const HeddlePjrtHooks* hooks) {
  heddle::pjrt::set_hooks = hooks;
}
