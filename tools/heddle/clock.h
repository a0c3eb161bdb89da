// What commands say of the time they take.
#pragma once

#include <chrono>

namespace heddle::cli {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace heddle::cli
