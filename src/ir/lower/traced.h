// A number that writes ops: the special functions are formulas over it (special_formulas.h).
#pragma once

#include <map>
#include <span>

#include "heddle/builder.h"

namespace heddle::special {

// One op that is being lowered: all numbers are f64 of one shape.
struct Tracing {
  Builder& to;
  Shape shape;
  long double precision;  // what the result's type cannot tell apart
  std::map<double, Var> constants = {};
  std::optional<Var> nan = {};  // which a map cannot find
};

struct Traced {
  Tracing* in = nullptr;
  Var value;
};
struct TracedTruth {
  Tracing* in = nullptr;
  Var value;
};

Traced like(const Traced& model, long double value);

Traced operator+(const Traced& a, const Traced& b);
Traced operator-(const Traced& a, const Traced& b);
Traced operator*(const Traced& a, const Traced& b);
Traced operator/(const Traced& a, const Traced& b);
Traced operator-(const Traced& a);
inline Traced operator+(const Traced& a, long double b) { return a + like(a, b); }
inline Traced operator-(const Traced& a, long double b) { return a - like(a, b); }
inline Traced operator*(const Traced& a, long double b) { return a * like(a, b); }
inline Traced operator/(const Traced& a, long double b) { return a / like(a, b); }
inline Traced operator+(long double a, const Traced& b) { return like(b, a) + b; }
inline Traced operator-(long double a, const Traced& b) { return like(b, a) - b; }
inline Traced operator*(long double a, const Traced& b) { return like(b, a) * b; }
inline Traced operator/(long double a, const Traced& b) { return like(b, a) / b; }

Traced exp(const Traced& x);
Traced expm1(const Traced& x);
Traced log(const Traced& x);
Traced log1p(const Traced& x);
Traced sqrt(const Traced& x);
Traced sin(const Traced& x);
Traced cos(const Traced& x);
Traced tan(const Traced& x);
Traced floor(const Traced& x);
Traced abs(const Traced& x);
Traced round_even(const Traced& x);
Traced power(const Traced& x, const Traced& y);
Traced atan2(const Traced& y, const Traced& x);
Traced shortened(const Traced& x);
Traced lookup(std::span<const long double> table, const Traced& index);

TracedTruth less(const Traced& x, const Traced& y);
TracedTruth equal(const Traced& x, const Traced& y);
inline TracedTruth less(const Traced& x, long double y) { return less(x, like(x, y)); }
inline TracedTruth less(long double x, const Traced& y) { return less(like(y, x), y); }
inline TracedTruth equal(const Traced& x, long double y) { return equal(x, like(x, y)); }
TracedTruth both(const TracedTruth& a, const TracedTruth& b);
TracedTruth either(const TracedTruth& a, const TracedTruth& b);
Traced select(const TracedTruth& which, const Traced& yes, const Traced& no);

inline long double precision(const Traced& x) { return x.in->precision; }

}  // namespace heddle::special
