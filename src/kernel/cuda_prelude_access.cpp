// How the CUDA text reads and writes memory: by vectors, and by tiles in shared memory.
#include "kernel/cuda_prelude.h"

namespace heddle::cuda_text {

// Neighbouring elements, read and written by as few accesses as there can be.
std::string_view vectors() {
  return R"cuda(
template <class T, int N> struct Vec { T at[N]; };
template <int kBytes> struct Word { typedef uint4 Type; };
template <> struct Word<8> { typedef uint2 Type; };
template <> struct Word<4> { typedef unsigned Type; };
template <> struct Word<2> { typedef unsigned short Type; };
template <class T, int N> __device__ Vec<T, N> load_vec(const T* from) {
  const int bytes = N * (int)sizeof(T);
  typedef typename Word<(bytes < 16 ? bytes : 16)>::Type W;
  W words[bytes / sizeof(W)];
#pragma unroll
  for (int i = 0; i < (int)(bytes / sizeof(W)); ++i) words[i] = ((const W*)from)[i];
  Vec<T, N> to;
  memcpy(&to, words, bytes);
  return to;
}
// Of memory that the kernel does not write, so that it can be asked for early.
template <class T, int N> __device__ Vec<T, N> read_vec(const T* from) {
  const int bytes = N * (int)sizeof(T);
  Vec<T, N> to;
  if constexpr (bytes == 1 || bytes == 2 && sizeof(T) == 1) {
    for (int i = 0; i < N; ++i) to.at[i] = from[i];
  } else {
    typedef typename Word<(bytes < 16 ? bytes : 16)>::Type W;
    W words[bytes / sizeof(W)];
#pragma unroll
    for (int i = 0; i < (int)(bytes / sizeof(W)); ++i) words[i] = __ldg((const W*)from + i);
    memcpy(&to, words, bytes);
  }
  return to;
}
// One of neighbours as f32, by one instruction: two of them are one word.
template <int kAt, int N> __device__ f32 wide_at(const Vec<bf16, N>& of) {
  ui32 words[N / 2];
  memcpy(words, &of, 2 * N);
  return __int_as_float((int)(kAt % 2 == 0 ? words[kAt / 2] << 16 : words[kAt / 2] & 0xffff0000u));
}
// The larger or smaller of two neighbours each, which are in one word.
template <bool kMaximum, class T> __device__ ui32 extremum_of_two(ui32 x, ui32 y) {
#if __CUDA_ARCH__ >= 800
  ui32 of;
  if constexpr (kMaximum && Same<T, bf16>::value) asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(of) : "r"(x), "r"(y));
  else if constexpr (kMaximum) asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(of) : "r"(x), "r"(y));
  else if constexpr (Same<T, bf16>::value) asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(of) : "r"(x), "r"(y));
  else asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(of) : "r"(x), "r"(y));
  return of;
#else
  const T low = extremum<kMaximum>(T{(ui16)x}, T{(ui16)y});
  const T high = extremum<kMaximum>(T{(ui16)(x >> 16)}, T{(ui16)(y >> 16)});
  return low.bits | (ui32)high.bits << 16;
#endif
}
// The largest or smallest so far, by pairs, and of both of a pair.
template <bool kMaximum, class T, int N> __device__ void note_pairs(ui32& most, const Vec<T, N>& of) {
  ui32 words[N / 2];
  memcpy(words, &of, 2 * N);
#pragma unroll
  for (int i = 0; i < N / 2; ++i) most = extremum_of_two<kMaximum, T>(most, words[i]);
}
template <bool kMaximum, class T> __device__ f32 extremum_of_pair(ui32 pair) {
  return extremum<kMaximum>(wide(T{(ui16)pair}), wide(T{(ui16)(pair >> 16)}));
}
// Two neighbours as one word of bf16.
__device__ ui32 narrow_two(f32 x, f32 y) {
#if __CUDA_ARCH__ >= 900
  ui32 both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(y), "f"(x));
  return both;
#else
  return narrow<bf16>(x).bits | (ui32)narrow<bf16>(y).bits << 16;
#endif
}
#if __CUDA_ARCH__ >= 890
// The nearest floats of 8 bits. The processor's own stop at the largest number: beyond it is
// infinity, or no number.
template <bool kInfinities, int N> __device__ void narrow_float8(ui8* to, const f32 (&from)[N]) {
  const f32 most = kInfinities ? 61439.996f : 464.0f;
  bool fit = true;
#pragma unroll
  for (int i = 0; i < N; i += 2) {
    ui16 both;
    if constexpr (kInfinities)
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(from[i + 1]), "f"(from[i]));
    else
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(from[i + 1]), "f"(from[i]));
    memcpy(to + i, &both, 2);
    fit = fit && fabsf(from[i]) <= most && fabsf(from[i + 1]) <= most;
  }
  if (fit) return;
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (!(fabsf(from[i]) <= most))
      to[i] = (ui8)((kInfinities ? (isnan(from[i]) ? 0x7e : 0x7c) : 0x7f) | (signbit(from[i]) ? 0x80 : 0));
}
#endif
template <class T, int N> __device__ void store_vec(T* to, const Vec<T, N>& from) {
  const int bytes = N * (int)sizeof(T);
  typedef typename Word<(bytes < 16 ? bytes : 16)>::Type W;
  W words[bytes / sizeof(W)];
  memcpy(words, &from, bytes);
#pragma unroll
  for (int i = 0; i < (int)(bytes / sizeof(W)); ++i) ((W*)to)[i] = words[i];
}
// To memory that all blocks see, 16 bytes by one access whatever the compiler thinks of it. It keeps
// the order of accesses around it, which costs some kernels 5 %.
template <class T, int N> __device__ void put_vec(T* to, const Vec<T, N>& from) {
  if constexpr (N * (int)sizeof(T) % 16 != 0) {
    store_vec<T, N>(to, from);
  } else {
    uint4 words[N * sizeof(T) / 16];
    memcpy(words, &from, sizeof(words));
#pragma unroll
    for (int i = 0; i < (int)(sizeof(words) / 16); ++i)
      asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global((uint4*)to + i)),
                   "r"(words[i].x), "r"(words[i].y), "r"(words[i].z), "r"(words[i].w) : "memory");
  }
}
)cuda";
}

// Rows of an input in shared memory, by accesses of 16 bytes, kN of them a row. Those that a warp
// reads at a time, of neighbouring rows or of rows eight apart, lie in different banks.
std::string_view tiles() {
  return R"cuda(
template <int kN> __device__ unsigned tile_line(unsigned row, unsigned access) {
  return (row * kN + access) ^ (row / 8 * kN & 7);
}
template <class T, int kStride, int kN> __device__ const T* in_tile(const T* tile, i64 index) {
  const unsigned per = 16 / sizeof(T);
  const unsigned at = (unsigned)index, row = at / kStride, rest = at % kStride;
  return tile + tile_line<kN>(row, rest / per) * per + rest % per;
}
template <class T, int kRows, int kStride, int kN, int kThreads>
__device__ void bring_tile(T* tile, const T* from) {
  const unsigned per = 16 / sizeof(T);
#pragma unroll 8
  for (unsigned at = threadIdx.x; at < kRows * kN; at += kThreads) {
    const unsigned row = at / kN, access = at % kN;
    const T* source = from + (i64)row * kStride + access * per;
    T* to = tile + tile_line<kN>(row, access) * per;
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((ui32)__cvta_generic_to_shared(to)), "l"(source) : "memory");
#else
    *(uint4*)to = __ldg((const uint4*)source);
#endif
  }
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncthreads();
}
)cuda";
}

}  // namespace heddle::cuda_text
