// What threads and blocks of the CUDA text do together: sums, clusters, and copies that no thread
// waits for.
#include "kernel/cuda_prelude.h"

namespace heddle::cuda_text {

// What threads of a warp, or of a block, have accumulated. All of them call it.
std::string_view together() {
  return R"cuda(
template <class T> __device__ T from_lane(T x, int mask) {
  if constexpr (sizeof(T) == 8) {
    i64 bits;
    memcpy(&bits, &x, 8);
    bits = __shfl_xor_sync(0xffffffffu, bits, mask);
    memcpy(&x, &bits, 8);
  } else {
    ui32 bits = 0;
    memcpy(&bits, &x, sizeof(T));
    bits = __shfl_xor_sync(0xffffffffu, bits, mask);
    memcpy(&x, &bits, sizeof(T));
  }
  return x;
}
// From the thread of the warp so many before; from the last one.
template <class T> __device__ T from_below(T x, int distance) {
  if constexpr (sizeof(T) == 8) {
    i64 bits;
    memcpy(&bits, &x, 8);
    bits = __shfl_up_sync(0xffffffffu, bits, distance);
    memcpy(&x, &bits, 8);
  } else {
    ui32 bits = 0;
    memcpy(&bits, &x, sizeof(T));
    bits = __shfl_up_sync(0xffffffffu, bits, distance);
    memcpy(&x, &bits, sizeof(T));
  }
  return x;
}
template <class T> __device__ T from_last(T x) {
  ui64 bits = 0;
  memcpy(&bits, &x, sizeof(T));
  if constexpr (sizeof(T) == 8) bits = __shfl_sync(0xffffffffu, bits, 31);
  else bits = __shfl_sync(0xffffffffu, (ui32)bits, 31);
  memcpy(&x, &bits, sizeof(T));
  return x;
}
// Of W neighbouring threads, all of which get the result.
#define WARP_ALL(T, W, op, sum) \
  for (int mask = (W) / 2; mask > 0; mask /= 2) sum = op(sum, from_lane<T>(sum, mask));
// Of threads that lie P apart, G of them, of which the first gets the result.
#define ACROSS(T, P, G, op, sum, room)                                             \
  __syncthreads();                                                                 \
  ((T*)room)[threadIdx.x] = sum;                                                   \
  __syncthreads();                                                                 \
  if (threadIdx.x < P)                                                             \
    for (int part = 1; part < G; ++part) sum = op(sum, ((T*)room)[threadIdx.x + part * P]);
// Where P is less than a warp has: of a warp's threads, then of all warps.
#define ACROSS_WARP(T, P, op, sum) \
  for (int mask = P; mask < 32; mask *= 2) sum = op(sum, from_lane<T>(sum, mask));
#define PUT_WARP(T, P, sum, room) \
  if (threadIdx.x % 32 < P) ((T*)(room))[threadIdx.x / 32 * P + threadIdx.x % 32] = sum;
#define GET_WARPS(T, P, op, sum, room) \
  if (threadIdx.x < P)                 \
    for (int warp = 1; warp < (int)blockDim.x / 32; ++warp) sum = op(sum, ((T*)(room))[threadIdx.x + warp * P]);
// Of groups of G neighbouring threads, of which the first gets the result.
#define TOGETHER(T, G, op, sum, room)                                              \
  for (int mask = (G < 32 ? G : 32) / 2; mask > 0; mask /= 2)                      \
    sum = op(sum, from_lane<T>(sum, mask));                                        \
  if (G > 32) {                                                                    \
    __syncthreads();                                                               \
    if (threadIdx.x % 32 == 0) ((T*)room)[threadIdx.x / 32] = sum;                 \
    __syncthreads();                                                               \
    if (threadIdx.x % G == 0)                                                      \
      for (int warp = 1; warp < G / 32; ++warp)                                    \
        sum = op(sum, ((T*)room)[threadIdx.x / 32 + warp]);                        \
  }
)cuda";
}

// Blocks that have one row together.
std::string_view clusters() {
  return R"cuda(
#if __CUDA_ARCH__ >= 900
__device__ ui32 cluster_rank() {
  ui32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
template <class T> __device__ T get_far(ui64* place, ui32 block) {
  ui64 bits;
  ui32 there;
  const ui32 here = (ui32)__cvta_generic_to_shared(place);
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(block));
  asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(bits) : "r"(there) : "memory");
  T value;
  memcpy(&value, &bits, sizeof(T));
  return value;
}
#endif
)cuda";
}

// Copies to shared memory that no thread waits for: a gate counts the bytes that have come.
std::string_view flights() {
  return R"cuda(
#if __CUDA_ARCH__ >= 900
__device__ ui32 place_of(const void* shared) { return (ui32)__cvta_generic_to_shared(shared); }
__device__ void open_gate(ui64* gate) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place_of(gate)) : "memory");
}
// Gates are seen by copies.
__device__ void gates_are_open() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void expect(ui64* gate, ui32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place_of(gate)), "r"(bytes) : "memory");
}
__device__ void fly(void* to, const void* from, ui32 bytes, ui64* gate) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(place_of(to)), "l"(from), "r"(bytes), "r"(place_of(gate)) : "memory");
}
// To the same place of another block, whose gate counts it. (A barrier of the cluster would wait for
// all that was written to memory before.)
template <class T> __device__ void put_far(ui64* place, ui64* gate, ui32 block, T value) {
  ui64 bits = 0;
  memcpy(&bits, &value, sizeof(T));
  ui32 there, its_gate;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place_of(place)), "r"(block));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(its_gate) : "r"(place_of(gate)), "r"(block));
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
               ::"r"(there), "l"(bits), "r"(its_gate) : "memory");
}
__device__ void arrive(ui64* gate, ui32 turn) {
  ui32 there;
  do {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(there) : "r"(place_of(gate)), "r"(turn) : "memory");
  } while (there == 0);
}
#endif
)cuda";
}

}  // namespace heddle::cuda_text
