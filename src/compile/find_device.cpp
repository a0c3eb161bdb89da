#include <charconv>

#include "device/cpu/device.h"
#include "device/cuda/device.h"
#include "heddle/compile_options.h"

namespace heddle {

Expected<Device*> find_device(std::string_view name) {
  if (name == "cpu") return &default_device();
  constexpr std::string_view kCuda = "cuda";
  if (!name.starts_with(kCuda))
    return reason("there is no device \"{}\": it is cpu, cuda, or cuda:N", name);
  int number = 0;
  const std::string_view rest = name.substr(kCuda.size());
  if (!rest.empty()) {
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
    if (rest[0] != ':' || rest.size() < 2 || error != std::errc{} ||
        end != rest.data() + rest.size())
      return reason("there is no device \"{}\": it is cpu, cuda, or cuda:N", name);
  }
  HEDDLE_TRY(CudaDevice * device, cuda_device(number, cpu_device()));
  HEDDLE_TRY_VOID(device->can_compile());
  return device;
}

Expected<Device*> find_target(std::string_view name) {
  constexpr std::string_view kCuda = "cuda:";
  const bool is_kind = name.starts_with(kCuda) && name.size() > kCuda.size() &&
                       (name[kCuda.size()] < '0' || name[kCuda.size()] > '9');
  if (!is_kind) return find_device(name);
  HEDDLE_TRY(CudaTarget * target, cuda_target(name.substr(kCuda.size()), cpu_device()));
  return target;
}

}  // namespace heddle
