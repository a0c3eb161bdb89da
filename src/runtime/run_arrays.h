// Arrays and buffers in and out of a run. Arrays are used and given out as they lie where the
// device works in the host's memory, and copied by its queue where it does not.
#pragma once

#include "runtime/state.h"

namespace heddle::runtime {

// Memory for the arguments and for what the run makes anew. Arguments stay until bring_out().
Verdict bring_in(const ExecutableState& state, RunState& run, std::vector<Array>& arguments);

// The results, when all has been done. What the run had made is let go.
Expected<std::vector<Array>> bring_out(const ExecutableState& state, RunState& run,
                                       const std::vector<Array>& arguments);

// The same for buffers of the device; nobody waits, and what the run uses is kept until it is over.
Verdict take_buffers(const ExecutableState& state, RunState& run, std::vector<Buffer> arguments);
// What is not there yet is brought there, and what others would see change is copied.
Expected<std::vector<Buffer>> buffers_from(const ExecutableState& state, RunState& run,
                                           std::vector<DeviceValue> arguments);
Expected<std::vector<Buffer>> give_buffers(const ExecutableState& state, RunState& run);

}  // namespace heddle::runtime
