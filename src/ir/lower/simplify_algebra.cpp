// Rules that keep every bit.
#include <algorithm>
#include <numeric>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/eval/index_space.h"
#include "ir/eval/scalar.h"
#include "ir/lower/simplify.h"

namespace heddle {

namespace {

// The op under the rules, in the program that is being written.
struct Site {
  Rewriter& rewriter;
  const Op& op;
  Vars operands;
  Type type;  // of the first result

  const Program& out() const { return rewriter.to.program; }
  bool is(std::string_view name) const {
    return op.def->name.substr(op.def->name.find('.') + 1) == name;
  }
  // The op that gives an operand, where it has this name.
  const Op* source(std::size_t i, std::string_view name) const {
    const OpId id = out().value(operands[i].id()).op;
    return id != kNone && out().op(id).def->name == name ? &out().op(id) : nullptr;
  }
  Var input(const Op& other, std::size_t i) const {
    return {rewriter.to, out().operands(other)[i]};
  }
  std::vector<std::int64_t> numbers(std::string_view name) const {
    return integers_or(rewriter.from.attr(op, name));
  }
};

// Whether a value is this number everywhere; `negative` tells -0 from 0.
bool is_number(const Site& site, std::size_t i, double number, bool negative = false) {
  const Array* array = constant_of(site.out(), site.operands[i].id());
  if (array == nullptr || array->elements() == 0 || (!array->is_splat() && array->elements() != 1))
    return false;
  return dispatch(array->dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T x;
    std::memcpy(&x, array->element(0).data(), sizeof(T));
    if constexpr (FloatScalar<T>) {
      const auto value = static_cast<double>(x);
      return value == number && std::signbit(value) == negative;
    } else if constexpr (ComplexScalar<T> || BoolScalar<T>) {
      return false;
    } else {
      return x == convert_scalar<T>(static_cast<std::int64_t>(number)) && !negative;
    }
  });
}

bool is_truth(const Site& site, std::size_t i, bool truth) {
  const Array* array = constant_of(site.out(), site.operands[i].id());
  return array != nullptr && array->dtype() == DType::i1 && array->elements() > 0 &&
         (array->is_splat() || array->elements() == 1) &&
         (array->element(0)[0] != std::byte{0}) == truth;
}

bool is_iota(const std::vector<std::int64_t>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

bool all_are(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == value; });
}

// Moves that move nothing.
bool stays(const Site& site) {
  if (site.operands.empty() || !(site.operands[0].type() == site.type)) return false;
  if (site.is("reshape") || site.is("convert") || site.is("bitcast_convert")) return true;
  if (site.is("transpose")) return is_iota(site.numbers("permutation"));
  if (site.is("broadcast_in_dim")) return is_iota(site.numbers("broadcast_dimensions"));
  if (site.is("reverse")) return site.numbers("dimensions").empty();
  if (site.is("concatenate")) return site.operands.size() == 1;
  if (site.is("slice")) return true;  // as large as the operand
  if (site.is("pad"))
    return all_are(site.numbers("edge_padding_low"), 0) &&
           all_are(site.numbers("edge_padding_high"), 0) &&
           all_are(site.numbers("interior_padding"), 0);
  return false;
}

// Arithmetic with a number that changes nothing, or that decides everything.
std::optional<Var> with_number(const Site& site) {
  const bool real = is_float(site.type.dtype), whole = is_integer(site.type.dtype);
  const Vars& in = site.operands;
  if (site.is("multiply") && (real || whole)) {
    if (is_number(site, 1, 1)) return in[0];
    if (is_number(site, 0, 1)) return in[1];
    if (whole && is_number(site, 1, 0)) return in[1];
    if (whole && is_number(site, 0, 0)) return in[0];
  }
  if (site.is("divide") && (real || whole) && is_number(site, 1, 1)) return in[0];
  if (site.is("subtract") && (real || whole) && is_number(site, 1, 0)) return in[0];
  if (site.is("add")) {
    if (real && is_number(site, 1, 0, true)) return in[0];
    if (real && is_number(site, 0, 0, true)) return in[1];
    if (whole && is_number(site, 1, 0)) return in[0];
    if (whole && is_number(site, 0, 0)) return in[1];
  }
  if (whole && (site.is("or") || site.is("xor"))) {
    if (is_number(site, 1, 0)) return in[0];
    if (is_number(site, 0, 0)) return in[1];
  }
  if (site.is("and") || site.is("or")) {
    const bool neutral = site.is("and");
    if (is_truth(site, 1, neutral)) return in[0];
    if (is_truth(site, 0, neutral)) return in[1];
    if (is_truth(site, 1, !neutral)) return in[1];
    if (is_truth(site, 0, !neutral)) return in[0];
  }
  return std::nullopt;
}

