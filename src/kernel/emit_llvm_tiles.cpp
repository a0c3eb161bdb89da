// Loads that run across the vectorised loop but along the loop around it, as in a transpose: square
// tiles are loaded along memory, turned in registers and read back row by row.
#include <algorithm>

#include "kernel/emit_llvm_stage.h"
#include "kernel/strides.h"

namespace heddle {

namespace {

constexpr int kMostLanes = 16;

}  // namespace

std::vector<NodeId> StageEmitter::find_tiles() const {
  const int depth = shape_.depth(), lanes = shape_.lanes;
  if (!shape_.vectorised || depth < 2 || lanes < 4 || lanes > kMostLanes) return {};
  const KeptLoop& around = shape_.loops[static_cast<std::size_t>(depth - 2)];
  if (around.size < lanes || shape_.loops.back().size < lanes || has_rows()) return {};
  // What is kept over the vectorised loop would have to be kept for every row of a tile.
  for (const StatementPlan& plan : shape_.statements)
    if (plan.depth == depth - 1 || (plan.depth == depth && plan.way != Way::vector)) return {};
  const Strides strides = strides_along(stage_, around.number);
  std::vector<NodeId> found;
  for (NodeId id = 0; id < stage_.nodes.size() && found.size() < 4; ++id) {
    const Node& n = stage_.nodes[id];
    if (n.kind != NodeKind::load || !shape_of(id).vector_needed || n.in[1] != kNone) continue;
    const NodeShape& index = shape_of(n.in[0]);
    const bool across = index.lanes == NodeShape::Lanes::affine && index.stride != 1;
    const bool written =
        std::any_of(stage_.statements.begin(), stage_.statements.end(), [&](const Statement& s) {
          return std::count(s.buffers.begin(), s.buffers.end(), n.number) > 0;
        });
    if (across && !written && strides[n.in[0]] == 1) found.push_back(id);
  }
  return found;
}

// Vectors as the rows of a square, turned: in each step halves of pairs change places.
static void turn(LlvmWriter& w, std::vector<std::string>& rows, const std::string& type) {
  const auto lanes = rows.size();
  for (std::size_t by = lanes / 2; by > 0; by /= 2) {
    std::vector<std::string> low, high;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool upper = (lane & by) != 0;
      low.push_back(fmt::format("i32 {}", upper ? lanes + lane - by : lane));
      high.push_back(fmt::format("i32 {}", upper ? lanes + lane : lane + by));
    }
    for (std::size_t row = 0; row < lanes; ++row) {
      if ((row & by) != 0) continue;
      auto mixed = [&](const std::vector<std::string>& order) {
        return w.set("shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>", type, rows[row],
                     rows[row + by], lanes, fmt::join(order, ", "));
      };
      const std::string first = mixed(low), second = mixed(high);
      rows[row] = first;
      rows[row + by] = second;
    }
  }
}

void StageEmitter::fill_tile(NodeId id) {
  const Node& n = stage_.nodes[id];
  const int lanes = shape_.lanes;
  const std::string_view element = LlvmWriter::memory_type(n.type);
  const std::string type = LlvmWriter::vector_of(element, lanes);
  std::vector<std::string> rows;
  for (int k = 0; k < lanes; ++k) {
    const std::string at =
        w_.set("add i64 {}, {}", scalar(n.in[0]).text, k * shape_of(n.in[0]).stride);
    rows.push_back(
        w_.set("load {}, ptr {}, align {}", type, address(n.number, at), byte_size(n.type)));
  }
  turn(w_, rows, type);
  std::string& room = tile_rooms_[id];
  if (room.empty()) room = w_.stack(fmt::format("[{} x {}]", lanes, type), 64);
  for (int k = 0; k < lanes; ++k)
    w_.put("store {} {}, ptr {}", type, rows[static_cast<std::size_t>(k)],
           w_.set("getelementptr {}, ptr {}, i64 {}", type, room, k));
}

LlvmValue StageEmitter::tile_row(NodeId id) {
  const Node& n = stage_.nodes[id];
  const std::string type = LlvmWriter::vector_of(LlvmWriter::memory_type(n.type), shape_.lanes);
  const std::string at =
      w_.set("getelementptr {}, ptr {}, i64 {}", type, tile_rooms_[id], tile_row_);
  return from_memory(w_, w_.set("load {}, ptr {}", type, at), n.type, shape_.lanes);
}

