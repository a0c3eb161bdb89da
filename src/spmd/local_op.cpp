// The op that one device runs on its parts.
#include <algorithm>

#include "ir/clone.h"
#include "ir/rules/scan.h"
#include "spmd/partitioner.h"

namespace heddle {

namespace {

bool is_split(const DimRule& dim, const FactorAxes& axes) {
  return std::ranges::any_of(dim.terms, [&](const IndexTerm& t) {
    return !axes[static_cast<std::size_t>(t.factor)].empty();
  });
}

std::int64_t piece_size(const IndexRule& rule, const FactorAxes& axes, std::size_t f) {
  const std::int64_t n = total(axes[f]);
  return (rule.factors[f].size + n - 1) / n;
}

// Indices never point beyond the end of a table.
bool is_lookup(const Op& op) {
  const std::string_view name = op.def->short_name();
  return name == "gather" || name == "dynamic_slice" || name == "torch_index_select";
}

}  // namespace

AxisList summed_axes(const IndexRule& rule, const FactorAxes& axes) {
  AxisList all;
  for (std::size_t f = 0; f < axes.size(); ++f)
    if (gives_partial(rule.factors[f].kind)) all.insert(all.end(), axes[f].begin(), axes[f].end());
  return all;
}

bool reduces_again(const Op& op) { return op.def->name == "stablehlo.reduce"; }

Verdict Partitioner::write_local(OpId id, const IndexRule& rule, const Choice& choice) {
  const Op& op = from_.op(id);
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    operands.push_back(get(from_.operands(op)[i], choice.operands[i]));
  if (choice.rows >= 0) return write_rows(op, choice, operands[0]);
  if (choice.line) return write_line(op, rule, choice, std::move(operands));
  neutralise(op, rule, choice, operands);
  if (op.def->name == "stablehlo.select_and_scatter")
    if (const std::vector<ScatterDim> dims = scatter_dims(op, rule, choice); !dims.empty())
      return write_window_scatter(op, rule, choice, dims, std::move(operands));
  if (const int f = joined_factor(from_, op);
      f >= 0 && !choice.axes[static_cast<std::size_t>(f)].empty())
    return write_concatenate(op, choice, std::move(operands));
  if (const AxisList axes = summed_axes(rule, choice.axes); !axes.empty() && !rule.combine.op)
    return write_reduced_again(op, choice, axes, operands);
  bool plain = op.def->edit_piece == nullptr;
  for (std::size_t i = 0; i < op.operand_count && plain; ++i)
    for (std::size_t d = 0; d < rule.operands[i].dims.size(); ++d) {
      const DimRule& dim = rule.operands[i].dims[d];
      if (is_split(dim, choice.axes) &&
          !is_plain(dim, rule.factors, type_of(from_.operands(op)[i]).shape[d]))
        plain = false;
    }
  return plain ? write_plain(op, choice, operands)
               : write_piece(op, rule, choice, std::move(operands));
}

// What stands for elements of an operand that are not there.
ValueId Partitioner::fill_value(const Op& op, const IndexRule& rule, std::size_t operand,
                                const std::vector<ValueId>& operands) {
  const OperandRule& part = rule.operands[operand];
  const DType dtype = type_of(from_.operands(op)[operand]).dtype;
  const Type scalar = Type::tensor(dtype, {});
  if (part.outside == Outside::zero) return w_.zero(dtype);
  if (part.outside == Outside::neutral && rule.combine.op)
    return w_.constant(neutral_array(*rule.combine.op, scalar));
  if ((part.outside == Outside::scalar || part.outside == Outside::neutral) && part.scalar >= 0) {
    const auto from = static_cast<std::size_t>(part.scalar);
    return operands[from];
  }
  return kNone;
}

// Where results are partial: only the first device starts from what it is given, and what lies
// beyond the end of a summed dimension must not count.
void Partitioner::neutralise(const Op& op, const IndexRule& rule, const Choice& choice,
                             std::vector<ValueId>& operands) {
  const AxisList axes = summed_axes(rule, choice.axes);
  if (axes.empty()) return;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const OperandRule& part = rule.operands[i];
    const Type type = w_.type(operands[i]);
    if (part.starts_results && rule.combine.op) {
      const Array neutral = neutral_array(*rule.combine.op, Type::tensor(type.dtype, {}));
      if (!is_neutral(from_, from_.operands(op)[i], *rule.combine.op))
        operands[i] = w_.select(w_.over(w_.is_first(axes), Type::tensor(DType::i1, type.shape)),
                                operands[i], w_.over(w_.constant(neutral), type));
      continue;
    }
    if ((part.outside != Outside::zero && part.outside != Outside::neutral) || is_lookup(op))
      continue;
    for (std::size_t d = 0; d < part.dims.size(); ++d) {
      const std::int64_t size = type_of(from_.operands(op)[i]).shape[d];
      if (!is_plain(part.dims[d], rule.factors, size)) continue;
      for (const IndexTerm& term : part.dims[d].terms) {
        const auto f = static_cast<std::size_t>(term.factor);
        if (!gives_partial(rule.factors[f].kind) || choice.axes[f].empty() ||
            rule.factors[f].size % total(choice.axes[f]) == 0)
          continue;
        const ValueId begin = w_.multiply(w_.position(choice.axes[f]),
                                          piece_size(rule, choice.axes, f) * term.stride);
        operands[i] = w_.masked(operands[i], d, begin, size, fill_value(op, rule, i, operands));
      }
    }
  }
}

