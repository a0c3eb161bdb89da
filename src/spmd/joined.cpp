// Concatenate along a dimension that is dealt out: each device takes what lies in its part.
//
// Rolls and borders (jnp.roll, jnp.pad) are slices that are only put together again. Such slices
// are never values of their own: neighbours send their edges, and what comes from further away, as
// the last row of a ring, goes from the one device that has it to the one that needs it.
#include <algorithm>

#include "ir/attr_access.h"
#include "spmd/partitioner.h"

namespace heddle {

bool cuts_only(const Program& program, const Op& op, std::size_t dim) {
  if (op.def->name != "stablehlo.slice") return false;
  const Shape &whole = program.type_of(program.operands(op)[0]).shape,
              &part = program.type_of(program.result(op, 0)).shape;
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (d != dim && whole[d] != part[d]) return false;
  return std::ranges::all_of(integers_or(program.attr(op, "strides")),
                             [](std::int64_t n) { return n == 1; });
}

// Slices all of whose users are concatenates of the same region along the dimension that they cut.
void Partitioner::find_pieces() {
  pieces_.assign(from_.op_count(), false);
  std::vector<int> taken(from_.value_count(), 0);
  for (RegionId region = 0; region < from_.region_count(); ++region)
    for (OpId id : from_.region(region).ops) {
      const Op& op = from_.op(id);
      if (op.def->name == "stablehlo.slice")
        if (const OpId maker = from_.value(from_.operands(op)[0]).op;
            maker != kNone && from_.op(maker).def->name == "stablehlo.sort")
          slices_of_[from_.operands(op)[0]].push_back(id);
      const int dim = joined_factor(from_, op);
      if (dim < 0) continue;
      for (ValueId v : from_.operands(op)) {
        const OpId maker = from_.value(v).op;
        if (maker == kNone || from_.layout_of(v) != nullptr ||
            !cuts_only(from_, from_.op(maker), static_cast<std::size_t>(dim)))
          continue;
        const auto& here = from_.region(region).ops;
        // Ops stand in the order of their numbers.
        if (++taken[v] == uses_[v] && std::ranges::binary_search(here, maker))
          pieces_[maker] = true;
      }
    }
}

std::vector<Partitioner::Piece> Partitioner::pieces_of(const Op& op, std::size_t dim) const {
  std::vector<Piece> pieces;
  std::int64_t before = 0;
  for (ValueId v : from_.operands(op)) {
    const std::int64_t count = type_of(v).shape[dim];
    const OpId maker = from_.value(v).op;
    Piece piece{v, count, 0, before, count};
    if (maker != kNone && is_piece(maker)) {
      piece.source = from_.operands(from_.op(maker))[0];
      piece.size = type_of(piece.source).shape[dim];
      piece.from = integers_or(from_.attr(from_.op(maker), "start_indices"))[dim];
    }
    if (count > 0) pieces.push_back(piece);
    before += count;
  }
  return pieces;
}

// Who sends which elements of a piece to whom, where blocks of the result have `block` elements.
std::vector<Partitioner::Delivery> Partitioner::deliveries(const Piece& piece, const AxisList& axes,
                                                           std::int64_t block) {
  const std::int64_t have = (piece.size + total(axes) - 1) / total(axes);
  std::vector<Delivery> plan;
  for (std::int64_t done = 0; done < piece.count;) {
    const std::int64_t from = piece.from + done, to = piece.to + done;
    const std::int64_t count =
        std::min({piece.count - done, have - from % have, block - to % block});
    plan.push_back({from / have, to / block, done, count});
    done += count;
  }
  return plan;
}

// The elements of `part` from place `begin` of the result on, and those of `under` before it.
ValueId Partitioner::placed(ValueId part, const Window& place, std::int64_t begin, ValueId under) {
  const ValueId first = w_.add(w_.multiply(w_.position(place.axes), -place.step), w_.number(begin));
  const ValueId all = w_.between(w_.type(part).shape, place.dim, first, kNone);
  return w_.select(all, part, under);
}

// What a piece puts over the result, each run of elements from the device that has it.
ValueId Partitioner::delivered(ValueId local, const Piece& piece, const Window& place,
                               const std::vector<Delivery>& plan, ValueId result) {
  const std::int64_t have = w_.type(local).shape[place.dim];
  for (const Delivery& run : plan) {
    ValueId sent = w_.slice(local, place.dim, (piece.from + run.first) % have, run.count);
    if (run.from != run.to) {
      const Type run_type = w_.type(sent);
      tell(MoveKind::permute, place.axes, run_type, run_type.bytes(),
           link_seconds(place.axes, run_type.bytes()));
      sent = w_.permute(sent, w_.pair(place.axes, run.from, run.to));
    }
    const std::int64_t low = (piece.to + run.first) % place.count;
    const ValueId room =
        w_.pad(sent, place.dim, low, place.count - low - run.count, w_.zero(w_.type(sent).dtype));
    if (result == kNone) {
      result = room;
      continue;
    }
    // From its first element on; what lies behind it is written over by the next.
    result = placed(room, place, piece.to + run.first, result);
  }
  return result;
}

Expected<bool> Partitioner::write_joined(OpId id) {
  const Op& op = from_.op(id);
  const auto dim = static_cast<std::size_t>(joined_factor(from_, op));
  const ValueId v = from_.result(op, 0);
  const Split& rests = splits_[resting(v)];
  const std::vector<Piece> pieces = pieces_of(op, dim);
  const AxisList axes = rests.dims.empty() ? AxisList{} : rests.dims[dim].axes();
  const std::int64_t block =
      axes.empty() ? 0 : (type_of(v).shape[dim] + total(axes) - 1) / total(axes);
  constexpr std::size_t kMostDeliveries = 3;
  struct Part {
    int split;
    Window window;
    std::vector<Delivery> plan;  // none: by neighbours
  };
  std::vector<Part> parts;
  bool good = !axes.empty() && rests.dims[dim].is_block() && rests.pending.empty();
  for (const Piece& piece : pieces) {
    if (!good) break;
    Split split = rests;
    split.dims[dim] = DimSplit::blocks(piece.size, axes);
    Part part{split_id(split),
              {dim, axes, piece.size, piece.from - piece.to, block, block, kNone},
              deliveries(piece, axes, block)};
    const Reach reach = reach_of(part.window);
    std::int64_t sent = 0;
    for (const Delivery& run : part.plan) sent += run.from == run.to ? 0 : run.count;
    const bool few = part.plan.size() <= kMostDeliveries;
    if (reach.near && (!few || reach.low + reach.high <= sent)) part.plan.clear();
    good = (reach.near || few) && !forms_[piece.source].empty() &&
           cost_to(piece.source, part.split) == 0;
    parts.push_back(std::move(part));
  }
  if (!good) {
    for (ValueId operand : from_.operands(op))
      if (const OpId maker = from_.value(operand).op;
          maker != kNone && is_piece(maker) && forms_[operand].empty())
        HEDDLE_TRY_VOID(write_chosen(maker));
    current_ = id;
    return false;
  }
  ValueId result = kNone;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const ValueId local = get(pieces[i].source, parts[i].split);
    if (!parts[i].plan.empty()) {
      result = delivered(local, pieces[i], parts[i].window, parts[i].plan, result);
      continue;
    }
    const ValueId part = fetch(local, parts[i].window);
    result = result == kNone ? part : placed(part, parts[i].window, pieces[i].to, result);
  }
  define(v, resting(v), result);
  return true;
}

