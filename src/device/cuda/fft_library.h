// The few functions of cuFFT that are used, with its numbers for things.
#pragma once

#include <cstddef>
#include <string>

#include "device/cuda/driver.h"

namespace heddle::cuda {

struct Fft {
  using Plan = int;
  int (*create)(Plan*) = nullptr;
  int (*destroy)(Plan) = nullptr;
  int (*allocate_itself)(Plan, int) = nullptr;
  int (*make)(Plan, int rank, long long* sizes, long long* in_sizes, long long in_step,
              long long in_apart, long long* out_sizes, long long out_step, long long out_apart,
              int type, long long count, std::size_t* workspace) = nullptr;
  int (*set_workspace)(Plan, Pointer) = nullptr;
  int (*set_stream)(Plan, Handle) = nullptr;
  int (*complex_f32)(Plan, Pointer from, Pointer to, int direction) = nullptr;
  int (*complex_f64)(Plan, Pointer from, Pointer to, int direction) = nullptr;
  int (*real_f32)(Plan, Pointer from, Pointer to) = nullptr;
  int (*real_f64)(Plan, Pointer from, Pointer to) = nullptr;
  std::string path;

  static constexpr int kComplexF32 = 0x29, kRealF32 = 0x2a, kComplexF64 = 0x69, kRealF64 = 0x6a;
  static constexpr int kForward = -1, kInverse = 1;
};

Expected<const Fft*> fft_library();

}  // namespace heddle::cuda
