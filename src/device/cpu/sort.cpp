// sort: lines along one dimension, many at a time; a long line by all workers together.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "device/cpu/calls.h"
#include "device/cpu/comparator.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle::cpu {

namespace {

using Order = std::vector<std::uint32_t>;

constexpr std::int64_t kLongLine = 1 << 15;

std::uint64_t load(const std::byte* data, std::int64_t i, std::int64_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, data + i * size, static_cast<std::size_t>(size));
  return bits;
}

// Sorted runs that workers made, joined two by two.
template <typename T, typename Before>
void sort_parallel(std::vector<T>& items, Before before, ThreadPool& pool) {
  const auto count = static_cast<std::int64_t>(items.size());
  std::int64_t runs = 1;
  if (count >= kLongLine)
    while (runs < 2 * pool.threads()) runs *= 2;
  const auto border = [&](std::int64_t r) { return items.begin() + count * r / runs; };
  if (runs == 1) {
    std::stable_sort(items.begin(), items.end(), before);
    return;
  }
  pool.parallel_for(
      runs, [&](std::int64_t r, int) { std::stable_sort(border(r), border(r + 1), before); });
  for (std::int64_t width = 1; width < runs; width *= 2)
    pool.parallel_for(runs / (2 * width), [&](std::int64_t pair, int) {
      const std::int64_t first = pair * 2 * width;
      std::inplace_merge(border(first), border(first + width), border(first + 2 * width), before);
    });
}

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
  }

  std::string text() const override {
    return fmt::format("sort {} lines of {}", outer_ * inner_, length_);
  }

  Verdict run(const CallFrame& frame) const override {
    const std::int64_t lines = outer_ * inner_;
    if (length_ >= kLongLine || lines == 1) {
      for (std::int64_t l = 0; l < lines; ++l) sort_line(frame, l);
      return yes();
    }
    const std::int64_t group = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(length_, 1));
    frame.pool.parallel_for((lines + group - 1) / group, [&](std::int64_t g, int) {
      for (std::int64_t l = g * group; l < std::min(lines, (g + 1) * group); ++l)
        sort_line(frame, l);
    });
    return yes();
  }

 private:
  std::int64_t base(std::int64_t line) const {
    return line / inner_ * length_ * inner_ + line % inner_;
  }

  void sort_line(const CallFrame& frame, std::int64_t line) const {
    Order order(static_cast<std::size_t>(length_));
    std::iota(order.begin(), order.end(), 0U);
    if (!by_key(frame, line, order)) by_comparator(frame, line, order);
    for (std::size_t k = 0; k < sizes_.size(); ++k) gather(frame, line, k, order);
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
  bool by_key(const CallFrame& frame, std::int64_t line, Order& order) const {
    if (!comparator_.key()) return false;
    const std::size_t k = comparator_.key()->operand;
    const std::int64_t size = sizes_[k];
    auto registers = comparator_.fresh_registers();
    std::vector<std::pair<std::uint64_t, std::uint32_t>> items(order.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::int64_t at = base(line) + static_cast<std::int64_t>(i) * inner_;
      const auto key = comparator_.key_of(load(frame.operands[k], at, size), registers);
      if (!key) return false;
      items[i] = {*key, static_cast<std::uint32_t>(i)};
    }
    sort_parallel(
        items, [](const auto& a, const auto& b) { return a.first < b.first; }, frame.pool);
    for (std::size_t i = 0; i < items.size(); ++i) order[i] = items[i].second;
    return true;
  }

  // A merge sort of our own: a comparator that contradicts itself must not lead out of the line.
  void by_comparator(const CallFrame& frame, std::int64_t line, Order& order) const {
    auto registers = comparator_.fresh_registers();
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      for (std::size_t k = 0; k < sizes_.size(); ++k) {
        registers[2 * k] = load(frame.operands[k], base(line) + a * inner_, sizes_[k]);
        registers[2 * k + 1] = load(frame.operands[k], base(line) + b * inner_, sizes_[k]);
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
