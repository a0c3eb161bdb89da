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

}  // namespace heddle
