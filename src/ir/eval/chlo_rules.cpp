#include <algorithm>

#include "ir/attr_access.h"
#include "ir/eval/chlo.h"
#include "ir/eval/elementwise_rules.h"
#include "ir/shape_rules.h"

namespace heddle::chlo {

namespace {

using Integers = std::vector<std::int64_t>;

Shape without(Shape shape, std::int64_t dimension) {
  shape.erase(shape.begin() + dimension);
  return shape;
}

// Sizes of the given dimensions, which are within the rank.
Shape picked(const Shape& shape, const Integers& dims) {
  Shape sizes;
  for (std::int64_t d : dims) sizes.push_back(shape[static_cast<std::size_t>(d)]);
  return sizes;
}

Shape others(const Shape& shape, const Integers& a, const Integers& b, const Integers& c = {}) {
  Shape sizes;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d)
    if (std::ranges::find(a, d) == a.end() && std::ranges::find(b, d) == b.end() &&
        std::ranges::find(c, d) == c.end())
      sizes.push_back(shape[static_cast<std::size_t>(d)]);
  return sizes;
}

void append(Shape& shape, const Shape& more) {
  shape.insert(shape.end(), more.begin(), more.end());
}

}  // namespace

Expected<ResultTypes> infinity_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kFloat));
  return typed(Type::tensor(DType::i1, operand_type(program, op, 0).shape), "");
}

// ---- broadcast_*

Expected<Integers> broadcast_dims(const Program& program, const Op& op, std::size_t operand) {
  const std::size_t rank = operand_type(program, op, operand).rank();
  const std::size_t whole =
      std::max(operand_type(program, op, 0).rank(), operand_type(program, op, 1).rank());
  Integers dims(rank);
  for (std::size_t d = 0; d < rank; ++d) dims[d] = static_cast<std::int64_t>(whole - rank + d);
  if (rank == whole || !program.attr(op, "broadcast_dimensions")) return dims;
  // The attribute is about the operand of the smaller rank.
  HEDDLE_TRY(dims, (OpAttrs{program, op}.integers("broadcast_dimensions")));
  HEDDLE_TRY_VOID(check_count(op, "", "broadcast_dimensions", dims.size(), rank));
  HEDDLE_TRY_VOID(check_axes(op, "", "broadcast_dimensions", dims, whole));
  HEDDLE_TRY_VOID(check_unique(op, "", "broadcast_dimensions", dims));
  return dims;
}

// Sizes of one are repeated to those of the other operand.
Expected<ResultTypes> broadcast_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kAnything));
  const Type &lhs = operand_type(program, op, 0), &rhs = operand_type(program, op, 1);
  HEDDLE_TRY_VOID(check_same_dtype(op, "", lhs, rhs));
  Shape largest(std::max(lhs.rank(), rhs.rank()), 1);
  for (std::size_t i : {0, 1}) {
    const Type& type = operand_type(program, op, i);
    HEDDLE_TRY(auto dims, broadcast_dims(program, op, i));
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const auto to = static_cast<std::size_t>(dims[d]);
      if (type.shape[d] == 1 || type.shape[d] == largest[to]) continue;
      if (largest[to] != 1)
        return reason("{} operands are {} and {}: dimension {} cannot be repeated to {}",
                      bracketed(op), lhs.str(), rhs.str(), d, largest[to]);
      largest[to] = type.shape[d];
    }
  }
  return typed(Type::tensor(lhs.dtype, std::move(largest)), "", "");
}

// ---- top_k

Expected<ResultTypes> top_k_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kTruth | kInteger | kFloat));
  const Type& operand = operand_type(program, op, 0);
  if (operand.rank() == 0) return reason("[top_k] the operand is a scalar: {}", operand.str());
  HEDDLE_TRY(auto k, (OpAttrs{program, op}.integer("k")));
  if (k < 0 || k > operand.shape.back())
    return reason("[top_k] k is {}, but the last dimension of {} has {} elements", k, operand.str(),
                  operand.shape.back());
  Shape kept = operand.shape;
  kept.back() = k;
  const DType index = results_given(op) ? result_type(program, op, 1).dtype : DType::i32;
  if (!is_integer(index))
    return reason("[top_k] the indices are {}, but must be integers",
                  result_type(program, op, 1).str());
  ResultTypes types = typed(Type::tensor(operand.dtype, kept), "values");
  types.add(typed(Type::tensor(index, kept), "indices"));
  return types;
}