// The same value twice.
std::optional<Var> with_itself(const Site& site) {
  const Vars& in = site.operands;
  if (site.is("select")) {
    if (in[1].id() == in[2].id() || is_truth(site, 0, true)) return in[1];
    if (is_truth(site, 0, false)) return in[2];
    return std::nullopt;
  }
  if (in.size() != 2 || in[0].id() != in[1].id()) return std::nullopt;
  for (std::string_view name : {"maximum", "minimum", "and", "or"})
    if (site.is(name)) return in[0];
  if (is_integer(site.type.dtype) && (site.is("subtract") || site.is("xor")))
    return site.rewriter.to.full(site.type, 0);
  return std::nullopt;
}

// Two moves in a row are one.
std::optional<Var> after_another(const Site& site) {
  Builder& to = site.rewriter.to;
  if (site.operands.empty()) return std::nullopt;
  if (site.is("reshape"))
    if (const Op* first = site.source(0, "stablehlo.reshape"))
      return to.reshape(site.input(*first, 0), site.type.shape);
  if (site.is("transpose"))
    if (const Op* first = site.source(0, "stablehlo.transpose")) {
      const auto before = integers_or(site.out().attr(*first, "permutation"));
      std::vector<std::int64_t> both;
      for (std::int64_t d : site.numbers("permutation"))
        both.push_back(before[static_cast<std::size_t>(d)]);
      return to.transpose(site.input(*first, 0), both);
    }
  if (site.is("broadcast_in_dim"))
    if (const Op* first = site.source(0, "stablehlo.broadcast_in_dim")) {
      const auto after = site.numbers("broadcast_dimensions");
      std::vector<std::int64_t> both;
      for (std::int64_t d : integers_or(site.out().attr(*first, "broadcast_dimensions")))
        both.push_back(after[static_cast<std::size_t>(d)]);
      return to.broadcast(site.input(*first, 0), site.type.shape, both);
    }
  for (std::string_view name : {"stablehlo.negate", "stablehlo.not"})
    if (site.op.def->name == name)
      if (const Op* first = site.source(0, name)) return site.input(*first, 0);
  return std::nullopt;
}

// A sign moves outward, where it meets others of its kind: f(-x) is -f(x) for odd functions, and
// every rounding is the same for both signs.
std::optional<Var> sign_outward(const Site& site) {
  if (!is_float(site.type.dtype)) return std::nullopt;
  Builder& to = site.rewriter.to;
  auto negated = [&](std::size_t i) -> std::optional<Var> {
    const Op* sign = site.source(i, "stablehlo.negate");
    if (sign == nullptr) return std::nullopt;
    return site.input(*sign, 0);
  };
  for (std::string_view odd : {"chlo.erf", "stablehlo.tanh", "stablehlo.sine", "stablehlo.tan"})
    if (site.op.def->name == odd)
      if (const auto x = negated(0)) return -to.op(odd, {*x});
  const Vars& in = site.operands;
  if (site.is("multiply") || site.is("divide")) {
    const auto a = negated(0), b = negated(1);
    if (a && b) return to.op(site.op.def->name, {*a, *b});
    if (a) return -to.op(site.op.def->name, {*a, in[1]});
    if (b) return -to.op(site.op.def->name, {in[0], *b});
  }
  if (site.is("add")) {
    if (const auto b = negated(1)) return in[0] - *b;
    if (const auto a = negated(0)) return in[1] - *a;
  }
  if (site.is("subtract"))
    if (const auto b = negated(1)) return in[0] + *b;
  return std::nullopt;
}

