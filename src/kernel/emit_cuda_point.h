// One point of a stage as CUDA text, or several neighbours that a thread has together.
#pragma once

#include "kernel/cuda_float8.h"
#include "kernel/emit_cuda_stage.h"

namespace heddle {

// By node: whether `id` is made of it.
std::vector<bool> nodes_for(const Stage& stage, NodeId id);

class CudaPoint {
 public:
  // `at_once`: whether all that a point has is marked, since a thread has several points at a time.
  CudaPoint(const Kernel& kernel, const Stage& stage, const CudaVectors& vectors, bool at_once,
            IndentedText& text);
  virtual ~CudaPoint() = default;

  // Of neighbours that a thread has together; "" where it has none.
  const std::vector<std::string>& marks() const { return marks_; }
  // The last loop, of which a thread has several positions together.
  bool is_in_vectors(std::size_t loop) const {
    return vectors_.count > 1 && loop + 1 == stage_.loops.size();
  }
  // Their positions, from that of their first as a multiple of their number.
  void emit_neighbours(std::size_t loop);

  std::string node(NodeId id, std::string_view mark) const;
  void emit_node(std::size_t i, std::string_view mark);
  // Those that are chosen, or all, for all neighbours.
  void emit_nodes(const std::vector<bool>& chosen);
  void emit_statement(const Statement& statement, std::string_view mark);
  void emit_vector_store(const Statement& statement);
  // Values of all neighbours, by their names.
  void emit_vector_store(std::uint32_t buffer, NodeId index,
                         const std::vector<std::string>& values);
  // What an update by a known operation makes of `sum` and a point's value. A product rounds once,
  // with its sum.
  std::string accumulated(const Statement& statement, const std::string& sum,
                          std::string_view mark) const;
  // "if (n5_0) ", where a statement has a guard.
  std::string guard(const Statement& statement, std::string_view mark) const;

  std::string element(std::uint32_t buffer, std::string_view index) const;
  std::string_view type_of(const Statement& statement, std::size_t k) const;

 protected:
  // Of a load without a guard, whose element may be elsewhere than in memory.
  virtual std::string loaded(std::size_t node, std::string_view mark) const;
  virtual void emit_vector_load(std::size_t node);
  void emit_guarded_vector(std::size_t node, const std::string& all);
  // The variable that has what all neighbours loaded by one access; "": there is none.
  virtual std::string loaded_together(std::size_t node) const;
  // Where a value is that need not be computed; else nothing.
  virtual std::string known(std::size_t /*node*/, std::string_view /*mark*/) const { return {}; }
  // What writes all neighbours to a buffer.
  virtual std::string_view storing(std::uint32_t /*buffer*/) const { return "store_vec"; }
  // Whether other stages need it too.
  virtual bool is_kept(std::size_t /*node*/) const { return false; }
  // Where a load of all neighbours begins.
  virtual std::string from(std::size_t node) const;
  // Whether many points of a thread have the same value.
  virtual bool is_same_for_many(NodeId id) const;
  bool differs_between_neighbours(NodeId id) const { return marked_[id]; }

  const Kernel& kernel_;
  const Stage& stage_;
  const CudaVectors& vectors_;
  IndentedText& text_;

 private:
  bool is_marked(const Node& node) const;
  std::string expression(std::size_t i, std::string_view mark) const;
  std::string operation(const Node& node, const std::vector<std::string>& operands) const;
  void emit_combination(const Statement& statement, std::string_view mark);

  void emit_divisor(std::size_t node, std::string_view mark);
  static std::string divisor(const std::string& node) { return "d" + node.substr(1); }
  bool keeps_some() const;
  bool is_narrowed(std::size_t node) const { return narrowed_[node] && !is_kept(node); }
  void emit_float8_store(const Statement& statement, const CudaFloat8& small);

  const bool at_once_;
  const std::vector<bool> narrowed_;  // by node: whether only few of its digits count
  const std::vector<bool> divides_;   // by node: whether numbers are divided by it
  const std::vector<bool> near_;      // by node: whether it is a power of which few digits count
  std::vector<std::string> marks_;
  std::vector<bool> marked_;  // by node: whether it differs between points of a thread
};

}  // namespace heddle
