// The CUDA driver, loaded at run time: one build runs with and without it.
#pragma once

#include <cstddef>
#include <string_view>

#include "heddle/error.h"

namespace heddle::cuda {

using Pointer = unsigned long long;  // into the memory of a device
using Handle = void*;                // of a context, stream, event, module, function or pool

// The functions that are used; each gives 0, or the number of an error.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  int (*device)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*retain)(Handle*, int) = nullptr;
  int (*set_current)(Handle) = nullptr;
  int (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;

  int (*create_pool)(Handle*, const void* properties) = nullptr;
  int (*set_pool)(Handle, int, void*) = nullptr;
  int (*trim_pool)(Handle, std::size_t) = nullptr;
  int (*allocate)(Pointer*, std::size_t, Handle pool, Handle stream) = nullptr;
  int (*release)(Pointer, Handle stream) = nullptr;

  int (*lock_memory)(void**, std::size_t, unsigned) = nullptr;  // takes page-locked memory
  int (*unlock_memory)(void*) = nullptr;

  int (*load)(Handle*, const void*) = nullptr;
  int (*unload)(Handle) = nullptr;
  int (*function)(Handle*, Handle, const char*) = nullptr;
  int (*set_function)(Handle, int, int) = nullptr;
  int (*most_clusters)(int*, Handle, const void* launch) = nullptr;
  int (*most_blocks)(int*, Handle, int threads, std::size_t shared_bytes) = nullptr;
  int (*launch_together)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, Handle, void**) = nullptr;
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                Handle, void**, void**) = nullptr;

  int (*create_stream)(Handle*, unsigned) = nullptr;
  int (*destroy_stream)(Handle) = nullptr;
  int (*synchronize)(Handle) = nullptr;
  int (*create_event)(Handle*, unsigned) = nullptr;
  int (*destroy_event)(Handle) = nullptr;
  int (*record)(Handle event, Handle stream) = nullptr;
  int (*query)(Handle event) = nullptr;
  int (*elapsed)(float* milliseconds, Handle begin, Handle end) = nullptr;
  int (*wait_host)(Handle event) = nullptr;
  int (*wait_stream)(Handle stream, Handle event, unsigned) = nullptr;

  int (*copy_in)(Pointer, const void*, std::size_t, Handle stream) = nullptr;
  int (*copy_out)(void*, Pointer, std::size_t, Handle stream) = nullptr;
  int (*copy)(Pointer, Pointer, std::size_t, Handle stream) = nullptr;
  int (*copy_rows)(const void* what, Handle stream) = nullptr;
  int (*fill)(Pointer, unsigned char, std::size_t, Handle stream) = nullptr;

  int (*begin_capture)(Handle stream, int mode) = nullptr;
  int (*end_capture)(Handle stream, Handle* graph) = nullptr;
  int (*instantiate)(Handle*, Handle graph, unsigned long long) = nullptr;
  int (*launch_graph)(Handle, Handle stream) = nullptr;
  int (*destroy_graph)(Handle) = nullptr;
  int (*destroy_instance)(Handle) = nullptr;

  int (*error)(int, const char**) = nullptr;

  // Why a call has failed; a yes where it has not.
  Verdict checked(int status, std::string_view what) const;
};

inline constexpr int kOutOfMemory = 2, kNotReady = 600;     // errors
inline constexpr unsigned kNonBlocking = 1, kNoTiming = 2;  // of streams, of events
inline constexpr int kRelaxed = 2;                          // of captures: other threads go on

// Loaded and started once; a reason where there is no driver.
Expected<const Driver*> driver();

}  // namespace heddle::cuda
