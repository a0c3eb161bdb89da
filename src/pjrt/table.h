// The table of functions by which JAX drives Heddle.
#pragma once

#include "pjrt/c_api.h"

namespace heddle::pjrt {

// Lives as long as the process. Every entry is there; those that Heddle has no answer for say so.
const Table* table();

}  // namespace heddle::pjrt

extern "C" __attribute__((visibility("default"))) const heddle::pjrt::Table* GetPjrtApi();
