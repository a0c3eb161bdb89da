// Index rules of ops that move elements to or from places that are data.
#include <algorithm>

#include "ir/attr_access.h"
#include "ir/rules/index_dims.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

// A slice of `size` elements that starts anywhere in a dimension: the element within the slice,
// where the result has it, and the start. Starts are split as a table is: each piece has those
// slices that start in it.
struct Slice {
  int element = -1, start = -1;
};
Slice add_slice(RuleBuilder& rule, std::int64_t extent, std::int64_t size, bool starts_anywhere,
                bool in_result, bool splits = true) {
  Slice slice;
  if (in_result) slice.element = splits ? rule.parallel(size) : rule.whole(size);
  const std::int64_t starts = extent - size + 1;
  if (starts_anywhere)
    slice.start = !splits     ? rule.whole(starts)
                  : size <= 1 ? rule.reduce(starts)
                              : rule.window(starts);
  return slice;
}
DimRule in_table(const Slice& slice) {
  DimRule rule;
  rule.slides = true;
  if (slice.start >= 0) rule.terms.push_back({slice.start});
  if (slice.element >= 0) rule.terms.push_back({slice.element});
  return rule;
}

// Where starts are split: those that lie elsewhere read zeros, which follow the piece.
void limit_starts(PieceEdit& edit, const DimRule& table, DimPiece& piece, std::int64_t starts,
                  IndexShift shift) {
  const int factor = table.terms[0].factor;
  const std::int64_t size = table.terms.size() == 1 ? 1 : edit.size(table.terms[1].factor);
  const FactorRange& range = edit.range(factor);
  shift.clamps = true;
  shift.high = starts - 1;
  shift.begin = range.begin;
  shift.factor = factor;
  shift.size = range.size;
  shift.elsewhere = piece.size();
  piece.high_margin = size;
  edit.piece.shifts.push_back(shift);
}
bool is_split(const PieceEdit& edit, int factor) {
  return edit.range(factor) != FactorRange{0, edit.rule.factors[at(factor)].size};
}

}  // namespace

IndexRule dynamic_slice_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape &from = operand_type(program, op, 0).shape, &to = result_type(program, op).shape;
  for (std::size_t d = 0; d < to.size(); ++d) {
    const Slice slice = add_slice(rule, from[d], to[d], true, true);
    rule.operand(0, d, in_table(slice));
    rule.result(0, d, slice.element);
    if (from[d] == to[d]) rule.independent(0, d + 1);
  }
  rule.operand(0).outside = Outside::zero;
  rule.combine(ReduceOp::sum);
  return rule.done();
}

void edit_dynamic_slice_piece(PieceEdit& edit) {
  Attr::Integers sizes;
  for (std::size_t d = 0; d < edit.piece.results[0].dims.size(); ++d) {
    const DimRule& table = edit.rule.operands[0].dims[d];
    sizes.push_back(edit.piece.results[0].dims[d].size());
    IndexShift shift;  // all starts get one type
    shift.operand = static_cast<int>(d) + 1;
    if (is_split(edit, table.terms[0].factor))
      limit_starts(edit, table, edit.piece.operands[0].dims[d],
                   edit.rule.factors[at(table.terms[0].factor)].size, shift);
    else
      edit.piece.shifts.push_back(shift);
  }
  edit.set("slice_sizes", Attr{sizes});
}

// An element of the result comes from the update or the operand. Where the update is larger than
// half of every dimension, some elements come from it wherever it starts; the rule does not say so.
IndexRule dynamic_update_slice_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Type &operand = operand_type(program, op, 0), &update = operand_type(program, op, 1);
  for (std::size_t d = 0; d < operand.rank(); ++d) {
    const std::int64_t starts = operand.shape[d] - update.shape[d] + 1;
    const int element = rule.parallel(operand.shape[d]), start = rule.whole(starts);
    rule.operand(0, d, element);
    rule.operand(1, d, DimRule{{{element}, {start, -1}}, 0, 1, true});
    rule.result(0, d, element);
    if (starts == 1 || update.elements() == 0) rule.independent(0, d + 2);
  }
  if (operand.shape == update.shape) rule.independent(0, 0);
  return rule.done();
}

