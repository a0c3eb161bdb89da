#include "heddle/strided_view.h"

#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle {

namespace {

using StrideList = std::vector<Stride>;

// The digits of all dimensions, dealt out to the dimensions of another shape of as many elements.
std::optional<StridedView> reshaped(const StridedView& from, const Shape& shape) {
  StrideList all;
  for (const StrideList& dim : from.dims) all.insert(all.end(), dim.begin(), dim.end());
  all = join_strides(all);
  StridedView to{from.value, from.offset, std::vector<StrideList>(shape.size())};
  for (std::size_t d = shape.size(); d-- > 0;) {
    for (std::int64_t left = shape[d]; left > 1;) {
      if (all.empty()) return {};
      Stride& digit = all.back();
      Stride part = digit;
      if (digit.size > left) {
        if (digit.size % left != 0) return {};
        part.size = left;
        digit = {digit.size / left, digit.step * left};
      } else {
        if (left % digit.size != 0) return {};
        all.pop_back();
      }
      to.dims[d].insert(to.dims[d].begin(), part);
      left /= part.size;
    }
  }
  return to;
}

StridedView transposed(const StridedView& from, const std::vector<std::int64_t>& order) {
  StridedView to{from.value, from.offset, {}};
  for (std::int64_t d : order) to.dims.push_back(from.dims[static_cast<std::size_t>(d)]);
  return to;
}

std::optional<StridedView> sliced(const Program& program, const Op& op, const StridedView& from) {
  const auto starts = integers_or(program.attr(op, "start_indices"));
  const auto steps = integers_or(program.attr(op, "strides"));
  const Shape& whole = program.type_of(program.operands(op)[0]).shape;
  const Shape& part = program.type_of(program.result(op, 0)).shape;
  if (starts.size() != whole.size() || steps.size() != whole.size()) return {};
  StridedView to = from;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (part[d] == whole[d]) continue;
    const StrideList digits = join_strides(from.dims[d]);
    if (digits.size() != 1) return {};
    to.offset += starts[d] * digits[0].step;
    to.dims[d] = {{part[d], digits[0].step * steps[d]}};
  }
  return to;
}

std::optional<StridedView> spread(const Program& program, const Op& op, const StridedView& from) {
  const auto places = integers_or(program.attr(op, "broadcast_dimensions"));
  const Shape& small = program.type_of(program.operands(op)[0]).shape;
  const Shape& shape = program.type_of(program.result(op, 0)).shape;
  if (places.size() != small.size()) return {};
  StridedView to{from.value, from.offset, {}};
  for (std::int64_t size : shape) to.dims.push_back({{size, 0}});
  for (std::size_t d = 0; d < small.size(); ++d) {
    const auto place = static_cast<std::size_t>(places[d]);
    if (small[d] == shape[place]) to.dims[place] = from.dims[d];
  }
  return to;
}

}  // namespace

std::vector<Stride> join_strides(const std::vector<Stride>& dims) {
  std::vector<Stride> out;
  for (const Stride& d : dims) {
    if (d.size == 1) continue;
    if (!out.empty() && out.back().step == d.size * d.step)
      out.back() = {out.back().size * d.size, d.step};
    else
      out.push_back(d);
  }
  return out;
}

StridedView dense_view(const Program& program, ValueId value) {
  const Shape& shape = program.type_of(value).shape;
  StridedView view{value, 0, std::vector<StrideList>(shape.size())};
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    view.dims[d] = {{shape[d], step}};
    step *= shape[d];
  }
  return view;
}

std::optional<StridedView> view_through(const Program& program, const Op& op,
                                        const StridedView& operand) {
  switch (op.def->rearranges) {
    case Rearrange::transpose:
      return transposed(operand, integers_or(program.attr(op, "permutation")));
    case Rearrange::reshape:
      return reshaped(operand, program.type_of(program.result(op, 0)).shape);
    case Rearrange::slice:
      return sliced(program, op, operand);
    case Rearrange::broadcast:
      return spread(program, op, operand);
    default:
      return {};
  }
}

bool is_view(const Program& program, const Op& op) {
  if (op.def->view == ViewKind::none) return false;
  if (op.def->view == ViewKind::always) return true;
  const Type& from = program.type_of(program.operands(op)[0]);
  const Type& to = program.type_of(program.result(op, 0));
  // Narrower elements take a whole byte each, so that their bits lie elsewhere.
  if (op.def->view == ViewKind::whole_bytes && (bits(from.dtype) < 8 || bits(to.dtype) < 8))
    return false;
  return from.bytes() == to.bytes();
}

std::optional<StridedView> view_back(const Program& program, const Op& op,
                                     const StridedView& result) {
  if (op.def->rearranges == Rearrange::reshape)
    return reshaped(result, program.type_of(program.operands(op)[0]).shape);
  if (op.def->rearranges != Rearrange::transpose) return {};
  const auto order = integers_or(program.attr(op, "permutation"));
  StridedView back{result.value, result.offset, std::vector<StrideList>(order.size())};
  for (std::size_t d = 0; d < order.size(); ++d)
    back.dims[static_cast<std::size_t>(order[d])] = result.dims[d];
  return back;
}

}  // namespace heddle