// Which elements of an operand a piece of the joined dimension may take.
Partitioner::Window Partitioner::joined_window(const Op& op, const AxisList& axes,
                                               std::size_t operand) const {
  const auto dim = static_cast<std::size_t>(joined_factor(from_, op));
  const std::int64_t size = type_of(from_.result(op, 0)).shape[dim];
  const std::int64_t block = (size + total(axes) - 1) / total(axes);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < operand; ++i) before += type_of(from_.operands(op)[i]).shape[dim];
  return {dim, axes, type_of(from_.operands(op)[operand]).shape[dim], -before, block, block, kNone};
}

// Each device takes from every operand what would lie in its piece, and keeps what does.
Verdict Partitioner::write_concatenate(const Op& op, const Choice& choice,
                                       std::vector<ValueId> operands) {
  const auto dim = static_cast<std::size_t>(joined_factor(from_, op));
  const AxisList& axes = choice.axes[dim];
  ValueId result = kNone;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Window window = joined_window(op, axes, i);
    if (window.size == 0) continue;
    const ValueId begin =
        w_.add(w_.multiply(w_.position(axes), window.step), w_.number(window.begin));
    ValueId part = operands[i];
    if (splits_[choice.operands[i]].dims[dim].whole()) {
      // Room for pieces that begin before the operand, reach beyond it, or miss it.
      const ValueId room =
          w_.pad(part, dim, window.count, window.count, w_.zero(w_.type(part).dtype));
      const Type scalar = Type::tensor(DType::i64, {});
      const ValueId held = w_.op("stablehlo.clamp",
                                 {w_.number(-window.count), begin, w_.number(window.size)}, scalar);
      part = w_.dynamic_slice(room, dim, w_.add(held, w_.number(window.count)), window.count);
    } else {
      part = fetch(part, window);
    }
    if (result == kNone) {
      result = part;
      continue;
    }
    result = placed(part, window, -window.begin, result);
  }
  define(from_.result(op, 0), choice.results[0], result);
  return yes();
}

}  // namespace heddle
