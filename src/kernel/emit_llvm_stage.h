// Writes one stage into a function: its loops, its nodes as deep as they must stand, its
// statements.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "kernel/cpu_layout.h"
#include "kernel/emit_llvm_ops.h"

namespace heddle {

// What all stages of a function share.
struct PhaseScope {
  const Kernel& kernel;
  const Phase& phase;
  LlvmWriter& writer;
  std::vector<std::string> buffers;  // addresses
  std::vector<std::string> outer;    // positions; none in `begin` stages
  bool streams = false;              // stores went past the caches
};

class StageEmitter {
 public:
  StageEmitter(PhaseScope& scope, const Stage& stage);
  void emit();

 private:
  // The points that a copy of the innermost body works on.
  struct Points {
    std::string base;  // position along the vectorised loop of the first lane
    std::string mask;  // empty: all lanes
    std::string active;
    int copy = 0;          // of the unrolled ones
    std::size_t part = 0;  // of a row that is kept in registers
  };
  // Room in which a statement's values are kept over loops.
  struct Accumulator {
    std::vector<std::vector<std::string>> slots;  // by copy, by value
    std::string touched;  // whether any point came, where the index may lie outside otherwise
  };

  // ---- loops (emit_llvm_stage.cpp)
  void enter(int level);
  void vector_loop();
  void constant_vector_loop(std::int64_t size);
  void counted_vector_loop(const std::string& first, const std::string& limit);
  std::string peeled_turn(const std::string& limit);
  void body(const Points& points);
  void bodies(const std::string& at);
  void emit_node(NodeId id, const Points& points);
  void masked_body(const std::string& base, const std::string& active);
  void masked_loop(const std::string& first, const std::string& limit);
  bool leaves_one_text() const;
  std::string first_lanes(const std::string& active);
  std::string limit_of(const KeptLoop& loop);
  int vectors_of_turn() const { return round_.size(0, RoundAxis::reg); }

  // ---- tiles (emit_llvm_tiles.cpp)
  std::vector<NodeId> find_tiles() const;
  void tiled_loops();
  void tile_body(const std::string& first_row, const std::string& base);
  void fill_tile(NodeId id);
  LlvmValue tile_row(NodeId id);
  void keep_row_values(const std::string& first);
  bool is_kept_per_row(NodeId id) const;
  // Scalars of the loop around the vectorised one, computed or from where they are kept.
  void enter_row(const std::string& position);
  void enter_kept_row(const std::string& position);

  // ---- nodes (emit_llvm_nodes.cpp)
  void emit_scalar(NodeId id);
  void emit_vector(NodeId id, const Points& points);
  LlvmValue op_value(const Node& n, std::vector<LlvmValue> in, int lanes, bool narrow);
  LlvmValue scalar_load(const Node& n);
  LlvmValue vector_load(const Node& n, const Points& points);
  LlvmValue spread_load(const Node& n, const std::string& mask);
  LlvmValue every_other(const Node& n, const std::string& type);
  LlvmValue index_vector(NodeId id);
  const LlvmValue& scalar(NodeId id) const { return scalars_[id]; }
  LlvmValue vector(NodeId id);  // splat where all lanes are the same
  const NodeShape& shape_of(NodeId id) const { return shape_.nodes[id]; }
  std::string address(std::uint32_t buffer, std::string_view index);
  std::string addresses(std::uint32_t buffer, NodeId index);
  // Lanes that are there and pass the guard; empty: all.
  std::string mask_of(const Points& points, NodeId guard);
  std::string any_of(const std::string& mask);  // whether one lane of a mask holds

  // ---- statements (emit_llvm_statements.cpp, emit_llvm_accumulate.cpp)
  void emit_statement(std::size_t i, const Points& points);
  void scalar_statement(const Statement& s);
  void vector_store(const Statement& s, const Points& points);
  // The statement that stores the elements between those of this one; null where there is none.
  const Statement* other_half(const Statement& s) const;
  void store_halves(const Statement& even, const Statement& odd);
  void vector_update(const Statement& s, const Points& points);
  void put_vector(std::uint32_t buffer, NodeId index, const LlvmValue& value,
                  const std::string& mask);
  LlvmValue get_vector(std::uint32_t buffer, NodeId index, const std::string& mask);
  LlvmValue get(std::uint32_t buffer, std::string_view index);
  void put(std::uint32_t buffer, std::string_view index, const LlvmValue& value);
  std::vector<LlvmValue> combine(const Combiner& combiner, const std::vector<LlvmValue>& there,
                                 const std::vector<LlvmValue>& comes, int lanes);
  // One point: what is at `index`, changed; `there` holds it where it is kept in registers.
  void update_point(const Statement& s, std::string_view index, std::string_view scan_index,
                    const std::vector<LlvmValue>& values, const std::vector<std::string>* there);
  void lane_by_lane(const Statement& s, const Points& points,
                    const std::vector<std::string>* there);
  // Gives the value of one lane.
  std::function<LlvmValue(std::string_view lane)> by_lane(NodeId id);

  void begin_accumulator(std::size_t i);
  void add_to_accumulator(std::size_t i, const Points& points);
  void scan_vector(std::size_t i, const Points& points);
  void end_accumulator(std::size_t i);
  bool may_lie_outside(const Statement& s) const;

  // ---- selections (emit_llvm_select.cpp)
  void select_vector(std::size_t i, const Points& points);
  void end_selection(std::size_t i);
  std::vector<LlvmValue> combine_in_order(const Combiner& combiner, const std::vector<LlvmValue>& a,
                                          const std::vector<LlvmValue>& b);
  // ---- rows (emit_llvm_rows.cpp)
  bool has_rows() const;
  std::string index_at(NodeId index, const std::string& position);
  void each_part(const std::function<void(const Points&)>& write);
  void begin_row(std::size_t i);
  void add_to_row(std::size_t i, const Points& points);
  void end_row(std::size_t i);

  PhaseScope& scope_;
  const Stage& stage_;
  LlvmWriter& w_;
  const StageShape shape_;
  const Round round_;
  const std::vector<NodeId> tiles_;  // loads that go by tiles
  std::map<NodeId, std::string> tile_rooms_, row_rooms_;
  std::string tile_row_;  // while a row of a tile is worked on
  std::vector<LlvmValue> scalars_, vectors_;
  std::vector<std::string> positions_;  // of the kept loops
  std::vector<Accumulator> accumulators_;
};

// The start of an accumulator under a known combiner, as a scalar.
LlvmValue neutral_value(ScalarOp op, DType type);

}  // namespace heddle
