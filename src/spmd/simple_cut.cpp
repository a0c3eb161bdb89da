// Stages of equal work, in the order of the program.
#include <algorithm>
#include <map>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "heddle/stage_programs.h"
#include "spmd/micro_ops.h"
#include "spmd/op_work.h"

namespace heddle {

namespace {

class Cutter {
 public:
  explicit Cutter(const MicroBatches& micro)
      : micro_(micro),
        program_(micro.program),
        function_(*program_.find_function(micro.function)),
        ops_(program_.region(function_.body).ops),
        phases_(micro_phases(program_, function_, micro).value()),
        forward_(program_.op_count(), false) {
    find_forward();
  }

  bool has_way_back() const { return goes_back_; }

  Expected<StageCut> cut(const PipelineShape& shape) {
    StageCut made;
    made.shape = shape;
    made.positions.assign(program_.op_count(), -1);
    std::vector<OpId> forward;
    double all = 0;
    for (OpId id : ops_)
      if (forward_[id]) {
        forward.push_back(id);
        all += work_of(program_, program_.op(id));
      }
    const auto stages = static_cast<std::size_t>(shape.virtual_stages());
    if (forward.size() < stages)
      return reason("{} ops on the way forward cannot be cut into {} stages", forward.size(),
                    stages);
    double so_far = 0;
    std::size_t stage = 0, left = forward.size();
    for (OpId id : forward) {
      // Every stage has an op.
      const auto due = static_cast<double>(stage + 1) * all / static_cast<double>(stages);
      const bool begun = stage_has_op_;
      const double work = work_of(program_, program_.op(id));
      // What takes long goes to where more of it belongs.
      const bool is_loop = program_.op(id).def->control == Control::loop;
      const bool is_full = so_far + (is_loop ? work / 2 : 0) >= due;
      if (begun && stage + 1 < stages && (is_full || left <= stages - 1 - stage)) {
        ++stage;
        stage_has_op_ = false;
      }
      made.positions[id] = static_cast<int>(stage);
      stage_has_op_ = true;
      so_far += work;
      --left;
    }
    if (shape.backward) go_back(made);
    return made;
  }

 private:
  std::vector<ValueId> taken(const Op& op) const {
    std::vector<ValueId> all(program_.operands(op).begin(), program_.operands(op).end());
    for (ValueId v : captured_values(program_, op)) all.push_back(v);
    return all;
  }

  // What the first sum of one element, the loss, and results of the batch are made from.
  void find_forward() {
    std::vector<ValueId> open;
    const Op& end = program_.op(ops_.back());
    for (std::size_t i = 0; i < micro_.results.size(); ++i)
      if (micro_.results[i] >= 0) open.push_back(program_.operands(end)[i]);
    for (OpId id : ops_) {
      const Op& op = program_.op(id);
      if (!is_micro_sum(op) || program_.type_of(program_.result(op, 0)).elements() != 1) continue;
      forward_[id] = true;
      open.push_back(program_.operands(op)[0]);
      break;
    }
    const bool any = !open.empty();
    while (!open.empty()) {
      const OpId id = program_.value(open.back()).op;
      open.pop_back();
      if (id == kNone || forward_[id] || phases_[id] != MicroPhase::each) continue;
      forward_[id] = true;
      for (ValueId v : taken(program_.op(id))) open.push_back(v);
    }
    for (OpId id : ops_) {
      if (phases_[id] != MicroPhase::each || forward_[id]) continue;
      if (any)
        goes_back_ = true;
      else
        forward_[id] = true;
    }
  }

  // Each op of the way back goes to the stage where its values are needed on the way forward, not
  // before what it needs.
  void go_back(StageCut& made) const {
    const int last = made.shape.virtual_stages() - 1;
    std::vector<int> used_at(program_.value_count(), -1), back_at(program_.value_count(), -1);
    std::vector<int> used_by(program_.value_count(), 0);  // how many stages
    for (OpId id : ops_)
      if (forward_[id])
        for (ValueId v : taken(program_.op(id))) {
          used_by[v] += used_at[v] != made.positions[id];
          used_at[v] = std::max(used_at[v], made.positions[id]);
        }
    for (OpId id : ops_) {
      const Op& op = program_.op(id);
      if (phases_[id] != MicroPhase::each || forward_[id]) continue;
      int stage = last, wished = -1;
      // A loop takes what many have: it goes to where most of it is.
      const bool is_loop = op.def->control == Control::loop;
      std::map<int, std::int64_t> bytes;
      for (ValueId v : taken(op)) {
        if (is_loop && used_at[v] >= 0)
          bytes[used_at[v]] += used_by[v] > 1 ? 0 : program_.type_of(v).bytes();
        if (back_at[v] >= 0) stage = std::min(stage, back_at[v]);
        wished = std::max(wished, used_at[v]);
        const OpId maker = program_.value(v).op;
        if (maker != kNone && forward_[maker]) wished = std::max(wished, made.positions[maker]);
      }
      if (const auto most =
              std::ranges::max_element(bytes, {}, [](const auto& b) { return b.second; });
          most != bytes.end() && most->second > 0)
        wished = most->first;
      if (wished >= 0) stage = std::min(stage, wished);
      for (std::size_t i = 0; i < op.result_count; ++i) back_at[program_.result(op, i)] = stage;
      made.positions[id] = made.shape.positions() - 1 - stage;
    }
  }

  const MicroBatches& micro_;
  const Program& program_;
  const Function& function_;
  const std::vector<OpId>& ops_;
  std::vector<MicroPhase> phases_;
  std::vector<bool> forward_;
  bool goes_back_ = false, stage_has_op_ = false;
};

}  // namespace

bool has_way_back(const MicroBatches& micro) { return Cutter(micro).has_way_back(); }

Expected<StageCut> balanced_cut(const MicroBatches& micro, const PipelineShape& shape) {
  return Cutter(micro).cut(shape);
}

}  // namespace heddle
