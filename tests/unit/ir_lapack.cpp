// heddle.lapack: each routine for each element type, held against what defines it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "one_op.h"

namespace heddle::lapack_tests {
namespace {

using testing::HasSubstr;
using Number = std::complex<double>;

// A matrix to check with: everything in the widest type.
struct Grid {
  std::int64_t rows = 0, columns = 0;
  std::vector<Number> values;

  Grid(std::int64_t rows, std::int64_t columns)
      : rows(rows), columns(columns), values(static_cast<std::size_t>(rows * columns)) {}
  Number& at(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  const Number& at(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  Grid adjoint() const {
    Grid out(columns, rows);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) out.at(j, i) = std::conj(at(i, j));
    return out;
  }
  Grid transposed() const {
    Grid out = adjoint();
    for (Number& x : out.values) x = std::conj(x);
    return out;
  }
  // What lies on and below (or above) a diagonal; zeros elsewhere.
  Grid part(bool below, std::int64_t diagonal = 0) const {
    Grid out = *this;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        if (below ? j - i > diagonal : j - i < diagonal) out.at(i, j) = 0;
    return out;
  }
  Grid cut(std::int64_t to_rows, std::int64_t to_columns) const {
    Grid out(to_rows, to_columns);
    for (std::int64_t i = 0; i < to_rows; ++i)
      for (std::int64_t j = 0; j < to_columns; ++j) out.at(i, j) = at(i, j);
    return out;
  }
};

Grid operator*(const Grid& a, const Grid& b) {
  Grid out(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) out.at(i, j) += a.at(i, k) * b.at(k, j);
  return out;
}

Grid identity(std::int64_t n) {
  Grid out(n, n);
  for (std::int64_t i = 0; i < n; ++i) out.at(i, i) = 1;
  return out;
}

Grid diagonal(const Grid& column) {
  Grid out(column.rows, column.rows);
  for (std::int64_t i = 0; i < column.rows; ++i) out.at(i, i) = column.at(i, 0);
  return out;
}

void expect_near(const Grid& got, const Grid& wanted, double tolerance) {
  ASSERT_EQ(got.rows, wanted.rows);
  ASSERT_EQ(got.columns, wanted.columns);
  for (std::size_t i = 0; i < got.values.size(); ++i)
    EXPECT_LT(std::abs(got.values[i] - wanted.values[i]), tolerance)
        << i << ": " << got.values[i] << " and " << wanted.values[i];
}

NamedAttr letter(std::string name, char code) {
  return {std::move(name), Attr{Attr::Integer{code, "ui8"}}};
}
NamedAttr truth(std::string name, bool value) { return {std::move(name), Attr{value}}; }

OneOp routine(std::string name, std::vector<Array> operands, std::vector<Type> results,
              AttrDict options = {}) {
  return {"heddle.lapack",
          std::move(operands),
          std::move(results),
          {{"routine", Attr{std::move(name)}},
           {"options", Attr{Attr::Struct{"", std::move(options)}}}}};
}

template <typename T>
class Lapack : public testing::Test {
 protected:
  using Real = decltype(std::real(T{}));
  using Complex = std::complex<Real>;
  static constexpr std::int64_t kBatches = 2;
  static constexpr bool kIsComplex = !std::is_same_v<T, Real>;
  static constexpr double kTolerance = sizeof(Real) == 4 ? 2e-4 : 1e-11;

  static Type matrices(std::int64_t m, std::int64_t n) { return tensor<T>({kBatches, m, n}); }
  static Type vectors(std::int64_t n) { return tensor<T>({kBatches, n}); }
  static Type reals(std::int64_t n) { return tensor<Real>({kBatches, n}); }
  static Type infos() { return tensor<std::int32_t>({kBatches}); }

