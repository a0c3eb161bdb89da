// The op that one device runs on its parts.
#include <algorithm>

#include "ir/clone.h"
#include "ir/scan.h"
#include "spmd/partitioner.h"

namespace heddle {

namespace {

bool is_split(const DimRule& dim, const FactorAxes& axes) {
  return std::ranges::any_of(dim.terms, [&](const IndexTerm& t) {
    return !axes[static_cast<std::size_t>(t.factor)].empty();
  });
}

AxisList reduced_axes(const IndexRule& rule, const FactorAxes& axes) {
  AxisList all;
  for (std::size_t f = 0; f < axes.size(); ++f)
    if (rule.factors[f].kind == FactorKind::reduce)
      all.insert(all.end(), axes[f].begin(), axes[f].end());
  return all;
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

Verdict Partitioner::write_local(OpId id, const IndexRule& rule, const Choice& choice) {
  const Op& op = from_.op(id);
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    operands.push_back(get(from_.operands(op)[i], choice.operands[i]));
  if (choice.rows >= 0) return write_rows(op, choice, operands[0]);
  if (choice.line) return write_line(op, rule, choice, std::move(operands));
  neutralise(op, rule, choice, operands);
  if (const int f = joined_factor(from_, op);
      f >= 0 && !choice.axes[static_cast<std::size_t>(f)].empty())
    return write_concatenate(op, choice, std::move(operands));
  bool plain = op.def->edit_piece == nullptr;
  for (std::size_t i = 0; i < op.operand_count && plain; ++i)
    for (std::size_t d = 0; d < rule.operands[i].dims.size(); ++d) {
      const DimRule& dim = rule.operands[i].dims[d];
      if (is_split(dim, choice.axes) &&
          !is_plain(dim, rule.factors, type_of(from_.operands(op)[i]).shape[d]))
        plain = false;
    }
  return plain ? write_plain(op, rule, choice, std::move(operands))
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
  const AxisList axes = reduced_axes(rule, choice.axes);
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
        if (rule.factors[f].kind != FactorKind::reduce || choice.axes[f].empty() ||
            rule.factors[f].size % total(choice.axes[f]) == 0)
          continue;
        const ValueId begin = w_.multiply(w_.position(choice.axes[f]),
                                          piece_size(rule, choice.axes, f) * term.stride);
        operands[i] = w_.masked(operands[i], d, begin, size, fill_value(op, rule, i, operands));
      }
    }
  }
}

Verdict Partitioner::write_plain(const Op& op, const IndexRule&, const Choice& choice,
                                 std::vector<ValueId> operands) {
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(
        out_.intern(local_type(type_of(from_.result(op, i)), splits_[choice.results[i]])));
  const std::vector<RegionId> regions = cloned_regions(op);
  const OpId made =
      out_.add_op(w_.at, *op.def, operands, types, copied_attrs(from_, op), regions, w_.loc);
  for (std::size_t i = 0; i < op.result_count; ++i)
    define(from_.result(op, i), choice.results[i], out_.result(out_.op(made), i));
  return yes();
}

// By the piece of the first device: others take their operands from further on.
Verdict Partitioner::write_piece(const Op& op, const IndexRule& rule, const Choice& choice,
                                 std::vector<ValueId> operands) {
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
    const Type here = w_.type(part), places = Type::tensor(DType::i64, {here.shape[dim]});
    const ValueId counted =
        w_.op("stablehlo.iota", {}, places, {{"iota_dimension", Attr{Attr::Integer{0, "i64"}}}});
    const ValueId inside =
        w_.compare(w_.add(counted, w_.over(begin, places)), w_.over(w_.number(0), places), "GE");
    const ValueId all =
        w_.op("stablehlo.broadcast_in_dim", {inside}, Type::tensor(DType::i1, here.shape),
              {{"broadcast_dimensions", integer_list({static_cast<std::int64_t>(dim)})}});
    result = w_.select(all, part, result);
  }
  define(from_.result(op, 0), choice.results[0], result);
  return yes();
}

}  // namespace heddle