// The update may reach in from outside: there is room for it on both sides of the piece.
void edit_dynamic_update_slice_piece(PieceEdit& edit) {
  const Shape& whole = operand_type(edit.program, edit.op, 0).shape;
  const Shape& update = operand_type(edit.program, edit.op, 1).shape;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    const FactorRange& range = edit.range(static_cast<int>(2 * d));
    edit.piece.operands[1].dims[d] = {0, {{update[d], 1, update[d]}}, 0, 0};
    IndexShift shift;
    shift.operand = static_cast<int>(d) + 2;
    if (update[d] == whole[d]) {  // it starts at 0 whatever the index says, so that parts meet
      edit.piece.operands[1].dims[d] = edit.piece.operands[0].dims[d];
      shift.clamps = true;
    } else if (is_split(edit, static_cast<int>(2 * d))) {
      for (DimPiece* piece : {&edit.piece.operands[0].dims[d], &edit.piece.results[0].dims[d]})
        piece->low_margin = piece->high_margin = update[d];
      shift.clamps = true;
      shift.high = whole[d] - update[d];
      shift.begin = range.begin - update[d];
      shift.factor = static_cast<int>(2 * d);
      shift.size = range.size + update[d] + 1;
    }
    edit.piece.shifts.push_back(shift);
  }
}

namespace {

// Which component of an index vector is for a dimension of the operand.
std::optional<std::int64_t> component_for(const IndexDims& dims, std::size_t operand_dim) {
  for (std::size_t c = 0; c < dims.map.size(); ++c)
    if (at(dims.map[c]) == operand_dim) return static_cast<std::int64_t>(c);
  return std::nullopt;
}
bool has(const Index& list, std::size_t dim) {
  return std::count(list.begin(), list.end(), static_cast<std::int64_t>(dim)) != 0;
}

// Dimensions of the indices but for the vectors, with the dimension of the result (of the updates)
// that goes along with each.
std::vector<std::pair<std::size_t, std::size_t>> batch_pairs(const IndexDims& dims,
                                                             std::size_t indices,
                                                             std::size_t outside) {
  const std::vector<std::size_t> other = axes_except(outside, dims.window);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t d = 0; d < indices; ++d)
    if (d != at(dims.vector)) pairs.emplace_back(d, other[pairs.size()]);
  return pairs;
}

// The components that make a difference, where they are evenly apart; all of them otherwise.
DimRule live_components(RuleBuilder& rule, const std::vector<std::int64_t>& live,
                        std::int64_t all) {
  const std::int64_t step = live.size() > 1 ? live[1] - live[0] : 1;
  for (std::size_t i = 1; i < live.size(); ++i)
    if (live[i] - live[i - 1] != step) return just(rule.whole(all));
  return {{{rule.whole(static_cast<std::int64_t>(live.size())), step}}, live[0], 1};
}

IndexRule gather_rule(const Program& program, const Op& op, const Index& sizes, bool splits) {
  RuleBuilder rule(program, op);
  const IndexDims dims = gather_dims(program, op).value();
  const Shape& table = operand_type(program, op, 0).shape;
  const Shape& indices = operand_type(program, op, 1).shape;
  const std::vector<std::size_t> windows = window_axes(dims, table.size());
  std::vector<std::int64_t> live;
  for (std::size_t d = 0; d < table.size(); ++d) {
    const auto component = component_for(dims, d);
    if (component && table[d] > sizes[d]) live.push_back(*component);
    if (has(dims.batching, d)) continue;
    const auto window = std::find(windows.begin(), windows.end(), d);
    const Slice slice =
        add_slice(rule, table[d], sizes[d], component.has_value(), window != windows.end(), splits);
    rule.operand(0, d, in_table(slice));
    if (window != windows.end())
      rule.result(0, at(dims.window[static_cast<std::size_t>(window - windows.begin())]),
                  slice.element);
  }
  for (const auto& [index_dim, result_dim] :
       batch_pairs(dims, indices.size(), result_type(program, op).rank())) {
    const int factor = splits ? rule.parallel(indices[index_dim]) : rule.whole(indices[index_dim]);
    rule.operand(1, index_dim, factor);
    rule.result(0, result_dim, factor);
    for (std::size_t i = 0; i < dims.batching.size(); ++i)
      if (at(dims.indices_batching[i]) == index_dim) rule.operand(0, at(dims.batching[i]), factor);
  }
  std::sort(live.begin(), live.end());
  if (live.empty())
    rule.independent(0, 1);
  else if (at(dims.vector) < indices.size())
    rule.operand(1, at(dims.vector), live_components(rule, live, indices[at(dims.vector)]));
  rule.operand(0).outside = Outside::zero;
  rule.combine(ReduceOp::sum);
  return rule.done();
}

