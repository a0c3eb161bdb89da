// Values of random programs, and what is known of them: how large they can be, and how far two
// right evaluations of them can be apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "draws.h"
#include "heddle/builder.h"
#include "ir/eval/scalar.h"
#include "ir/eval/scalar_function.h"

namespace heddle::property {

// The random decisions, whoever makes them.
class Decisions : public Draws<Decisions> {
 public:
  template <typename Numbers>
  explicit Decisions(Numbers& numbers)
      : below([&numbers](std::int64_t n) { return numbers.below(n); }) {}

  std::function<std::int64_t(std::int64_t)> below;
};

struct Held {
  Var var;
  double bound = 0;  // no element is larger, sign apart
  double error = 0;  // 0: every right evaluation gives these bits
  const Type type() const { return var.type(); }
  DType dtype() const { return var.type().dtype; }
  Shape shape() const { return var.type().shape; }
  bool exact() const { return error == 0; }
};

inline bool is_number(DType type) { return is_float(type) || is_integer(type); }
inline bool is_signed(DType type) { return type >= DType::i8 && type <= DType::i64; }
// Floats that arithmetic is done in; f8 and the like are only stored and converted.
inline bool is_real(DType type) { return type >= DType::f16 && type <= DType::f64; }

// Twice the error of one rounding, relative to the value.
inline double epsilon(DType type) {
  switch (type) {
    case DType::f16:
      return std::ldexp(1.0, -10);
    case DType::bf16:
      return std::ldexp(1.0, -7);
    case DType::f32:
      return std::ldexp(1.0, -23);
    case DType::f64:
      return std::ldexp(1.0, -52);
    default:
      return is_float(type) ? 0.5 : 0;
  }
}
// What values of the type may grow to, so that nothing overflows on the way.
inline double most(DType type) {
  if (type == DType::i1) return 1;
  if (is_integer(type)) return std::ldexp(1.0, bits(type) - (is_signed(type) ? 1 : 0));
  if (type == DType::f16) return 2000;
  return is_real(type) ? 1e6 : 8;
}

// A program under construction: what it has, and how to bring values into shape.
class RandomValues {
 public:
  RandomValues(Decisions decisions, std::int64_t most_elements)
      : d_(std::move(decisions)), most_elements_(most_elements) {}

 protected:
  DType any_dtype() {
    return d_.pick({DType::f32, DType::f32, DType::f32, DType::i32, DType::f64, DType::bf16,
                    DType::f16, DType::i1, DType::i8, DType::ui8, DType::i16, DType::ui16,
                    DType::ui32, DType::i64, DType::ui64});
  }
  DType any_real() {
    return d_.pick({DType::f32, DType::f32, DType::f64, DType::bf16, DType::f16});
  }
  std::int64_t any_size() {
    // Vectors, blocks and chunks are only seen where there are elements enough for several.
    if (most_elements_ >= 1000 && !d_.one_in(3))
      return d_.pick<std::int64_t>({64, 37, 130, 257, 16, 1031, 5003});
    return d_.pick<std::int64_t>({3, 2, 1, 5, 4, 7, 8, 13, 1, 16, 0});
  }

  Shape any_shape() {
    Shape shape(static_cast<std::size_t>(d_.pick({2, 1, 2, 3, 0, 4})));
    std::int64_t elements = 1;
    for (std::int64_t& size : shape) {
      size = any_size();
      // Empty tensors are rare, and what is too large becomes flat.
      if (size == 0 && !d_.one_in(3)) size = 1;
      if (elements * size > most_elements_) size = 1;
      elements *= size;
    }
    return shape;
  }

  Held& keep(Held held) {
    held_.push_back(held);
    return held_.back();
  }
  // A value that is there already; later ones more often, so that chains become long.
  Held any() {
    const auto n = static_cast<std::int64_t>(held_.size());
    const std::int64_t back = d_.one_in(2) ? d_.below(n) : d_.below(std::min<std::int64_t>(n, 4));
    return held_[static_cast<std::size_t>(n - 1 - back)];
  }
  Held any_of(const std::function<bool(const Held&)>& fits, DType otherwise) {
    for (int tries = 0; tries < 4; ++tries)
      if (Held held = any(); fits(held)) return held;
    return fresh(Type::tensor(otherwise, any_shape()));
  }

