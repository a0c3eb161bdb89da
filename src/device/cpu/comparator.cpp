#include "device/cpu/comparator.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle::cpu {

namespace {

bool is_nan(std::uint64_t bits, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return (bits & 0x7fff) > 0x7c00;
    case DType::bf16:
      return (bits & 0x7fff) > 0x7f80;
    case DType::f32:
      return (bits & 0x7fffffff) > 0x7f800000;
    case DType::f64:
      return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default:
      return false;
  }
}

}  // namespace

std::optional<Comparator> Comparator::of(const Program& program, const Op& sort) {
  auto region = ScalarRegion::of(program, program.regions(sort)[0]);
  if (!region) return {};
  Comparator made;
  made.region_ = *std::move(region);
  made.find_key(sort.operand_count);
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

std::optional<std::uint64_t> Comparator::key_of(std::uint64_t element,
                                                ScalarRegion::Registers& registers) const {
  registers[2 * key_->operand] = element;
  for (std::size_t i : key_->steps) ScalarRegion::run(region_.steps()[i], registers);
  std::uint64_t bits = registers[key_->at];
  if (is_float(key_->dtype) && !key_->total) {
    if (is_nan(bits, key_->dtype)) return {};
    const std::uint64_t sign = std::uint64_t{1} << (8 * byte_size(key_->dtype) - 1);
    if ((bits & (sign - 1)) == 0) bits = 0;  // -0 is no less than 0
  }
  const std::uint64_t value = ordered_bits(bits, key_->dtype);
  return key_->descending ? ~value : value;
}

}  // namespace heddle::cpu
