// Functions of the user's that a program calls while it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/host_call.h"
#include "pjrt/c_api.h"

namespace heddle::pjrt {

// What jaxlib hands over with a run: Python functions, by the numbers that the program has for
// them.
struct CallbackList {
  void** callbacks = nullptr;
  std::uint32_t count = 0;
};

// Beside a run: what was added to it before.
struct ExecuteContext {
  const CallbackList* callbacks = nullptr;
};

// The functions that come with a run.
std::vector<void*> callbacks_of(const ExecuteContext* context);
// Answers a program's custom calls by these functions.
HostCaller caller_of(std::vector<void*> functions);

}  // namespace heddle::pjrt
