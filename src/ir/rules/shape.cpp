// Index rules of ops that put elements elsewhere.
#include <numeric>

#include "ir/attr_access.h"
#include "ir/eval/index_space.h"
#include "ir/rules/index_rules.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

// A part of a dimension: all values of a factor, or some digits of one.
struct Part {
  std::int64_t size = 1;
  int factor = 0;
  std::int64_t divide = 1, modulo = 0;
};

// Refines two lists of sizes with one product into factors that both are made of.
class Refinement {
 public:
  Refinement(RuleBuilder& rule, const Shape& a, const Shape& b, bool splits)
      : rule_(rule), splits_(splits) {
    sides_[0].left = a;
    sides_[1].left = b;
    for (Side& side : sides_) {
      side.major.resize(side.left.size());
      side.minor.resize(side.left.size());
    }
    groups();
  }

  DimRule dim(std::size_t side, std::size_t d) const {
    std::vector<Part> parts = sides_[side].major[d];
    const std::vector<Part>& minor = sides_[side].minor[d];
    parts.insert(parts.end(), minor.rbegin(), minor.rend());
    DimRule rule;
    std::int64_t stride = 1;
    for (std::size_t i = parts.size(); i-- > 0; stride *= parts[i].size)
      rule.terms.insert(rule.terms.begin(),
                        {parts[i].factor, stride, parts[i].divide, parts[i].modulo});
    return rule;
  }

 private:
  struct Side {
    Shape left;                            // what no factor has been found for yet
    std::vector<std::vector<Part>> major;  // found from the left, in order
    std::vector<std::vector<Part>> minor;  // found from the right, the last one first
  };

  // Runs of dimensions that hold as many elements on both sides are apart from the others.
  void groups() {
    std::size_t begin[2] = {0, 0};
    while (begin[0] < sides_[0].left.size() || begin[1] < sides_[1].left.size()) {
      std::size_t end[2] = {begin[0], begin[1]};
      std::int64_t count[2] = {1, 1};
      do {
        const std::size_t side = count[0] < count[1] || end[1] == sides_[1].left.size() ? 0 : 1;
        if (end[side] == sides_[side].left.size()) break;
        count[side] *= sides_[side].left[end[side]++];
      } while (count[0] != count[1]);
      group(begin, end);
      begin[0] = end[0];
      begin[1] = end[1];
    }
  }

  void group(const std::size_t begin[2], const std::size_t end[2]) {
    peel(begin, end, false);
    peel(begin, end, true);
    core(begin, end);
  }

  // The outermost dimension of a side with something left; its end where there is none.
  std::size_t outermost(const Side& side, std::size_t begin, std::size_t end, bool from_left) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t d = from_left ? i : end - 1 - (i - begin);
      if (side.left[d] > 1) return d;
    }
    return end;
  }

  // Takes common factors off one end for as long as there are some.
  void peel(const std::size_t begin[2], const std::size_t end[2], bool from_left) {
    while (true) {
      std::size_t d[2];
      for (std::size_t s = 0; s < 2; ++s) {
        d[s] = outermost(sides_[s], begin[s], end[s], from_left);
        if (d[s] == end[s]) return;
      }
      const std::int64_t size = std::gcd(sides_[0].left[d[0]], sides_[1].left[d[1]]);
      if (size == 1) return;
      const int factor = splits_ ? rule_.parallel(size) : rule_.whole(size);
      for (std::size_t s = 0; s < 2; ++s) {
        (from_left ? sides_[s].major : sides_[s].minor)[d[s]].push_back({size, factor});
        sides_[s].left[d[s]] /= size;
      }
    }
  }

  // What does not nest, such as 2x3 to 3x2, is one factor that cannot be split.
  void core(const std::size_t begin[2], const std::size_t end[2]) {
    std::int64_t count = 1;
    for (std::size_t d = begin[0]; d < end[0]; ++d) count *= sides_[0].left[d];
    if (count == 1) return;
    const int factor = rule_.whole(count);
    for (std::size_t s = 0; s < 2; ++s) {
      std::int64_t inner = count;
      for (std::size_t d = begin[s]; d < end[s]; ++d) {
        const std::int64_t size = sides_[s].left[d];
        inner /= size;
        if (size > 1) sides_[s].major[d].push_back({size, factor, inner, size});
      }
    }
  }

  RuleBuilder& rule_;
  bool splits_;
  Side sides_[2];
};

