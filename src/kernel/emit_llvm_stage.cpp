#include "kernel/emit_llvm_stage.h"

#include <algorithm>

namespace heddle {

StageEmitter::StageEmitter(PhaseScope& scope, const Stage& stage)
    : scope_(scope),
      stage_(stage),
      w_(scope.writer),
      shape_(analyse(scope.phase, stage, scope.kernel, scope.writer.target)),
      round_(cpu_round(stage, shape_)),
      tiles_(find_tiles()),
      scalars_(stage.nodes.size()),
      vectors_(stage.nodes.size()),
      positions_(shape_.loops.size()),
      accumulators_(stage.statements.size()) {}

void StageEmitter::emit() {
  if (!shape_.empty) enter(0);
}

std::string StageEmitter::limit_of(const KeptLoop& loop) {
  if (loop.block_of < 0) return std::to_string(loop.size);
  const auto number = static_cast<std::size_t>(loop.block_of);
  const OuterLoop& outer = scope_.phase.outer[number];
  const std::string left = w_.set("sub nsw i64 {}, {}", outer.extent, scope_.outer[number]);
  return w_.call("i64", "llvm.smin.i64", fmt::format("i64 {}, i64 {}", left, outer.block));
}

void StageEmitter::enter(int level) {
  const bool innermost = level == shape_.depth();
  for (NodeId id = 0; id < stage_.nodes.size(); ++id)
    if (shape_of(id).depth == level && shape_of(id).scalar_needed) emit_scalar(id);
  auto each = [&](auto&& apply) {
    for (std::size_t i = 0; i < stage_.statements.size(); ++i)
      if (shape_.statements[i].depth == level) apply(i, shape_.statements[i].way);
  };
  auto accumulates = [](Way way) {
    return way == Way::vector_accumulator || way == Way::scalar_accumulator ||
           way == Way::vector_selection || way == Way::vector_scan;
  };
  each([&](std::size_t i, Way way) {
    if (accumulates(way)) begin_accumulator(i);
    if (way == Way::row_accumulator) begin_row(i);
    if (way == Way::scalar) scalar_statement(stage_.statements[i]);
  });
  if (!innermost) {
    if (shape_.vectorised && level + 1 == shape_.depth()) {
      vector_loop();
    } else if (!tiles_.empty() && level + 2 == shape_.depth()) {
      tiled_loops();
    } else {
      const auto index = static_cast<std::size_t>(level);
      w_.loop("0", limit_of(shape_.loops[index]), 1, [&](const std::string& at) {
        positions_[index] = at;
        enter(level + 1);
      });
    }
  }
  each([&](std::size_t i, Way way) {
    if (accumulates(way)) end_accumulator(i);
    if (way == Way::row_accumulator) end_row(i);
  });
}

void StageEmitter::vector_loop() {
  const KeptLoop& loop = shape_.loops.back();
  if (has_rows()) return each_part([&](const Points& points) { body(points); });
  if (shape_.peeled && tiles_.empty()) {
    const std::string limit = limit_of(loop);
    counted_vector_loop(peeled_turn(limit), limit);
  } else if (loop.block_of < 0) {
    constant_vector_loop(loop.size);
  } else {
    counted_vector_loop("0", limit_of(loop));
  }
}

// The points before the first aligned store; gives the position of that.
std::string StageEmitter::peeled_turn(const std::string& limit) {
  const Statement& s = stage_.statements[*shape_.peeled];
  positions_.back() = std::to_string(0);
  for (NodeId id = 0; id < stage_.nodes.size(); ++id)
    if (shape_of(id).depth == shape_.depth() && shape_of(id).scalar_needed) emit_scalar(id);
  const std::string to = address(s.buffers[0], scalar(s.index).text);
  const std::string number = w_.set("ptrtoint ptr {} to i64", to);
  const std::string missing = w_.set("and i64 {}, 63", w_.set("sub i64 0, {}", number));
  const std::string points =
      w_.set("udiv i64 {}, {}", missing, byte_size(scope_.kernel.buffers[s.buffers[0]].dtype));
  std::string first = w_.call("i64", "llvm.umin.i64", fmt::format("i64 {}, i64 {}", points, limit));
  w_.when(w_.set("icmp ne i64 {}, 0", first), [&] { masked_body(std::to_string(0), first); });
  return first;
}

void StageEmitter::constant_vector_loop(std::int64_t size) {
  const std::int64_t lanes = shape_.lanes, turn = round_.points(0);
  std::int64_t done = size / turn * turn;
  if (done == turn)
    bodies("0");
  else if (done > 0)
    w_.loop("0", std::to_string(done), turn, [&](const std::string& at) { bodies(at); });
  if (done < size && leaves_one_text())
    return masked_loop(std::to_string(done), std::to_string(size));
  for (; done + lanes <= size; done += lanes) body({std::to_string(done), "", "", 0});
  if (done < size) masked_body(std::to_string(done), std::to_string(size - done));
}

void StageEmitter::counted_vector_loop(const std::string& first, const std::string& limit) {
  const std::int64_t lanes = shape_.lanes, turn = round_.points(0);
  // The end of as many steps as fit.
  auto end_of = [&](std::int64_t step) {
    if (first[0] != '%') return w_.set("and i64 {}, {}", limit, -step);
    const std::string count = w_.set("sub nsw i64 {}, {}", limit, first);
    return w_.set("add nsw i64 {}, {}", first, w_.set("and i64 {}, {}", count, -step));
  };
  const std::string whole = end_of(turn);
  w_.loop(first, whole, turn, [&](const std::string& at) { bodies(at); });
  if (leaves_one_text()) return masked_loop(whole, limit);
  const std::string full = end_of(lanes);
  if (vectors_of_turn() > 1)
    w_.loop(whole, full, lanes, [&](const std::string& at) { body({at, "", "", 0}); });
  const std::string rest = w_.set("sub nsw i64 {}, {}", limit, full);
  w_.when(w_.set("icmp ne i64 {}, 0", rest), [&] { masked_body(full, rest); });
}

// Dozens of functions in a turn take LLVM seconds. What is left over of a row is then one text,
// under a mask, for whole vectors and for the last part of one.
bool StageEmitter::leaves_one_text() const {
  constexpr int kLongTurn = 200;
  return vectors_of_turn() > 1 && vector_work(stage_, shape_) > kLongTurn &&
         std::ranges::all_of(shape_.statements, [](const StatementPlan& plan) {
           return plan.way == Way::vector || plan.way == Way::scalar;
         });
}

void StageEmitter::masked_loop(const std::string& first, const std::string& limit) {
  w_.loop(first, limit, shape_.lanes, [&](const std::string& at) {
    const std::string left = w_.set("sub nsw i64 {}, {}", limit, at);
    masked_body(at,
                w_.call("i64", "llvm.umin.i64", fmt::format("i64 {}, i64 {}", left, shape_.lanes)));
  });
}

void StageEmitter::masked_body(const std::string& base, const std::string& active) {
  body({base, first_lanes(active), active, 0});
}

// A mask for so many of the lanes.
std::string StageEmitter::first_lanes(const std::string& active) {
  const int lanes = shape_.lanes;
  if (active[0] == '%') {
    const std::string count = w_.set("trunc i64 {} to i32", active);
    return w_.set("icmp ult <{} x i32> {}, {}", lanes, LlvmWriter::iota("i32", lanes),
                  w_.splat(count, "i32", lanes));
  }
  std::vector<std::string_view> words;
  for (int i = 0; i < lanes; ++i) words.push_back(i < std::stoi(active) ? "i1 true" : "i1 false");
  return fmt::format("<{}>", fmt::join(words, ", "));
}

void StageEmitter::body(const Points& points) {
  positions_.back() = points.base;
  for (NodeId id = 0; id < stage_.nodes.size(); ++id) emit_node(id, points);
  for (std::size_t i = 0; i < stage_.statements.size(); ++i) emit_statement(i, points);
}

void StageEmitter::emit_node(NodeId id, const Points& points) {
  const NodeShape& s = shape_of(id);
  if (s.depth < shape_.depth()) return;
  if (s.scalar_needed) emit_scalar(id);
  if (s.vector_needed) emit_vector(id, points);
}

// All copies of an unrolled turn, node by node: long chains wait for one another otherwise.
void StageEmitter::bodies(const std::string& at) {
  struct Copy {
    Points points;
    std::vector<LlvmValue> scalars, vectors;
  };
  std::vector<Copy> copies;
  for (int copy = 0; copy < vectors_of_turn(); ++copy) {
    const std::string base = copy == 0 ? at : w_.set("add nsw i64 {}, {}", at, copy * shape_.lanes);
    copies.push_back({{base, "", "", copy}, scalars_, vectors_});
  }
  auto each = [&](auto&& write) {
    for (Copy& copy : copies) {
      scalars_.swap(copy.scalars);
      vectors_.swap(copy.vectors);
      positions_.back() = copy.points.base;
      write(copy.points);
      scalars_.swap(copy.scalars);
      vectors_.swap(copy.vectors);
    }
  };
  for (NodeId id = 0; id < stage_.nodes.size(); ++id)
    if (shape_of(id).depth == shape_.depth())
      each([&](const Points& points) { emit_node(id, points); });
  each([&](const Points& points) {
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) emit_statement(i, points);
  });
}

}  // namespace heddle