// Values that depend on the row, but not on the place in it, are computed once for all tiles of a
// row of tiles; indices are quicker made again.
void StageEmitter::keep_row_values(const std::string& first) {
  const int lanes = shape_.lanes;
  w_.loop("0", std::to_string(lanes), 1, [&](const std::string& row) {
    enter_row(w_.set("add nsw i64 {}, {}", first, row));
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) {
      if (!is_kept_per_row(id)) continue;
      const LlvmValue& value = scalars_[id];
      const std::string_view element = LlvmWriter::memory_type(value.type);
      std::string& room = row_rooms_[id];
      if (room.empty()) room = w_.stack(fmt::format("[{} x {}]", lanes, element), 64);
      w_.put("store {} {}, ptr {}", element, to_memory(w_, value),
             w_.set("getelementptr {}, ptr {}, i64 {}", element, room, row));
    }
  });
}

bool StageEmitter::is_kept_per_row(NodeId id) const {
  const NodeShape& s = shape_of(id);
  return s.depth == shape_.depth() - 1 && s.scalar_needed && stage_.nodes[id].type != DType::i64;
}

void StageEmitter::enter_row(const std::string& position) {
  positions_[static_cast<std::size_t>(shape_.depth() - 2)] = position;
  for (NodeId id = 0; id < stage_.nodes.size(); ++id)
    if (shape_of(id).depth == shape_.depth() - 1 && shape_of(id).scalar_needed) emit_scalar(id);
}

void StageEmitter::enter_kept_row(const std::string& position) {
  positions_[static_cast<std::size_t>(shape_.depth() - 2)] = position;
  for (NodeId id = 0; id < stage_.nodes.size(); ++id) {
    if (shape_of(id).depth != shape_.depth() - 1 || !shape_of(id).scalar_needed) continue;
    if (!is_kept_per_row(id)) {
      emit_scalar(id);
      continue;
    }
    const DType type = stage_.nodes[id].type;
    const std::string_view element = LlvmWriter::memory_type(type);
    const std::string at =
        w_.set("getelementptr {}, ptr {}, i64 {}", element, row_rooms_[id], tile_row_);
    scalars_[id] = from_memory(w_, w_.set("load {}, ptr {}", element, at), type, 0);
  }
}

void StageEmitter::tile_body(const std::string& first_row, const std::string& base) {
  tile_row_ = std::to_string(0);
  enter_kept_row(first_row);
  positions_.back() = base;
  for (NodeId id = 0; id < stage_.nodes.size(); ++id)
    if (shape_of(id).depth == shape_.depth() && shape_of(id).scalar_needed) emit_scalar(id);
  for (NodeId id : tiles_) fill_tile(id);
  w_.loop("0", std::to_string(shape_.lanes), 1, [&](const std::string& row) {
    tile_row_ = row;
    enter_kept_row(w_.set("add nsw i64 {}, {}", first_row, row));
    body({base, "", "", 0});
  });
  tile_row_.clear();
}

void StageEmitter::tiled_loops() {
  const int lanes = shape_.lanes;
  const auto around = static_cast<std::size_t>(shape_.depth() - 2);
  auto whole_of = [&](const std::string& limit) {
    return limit[0] == '%' ? w_.set("and i64 {}, {}", limit, -lanes)
                           : std::to_string(std::stoll(limit) / lanes * lanes);
  };
  const std::string rows = limit_of(shape_.loops[around]), columns = limit_of(shape_.loops.back());
  const std::string whole_rows = whole_of(rows), whole_columns = whole_of(columns);
  w_.loop("0", whole_rows, lanes, [&](const std::string& first) {
    keep_row_values(first);
    w_.loop("0", whole_columns, lanes, [&](const std::string& base) { tile_body(first, base); });
    if (whole_columns == columns) return;
    const std::string rest = columns[0] == '%'
                                 ? w_.set("sub nsw i64 {}, {}", columns, whole_columns)
                                 : std::to_string(std::stoll(columns) - std::stoll(whole_columns));
    auto tail = [&] {
      w_.loop("0", std::to_string(lanes), 1, [&](const std::string& row) {
        enter_row(w_.set("add nsw i64 {}, {}", first, row));
        masked_body(whole_columns, rest);
      });
    };
    if (rest[0] == '%')
      w_.when(w_.set("icmp ne i64 {}, 0", rest), tail);
    else
      tail();
  });
  if (whole_rows == rows) return;
  w_.loop(whole_rows, rows, 1, [&](const std::string& at) {
    positions_[around] = at;
    enter(shape_.depth() - 1);
  });
}

}  // namespace heddle