  // Something new, exact: counted or constant.
  Held fresh(const Type& type) {
    if (type.rank() > 0 && type.dtype != DType::i1 && d_.one_in(2)) {
      const std::int64_t dim = d_.below(static_cast<std::int64_t>(type.rank()));
      const double largest = static_cast<double>(type.shape[static_cast<std::size_t>(dim)]);
      if (largest <= most(type.dtype) && is_real(type.dtype) + is_integer(type.dtype) > 0)
        return {b_.iota(type, dim), largest, 0};
    }
    const double value =
        static_cast<double>(d_.between(is_float(type.dtype) || is_signed(type.dtype) ? -3 : 0, 5));
    const double scaled =
        is_float(type.dtype) ? value / 2 : (type.dtype == DType::i1 ? value > 2 : value);
    return {b_.full(type, scaled), std::abs(scaled), 0};
  }

  // x as another shape, by whatever leads there; something new where nothing does.
  Held fitted(const Held& x, const Shape& shape) {
    const Type type = x.type();
    if (type.shape == shape) return x;
    if (type.rank() == 0) return {b_.broadcast(x.var, shape), x.bound, x.error};
    std::int64_t elements = 1;
    for (std::int64_t size : shape) elements *= size;
    if (type.elements() == elements) return {b_.reshape(x.var, shape), x.bound, x.error};
    if (type.rank() == 1)
      for (std::size_t dim = 0; dim < shape.size(); ++dim)
        if (shape[dim] == type.shape[0] || type.shape[0] == 1)
          return {b_.broadcast(x.var, shape, {static_cast<std::int64_t>(dim)}), x.bound, x.error};
    if (type.rank() == shape.size()) return resized(x, shape);
    return fresh(Type::tensor(type.dtype, shape));
  }

  // Cut where it is too long, padded where it is too short.
  Held resized(const Held& x, const Shape& shape) {
    Builder::Dims zeros(shape.size(), 0), limit, high;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      limit.push_back(std::min(shape[d], x.shape()[d]));
      high.push_back(shape[d] - limit[d]);
    }
    const Var cut = b_.slice(x.var, zeros, limit);
    return {padded(cut, zeros, high, zeros, shape), x.bound, x.error};
  }
  Var padded(Var x, const Builder::Dims& low, const Builder::Dims& high,
             const Builder::Dims& interior, const Shape& shape) {
    const DType dtype = x.type().dtype;
    return b_.op("pad", {x, b_.full(Type::tensor(dtype, {}), 0)}, Type::tensor(dtype, shape),
                 {{"edge_padding_low", {low}},
                  {"edge_padding_high", {high}},
                  {"interior_padding", {interior}}});
  }

  // x as another element type. What is not exact does not become an integer, which would jump.
  Held cast(const Held& x, DType dtype) {
    const DType from = x.dtype();
    if (from == dtype) return x;
    if (is_complex(from) || is_complex(dtype)) return fresh(Type::tensor(dtype, x.shape()));
    if (!x.exact() && !is_real(dtype)) return fresh(Type::tensor(dtype, x.shape()));
    Held y = x;
    if (!is_integer(dtype) && dtype != DType::i1 && x.bound > most(dtype)) {
      if (!is_integer(from)) return fresh(Type::tensor(dtype, x.shape()));
      // The lowest bits of it.
      y = {b_.op("and", {x.var, b_.full_like(x.var, 7)}), 7, 0};
    }
    Held out{b_.convert(y.var, dtype), y.bound, y.error};
    if (is_integer(dtype)) out.bound = most(dtype);
    if (dtype == DType::i1) out.bound = 1;
    if (!x.exact()) out.error += epsilon(dtype) * x.bound;
    return out;
  }
  Held like(const Held& x, const Held& model) {
    return cast(fitted(x, model.shape()), model.dtype());
  }

  // Whether a value may stay: not too large, and not too vague to be compared.
  bool tame(const Held& x) const {
    if (x.var.none()) return false;
    if (!is_float(x.dtype())) return true;
    return x.bound <= most(x.dtype()) && x.error <= 0.1 * std::max(x.bound, 1e-3);
  }
  // The rounding of an operation on values that may differ.
  double rounding(const Held& a, double bound) const {
    return a.exact() && !is_rounded_late(a.dtype()) ? 0 : epsilon(a.dtype()) * bound;
  }
  // Whether a device may leave its numbers as they are until it keeps them.
  bool is_rounded_late(DType type) const {
    return rounds_late_ && (type == DType::f16 || type == DType::bf16);
  }

  Builder b_;
  Decisions d_;
  std::vector<Held> held_;
  std::int64_t most_elements_;
  bool rounds_late_ = false;
};

}  // namespace heddle::property
