#include "kernel/cuda_float8.h"

#include "heddle/dtype.h"

namespace heddle {

namespace {

// What differs between the two types, as bits.
struct Numbers {
  std::uint64_t dropped, up, bias, large, least, largest;
};
constexpr Numbers kE4m3 = {20, 0x7ffff, 0x3c0, 0x46800000, 0x3c800000, 0x7e};
constexpr Numbers kE5m2 = {21, 0xfffff, 0x1c0, 0x43000000, 0x38800000, 0x7b};
constexpr std::uint64_t kInfinity = 0x7f800000, kSize = 0x7fffffff;

class Match {
 public:
  explicit Match(const Stage& stage) : stage_(stage) {}

  std::optional<CudaFloat8> at(NodeId id) const {
    const Node& code = stage_.nodes[id];
    if (code.type != DType::ui8 || code.op != ScalarOp::convert) return {};
    const auto both = parts(code.in[0], ScalarOp::bit_or);
    if (!both) return {};
    const auto [field, sign] = *both;
    const auto bits = by(sign, ScalarOp::bit_and, 0x80);
    const auto word = bits ? by(*bits, ScalarOp::shift_right_logical, 24) : std::nullopt;
    if (!word || stage_.nodes[*word].op != ScalarOp::bitcast) return {};
    const NodeId number = stage_.nodes[*word].in[0];
    if (stage_.nodes[number].type != DType::f32) return {};
    if (is_limited(field, *word, kE4m3)) return CudaFloat8{number, false};
    if (is_number_or_infinity(field, *word, kE5m2)) return CudaFloat8{number, true};
    return {};
  }

 private:
  using Pair = std::pair<NodeId, NodeId>;

  std::optional<Pair> parts(NodeId id, ScalarOp op) const {
    const Node& node = stage_.nodes[id];
    if (node.kind != NodeKind::scalar || node.op != op) return {};
    return Pair(node.in[0], node.in[1]);
  }
  bool is_constant(NodeId id, std::uint64_t bits) const {
    const Node& node = stage_.nodes[id];
    return node.kind == NodeKind::constant && node.bits == bits;
  }
  // The other operand of an operation with a constant.
  std::optional<NodeId> by(NodeId id, ScalarOp op, std::uint64_t constant) const {
    const auto both = parts(id, op);
    if (!both || !is_constant(both->second, constant)) return {};
    return both->first;
  }
  bool is(NodeId id, ScalarOp op, NodeId first, std::uint64_t constant) const {
    return by(id, op, constant) == first;
  }
  bool is_size(NodeId id, NodeId word) const { return is(id, ScalarOp::bit_and, word, kSize); }

  // select(size > infinity, no number, limited)
  bool is_number_or_infinity(NodeId id, NodeId word, const Numbers& of) const {
    const Node& node = stage_.nodes[id];
    if (node.op != ScalarOp::select || !is_constant(node.in[1], 0x7e)) return false;
    const auto size = by(node.in[0], ScalarOp::greater, kInfinity);
    return size && is_size(*size, word) && is_limited(node.in[2], word, of);
  }
  // select(field > largest, what comes after it, field)
  bool is_limited(NodeId id, NodeId word, const Numbers& of) const {
    const Node& node = stage_.nodes[id];
    return node.op == ScalarOp::select && is_constant(node.in[1], of.largest + 1) &&
           is(node.in[0], ScalarOp::greater, node.in[2], of.largest) &&
           is_field(node.in[2], word, of);
  }
  // select(size < least, small, normal)
  bool is_field(NodeId id, NodeId word, const Numbers& of) const {
    const Node& node = stage_.nodes[id];
    if (node.op != ScalarOp::select) return false;
    const auto size = by(node.in[0], ScalarOp::less, of.least);
    return size && is_size(*size, word) && is_small(node.in[1], *size, of) &&
           is_normal(node.in[2], *size, of);
  }
  // bits(number(size) + large) - bits(large)
  bool is_small(NodeId id, NodeId size, const Numbers& of) const {
    const auto counted = by(id, ScalarOp::subtract, of.large);
    if (!counted || stage_.nodes[*counted].op != ScalarOp::bitcast) return false;
    const auto number = by(stage_.nodes[*counted].in[0], ScalarOp::add, of.large);
    return number && stage_.nodes[*number].op == ScalarOp::bitcast &&
           stage_.nodes[*number].in[0] == size;
  }
  // (size + odd + up >> dropped) - bias
  bool is_normal(NodeId id, NodeId size, const Numbers& of) const {
    const auto cut = by(id, ScalarOp::subtract, of.bias);
    const auto sum = cut ? by(*cut, ScalarOp::shift_right_logical, of.dropped) : std::nullopt;
    const auto both = sum ? by(*sum, ScalarOp::add, of.up) : std::nullopt;
    const auto added = both ? parts(*both, ScalarOp::add) : std::nullopt;
    if (!added || added->first != size) return false;
    const auto odd = by(added->second, ScalarOp::bit_and, 1);
    return odd && is(*odd, ScalarOp::shift_right_logical, size, of.dropped);
  }

  const Stage& stage_;
};

}  // namespace

std::optional<CudaFloat8> cuda_float8(const Stage& stage, NodeId node) {
  return Match(stage).at(node);
}

}  // namespace heddle