// How a component of the indices is shifted; without a vector dimension there is one component.
IndexShift shift_of(const IndexDims& dims, int operand, std::size_t rank, std::int64_t component) {
  IndexShift shift;
  shift.operand = operand;
  shift.dim = at(dims.vector) < rank ? static_cast<int>(dims.vector) : -1;
  shift.component = component;
  return shift;
}

}  // namespace

IndexRule gather_index_rule(const Program& program, const Op& op) {
  return gather_rule(program, op, integers_or(program.attr(op, "slice_sizes")), true);
}

// The slice sizes are data, but for those that the result's shape says.
IndexRule dynamic_gather_index_rule(const Program& program, const Op& op) {
  const IndexDims dims = gather_dims(program, op).value();
  const std::size_t rank = operand_type(program, op, 0).rank();
  Index sizes(rank, 1);
  const std::vector<std::size_t> windows = window_axes(dims, rank);
  for (std::size_t i = 0; i < windows.size(); ++i)
    sizes[windows[i]] = result_type(program, op).shape[at(dims.window[i])];
  return gather_rule(program, op, sizes, false);
}

void edit_gather_piece(PieceEdit& edit) {
  const IndexDims dims = gather_dims(edit.program, edit.op).value();
  Attr::Integers sizes = integers_or(edit.program.attr(edit.op, "slice_sizes"));
  const std::size_t rank = operand_type(edit.program, edit.op, 1).rank();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (has(dims.batching, d)) continue;
    const DimRule& table = edit.rule.operands[0].dims[d];
    if (!has(dims.collapsed, d)) sizes[d] = edit.size(table.terms.back().factor);
    const auto component = component_for(dims, d);
    if (!component || !is_split(edit, table.terms[0].factor)) continue;
    limit_starts(edit, table, edit.piece.operands[0].dims[d],
                 edit.rule.factors[at(table.terms[0].factor)].size,
                 shift_of(dims, 1, rank, *component));
  }
  edit.set("slice_sizes", Attr{sizes});
}

IndexRule torch_index_select_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape &table = operand_type(program, op, 0).shape,
              &index = operand_type(program, op, 1).shape;
  const std::size_t dim = at(integer_or(program.attr(op, "dim"), 0));
  const std::size_t batch = at(integer_or(program.attr(op, "batch_dims"), 0));
  const Slice slice = add_slice(rule, table[dim], 1, true, false);
  rule.operand(0, dim, in_table(slice));
  for (std::size_t d = 0; d < table.size(); ++d) {
    if (d == dim) continue;
    const int factor = rule.parallel(table[d]);
    rule.operand(0, d, factor);
    rule.result(0, d < dim ? d : d - 1 + index.size() - batch, factor);
    if (d < batch) rule.operand(1, d, factor);
  }
  for (std::size_t d = batch; d < index.size(); ++d) {
    const int factor = rule.parallel(index[d]);
    rule.operand(1, d, factor);
    rule.result(0, dim + d - batch, factor);
  }
  if (table[dim] <= 1) rule.independent(0, 1);
  rule.operand(0).outside = Outside::zero;
  rule.combine(ReduceOp::sum);
  return rule.done();
}

void edit_torch_index_select_piece(PieceEdit& edit) {
  const std::size_t dim = at(integer_or(edit.program.attr(edit.op, "dim"), 0));
  const DimRule& table = edit.rule.operands[0].dims[dim];
  if (!is_split(edit, table.terms[0].factor)) return;
  IndexShift shift;
  shift.operand = 1;
  limit_starts(edit, table, edit.piece.operands[0].dims[dim],
               edit.rule.factors[at(table.terms[0].factor)].size, shift);
}

