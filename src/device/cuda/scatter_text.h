// What scatters on a GPU, as CUDA text: updates are sorted by where they go, so that each place has
// all of its own side by side and takes them in their order.
#pragma once

#include <optional>
#include <string>

#include "device/scalar_region.h"

namespace heddle::cuda {

inline constexpr unsigned kScatteringThreads = 256;

class ScatterText {
 public:
  // Nothing where no such kernel is written, or a plain kernel has enough threads for it.
  static std::optional<ScatterText> of(const Program& program, const Op& op);

  // Where each run of updates goes, or that it goes nowhere.
  std::string keys() const;
  // From sorted items: the first of each place takes its updates one after the other.
  std::string combine() const;

  std::int64_t runs() const { return runs_; }
  std::int64_t key_blocks() const;
  std::int64_t combine_blocks() const;
  std::int64_t input_bytes() const { return input_.bytes(); }
  std::string text() const;

 private:
  // A dimension of the runs: what it does to the place in the input and in the indices.
  struct Axis {
    std::int64_t size = 1, index_step = 0;
    int input = -1;
  };
  explicit ScatterText(ScalarRegion region) : region_(std::move(region)) {}
  int lanes() const;  // threads that have the columns of one place

  ScalarRegion region_;
  Type input_;
  DType index_ = DType::i32;
  std::vector<Axis> axes_;
  std::vector<std::int64_t> map_;  // dimensions of the input that index vectors have a say in
  std::int64_t vector_step_ = 0, runs_ = 1, columns_ = 1;
};

}  // namespace heddle::cuda
