// By itself, so that a program which brings another default_device() takes that one.
#include "device/cpu/device.h"
#include "heddle/compile_options.h"

namespace heddle {

Device& default_device() { return cpu_device(); }

}  // namespace heddle
