// Special functions of real numbers, in long double: exact to well below a double's last place away
// from their roots. Arguments outside the domain give NaN, poles as each comment says.
#pragma once

namespace heddle {

long double error_function(long double x);
long double error_function_complement(long double x);
// The inverse of erf on [-1, 1].
long double inverse_erf(long double x);
// log |gamma(x)|; infinite at 0, -1, -2, …
long double log_gamma(long double x);
// The derivative of log_gamma; NaN at 0, -1, -2, …
long double digamma(long double x);
// The sum of (q + n)^-s over n >= 0, for s > 1; infinite at s = 1 and where q is 0, -1, -2, …
long double hurwitz_zeta(long double s, long double q);
// The n-th derivative of digamma, n = 0, 1, 2, …
long double polygamma(long double n, long double x);
// exp(-|x|) times the modified Bessel function of the first kind of order 1.
long double bessel_i1e(long double x);

}  // namespace heddle
