// What one device of a mesh needs, known before anything runs.
#pragma once

#include <string>

#include "heddle/executable.h"
#include "heddle/spmd.h"

namespace heddle {

struct DeviceMemory {
  std::int64_t arguments = 0;
  std::int64_t values = 0;  // at the peak, results included
  bool planned = true;      // by the executable; else op by op, nothing fused or in place
  PeakMemory peak = {};

  std::int64_t needed() const { return arguments + values; }
  // "1.2 MB for arguments and 3.4 MB for values at the peak, as compiled"
  std::string text() const;
};

DeviceMemory device_memory(const Spmd& spmd, const SpmdFunction& function,
                           const Executable& executable);

// What a device needs by the plan of its compiled program, for which no machine code is made. The
// program is scheduled.
Expected<DeviceMemory> memory_when_compiled(const Spmd& spmd, const SpmdFunction& function);

// A reason where it is more than `limit`; `whose` says where that comes from: "each has 16 GB".
Verdict want_memory(const DeviceMemory& memory, std::int64_t limit, const std::string& whose,
                    const Spmd& spmd, const SpmdFunction& function);

}  // namespace heddle
