#include <charconv>

#include "device/cpu/device.h"
#include "device/cuda/device.h"
#include "heddle/compile_options.h"

namespace heddle {

namespace {

constexpr std::string_view kCudaKind = "cuda:";

// "cuda:h200": a kind, not a number.
bool names_kind(std::string_view name) {
  if (!name.starts_with(kCudaKind) || name.size() == kCudaKind.size()) return false;
  const char first = name[kCudaKind.size()];
  return first < '0' || first > '9';
}

Reason no_device(std::string_view name) {
  return reason(
      "there is no device \"{}\": it is cpu, cuda, or cuda:N; heddle compile knows kinds of GPU "
      "too, as cuda:h200, for which nothing has to be there and on which nothing runs",
      name);
}

}  // namespace

Expected<Device*> find_device(std::string_view name) {
  if (name == "cpu") return &default_device();
  constexpr std::string_view kCuda = "cuda";
  if (!name.starts_with(kCuda)) return no_device(name);
  int number = 0;
  const std::string_view rest = name.substr(kCuda.size());
  if (!rest.empty()) {
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
    if (rest[0] != ':' || rest.size() < 2 || error != std::errc{} || number < 0 ||
        end != rest.data() + rest.size())
      return no_device(name);
  }
  HEDDLE_TRY(CudaDevice * device, cuda_device(number, cpu_device()));
  HEDDLE_TRY_VOID(device->can_compile());
  return device;
}

Expected<Device*> find_target(std::string_view name) {
  if (!names_kind(name)) return find_device(name);
  HEDDLE_TRY(CudaTarget * target, cuda_target(name.substr(kCudaKind.size()), cpu_device()));
  return target;
}

}  // namespace heddle
