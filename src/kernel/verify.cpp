// The rules of kernels that can be checked without running one.
#include <algorithm>

#include "heddle/kernel.h"
#include "ir/eval/scalar_function.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostPoints = std::int64_t{1} << 62;

// Where a stage stands, and what its nodes may name.
struct Place {
  const Kernel& kernel;
  const Phase& phase;
  const Stage& stage;
  bool begins;
};

Verdict check_buffer(const Kernel& kernel, std::size_t number) {
  const KernelBuffer& buffer = kernel.buffers[number];
  if (!is_kernel_type(buffer.dtype))
    return reason("buffer {} is of {}, which kernels do not compute with", number,
                  name(buffer.dtype));
  const std::int64_t size = byte_size(buffer.dtype);
  if (buffer.elements < 0 || buffer.elements > kMostPoints / size)
    return reason("buffer {} has {} elements", number, buffer.elements);
  if (buffer.reach == Reach::input || buffer.reach == Reach::output) return yes();
  const std::int64_t room =
      buffer.reach == Reach::block ? kernel.scratch_bytes : kernel.temporary_bytes;
  const std::int64_t bytes = buffer.elements * size;
  if (buffer.offset < 0 || buffer.offset % size != 0)
    return reason("buffer {} of {} lies at byte {}, which is no place for its elements", number,
                  name(buffer.dtype), buffer.offset);
  if (bytes > room || buffer.offset > room - bytes)
    return reason("buffer {} takes bytes {} to {} of the {} memory, which has {}", number,
                  buffer.offset, static_cast<std::uint64_t>(buffer.offset) + bytes,
                  name(buffer.reach), room);
  return yes();
}

Verdict check_phase(const Phase& phase) {
  std::int64_t blocks = 1;
  for (const OuterLoop& loop : phase.outer) {
    if (loop.extent < 0 || loop.block < 1 || loop.extent > kMostPoints || loop.block > kMostPoints)
      return reason("an outer loop over {} in blocks of {}", loop.extent, loop.block);
    if (__builtin_mul_overflow(blocks, loop.blocks(), &blocks) || blocks > kMostPoints)
      return reason("the outer loops have too many blocks");
  }
  if (phase.chunks < 0) return reason("{} chunks", phase.chunks);
  if (phase.chunks > 0 && blocks > kMostPoints / phase.chunks)
    return reason("{} blocks in {} chunks are too many", blocks, phase.chunks);
  if (!phase.begin.empty() && phase.chunks == 0)
    return reason("stages that begin chunks, but the phase has no chunks");
  return yes();
}

Verdict check_loops(const Place& at) {
  const auto& outer = at.phase.outer;
  std::int64_t points = 1;
  for (const StageLoop& loop : at.stage.loops) {
    if (loop.size < 0 || loop.block_of < -1)
      return reason("a loop of size {} over the block of outer loop {}", loop.size, loop.block_of);
    if (__builtin_mul_overflow(points, std::max<std::int64_t>(loop.size, 1), &points) ||
        points > kMostPoints)
      return reason("the loops have too many points");
    if (loop.block_of < 0) continue;
    if (at.begins) return reason("a loop over a block in a stage that begins a chunk");
    if (static_cast<std::size_t>(loop.block_of) >= outer.size())
      return reason("a loop over the block of outer loop {} of {}", loop.block_of, outer.size());
    if (loop.size != outer[static_cast<std::size_t>(loop.block_of)].block)
      return reason("a loop of size {} over the block of outer loop {}, which is {}", loop.size,
                    loop.block_of, outer[static_cast<std::size_t>(loop.block_of)].block);
  }
  return yes();
}

// Operands in[0 … count-1] stand before the node; in[count …] are none.
Verdict check_operands(std::size_t self, const Node& node, int count) {
  for (int k = 0; k < 3; ++k) {
    const NodeId in = node.in[static_cast<std::size_t>(k)];
    if (k >= count && in != kNone) return reason("it has more than {} operands", count);
    if (k < count && in >= self)
      return reason("operand {} is %{}, which does not stand before it", k, in);
  }
  return yes();
}

Verdict check_type(std::span<const Node> nodes, NodeId id, DType wanted, std::string_view what) {
  if (id >= nodes.size())
    return reason("{} is %{}, but there are {} nodes", what, id, nodes.size());
  if (nodes[id].type != wanted)
    return reason("{} is %{} of {}, but must be {}", what, id, name(nodes[id].type), name(wanted));
  return yes();
}

