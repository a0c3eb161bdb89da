// What the rules and evaluations of reductions, products and solvers share.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>

#include "ir/attr_access.h"
#include "ir/eval/eval.h"
#include "ir/eval/scalar.h"
#include "ir/shape_rules.h"

namespace heddle::reduction {

using Integers = std::vector<std::int64_t>;

// More steps than this would not come back in a day.
inline constexpr double kMostSteps = 1e13;
inline constexpr double kMostRegionRuns = 1e10;

// Operands and results are tensors.
Verdict tensors_only(const Program& program, const Op& op);

// A region's only block must take and return exactly these types.
Verdict region_types(const Program& program, const Op& op, std::size_t region,
                     std::string_view label, const std::vector<Type>& arguments,
                     const std::vector<Type>& results);
// The element types that a region returns; a reason where it does not end in a return of scalars.
Expected<std::vector<DType>> region_dtypes(const Program& program, const Op& op, std::size_t region,
                                           std::string_view label);
// Whether accumulating in `to` loses nothing of `from`.
bool promotable(DType from, DType to);
// Inputs come first, then as many initial values; results are as many as inputs. All inputs have
// one shape, and each initial value is a scalar of its input's type.
struct InputLabels {
  std::string_view count, shapes, inits;
};
Verdict inputs_and_inits(const Program& program, const Op& op, const InputLabels& labels);
// What such an op works on, in the element types of its results.
struct ReduceValues {
  std::vector<Array> inputs, inits, results;
};
ReduceValues reduce_values(const EvalContext& ctx);

// A body of reduce or a window: takes and returns one scalar per input, to whose type the input can
// be promoted; these are the element types of the results.
Expected<std::vector<DType>> reducer_types(const Program& program, const Op& op, std::size_t inputs,
                                           std::string_view body_label);

// The element type of a product: the given result's, else that of the left operand.
DType product_dtype(const Program& program, const Op& op);
// The first two operands can be multiplied: numbers of one kind. Widths may differ, as frameworks
// write f8E4M3FN x f8E5M2 and bf16 x f32.
Verdict product_types(const Program& program, const Op& op, std::string_view label);
// Two entries in precision_config, if any.
Verdict precision_size(const Program& program, const Op& op, std::string_view label);

// Every value lies in [0, rank), and no value comes twice.
Verdict dimensions_in_range(const Op& op, std::string_view label, std::string_view what,
                            std::span<const std::int64_t> dims, std::size_t rank);
Verdict dimensions_unique(const Op& op, std::string_view label, std::string_view what,
                          std::span<const std::int64_t> dims);

// Some axes of a row-major tensor, walked in row-major order of themselves.
struct Axes {
  Integers sizes, strides;

  std::int64_t count() const;
  double steps() const;                          // the count where it may not fit 64 bits
  std::int64_t offset(std::int64_t flat) const;  // of the flat-th position
  Integers offsets() const;                      // of all of them
  void add(std::int64_t size, std::int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
};
Integers strides_of(const Shape& shape);
Axes axes_of(const Shape& shape, std::span<const std::int64_t> dims);
// The dimensions of [0, rank) that are in none of the lists.
Integers other_dimensions(std::size_t rank, std::span<const std::int64_t> taken,
                          std::span<const std::int64_t> also_taken = {});

// Arrays in a type to compute in, and back: uint64_t wraps as every integer type does, double holds
// every float exactly.
using Complex = std::complex<double>;
template <typename Wide>
std::vector<Wide> widened(const Array& array);
template <typename Wide>
Array narrowed(const Type& type, const std::vector<Wide>& values);

// Without the recovery of infinities that std::complex does.
inline float product(float a, float b) { return a * b; }
inline double product(double a, double b) { return a * b; }
inline std::uint64_t product(std::uint64_t a, std::uint64_t b) { return a * b; }
template <typename Real>
std::complex<Real> product(std::complex<Real> a, std::complex<Real> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// a * b + sum with one rounding, as processors add up products; complex numbers round each part.
inline float add_product(float sum, float a, float b) { return std::fma(a, b, sum); }
inline double add_product(double sum, double a, double b) { return std::fma(a, b, sum); }
template <typename Wide>
Wide add_product(Wide sum, Wide a, Wide b) {
  return sum + product(a, b);
}

// Calls visit(Tag<Wide>{}) with the widest type for these: complex, double or uint64_t.
template <typename Visit>
decltype(auto) dispatch_wide(std::initializer_list<DType> dtypes, Visit&& visit) {
  bool any_complex = false, any_float = false;
  for (DType dtype : dtypes) {
    any_complex = any_complex || is_complex(dtype);
    any_float = any_float || is_float(dtype);
  }
  if (any_complex) return visit(Tag<Complex>{});
  return any_float ? visit(Tag<double>{}) : visit(Tag<std::uint64_t>{});
}

// Calls visit(Tag<Wide>{}) with the type in which products of these element types are added up:
// float for floats of up to 32 bits, double for wider ones and for integers among floats.
template <typename Visit>
decltype(auto) dispatch_sum(std::initializer_list<DType> dtypes, Visit&& visit) {
  bool any_complex = false, any_float = false, wide = false;
  for (DType dtype : dtypes) {
    any_complex = any_complex || is_complex(dtype);
    any_float = any_float || is_float(dtype);
    wide = wide || dtype == DType::f64 || dtype == DType::c128 || is_integer(dtype);
  }
  if (any_complex) return wide ? visit(Tag<Complex>{}) : visit(Tag<C64>{});
  if (any_float) return wide ? visit(Tag<double>{}) : visit(Tag<float>{});
  return visit(Tag<std::uint64_t>{});
}

// Writes a scalar over an element of an array of the same element type.
void put_element(Array& array, std::int64_t flat, const Array& scalar);

// Gives a region scalars and writes the scalars that it returns back over the first ones.
Verdict run_reducer(EvalContext& ctx, RegionId region, std::vector<Array>& accumulators,
                    std::vector<Array> elements);

}  // namespace heddle::reduction