  static Array random(Shape shape, std::uint64_t seed = 1) {
    std::int64_t count = 1;
    for (std::int64_t n : shape) count *= n;
    std::vector<T> values;
    const auto next = [&] {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      return static_cast<Real>(static_cast<double>(seed >> 40U) / (1 << 23) - 1);
    };
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (kIsComplex)
        values.push_back({next(), next()});
      else
        values.push_back(next());
    }
    return make_array<T>(std::move(shape), values);
  }
  static Array matrix(std::int64_t m, std::int64_t n, std::uint64_t seed = 1) {
    return random({kBatches, m, n}, seed);
  }
  // a + aᴴ, with n added to the diagonal where it is to be definite.
  static Array hermitian(std::int64_t n, bool definite) {
    const Array a = matrix(n, n);
    Array out(a.type());
    for (std::int64_t b = 0; b < kBatches; ++b) {
      Grid g = grid_of<T>(a, b), h = g.adjoint();
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const Number x =
              g.at(i, j) + h.at(i, j) + Number(definite && i == j ? 2.0 * double(n) : 0);
          put(out, (b * n + i) * n + j, x);
        }
    }
    return out;
  }
  static void put(Array& array, std::int64_t at, Number x) {
    if constexpr (kIsComplex)
      array.as_mutable<T>()[static_cast<std::size_t>(at)] = T(Real(x.real()), Real(x.imag()));
    else
      array.as_mutable<T>()[static_cast<std::size_t>(at)] = Real(x.real());
  }
  template <typename Element>
  static Grid grid_of(const Array& array, std::int64_t batch) {
    const Shape& s = array.shape();
    const std::int64_t m = s.size() > 1 ? s[1] : 1, n = s.size() > 2 ? s[2] : 1;
    Grid out(m, n);
    const auto all = array.as<Element>();
    for (std::int64_t i = 0; i < m * n; ++i)
      out.values[static_cast<std::size_t>(i)] =
          Number(all[static_cast<std::size_t>(batch * m * n + i)]);
    return out;
  }
  static void expect_done(const Array& info) {
    for (std::int32_t code : info.as<std::int32_t>()) EXPECT_EQ(code, 0);
  }
  static std::vector<Array> run(const OneOp& op) {
    auto got = op.run();
    if (!got) ADD_FAILURE() << got.reason();
    return got ? *got : std::vector<Array>(8, Array(Type::tensor(dtype_of<T>(), {0})));
  }
  static Array q_of(const Array& packed, const Array& tau) {
    return run(routine("orgqr", {packed, tau}, {packed.type()}))[0];
  }
};

using Numbers = testing::Types<float, double, C64, C128>;
TYPED_TEST_SUITE(Lapack, Numbers);

TYPED_TEST(Lapack, FactorsByCholesky) {
  const Array a = this->hermitian(4, true);
  for (char uplo : {'L', 'U'}) {
    const auto got =
        this->run(routine("potrf", {a}, {a.type(), this->infos()}, {letter("uplo", uplo)}));
    this->expect_done(got[1]);
    for (std::int64_t b = 0; b < this->kBatches; ++b) {
      const Grid f = this->template grid_of<TypeParam>(got[0], b).part(uplo == 'L');
      expect_near(uplo == 'L' ? f * f.adjoint() : f.adjoint() * f,
                  this->template grid_of<TypeParam>(a, b), this->kTolerance);
    }
  }
}

TYPED_TEST(Lapack, SaysWhichRowIsNotDefinite) {
  Array a = this->hermitian(3, true);
  this->put(a, 9 + 4, -100.0);  // row 1 of the second matrix
  const auto got =
      this->run(routine("potrf", {a}, {a.type(), this->infos()}, {letter("uplo", 'L')}));
  EXPECT_THAT(got[1].template as<std::int32_t>(), testing::ElementsAre(0, 2));
}

TYPED_TEST(Lapack, FactorsByElimination) {
  for (auto [m, n] : {std::pair{5, 3}, {3, 5}, {4, 4}}) {
    const std::int64_t k = std::min(m, n);
    const Array a = this->matrix(m, n);
    const auto got = this->run(routine(
        "getrf", {a}, {a.type(), tensor<std::int32_t>({this->kBatches, k}), this->infos()}));
    this->expect_done(got[2]);
    for (std::int64_t b = 0; b < this->kBatches; ++b) {
      const Grid packed = this->template grid_of<TypeParam>(got[0], b);
      Grid low = packed.part(true, -1).cut(m, k);
      for (std::int64_t i = 0; i < k; ++i) low.at(i, i) = 1;
      Grid product = low * packed.part(false).cut(k, n);
      const auto pivots = got[1].template as<std::int32_t>();
      for (std::int64_t i = k; i-- > 0;) {
        const std::int64_t other = pivots[static_cast<std::size_t>(b * k + i)] - 1;
        for (std::int64_t j = 0; j < n; ++j) std::swap(product.at(i, j), product.at(other, j));
      }
      expect_near(product, this->template grid_of<TypeParam>(a, b), this->kTolerance);
    }
  }
}

TYPED_TEST(Lapack, FactorsByReflections) {
  for (auto [m, n] : {std::pair{5, 3}, {4, 4}}) {
    const Array a = this->matrix(m, n);
    const auto got = this->run(routine("geqrf", {a}, {a.type(), this->vectors(n)}));
    const Array q = this->q_of(got[0], got[1]);
    for (std::int64_t b = 0; b < this->kBatches; ++b) {
      const Grid o = this->template grid_of<TypeParam>(q, b);
      const Grid r = this->template grid_of<TypeParam>(got[0], b).part(false).cut(n, n);
      expect_near(o.adjoint() * o, identity(n), this->kTolerance);
      expect_near(o * r, this->template grid_of<TypeParam>(a, b), this->kTolerance);
    }
  }
}

TYPED_TEST(Lapack, NoReflectionsAreTheIdentity) {
  const Array a = this->matrix(3, 2);
  const Array q = this->q_of(a, Array(this->vectors(0)));
  expect_near(this->template grid_of<TypeParam>(q, 1), identity(3).cut(3, 2), 1e-30);
}

TYPED_TEST(Lapack, MultipliesByReflections) {
  const Array a = this->matrix(4, 4), c = this->matrix(4, 4, 7);
  const auto got = this->run(routine("geqrf", {a}, {a.type(), this->vectors(4)}));
  const Array q = this->q_of(got[0], got[1]);
  for (bool left : {false, true})
    for (bool turned : {false, true}) {
      const Array product =
          this->run(routine("ormqr", {got[0], got[1], c}, {c.type()},
                            {truth("left", left), truth("transpose", turned)}))[0];
      const Grid o = this->template grid_of<TypeParam>(q, 1);
      const Grid by = turned ? o.adjoint() : o, x = this->template grid_of<TypeParam>(c, 1);
      expect_near(this->template grid_of<TypeParam>(product, 1), left ? by * x : x * by,
                  this->kTolerance);
    }
}

TYPED_TEST(Lapack, FactorsWithPivots) {
  const Array a = this->matrix(5, 3);
  const Array free(tensor<std::int32_t>({this->kBatches, 3}));
  const auto got =
      this->run(routine("geqp3", {a, free}, {a.type(), free.type(), this->vectors(3)}));
  const Array q = this->q_of(got[0], got[2]);
  for (std::int64_t b = 0; b < this->kBatches; ++b) {
    const Grid product = this->template grid_of<TypeParam>(q, b) *
                         this->template grid_of<TypeParam>(got[0], b).part(false).cut(3, 3);
    const Grid from = this->template grid_of<TypeParam>(a, b);
    Grid chosen(5, 3);
    for (std::int64_t j = 0; j < 3; ++j) {
      const auto column = got[1].template as<std::int32_t>()[static_cast<std::size_t>(b * 3 + j)];
      for (std::int64_t i = 0; i < 5; ++i) chosen.at(i, j) = from.at(i, column - 1);
    }
    expect_near(product, chosen, this->kTolerance);
  }
}

// Eigenvalues stay: so do traces of the matrix and of its square.
void expect_similar(const Grid& a, const Grid& b, double tolerance) {
  const Grid a2 = a * a, b2 = b * b;
  Number once, twice;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    once += a.at(i, i) - b.at(i, i);
    twice += a2.at(i, i) - b2.at(i, i);
  }
  EXPECT_LT(std::abs(once), tolerance);
  EXPECT_LT(std::abs(twice), 10 * tolerance);
}

