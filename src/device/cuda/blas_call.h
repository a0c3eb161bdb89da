// One matrix product by cuBLASLt: what the library is told of it, the way it is computed, and the
// calls that a run makes. The library takes one loop around a product (a batch); where there are
// more (heads of several sequences as they lie in one matrix) it is called for each turn of these,
// side by side.
#pragma once

#include <array>
#include <mutex>
#include <span>

#include "device/cuda/fastest.h"
#include "device/cuda/product_types.h"
#include "device/cuda/queue.h"
#include "ir/product_then.h"

namespace heddle::cuda {

// One of the library's objects; `destroy` ends it.
class BlasObject {
 public:
  explicit BlasObject(int (*destroy)(Handle)) : destroy_(destroy) {}
  ~BlasObject() {
    if (handle != nullptr) destroy_(handle);
  }
  BlasObject(const BlasObject&) = delete;
  BlasObject& operator=(const BlasObject&) = delete;
  Handle handle = nullptr;

 private:
  int (*destroy_)(Handle);
};

Verdict blas_checked(int status, std::string_view what);

// The library has columns one after the other, Heddle rows: C' = B' A'.
class BlasCall final : public CudaCall {
 public:
  // `sizes`: bytes of an element of the operands and of the result.
  BlasCall(const Blas& blas, Handle library, ProductPlan plan, const ProductTypes& types,
           const ProductThen& then, const std::array<std::int64_t, 3>& sizes,
           std::string types_text);

  // Finds a way, and with a notebook the fastest.
  Verdict prepare(Context& context, const Notebook* notebook);

  std::string text() const override;
  // The library adds to what lies where it writes.
  int in_place_operand() const override {
    return then_.addend ? static_cast<int>(addend_operand(then_)) : -1;
  }
  std::int64_t workspace_bytes() const override;
  Verdict run(CudaQueue& queue, const CallMemory& memory) const override;

  // What a product that goes on reads and writes more; `aux` is what it keeps, or where a gradient
  // is taken.
  struct Beside {
    Pointer bias = 0, addend = 0, aux = 0;
  };
  // Where a product lies, and what its calls may use meanwhile.
  struct Places {
    Pointer a = 0, b = 0, c = 0, room = 0;
    Beside beside;
  };
  // Memory of a try; taken with the first.
  struct Trial {
    explicit Trial(Context& context) : memory(context), sides(context) {}
    TrialMemory memory;
    SideStreams sides;
    Places places;
  };
  Verdict try_on(Trial& trial, Handle stream) const;
  std::int64_t result_bytes() const;

 private:
  Verdict run_turns(SideStreams& sides, Handle stream, const Places& places) const;
  bool has_aux() const { return then_.keeps || is_gradient(then_); }
  bool goes_on() const {
    return then_.bias || then_.addend || then_.function != ProductThen::Function::none;
  }
  std::int64_t turns() const;  // of the loops that the library does not take
  std::size_t lanes() const;   // in which they run
  std::int64_t lane_workspace() const;

  Verdict set_epilogue();
  Verdict set_places(const Beside& beside) const;
  Verdict multiply(Handle stream, const Places& places) const;

  Verdict find_ways(std::span<Blas::Way> ways, int& found);
  // The fastest of the library's ways, where the product is large enough for that to matter.
  void choose(Context& context, const Notebook& notebook, std::span<const Blas::Way> ways);
  std::string key(const Context& context) const;

  std::int64_t bytes_of(std::int64_t rows, std::int64_t apart, std::int64_t columns,
                        std::int64_t ProductLoop::* step, std::int64_t size) const;
  Verdict take(Trial& trial) const;

  // How far every place is aligned at which a matrix begins that a call gets.
  Verdict set_aligned(const BlasObject& wish, int what, std::size_t which,
                      std::int64_t ProductLoop::* step);
  Verdict set_product(int what, int value);
  Verdict set_matrix(BlasObject& matrix, int type, std::int64_t rows, std::int64_t columns,
                     std::int64_t apart, std::int64_t next);

  const Blas& blas_;
  Handle library_;
  ProductPlan plan_;
  ProductTypes types_;
  ProductThen then_;
  std::array<std::int64_t, 3> sizes_;
  std::string types_text_;
  ProductLoop batch_;
  BlasObject product_, a_, b_, c_;
  Blas::Way way_;
  mutable std::mutex mutex_;
};

}  // namespace heddle::cuda