// Every update may go anywhere along the dimensions that indices are for. Updates are split only
// where the order in which they come does not matter.
IndexRule scatter_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const IndexDims dims = scatter_dims(program, op).value();
  const std::size_t n = op.result_count;
  const Shape& input = operand_type(program, op, 0).shape;
  const Shape& indices = operand_type(program, op, n).shape;
  const Shape& updates = operand_type(program, op, n + 1).shape;
  const auto combines = known_reduction(program, program.regions(op)[0]);
  std::vector<int> elements;
  for (std::size_t d = 0; d < input.size(); ++d) elements.push_back(rule.parallel(input[d]));
  for (std::size_t d = 0; d < input.size(); ++d)
    for (std::size_t i = 0; i < n; ++i) {
      rule.operand(i, d, elements[d]);
      rule.result(i, d, elements[d]);
    }
  const std::vector<std::size_t> windows = window_axes(dims, input.size());
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const bool anywhere = component_for(dims, windows[w]).has_value();
    const int factor = anywhere ? rule.whole(updates[at(dims.window[w])]) : elements[windows[w]];
    for (std::size_t i = 0; i < n; ++i) rule.operand(n + 1 + i, at(dims.window[w]), factor);
  }
  for (const auto& [index_dim, update_dim] : batch_pairs(dims, indices.size(), updates.size())) {
    int factor = -1;
    for (std::size_t i = 0; i < dims.batching.size(); ++i)
      if (at(dims.indices_batching[i]) == index_dim) factor = elements[at(dims.batching[i])];
    if (factor < 0)
      factor = combines ? rule.reduce(indices[index_dim]) : rule.whole(indices[index_dim]);
    rule.operand(n, index_dim, factor);
    for (std::size_t i = 0; i < n; ++i) rule.operand(n + 1 + i, update_dim, factor);
  }
  for (std::size_t i = 0; i < n; ++i) {
    rule.operand(i).starts_results = true;
    rule.operand(n + 1 + i).outside = Outside::left_out;
  }
  rule.operand(n).when = When::inside;
  rule.operand(n).other = static_cast<int>(n) + 1;
  rule.combine(combines);
  return rule.done();
}

// Updates outside of the inputs are dropped, so that a piece takes its own; those that reach in
// from outside need room.
void edit_scatter_piece(PieceEdit& edit) {
  const IndexDims dims = scatter_dims(edit.program, edit.op).value();
  const std::size_t n = edit.op.result_count;
  const Shape& input = operand_type(edit.program, edit.op, 0).shape;
  const Shape& updates = operand_type(edit.program, edit.op, n + 1).shape;
  const std::vector<std::size_t> windows = window_axes(dims, input.size());
  for (std::size_t d = 0; d < input.size(); ++d) {
    const auto component = component_for(dims, d);
    if (!component || !is_split(edit, static_cast<int>(d))) continue;
    std::int64_t room = 0;
    const auto window = std::find(windows.begin(), windows.end(), d);
    if (window != windows.end())
      room = updates[at(dims.window[static_cast<std::size_t>(window - windows.begin())])];
    for (std::size_t i = 0; i < n; ++i)
      for (DimPiece* piece : {&edit.piece.operands[i].dims[d], &edit.piece.results[i].dims[d]})
        piece->low_margin = piece->high_margin = room;
    IndexShift shift = shift_of(dims, static_cast<int>(n),
                                operand_type(edit.program, edit.op, n).rank(), *component);
    shift.begin = edit.begin(static_cast<int>(d)) - room;
    shift.factor = static_cast<int>(d);
    edit.piece.shifts.push_back(shift);
  }
}

// Lines are sorted as a whole. What the comparison does not look at has no say in the others.
IndexRule sort_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& shape = operand_type(program, op, 0).shape;
  std::int64_t sorted = integer_or(program.attr(op, "dimension"), -1);
  if (sorted < 0) sorted += static_cast<std::int64_t>(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool whole = d == at(sorted);
    const int from = whole ? rule.whole(shape[d]) : rule.parallel(shape[d]);
    const int to = whole ? rule.whole(shape[d]) : from;
    for (std::size_t i = 0; i < op.operand_count; ++i) {
      rule.operand(i, d, from);
      rule.result(i, d, to);
    }
  }
  const Region& comparison = program.region(program.regions(op)[0]);
  std::vector<bool> looks_at(op.operand_count);
  for (OpId id : comparison.ops)
    for (ValueId v : program.operands(program.op(id)))
      for (std::size_t a = 0; a < comparison.args.size(); ++a)
        if (comparison.args[a] == v) looks_at[a / 2] = true;
  for (std::size_t i = 0; i < op.result_count; ++i)
    for (std::size_t k = 0; k < op.operand_count; ++k)
      if (i != k && (!looks_at[k] || shape[at(sorted)] <= 1)) rule.independent(i, k);
  return rule.done();
}

}  // namespace heddle
