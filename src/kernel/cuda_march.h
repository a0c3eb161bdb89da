// Stencils one after the other, as lower_sweeps() writes them: warps pass over rows, from the first
// of a block to the last, with the last few rows of every stage in registers.
//
// A thread has four columns, and its neighbours in the warp have those beside them; columns at both
// ends of a warp are only there for others. Stage by stage, each a few rows behind the one that it
// reads, a row is computed from the rows that are held; nothing waits.
#pragma once

#include <optional>

#include "kernel/emit_cuda.h"
#include "kernel/indented_text.h"

namespace heddle {

struct CudaMarch {
  static constexpr int kColumns = 4;  // of a thread
  static constexpr int kThreads =
      128;                          // of a block, whose warps have nothing to do with each other
  static constexpr int kAhead = 8;  // rows of inputs that are on their way

  // Where rows come from: an input, or what a stage leaves.
  struct Source {
    std::uint32_t buffer = 0;
    std::int64_t rows = 0, columns = 0;  // of an input; columns of all
    bool is_input = false;
    bool is_held = true;      // else each stage loads what it needs: too many rows would be held
    std::int64_t lag = 0;     // at turn i its newest row is i - lag, from the block's first
    std::int64_t window = 1;  // rows that are held, with the newest
  };
  // A load of row + place.row and column + place.column of a source.
  struct Load {
    std::size_t source = 0;
    std::int64_t row = 0, column = 0;
  };
  struct Step {
    std::vector<std::optional<Load>> loads;  // by node
    std::vector<bool> sure;                  // by node: true wherever all is far from the borders
    std::int64_t lag = 0;
    std::size_t source = SIZE_MAX;  // that it is; the last one is none
  };
  std::vector<Source> sources;
  std::vector<Step> steps;   // by stage
  std::int64_t columns = 0;  // of the result
  std::int64_t begin = 0;    // the first turn
  int left = 0, right = 0;   // lanes at both ends that are there for others
  // Where all guards hold: rows at a turn, from the first of all, and columns.
  std::int64_t least_row = 0, row_end = 0, least_column = 0, column_end = 0;

  int lanes() const { return kCudaWarp - left - right; }
  std::int64_t strips() const {
    const std::int64_t width = std::int64_t{lanes()} * kColumns;
    return (columns + width - 1) / width;
  }
  // Blocks of a multiprocessor, by the registers that rows take, and so many beside them.
  int at_once(int spare) const;
};

// Nothing where the phase is of another kind.
std::optional<CudaMarch> cuda_march(const Kernel& kernel, const Phase& phase);

std::int64_t march_grid(const CudaMarch& march, const Phase& phase);
void emit_cuda_march(const Kernel& kernel, const Phase& phase, const CudaMarch& march,
                     IndentedText& text);

}  // namespace heddle