IndexRule refined_rule(const Program& program, const Op& op, bool splits) {
  RuleBuilder rule(program, op);
  const Shape &from = operand_type(program, op, 0).shape, &to = result_type(program, op).shape;
  if (operand_type(program, op, 0).elements() != 0) {
    const Refinement refinement(rule, from, to, splits);
    for (std::size_t d = 0; d < from.size(); ++d) rule.operand(0, d, refinement.dim(0, d));
    for (std::size_t d = 0; d < to.size(); ++d) rule.result(0, d, refinement.dim(1, d));
  }
  for (std::size_t i = 1; i < op.operand_count; ++i) rule.independent(0, i);
  return rule.done();
}

IndexRule broadcast_rule(const Program& program, const Op& op, const Index& dims, bool splits) {
  RuleBuilder rule(program, op);
  const Shape &from = operand_type(program, op, 0).shape, &to = result_type(program, op).shape;
  std::vector<int> factors;
  for (std::int64_t size : to) factors.push_back(splits ? rule.parallel(size) : rule.whole(size));
  for (std::size_t d = 0; d < to.size(); ++d) rule.result(0, d, factors[d]);
  for (std::size_t d = 0; d < from.size(); ++d)
    rule.operand(0, d, from[d] == to[at(dims[d])] ? just(factors[at(dims[d])]) : only_element());
  for (std::size_t i = 1; i < op.operand_count; ++i) rule.independent(0, i);
  return rule.done();
}

}  // namespace

IndexRule imag_index_rule(const Program& program, const Op& op) {
  IndexRule rule = elementwise_index_rule(program, op);
  // The imaginary part of what is real is zero.
  if (!is_complex(operand_type(program, op, 0).dtype)) rule.results[0].independent_of = {0};
  return rule;
}

// The narrower side has one dimension more, with the parts of an element.
IndexRule bitcast_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape &from = operand_type(program, op, 0).shape, &to = result_type(program, op).shape;
  for (std::size_t d = 0; d < std::min(from.size(), to.size()); ++d) {
    const int factor = rule.parallel(from[d]);
    rule.operand(0, d, factor);
    rule.result(0, d, factor);
  }
  return rule.done();
}

IndexRule constant_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& shape = result_type(program, op).shape;
  for (std::size_t d = 0; d < shape.size(); ++d) rule.result(0, d, rule.parallel(shape[d]));
  return rule.done();
}

void edit_constant_piece(PieceEdit& edit) {
  const Attr* value = edit.program.attr(edit.op, "value");
  const Array& whole = *value->get<Array>();
  OpPiece part;
  part.operands.push_back({edit.piece.results[0].dims, Outside::zero, -1, false});
  if (whole.is_splat())
    edit.set("value", Attr{Array::splat(piece_type(whole.type(), edit.piece.results[0].dims),
                                        whole.element(0))});
  else
    edit.set("value", Attr{take_piece(part, 0, {&whole, 1}, edit.rule)});
}

void edit_iota_piece(PieceEdit& edit) {
  const std::int64_t dim = integer_or(edit.program.attr(edit.op, "iota_dimension"), 0);
  edit.piece.add = edit.begin(static_cast<int>(dim));
  edit.piece.add_factor = static_cast<int>(dim);
}

IndexRule dynamic_iota_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  rule.independent(0, 0);
  return rule.done();
}

IndexRule dimension_size_index_rule(const Program& program, const Op& op) {
  return dynamic_iota_index_rule(program, op);
}

IndexRule reshape_index_rule(const Program& program, const Op& op) {
  return refined_rule(program, op, true);
}
IndexRule dynamic_reshape_index_rule(const Program& program, const Op& op) {
  return refined_rule(program, op, false);
}

IndexRule broadcast_index_rule(const Program& program, const Op& op) {
  const std::size_t rank = operand_type(program, op, 0).rank();
  Index dims(rank);
  std::iota(dims.begin(), dims.end(), result_type(program, op).rank() - rank);
  return broadcast_rule(program, op, dims, true);
}

void edit_broadcast_piece(PieceEdit& edit) {
  const std::size_t added = edit.piece.results[0].dims.size() - edit.piece.operands[0].dims.size();
  Attr::Integers sizes;
  for (std::size_t d = 0; d < added; ++d) sizes.push_back(edit.piece.results[0].dims[d].size());
  edit.set("broadcast_sizes", Attr{sizes});
}

IndexRule broadcast_in_dim_index_rule(const Program& program, const Op& op) {
  return broadcast_rule(program, op, integers_or(program.attr(op, "broadcast_dimensions")), true);
}
IndexRule dynamic_broadcast_index_rule(const Program& program, const Op& op) {
  return broadcast_rule(program, op, integers_or(program.attr(op, "broadcast_dimensions")), false);
}

