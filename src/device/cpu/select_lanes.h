// select_and_scatter where windows choose by comparing floats and sums are scattered: the gradient
// of pooling. Dimensions inside of all windows are lanes that are done side by side.
#pragma once

#include <optional>

#include "device/scalar_region.h"
#include "heddle/type.h"
#include "ir/eval/reduce_window.h"

namespace heddle::cpu {

// Whether a window has one element along a dimension, the one at its place.
bool is_apart(const reduction::WindowAxis& axis);

class SelectLanes {
 public:
  // Nothing where it is not of this kind.
  static std::optional<SelectLanes> of(const Type& operand, const Type& source,
                                       const std::vector<reduction::WindowAxis>& axes,
                                       const ScalarRegion& select, const ScalarRegion& scatter);

  // Windows first … last - 1 of those of all lanes; the result holds the initial value.
  void run(const std::byte* operand, const std::byte* source, std::byte* result, std::int64_t first,
           std::int64_t last) const;
  std::int64_t lanes() const { return lanes_; }
  // Dimensions that are no lanes.
  std::size_t outer() const { return places_.size(); }

 private:
  SelectLanes() = default;

  template <typename T, typename Keep>
  void run_typed(const T* operand, const T* source, T* result, std::int64_t first,
                 std::int64_t last) const;
  template <typename T>
  void run_by(const std::byte* operand, const std::byte* source, std::byte* result,
              std::int64_t first, std::int64_t last) const;
  void seen_from(std::int64_t place, std::vector<std::int32_t>& seen,
                 std::vector<std::int32_t>& outer) const;

  DType dtype_ = DType::f32;
  ScalarOp keep_ = ScalarOp::none;  // what is chosen, compared with what comes
  std::int64_t lanes_ = 1;
  Shape places_, window_;  // of the dimensions that are no lanes
  // By dimension: where element k of the window at a place lies, or -1: [place * window + k].
  std::vector<std::vector<std::int64_t>> from_;
};

}  // namespace heddle::cpu
