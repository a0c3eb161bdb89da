// What rows need: loads that stay or fly, and registers for what is kept of a point.
#pragma once

#include "kernel/cuda_resident.h"

namespace heddle {

inline constexpr std::int64_t kCudaCopied = 16;  // bytes: what flies begins and ends at multiples

class RowNeeds {
 public:
  RowNeeds(const Kernel& kernel, CudaResident& made) : kernel_(kernel), made_(made) {}

  // How many neighbouring points a thread has together.
  void find_vectors(const CudaLimits& limits);
  // What several stages load, and does not fly.
  void find_kept();
  // Of blocks that stay: what is the same for all rows, and what a row has one element of.
  void find_lasting();
  void find_ahead();
  // Rows of inputs that may fly; false: there are none.
  bool find_flights(const CudaLimits& limits);
  // Rows of inputs that each row of the kernel has, whether they stay or not.
  std::size_t rows_loaded() const;
  // Of one point: the most between two stages, and what a chunk holds all the time.
  std::int64_t bytes_kept() const;
  std::int64_t bytes_held() const;
  std::int64_t bytes_of(std::size_t buffer) const {
    return static_cast<std::int64_t>(byte_size(kernel_.buffers[buffer].dtype));
  }

 private:
  struct Life;
  bool waits_for_itself(const CudaLimits& limits, std::int64_t threads) const;
  template <typename Each>
  void each_load(Each each) const;
  bool flies(std::uint32_t buffer, const CudaPlace& place) const;
  bool may_fly(std::uint32_t buffer, const CudaPlace& place) const;
  std::vector<Life> lives() const;

  const Kernel& kernel_;
  CudaResident& made_;
};

}  // namespace heddle
