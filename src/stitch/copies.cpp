#include "stitch/copies.h"

#include <algorithm>

#include "heddle/op.h"
#include "stitch/cost.h"

namespace heddle {

Copies::Copies(const Graph& graph, const Contracted& contracted)
    : graph_(graph),
      contracted_(contracted),
      is_free_(graph.size(), false),
      behind_(graph.size(), kNone) {
  for (Vertex v = 0; v < graph.size(); ++v) {
    const auto is_call = [&](Vertex c) { return !graph.stitchable[c]; };
    if (!graph.stitchable[v] || graph.escapes[v] ||
        std::ranges::any_of(graph.consumers[v], is_call))
      continue;
    if (is_repeated(v)) {
      is_free_[v] = true;
    } else if (const ValueId argument = argument_behind(v); argument != kNone) {
      behind_[v] = argument;
      is_free_[v] = is_read_anyway(v, argument);
    }
  }
}

// Of what is there before all work, or of one number.
bool Copies::is_repeated(Vertex v) const {
  const Op& op = graph_.op(v);
  if (op.def->rearranges == Rearrange::iota) return true;
  if (op.def->rearranges != Rearrange::broadcast) return false;
  const Type& from = graph_.program->type_of(graph_.program->operands(op)[0]);
  return graph_.producers[v].empty() || (from.is_tensor() && from.elements() == 1);
}

// Where it is one light op of an argument of its shape, and of what is free.
ValueId Copies::argument_behind(Vertex v) const {
  const Program& program = *graph_.program;
  const Op& op = graph_.op(v);
  const bool is_pointwise =
      op.def->emission == Emission::scalar || op.def->emission == Emission::compare;
  if (!is_pointwise || op.def->cls != OpClass::light || op.result_count != 1) return kNone;
  const Type& type = program.type_of(op.results);
  ValueId argument = kNone;
  for (ValueId operand : program.operands(op)) {
    const OpId maker = program.value(operand).op;
    const auto is_maker = [&](Vertex p) { return graph_.ops[p] == maker; };
    if (std::ranges::any_of(graph_.producers[v], is_maker)) continue;
    if (memory_bytes(program, operand) == 0) continue;  // one number everywhere
    if (!program.type_of(operand).is_tensor() || program.type_of(operand).shape != type.shape)
      return kNone;
    if (argument != kNone && argument != operand) return kNone;
    argument = operand;
  }
  const bool all_free = std::ranges::all_of(graph_.producers[v], [&](Vertex p) {
    return is_free_[p] && behind_[p] == kNone && graph_.producers[p].empty();
  });
  return all_free ? argument : kNone;
}

bool Copies::is_read_anyway(Vertex v, ValueId argument) const {
  return std::ranges::all_of(graph_.consumers[v], [&](Vertex c) {
    const Pattern& unit = contracted_.units[contracted_.unit_of[c]];
    return std::ranges::any_of(unit, [&](Vertex w) {
      return w != v && std::ranges::find(graph_.reads[w], argument) != graph_.reads[w].end();
    });
  });
}

Pattern Copies::needed_by(const Pattern& pattern) const {
  Pattern more, open = pattern;
  while (!open.empty()) {
    const Vertex v = open.back();
    open.pop_back();
    for (Vertex from : graph_.producers[v])
      if (is_free_[from] && !std::ranges::binary_search(pattern, from)) {
        more.push_back(from);
        open.push_back(from);
      }
  }
  std::ranges::sort(more);
  more.erase(std::ranges::unique(more).begin(), more.end());
  return more;
}

bool Copies::is_read_by_a_copy(Vertex v) const {
  return !is_free_[v] && std::ranges::any_of(graph_.consumers[v], [&](Vertex c) {
    return is_free_[c] && is_made_elsewhere(c);
  });
}

bool Copies::is_made_elsewhere(Vertex v) const {
  return std::ranges::any_of(graph_.consumers[v], [&](Vertex c) {
    return contracted_.unit_of[c] != contracted_.unit_of[v] ||
           (is_free_[c] && is_made_elsewhere(c));
  });
}

}  // namespace heddle