// ---- ragged_dot

Expected<RaggedDims> ragged_dims(const Program& program, const Op& op) {
  constexpr std::string_view kName = "ragged_dot_dimension_numbers";
  const OpAttrs attrs{program, op};
  RaggedDims dims;
  HEDDLE_TRY(dims.lhs_batch, attrs.field_integers(kName, "lhs_batching_dimensions"));
  HEDDLE_TRY(dims.rhs_batch, attrs.field_integers(kName, "rhs_batching_dimensions"));
  HEDDLE_TRY(dims.lhs_sum, attrs.field_integers(kName, "lhs_contracting_dimensions"));
  HEDDLE_TRY(dims.rhs_sum, attrs.field_integers(kName, "rhs_contracting_dimensions"));
  HEDDLE_TRY(dims.lhs_ragged, attrs.field_integers(kName, "lhs_ragged_dimensions"));
  HEDDLE_TRY(dims.rhs_group, attrs.field_integers(kName, "rhs_group_dimensions"));
  return dims;
}

namespace {

Verdict ragged_dims_rule(const Op& op, const Type& lhs, const Type& rhs, const RaggedDims& dims) {
  Integers of_lhs = dims.lhs_batch, of_rhs = dims.rhs_batch;
  append(of_lhs, dims.lhs_sum);
  append(of_rhs, dims.rhs_sum);
  append(of_rhs, dims.rhs_group);
  HEDDLE_TRY_VOID(check_axes(op, "", "dimensions of the left operand", of_lhs, lhs.rank()));
  HEDDLE_TRY_VOID(check_axes(op, "", "dimensions of the right operand", of_rhs, rhs.rank()));
  HEDDLE_TRY_VOID(check_axes(op, "", "lhs_ragged_dimensions", dims.lhs_ragged, lhs.rank()));
  HEDDLE_TRY_VOID(check_unique(op, "", "dimensions of the left operand", of_lhs));
  HEDDLE_TRY_VOID(check_unique(op, "", "dimensions of the right operand", of_rhs));
  if (dims.lhs_ragged.size() != 1)
    return broken(op, "", "lhs_ragged_dimensions is {}, expected one", list_text(dims.lhs_ragged));
  for (auto [left, right, what] : {std::tuple(&dims.lhs_batch, &dims.rhs_batch, "batching"),
                                   std::tuple(&dims.lhs_sum, &dims.rhs_sum, "contracting")})
    if (picked(lhs.shape, *left) != picked(rhs.shape, *right))
      return broken(op, "", "{} dimensions {} of {} and {} of {} have different sizes", what,
                    list_text(*left), lhs.str(), list_text(*right), rhs.str());
  return yes();
}

}  // namespace

Expected<ResultTypes> ragged_dot_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type &lhs = operand_type(program, op, 0), &rhs = operand_type(program, op, 1);
  const Type& groups = operand_type(program, op, 2);
  const DType dtype = results_given(op) ? result_type(program, op).dtype : lhs.dtype;
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kNumber));
  HEDDLE_TRY_VOID(check_same_dtype(op, "", lhs, rhs));
  HEDDLE_TRY_VOID(require_kind(program, op, 2, kInteger));
  if (is_complex(lhs.dtype) != is_complex(dtype))
    return reason("[ragged_dot] the operands are {}, but the result is {}", lhs.str(),
                  result_type(program, op).str());
  HEDDLE_TRY(auto dims, ragged_dims(program, op));
  HEDDLE_TRY_VOID(ragged_dims_rule(op, lhs, rhs, dims));
  const std::int64_t ragged = dims.lhs_ragged[0];
  const bool in_batch = std::ranges::find(dims.lhs_batch, ragged) != dims.lhs_batch.end();
  const bool in_sum = std::ranges::find(dims.lhs_sum, ragged) != dims.lhs_sum.end();
  // Only where rows of the left operand are ragged does the right operand have one part per group.
  const std::size_t group_dims = in_batch || in_sum ? 0 : 1;
  HEDDLE_TRY_VOID(check_count(op, "", "rhs_group_dimensions", dims.rhs_group.size(), group_dims));
  if (groups.rank() == 0) return reason("[ragged_dot] group_sizes is a scalar");
  if (group_dims == 1 && picked(rhs.shape, dims.rhs_group)[0] != groups.shape.back())
    return reason("[ragged_dot] group_sizes {} and the group dimension {} of {} differ",
                  groups.str(), dims.rhs_group[0], rhs.str());
  Shape expected;
  if (in_sum) expected.push_back(groups.shape.back());
  append(expected, picked(lhs.shape, dims.lhs_batch));
  append(expected, others(lhs.shape, dims.lhs_batch, dims.lhs_sum));
  append(expected, others(rhs.shape, dims.rhs_batch, dims.rhs_sum, dims.rhs_group));
  return typed(Type::tensor(dtype, std::move(expected)), "", "");
}

