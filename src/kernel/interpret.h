// Stages made ready to run point by point; used by interpret().
#pragma once

#include "heddle/kernel.h"
#include "ir/eval/scalar_function.h"

namespace heddle {

// The bytes of a buffer while a kernel runs.
struct BufferBytes {
  std::byte* data = nullptr;
  std::int64_t elements = 0;
  std::size_t size = 0;          // of an element
  std::uint8_t* left = nullptr;  // per byte: whether something was written; null: all of it counts
};

// Where a worker is: the block of the phase, and its chunk.
struct BlockPosition {
  std::vector<std::int64_t> outer;  // first position of each outer loop
  std::int64_t chunk = 0;
};

// A combiner with its functions found.
class CombinerRun {
 public:
  CombinerRun() = default;
  CombinerRun(const Combiner& combiner, std::span<const DType> types);
  // there[k] = what it makes of there[k] and comes[k].
  void combine(std::span<std::uint64_t> there, std::span<const std::uint64_t> comes);

 private:
  const Combiner* combiner_ = nullptr;
  ScalarFunction known_ = nullptr;
  std::vector<ScalarFunction> functions_;
  std::vector<std::uint64_t> values_;
};

// One stage: nodes are computed as far out in the loops as they can be.
class StageRun {
 public:
  StageRun(const Kernel& kernel, const Phase& phase, const Stage& stage,
           std::span<const BufferBytes> buffers);
  Verdict run(const BlockPosition& at);

 private:
  bool compute(std::size_t from_level);
  bool compute_node(NodeId id);
  bool load(NodeId id);
  bool perform(std::size_t statement);
  bool read(std::uint32_t buffer, std::int64_t index, std::uint64_t& bits);
  bool write(std::uint32_t buffer, std::int64_t index, std::uint64_t bits);
  bool fail(std::string text);
  std::uint64_t operand(NodeId id, int k) const {
    return values_[stage_.nodes[id].in[static_cast<std::size_t>(k)]];
  }

  const Phase& phase_;
  const Stage& stage_;
  std::span<const BufferBytes> buffers_;
  std::vector<ScalarFunction> functions_;      // per node
  std::vector<std::vector<NodeId>> levels_;    // nodes that change with loop level-1, in order
  std::vector<CombinerRun> combiners_;         // per statement
  std::vector<std::uint64_t> values_;          // per node
  std::vector<std::int64_t> position_, size_;  // per loop
  std::vector<std::uint64_t> there_, comes_;
  const BlockPosition* at_ = nullptr;
  std::string failure_;
};

}  // namespace heddle
