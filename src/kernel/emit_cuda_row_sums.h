// Sums over a row, as CUDA text: each thread adds up its points, then warps, blocks and clusters.
#pragma once

#include "kernel/emit_cuda_resident_point.h"

namespace heddle {

// What a statement leaves of what is there and what comes.
std::string combined_text(const Statement& statement, const std::string& old,
                          const std::string& value);
// "if (…) ": by the threads of a row that is there, and of which `more` is true.
std::string if_here_text(const CudaResident& resident, std::string_view more = "");

class CudaRowSums {
 public:
  CudaRowSums(const Kernel& kernel, const CudaResident& resident, IndentedText& text);

  bool has(const Statement& statement, const Stage& stage) const;
  // Whether it puts together what a segment's points give.
  bool has_segment(const Statement& statement, const Stage& stage) const;
  // Whether the sums of a stage wait for other warps.
  bool waits_for(const Stage& stage) const { return is_wide() && count(stage) > 0; }

  void emit_rooms();
  void begin_row() { room_ = gate_ = 0; }
  void emit_row_end();
  // Before a stage's points, and after them. `releases`: what has come by then is not read again.
  void emit_start(const Stage& stage, ResidentPoint& point);
  void emit_end(const Stage& stage, ResidentPoint& point, bool releases);

 private:
  bool is_wide() const { return resident_.group > kCudaWarp || resident_.cluster > 1; }
  int warps() const { return resident_.threads / kCudaWarp; }
  int count(const Stage& stage) const;
  // The only sums of a row have two rooms, by turns: else one row would have to be done with them
  // before the next begins.
  int sides() const { return waits_ == 1 ? 2 : 1; }
  std::string room(int number) const;
  std::string gate() const;
  bool are_two(const Stage& stage, const std::vector<std::size_t>& sums,
               const ResidentPoint& point) const;
  void emit_two(const Stage& stage, const std::vector<std::size_t>& sums, ResidentPoint& point,
                bool releases);
  void emit_segments(const Stage& stage, std::size_t s, ResidentPoint& point);
  void emit_wait(std::size_t sums);
  void emit_put(std::size_t s, std::string_view type, int room);
  void emit_get(std::size_t s, const Statement& statement, std::string_view type, int room);
  void emit_result(const Statement& statement, std::size_t s, ResidentPoint& point);

  const Kernel& kernel_;
  const CudaResident& resident_;
  IndentedText& text_;
  int rooms_ = 0;  // sums that wait for other warps, each with room of its own
  int waits_ = 0;
  int room_ = 0, gate_ = 0;  // the next ones
};

}  // namespace heddle