Verdict check_scalar(std::span<const Node> nodes, std::size_t self, const Node& node) {
  if (node.op > ScalarOp::clamp) return reason("operation {}", static_cast<int>(node.op));
  const int count = operand_count(node.op);
  HEDDLE_TRY_VOID(check_operands(self, node, count));
  const bool selects = node.op == ScalarOp::select;
  if (selects) HEDDLE_TRY_VOID(check_type(nodes, node.in[0], DType::i1, "the condition"));
  if (count == 0) return reason("no operation");
  const DType from = nodes[node.in[selects ? 1 : 0]].type;
  for (int k = selects ? 1 : 0; k < count; ++k)
    if (const DType type = nodes[node.in[static_cast<std::size_t>(k)]].type; type != from)
      return reason("{} of operands of {} and {}", name(node.op), name(from), name(type));
  if (!scalar_function(node.op, from, node.type))
    return reason("{} does not make {} of {}", name(node.op), name(node.type), name(from));
  return yes();
}

Verdict check_load(const Kernel& kernel, std::span<const Node> nodes, std::size_t self,
                   const Node& node) {
  HEDDLE_TRY_VOID(
      check_operands(self, node, node.in[2] != kNone ? 3 : (node.in[1] != kNone ? 2 : 1)));
  if (node.number >= kernel.buffers.size())
    return reason("a load from buffer {} of {}", node.number, kernel.buffers.size());
  const DType held = kernel.buffers[node.number].dtype;
  if (node.type != held)
    return reason("a load of {} from buffer {} of {}", name(node.type), node.number, name(held));
  HEDDLE_TRY_VOID(check_type(nodes, node.in[0], DType::i64, "the index"));
  if (node.in[1] != kNone) HEDDLE_TRY_VOID(check_type(nodes, node.in[1], DType::i1, "the guard"));
  if (node.in[2] != kNone)
    HEDDLE_TRY_VOID(check_type(nodes, node.in[2], held, "what stands for it"));
  return yes();
}

Verdict check_position(const Place& at, std::size_t self, const Node& node) {
  HEDDLE_TRY_VOID(check_operands(self, node, 0));
  if (node.type != DType::i64) return reason("a position of {}, not i64", name(node.type));
  if (node.kind == NodeKind::loop && node.number >= at.stage.loops.size())
    return reason("loop {} of {}", node.number, at.stage.loops.size());
  if (node.kind == NodeKind::chunk && at.phase.chunks == 0)
    return reason("the number of a chunk, but the phase has no chunks");
  if (node.kind != NodeKind::outer) return yes();
  if (at.begins) return reason("a position of an outer loop in a stage that begins a chunk");
  if (node.number >= at.phase.outer.size())
    return reason("outer loop {} of {}", node.number, at.phase.outer.size());
  return yes();
}

Verdict check_node(const Place& at, std::size_t self) {
  const Node& node = at.stage.nodes[self];
  if (!is_kernel_type(node.type)) return reason("a value of {}", name(node.type));
  switch (node.kind) {
    case NodeKind::constant:
      return check_operands(self, node, 0);
    case NodeKind::outer:
    case NodeKind::loop:
    case NodeKind::chunk:
      return check_position(at, self, node);
    case NodeKind::load:
      return check_load(at.kernel, at.stage.nodes, self, node);
    case NodeKind::scalar:
      return check_scalar(at.stage.nodes, self, node);
    case NodeKind::parameter:
      break;
  }
  return reason("a parameter outside of a combiner");
}

// Only constants, operations and the 2K parameters, of the types of the values.
Verdict check_combiner_node(const Combiner& combiner, std::size_t self,
                            std::span<const DType> types) {
  const Node& node = combiner.nodes[self];
  if (!is_kernel_type(node.type)) return reason("a value of {}", name(node.type));
  if (node.kind == NodeKind::scalar) return check_scalar(combiner.nodes, self, node);
  HEDDLE_TRY_VOID(check_operands(self, node, 0));
  if (node.kind == NodeKind::constant) return yes();
  if (node.kind != NodeKind::parameter) return reason("neither operation nor parameter");
  if (node.number >= 2 * types.size())
    return reason("parameter {} of {}", node.number, 2 * types.size());
  if (node.type != types[node.number % types.size()])
    return reason("parameter {} is {}, but the value is {}", node.number, name(node.type),
                  name(types[node.number % types.size()]));
  return yes();
}

Verdict check_combiner(const Combiner& combiner, std::span<const DType> types) {
  if (combiner.op != ScalarOp::none) {
    const bool known = combiner.op == ScalarOp::add || combiner.op == ScalarOp::multiply ||
                       combiner.op == ScalarOp::minimum || combiner.op == ScalarOp::maximum ||
                       (combiner.op >= ScalarOp::bit_and && combiner.op <= ScalarOp::bit_xor);
    if (!known) return reason("{} is no known combiner", name(combiner.op));
    if (types.size() != 1 || !combiner.nodes.empty() || !combiner.results.empty())
      return reason("a known combiner takes one value and has no graph");
    if (!scalar_function(combiner.op, types[0], types[0]))
      return reason("{} does not combine {}", name(combiner.op), name(types[0]));
    return yes();
  }
  for (std::size_t i = 0; i < combiner.nodes.size(); ++i)
    if (Verdict fine = check_combiner_node(combiner, i, types); !fine)
      return reason("combiner %{}: {}", i, fine.reason());
  if (combiner.results.size() != types.size())
    return reason("the combiner gives {} values, not {}", combiner.results.size(), types.size());
  for (std::size_t k = 0; k < types.size(); ++k)
    HEDDLE_TRY_VOID(check_type(combiner.nodes, combiner.results[k], types[k], "what it gives"));
  return yes();
}