// To a type that holds every value of the first one, and back.
bool holds_all(DType wide, DType narrow) {
  if (narrow == DType::bf16 || narrow == DType::f16)
    return wide == DType::f32 || wide == DType::f64;
  if (narrow == DType::f32) return wide == DType::f64;
  if (!is_integer(narrow) || !is_integer(wide)) return false;
  return bits(wide) > bits(narrow);
}
std::optional<Var> there_and_back(const Site& site) {
  if (!site.is("convert")) return std::nullopt;
  const Op* first = site.source(0, "stablehlo.convert");
  if (first == nullptr) return std::nullopt;
  const Var start = site.input(*first, 0);
  // A NaN may come back with other bits, but it comes back a NaN.
  if (start.type() == site.type && holds_all(site.operands[0].type().dtype, site.type.dtype))
    return start;
  return std::nullopt;
}

// A slice at a place that is known.
std::optional<Var> known_place(const Site& site) {
  if (!site.is("dynamic_slice")) return std::nullopt;
  const Shape& whole = site.operands[0].type().shape;
  std::vector<std::int64_t> start, limit;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    const Array* at = constant_of(site.out(), site.operands[d + 1].id());
    if (at == nullptr) return std::nullopt;
    start.push_back(std::clamp<std::int64_t>(integer_at(*at, 0), 0, whole[d] - site.type.shape[d]));
    limit.push_back(start.back() + site.type.shape[d]);
  }
  return site.rewriter.to.slice(site.operands[0], start, limit);
}

// A part of what is the same everywhere along the dimensions that are cut.
std::optional<Var> part_of_repeated(const Site& site) {
  if (!site.is("dynamic_slice") && !site.is("slice")) return std::nullopt;
  const Array* number = constant_of(site.out(), site.operands[0].id());
  if (number != nullptr && number->is_splat() && number->elements() > 0)
    return site.rewriter.to.constant(Array::splat(site.type, number->element(0)));
  const Op* first = site.source(0, "stablehlo.broadcast_in_dim");
  if (first == nullptr) return std::nullopt;
  const Var from = site.input(*first, 0);
  const auto places = integers_or(site.out().attr(*first, "broadcast_dimensions"));
  const Shape whole = site.operands[0].type().shape, small = from.type().shape;
  for (std::size_t d = 0; d < places.size(); ++d) {
    const auto at = static_cast<std::size_t>(places[d]);
    if (small[d] != 1 && site.type.shape[at] != whole[at]) return std::nullopt;
  }
  return site.rewriter.to.broadcast(from, site.type.shape, places);
}

std::optional<Var> tuple_part(const Site& site) {
  if (!site.is("get_tuple_element")) return std::nullopt;
  const Op* tuple = site.source(0, "stablehlo.tuple");
  if (tuple == nullptr) return std::nullopt;
  return site.input(
      *tuple, static_cast<std::size_t>(integer_or(site.rewriter.from.attr(site.op, "index"), 0)));
}

// A part of what is made of parts, and what is made of the parts of one.
std::optional<Var> complex_part(const Site& site) {
  for (std::size_t i : {0, 1})
    if (site.is(i == 0 ? "real" : "imag"))
      if (const Op* both = site.source(0, "stablehlo.complex")) return site.input(*both, i);
  if (!site.is("complex")) return std::nullopt;
  const Op *re = site.source(0, "stablehlo.real"), *im = site.source(1, "stablehlo.imag");
  if (re == nullptr || im == nullptr) return std::nullopt;
  const Var whole = site.input(*re, 0);
  if (whole.id() != site.input(*im, 0).id() || !(whole.type() == site.type)) return std::nullopt;
  return whole;
}

// Parts without elements add nothing.
std::optional<Var> without_empty_parts(const Site& site) {
  if (!site.is("concatenate")) return std::nullopt;
  Vars full;
  for (const Var& v : site.operands)
    if (v.type().elements() > 0) full.push_back(v);
  if (full.empty() || full.size() == site.operands.size()) return std::nullopt;
  if (full.size() == 1) return full[0];
  return site.rewriter.to.concatenate(full,
                                      integer_or(site.rewriter.from.attr(site.op, "dimension"), 0));
}

// A branch that is always taken takes the place of the choice.
std::optional<Vars> known_branch(const Site& site) {
  if (!site.is("if") && !site.is("case")) return std::nullopt;
  const Array* choice = constant_of(site.out(), site.operands[0].id());
  if (choice == nullptr) return std::nullopt;
  const auto count = static_cast<std::int64_t>(site.op.region_count);
  std::int64_t index = integer_at(*choice, 0);
  if (site.is("if"))
    index = index != 0 ? 0 : 1;
  else if (index < 0 || index >= count)
    index = count - 1;
  const RegionId region = site.rewriter.from.regions(site.op)[static_cast<std::size_t>(index)];
  if (!site.rewriter.copy_ops(region, true)) return std::nullopt;
  return site.rewriter.operands(
      site.rewriter.from.op(site.rewriter.from.region(region).ops.back()));
}