OpId Partitioner::local_op(const Op& op, const Choice& choice,
                           const std::vector<ValueId>& operands) {
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(
        out_.intern(local_type(type_of(from_.result(op, i)), splits_[choice.results[i]])));
  const std::vector<RegionId> regions = cloned_regions(op);
  return out_.add_op(w_.at, *op.def, operands, types, copied_attrs(from_, op), regions, w_.loc);
}

Verdict Partitioner::write_plain(const Op& op, const Choice& choice,
                                 const std::vector<ValueId>& operands) {
  const OpId made = local_op(op, choice, operands);
  for (std::size_t i = 0; i < op.result_count; ++i)
    define(from_.result(op, i), choice.results[i], out_.result(out_.op(made), i));
  return yes();
}

// argmax and its kind: every device reduces its part, and all reduce what the others have.
Verdict Partitioner::write_reduced_again(const Op& op, const Choice& choice, const AxisList& axes,
                                         const std::vector<ValueId>& operands) {
  const OpId partial = local_op(op, choice, operands);
  std::vector<ValueId> again;
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId part = out_.result(out_.op(partial), i);
    const Type type = w_.type(part);
    types.push_back(out_.intern(type));
    Shape row = type.shape;
    row.insert(row.begin(), 1);
    again.push_back(w_.all_gather(w_.reshape(part, row), 0, axes));
    tell(MoveKind::all_gather, axes, type, type.bytes() * (total(axes) - 1),
         gather_seconds(static_cast<double>(type.bytes()), axes));
  }
  again.insert(again.end(), operands.begin() + op.result_count, operands.end());
  const OpId made = out_.add_op(w_.at, *op.def, again, types, {{"dimensions", integer_list({0})}},
                                cloned_regions(op), w_.loc);
  for (std::size_t i = 0; i < op.result_count; ++i)
    define(from_.result(op, i), choice.results[i], out_.result(out_.op(made), i));
  return yes();
}

