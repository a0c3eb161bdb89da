// The points of a thread's row, unit by unit, as CUDA text.
#pragma once

#include "kernel/emit_cuda_resident_point.h"

namespace heddle {

class ResidentUnits {
 public:
  ResidentUnits(const Kernel& kernel, const CudaResident& resident, IndentedText& text)
      : kernel_(kernel), resident_(resident), text_(text) {}

  CudaVectors vectors_of(const Stage& stage) const;
  // Loops of one position.
  void emit_single_positions(const Stage& stage);
  // The units of a thread, one after the other.
  void open(const Stage& stage, CudaPoint& point);
  void close();

 private:
  bool unrolls() const;

  const Kernel& kernel_;
  const CudaResident& resident_;
  IndentedText& text_;
};

// What lives as long as a chunk of rows: its first values, and at last what it has come to.
void emit_cuda_chunk_variables(const Kernel& kernel, const CudaResident& resident,
                               IndentedText& text);
void emit_cuda_chunk_results(const Kernel& kernel, const CudaResident& resident,
                             IndentedText& text);

}  // namespace heddle
