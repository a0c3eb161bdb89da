#include "ir/lower/traced.h"

#include <cmath>

#include "ir/eval/scalar.h"

namespace heddle::special {

namespace {

// The type is known: no need to have it inferred.
Traced apply(std::string_view name, const Traced& x) {
  return {x.in, x.in->to.op(name, {x.value}, x.value.type())};
}
Traced apply(std::string_view name, const Traced& x, const Traced& y) {
  return {x.in, x.in->to.op(name, {x.value, y.value}, x.value.type())};
}

}  // namespace

Traced like(const Traced& model, long double value) {
  Tracing& in = *model.in;
  const auto rounded = static_cast<double>(value);
  const Type type = Type::tensor(DType::f64, in.shape);
  if (std::isnan(rounded)) {
    if (!in.nan) in.nan = in.to.full(type, rounded);
    return {&in, *in.nan};
  }
  const auto found = in.constants.find(rounded);
  if (found != in.constants.end()) return {&in, found->second};
  return {&in, in.constants.emplace(rounded, in.to.full(type, rounded)).first->second};
}

Traced operator+(const Traced& a, const Traced& b) { return apply("add", a, b); }
Traced operator-(const Traced& a, const Traced& b) { return apply("subtract", a, b); }
Traced operator*(const Traced& a, const Traced& b) { return apply("multiply", a, b); }
Traced operator/(const Traced& a, const Traced& b) { return apply("divide", a, b); }
Traced operator-(const Traced& a) { return apply("negate", a); }

Traced exp(const Traced& x) { return apply("exponential", x); }
Traced expm1(const Traced& x) { return apply("exponential_minus_one", x); }
Traced log(const Traced& x) { return apply("log", x); }
Traced log1p(const Traced& x) { return apply("log_plus_one", x); }
Traced sqrt(const Traced& x) { return apply("sqrt", x); }
Traced sin(const Traced& x) { return apply("sine", x); }
Traced cos(const Traced& x) { return apply("cosine", x); }
Traced tan(const Traced& x) { return apply("tan", x); }
Traced floor(const Traced& x) { return apply("floor", x); }
Traced abs(const Traced& x) { return apply("abs", x); }
Traced round_even(const Traced& x) { return apply("round_nearest_even", x); }
Traced power(const Traced& x, const Traced& y) { return apply("power", x, y); }
Traced atan2(const Traced& y, const Traced& x) { return apply("atan2", y, x); }

Traced shortened(const Traced& x) {
  Builder& b = x.in->to;
  return {x.in, b.convert(b.convert(x.value, DType::f32), DType::f64)};
}

Traced lookup(std::span<const long double> table, const Traced& index) {
  Builder& b = index.in->to;
  std::vector<double> rounded;
  for (long double value : table) rounded.push_back(static_cast<double>(value));
  const auto size = static_cast<std::int64_t>(rounded.size());
  const Var values = b.constant(make_array<double>(Shape{size}, rounded));
  const auto rank = static_cast<std::int64_t>(index.in->shape.size());
  Attr::Struct dims{"gather",
                    {{"collapsed_slice_dims", {Attr::Integers{0}}},
                     {"start_index_map", {Attr::Integers{0}}},
                     {"index_vector_dim", {Attr::Integer{rank}}}}};
  return {index.in,
          b.op("gather", {values, b.convert(index.value, DType::i32)},
               Type::tensor(DType::f64, index.in->shape),
               {{"dimension_numbers", {std::move(dims)}}, {"slice_sizes", {Attr::Integers{1}}}})};
}

TracedTruth less(const Traced& x, const Traced& y) {
  return {x.in, x.in->to.compare("LT", x.value, y.value, "FLOAT")};
}
TracedTruth equal(const Traced& x, const Traced& y) {
  return {x.in, x.in->to.compare("EQ", x.value, y.value, "FLOAT")};
}
TracedTruth both(const TracedTruth& a, const TracedTruth& b) {
  return {a.in, a.in->to.op("and", {a.value, b.value})};
}
TracedTruth either(const TracedTruth& a, const TracedTruth& b) {
  return {a.in, a.in->to.op("or", {a.value, b.value})};
}
Traced select(const TracedTruth& which, const Traced& yes, const Traced& no) {
  return {which.in, which.in->to.select(which.value, yes.value, no.value)};
}

}  // namespace heddle::special
