// Ops that a library, or a loop written by hand, computes better than a kernel or the reference
// evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "heddle/program.h"
#include "heddle/strided_view.h"
#include "heddle/thread_pool.h"

namespace heddle::cpu {

// What a call works on: the bytes of operands and results, dense, and room of its own.
struct CallFrame {
  std::span<std::byte* const> operands, results;
  std::byte* workspace = nullptr;
  ThreadPool& pool;
};

// One op, prepared for its types and attributes.
class LibraryCall {
 public:
  virtual ~LibraryCall() = default;
  // What it is, for people: "sgemm 512x64x128".
  virtual std::string text() const = 0;
  virtual std::int64_t workspace_bytes() const { return 0; }
  // The operand whose memory result 0 may have, or -1.
  virtual int in_place_operand() const { return -1; }
  virtual Verdict run(const CallFrame& frame) const = 0;
};

// Whether there is a call for some ops of this row.
bool has_library_call(const OpDef& def);
// Null where none fits the op. A product may have its operands and its result by strides.
std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                          const ProductViews* views = nullptr);

}  // namespace heddle::cpu
