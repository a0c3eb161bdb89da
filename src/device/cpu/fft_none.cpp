// Stands in for kissfft where the build found none: the reference evaluation does it.
#include "device/cpu/calls.h"

namespace heddle::cpu {

std::unique_ptr<LibraryCall> fft_call(const Program&, const Op&) { return nullptr; }

}  // namespace heddle::cpu
