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

// Runs of bytes that a call writes into its first operand, at places that data decide.
struct SliceUpdate {
  DType index = DType::i32;
  std::vector<std::int64_t> counts, steps;  // by dimension: of the slice; in bytes of the whole
  std::vector<std::int64_t> last_starts;    // by dimension; starts beyond it, or below 0, are moved
  std::size_t loops = 0;                    // dimensions around a run
  std::int64_t run_bytes = 1;               // that lie side by side in both

  std::int64_t runs() const;
  std::int64_t offset_of(std::int64_t run) const;  // from the start of the slice in the whole
};

class LibraryCall : public heddle::LibraryCall {
 public:
  virtual Verdict run(const CallFrame& frame) const = 0;
  // Null where it is something else.
  virtual const SliceUpdate* slice_update() const { return nullptr; }
};

// Answers of DeviceCalls.
bool has_library_call(const OpDef& def);
bool prefers_library_call(const Program& program, const Op& op);
bool library_takes_views(const Program& program, const Op& op);

// Null where none fits the op. A product may have its operands and its result by strides.
std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                          const ProductViews* views = nullptr);

}  // namespace heddle::cpu
