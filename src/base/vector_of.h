// Vectors of 32 bytes, loaded and stored as such: by memcpy they would go in halves, and a load of
// the whole waits until both have left for the cache.
#pragma once

#include <cstdint>

#include "base/wide_vectors.h"

namespace heddle {

// As many numbers as fill 32 bytes.
template <typename T>
struct Vector32 {
  typedef T type __attribute__((vector_size(32)));
  typedef T anywhere __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
};
template <typename T>
using VectorOf = typename Vector32<T>::type;

// A vector from any address, or a single number.
template <typename T>
HEDDLE_INLINE void load_numbers(VectorOf<T>& value, const T* from) {
  value = *reinterpret_cast<const typename Vector32<T>::anywhere*>(from);
}
template <typename T>
HEDDLE_INLINE void store_numbers(const VectorOf<T>& value, T* to) {
  *reinterpret_cast<typename Vector32<T>::anywhere*>(to) = value;
}
template <typename T>
HEDDLE_INLINE void load_numbers(T& value, const T* from) {
  value = *from;
}
template <typename T>
HEDDLE_INLINE void store_numbers(const T& value, T* to) {
  *to = value;
}

}  // namespace heddle
