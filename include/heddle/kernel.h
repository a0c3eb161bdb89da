// Kernel: what one launch computes, for any device. Nothing in it names a CPU or a GPU.
//
// A kernel is phases in order; between two phases everybody waits for everybody. A phase cuts its
// outer loops into blocks that run in any order and at the same time. For one block, one worker
// (a core, a thread block) runs the stages in order. A stage is a nest of loops with an expression
// graph at its points and statements that keep what was computed.
//
//   softmax of 8192 rows of 2048:
//   phase    outer r=8192, one row a block
//     stage  update s0[0] by maximum with in0[r*2048+j]        for j=2048
//     stage  store s1[j] = exp(in0[r*2048+j] - s0[0]); update s2[0] by add with it   for j=2048
//     stage  store out0[r*2048+j] = s1[j] / s2[0]              for j=2048
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heddle/dtype.h"
#include "heddle/error.h"
#include "heddle/program.h"
#include "heddle/scalar_op.h"

namespace heddle {

using NodeId = std::uint32_t;

// How far what a buffer holds can be seen.
enum class Reach : std::uint8_t {
  input,   // of the launch
  output,  // of the launch
  phases,  // all workers, one copy, from one phase to later ones
  block,   // one copy per worker, and only while it runs one block
};
std::string_view name(Reach reach);

struct KernelBuffer {
  Reach reach = Reach::input;
  DType dtype = DType::f32;
  std::int64_t elements = 0;  // dense
  ValueId value = kNone;      // of the program, that an input or output holds
  bool streamed = false;      // will not be read again soon: stores may go past the caches
  std::int64_t offset = 0;    // in bytes: of reach `block` in a worker's scratch, of reach `phases`
                              // in the temporary memory of the launch
};

enum class NodeKind : std::uint8_t {
  constant,   // `bits`
  outer,      // position along outer loop `number`: the first one of the block
  loop,       // position along loop `number` of the stage, from 0
  chunk,      // number of the chunk that the block belongs to
  load,       // buffer `number` at in[0]; where in[1] is there and false: in[2], or 0 without it
  scalar,     // `op` of in[…]
  parameter,  // of a combiner: what is there, then what comes
};

// A value at one point of a stage. Truth values are i1; positions and indices are i64.
struct Node {
  NodeKind kind = NodeKind::constant;
  ScalarOp op = ScalarOp::none;
  DType type = DType::f32;
  std::array<NodeId, 3> in = {kNone, kNone, kNone};
  std::uint32_t number = 0;
  std::uint64_t bits = 0;  // the bytes of a constant, the first one lowest
  friend bool operator==(const Node&, const Node&) = default;
};

// How two values become one: by a known operation, or by a graph over parameters (for k values:
// 0…k-1 are what is there, k…2k-1 what comes) that gives `results`.
struct Combiner {
  ScalarOp op = ScalarOp::none;  // add, multiply, minimum, maximum, bit_and, bit_or, bit_xor
  std::vector<Node> nodes;
  std::vector<NodeId> results;
  friend bool operator==(const Combiner&, const Combiner&) = default;
};

struct Statement {
  enum class Kind : std::uint8_t {
    store,   // buffers[0][index] = values[0]
    update,  // buffers[k][index] = what the combiner makes of buffers[k][index] and values[k]
    scan,    // as update, and then buffers[K + k][scan_index] = what it gave, K values in all
  };
  Kind kind = Kind::store;
  std::vector<std::uint32_t> buffers;
  NodeId index = kNone;  // i64
  std::vector<NodeId> values;
  NodeId guard = kNone;  // i1: nothing happens where it is false
  NodeId scan_index = kNone;
  Combiner combiner;
  // Points may come in any order and grouping. Without it they come in the order of the loops.
  bool any_order = true;
};

// An outer loop runs over `extent` positions, `block` at a time.
struct OuterLoop {
  std::int64_t extent = 1, block = 1;
  std::int64_t blocks() const { return (extent + block - 1) / block; }
};

// `size` positions; with block_of >= 0 those of a block of that outer loop, so fewer in the last.
// Positions count from 0 in both cases: the index along the outer loop is outer + loop.
struct StageLoop {
  std::int64_t size = 1;
  int block_of = -1;
};

// Rules: a stage does not load from a buffer that it stores to or updates, but for an element that
// is loaded and stored at the same index and point (work in place); a load from reach `block` or
// `phases` finds what an earlier stage or phase left; all indices lie in the buffer wherever their
// guard holds; two blocks never store to the same element of reach `phases` or `output`.
struct Stage {
  std::vector<StageLoop> loops;  // outermost first; the last one is meant for vectors and lanes
  std::vector<Node> nodes;       // what a node needs stands before it
  std::vector<Statement> statements;
};

struct Phase {
  std::vector<OuterLoop> outer;  // none: one block
  // 0: blocks are dealt out in any way; else in exactly so many chunks of consecutive blocks, chunk
  // c from blocks*c/chunks to blocks*(c+1)/chunks, outer loops counted with the last one fastest.
  std::int64_t chunks = 0;
  std::vector<Stage> begin;  // once per chunk, before its blocks; without `outer` nodes
  std::vector<Stage> stages;

  std::int64_t blocks() const;
};

struct Kernel {
  std::string name;
  std::vector<KernelBuffer> buffers;
  std::vector<Phase> phases;
  std::int64_t scratch_bytes = 0;    // of one worker
  std::int64_t temporary_bytes = 0;  // of the launch
};

// The value that changes nothing under a known combiner, as the bits of a constant.
std::uint64_t neutral_bits(ScalarOp op, DType type);

// Text, for people and tests; says everything but the kernel's name, so that equal texts are equal
// code.
std::string print(const Kernel& kernel);
// Of the text.
std::uint64_t hash(const Kernel& kernel);

// The rules above that can be checked without running; the first broken one.
Verdict verify(const Kernel& kernel);

// Runs it, point by point: what the kernel means. `buffers` are the bytes of the inputs and outputs
// by number; an access outside of a buffer is a reason.
Verdict interpret(const Kernel& kernel, std::span<const std::span<std::byte>> buffers);

}  // namespace heddle
