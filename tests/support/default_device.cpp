// Programs that link this run on the test device wherever nobody names another one.
#include <cstdlib>

#include "device/cpu/device.h"
#include "heddle/compile_options.h"
#include "test_device.h"

namespace heddle {

Device& default_device() {
  static test::TestDevice device(cpu_device(), [] {
    test::TestDeviceOptions options;
    if (const char* seed = std::getenv("HEDDLE_TEST_SEED"))
      options.seed = std::strtoull(seed, nullptr, 10);
    if (const char* name = std::getenv("HEDDLE_TEST_PLANNED_FOR"))
      options.planned_for = find_target(name).value();
    return options;
  }());
  return device;
}

}  // namespace heddle
