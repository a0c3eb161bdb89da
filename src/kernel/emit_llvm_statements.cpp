// Stores and updates at the points of a stage.
#include "kernel/emit_llvm_stage.h"

namespace heddle {

namespace {

using Lanes = NodeShape::Lanes;

// What an element of kind i64 may be kept as in a register is not what memory holds.
std::string element_text(LlvmWriter& w, const LlvmValue& value) { return to_memory(w, value); }

}  // namespace

LlvmValue StageEmitter::get(std::uint32_t buffer, std::string_view index) {
  const DType type = scope_.kernel.buffers[buffer].dtype;
  return from_memory(
      w_, w_.set("load {}, ptr {}", LlvmWriter::memory_type(type), address(buffer, index)), type,
      0);
}

void StageEmitter::put(std::uint32_t buffer, std::string_view index, const LlvmValue& value) {
  const std::string text = element_text(w_, value);
  w_.put("store {} {}, ptr {}", LlvmWriter::memory_type(value.type), text, address(buffer, index));
}

void StageEmitter::emit_statement(std::size_t i, const Points& points) {
  const Statement& s = stage_.statements[i];
  switch (shape_.statements[i].way) {
    case Way::scalar:
      return;  // where its level was entered
    case Way::vector:
      return s.kind == Statement::Kind::store ? vector_store(s, points) : vector_update(s, points);
    case Way::lane_by_lane:
      return lane_by_lane(s, points, nullptr);
    case Way::vector_accumulator:
      return add_to_accumulator(i, points);
    case Way::scalar_accumulator:
      return lane_by_lane(s, points, &accumulators_[i].slots[0]);
    case Way::vector_selection:
      return select_vector(i, points);
    case Way::vector_scan:
      return scan_vector(i, points);
    case Way::row_accumulator:
      return add_to_row(i, points);
  }
}

void StageEmitter::scalar_statement(const Statement& s) {
  auto act = [&] {
    std::vector<LlvmValue> values;
    for (NodeId v : s.values) values.push_back(scalar(v));
    const std::string scan_index = s.scan_index == kNone ? "" : scalar(s.scan_index).text;
    update_point(s, scalar(s.index).text, scan_index, values, nullptr);
  };
  if (s.guard == kNone)
    act();
  else
    w_.when(scalar(s.guard).text, act);
}

const Statement* StageEmitter::other_half(const Statement& s) const {
  const auto mine = interleaved(stage_, s.index);
  const NodeShape& at = shape_of(s.index);
  if (!mine || mine->step != 2 || s.guard != kNone || at.lanes != Lanes::affine || at.stride != 2)
    return nullptr;
  for (const Statement& other : stage_.statements) {
    if (&other == &s || other.kind != Statement::Kind::store || other.guard != kNone ||
        other.buffers[0] != s.buffers[0])
      continue;
    const auto theirs = interleaved(stage_, other.index);
    if (theirs && mine->x == theirs->x && theirs->step == 2 && std::abs(mine->at - theirs->at) == 1)
      return &other;
  }
  return nullptr;
}

// Both as two vectors that lie in one piece.
void StageEmitter::store_halves(const Statement& even, const Statement& odd) {
  const KernelBuffer& target = scope_.kernel.buffers[even.buffers[0]];
  const int lanes = shape_.lanes, size = byte_size(target.dtype);
  const std::string element(LlvmWriter::memory_type(target.dtype));
  const std::string whole = LlvmWriter::vector_of(element, lanes);
  const std::string a = element_text(w_, vector(even.values[0])),
                    b = element_text(w_, vector(odd.values[0]));
  const auto align =
      static_cast<int>(std::min<std::int64_t>(64, shape_of(even.index).multiple * size));
  const bool stream = target.streamed && lanes * size >= 16 && align >= std::min(64, lanes * size);
  scope_.streams = scope_.streams || stream;
  const std::string to = address(even.buffers[0], scalar(even.index).text);
  for (int half : {0, 1}) {
    std::string order;
    for (int lane = 0; lane < lanes; ++lane)
      order += fmt::format("{}i32 {}", lane > 0 ? ", " : "",
                           half * lanes / 2 + lane / 2 + (lane % 2) * lanes);
    const std::string mixed =
        w_.set("shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>", whole, a, b, lanes, order);
    const std::string at = w_.set("getelementptr {}, ptr {}, i64 {}", element, to, half * lanes);
    w_.put("store {} {}, ptr {}, align {}{}", whole, mixed, at,
           half == 0 ? align : std::min(align, lanes * size), stream ? ", !nontemporal !0" : "");
  }
}

void StageEmitter::vector_store(const Statement& s, const Points& points) {
  if (const Statement* other = points.mask.empty() ? other_half(s) : nullptr) {
    // With the one that comes first in memory.
    if (interleaved(stage_, s.index)->at < interleaved(stage_, other->index)->at)
      store_halves(s, *other);
    return;
  }
  put_vector(s.buffers[0], s.index, vector(s.values[0]), mask_of(points, s.guard));
}

void StageEmitter::vector_update(const Statement& s, const Points& points) {
  const std::string mask = mask_of(points, s.guard);
  std::vector<LlvmValue> there, comes;
  for (std::size_t k = 0; k < s.values.size(); ++k) {
    there.push_back(get_vector(s.buffers[k], s.index, mask));
    comes.push_back(w_.wide(vector(s.values[k])));
  }
  const std::vector<LlvmValue> results = combine(s.combiner, there, comes, shape_.lanes);
  for (std::size_t k = 0; k < results.size(); ++k)
    put_vector(s.buffers[k], s.index, results[k], mask);
}

LlvmValue StageEmitter::get_vector(std::uint32_t buffer, NodeId index, const std::string& mask) {
  const DType type = scope_.kernel.buffers[buffer].dtype;
  const int lanes = shape_.lanes, size = byte_size(type);
  const std::string_view element = LlvmWriter::memory_type(type);
  const std::string whole = LlvmWriter::vector_of(element, lanes);
  const bool next_to_each_other = shape_of(index).stride == 1;
  if (next_to_each_other && mask.empty())
    return from_memory(
        w_, w_.set("load {}, ptr {}, align {}", whole, address(buffer, scalar(index).text), size),
        type, lanes);
  const std::string used = mask.empty() ? w_.splat("true", "i1", lanes) : mask;
  const std::string rest =
      fmt::format(", i32 {}, <{} x i1> {}, {} zeroinitializer", size, lanes, used, whole);
  const std::string suffix = LlvmWriter::suffix(element, lanes);
  const std::string loaded =
      next_to_each_other
          ? w_.call(whole, fmt::format("llvm.masked.load.{}.p0", suffix),
                    "ptr " + address(buffer, scalar(index).text) + rest)
          : w_.call(whole, fmt::format("llvm.masked.gather.{}.v{}p0", suffix, lanes),
                    fmt::format("<{} x ptr> {}{}", lanes, addresses(buffer, index), rest));
  return from_memory(w_, loaded, type, lanes);
}

void StageEmitter::put_vector(std::uint32_t buffer, NodeId index, const LlvmValue& value,
                              const std::string& mask) {
  const KernelBuffer& target = scope_.kernel.buffers[buffer];
  const int lanes = shape_.lanes, size = byte_size(target.dtype);
  const NodeShape& at = shape_of(index);
  const std::string_view element = LlvmWriter::memory_type(target.dtype);
  const std::string whole = LlvmWriter::vector_of(element, lanes);
  const std::string text = element_text(w_, value);
  const bool next_to_each_other = at.lanes == Lanes::affine && at.stride == 1;
  if (next_to_each_other && mask.empty()) {
    const bool peeled =
        shape_.peeled && tiles_.empty() && stage_.statements[*shape_.peeled].buffers[0] == buffer;
    const auto align =
        peeled ? 64 : static_cast<int>(std::min<std::int64_t>(64, at.multiple * size));
    const bool stream =
        target.streamed && align >= std::min(64, lanes * size) && lanes * size >= 16;
    scope_.streams = scope_.streams || stream;
    w_.put("store {} {}, ptr {}, align {}{}", whole, text, address(buffer, scalar(index).text),
           align, stream ? ", !nontemporal !0" : "");
    return;
  }
  const std::string used = mask.empty() ? w_.splat("true", "i1", lanes) : mask;
  const std::string rest = fmt::format(", i32 {}, <{} x i1> {}", size, lanes, used);
  const std::string suffix = LlvmWriter::suffix(element, lanes);
  if (next_to_each_other)
    w_.call_void(
        fmt::format("llvm.masked.store.{}.p0", suffix),
        fmt::format("{} {}, ptr {}{}", whole, text, address(buffer, scalar(index).text), rest));
  else
    w_.call_void(
        fmt::format("llvm.masked.scatter.{}.v{}p0", suffix, lanes),
        fmt::format("{} {}, <{} x ptr> {}{}", whole, text, lanes, addresses(buffer, index), rest));
}

std::vector<LlvmValue> StageEmitter::combine(const Combiner& combiner,
                                             const std::vector<LlvmValue>& there,
                                             const std::vector<LlvmValue>& comes, int lanes) {
  if (combiner.op != ScalarOp::none)
    return {emit_op(w_, combiner.op, there[0].type, std::array{there[0], comes[0]})};
  std::vector<LlvmValue> values;
  for (const Node& n : combiner.nodes) {
    if (n.kind == NodeKind::constant) {
      values.push_back(w_.widened(LlvmWriter::constant(n.type, n.bits), lanes));
    } else if (n.kind == NodeKind::parameter) {
      values.push_back(n.number < there.size() ? there[n.number] : comes[n.number - there.size()]);
    } else {
      std::vector<LlvmValue> in;
      for (NodeId i : n.in)
        if (i != kNone) in.push_back(values[i]);
      values.push_back(emit_op(w_, n.op, n.type, in));
    }
  }
  std::vector<LlvmValue> results;
  for (NodeId r : combiner.results) results.push_back(values[r]);
  return results;
}

void StageEmitter::update_point(const Statement& s, std::string_view index,
                                std::string_view scan_index, const std::vector<LlvmValue>& values,
                                const std::vector<std::string>* there) {
  if (s.kind == Statement::Kind::store) return put(s.buffers[0], index, values[0]);
  std::vector<LlvmValue> old;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const DType type = scope_.kernel.buffers[s.buffers[k]].dtype;
    old.push_back(there == nullptr ? get(s.buffers[k], index)
                                   : LlvmValue{w_.set("load {}, ptr {}",
                                                      LlvmWriter::scalar_type(type), (*there)[k]),
                                               type, 0, false});
  }
  const std::vector<LlvmValue> results = combine(s.combiner, old, values, 0);
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (there == nullptr)
      put(s.buffers[k], index, results[k]);
    else
      w_.put("store {} {}, ptr {}", LlvmWriter::type_of(results[k]), results[k].text, (*there)[k]);
    if (s.kind == Statement::Kind::scan) put(s.buffers[values.size() + k], scan_index, results[k]);
  }
}

