// Updates whose index stays over some loops: they are kept in registers until those have run.
#include "kernel/emit_llvm_stage.h"

namespace heddle {

namespace {

// Sums of short floats are kept in f32 and rounded once.
DType kept_type(DType type) {
  return type == DType::f16 || type == DType::bf16 ? DType::f32 : type;
}

}  // namespace

LlvmValue neutral_value(ScalarOp op, DType type) {
  return LlvmWriter::constant(type, neutral_bits(op, type));
}

// Under a guard the index need not lie in the buffer at all.
bool StageEmitter::may_lie_outside(const Statement& s) const {
  if (s.guard == kNone) return false;
  const auto& range = shape_of(s.index).range;
  return !range || range->least < 0 || range->most >= scope_.kernel.buffers[s.buffers[0]].elements;
}

void StageEmitter::begin_accumulator(std::size_t i) {
  const Statement& s = stage_.statements[i];
  Accumulator& kept = accumulators_[i];
  const Way way = shape_.statements[i].way;
  const bool vectors = way == Way::vector_accumulator;
  const bool selects = way == Way::vector_selection;
  const bool first_time = kept.slots.empty();
  if (first_time)
    kept.slots.resize(vectors || selects ? static_cast<std::size_t>(vectors_of_turn()) : 1);
  for (auto& slots : kept.slots)
    for (std::size_t k = 0; k < s.values.size(); ++k) {
      const DType own = scope_.kernel.buffers[s.buffers[k]].dtype;
      LlvmValue start;
      if (vectors)
        start = w_.widened(neutral_value(s.combiner.op, kept_type(own)), shape_.lanes);
      else
        start = get(s.buffers[k], scalar(s.index).text);
      if (selects || way == Way::vector_scan) start = w_.widened(start, shape_.lanes);
      const std::string type = LlvmWriter::type_of(start);
      if (slots.size() == k) slots.push_back(w_.stack(type));
      w_.put("store {} {}, ptr {}", type, start.text, slots[k]);
    }
  if (!vectors || !may_lie_outside(s)) return;
  if (kept.touched.empty()) kept.touched = w_.stack("i1");
  w_.put("store i1 false, ptr {}", kept.touched);
}

void StageEmitter::add_to_accumulator(std::size_t i, const Points& points) {
  const Statement& s = stage_.statements[i];
  const Accumulator& kept = accumulators_[i];
  const std::string mask = mask_of(points, s.guard);
  LlvmValue value = w_.wide(vector(s.values[0]));
  value.type = kept_type(value.type);
  const std::string type = LlvmWriter::type_of(value);
  if (!mask.empty())
    value.text =
        w_.set("select <{0} x i1> {1}, {2} {3}, {2} {4}", shape_.lanes, mask, type, value.text,
               w_.widened(neutral_value(s.combiner.op, value.type), shape_.lanes).text);
  if (!kept.touched.empty()) {
    const std::string any = w_.call("i1", fmt::format("llvm.vector.reduce.or.v{}i1", shape_.lanes),
                                    fmt::format("<{} x i1> {}", shape_.lanes, mask));
    const std::string before = w_.set("load i1, ptr {}", kept.touched);
    w_.put("store i1 {}, ptr {}", w_.set("or i1 {}, {}", before, any), kept.touched);
  }
  const std::string& slot = kept.slots[static_cast<std::size_t>(points.copy)][0];
  LlvmValue there = value;
  there.text = w_.set("load {}, ptr {}", type, slot);
  const LlvmValue sum = emit_op(w_, s.combiner.op, value.type, std::array{there, value});
  w_.put("store {} {}, ptr {}", type, sum.text, slot);
}

// Prefixes inside of a vector by doubling the distance, then what came before it in front.
void StageEmitter::scan_vector(std::size_t i, const Points& points) {
  const Statement& s = stage_.statements[i];
  const int lanes = shape_.lanes;
  const ScalarOp op = s.combiner.op;
  LlvmValue sums = w_.wide(vector(s.values[0]));
  const std::string type = LlvmWriter::type_of(sums);
  const std::string neutral = w_.widened(neutral_value(op, sums.type), lanes).text;
  if (!points.mask.empty())
    sums.text = w_.set("select <{0} x i1> {1}, {2} {3}, {2} {4}", lanes, points.mask, type,
                       sums.text, neutral);
  auto shuffled = [&](const LlvmValue& x, auto&& from) {
    std::vector<std::string> order;
    for (int lane = 0; lane < lanes; ++lane) order.push_back(fmt::format("i32 {}", from(lane)));
    LlvmValue result = x;
    result.text = w_.set("shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>", type, x.text, neutral,
                         lanes, fmt::join(order, ", "));
    return result;
  };
  for (int by = 1; by < lanes; by *= 2) {
    const LlvmValue moved = shuffled(sums, [&](int lane) { return lane < by ? lanes : lane - by; });
    sums = emit_op(w_, op, sums.type, std::array{moved, sums});
  }
  const std::string& slot = accumulators_[i].slots[0][0];
  LlvmValue before = sums;
  before.text = w_.set("load {}, ptr {}", type, slot);
  const LlvmValue all = shuffled(sums, [&](int) { return lanes - 1; });
  put_vector(s.buffers[1], s.scan_index, emit_op(w_, op, sums.type, std::array{before, sums}),
             points.mask);
  w_.put("store {} {}, ptr {}", type, emit_op(w_, op, sums.type, std::array{before, all}).text,
         slot);
}

void StageEmitter::end_accumulator(std::size_t i) {
  const Statement& s = stage_.statements[i];
  const Accumulator& kept = accumulators_[i];
  const std::string& index = scalar(s.index).text;
  if (shape_.statements[i].way == Way::vector_selection) return end_selection(i);
  if (shape_.statements[i].way == Way::vector_scan) {
    const DType type = scope_.kernel.buffers[s.buffers[0]].dtype;
    const std::string whole = LlvmWriter::vector_of(LlvmWriter::scalar_type(type), shape_.lanes);
    const std::string kept_sum = w_.set("load {}, ptr {}", whole, kept.slots[0][0]);
    put(s.buffers[0], index,
        {w_.set("extractelement {} {}, i64 0", whole, kept_sum), type, 0, false});
    return;
  }
  if (shape_.statements[i].way == Way::scalar_accumulator) {
    for (std::size_t k = 0; k < s.values.size(); ++k) {
      const DType type = scope_.kernel.buffers[s.buffers[k]].dtype;
      const std::string text =
          w_.set("load {}, ptr {}", LlvmWriter::scalar_type(type), kept.slots[0][k]);
      put(s.buffers[k], index, {text, type, 0, false});
    }
    return;
  }
  const DType own = scope_.kernel.buffers[s.buffers[0]].dtype;
  LlvmValue all{"", kept_type(own), shape_.lanes, false};
  const std::string type = LlvmWriter::type_of(all);
  for (const auto& slots : kept.slots) {
    LlvmValue part = all;
    part.text = w_.set("load {}, ptr {}", type, slots[0]);
    all = all.text.empty() ? part : emit_op(w_, s.combiner.op, all.type, std::array{all, part});
  }
  LlvmValue one = emit_reduce(w_, s.combiner.op, all);
  one.type = own;
  one = rounded(w_, one);
  auto act = [&] {
    const LlvmValue there = get(s.buffers[0], index);
    put(s.buffers[0], index, emit_op(w_, s.combiner.op, own, std::array{there, one}));
  };
  if (kept.touched.empty())
    act();
  else
    w_.when(w_.set("load i1, ptr {}", kept.touched), act);
}

}  // namespace heddle
