// Vectors of 32 bytes for transforms, loaded and stored as such: by memcpy they would go in halves,
// for which a load of the whole has to wait.
#pragma once

#include <cstdint>

#include "base/wide_vectors.h"

namespace heddle::cpu {

// As many numbers as fill 32 bytes.
template <typename T>
struct FftVector {
  typedef T type __attribute__((vector_size(32)));
  typedef T anywhere __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
};
template <typename T>
using FftVectorOf = typename FftVector<T>::type;

template <typename T>
HEDDLE_INLINE void load_numbers(FftVectorOf<T>& value, const T* from) {
  value = *reinterpret_cast<const typename FftVector<T>::anywhere*>(from);
}
template <typename T>
HEDDLE_INLINE void store_numbers(const FftVectorOf<T>& value, T* to) {
  *reinterpret_cast<typename FftVector<T>::anywhere*>(to) = value;
}
template <typename T>
HEDDLE_INLINE void load_numbers(T& value, const T* from) {
  value = *from;
}
template <typename T>
HEDDLE_INLINE void store_numbers(const T& value, T* to) {
  *to = value;
}

}  // namespace heddle::cpu
