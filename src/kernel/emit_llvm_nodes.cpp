// Nodes of a stage: scalars where all lanes agree, vectors elsewhere, and loads by how their
// indices lie.
#include <algorithm>

#include "kernel/emit_llvm_stage.h"

namespace heddle {

namespace {

using Lanes = NodeShape::Lanes;

constexpr std::string_view kZeros = "@zeros";

bool is_comparison(ScalarOp op) { return op >= ScalarOp::equal && op <= ScalarOp::greater_equal; }

}  // namespace

std::string StageEmitter::address(std::uint32_t buffer, std::string_view index) {
  return w_.set("getelementptr {}, ptr {}, i64 {}",
                LlvmWriter::memory_type(scope_.kernel.buffers[buffer].dtype),
                scope_.buffers[buffer], index);
}

std::string StageEmitter::addresses(std::uint32_t buffer, NodeId index) {
  const LlvmValue at = vector(index);
  return w_.set("getelementptr {}, ptr {}, {} {}",
                LlvmWriter::memory_type(scope_.kernel.buffers[buffer].dtype),
                scope_.buffers[buffer], LlvmWriter::type_of(at), at.text);
}

LlvmValue StageEmitter::vector(NodeId id) {
  return shape_of(id).lanes == Lanes::same ? w_.widened(scalars_[id], shape_.lanes) : vectors_[id];
}

std::string StageEmitter::mask_of(const Points& points, NodeId guard) {
  if (guard == kNone) return points.mask;
  std::string passes = vector(guard).text;
  if (points.mask.empty()) return passes;
  return w_.set("and <{} x i1> {}, {}", shape_.lanes, points.mask, passes);
}

void StageEmitter::emit_scalar(NodeId id) {
  const Node& n = stage_.nodes[id];
  LlvmValue& value = scalars_[id];
  switch (n.kind) {
    case NodeKind::constant:
      value = LlvmWriter::constant(n.type, n.bits);
      return;
    case NodeKind::outer:
      value = {scope_.outer[n.number], DType::i64, 0, false};
      return;
    case NodeKind::loop: {
      const int depth = shape_of(id).depth;
      value = {depth == 0 ? "0" : positions_[static_cast<std::size_t>(depth - 1)], DType::i64, 0,
               false};
      return;
    }
    case NodeKind::chunk:
      value = {"%chunk", DType::i64, 0, false};
      return;
    case NodeKind::load:
      value = scalar_load(n);
      return;
    default:
      break;
  }
  std::vector<LlvmValue> in;
  for (NodeId i : n.in)
    if (i != kNone) in.push_back(scalars_[i]);
  value = op_value(n, std::move(in), 0, false);
}

// Divisions of indices, which are never negative, are cheaper without a sign.
static bool is_natural_division(const Node& n, const StageShape& shape) {
  if (n.type != DType::i64 || (n.op != ScalarOp::divide && n.op != ScalarOp::remainder))
    return false;
  const auto &x = shape.nodes[n.in[0]].range, &y = shape.nodes[n.in[1]].range;
  return x && y && x->least >= 0 && y->least > 0;
}

LlvmValue StageEmitter::op_value(const Node& n, std::vector<LlvmValue> in, int lanes, bool narrow) {
  bool keep_narrow = narrow;
  if (is_comparison(n.op) || n.op == ScalarOp::convert)
    keep_narrow = std::all_of(in.begin(), in.end(),
                              [](const LlvmValue& x) { return x.type != DType::i64 || x.narrow; });
  for (LlvmValue& x : in) {
    if (!keep_narrow) x = w_.wide(x);
    x = w_.widened(x, lanes);
  }
  if (is_natural_division(n, shape_)) {
    LlvmValue result = in[0];
    result.text = w_.set("{} {} {}, {}", n.op == ScalarOp::divide ? "udiv" : "urem",
                         LlvmWriter::type_of(in[0]), in[0].text, in[1].text);
    return result;
  }
  if (n.op == ScalarOp::convert && narrow) {
    LlvmValue result = emit_op(w_, n.op, DType::i32, in);
    result.type = DType::i64;
    result.narrow = true;
    return result;
  }
  return emit_op(w_, n.op, n.type, in);
}

LlvmValue StageEmitter::index_vector(NodeId id) {
  const NodeShape& s = shape_of(id);
  LlvmValue first = scalars_[id];
  if (s.narrow) {
    if (first.text[0] == '%') first.text = w_.set("trunc i64 {} to i32", first.text);
    first.narrow = true;
  }
  LlvmValue all = w_.widened(first, shape_.lanes);
  all.text = w_.set(
      "add {} {}, {}", LlvmWriter::type_of(all), all.text,
      LlvmWriter::iota(LlvmWriter::scalar_type(DType::i64, s.narrow), shape_.lanes, s.stride));
  return all;
}

void StageEmitter::emit_vector(NodeId id, const Points& points) {
  const Node& n = stage_.nodes[id];
  const NodeShape& s = shape_of(id);
  if (s.lanes == Lanes::affine) {
    vectors_[id] = index_vector(id);
    return;
  }
  if (n.kind == NodeKind::load) {
    const bool tiled = !tile_row_.empty() && tile_rooms_.contains(id);
    vectors_[id] = tiled ? tile_row(id) : vector_load(n, points);
    return;
  }
  std::vector<LlvmValue> in;
  for (NodeId i : n.in) {
    if (i == kNone) continue;
    LlvmValue x = shape_of(i).lanes == Lanes::same ? scalars_[i] : vectors_[i];
    // A scalar that fits is cut down beside vectors that are narrow.
    if (x.lanes == 0 && x.type == DType::i64 && shape_of(i).narrow) {
      if (x.text[0] == '%') x.text = w_.set("trunc i64 {} to i32", x.text);
      x.narrow = true;
    }
    in.push_back(std::move(x));
  }
  vectors_[id] = op_value(n, std::move(in), shape_.lanes, s.narrow);
}

// Where the guard is false, what is loaded instead lies on the stack, so that no branch is needed.
LlvmValue StageEmitter::scalar_load(const Node& n) {
  const std::string_view type = LlvmWriter::memory_type(n.type);
  std::string from = address(n.number, scalar(n.in[0]).text);
  if (n.in[1] != kNone) {
    const std::string slot = w_.stack(type);
    const LlvmValue instead = n.in[2] == kNone ? LlvmWriter::constant(n.type, 0) : scalar(n.in[2]);
    w_.put("store {} {}, ptr {}", type, to_memory(w_, instead), slot);
    from = w_.set("select i1 {}, ptr {}, ptr {}", scalar(n.in[1]).text, from, slot);
  }
  return from_memory(w_, w_.set("load {}, ptr {}", type, from), n.type, 0);
}

std::string StageEmitter::any_of(const std::string& mask) {
  return w_.call("i1", fmt::format("llvm.vector.reduce.or.v{}i1", shape_.lanes),
                 fmt::format("<{} x i1> {}", shape_.lanes, mask));
}

LlvmValue StageEmitter::vector_load(const Node& n, const Points& points) {
  const NodeShape& index = shape_of(n.in[0]);
  const int lanes = shape_.lanes;
  const std::string_view element = LlvmWriter::memory_type(n.type);
  const std::string type = LlvmWriter::vector_of(element, lanes);
  const NodeId guard = n.in[1], instead = n.in[2];
  if (index.lanes == Lanes::same) return spread_load(n, mask_of(points, guard));
  const bool next_to_each_other = index.lanes == Lanes::affine && index.stride == 1;
  if (next_to_each_other && points.mask.empty()) {
    const bool one_guard = guard != kNone && shape_of(guard).lanes == Lanes::same;
    if (guard == kNone || (one_guard && instead == kNone)) {
      std::string from = address(n.number, scalar(n.in[0]).text);
      if (one_guard)
        from = w_.set("select i1 {}, ptr {}, ptr {}", scalar(guard).text, from, kZeros);
      return from_memory(w_, w_.set("load {}, ptr {}, align {}", type, from, byte_size(n.type)),
                         n.type, lanes);
    }
  }
  std::string mask = mask_of(points, guard);
  if (mask.empty() && index.lanes == Lanes::affine && index.stride == 2)
    return every_other(n, type);
  if (mask.empty()) mask = w_.splat("true", "i1", lanes);
  const std::string otherwise =
      instead == kNone ? "zeroinitializer" : to_memory(w_, vector(instead));
  const std::string rest =
      fmt::format(", i32 {}, <{} x i1> {}, {} {}", byte_size(n.type), lanes, mask, type, otherwise);
  const std::string suffix = LlvmWriter::suffix(element, lanes);
  if (next_to_each_other) {
    std::string from = address(n.number, scalar(n.in[0]).text);
    // Behind a guard that holds nowhere there may be no memory, which processors find out slowly.
    if (guard != kNone) from = w_.set("select i1 {}, ptr {}, ptr {}", any_of(mask), from, kZeros);
    return from_memory(
        w_, w_.call(type, fmt::format("llvm.masked.load.{}.p0", suffix), "ptr " + from + rest),
        n.type, lanes);
  }
  return from_memory(
      w_,
      w_.call(type, fmt::format("llvm.masked.gather.{}.v{}p0", suffix, lanes),
              fmt::format("<{} x ptr> {}{}", lanes, addresses(n.number, n.in[0]), rest)),
      n.type, lanes);
}

// Two vectors, the second of which ends with the last lane, so that nothing behind it is touched.
LlvmValue StageEmitter::every_other(const Node& n, const std::string& type) {
  const int lanes = shape_.lanes, size = byte_size(n.type);
  const std::string from = address(n.number, scalar(n.in[0]).text);
  const std::string element(LlvmWriter::memory_type(n.type));
  const std::string behind = w_.set("getelementptr {}, ptr {}, i64 {}", element, from, lanes - 1);
  const std::string first = w_.set("load {}, ptr {}, align {}", type, from, size);
  const std::string second = w_.set("load {}, ptr {}, align {}", type, behind, size);
  std::string order;
  for (int lane = 0; lane < lanes; ++lane)
    order +=
        fmt::format("{}i32 {}", lane > 0 ? ", " : "", 2 * lane < lanes ? 2 * lane : 2 * lane + 1);
  const std::string chosen = w_.set("shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>", type,
                                    first, second, lanes, order);
  return from_memory(w_, chosen, n.type, lanes);
}

// One element for all lanes, but not all of them want it.
LlvmValue StageEmitter::spread_load(const Node& n, const std::string& mask) {
  const int lanes = shape_.lanes;
  std::string from = address(n.number, scalar(n.in[0]).text);
  if (!mask.empty()) from = w_.set("select i1 {}, ptr {}, ptr {}", any_of(mask), from, kZeros);
  const std::string_view element = LlvmWriter::memory_type(n.type);
  LlvmValue all =
      w_.widened(from_memory(w_, w_.set("load {}, ptr {}", element, from), n.type, 0), lanes);
  if (n.in[1] == kNone) return all;
  const LlvmValue instead =
      n.in[2] == kNone ? w_.widened(LlvmWriter::constant(n.type, 0), lanes) : vector(n.in[2]);
  const std::array in{vector(n.in[1]), all, instead.narrow ? w_.wide(instead) : instead};
  return emit_op(w_, ScalarOp::select, n.type, in);
}

}  // namespace heddle
