#include "device/comparator.h"

#include <algorithm>
#include <cstring>

#include "heddle/op.h"

namespace heddle {

namespace {

std::uint64_t low_bits(int count) {
  return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

std::optional<Comparator> Comparator::of(const Program& program, const Op& sort) {
  auto region = ScalarRegion::of(program, program.regions(sort)[0]);
  if (!region) return {};
  Comparator made;
  made.region_ = *std::move(region);
  made.find_key(sort.operand_count);
  if (made.key_) made.element_ = program.type_of(program.operands(sort)[made.key_->operand]).dtype;
  return made;
}

// Whether the right value is made of the right element as the left one is of the left element.
bool Comparator::mirrors(std::size_t left, std::size_t right, Key& key) const {
  if (left == 2 * key.operand) return right == left + 1;
  if (region_.is_constant(left))
    return region_.is_constant(right) &&
           region_.fresh_registers()[left] == region_.fresh_registers()[right];
  const ScalarRegion::Step *l = region_.maker(left), *r = region_.maker(right);
  if (l == nullptr || r == nullptr || l->op != r->op || l->from != r->from || l->to != r->to ||
      l->is_total() != r->is_total())
    return false;
  for (int i = 0; i < operand_count(l->op); ++i)
    if (!mirrors(l->in[i], r->in[i], key)) return false;
  key.steps.push_back(static_cast<std::size_t>(l - region_.steps().data()));
  return true;
}

void Comparator::find_key(std::size_t operands) {
  const ScalarRegion::Step* last = region_.maker(region_.results()[0]);
  if (last == nullptr || (last->op != ScalarOp::less && last->op != ScalarOp::greater)) return;
  for (std::size_t operand = 0; operand < operands; ++operand) {
    Key key{.operand = operand,
            .dtype = last->from,
            .descending = last->op == ScalarOp::greater,
            .total = last->is_total(),
            .steps = {},
            .at = last->in[0]};
    if (!mirrors(last->in[0], last->in[1], key)) continue;
    std::sort(key.steps.begin(), key.steps.end());
    key.steps.erase(std::unique(key.steps.begin(), key.steps.end()), key.steps.end());
    key_ = std::move(key);
    return;
  }
}

bool Comparator::keys_of(const std::byte* elements, std::int64_t step,
                         std::span<std::uint64_t> keys) const {
  auto registers = fresh_registers();
  const auto size = static_cast<std::size_t>(byte_size(element_));
  const bool has_nan = is_float(key_->dtype) && !key_->total;
  const std::uint64_t mask = low_bits(8 * byte_size(key_->dtype));
  for (std::uint64_t& key : keys) {
    std::uint64_t& element = registers[2 * key_->operand];
    element = 0;
    std::memcpy(&element, elements, size);
    elements += step;
    for (std::size_t i : key_->steps) ScalarRegion::run(region_.steps()[i], registers);
    std::uint64_t bits = registers[key_->at];
    if (has_nan) {
      if (is_nan(bits, key_->dtype)) return false;
      if ((bits & (mask >> 1)) == 0) bits = 0;  // -0 is no less than 0
    }
    key = ordered_bits(bits, key_->dtype);
    if (key_->descending) key = ~key & mask;
  }
  return true;
}

}  // namespace heddle
