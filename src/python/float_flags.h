// What arithmetic of this thread has raised: division by zero, overflow, underflow, invalid.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace heddle::python {

#if defined(__SSE2__)
// Without the registers that nothing here computes in.
inline constexpr unsigned kRaised = 0x1D;
inline bool has_raised() { return (_mm_getcsr() & kRaised) != 0; }
inline void forget_raised() { _mm_setcsr(_mm_getcsr() & ~kRaised); }
#else
inline bool has_raised() {
  return std::fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID) != 0;
}
inline void forget_raised() { std::feclearexcept(FE_ALL_EXCEPT); }
#endif

}  // namespace heddle::python
