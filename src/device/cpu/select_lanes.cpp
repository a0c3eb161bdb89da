#include "device/cpu/select_lanes.h"

#include <algorithm>
#include <functional>

namespace heddle::cpu {

namespace {

constexpr std::int64_t kLanesAtOnce = 64;

// The one function of a region over its two arguments, in their order.
ScalarOp only_function(const ScalarRegion& region) {
  if (region.steps().size() != 1 || region.results().size() != 1) return ScalarOp::none;
  const ScalarRegion::Step& step = region.steps()[0];
  if (step.is_total() || step.in[0] != 0 || step.in[1] != 1 || step.out != region.results()[0])
    return ScalarOp::none;
  return step.op;
}

bool is_ordering(ScalarOp op) {
  return op == ScalarOp::greater_equal || op == ScalarOp::greater || op == ScalarOp::less_equal ||
         op == ScalarOp::less;
}

}  // namespace

bool is_apart(const reduction::WindowAxis& axis) {
  return axis.window == 1 && axis.stride == 1 && axis.pad_low == 0 && axis.pad_high == 0 &&
         axis.base_dilation == 1;
}

std::optional<SelectLanes> SelectLanes::of(const Type& operand, const Type& source,
                                           const std::vector<reduction::WindowAxis>& axes,
                                           const ScalarRegion& select,
                                           const ScalarRegion& scatter) {
  if (operand.dtype != DType::f32 && operand.dtype != DType::f64) return {};
  if (operand.elements() > INT32_MAX || only_function(scatter) != ScalarOp::add) return {};
  SelectLanes plan;
  plan.dtype_ = operand.dtype;
  plan.keep_ = only_function(select);
  if (!is_ordering(plan.keep_)) return {};
  std::size_t outer = axes.size();
  for (; outer > 0 && is_apart(axes[outer - 1]); --outer) plan.lanes_ *= operand.shape[outer - 1];
  std::vector<std::int64_t> strides = reduction::strides_of(operand.shape);
  for (std::size_t d = 0; d < outer; ++d) {
    plan.places_.push_back(source.shape[d]);
    plan.window_.push_back(axes[d].window);
    auto& from = plan.from_.emplace_back();
    for (std::int64_t p = 0; p < source.shape[d]; ++p)
      for (std::int64_t k = 0; k < axes[d].window; ++k) {
        const std::int64_t at = axes[d].source(p, k);
        from.push_back(at < 0 ? -1 : at * strides[d]);
      }
  }
  return plan;
}

// Offsets of all elements of the window at a place, padding left out, in the order of the window.
void SelectLanes::seen_from(std::int64_t place, std::vector<std::int32_t>& seen,
                            std::vector<std::int32_t>& outer) const {
  seen.assign(1, 0);
  std::int64_t inner = 1;
  for (std::int64_t size : places_) inner *= size;
  for (std::size_t d = 0; d < places_.size(); ++d) {
    inner /= places_[d];
    const std::int64_t p = place / inner % places_[d];
    const std::int64_t* from = &from_[d][static_cast<std::size_t>(p * window_[d])];
    if (window_[d] == 1 && *from >= 0) {
      for (std::int32_t& offset : seen) offset += static_cast<std::int32_t>(*from);
      continue;
    }
    outer.swap(seen);
    seen.clear();
    for (std::int32_t offset : outer)
      for (std::int64_t k = 0; k < window_[d]; ++k)
        if (from[k] >= 0) seen.push_back(offset + static_cast<std::int32_t>(from[k]));
  }
}

template <typename T, typename Keep>
void SelectLanes::run_typed(const T* operand, const T* source, T* result, std::int64_t first,
                            std::int64_t last) const {
  std::vector<std::int32_t> seen, spare;
  T best[kLanesAtOnce];
  std::int32_t chosen[kLanesAtOnce];
  for (std::int64_t place = first; place < last; ++place) {
    seen_from(place, seen, spare);
    if (seen.empty()) continue;
    for (std::int64_t lane = 0; lane < lanes_; lane += kLanesAtOnce) {
      const std::int64_t count = std::min(kLanesAtOnce, lanes_ - lane);
      const T* at = operand + seen[0] + lane;
      for (std::int64_t l = 0; l < count; ++l) {
        best[l] = at[l];
        chosen[l] = seen[0];
      }
      for (std::size_t k = 1; k < seen.size(); ++k) {
        at = operand + seen[k] + lane;
        for (std::int64_t l = 0; l < count; ++l) {
          const bool keep = Keep{}(best[l], at[l]);
          best[l] = keep ? best[l] : at[l];
          chosen[l] = keep ? chosen[l] : seen[k];
        }
      }
      const T* from = source + place * lanes_ + lane;
      for (std::int64_t l = 0; l < count; ++l) result[chosen[l] + lane + l] += from[l];
    }
  }
}

template <typename T>
void SelectLanes::run_by(const std::byte* operand, const std::byte* source, std::byte* result,
                         std::int64_t first, std::int64_t last) const {
  const auto* values = reinterpret_cast<const T*>(operand);
  const auto* given = reinterpret_cast<const T*>(source);
  auto* sums = reinterpret_cast<T*>(result);
  if (keep_ == ScalarOp::greater_equal)
    return run_typed<T, std::greater_equal<T>>(values, given, sums, first, last);
  if (keep_ == ScalarOp::greater)
    return run_typed<T, std::greater<T>>(values, given, sums, first, last);
  if (keep_ == ScalarOp::less_equal)
    return run_typed<T, std::less_equal<T>>(values, given, sums, first, last);
  run_typed<T, std::less<T>>(values, given, sums, first, last);
}

void SelectLanes::run(const std::byte* operand, const std::byte* source, std::byte* result,
                      std::int64_t first, std::int64_t last) const {
  if (dtype_ == DType::f64) return run_by<double>(operand, source, result, first, last);
  run_by<float>(operand, source, result, first, last);
}

}  // namespace heddle::cpu