// By the piece of the first device: others take their operands from further on.
Verdict Partitioner::write_piece(const Op& op, const IndexRule& given_rule, const Choice& choice,
                                 std::vector<ValueId> operands) {
  const IndexRule rule = with_whole_windows(given_rule, choice.axes);
  std::vector<FactorRange> ranges = all_ranges(rule);
  std::vector<ValueId> begins(ranges.size(), kNone);
  for (std::size_t f = 0; f < ranges.size(); ++f) {
    if (choice.axes[f].empty()) continue;
    ranges[f].size = piece_size(rule, choice.axes, f);
    begins[f] = w_.multiply(w_.position(choice.axes[f]), ranges[f].size);
  }
  HEDDLE_TRY(OpPiece piece, piece_of(from_, op, rule, ranges));
  const std::vector<ValueId> given = operands;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type& whole = type_of(from_.operands(op)[i]);
    for (std::size_t d = 0; d < piece.operands[i].dims.size(); ++d) {
      const DimPiece& part = piece.operands[i].dims[d];
      const DimRule& dim = rule.operands[i].dims[d];
      const Split& split = splits_[choice.operands[i]];
      const ValueId fill = fill_value(op, rule, i, given);
      const bool plain = is_plain(dim, rule.factors, whole.shape[d]);
      const bool dealt_out = !split.dims[d].whole();
      const DimPiece::Digit digit = part.digits.size() == 1 ? part.digits[0] : DimPiece::Digit{};
      const std::int64_t reach = digit.size == 0 ? 0 : (digit.size - 1) * digit.stride + 1;
      const bool all = part.start == 0 && (part.digits.size() != 1 ||
                                           (digit.stride == 1 && digit.size == whole.shape[d]));
      if (dealt_out && !plain) {
        const auto f = static_cast<std::size_t>(placing_factor(dim, rule.factors));
        Window window{d, choice.axes[f], whole.shape[d], part.start, 0, reach, fill};
        // All of it wherever the piece lies, or a window that moves along.
        std::vector<FactorRange> next = ranges;
        next[f].begin = next[f].size;
        HEDDLE_TRY(OpPiece second, piece_of(from_, op, rule, next));
        window.step = second.operands[i].dims[d].start - part.start;
        operands[i] = fetch(operands[i], window);
        operands[i] = w_.slice(operands[i], d, 0, digit.size, digit.stride);
      } else if (!dealt_out && !all) {
        const std::int64_t low = std::max<std::int64_t>(-part.start, 0);
        const std::int64_t high = std::max<std::int64_t>(part.start + reach - whole.shape[d], 0);
        operands[i] =
            w_.pad(operands[i], d, low, high, fill == kNone ? w_.zero(whole.dtype) : fill);
        operands[i] = w_.slice(operands[i], d, part.start + low, digit.size, digit.stride);
      }
      if (part.low_margin != 0 || part.high_margin != 0)
        operands[i] =
            w_.pad(operands[i], d, part.low_margin, part.high_margin, w_.zero(whole.dtype));
    }
  }
  for (ValueId v : captured_values(from_, op)) operands.push_back(get(v, whole_id(v)));
  HEDDLE_TRY(std::vector<ValueId> results,
             emit_piece(out_, w_.at, from_, op, rule, piece, operands, begins));
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Type wanted = local_type(type_of(from_.result(op, i)), splits_[choice.results[i]]);
    HEDDLE_CHECK(out_.type_of(results[i]) == wanted, "{}: a piece gives {} instead of {}",
                 op.def->name, out_.type_of(results[i]).str(), wanted.str());
    define(from_.result(op, i), choice.results[i], results[i]);
  }
  return yes();
}

// What this device has of a slice, and zeros elsewhere.
Verdict Partitioner::write_rows(const Op& op, const Choice& choice, ValueId operand) {
  const auto cut = static_cast<std::size_t>(choice.rows);
  const Type scalar = Type::tensor(DType::i64, {});
  const auto& starts = *from_.attr(op, "start_indices")->get<Attr::Integers>();
  const Attr* given = from_.attr(op, "strides");
  const Shape& wanted = type_of(from_.result(op, 0)).shape;
  const Attr::Integers strides = given != nullptr && given->get<Attr::Integers>() != nullptr
                                     ? *given->get<Attr::Integers>()
                                     : Attr::Integers(wanted.size(), 1);
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (d == cut || splits_[choice.operands[0]].dims[d].whole() == false) continue;
    operand = w_.slice(operand, d, starts[d], wanted[d], strides[d]);
  }
  const AxisList axes = splits_[choice.operands[0]].dims[cut].axes();
  const std::int64_t block = w_.type(operand).shape[cut];
  const std::int64_t reach = (wanted[cut] - 1) * strides[cut] + 1;
  const ValueId room = w_.pad(operand, cut, reach, reach, w_.zero(w_.type(operand).dtype));
  ValueId begin = w_.add(w_.multiply(w_.position(axes), -block), w_.number(starts[cut] + reach));
  begin = w_.op("stablehlo.clamp", {w_.number(0), begin, w_.number(block + reach)}, scalar);
  const ValueId window = w_.dynamic_slice(room, cut, begin, reach);
  define(from_.result(op, 0), choice.results[0],
         w_.slice(window, cut, 0, wanted[cut], strides[cut]));
  return yes();
}

}  // namespace heddle
