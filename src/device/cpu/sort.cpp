// sort: lines along one dimension, many at a time; a long line by all workers together.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "cost/sharing.h"
#include "device/comparator.h"
#include "device/cpu/calls.h"
#include "device/cpu/key_order.h"
#include "device/cpu/places.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle::cpu {

namespace {

class SortCall final : public LibraryCall {
 public:
  SortCall(const Program& program, const Op& op, Comparator comparator, std::int64_t dimension)
      : comparator_(std::move(comparator)) {
    const Shape& shape = program.type_of(program.operands(op)[0]).shape;
    length_ = shape[static_cast<std::size_t>(dimension)];
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (static_cast<std::int64_t>(d) < dimension) outer_ *= shape[d];
      if (static_cast<std::int64_t>(d) > dimension) inner_ *= shape[d];
    }
    for (ValueId v : program.operands(op)) sizes_.push_back(byte_size(program.type_of(v).dtype));
    const auto& key = comparator_.key();
    is_key_ = sizes_.size() == 1 && key && key->steps.empty() && !key->descending &&
              is_integer(key->dtype);
  }

  std::string text() const override {
    return fmt::format("sort {} lines of {}", outer_ * inner_, length_);
  }

  StepWork work() const override {
    constexpr double kPerMerge = 16;  // accesses of an element, as measured
    const auto lines = static_cast<double>(outer_ * inner_), length = static_cast<double>(length_);
    StepWork all;
    all.alone.lanes = kPerMerge * lines * length * std::log2(std::max(2.0, length));
    return all;
  }

  Verdict run(const CallFrame& frame) const override {
    const std::int64_t lines = outer_ * inner_;
    if (length_ >= cost::kLongLine || lines == 1) {
      Work work(key_bits());
      for (std::int64_t l = 0; l < lines; ++l) sort_line(frame, l, work);
      return yes();
    }
    const std::int64_t group = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(length_, 1));
    frame.pool.parallel_for((lines + group - 1) / group, [&](std::int64_t g, int) {
      Work work(key_bits());
      for (std::int64_t l = g * group; l < std::min(lines, (g + 1) * group); ++l)
        sort_line(frame, l, work);
    });
    return yes();
  }

 private:
  // What a worker needs for one line after another.
  struct Work {
    explicit Work(int key_bits) : by_key(key_bits) {}
    KeyOrder by_key;
    std::vector<std::uint64_t> keys;
    Order order;
  };

  int key_bits() const { return comparator_.key() ? 8 * byte_size(comparator_.key()->dtype) : 64; }

  std::int64_t base(std::int64_t line) const {
    return line / inner_ * length_ * inner_ + line % inner_;
  }

  void sort_line(const CallFrame& frame, std::int64_t line, Work& work) const {
    if (is_key_) return sort_keys(frame, line, work);
    if (find_keys(frame, line, work.keys)) {
      work.by_key.sort(work.keys, work.order, frame.pool);
    } else {
      work.order.resize(static_cast<std::size_t>(length_));
      std::iota(work.order.begin(), work.order.end(), 0U);
      by_comparator(frame, line, work.order);
    }
    for (std::size_t k = 0; k < sizes_.size(); ++k) gather(frame, line, k, work.order);
  }

  // Whole numbers alone: the sorted keys are the result.
  void sort_keys(const CallFrame& frame, std::int64_t line, Work& work) const {
    find_keys(frame, line, work.keys);
    work.by_key.sort_keys(work.keys, frame.pool);
    const std::int64_t size = sizes_[0], step = inner_ * size;
    const DType dtype = comparator_.key()->dtype;
    std::byte* to = frame.results[0] + base(line) * size;
    for (std::size_t i = 0; i < work.keys.size(); ++i) {
      const std::uint64_t bits = ordered_bits(work.keys[i], dtype);  // is its own way back
      std::memcpy(to + static_cast<std::int64_t>(i) * step, &bits, static_cast<std::size_t>(size));
    }
  }

  void gather(const CallFrame& frame, std::int64_t line, std::size_t k, const Order& order) const {
    const std::int64_t size = sizes_[k], step = inner_ * size;
    const std::byte* from = frame.operands[k] + base(line) * size;
    std::byte* to = frame.results[k] + base(line) * size;
    for (std::size_t i = 0; i < order.size(); ++i)
      std::memcpy(to + static_cast<std::int64_t>(i) * step, from + order[i] * step,
                  static_cast<std::size_t>(size));
  }

  // False where there is no such key, or a NaN that has no place.
  bool find_keys(const CallFrame& frame, std::int64_t line,
                 std::vector<std::uint64_t>& keys) const {
    if (!comparator_.key()) return false;
    const std::size_t k = comparator_.key()->operand;
    keys.resize(static_cast<std::size_t>(length_));
    return comparator_.keys_of(frame.operands[k] + base(line) * sizes_[k], inner_ * sizes_[k],
                               keys);
  }

  // A merge sort of our own: a comparator that contradicts itself must not lead out of the line.
  void by_comparator(const CallFrame& frame, std::int64_t line, Order& order) const {
    auto registers = comparator_.fresh_registers();
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      for (std::size_t k = 0; k < sizes_.size(); ++k) {
        registers[2 * k] = load_bits(frame.operands[k], base(line) + a * inner_, sizes_[k]);
        registers[2 * k + 1] = load_bits(frame.operands[k], base(line) + b * inner_, sizes_[k]);
      }
      return comparator_.comes_before(registers);
    };
    Order merged(order.size());
    for (std::size_t width = 1; width < order.size(); width *= 2) {
      for (std::size_t first = 0; first < order.size(); first += 2 * width) {
        const std::size_t middle = std::min(first + width, order.size());
        const std::size_t end = std::min(first + 2 * width, order.size());
        std::size_t left = first, right = middle;
        for (std::size_t to = first; to < end; ++to) {
          const bool take_right =
              left == middle || (right < end && before(order[right], order[left]));
          merged[to] = order[take_right ? right++ : left++];
        }
      }
      order.swap(merged);
    }
  }

  Comparator comparator_;
  std::vector<std::int64_t> sizes_;  // bytes of an element, by operand
  std::int64_t length_ = 0, outer_ = 1, inner_ = 1;
  bool is_key_ = false;  // whether an element is its own key, and all there is
};

}  // namespace

std::unique_ptr<LibraryCall> sort_call(const Program& program, const Op& op) {
  const Type& first = program.type_of(program.operands(op)[0]);
  if (first.elements() == 0 || first.rank() == 0) return nullptr;
  auto comparator = Comparator::of(program, op);
  if (!comparator) return nullptr;
  std::int64_t dimension = integer_or(program.attr(op, "dimension"), -1);
  if (dimension < 0) dimension += static_cast<std::int64_t>(first.rank());
  if (first.shape[static_cast<std::size_t>(dimension)] > UINT32_MAX) return nullptr;
  return std::make_unique<SortCall>(program, op, *std::move(comparator), dimension);
}

}  // namespace heddle::cpu
