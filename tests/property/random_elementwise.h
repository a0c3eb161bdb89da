// Random programs: ops that work element by element.
#pragma once

#include "random_values.h"

namespace heddle::property {

class RandomElementwise : public RandomValues {
 protected:
  using RandomValues::RandomValues;

  // ---- one operand
  // A function that stays within bounds: brought into its domain first. `slope` is the steepest.
  void add_function(const Held& x) {
    struct Function {
      std::string_view name;
      enum class Domain { any, small, positive } domain;
      double slope, bound;
    };
    using D = Function::Domain;
    const Function f = d_.pick<Function>({{"tanh", D::any, 1, 1},
                                          {"exponential", D::small, 8, 8},
                                          {"logistic", D::any, 0.25, 1},
                                          {"sqrt", D::positive, 0.75, 0},
                                          {"log", D::positive, 2, 16},
                                          {"sine", D::any, 1, 1},
                                          {"cosine", D::any, 1, 1},
                                          {"rsqrt", D::positive, 1.5, 1.5},
                                          {"exponential_minus_one", D::small, 8, 7},
                                          {"log_plus_one", D::positive, 1, 16},
                                          {"cbrt", D::positive, 0.6, 0},
                                          {"tan", D::small, 8, 0},
                                          {"chlo.erf", D::any, 1.2, 1}});
    Held in = x;
    if (f.domain == D::positive) in = above_half(x);
    if (f.domain == D::small) in = within_two(x);
    // The sine of a large number is no number to rely on.
    if (f.name == "tan" || in.bound > 100) in = within_one(in);
    const double bound = f.bound > 0 ? f.bound : std::max(in.bound, 2.0);
    keep_if_tame(
        {b_.op(f.name, {in.var}), bound, in.error * f.slope + 4 * epsilon(x.dtype()) * bound});
  }
  Held above_half(const Held& x) {
    const Held size{b_.op("abs", {x.var}), x.bound, x.error};
    return {size.var + 0.5, x.bound + 0.5, x.error + rounding(x, x.bound + 0.5)};
  }
  Held within(const Held& x, double limit) {
    if (x.bound <= limit) return x;
    const Type scalar = Type::tensor(x.dtype(), {});
    const Var low = b_.full(scalar, -limit), high = b_.full(scalar, limit);
    return {b_.op("clamp", {low, x.var, high}, x.type()), limit, x.error};
  }
  Held within_two(const Held& x) { return within(x, 2); }
  Held within_one(const Held& x) { return within(x, 1); }

  void add_unary() {
    const Held x = any();
    const DType type = x.dtype();
    if (type == DType::i1) return keep_if_tame({b_.op("not", {x.var}), 1, 0});
    if (is_integer(type)) {
      const std::string_view op = d_.pick<std::string_view>(
          {"negate", "not", "popcnt", "count_leading_zeros", "abs", "sign"});
      if ((op == "abs" || op == "sign") && !is_signed(type)) return;
      return keep_if_tame({b_.op(op, {x.var}), most(type), 0});
    }
    if (!is_real(type)) return;
    if (d_.one_in(2)) return add_function(x);
    const std::string_view op =
        d_.pick<std::string_view>({"negate", "abs", "floor", "ceil", "round_nearest_even",
                                   "round_nearest_afz", "sign", "is_finite"});
    if (op == "negate" || op == "abs") return keep_if_tame({b_.op(op, {x.var}), x.bound, x.error});
    if (op == "is_finite") return keep_if_tame({b_.op(op, {x.var}), 1, 0});
    if (x.exact()) keep_if_tame({b_.op(op, {x.var}), x.bound + 1, 0});
  }

  // ---- two operands
  void add_binary() {
    const Held x = any(), y = like(any(), x);
    const DType type = x.dtype();
    if (type == DType::i1)
      return keep_if_tame({b_.op(d_.pick<std::string_view>(
                                     {"and", "or", "xor", "add", "multiply", "maximum", "minimum"}),
                                 {x.var, y.var}),
                           1, 0});
    if (is_integer(type)) {
      const std::string_view op = d_.pick<std::string_view>(
          {"add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or",
           "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical", "power"});
      return keep_if_tame({b_.op(op, {x.var, y.var}), most(type), 0});
    }
    if (is_real(type)) add_real_binary(x, y);
    if (is_complex(type) && x.exact() && y.exact())
      keep({b_.op(d_.pick<std::string_view>({"add", "subtract", "multiply"}), {x.var, y.var}), 1,
            0});
  }

