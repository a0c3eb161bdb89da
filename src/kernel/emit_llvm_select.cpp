// The largest element and its place, and the like: every lane has the best of its own points, and
// the lanes are combined at the end, the lower place first.
#include "kernel/emit_llvm_stage.h"

namespace heddle {

namespace {

using Pair = std::vector<LlvmValue>;

LlvmValue chosen(LlvmWriter& w, const LlvmValue& condition, const LlvmValue& yes,
                 const LlvmValue& no) {
  return emit_op(w, ScalarOp::select, yes.type, std::array{condition, yes, no});
}

}  // namespace

std::vector<LlvmValue> StageEmitter::combine_in_order(const Combiner& combiner,
                                                      const std::vector<LlvmValue>& a,
                                                      const std::vector<LlvmValue>& b) {
  const int lanes = a[0].lanes;
  const LlvmValue first = emit_op(w_, ScalarOp::less_equal, DType::i1, std::array{a[1], b[1]});
  Pair earlier, later;
  for (std::size_t k = 0; k < a.size(); ++k) {
    earlier.push_back(chosen(w_, first, a[k], b[k]));
    later.push_back(chosen(w_, first, b[k], a[k]));
  }
  return combine(combiner, earlier, later, lanes);
}

void StageEmitter::select_vector(std::size_t i, const Points& points) {
  const Statement& s = stage_.statements[i];
  const auto& slots = accumulators_[i].slots[static_cast<std::size_t>(points.copy)];
  Pair there, comes;
  for (std::size_t k = 0; k < s.values.size(); ++k) {
    comes.push_back(w_.wide(vector(s.values[k])));
    there.push_back(comes[k]);
    there[k].text = w_.set("load {}, ptr {}", LlvmWriter::type_of(comes[k]), slots[k]);
  }
  Pair best = combine(s.combiner, there, comes, shape_.lanes);
  for (std::size_t k = 0; k < best.size(); ++k) {
    if (!points.mask.empty())
      best[k] = chosen(w_, {points.mask, DType::i1, shape_.lanes, false}, best[k], there[k]);
    w_.put("store {} {}, ptr {}", LlvmWriter::type_of(best[k]), best[k].text, slots[k]);
  }
}

void StageEmitter::end_selection(std::size_t i) {
  const Statement& s = stage_.statements[i];
  Pair best;
  for (const auto& slots : accumulators_[i].slots) {
    Pair part;
    for (std::size_t k = 0; k < s.values.size(); ++k) {
      LlvmValue value{"", scope_.kernel.buffers[s.buffers[k]].dtype, shape_.lanes, false};
      value.text = w_.set("load {}, ptr {}", LlvmWriter::type_of(value), slots[k]);
      part.push_back(std::move(value));
    }
    best = best.empty() ? part : combine_in_order(s.combiner, best, part);
  }
  for (int lanes = shape_.lanes / 2; lanes > 0; lanes /= 2) {
    Pair low, high;
    for (const LlvmValue& x : best) {
      low.push_back(lanes_of(w_, x, 0, lanes));
      high.push_back(lanes_of(w_, x, lanes, lanes));
    }
    best = combine_in_order(s.combiner, low, high);
  }
  for (std::size_t k = 0; k < best.size(); ++k) {
    LlvmValue one = best[k];
    one.lanes = 0;
    one.text = w_.set("extractelement {} {}, i64 0", LlvmWriter::type_of(best[k]), best[k].text);
    put(s.buffers[k], scalar(s.index).text, one);
  }
}

}  // namespace heddle