TYPED_TEST(Lapack, MakesHessenbergForms) {
  const Array a = this->matrix(5, 5);
  const auto got = this->run(
      routine("gehrd", {a}, {a.type(), this->vectors(4), this->infos()},
              {{"low", Attr{Attr::Integer{1, "i32"}}}, {"high", Attr{Attr::Integer{5, "i32"}}}}));
  this->expect_done(got[2]);
  for (std::int64_t b = 0; b < this->kBatches; ++b)
    expect_similar(this->template grid_of<TypeParam>(got[0], b).part(false, -1),
                   this->template grid_of<TypeParam>(a, b), this->kTolerance);
}

TYPED_TEST(Lapack, MakesThreeDiagonals) {
  using Real = typename TestFixture::Real;
  const Array a = this->hermitian(4, false);
  for (char uplo : {'L', 'U'}) {
    const auto got = this->run(routine(
        "sytrd", {a}, {a.type(), this->reals(4), this->reals(3), this->vectors(3), this->infos()},
        {letter("uplo", uplo)}));
    this->expect_done(got[4]);
    Grid t = diagonal(this->template grid_of<Real>(got[1], 1));
    const Grid beside = this->template grid_of<Real>(got[2], 1);
    for (std::int64_t i = 0; i < 3; ++i) t.at(i, i + 1) = t.at(i + 1, i) = beside.at(i, 0);
    expect_similar(t, this->template grid_of<TypeParam>(a, 1), this->kTolerance);
  }
}

