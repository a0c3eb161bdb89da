// Work that may throw, as the run of a window may where memory is short.
#pragma once

#include <new>

#include "heddle/error.h"

namespace heddle::record {

template <typename Work>
Verdict attempt(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return reason("there is not enough memory for a window of array calls");
  } catch (const std::exception& error) {
    return reason("{}", error.what());
  }
}

}  // namespace heddle::record
