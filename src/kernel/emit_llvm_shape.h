// What the emitter must know of a stage before it writes it: which loops there are, how deep each
// node stands, and how its value changes from lane to lane of the vectorised loop.
#pragma once

#include <optional>
#include <vector>

#include "kernel/emit_llvm.h"
#include "kernel/emit_llvm_range.h"

namespace heddle {

// A loop that is run; those of one position are dropped.
struct KeptLoop {
  std::uint32_t number = 0;  // among the loops of the stage
  std::int64_t size = 1;     // the most positions
  int block_of = -1;         // >= 0 only where the last block of that outer loop has fewer
};

struct NodeShape {
  enum class Lanes : std::uint8_t {
    same,    // one value for all lanes
    affine,  // an i64 that grows by `stride` from lane to lane
    varying,
  };
  int depth = 0;  // how many kept loops must be entered before it can be computed
  Lanes lanes = Lanes::same;
  std::int64_t stride = 0;
  std::int64_t multiple = 1;   // a power of two that divides the i64 in the first lane
  std::optional<Range> range;  // of an i64
  bool narrow = false;         // it and all it is made of fit in 32 bits
  // What is asked for: the value of all lanes or of the first, the vector.
  bool scalar_needed = false, vector_needed = false;
};

// How a statement is carried out.
enum class Way : std::uint8_t {
  scalar,              // at `depth`, with scalars
  vector,              // a vector at neighbouring or distinct places
  lane_by_lane,        // in order
  vector_accumulator,  // in vectors over all loops from `depth` on, then combined
  scalar_accumulator,  // in order, kept in registers over the loops from `depth` on
  vector_selection,    // as vector_accumulator, for a value and its place by a graph
  row_accumulator,     // in vectors side by side over the loops from `depth` to the vectorised one
  vector_scan,         // the same for a scan: prefixes inside of vectors, and what came before them
};

struct StatementPlan {
  Way way = Way::scalar;
  int depth = 0;
};

struct StageShape {
  std::vector<KeptLoop> loops;
  bool empty = false;       // a loop has no position
  bool vectorised = false;  // the last kept loop runs by vectors
  int lanes = 1;
  // A streamed store whose vectors are aligned only where the loop begins with a shorter turn.
  std::optional<std::size_t> peeled;
  std::vector<NodeShape> nodes;
  std::vector<StatementPlan> statements;

  int depth() const { return static_cast<int>(loops.size()); }
};

// Of a shape whose depths and ranges are known.
int widest_bytes(const Stage& stage, const StageShape& shape);
bool is_long(const Stage& stage, const StageShape& shape);
// The level at which an update can begin to keep its row in registers; nothing where it cannot.
std::optional<int> row_depth(const Stage& stage, const StageShape& shape, const Statement& s,
                             DType dtype);

// An index of the form x * step + at, with constants: those of one x and step and of other places
// never meet, as the real and imaginary parts of complex numbers.
struct InterleavedIndex {
  NodeId x = kNone;
  std::int64_t step = 1, at = 0;
  bool never_meets(const InterleavedIndex& other) const {
    return x == other.x && step == other.step && (at - other.at) % step != 0;
  }
};
std::optional<InterleavedIndex> interleaved(const Stage& stage, NodeId index);

StageShape analyse(const Phase& phase, const Stage& stage, const Kernel& kernel,
                   const VectorTarget& target);

}  // namespace heddle
