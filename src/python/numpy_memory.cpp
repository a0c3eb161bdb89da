// Memory of NumPy's arrays that begins where kernels want it to: a window copies what does not. Big
// ones come from the pool of blocks.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "heddle/block.h"
#include "python/numpy_fields.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

// A policy of NumPy's for memory (NEP 49), as its C interface has it.
struct MemoryPolicy {
  char name[127];
  std::uint8_t version;
  void* context;
  void* (*allocate)(void* context, std::size_t bytes);
  void* (*allocate_zeros)(void* context, std::size_t count, std::size_t bytes);
  void* (*reallocate)(void* context, void* memory, std::size_t bytes);
  void (*free)(void* context, void* memory, std::size_t bytes);
};

// Lies before the first byte: what it is of.
struct Origin {
  void* allocated = nullptr;                 // by malloc, or
  std::shared_ptr<Block>* pooled = nullptr;  // big ones, so that their pages are used again
};
constexpr std::size_t kRoom = Block::kAlignment + sizeof(Origin);
constexpr std::size_t kBig = std::size_t{64} << 10;

char* first_in(void* allocated) {
  const auto first = reinterpret_cast<std::uintptr_t>(allocated) + kRoom - 1;
  return reinterpret_cast<char*>(first - first % Block::kAlignment);
}
void* begin_at(char* memory, const Origin& origin) {
  std::memcpy(memory - sizeof origin, &origin, sizeof origin);
  return memory;
}
void* begin_in(void* allocated) {
  return allocated == nullptr ? nullptr : begin_at(first_in(allocated), {allocated, nullptr});
}
Origin origin_of(void* memory) {
  Origin origin;
  std::memcpy(&origin, static_cast<char*>(memory) - sizeof origin, sizeof origin);
  return origin;
}

void* allocate(void* /*context*/, std::size_t bytes) {
  if (bytes > SIZE_MAX - kRoom) return nullptr;
  if (bytes < kBig) return begin_in(std::malloc(bytes + kRoom));
  try {
    auto block = std::make_unique<std::shared_ptr<Block>>(Block::raw(bytes + Block::kAlignment));
    char* const memory = reinterpret_cast<char*>((*block)->data()) + Block::kAlignment;
    return begin_at(memory, {nullptr, block.release()});
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
// Pages of the system's are zeros until they are touched.
void* allocate_zeros(void* /*context*/, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all) || all > SIZE_MAX - kRoom) return nullptr;
  return begin_in(std::calloc(1, all + kRoom));
}
void release(void* /*context*/, void* memory, std::size_t /*bytes*/) {
  if (memory == nullptr) return;
  const Origin origin = origin_of(memory);
  delete origin.pooled;
  std::free(origin.allocated);
}
void* reallocate(void* context, void* memory, std::size_t bytes) {
  if (memory == nullptr) return allocate(context, bytes);
  if (bytes > SIZE_MAX - kRoom) return nullptr;
  const Origin origin = origin_of(memory);
  if (origin.pooled != nullptr) {
    void* const other = allocate(context, bytes);
    if (other == nullptr) return nullptr;
    std::memcpy(other, memory, std::min(bytes, (*origin.pooled)->size() - Block::kAlignment));
    release(context, memory, 0);
    return other;
  }
  const auto behind = static_cast<char*>(memory) - static_cast<char*>(origin.allocated);
  void* const grown = std::realloc(origin.allocated, bytes + kRoom);
  if (grown == nullptr) return nullptr;
  std::memmove(first_in(grown), static_cast<char*>(grown) + behind, bytes);
  return begin_in(grown);
}

PyObject* policy() {
  static MemoryPolicy aligned = {"heddle",       1,          nullptr, allocate,
                                 allocate_zeros, reallocate, release};
  static PyObject* const capsule = PyCapsule_New(&aligned, "mem_handler", nullptr);
  return capsule;
}

}  // namespace

AlignedResults::AlignedResults() : before_(set_numpy_memory(policy())) {}

AlignedResults::~AlignedResults() {
  if (before_ == nullptr) {
    PyErr_Clear();
    return;
  }
  Py_XDECREF(set_numpy_memory(before_));
  Py_DECREF(before_);
}

void add_aligned_results(nb::module_& module) {
  module.def("_call_aligned",
             [](nb::handle function, const nb::args& args, const nb::kwargs& named) {
               const AlignedResults aligned;
               return function(*args, **named);
             });
}

}  // namespace heddle::python
