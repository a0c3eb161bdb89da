// Code that is compiled for wide vectors as well: a body that is always inlined, a function with
// HEDDLE_WIDE around it and one without, of which has_wide_vectors() chooses when it runs. Products
// are not fused with sums, so that both give the same bits.
#pragma once

#if defined(__x86_64__)
#define HEDDLE_WIDE __attribute__((target("avx2")))
#else
#define HEDDLE_WIDE
#endif
#define HEDDLE_INLINE inline __attribute__((always_inline))

namespace heddle {

inline bool has_wide_vectors() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  return wide;
#else
  return false;
#endif
}

}  // namespace heddle