std::function<LlvmValue(std::string_view)> StageEmitter::by_lane(NodeId id) {
  if (shape_of(id).lanes == Lanes::same) {
    return [one = scalars_[id]](std::string_view) { return one; };
  }
  // Kept on the stack, where a lane can be looked up by a number.
  const LlvmValue all = w_.wide(vectors_[id]);
  const bool truth = all.type == DType::i1;
  const std::string element(truth ? "i8" : LlvmWriter::scalar_type(all.type));
  const std::string type = LlvmWriter::vector_of(element, all.lanes);
  const std::string room = w_.stack(type, 64);
  w_.put("store {} {}, ptr {}", type, truth ? to_memory(w_, all) : all.text, room);
  return [this, room, element, truth, dtype = all.type](std::string_view lane) {
    const std::string at = w_.set("getelementptr {}, ptr {}, i64 {}", element, room, lane);
    const std::string loaded = w_.set("load {}, ptr {}", element, at);
    return truth ? from_memory(w_, loaded, dtype, 0) : LlvmValue{loaded, dtype, 0, false};
  };
}

void StageEmitter::lane_by_lane(const Statement& s, const Points& points,
                                const std::vector<std::string>* there) {
  std::vector<std::function<LlvmValue(std::string_view)>> values;
  for (NodeId v : s.values) values.push_back(by_lane(v));
  const auto none = [](std::string_view) { return LlvmValue{}; };
  const auto index = there == nullptr ? by_lane(s.index) : none;
  const auto guard = s.guard == kNone ? none : by_lane(s.guard);
  const auto scan_index = s.scan_index == kNone ? none : by_lane(s.scan_index);
  const std::string limit = points.mask.empty() ? std::to_string(shape_.lanes) : points.active;
  w_.loop("0", limit, 1, [&](const std::string& lane) {
    auto act = [&] {
      std::vector<LlvmValue> now;
      for (const auto& value : values) now.push_back(value(lane));
      update_point(s, index(lane).text, scan_index(lane).text, now, there);
    };
    if (s.guard == kNone)
      act();
    else
      w_.when(guard(lane).text, act);
  });
}

}  // namespace heddle
