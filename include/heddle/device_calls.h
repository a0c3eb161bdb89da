// DeviceCalls: which ops a device computes by calls of its own. Lowering and stitching ask; only
// the device answers.
#pragma once

#include "heddle/program.h"

namespace heddle {

class DeviceCalls {
 public:
  virtual ~DeviceCalls() = default;
  // Whether there is a call for some ops of this row, so that it is better kept than expanded.
  virtual bool has_call(const OpDef& def) const = 0;
  // Whether the device's call computes it better than a kernel would. Asked of ops that a kernel
  // could compute; where there is neither, the reference evaluation does it.
  virtual bool prefers_call(const Program& program, const Op& op) const = 0;
  // Whether the call of a product reads its operands and writes its result by strides.
  virtual bool takes_views(const Program& program, const Op& op) const = 0;
};

}  // namespace heddle