Verdict check_target(const Kernel& kernel, std::uint32_t buffer, DType value) {
  if (buffer >= kernel.buffers.size())
    return reason("it writes buffer {} of {}", buffer, kernel.buffers.size());
  if (kernel.buffers[buffer].reach == Reach::input)
    return reason("it writes buffer {}, which is an input", buffer);
  if (kernel.buffers[buffer].dtype != value)
    return reason("it puts {} into buffer {} of {}", name(value), buffer,
                  name(kernel.buffers[buffer].dtype));
  return yes();
}

Verdict check_statement(const Place& at, const Statement& statement) {
  const auto& nodes = at.stage.nodes;
  const bool scans = statement.kind == Statement::Kind::scan;
  const std::size_t count = statement.values.size();
  if (statement.kind > Statement::Kind::scan || count == 0 ||
      (statement.kind == Statement::Kind::store && count != 1) ||
      statement.buffers.size() != (scans ? 2 : 1) * count)
    return reason("{} values for {} buffers", count, statement.buffers.size());
  std::vector<DType> types;
  for (NodeId value : statement.values) {
    if (value >= nodes.size()) return reason("it takes %{} of {} nodes", value, nodes.size());
    types.push_back(nodes[value].type);
  }
  for (std::size_t k = 0; k < statement.buffers.size(); ++k)
    HEDDLE_TRY_VOID(check_target(at.kernel, statement.buffers[k], types[k % count]));
  HEDDLE_TRY_VOID(check_type(nodes, statement.index, DType::i64, "the index"));
  if (scans) HEDDLE_TRY_VOID(check_type(nodes, statement.scan_index, DType::i64, "the scan index"));
  if (!scans && statement.scan_index != kNone) return reason("a scan index without a scan");
  if (statement.guard != kNone)
    HEDDLE_TRY_VOID(check_type(nodes, statement.guard, DType::i1, "the guard"));
  if (statement.kind == Statement::Kind::store) return yes();
  return check_combiner(statement.combiner, types);
}

// A load from what the stage writes is for work in place: at the index that is written.
Verdict check_in_place(const Stage& stage, const Statement& statement) {
  const std::size_t count = statement.values.size();
  for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
    const Node& node = stage.nodes[i];
    if (node.kind != NodeKind::load) continue;
    for (std::size_t k = 0; k < statement.buffers.size(); ++k) {
      const NodeId written = k < count ? statement.index : statement.scan_index;
      if (statement.buffers[k] == node.number && node.in[0] != written)
        return reason("%{} loads from buffer {} at %{}, which is written at %{}", i, node.number,
                      node.in[0], written);
    }
  }
  return yes();
}

Verdict check_stage(const Place& at) {
  HEDDLE_TRY_VOID(check_loops(at));
  for (std::size_t i = 0; i < at.stage.nodes.size(); ++i)
    if (Verdict fine = check_node(at, i); !fine) return reason("%{}: {}", i, fine.reason());
  for (std::size_t i = 0; i < at.stage.statements.size(); ++i) {
    if (Verdict fine = check_statement(at, at.stage.statements[i]); !fine)
      return reason("statement {}: {}", i, fine.reason());
    HEDDLE_TRY_VOID(check_in_place(at.stage, at.stage.statements[i]));
  }
  return yes();
}

}  // namespace

Verdict verify(const Kernel& kernel) {
  auto in = [&](std::string_view place, std::size_t number, const Reason& why) {
    return reason("[kernel] {}: {} {}: {}", kernel.name, place, number, why.text);
  };
  if (kernel.scratch_bytes < 0 || kernel.temporary_bytes < 0)
    return reason("[kernel] {}: {} bytes of scratch and {} of temporary memory", kernel.name,
                  kernel.scratch_bytes, kernel.temporary_bytes);
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    if (Verdict fine = check_buffer(kernel, i); !fine)
      return reason("[kernel] {}: {}", kernel.name, fine.reason());
  for (std::size_t p = 0; p < kernel.phases.size(); ++p) {
    const Phase& phase = kernel.phases[p];
    if (Verdict fine = check_phase(phase); !fine) return in("phase", p, fine.why());
    for (bool begins : {true, false}) {
      const auto& stages = begins ? phase.begin : phase.stages;
      for (std::size_t s = 0; s < stages.size(); ++s)
        if (Verdict fine = check_stage({kernel, phase, stages[s], begins}); !fine)
          return in(fmt::format("phase {}, {}", p, begins ? "begin" : "stage"), s, fine.why());
    }
  }
  return yes();
}

}  // namespace heddle