TYPED_TEST(Lapack, FindsEigenvaluesOfSymmetricMatrices) {
  using Real = typename TestFixture::Real;
  const Array a = this->hermitian(5, false);
  for (char uplo : {'L', 'U'}) {
    const auto got = this->run(routine("syevd", {a}, {a.type(), this->reals(5), this->infos()},
                                       {letter("mode", 'V'), letter("uplo", uplo)}));
    this->expect_done(got[2]);
    for (std::int64_t b = 0; b < this->kBatches; ++b) {
      const Grid v = this->template grid_of<TypeParam>(got[0], b);
      const Grid w = this->template grid_of<Real>(got[1], b);
      for (std::int64_t i = 1; i < 5; ++i) EXPECT_LE(w.at(i - 1, 0).real(), w.at(i, 0).real());
      expect_near(v.adjoint() * v, identity(5), this->kTolerance);
      expect_near(v * diagonal(w) * v.adjoint(), this->template grid_of<TypeParam>(a, b),
                  this->kTolerance);
    }
  }
}

TYPED_TEST(Lapack, FindsEigenvaluesOfAnyMatrix) {
  using Real = typename TestFixture::Real;
  using Complex = typename TestFixture::Complex;
  const Array a = this->matrix(5, 5);
  const Type vectors = tensor<Complex>({this->kBatches, 5, 5});
  std::vector<Type> results{this->reals(5), this->reals(5), vectors, vectors, this->infos()};
  if (this->kIsComplex)
    results = {tensor<Complex>({this->kBatches, 5}), vectors, vectors, this->infos()};
  const auto got = this->run(
      routine("geev", {a}, results, {letter("compute_left", 'V'), letter("compute_right", 'V')}));
  this->expect_done(got.back());
  for (std::int64_t b = 0; b < this->kBatches; ++b) {
    Grid w(5, 1);
    if (this->kIsComplex) {
      w = this->template grid_of<Complex>(got[0], b);
    } else {
      const Grid re = this->template grid_of<Real>(got[0], b);
      const Grid im = this->template grid_of<Real>(got[1], b);
      for (std::int64_t i = 0; i < 5; ++i) w.at(i, 0) = {re.at(i, 0).real(), im.at(i, 0).real()};
    }
    const Grid from = this->template grid_of<TypeParam>(a, b);
    const Grid left = this->template grid_of<Complex>(got[got.size() - 3], b);
    const Grid right = this->template grid_of<Complex>(got[got.size() - 2], b);
    expect_near(from * right, right * diagonal(w), this->kTolerance);
    expect_near(left.adjoint() * from, diagonal(w) * left.adjoint(), this->kTolerance);
  }
}

