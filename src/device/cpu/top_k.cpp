// chlo.top_k: the largest elements of every row, without sorting the row.
#include <algorithm>
#include <span>

#include "device/cpu/calls.h"
#include "device/cpu/key_order.h"
#include "device/scalar_region.h"
#include "heddle/op.h"

namespace heddle::cpu {

namespace {

class TopKCall final : public LibraryCall {
 public:
  TopKCall(const Type& rows, const Type& values, DType index)
      : dtype_(rows.dtype),
        index_bytes_(byte_size(index)),
        width_(rows.shape.back()),
        kept_(values.shape.back()),
        rows_(rows.elements() / width_) {}

  std::string text() const override {
    return fmt::format("top {} of {} rows of {}", kept_, rows_, width_);
  }

  StepWork work() const override {
    constexpr double kPerElement = 8;  // accesses
    StepWork all;
    all.alone.lanes = kPerElement * static_cast<double>(rows_ * width_);
    return all;
  }

  Verdict run(const CallFrame& frame) const override {
    const std::int64_t group = std::max<std::int64_t>(1, 8192 / width_);
    frame.pool.parallel_for((rows_ + group - 1) / group, [&](std::int64_t g, int) {
      KeyOrder by_key(8 * byte_size(dtype_));
      std::vector<std::uint64_t> keys(static_cast<std::size_t>(width_));
      Order order;
      for (std::int64_t row = g * group; row < std::min(rows_, (g + 1) * group); ++row) {
        with_width(byte_size(dtype_), [&](auto word) {
          using Word = decltype(word);
          const auto* from = reinterpret_cast<const Word*>(frame.operands[0]) + row * width_;
          find_keys(std::span(from, keys.size()), keys);
          take_first(by_key, keys, order, frame.pool);
          auto* to = reinterpret_cast<Word*>(frame.results[0]) + row * kept_;
          for (std::size_t i = 0; i < order.size(); ++i) to[i] = from[order[i]];
        });
        with_width(index_bytes_, [&](auto word) {
          using Word = decltype(word);
          auto* to = reinterpret_cast<Word*>(frame.results[1]) + row * kept_;
          for (std::size_t i = 0; i < order.size(); ++i) to[i] = static_cast<Word>(order[i]);
        });
      }
    });
    return yes();
  }

 private:
  template <typename Visit>
  static void with_width(int bytes, Visit&& visit) {
    if (bytes == 1) return visit(std::uint8_t{});
    if (bytes == 2) return visit(std::uint16_t{});
    if (bytes == 4) return visit(std::uint32_t{});
    visit(std::uint64_t{});
  }

  // The largest comes first, floats by their total order: NaN first, negative NaN last, and +0
  // before -0.
  template <typename Word>
  void find_keys(std::span<const Word> from, std::vector<std::uint64_t>& keys) const {
    if (!is_float(dtype_)) {
      const auto flip = static_cast<Word>(~ordered_bits(0, dtype_));
      for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<Word>(from[i] ^ flip);
      return;
    }
    // Descending: positive numbers by their inverse, negative ones as they are.
    constexpr Word kMagnitude = static_cast<Word>(~Word{0}) >> 1;
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = from[i] > kMagnitude ? from[i] : static_cast<Word>(kMagnitude - from[i]);
  }

  void take_first(KeyOrder& by_key, const std::vector<std::uint64_t>& keys, Order& order,
                  ThreadPool& pool) const {
    if (kept_ <= width_ / 8) return by_key.first(keys, static_cast<std::size_t>(kept_), order);
    by_key.sort(keys, order, pool);
    order.resize(static_cast<std::size_t>(kept_));
  }

  DType dtype_;
  int index_bytes_;
  std::int64_t width_, kept_, rows_;
};

}  // namespace

std::unique_ptr<LibraryCall> top_k_call(const Program& program, const Op& op) {
  const Type& rows = program.type_of(program.operands(op)[0]);
  const Type& values = program.type_of(program.result(op, 0));
  if (!is_kernel_type(rows.dtype) || values.elements() == 0) return nullptr;
  if (rows.shape.back() > UINT32_MAX) return nullptr;
  return std::make_unique<TopKCall>(rows, values, program.type_of(program.result(op, 1)).dtype);
}

}  // namespace heddle::cpu