// A matrix product that sums nothing is an elementwise one. Sums begin with 0, which makes a zero
// positive.
std::optional<Var> product_without_sum(const Site& site) {
  if (!site.is("dot_general") || site.type.elements() == 0) return std::nullopt;
  const bool is_float = site.type.dtype == DType::f32 || site.type.dtype == DType::f64;
  if (!is_float && (!is_integer(site.type.dtype) || bits(site.type.dtype) < 8)) return std::nullopt;
  const Attr* numbers = site.rewriter.from.attr(site.op, "dot_dimension_numbers");
  const std::vector<std::int64_t> batch[] = {
      integers_or(field(numbers, "lhs_batching_dimensions")),
      integers_or(field(numbers, "rhs_batching_dimensions"))};
  const std::vector<std::int64_t> sum[] = {
      integers_or(field(numbers, "lhs_contracting_dimensions")),
      integers_or(field(numbers, "rhs_contracting_dimensions"))};
  Builder& to = site.rewriter.to;
  Vars sides;
  auto next = static_cast<std::int64_t>(batch[0].size());  // dimension of the result
  for (std::size_t i = 0; i < 2; ++i) {
    const Type type = site.operands[i].type();
    if (type.dtype != site.type.dtype) return std::nullopt;
    Shape shape;
    std::vector<std::int64_t> places;
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(type.rank()); ++d) {
      const std::int64_t size = type.shape[static_cast<std::size_t>(d)];
      if (std::ranges::find(sum[i], d) != sum[i].end()) {
        if (size != 1) return std::nullopt;
        continue;
      }
      const auto pair = std::ranges::find(batch[i], d);
      shape.push_back(size);
      places.push_back(pair != batch[i].end() ? pair - batch[i].begin() : next++);
    }
    Var side = site.operands[i];
    if (!sum[i].empty()) side = to.reshape(side, shape);
    sides.push_back(to.broadcast(side, site.type.shape, places));
  }
  const Var product = sides[0] * sides[1];
  return is_float ? product + to.full_like(product, 0) : product;
}

// A reduction along dimensions of one element has one step: what it begins with, and the element.
std::optional<Var> reduction_of_one(const Site& site) {
  if (!site.is("reduce") || site.operands.size() != 2 ||
      site.operands[0].type().elements() != site.type.elements() || site.type.elements() == 0)
    return std::nullopt;
  const Program& from = site.rewriter.from;
  const Region& body = from.region(from.regions(site.op)[0]);
  if (body.ops.size() != 2) return std::nullopt;
  const Op &step = from.op(body.ops[0]), &end = from.op(body.ops[1]);
  if (step.def->emission != Emission::scalar || step.operand_count != 2 ||
      !from.attrs_of(step).empty() || from.operands(end)[0] != from.result(step, 0))
    return std::nullopt;
  Builder& to = site.rewriter.to;
  Vars sides;
  for (ValueId v : from.operands(step)) {
    if (v != body.args[0] && v != body.args[1]) return std::nullopt;
    sides.push_back(v == body.args[0] ? to.broadcast(site.operands[1], site.type.shape)
                                      : to.reshape(site.operands[0], site.type.shape));
  }
  return to.op(step.def->name, sides);
}

}  // namespace

std::optional<Vars> by_algebra(Rewriter& rewriter, const Op& op) {
  if (op.result_count == 0) return std::nullopt;
  const Site site{rewriter, op, rewriter.operands(op),
                  rewriter.from.type_of(rewriter.from.result(op, 0))};
  if (auto branch = known_branch(site)) return branch;
  if (op.result_count != 1) return std::nullopt;
  if (stays(site)) return Vars{site.operands[0]};
  for (auto rule : {with_number, with_itself, after_another, sign_outward, there_and_back,
                    known_place, part_of_repeated, product_without_sum, reduction_of_one,
                    tuple_part, complex_part, without_empty_parts})
    if (auto value = rule(site); value && !value->none()) return Vars{*value};
  return std::nullopt;
}

}  // namespace heddle
