#include "parallel/pipeline/homes.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle::pipeline {

namespace {

using When = MicroProgram::When;

class HomeFinder {
 public:
  HomeFinder(const MicroProgram& micro, const std::vector<int>& nodes, const Uses& uses)
      : micro_(micro),
        program_(micro.program),
        args_(program_.region(micro.function.body).args),
        ops_(program_.region(micro.function.body).ops),
        nodes_(nodes),
        uses_(uses),
        homes_(program_.value_count(), -1) {}

  Homes run() {
    // The way forward says where an argument lies; what only the way back uses lies there.
    for (ValueId arg : args_)
      if (!uses_.forward[arg].empty()) homes_[arg] = uses_.forward[arg].front();
    for (const RowParts& parts : uses_.rows)
      for (const RowPart& part : parts)
        if (!uses_.forward[part.value].empty())
          homes_[part.value] = uses_.forward[part.value].front();
    for (OpId id : ops_)
      if (micro_.when[id] == When::each) settle_each(id);
    for (OpId id : ops_)
      if (micro_.when[id] == When::after) settle(id, program_.operands(program_.op(id)));
    // What is made of states alone goes with who uses it.
    for (std::size_t i = ops_.size(); i-- > 0;)
      if (micro_.when[ops_[i]] == When::after) settle_sources(ops_[i]);
    Homes out;
    out.ops.assign(program_.op_count(), -1);
    for (OpId id : ops_)
      if (micro_.when[id] == When::after && program_.op(id).result_count > 0)
        out.ops[id] = std::max(0, homes_[program_.result(program_.op(id), 0)]);
    for (std::size_t a = 0; a < args_.size(); ++a)
      out.arguments.push_back(
          homes_[uses_.rows[a].empty() ? args_[a] : uses_.rows[a].front().value]);
    out.values = std::move(homes_);
    return out;
  }

 private:
  void settle_each(OpId id) {
    const Op& op = program_.op(id);
    for (std::size_t k = 0; k < op.result_count; ++k) homes_[program_.result(op, k)] = nodes_[id];
    for (ValueId v : program_.operands(op))
      for (ValueId arg : uses_.sources[v])
        if (homes_[arg] < 0) homes_[arg] = nodes_[id];
  }

  // The largest operand whose home is known; arguments that something was made of once count too.
  void settle(OpId id, std::span<const ValueId> operands) {
    int home = -1;
    std::int64_t largest = -1;
    auto consider = [&](ValueId v) {
      if (homes_[v] < 0 || micro_.bytes[v] <= largest) return;
      home = homes_[v];
      largest = micro_.bytes[v];
    };
    for (ValueId v : operands) {
      consider(v);
      for (ValueId arg : uses_.sources[v]) consider(arg);
    }
    const Op& op = program_.op(id);
    // What is spread out is so where it is needed.
    if (op.def->rearranges == Rearrange::broadcast) return;
    for (std::size_t k = 0; k < op.result_count; ++k) homes_[program_.result(op, k)] = home;
  }

  void settle_sources(OpId id) {
    const Op& op = program_.op(id);
    if (op.result_count == 0) return;
    const int home = homes_[program_.result(op, 0)];
    if (home < 0) return;
    for (ValueId v : program_.operands(op)) {
      if (homes_[v] < 0) homes_[v] = home;
      for (ValueId arg : uses_.sources[v])
        if (homes_[arg] < 0) homes_[arg] = home;
    }
  }

  const MicroProgram& micro_;
  const Program& program_;
  const std::vector<ValueId>& args_;
  const std::vector<OpId>& ops_;
  const std::vector<int>& nodes_;
  const Uses& uses_;
  std::vector<int> homes_;  // by ValueId
};

}  // namespace

Homes homes_of(const MicroProgram& micro, const std::vector<int>& nodes, const Uses& uses) {
  return HomeFinder(micro, nodes, uses).run();
}

}  // namespace heddle::pipeline
