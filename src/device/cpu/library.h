// Ops that a library, or a loop written by hand, computes better than a kernel or the reference
// evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "heddle/device.h"
#include "heddle/thread_pool.h"

namespace heddle::cpu {

// What a call works on: the bytes of operands and results, dense, and room of its own.
struct CallFrame {
  std::span<std::byte* const> operands, results;
  std::byte* workspace = nullptr;
  ThreadPool& pool;
};

class LibraryCall : public heddle::LibraryCall {
 public:
  virtual Verdict run(const CallFrame& frame) const = 0;
};

// Answers of DeviceCalls.
bool has_library_call(const OpDef& def);
bool prefers_library_call(const Program& program, const Op& op);
bool library_takes_views(const Program& program, const Op& op);

// Null where none fits the op. A product may have its operands and its result by strides.
std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                          const ProductViews* views = nullptr);

}  // namespace heddle::cpu