TYPED_TEST(Lapack, MakesSchurForms) {
  using Complex = typename TestFixture::Complex;
  const Array a = this->matrix(5, 5);
  std::vector<Type> results{a.type(),       a.type(),      this->reals(5),
                            this->reals(5), this->infos(), this->infos()};
  if (this->kIsComplex)
    results = {a.type(), a.type(), tensor<Complex>({this->kBatches, 5}), this->infos(),
               this->infos()};
  const auto got =
      this->run(routine("gees", {a}, results, {letter("mode", 'V'), letter("sort", 'N')}));
  this->expect_done(got.back());
  for (std::int64_t b = 0; b < this->kBatches; ++b) {
    const Grid t = this->template grid_of<TypeParam>(got[0], b).part(false, -1);
    const Grid z = this->template grid_of<TypeParam>(got[1], b);
    expect_near(z.adjoint() * z, identity(5), this->kTolerance);
    expect_near(z * t * z.adjoint(), this->template grid_of<TypeParam>(a, b), this->kTolerance);
  }
}

TYPED_TEST(Lapack, FindsSingularValues) {
  using Real = typename TestFixture::Real;
  for (const char* name : {"gesdd", "gesvd"})
    for (char mode : {'A', 'S', 'N'})
      for (auto [m, n] : {std::pair{5, 3}, {3, 5}, {4, 4}}) {
        const std::int64_t k = std::min(m, n), u = mode == 'S' ? k : m, v = mode == 'S' ? k : n;
        const Array a = this->matrix(m, n);
        const auto got = this->run(routine(
            name, {a},
            {a.type(), this->reals(k), this->matrices(m, u), this->matrices(v, n), this->infos()},
            {letter("mode", mode)}));
        this->expect_done(got[4]);
        const Grid s = this->template grid_of<Real>(got[1], 1);
        const Grid from = this->template grid_of<TypeParam>(a, 1);
        double squares = 0, norm = 0;
        for (const Number& x : s.values) squares += std::norm(x);
        for (const Number& x : from.values) norm += std::norm(x);
        EXPECT_NEAR(squares, norm, 10 * this->kTolerance) << name << mode;
        if (mode == 'N') continue;
        const Grid left = this->template grid_of<TypeParam>(got[2], 1);
        const Grid right = this->template grid_of<TypeParam>(got[3], 1);
        expect_near(left.adjoint() * left, identity(u), this->kTolerance);
        expect_near(right * right.adjoint(), identity(v), this->kTolerance);
        expect_near(left.cut(m, k) * diagonal(s) * right.cut(k, n), from, this->kTolerance);
      }
}

TYPED_TEST(Lapack, SolvesTriangles) {
  const Array a = this->hermitian(3, true);
  for (char side : {'L', 'R'})
    for (char uplo : {'L', 'U'})
      for (char trans : {'N', 'T', 'C'})
        for (char diag : {'N', 'U'}) {
          const Array b = side == 'L' ? this->matrix(3, 2, 5) : this->matrix(2, 3, 5);
          const Array x = this->run(routine("trsm", {a, b}, {b.type()},
                                            {letter("side", side), letter("uplo", uplo),
                                             letter("trans_x", trans), letter("diag", diag)}))[0];
          Grid t = this->template grid_of<TypeParam>(a, 1).part(uplo == 'L');
          for (std::int64_t i = 0; diag == 'U' && i < 3; ++i) t.at(i, i) = 1;
          if (trans != 'N') t = trans == 'T' ? t.transposed() : t.adjoint();
          const Grid y = this->template grid_of<TypeParam>(x, 1);
          // Without its large diagonal a triangle makes large solutions.
          expect_near(side == 'L' ? t * y : y * t, this->template grid_of<TypeParam>(b, 1),
                      10 * this->kTolerance);
        }
}

