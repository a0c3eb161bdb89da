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
    const Shape& slice = program.type_of(operands[1]).shape;
    update_.index = program.type_of(operands[2]).dtype;
    update_.counts.assign(slice.begin(), slice.end());
    update_.steps.assign(slice.size(), 0);
    std::int64_t step = byte_size(whole_.dtype);
    for (std::size_t d = slice.size(); d-- > 0;) {
      update_.steps[d] = step;
      step *= whole_.shape[d];
    }
    for (std::size_t d = 0; d < slice.size(); ++d)
      update_.last_starts.push_back(whole_.shape[d] - slice[d]);
    // Dimensions from the end that the slice has whole are one run with the next one.
    update_.run_bytes = byte_size(whole_.dtype);
    for (update_.loops = slice.size(); update_.loops > 0;) {
      update_.run_bytes *= slice[--update_.loops];
      if (slice[update_.loops] != whole_.shape[update_.loops]) break;
    }
  }

  std::string text() const override { return "update of a slice of " + whole_.str(); }
  int in_place_operand() const override { return 0; }
  const SliceUpdate* slice_update() const override { return &update_; }
  StepWork work() const override {
    StepWork all;
    all.alone.runs = static_cast<double>(update_.runs());
    // Loaded and stored, by f32.
    all.alone.accesses = all.alone.runs * static_cast<double>(update_.run_bytes) / 2;
    return all;
  }

  Verdict run(const CallFrame& frame) const override {
    std::byte* to = frame.results[0];
    if (to != frame.operands[0]) copy_whole(frame);
    for (std::size_t d = 0; d < update_.steps.size(); ++d) {
      const std::int64_t start = read_index(frame.operands[2 + d], update_.index);
      to += std::clamp<std::int64_t>(start, 0, update_.last_starts[d]) * update_.steps[d];
    }
    const std::byte* from = frame.operands[1];
    const std::int64_t runs = update_.runs();
    for (std::int64_t r = 0; r < runs; ++r, from += update_.run_bytes)
      std::memcpy(to + update_.offset_of(r), from, static_cast<std::size_t>(update_.run_bytes));
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
  SliceUpdate update_;
};

}  // namespace

std::int64_t SliceUpdate::runs() const {
  std::int64_t all = 1;
  for (std::size_t d = 0; d < loops; ++d) all *= counts[d];
  return all;
}

std::int64_t SliceUpdate::offset_of(std::int64_t run) const {
  std::int64_t at = 0;
  for (std::size_t d = loops; d-- > 0; run /= counts[d]) at += run % counts[d] * steps[d];
  return at;
}

std::unique_ptr<LibraryCall> slice_update_call(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  if (op.operand_count < 3 || program.type_of(operands[1]).elements() == 0) return nullptr;
  return std::make_unique<SliceUpdateCall>(program, op);
}

}  // namespace heddle::cpu
