// Random kernels that keep all rules. `Numbers` gives the random decisions: Choices of choices.h,
// or the Dice below where RapidCheck is not wanted.
#pragma once

#include "../unit/kernel_build.h"
#include "draws.h"
#include "ir/eval/scalar_function.h"

namespace heddle::property {

// A stream of random numbers from a seed.
class Dice : public Draws<Dice> {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  std::int64_t below(std::int64_t n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return n <= 1 ? 0 : static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

template <typename Numbers>
class RandomKernel {
 public:
  // Exact ones have no functions (exp, …), whose last bit may differ between machines, and do not
  // look at the bits of a NaN.
  RandomKernel(Numbers& numbers, bool exact) : numbers_(numbers), exact_(exact) {}

  Kernel make() {
    kernel_ = named_kernel("random");
    const std::int64_t inputs = numbers_.between(1, 3);
    for (std::int64_t i = 0; i < inputs; ++i)
      readable_.push_back(add_buffer(kernel_, Reach::input, any_type(), size({7, 1, 24, 0, 60})));
    const std::int64_t phases = numbers_.between(1, 3);
    for (std::int64_t p = 0; p < phases; ++p) add_phase(p + 1 == phases);
    return std::move(kernel_);
  }

 private:
  DType any_type() {
    return numbers_.pick({DType::f32, DType::i32, DType::f16, DType::bf16, DType::f64, DType::i1,
                          DType::i8, DType::ui8, DType::i16, DType::ui16, DType::ui32, DType::i64,
                          DType::ui64});
  }

  std::int64_t size(std::initializer_list<std::int64_t> from) { return numbers_.pick(from); }

  // ---- one stage's view of its phase
  struct Grid {
    Phase phase;
    std::int64_t inner = 1;           // the loop beside the outer ones
    std::vector<std::uint32_t> held;  // buffers of the block, whole after the stage that wrote them
    std::vector<StageLoop> loops() const {
      std::vector<StageLoop> loops;
      for (std::size_t i = 0; i < phase.outer.size(); ++i)
        loops.push_back({phase.outer[i].block, static_cast<int>(i)});
      loops.push_back({inner, -1});
      return loops;
    }
    std::int64_t block_points() const {
      std::int64_t n = inner;
      for (const OuterLoop& loop : phase.outer) n *= loop.block;
      return n;
    }
    std::int64_t points() const {
      std::int64_t n = inner;
      for (const OuterLoop& loop : phase.outer) n *= loop.extent;
      return n;
    }
  };

  // The place in a buffer over all rows (outer loops), or over those of a block.
  static NodeId row_index(StageBuilder& w, const Grid& grid, bool of_block) {
    NodeId at = w.index(0);
    for (std::size_t i = 0; i < grid.phase.outer.size(); ++i) {
      const OuterLoop& loop = grid.phase.outer[i];
      NodeId here = w.loop(static_cast<std::uint32_t>(i));
      if (!of_block) here = w.add(w.outer(static_cast<std::uint32_t>(i)), here);
      at = w.add(w.scaled(at, of_block ? loop.block : loop.extent), here);
    }
    return at;
  }
  // The same over all points, the inner loop fastest.
  static NodeId flat_index(StageBuilder& w, const Grid& grid, bool of_block) {
    const auto inner = static_cast<std::uint32_t>(grid.phase.outer.size());
    return w.add(w.scaled(row_index(w, grid, of_block), grid.inner), w.loop(inner));
  }

  // ---- values
  // Some position, not negative.
  NodeId position(StageBuilder& w, const Grid& grid) {
    NodeId at = flat_index(w, grid, false);
    if (numbers_.one_in(3)) at = w.scaled(at, numbers_.between(2, 5));
    if (numbers_.one_in(3)) at = w.add(at, w.index(numbers_.between(0, 9)));
    return at;
  }

  NodeId load(StageBuilder& w, const Grid& grid) {
    if (!grid.held.empty() && numbers_.one_in(2))
      return w.load(numbers_.pick(grid.held), flat_index(w, grid, true));
    const std::uint32_t buffer = numbers_.pick(readable_);
    const std::int64_t elements = kernel_.buffers[buffer].elements;
    NodeId at = position(w, grid);
    if (elements > 0 && !numbers_.one_in(3))
      return w.load(buffer, w.op(ScalarOp::remainder, at, w.index(elements)));
    at = w.op(ScalarOp::subtract, at, w.index(numbers_.between(0, 5)));
    const NodeId inside = w.op(ScalarOp::bit_and, w.op(ScalarOp::greater_equal, at, w.index(0)),
                               w.op(ScalarOp::less, at, w.index(elements)));
    const bool other = numbers_.one_in(2);
    return w.load(buffer, at, inside, other ? w.number(3, kernel_.buffers[buffer].dtype) : kNone);
  }

  bool allowed(ScalarOp op, DType from) const {
    if (!exact_) return true;
    if (op == ScalarOp::bitcast) return !is_float(from);
    return !is_float(from) || !is_heavy(op) || op == ScalarOp::remainder;
  }

  // An operation on a value and others of its type.
  NodeId operation(StageBuilder& w, const Grid& grid, NodeId x, int depth) {
    const DType type = w.stage.nodes[x].type;
    const auto op = static_cast<ScalarOp>(numbers_.between(1, static_cast<int>(ScalarOp::clamp)));
    if (!allowed(op, type)) return x;
    if (op == ScalarOp::convert) return w.cast(x, any_type());
    if (op == ScalarOp::bitcast) {
      const DType to = any_type();
      return bits(to) == bits(type) ? w.cast(x, to, op) : x;
    }
    const bool asks =
        (op >= ScalarOp::equal && op <= ScalarOp::greater_equal) || op == ScalarOp::is_finite;
    if (!scalar_function(op, type, asks ? DType::i1 : type)) return x;
    auto another = [&] { return cast_to(w, value(w, grid, depth - 1), type); };
    if (operand_count(op) == 1) return w.op(op, x);
    const NodeId y = another();
    if (operand_count(op) == 2) return w.op(op, x, y);
    if (op == ScalarOp::clamp) return w.op(op, x, y, another());
    return w.op(op, cast_to(w, value(w, grid, depth - 1), DType::i1), x, y);
  }

  NodeId value(StageBuilder& w, const Grid& grid, int depth) {
    if (depth <= 0 && numbers_.one_in(4))
      return w.number(static_cast<double>(numbers_.between(-3, 9)), any_type());
    if (depth <= 0 && numbers_.one_in(4)) return position(w, grid);
    NodeId x = load(w, grid);
    for (int i = 0; i < depth; ++i) x = operation(w, grid, x, depth);
    return x;
  }

  static NodeId cast_to(StageBuilder& w, NodeId x, DType type) {
    return w.stage.nodes[x].type == type ? x : w.cast(x, type);
  }

  ScalarOp combiner(DType type) {
    for (int tries = 0; tries < 8; ++tries) {
      const ScalarOp op =
          numbers_.pick({ScalarOp::add, ScalarOp::maximum, ScalarOp::minimum, ScalarOp::multiply,
                         ScalarOp::bit_and, ScalarOp::bit_or, ScalarOp::bit_xor});
      if (scalar_function(op, type, type)) return op;
    }
    return ScalarOp::maximum;
  }

  // A known combiner, or the same as a graph.
  Combiner some_combiner(ScalarOp op, DType type) {
    Combiner combiner;
    combiner.op = op;
    if (!numbers_.one_in(3)) return combiner;
    combiner.op = ScalarOp::none;
    for (std::uint32_t k : {0u, 1u})
      combiner.nodes.push_back({.kind = NodeKind::parameter, .type = type, .number = k});
    combiner.nodes.push_back(
        {.kind = NodeKind::scalar, .op = op, .type = type, .in = {0, 1, kNone}});
    combiner.results = {2};
    return combiner;
  }

  // ---- stages and phases
  void add_held(Grid& grid) {
    StageBuilder w(kernel_, grid.loops());
    const NodeId x = value(w, grid, 2);
    const auto buffer =
        add_buffer(kernel_, Reach::block, w.stage.nodes[x].type, grid.block_points());
    w.store(buffer, flat_index(w, grid, true), x);
    grid.phase.stages.push_back(w.stage);
    grid.held.push_back(buffer);
  }

  // In place: what a held buffer has becomes something else.
  void change_held(Grid& grid) {
    if (grid.held.empty()) return;
    const std::uint32_t buffer = numbers_.pick(grid.held);
    Grid without = grid;
    std::erase(without.held, buffer);
    StageBuilder w(kernel_, grid.loops());
    const NodeId at = flat_index(w, grid, true), old = w.load(buffer, at);
    const NodeId x = cast_to(w, operation(w, without, old, 1), w.stage.nodes[old].type);
    w.store(buffer, at, x);
    grid.phase.stages.push_back(w.stage);
  }

  // The inner loop reduced or scanned for every row of the outer loops, and spread again.
  void add_reduction(Grid& grid, bool scans) {
    std::vector<StageLoop> rows = grid.loops();
    rows.pop_back();
    std::int64_t row_count = 1;
    for (const StageLoop& loop : rows) row_count *= loop.size;
    StageBuilder reduce(kernel_, grid.loops());
    const NodeId x = value(reduce, grid, 1);
    const DType type = reduce.stage.nodes[x].type;
    const ScalarOp op = combiner(type);
    const auto total = add_buffer(kernel_, Reach::block, type, row_count);
    StageBuilder clear(kernel_, rows);
    clear.store(total, row_index(clear, grid, true), clear.bits(neutral_bits(op, type), type));
    const NodeId row = row_index(reduce, grid, true);
    const auto spread = add_buffer(kernel_, Reach::block, type, grid.block_points());
    if (scans) {
      Statement& scan = reduce.scan(total, row, op, x, spread, flat_index(reduce, grid, true));
      scan.combiner = some_combiner(op, type);
    } else {
      const NodeId guard =
          numbers_.one_in(3) ? cast_to(reduce, value(reduce, grid, 0), DType::i1) : kNone;
      Statement& update = reduce.update(total, row, op, x, guard);
      update.combiner = some_combiner(op, type);
    }
    grid.phase.stages.push_back(clear.stage);
    grid.phase.stages.push_back(reduce.stage);
    if (!scans) {
      StageBuilder copy(kernel_, grid.loops());
      copy.store(spread, flat_index(copy, grid, true),
                 copy.load(total, row_index(copy, grid, true)));
      grid.phase.stages.push_back(copy.stage);
    }
    grid.held.push_back(spread);
  }

  // Sums over the outer loops: a part per chunk, which a later phase may read.
  void add_chunked(Grid& grid) {
    grid.phase.chunks = numbers_.between(1, 4);
    StageBuilder w(kernel_, grid.loops());
    const NodeId x = value(w, grid, 1);
    const DType type = w.stage.nodes[x].type;
    const ScalarOp op = combiner(type);
    const auto parts = add_buffer(kernel_, Reach::phases, type, grid.phase.chunks * grid.inner);
    StageBuilder clear(kernel_, {{grid.inner, -1}});
    clear.store(parts, clear.add(clear.scaled(clear.chunk(), grid.inner), clear.loop(0)),
                clear.bits(neutral_bits(op, type), type));
    const auto last = static_cast<std::uint32_t>(grid.phase.outer.size());
    w.update(parts, w.add(w.scaled(w.chunk(), grid.inner), w.loop(last)), op, x);
    grid.phase.begin.push_back(clear.stage);
    grid.phase.stages.push_back(w.stage);
    written_.push_back(parts);
  }

  // Places that data decide, in order or not.
  void add_scatter() {
    Grid grid;
    grid.inner = numbers_.between(1, 9);
    StageBuilder w(kernel_, grid.loops());
    const NodeId x = value(w, grid, 1);
    const DType type = w.stage.nodes[x].type;
    const std::int64_t elements = numbers_.between(1, 6);
    const auto target = add_buffer(kernel_, Reach::output, type, elements);
    StageBuilder clear(kernel_, {{elements, -1}});
    clear.store(target, clear.loop(0), clear.number(1, type));
    const NodeId at = cast_to(w, value(w, grid, 1), DType::i64);
    const NodeId inside = w.op(ScalarOp::bit_and, w.op(ScalarOp::greater_equal, at, w.index(0)),
                               w.op(ScalarOp::less, at, w.index(elements)));
    if (numbers_.one_in(2)) {
      w.store(target, at, x, inside).any_order = false;
    } else {
      w.update(target, at, combiner(type), x, inside).any_order = numbers_.one_in(2);
    }
    grid.phase.stages = {clear.stage, w.stage};
    kernel_.phases.push_back(grid.phase);
    written_.push_back(target);
  }

  void add_phase(bool last) {
    if (numbers_.one_in(4)) {
      add_scatter();
    } else {
      Grid grid;
      const std::int64_t outer = numbers_.between(0, 2);
      for (std::int64_t i = 0; i < outer; ++i)
        grid.phase.outer.push_back({size({3, 1, 5, 8, 0}), numbers_.between(1, 3)});
      grid.inner = size({4, 1, 7, 0});
      const std::int64_t steps = numbers_.between(0, 3);
      for (std::int64_t s = 0; s < steps; ++s) add_step(grid);
      if (numbers_.one_in(4)) add_chunked(grid);
      add_result(grid, last || numbers_.one_in(2) ? Reach::output : Reach::phases);
      kernel_.phases.push_back(grid.phase);
    }
    for (std::uint32_t buffer : written_) readable_.push_back(buffer);
    written_.clear();
  }

  void add_step(Grid& grid) {
    const std::int64_t kind = numbers_.below(4);
    if (kind == 0) return add_held(grid);
    if (kind == 1) return add_reduction(grid, false);
    if (kind == 2) return add_reduction(grid, true);
    change_held(grid);
  }

  void add_result(Grid& grid, Reach reach) {
    StageBuilder w(kernel_, grid.loops());
    const NodeId x = value(w, grid, 2);
    const auto target = add_buffer(kernel_, reach, w.stage.nodes[x].type, grid.points());
    w.store(target, flat_index(w, grid, false), x);
    grid.phase.stages.push_back(w.stage);
    written_.push_back(target);
  }

  Numbers& numbers_;
  bool exact_;
  Kernel kernel_;
  std::vector<std::uint32_t> readable_, written_;  // of all workers: before this phase, and in it
};

template <typename Numbers>
Kernel random_kernel(Numbers& numbers, bool exact = false) {
  return RandomKernel<Numbers>(numbers, exact).make();
}

// Inputs with numbers that do not all overflow; truth values are 0 and 1.
template <typename Numbers>
void fill_inputs(const Kernel& kernel, KernelData& data, Numbers& numbers) {
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
    if (kernel.buffers[b].reach != Reach::input) continue;
    dispatch(kernel.buffers[b].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::vector<T> values;
      for (std::int64_t i = 0; i < kernel.buffers[b].elements; ++i)
        values.push_back(convert_scalar<T>(static_cast<double>(numbers.between(-40, 90)) / 8));
      if (!values.empty()) data.set<T>(static_cast<std::uint32_t>(b), values);
    });
  }
}

}  // namespace heddle::property