TYPED_TEST(Lapack, SolvesThreeDiagonals) {
  const Array low = this->random({2, 4}, 1), high = this->random({2, 4}, 2);
  Array middle = this->random({2, 4}, 3);
  for (std::int64_t i = 0; i < 8; ++i) this->put(middle, i, 4.0 + double(i));
  const Array b = this->matrix(4, 3, 4);
  const Type line = this->vectors(4);
  const auto got = this->run(
      routine("gtsv", {low, middle, high, b}, {line, line, line, b.type(), this->infos()}));
  this->expect_done(got[4]);
  Grid a = diagonal(this->template grid_of<TypeParam>(middle, 1));
  for (std::int64_t i = 0; i < 3; ++i) {
    a.at(i + 1, i) = this->template grid_of<TypeParam>(low, 1).at(i + 1, 0);
    a.at(i, i + 1) = this->template grid_of<TypeParam>(high, 1).at(i, 0);
  }
  expect_near(a * this->template grid_of<TypeParam>(got[3], 1),
              this->template grid_of<TypeParam>(b, 1), this->kTolerance);
}

// With and without exchanged rows, and for a matrix whose solution is its null vector.
TYPED_TEST(Lapack, SolvesThreeDiagonalsThatAreNearlySingular) {
  const Array low = this->random({2, 5}, 1), high = this->random({2, 5}, 2);
  Array middle = this->random({2, 5}, 3);
  const Array b = this->matrix(5, 2, 4);
  const auto lines = [&](std::int64_t batch) {
    Grid a = diagonal(this->template grid_of<TypeParam>(middle, batch));
    for (std::int64_t i = 0; i < 4; ++i) {
      a.at(i + 1, i) = this->template grid_of<TypeParam>(low, batch).at(i + 1, 0);
      a.at(i, i + 1) = this->template grid_of<TypeParam>(high, batch).at(i, 0);
    }
    return a;
  };
  const Array x = this->run(routine("gtsv_perturbed", {low, middle, high, b}, {b.type()}))[0];
  expect_near(lines(1) * this->template grid_of<TypeParam>(x, 1),
              this->template grid_of<TypeParam>(b, 1), 10 * this->kTolerance);

  const Array ones = make_array<TypeParam>({1, 3}, std::vector<TypeParam>(3, TypeParam(1)));
  const Array right = make_array<TypeParam>({1, 3, 1}, std::vector<TypeParam>(3, TypeParam(1)));
  // [[1, 1, 0], [1, 1, 0], [0, 0, 1]]: (1, -1, 0) goes to zero.
  const Array above = make_array<TypeParam>(
      {1, 3}, std::vector<TypeParam>{TypeParam(1), TypeParam(0), TypeParam(0)});
  const Array below = make_array<TypeParam>(
      {1, 3}, std::vector<TypeParam>{TypeParam(0), TypeParam(1), TypeParam(0)});
  const auto null =
      this->run(routine("gtsv_perturbed", {below, ones, above, right}, {right.type()}))[0];
  const Array again =
      this->run(routine("gtsv_perturbed", {below, ones, above, null}, {right.type()}))[0];
  const Grid v = this->template grid_of<TypeParam>(again, 0);
  EXPECT_LT(std::abs(v.at(0, 0) + v.at(1, 0)), 1e-3 * std::abs(v.at(0, 0)));
}

TYPED_TEST(Lapack, RefusesToLookForEigenvaluesOfNaN) {
  using Real = typename TestFixture::Real;
  Array a = this->matrix(3, 3);
  this->put(a, 4, std::numeric_limits<double>::quiet_NaN());
  const auto svd =
      this->run(routine("gesdd", {a}, {a.type(), this->reals(3), a.type(), a.type(), this->infos()},
                        {letter("mode", 'A')}));
  EXPECT_THAT(svd[4].template as<std::int32_t>(), testing::ElementsAre(-4, 0));
  EXPECT_TRUE(std::isnan(svd[1].template as<Real>()[0]));
  const auto eigen = this->run(routine("syevd", {a}, {a.type(), this->reals(3), this->infos()},
                                       {letter("mode", 'V'), letter("uplo", 'L')}));
  EXPECT_NE(eigen[2].template as<std::int32_t>()[0], 0);
  EXPECT_EQ(eigen[2].template as<std::int32_t>()[1], 0);
}