  void add_real_binary(const Held& x, const Held& y) {
    const double eps = epsilon(x.dtype());
    auto either = [&](double bound) {
      const bool is_same = x.exact() && y.exact() && !is_rounded_late(x.dtype());
      return is_same ? 0 : eps * bound;
    };
    switch (d_.below(8)) {
      case 0:
      case 1:
        return keep_if_tame({d_.one_in(2) ? x.var - y.var : x.var + y.var, x.bound + y.bound,
                             x.error + y.error + either(x.bound + y.bound)});
      case 2:
      case 3:
        return keep_if_tame({x.var * y.var, x.bound * y.bound,
                             x.error * y.bound + y.error * x.bound + x.error * y.error +
                                 either(x.bound * y.bound)});
      case 4: {
        const Held under = above_half(y);
        return keep_if_tame({x.var / under.var, 2 * x.bound,
                             2 * x.error + 4 * x.bound * under.error + either(2 * x.bound)});
      }
      case 5:
        return keep_if_tame({b_.op(d_.one_in(2) ? "maximum" : "minimum", {x.var, y.var}),
                             std::max(x.bound, y.bound), std::max(x.error, y.error)});
      case 6: {
        const Held base = within(above_half(x), 4), to = within_two(y);
        return keep_if_tame({b_.op("power", {base.var, to.var}), 16,
                             64 * base.error + 24 * to.error + 16 * 4 * eps});
      }
      default: {
        if (x.exact() && y.exact() && d_.one_in(2))
          return keep_if_tame({b_.op("remainder", {x.var, above_half(y).var}), x.bound, 0});
        const Held over = above_half(y);
        return keep_if_tame(
            {b_.op("atan2", {x.var, over.var}), 3.2, 2 * x.error + 2 * over.error + 16 * eps});
      }
    }
  }

  // ---- choices
  Held condition(const Shape& shape) {
    const Held x =
        any_of([](const Held& h) { return h.exact() && !is_complex(h.dtype()); }, DType::f32);
    const Held a = fitted(x, shape);
    if (a.dtype() == DType::i1) return a;
    if (!is_real(a.dtype()) && !is_integer(a.dtype())) return cast(a, DType::i1);
    const Held b = like(
        any_of([](const Held& h) { return h.exact() && !is_complex(h.dtype()); }, DType::f32), a);
    const std::string_view word = d_.pick<std::string_view>({"LT", "GT", "LE", "GE", "EQ", "NE"});
    const bool total = is_real(a.dtype()) && d_.one_in(8);
    return {b_.compare(word, a.var, b.var, total ? "TOTALORDER" : ""), 1, 0};
  }
  void add_compare() { keep_if_tame(condition(any().shape())); }

  void add_select() {
    const Held x = any(), y = like(any(), x);
    const Held which = condition(d_.one_in(6) ? Shape{} : x.shape());
    keep_if_tame({b_.select(which.var, x.var, y.var), std::max(x.bound, y.bound),
                  std::max(x.error, y.error)});
  }
  void add_clamp() {
    const Held x = any();
    if (!is_real(x.dtype()) && !is_integer(x.dtype())) return;
    const bool scalar = d_.one_in(2);
    const Type type = scalar ? Type::tensor(x.dtype(), {}) : x.type();
    const Held low = fresh(type), high = fresh(type);
    keep_if_tame({b_.op("clamp", {low.var, x.var, high.var}, x.type()),
                  std::max({x.bound, low.bound, high.bound}), x.error});
  }

  // ---- types
  void add_convert() {
    const Held x = any();
    // Now and then a type that kernels do not take.
    const DType odd = d_.pick({DType::f8e4m3fn, DType::f8e5m2, DType::i4, DType::ui4});
    const bool fits = x.exact() && !is_complex(x.dtype());
    if (d_.one_in(8) && fits) {
      return keep_if_tame(cast(cast(within_if_real(x), odd), any_dtype()));
    }
    keep_if_tame(cast(x, any_dtype()));
  }
  Held within_if_real(const Held& x) { return is_real(x.dtype()) ? within(x, 8) : x; }

  void add_bitcast() {
    const Held x = any();
    // Of integers only: the bits of a float may differ where the float is right.
    const std::pair<DType, DType> pairs[] = {{DType::i32, DType::ui32},
                                             {DType::i8, DType::ui8},
                                             {DType::ui64, DType::i64},
                                             {DType::i16, DType::ui16}};
    for (const auto& [from, to] : pairs)
      if (x.dtype() == from) return keep_if_tame({b_.bitcast(x.var, to), most(to), 0});
    if (x.dtype() == DType::f32 && x.exact())
      keep_if_tame({b_.bitcast(x.var, DType::i32), most(DType::i32), 0});
  }

  void add_complex() {
    const Held re = cast(any_of([](const Held& h) { return h.exact(); }, DType::f32), DType::f32);
    const Held im = like(any_of([](const Held& h) { return h.exact(); }, DType::f32), re);
    const Var z = b_.op("complex", {re.var, im.var});
    const Var w = d_.one_in(2) ? z + z : z;
    keep_if_tame({b_.op(d_.one_in(2) ? "real" : "imag", {w}), 2 * std::max(re.bound, im.bound), 0});
    if (d_.one_in(3)) keep({w, 1, 0});
  }

  void keep_if_tame(const Held& x) {
    if (tame(x)) keep(x);
  }
};

}  // namespace heddle::property
