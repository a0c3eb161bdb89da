// The formulas with long double as the number.
#include "ir/eval/special_functions.h"

#include <cmath>
#include <cstddef>
#include <span>

// Words that the formulas need beside those of <cmath>; declared before them, because long double
// has no namespace in which they would be found later.
namespace heddle::special {

using std::abs, std::exp, std::floor, std::log, std::log1p, std::sin, std::sqrt, std::tan;

inline long double power(long double x, long double y) { return std::pow(x, y); }
inline long double shortened(long double x) { return static_cast<float>(x); }
inline long double round_even(long double x) { return std::nearbyint(x); }
inline bool less(long double x, long double y) { return x < y; }
inline bool equal(long double x, long double y) { return x == y; }
inline bool both(bool a, bool b) { return a && b; }
inline bool either(bool a, bool b) { return a || b; }
inline long double select(bool which, long double yes, long double no) { return which ? yes : no; }
inline long double like(long double, long double value) { return value; }
inline long double precision(long double) { return 1e-21L; }
inline long double lookup(std::span<const long double> table, long double index) {
  return table[static_cast<std::size_t>(index)];
}

}  // namespace heddle::special

#include "ir/eval/special_formulas.h"

namespace heddle {

long double error_function(long double x) { return special::erf(x); }
long double error_function_complement(long double x) { return special::erfc(x); }
long double inverse_erf(long double x) { return special::inverse_erf(x); }
long double log_gamma(long double x) { return special::log_gamma(x); }
long double digamma(long double x) { return special::digamma(x); }
long double hurwitz_zeta(long double s, long double q) { return special::hurwitz_zeta(s, q); }
long double polygamma(long double n, long double x) { return special::polygamma(n, x); }
long double bessel_i1e(long double x) { return special::bessel_i1e(x); }

}  // namespace heddle
