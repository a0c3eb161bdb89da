// dynamic_update_slice: only the slice is written where the operand may be overwritten.
#include <algorithm>
#include <cstring>

#include "cost/sharing.h"
#include "device/cpu/calls.h"
#include "heddle/op.h"

namespace heddle::cpu {

namespace {

std::int64_t read_index(const std::byte* data, DType dtype) {
  std::uint64_t bits = 0;
  const int size = byte_size(dtype);
  std::memcpy(&bits, data, static_cast<std::size_t>(size));
  if (dtype >= DType::ui2)
    return static_cast<std::int64_t>(std::min<std::uint64_t>(bits, INT64_MAX));
  const int unused = 64 - 8 * size;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

class SliceUpdateCall final : public LibraryCall {
 public:
  SliceUpdateCall(const Program& program, const Op& op) {
    const auto operands = program.operands(op);
    whole_ = program.type_of(operands[0]);
    slice_ = program.type_of(operands[1]).shape;
    index_ = program.type_of(operands[2]).dtype;
    std::int64_t step = byte_size(whole_.dtype);
    steps_.assign(slice_.size(), 0);
    for (std::size_t d = slice_.size(); d-- > 0;) {
      steps_[d] = step;
      step *= whole_.shape[d];
    }
    // Dimensions from the end that the slice has whole are one run with the next one.
    run_ = byte_size(whole_.dtype);
    for (loops_ = slice_.size(); loops_ > 0;) {
      run_ *= slice_[--loops_];
      if (slice_[loops_] != whole_.shape[loops_]) break;
    }
  }

  std::string text() const override { return "update of a slice of " + whole_.str(); }
  int in_place_operand() const override { return 0; }
  StepWork work() const override {
    StepWork all;
    all.alone.runs = 1;
    for (std::size_t d = 0; d < loops_; ++d) all.alone.runs *= static_cast<double>(slice_[d]);
    // Loaded and stored, by f32.
    all.alone.accesses = all.alone.runs * static_cast<double>(run_) / 2;
    return all;
  }

  Verdict run(const CallFrame& frame) const override {
    std::byte* to = frame.results[0];
    if (to != frame.operands[0]) copy_whole(frame);
    for (std::size_t d = 0; d < slice_.size(); ++d) {
      const std::int64_t start = read_index(frame.operands[2 + d], index_);
      to += std::clamp<std::int64_t>(start, 0, whole_.shape[d] - slice_[d]) * steps_[d];
    }
    const std::byte* from = frame.operands[1];
    std::int64_t runs = 1;
    for (std::size_t d = 0; d < loops_; ++d) runs *= slice_[d];
    for (std::int64_t r = 0; r < runs; ++r, from += run_) {
      std::int64_t rest = r, at = 0;
      for (std::size_t d = loops_; d-- > 0; rest /= slice_[d]) at += rest % slice_[d] * steps_[d];
      std::memcpy(to + at, from, static_cast<std::size_t>(run_));
    }
    return yes();
  }

 private:
  void copy_whole(const CallFrame& frame) const {
    const std::int64_t bytes = whole_.bytes();
    frame.pool.parallel_for(
        (bytes + cost::kUpdatePart - 1) / cost::kUpdatePart, [&](std::int64_t part, int) {
          const std::int64_t at = part * cost::kUpdatePart;
          std::memcpy(frame.results[0] + at, frame.operands[0] + at,
                      static_cast<std::size_t>(std::min(cost::kUpdatePart, bytes - at)));
        });
  }

  Type whole_;
  Shape slice_;
  DType index_ = DType::i32;
  std::vector<std::int64_t> steps_;  // in bytes
  std::int64_t run_ = 1;             // bytes that lie side by side in both
  std::size_t loops_ = 0;            // dimensions around them
};

}  // namespace

std::unique_ptr<LibraryCall> slice_update_call(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  if (op.operand_count < 3 || program.type_of(operands[1]).elements() == 0) return nullptr;
  return std::make_unique<SliceUpdateCall>(program, op);
}

}  // namespace heddle::cpu
