#include "runtime/in_place.h"

#include <algorithm>

namespace heddle::runtime {

namespace {

bool loads(const Stage& stage, std::uint32_t buffer) {
  return std::ranges::any_of(stage.nodes, [&](const Node& node) {
    return node.kind == NodeKind::load && node.number == buffer;
  });
}

bool writes(const Stage& stage, std::uint32_t buffer) {
  return std::ranges::any_of(stage.statements, [&](const Statement& s) {
    return std::ranges::find(s.buffers, buffer) != s.buffers.end();
  });
}

// Plain stores to the output at an index, and no other; kNone where there are others.
NodeId store_index(const Stage& stage, std::uint32_t output) {
  NodeId index = kNone;
  for (const Statement& s : stage.statements) {
    if (std::ranges::find(s.buffers, output) == s.buffers.end()) continue;
    if (s.kind != Statement::Kind::store || s.guard != kNone) return kNone;
    if (index != kNone && index != s.index) return kNone;
    index = s.index;
  }
  return index;
}

bool loads_only_at(const Stage& stage, std::uint32_t input, NodeId index) {
  return std::ranges::all_of(stage.nodes, [&](const Node& node) {
    return node.kind != NodeKind::load || node.number != input || node.in[0] == index;
  });
}

// An index that two points share would be read after it was written: only a loop that the index
// does not follow can do that, so every loop of the stage has to be in it.
bool follows_all_loops(const Phase& phase, const Stage& stage, NodeId index) {
  std::vector<bool> outer(phase.outer.size()), loop(stage.loops.size());
  std::vector<NodeId> open = {index};
  std::vector<bool> seen(stage.nodes.size());
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    const Node& node = stage.nodes[id];
    if (node.kind == NodeKind::outer) outer[node.number] = true;
    if (node.kind == NodeKind::loop) loop[node.number] = true;
    if (node.kind == NodeKind::load) return false;
    for (NodeId in : node.in)
      if (in != kNone) open.push_back(in);
  }
  for (std::size_t i = 0; i < outer.size(); ++i)
    if (!outer[i] && phase.outer[i].extent > 1) return false;
  for (std::size_t i = 0; i < loop.size(); ++i)
    if (!loop[i] && stage.loops[i].size > 1) return false;
  return true;
}

}  // namespace

bool can_work_in_place(const Kernel& kernel, std::uint32_t input, std::uint32_t output) {
  const KernelBuffer& in = kernel.buffers[input];
  const KernelBuffer& out = kernel.buffers[output];
  if (in.elements != out.elements || byte_size(in.dtype) != byte_size(out.dtype)) return false;
  std::size_t touched = 0;
  bool fits = true;
  for (const Phase& phase : kernel.phases)
    for (const auto* stages : {&phase.begin, &phase.stages})
      for (const Stage& stage : *stages) {
        if (!loads(stage, input) && !writes(stage, output) && !loads(stage, output)) continue;
        const NodeId index = store_index(stage, output);
        fits = fits && ++touched == 1 && stages == &phase.stages && index != kNone &&
               !loads(stage, output) && loads_only_at(stage, input, index) &&
               follows_all_loops(phase, stage, index);
      }
  return fits && touched == 1;
}

}  // namespace heddle::runtime
