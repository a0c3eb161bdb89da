// The few functions of NCCL that are used, with its numbers for things; loaded at run time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "heddle/error.h"

namespace heddle::comm {

struct Nccl {
  using Comm = void*;
  using Stream = void*;
  struct Id {  // by which the members of a communicator find each other
    char bytes[128];
  };

  int (*version)(int*) = nullptr;
  int (*make_id)(Id*) = nullptr;
  int (*join)(Comm*, int members, Id, int me) = nullptr;
  int (*destroy)(Comm) = nullptr;
  int (*abort)(Comm) = nullptr;
  const char* (*error)(int) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int type, int op, Comm, Stream) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int type, int op, Comm, Stream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int type, Comm, Stream) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int type, int root, Comm, Stream) = nullptr;
  int (*send)(const void*, std::size_t, int type, int peer, Comm, Stream) = nullptr;
  int (*receive)(void*, std::size_t, int type, int peer, Comm, Stream) = nullptr;
  int (*begin_group)() = nullptr;
  int (*end_group)() = nullptr;
  std::string path;

  static constexpr int kI8 = 0, kU8 = 1, kI32 = 2, kU32 = 3, kI64 = 4, kU64 = 5, kF16 = 6, kF32 = 7,
                       kF64 = 8, kBF16 = 9;
  static constexpr int kSum = 0, kProduct = 1, kMax = 2, kMin = 3;

  Verdict checked(int status, std::string_view what) const;
  std::string version_text() const;
};

// The first of the files that can be loaded, once for the process.
Expected<const Nccl*> nccl_library(const std::vector<std::filesystem::path>& candidates);

}  // namespace heddle::comm
