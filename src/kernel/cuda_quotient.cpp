#include "kernel/cuda_quotient.h"

#include <bit>
#include <cmath>

#include "kernel/cuda_float8.h"
#include "kernel/cuda_resident.h"

namespace heddle {

namespace {

bool is_one(const Node& node) {
  return node.kind == NodeKind::constant && node.type == DType::f32 && node.bits == 0x3f800000;
}

}  // namespace

std::optional<std::uint64_t> exact_inverse(const Node& node) {
  if (node.kind != NodeKind::constant) return {};
  const auto of = [](auto value, auto bits) -> std::optional<std::uint64_t> {
    int exponent = 0;
    constexpr int kMost = 120;  // far from where an inverse loses digits
    const auto size = std::frexp(std::fabs(value), &exponent);
    if (size != 0.5 || std::abs(exponent) > kMost) return {};
    return std::bit_cast<decltype(bits)>(1 / value);
  };
  if (node.type == DType::f32) {
    const auto bits = static_cast<std::uint32_t>(node.bits);
    return of(std::bit_cast<float>(bits), bits);
  }
  if (node.type == DType::f64) return of(std::bit_cast<double>(node.bits), node.bits);
  return {};
}

bool is_logistic(const Stage& stage, const Node& node) {
  if (node.op != ScalarOp::divide || !is_one(stage.nodes[node.in[0]])) return false;
  const Node& sum = stage.nodes[node.in[1]];
  if (sum.op != ScalarOp::add) return false;
  const Node &a = stage.nodes[sum.in[0]], &b = stage.nodes[sum.in[1]];
  return (is_one(a) && b.op == ScalarOp::exp) || (a.op == ScalarOp::exp && is_one(b));
}

std::vector<bool> divisors(const Stage& stage) {
  std::vector<bool> divides(stage.nodes.size(), false);
  for (const Node& node : stage.nodes)
    if (node.op == ScalarOp::divide && node.type == DType::f32 &&
        !exact_inverse(stage.nodes[node.in[1]]) && !is_logistic(stage, node))
      divides[node.in[1]] = true;
  return divides;
}

namespace {

// By node: how often statements and nodes that are alive need it.
std::vector<int> uses_of(const Stage& stage, const std::vector<bool>& live) {
  std::vector<int> uses(stage.nodes.size(), 0);
  for (std::size_t i = 0; i < stage.nodes.size(); ++i)
    for (NodeId in : stage.nodes[i].in)
      if (live[i] && in != kNone) ++uses[in];
  for (const Statement& statement : stage.statements) {
    for (NodeId value : statement.values) ++uses[value];
    for (NodeId other : {statement.index, statement.guard, statement.scan_index})
      if (other != kNone) ++uses[other];
  }
  return uses;
}

}  // namespace

std::vector<bool> narrowed_numbers(const Stage& stage) {
  const auto live = live_nodes(stage);
  const std::vector<int> uses = uses_of(stage, live);
  std::vector<int> narrow(stage.nodes.size(), 0);
  for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
    if (!live[i]) continue;
    const Node& node = stage.nodes[i];
    if (node.op == ScalarOp::convert && (node.type == DType::bf16 || node.type == DType::f16))
      ++narrow[node.in[0]];
    // Its bits are looked at by nothing but what makes fewer of them.
    if (const auto small = cuda_float8(stage, static_cast<NodeId>(i))) ++narrow[small->number];
  }
  std::vector<bool> narrowed;
  for (std::size_t i = 0; i < uses.size(); ++i)
    narrowed.push_back(uses[i] > 0 && uses[i] == narrow[i]);
  return narrowed;
}

std::vector<bool> near_powers(const Stage& stage) {
  const auto live = live_nodes(stage);
  const std::vector<int> uses = uses_of(stage, live);
  std::vector<bool> few = narrowed_numbers(stage);  // digits count
  std::vector<int> in_products(stage.nodes.size(), 0);
  for (std::size_t i = stage.nodes.size(); i-- > 0;) {
    few[i] = few[i] || (uses[i] > 0 && uses[i] == in_products[i]);
    const Node& node = stage.nodes[i];
    if (live[i] && few[i] && node.op == ScalarOp::multiply && node.type == DType::f32)
      for (int side : {0, 1}) ++in_products[node.in[static_cast<std::size_t>(side)]];
  }
  std::vector<bool> near(stage.nodes.size(), false);
  for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
    const Node& node = stage.nodes[i];
    if (!live[i] || !few[i] || !is_logistic(stage, node) || uses[node.in[1]] != 1) continue;
    for (NodeId in : stage.nodes[node.in[1]].in)
      if (in != kNone && stage.nodes[in].op == ScalarOp::exp && uses[in] == 1) near[in] = true;
  }
  return near;
}

}  // namespace heddle