IndexRule transpose_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Index permutation = integers_or(program.attr(op, "permutation"));
  for (std::size_t d = 0; d < permutation.size(); ++d) {
    const int factor = rule.parallel(result_type(program, op).shape[d]);
    rule.operand(0, at(permutation[d]), factor);
    rule.result(0, d, factor);
  }
  return rule.done();
}

IndexRule reverse_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& shape = result_type(program, op).shape;
  const Index reversed = integers_or(program.attr(op, "dimensions"));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int factor = rule.parallel(shape[d]);
    const bool turns = std::count(reversed.begin(), reversed.end(), d) != 0;
    rule.operand(0, d, turns ? DimRule{{{factor, -1}}, shape[d] - 1, 1} : just(factor));
    rule.result(0, d, factor);
  }
  return rule.done();
}

// Each operand has the elements from its place on.
IndexRule concatenate_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& shape = result_type(program, op).shape;
  const std::size_t joined = at(integer_or(program.attr(op, "dimension"), 0));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int factor = rule.parallel(shape[d]);
    std::int64_t before = 0;
    for (std::size_t i = 0; i < op.operand_count; ++i) {
      rule.operand(i, d, d == joined ? DimRule{{{factor}}, -before, 1} : just(factor));
      rule.operand(i).outside = Outside::left_out;
      before += operand_type(program, op, i).shape[d];
    }
    rule.result(0, d, factor);
  }
  return rule.done();
}

IndexRule pad_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Index low = integers_or(program.attr(op, "edge_padding_low"));
  const Index interior = integers_or(program.attr(op, "interior_padding"));
  const Shape& shape = result_type(program, op).shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int factor = rule.parallel(shape[d]);
    rule.operand(0, d, DimRule{{{factor}}, -low[d], interior[d] + 1});
    rule.result(0, d, factor);
  }
  rule.operand(0).outside = Outside::scalar;
  rule.operand(0).scalar = 1;
  rule.operand(1).when = When::outside;
  rule.operand(1).other = 0;
  return rule.done();
}

void edit_pad_piece(PieceEdit& edit) {
  Attr::Integers low, high;
  for (const DimRule& dim : edit.rule.operands[0].dims) {
    const Span span = touched_span(dim, edit.ranges);
    low.push_back(span.low);
    high.push_back(span.high);
  }
  edit.set("edge_padding_low", Attr{low});
  edit.set("edge_padding_high", Attr{high});
}

IndexRule slice_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& shape = result_type(program, op).shape;
  const Index start = integers_or(program.attr(op, "start_indices"));
  const Index strides = integers_or(program.attr(op, "strides"), Index(shape.size(), 1));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int factor = rule.parallel(shape[d]);
    rule.operand(0, d, DimRule{{{factor, strides[d]}}, start[d], 1});
    rule.result(0, d, factor);
  }
  return rule.done();
}

// The piece of the operand has just the elements that are wanted.
void edit_slice_piece(PieceEdit& edit) {
  Attr::Integers sizes;
  for (const DimPiece& dim : edit.piece.results[0].dims) sizes.push_back(dim.size());
  edit.set("start_indices", Attr{Attr::Integers(sizes.size(), 0)});
  edit.set("limit_indices", Attr{sizes});
  edit.set("strides", Attr{Attr::Integers(sizes.size(), 1)});
}

// Any element can come anywhere: what is padded above it makes up for what is padded below.
IndexRule dynamic_pad_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  rule.independent(0, 3);  // edge_padding_high follows from the others and the result's size
  return rule.done();
}

// The size can only be what it is.
IndexRule set_dimension_size_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape& shape = result_type(program, op).shape;
  const std::size_t fixed = at(integer_or(program.attr(op, "dimension"), 0));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int factor = d == fixed ? rule.whole(shape[d]) : rule.parallel(shape[d]);
    rule.operand(0, d, factor);
    rule.result(0, d, factor);
  }
  rule.independent(0, 1);
  return rule.done();
}

// Whatever the start and the stride are, element i lies at least i from either end.
IndexRule real_dynamic_slice_index_rule(const Program& program, const Op& op) {
  RuleBuilder rule(program, op);
  const Shape &from = operand_type(program, op, 0).shape, &to = result_type(program, op).shape;
  for (std::size_t d = 0; d < to.size(); ++d) {
    const int element = rule.whole(to[d]), start = rule.whole(from[d] - to[d] + 1);
    rule.operand(0, d, DimRule{{{start}, {element}}, 0, 1});
    rule.result(0, d, element);
  }
  return rule.done();
}

}  // namespace heddle