TEST(LapackOp, TakesEmptyMatricesAndNone) {
  const Type none = tensor<float>({2, 0, 0}), no_batch = tensor<float>({0, 3, 3});
  const auto empty =
      routine("potrf", {Array(none)}, {none, tensor<std::int32_t>({2})}, {letter("uplo", 'L')})
          .run()
          .value();
  EXPECT_THAT(empty[1].as<std::int32_t>(), testing::ElementsAre(0, 0));
  EXPECT_EQ(routine("potrf", {Array(no_batch)}, {no_batch, tensor<std::int32_t>({0})},
                    {letter("uplo", 'L')})
                .why(),
            "");
}

TEST(LapackOp, SaysWhatDoesNotFit) {
  const Array a(tensor<float>({3, 3}));
  const Type matrix = a.type(), info = tensor<std::int32_t>({});
  const AttrDict lower{letter("uplo", 'L')};
  EXPECT_THAT(routine("potrs", {a}, {matrix}).why(), HasSubstr("there is no routine \"potrs\""));
  EXPECT_THAT(routine("potrf", {a}, {matrix}, lower).why(),
              HasSubstr("potrf: 1 results came, 2 were expected"));
  EXPECT_THAT(routine("potrf", {a, a}, {matrix, info}, lower).why(),
              HasSubstr("potrf: 2 operands came, 1 were expected"));
  EXPECT_THAT(routine("potrf", {a}, {matrix, info}, {letter("uplo", 'X')}).why(),
              HasSubstr("option uplo is 88, the code of one of the letters LU was expected"));
  EXPECT_THAT(routine("potrf", {a}, {matrix, info}).why(), HasSubstr("option uplo is 0"));
  EXPECT_THAT(
      routine("potrf", {Array(tensor<float>({3, 4}))}, {tensor<float>({3, 4}), info}, lower).why(),
      HasSubstr("operand 0 is tensor<3x4xf32>, tensor<3x3xf32> was expected"));
  EXPECT_THAT(routine("potrf", {a}, {matrix, tensor<std::int64_t>({})}, lower).why(),
              HasSubstr("result 1 is tensor<i64>, tensor<i32> was expected"));
  EXPECT_THAT(routine("potrf", {Array(tensor<std::int32_t>({3, 3}))}, {matrix, info}, lower).why(),
              HasSubstr("tensor<3x3xi32> has elements that LAPACK does not have"));
  EXPECT_THAT(routine("potrf", {Array(tensor<float>({3}))}, {matrix, info}, lower).why(),
              HasSubstr("operand 0 is tensor<3xf32>: a rank of at least 2 was expected"));
  EXPECT_THAT(routine("orgqr", {a, Array(tensor<float>({4}))}, {matrix}).why(),
              HasSubstr("4 reflectors give no 3 columns of 3 rows"));
  EXPECT_THAT(routine("ormqr", {a, Array(tensor<float>({3})), a}, {matrix}).why(),
              HasSubstr("option left is missing"));
  EXPECT_THAT(
      routine("gesdd", {a}, {matrix, tensor<float>({3}), tensor<float>({3, 2}), matrix, info},
              {letter("mode", 'S')})
          .why(),
      HasSubstr("mode S gives 3 columns of u and 3 rows of v, not 2 and 3"));
  EXPECT_THAT(routine("trsm", {a, Array(tensor<float>({4, 4}))}, {tensor<float>({4, 4})},
                      {letter("side", 'L'), letter("uplo", 'L'), letter("trans_x", 'N'),
                       letter("diag", 'N')})
                  .why(),
              HasSubstr("a triangle of 3 does not fit a 4x4 matrix"));
  EXPECT_THAT(
      routine("gehrd", {a}, {matrix, tensor<float>({2}), info},
              {{"low", Attr{Attr::Integer{0, "i32"}}}, {"high", Attr{Attr::Integer{3, "i32"}}}})
          .why(),
      HasSubstr("rows 0 to 3 are none of the 3"));
}

}  // namespace
}  // namespace heddle::lapack_tests
