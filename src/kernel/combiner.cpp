// The region of a reduction as a combiner of a kernel.
#include <unordered_map>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "kernel/reduce_scalar.h"
#include "kernel/stage_writer.h"

namespace heddle {

ScalarOp scalar_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return ScalarOp::add;
    case ReduceOp::product:
      return ScalarOp::multiply;
    case ReduceOp::min:
      return ScalarOp::minimum;
    case ReduceOp::max:
      return ScalarOp::maximum;
    case ReduceOp::logical_and:
      return ScalarOp::bit_and;
    case ReduceOp::logical_or:
      return ScalarOp::bit_or;
  }
  return ScalarOp::none;
}

namespace {

Expected<NodeId> region_constant(NodeTable& nodes, const Program& program, const Op& op) {
  const Attr* attr = program.attr(op, "value");
  const Array* array = attr ? attr->get<Array>() : nullptr;
  if (!array || array->elements() != 1) return Reason{"a constant of a region is no scalar"};
  std::uint64_t bits = 0;
  const auto bytes = array->element(0);
  std::memcpy(&bits, bytes.data(), bytes.size());
  return nodes.constant(array->dtype(), bits);
}

}  // namespace

Expected<Combiner> combiner_of(const Program& program, const Op& op, const IndexRule& rule) {
  Combiner combiner;
  if (op.def->emission == Emission::contract) {
    combiner.op = ScalarOp::add;
    return combiner;
  }
  if (rule.combine.op && op.result_count == 1) {
    combiner.op = scalar_of(*rule.combine.op);
    return combiner;
  }
  const Region& region = program.region(program.regions(op)[0]);
  NodeTable nodes;
  std::unordered_map<ValueId, NodeId> values;
  for (std::size_t i = 0; i < region.args.size(); ++i)
    values[region.args[i]] =
        nodes.parameter(static_cast<int>(i), program.type_of(region.args[i]).dtype);
  for (OpId id : region.ops) {
    const Op& inner = program.op(id);
    std::array<NodeId, 3> in = {kNone, kNone, kNone};
    const auto operands = program.operands(inner);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      auto it = values.find(operands[i]);
      if (it == values.end()) return Reason{"its region uses a value from around it"};
      if (inner.def->form == Form::terminator)
        combiner.results.push_back(it->second);
      else if (i < 3)
        in[i] = it->second;
    }
    if (inner.def->form == Form::terminator) continue;
    const ValueId result = program.result(inner, 0);
    if (inner.def->form == Form::constant) {
      HEDDLE_TRY(values[result], region_constant(nodes, program, inner));
      continue;
    }
    const ScalarOp which = scalar_op_of(program, inner);
    if (which == ScalarOp::none)
      return Reason{fmt::format("its region has {}, which no kernel computes", inner.def->name)};
    values[result] = nodes.scalar(which, program.type_of(result).dtype, in[0], in[1], in[2]);
  }
  combiner.nodes = nodes.take();
  return combiner;
}

}  // namespace heddle
