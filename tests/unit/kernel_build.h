// Writes kernels by hand, for tests.
#pragma once

#include <bit>
#include <cstring>

#include "heddle/kernel.h"
#include "ir/eval/scalar.h"

namespace heddle {

// The nodes and statements of one stage.
class StageBuilder {
 public:
  explicit StageBuilder(const Kernel& kernel, std::vector<StageLoop> loops = {}) : kernel_(kernel) {
    stage.loops = std::move(loops);
  }

  Stage stage;

  NodeId node(Node node) {
    stage.nodes.push_back(node);
    return static_cast<NodeId>(stage.nodes.size() - 1);
  }
  NodeId outer(std::uint32_t n) {
    return node({.kind = NodeKind::outer, .type = DType::i64, .number = n});
  }
  NodeId loop(std::uint32_t n) {
    return node({.kind = NodeKind::loop, .type = DType::i64, .number = n});
  }
  NodeId chunk() { return node({.kind = NodeKind::chunk, .type = DType::i64}); }
  NodeId index(std::int64_t value) {
    return node({.type = DType::i64, .bits = static_cast<std::uint64_t>(value)});
  }
  NodeId number(double value, DType type) {
    return dispatch(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T rounded = convert_scalar<T>(value);
      std::uint64_t bits = 0;
      std::memcpy(&bits, static_cast<const void*>(&rounded), std::min(sizeof(T), sizeof(bits)));
      return node({.type = type, .bits = bits});
    });
  }
  NodeId bits(std::uint64_t value, DType type) { return node({.type = type, .bits = value}); }
  // The result has the type of the last operand; comparisons give i1.
  NodeId op(ScalarOp op, NodeId a, NodeId b = kNone, NodeId c = kNone) {
    const bool asks =
        (op >= ScalarOp::equal && op <= ScalarOp::greater_equal) || op == ScalarOp::is_finite;
    const NodeId last = c != kNone ? c : (b != kNone ? b : a);
    return node({.kind = NodeKind::scalar,
                 .op = op,
                 .type = asks ? DType::i1 : stage.nodes[last].type,
                 .in = {a, b, c}});
  }
  NodeId cast(NodeId a, DType type, ScalarOp op = ScalarOp::convert) {
    return node({.kind = NodeKind::scalar, .op = op, .type = type, .in = {a, kNone, kNone}});
  }
  NodeId add(NodeId a, NodeId b) { return op(ScalarOp::add, a, b); }
  NodeId scaled(NodeId a, std::int64_t factor) { return op(ScalarOp::multiply, a, index(factor)); }
  NodeId load(std::uint32_t buffer, NodeId at, NodeId guard = kNone, NodeId otherwise = kNone) {
    return node({.kind = NodeKind::load,
                 .type = kernel_.buffers[buffer].dtype,
                 .in = {at, guard, otherwise},
                 .number = buffer});
  }

  Statement& store(std::uint32_t buffer, NodeId at, NodeId value, NodeId guard = kNone) {
    return statement(Statement::Kind::store, {buffer}, at, value, guard);
  }
  Statement& update(std::uint32_t buffer, NodeId at, ScalarOp combiner, NodeId value,
                    NodeId guard = kNone) {
    Statement& added = statement(Statement::Kind::update, {buffer}, at, value, guard);
    added.combiner.op = combiner;
    return added;
  }
  Statement& scan(std::uint32_t buffer, NodeId at, ScalarOp combiner, NodeId value,
                  std::uint32_t target, NodeId scan_index) {
    Statement& added = statement(Statement::Kind::scan, {buffer, target}, at, value, kNone);
    added.combiner.op = combiner;
    added.scan_index = scan_index;
    added.any_order = false;
    return added;
  }

 private:
  Statement& statement(Statement::Kind kind, std::vector<std::uint32_t> buffers, NodeId at,
                       NodeId value, NodeId guard) {
    Statement& added = stage.statements.emplace_back();
    added.kind = kind;
    added.buffers = std::move(buffers);
    added.index = at;
    added.values = {value};
    added.guard = guard;
    return added;
  }

  const Kernel& kernel_;
};

inline Kernel named_kernel(std::string name) {
  Kernel kernel;
  kernel.name = std::move(name);
  return kernel;
}
inline Phase phase_over(std::vector<OuterLoop> outer, std::int64_t chunks = 0) {
  Phase phase;
  phase.outer = std::move(outer);
  phase.chunks = chunks;
  return phase;
}

// Adds a buffer and gives its number; places in scratch and temporary memory follow each other.
inline std::uint32_t add_buffer(Kernel& kernel, Reach reach, DType dtype, std::int64_t elements) {
  KernelBuffer buffer{.reach = reach, .dtype = dtype, .elements = elements};
  const std::int64_t bytes = (elements * byte_size(dtype) + 63) / 64 * 64;
  std::int64_t& room = reach == Reach::block ? kernel.scratch_bytes : kernel.temporary_bytes;
  if (reach == Reach::block || reach == Reach::phases) {
    buffer.offset = room;
    room += bytes;
  }
  kernel.buffers.push_back(buffer);
  return static_cast<std::uint32_t>(kernel.buffers.size() - 1);
}

// Bytes for all buffers of a kernel, and the spans that interpret() takes.
struct KernelData {
  std::vector<std::vector<std::byte>> bytes;

  explicit KernelData(const Kernel& kernel) {
    for (const KernelBuffer& buffer : kernel.buffers) {
      const bool given = buffer.reach == Reach::input || buffer.reach == Reach::output;
      bytes.emplace_back(given ? static_cast<std::size_t>(buffer.elements) *
                                     static_cast<std::size_t>(byte_size(buffer.dtype))
                               : 0);
    }
  }
  template <typename T>
  void set(std::uint32_t buffer, const std::vector<T>& values) {
    std::memcpy(bytes[buffer].data(), values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> get(std::uint32_t buffer) const {
    std::vector<T> values(bytes[buffer].size() / sizeof(T));
    std::memcpy(static_cast<void*>(values.data()), bytes[buffer].data(), bytes[buffer].size());
    return values;
  }
  Verdict run(const Kernel& kernel) {
    std::vector<std::span<std::byte>> spans(bytes.begin(), bytes.end());
    return interpret(kernel, spans);
  }
};

}  // namespace heddle