// ---- scan

Expected<ScanParts> scan_parts(const Program& program, const Op& op) {
  const OpAttrs attrs{program, op};
  ScanParts parts;
  const Region& body = program.region(program.regions(op)[0]);
  if (body.args.size() != op.operand_count)
    return reason("[scan] the region takes {} values, but there are {} operands", body.args.size(),
                  op.operand_count);
  HEDDLE_TRY(parts.dimension, attrs.integer("dimension"));
  HEDDLE_TRY(parts.reverse, attrs.flag_or("is_reverse", false));
  HEDDLE_TRY(auto sizes, attrs.integers_or("operandSegmentSizes", {}));
  if (sizes.empty()) {
    // Inputs come first, and the region sees them without the scanned dimension.
    while (parts.inputs < body.args.size() &&
           operand_type(program, op, parts.inputs).rank() ==
               program.type_of(body.args[parts.inputs]).rank() + 1)
      ++parts.inputs;
  } else if (sizes.size() == 2 && sizes[0] >= 0 &&
             sizes[0] <= static_cast<std::int64_t>(op.operand_count)) {
    parts.inputs = static_cast<std::size_t>(sizes[0]);
  } else {
    return reason("[scan] operandSegmentSizes is {} for {} operands", list_text(sizes),
                  op.operand_count);
  }
  parts.carries = op.operand_count - parts.inputs;
  if (parts.inputs == 0) return reason("[scan] there is no input to scan");
  if (parts.carries > op.result_count)
    return reason("[scan] {} carries, but {} results", parts.carries, op.result_count);
  parts.outputs = op.result_count - parts.carries;
  return parts;
}

Expected<ResultTypes> scan_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  // How many outputs there are, and where the scanned dimension lies in them, only they say.
  HEDDLE_TRY(ResultTypes given, given_results(program, op));
  HEDDLE_TRY(auto parts, scan_parts(program, op));
  std::vector<Type> takes, returns;
  ResultTypes types;
  const auto dimension = static_cast<std::size_t>(parts.dimension);
  const Type& first = operand_type(program, op, 0);
  auto slice_of = [&](const Type& type, std::string_view what) -> Expected<Type> {
    if (parts.dimension < 0 || dimension >= type.rank())
      return reason("[scan] dimension {} does not exist in {} {}", parts.dimension, what,
                    type.str());
    if (type.shape[dimension] != first.shape[dimension])
      return reason("[scan] dimension {} of {} {} has another size than that of {}",
                    parts.dimension, what, type.str(), first.str());
    return Type::tensor(type.dtype, without(type.shape, parts.dimension));
  };
  for (std::size_t i = 0; i < parts.inputs; ++i) {
    HEDDLE_TRY(auto slice, slice_of(operand_type(program, op, i), "input"));
    takes.push_back(slice);
  }
  for (std::size_t i = 0; i < parts.outputs; ++i) {
    HEDDLE_TRY(auto slice, slice_of(result_type(program, op, i), "result"));
    returns.push_back(slice);
    types.add(given[i]);
  }
  for (std::size_t i = 0; i < parts.carries; ++i) {
    const Type& carry = operand_type(program, op, parts.inputs + i);
    takes.push_back(carry);
    returns.push_back(carry);
    types.add(like_operand(program, op, parts.inputs + i, "carry"));
  }
  HEDDLE_TRY_VOID(check_region(program, op, 0, "", takes, returns));
  return types;
}

}  // namespace heddle::chlo
