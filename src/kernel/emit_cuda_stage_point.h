// A point of a stage that threads share, whose loads may lie in a tile, or be there already,
// turned.
#pragma once

#include "kernel/emit_cuda_point.h"

namespace heddle {

class StagePoint : public CudaPoint {
 public:
  StagePoint(const Kernel& kernel, const Stage& stage, const CudaMapping& mapping,
             const std::vector<CudaStaged>& staged, IndentedText& text);

  // The neighbours that lie along the other loop, for all of this one.
  void emit_turned_loads();
  void emit_turned_variables();

 protected:
  std::string loaded(std::size_t i, std::string_view mark) const override;
  std::string from(std::size_t i) const override { return address(i, marks()[0]); }

 private:
  std::string truth(std::uint32_t buffer, std::string text) const;
  bool is_staged(std::uint32_t buffer) const;
  std::string address(std::size_t i, std::string_view mark) const;

  const std::optional<CudaTurn>& turn_;
  const std::vector<CudaStaged>& staged_;
};

}  // namespace heddle
