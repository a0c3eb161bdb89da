// Matrices whose rows lie further apart, for products that want them so.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "ir/eval/scalar.h"
#include "stitch/fold_moves.h"
#include "stitch/product_plan.h"
#include "stitched.h"

namespace heddle::even_rows_tests {
namespace {

constexpr std::int64_t kMultiple = 8;

// Multiplies bf16 by calls, which take so much less time with even rows.
class Calls final : public DeviceCalls {
 public:
  explicit Calls(double seconds = 1) : seconds_(seconds) {}
  bool has_call(const OpDef&) const override { return true; }
  bool prefers_call(const Program&, const Op& op) const override {
    return op.def->call == DeviceCall::product;
  }
  bool takes_views(const Program&, const Op& op) const override {
    return op.def->call == DeviceCall::product;
  }
  EvenRows even_rows(const Program& program, const Op& op) const override {
    if (program.type_of(program.operands(op)[0]).dtype != DType::bf16) return {};
    return {kMultiple, seconds_};
  }

 private:
  double seconds_;
};

using Write = std::function<Vars(Builder&, const Vars&)>;

Program program_of(const std::vector<Shape>& shapes, const Write& write,
                   DType dtype = DType::bf16) {
  Builder b;
  std::vector<Type> types;
  for (const Shape& shape : shapes) types.push_back(Type::tensor(dtype, shape));
  b.function("main", types, [&](const Vars& in) -> Vars { return write(b, in); });
  return b.finish().value();
}

// Small whole numbers, so that sums are exact.
std::vector<Array> arguments_for(const Program& program, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<Array> arguments;
  for (ValueId v : program.region(program.functions[0].body).args) {
    Array array(program.type_of(v));
    dispatch(array.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (T& x : array.template as_mutable<T>())
        x = convert_scalar<T>(static_cast<std::int32_t>(random() % 5) - 2);
    });
    arguments.push_back(array);
  }
  return arguments;
}

std::vector<Array> run(const Program& program, unsigned seed = 1) {
  return interpret(program, program.functions[0], arguments_for(program, seed)).value();
}

std::size_t count(const Program& program, Rearrange what) {
  const auto& ops = program.region(program.functions[0].body).ops;
  return static_cast<std::size_t>(
      std::ranges::count_if(ops, [&](OpId id) { return program.op(id).def->rearranges == what; }));
}

constexpr std::int64_t kManyTerms = 4 * kMultiple;

// All products read and write even rows and have even sums, as their calls will see them.
bool all_even(const Program& program, const Calls& calls) {
  const RegionId body = program.functions[0].body;
  const FoldedMoves moves = fold_moves(program, body, calls);
  return std::ranges::all_of(program.region(body).ops, [&](OpId id) {
    const Op& op = program.op(id);
    if (op.def->call != DeviceCall::product) return true;
    const auto folded = moves.products.find(id);
    const auto plan = plan_product(
        program, op, folded != moves.products.end() ? folded->second : dense_views(program, op));
    return plan && !plan->sides[0].copied && !plan->sides[1].copied && plan->lda % kMultiple == 0 &&
           plan->ldb % kMultiple == 0 && plan->ldc % kMultiple == 0 &&
           (plan->k <= kManyTerms || plan->k % kMultiple == 0);
  });
}

Program evened(const Program& program, double seconds = 1) {
  const Program made = with_even_rows(program, Calls(seconds), {}).value();
  EXPECT_EQ(run(made), run(program));
  return made;
}

void expect_even(const Program& program) {
  EXPECT_FALSE(all_even(program, Calls()));
  EXPECT_TRUE(all_even(evened(program), Calls()));
}

void expect_unchanged(const Program& program, double seconds = 1) {
  const Program made = evened(program, seconds);
  EXPECT_EQ(count(made, Rearrange::pad), 0U);
  EXPECT_EQ(made.op_count(), program.op_count());
}

TEST(EvenRows, ResultsGetThemFromAnOperand) {
  const Program program = program_of({{16, 24}, {24, 13}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(in[0], in[1]) + 1.0};
  });
  expect_even(program);
  // The weight is padded once: for its own rows and for those of the result.
  EXPECT_EQ(count(evened(program), Rearrange::pad), 1U);
}

TEST(EvenRows, WeightsAreStillReadThroughTransposes) {
  const Program program = program_of({{16, 24}, {13, 24}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(in[0], b.transpose(in[1], {1, 0})) + 1.0};
  });
  expect_even(program);
  const Program made = evened(program);
  const auto& ops = made.region(made.functions[0].body).ops;
  EXPECT_TRUE(std::ranges::any_of(ops, [&](OpId id) {
    const Op& op = made.op(id);
    return op.def->rearranges == Rearrange::pad && made.type_of(op.results).shape == Shape{16, 24};
  }));
}

// A vocabulary: logits, a loss, and both gradients.
TEST(EvenRows, ThreeProductsWithOneDimension) {
  const Program program =
      program_of({{2, 8, 16}, {13, 16}}, [](Builder& b, const Vars& in) -> Vars {
        const Var turned = b.transpose(in[1], {1, 0});
        const Var logits = b.dot(in[0], turned);
        const Var wrong = b.op("maximum", {logits, b.full_like(logits, 1)}) - 1.0;
        return {b.dot(wrong, in[0], {{}, {}, {0, 1}, {0, 1}}),
                b.dot(wrong, turned, {{}, {}, {2}, {1}})};
      });
  expect_even(program);
  EXPECT_EQ(count(evened(program), Rearrange::pad), 2U);  // of the weight, and of what is wrong
}

// The same with sums long enough to be made longer: both operands have zeros there, which cost
// nothing more.
TEST(EvenRows, SumsAlongRows) {
  const Program program =
      program_of({{2, 8, 16}, {45, 16}}, [](Builder& b, const Vars& in) -> Vars {
        const Var turned = b.transpose(in[1], {1, 0});
        const Var logits = b.dot(in[0], turned);
        const Var wrong = b.op("maximum", {logits, b.full_like(logits, 1)}) - 1.0;
        return {b.dot(wrong, in[0], {{}, {}, {0, 1}, {0, 1}}),
                b.dot(wrong, turned, {{}, {}, {2}, {1}})};
      });
  expect_even(program);
  EXPECT_EQ(count(evened(program), Rearrange::pad), 2U);
}

// Which elements are infinite in the result, where the other matrices have nothing but ones: both
// before and after, and no NaN comes of what lies behind rows.
void expect_infinite_row(const Program& program, std::size_t row) {
  const Program made = with_even_rows(program, Calls(), {}).value();
  EXPECT_GT(made.op_count(), program.op_count());
  auto arguments = arguments_for(program);
  for (Array& argument : arguments)
    std::ranges::fill(argument.as_mutable<BF16>(), convert_scalar<BF16>(1));
  const auto width = static_cast<std::size_t>(arguments[0].shape()[1]);
  arguments[0].as_mutable<BF16>()[row * width + 3] = convert_scalar<BF16>(INFINITY);
  for (const Program* which : {&program, &made}) {
    const auto result = interpret(*which, which->functions[0], arguments).value()[0];
    const auto columns = static_cast<std::size_t>(result.shape()[1]);
    for (std::size_t i = 0; i < result.as<BF16>().size(); ++i) {
      const auto x = static_cast<float>(result.as<BF16>()[i]);
      EXPECT_TRUE(i / columns == row ? std::isinf(x) : std::isfinite(x)) << i << ": " << x;
    }
  }
}

TEST(EvenRows, InfinitiesInRowsThatGetZeros) {
  const Program program = program_of({{8, 45}, {45, 16}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(in[0] + 1.0, in[1])};
  });
  expect_even(program);
  expect_infinite_row(program, 2);
}

// What a product writes behind its rows is an infinity times zero, and must not be summed up.
TEST(EvenRows, SumsOverResultsOfProductsStay) {
  expect_infinite_row(program_of({{16, 8}, {8, 45}, {45, 16}},
                                 [](Builder& b, const Vars& in) -> Vars {
                                   return {b.dot(b.dot(in[0], in[1]), in[2])};
                                 }),
                      5);
}

TEST(EvenRows, BatchesOfProducts) {
  expect_even(program_of({{3, 8, 16}, {3, 16, 9}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(in[0], in[1], {{0}, {0}, {2}, {1}}) + 1.0};
  }));
}

TEST(EvenRows, InsideOfALoop) {
  const Program program = program_of({{9, 9}, {9, 9}}, [](Builder& b, const Vars& in) -> Vars {
    const Type counter = Type::tensor(DType::i32, {});
    const Vars out = b.while_loop(
        {b.full(counter, 0), in[0]},
        [&](const Vars& at) { return b.compare("LT", at[0], b.full(counter, 3)); },
        [&](const Vars& at) -> Vars {
          const Var product = b.dot(at[1], in[1]);
          return {at[0] + 1.0, b.op("minimum", {product, b.full_like(product, 2)})};
        });
    return {out[1]};
  });
  const Program made = with_even_rows(program, Calls(), {}).value();
  EXPECT_EQ(run(made), run(program));
  EXPECT_GT(made.op_count(), program.op_count());
}

TEST(EvenRows, WhatIsEvenStays) {
  expect_unchanged(program_of({{16, 24}, {24, 32}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(in[0], in[1])};
  }));
  // The odd dimension is one of lines, not of elements in a line.
  expect_unchanged(program_of({{13, 24}, {24, 32}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(in[0], in[1])};
  }));
  expect_unchanged(program_of(
      {{16, 24}, {24, 13}},
      [](Builder& b, const Vars& in) -> Vars { return {b.dot(in[0], in[1])}; }, DType::f32));
}

TEST(EvenRows, WhatCostsMoreThanItGainsStays) {
  const Program program = program_of({{16, 24}, {24, 13}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(in[0], in[1])};
  });
  expect_unchanged(program, 1e-9);
  expect_even(program);
}

TEST(EvenRows, RowsOfSeveralDimensionsStay) {
  expect_unchanged(program_of({{16, 3, 5}, {3, 5, 8}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(in[0], in[1], {{}, {}, {1, 2}, {0, 1}})};
  }));
}

// Random shapes, moves and neighbours: the same numbers.
TEST(EvenRows, NumbersStayTheSame) {
  std::mt19937 random(3);
  int padded = 0;
  for (int turn = 0; turn < 60; ++turn) {
    const auto size = [&] { return static_cast<std::int64_t>(random() % 12 + 2); };
    const std::int64_t m = size(), n = size();
    const unsigned choice = random();
    const std::int64_t k = size() + (choice & 64 ? kManyTerms : 0);
    const bool turn_left = choice & 1, turn_right = choice & 2, behind = choice & 4;
    const Program program =
        program_of({turn_left ? Shape{k, m} : Shape{m, k}, turn_right ? Shape{n, k} : Shape{k, n}},
                   [&](Builder& b, const Vars& in) -> Vars {
                     Var x = choice & 8 ? in[0] + 1.0 : in[0];
                     Var y = choice & 16 ? b.op("negate", {in[1]}) : in[1];
                     if (turn_left) x = b.transpose(x, {1, 0});
                     if (turn_right) y = b.transpose(y, {1, 0});
                     const Var product = b.dot(x, y);
                     if (behind) return {b.dot(product, b.transpose(product, {1, 0})), x * 2.0};
                     if (choice & 32) return {b.transpose(product, {1, 0}), product * 2.0};
                     return {product};
                   });
    const Program made = with_even_rows(program, Calls(), {}).value();
    padded += count(made, Rearrange::pad) > 0 ? 1 : 0;
    ASSERT_EQ(run(made, static_cast<unsigned>(turn)), run(program, static_cast<unsigned>(turn)))
        << "turn " << turn;
  }
  EXPECT_GT(padded, 30);
}

// Heads that a kernel puts side by side: products write them where rows of one matrix have them, so
// that the kernel copies rows.
TEST(FoldMoves, WhatIsJoinedIsWrittenInRows) {
  const Program program =
      program_of({{2, 3, 16, 16}, {2, 3, 16, 8}}, [](Builder& b, const Vars& in) -> Vars {
        const auto rows = [&](std::vector<std::int64_t> sum, std::vector<std::int64_t> order) {
          const Var heads = sum[0] == 3 ? b.dot(in[0], in[1], {{0, 1}, {0, 1}, {3}, {2}})
                                        : b.dot(in[1], in[0], {{0, 1}, {0, 1}, {2}, {2}});
          return b.reshape(b.transpose(heads, order), {2, 16, 24});
        };
        const Var both = b.concatenate({rows({3}, {0, 2, 1, 3}), rows({2}, {0, 3, 1, 2})}, 2);
        return {both * 2.0};
      });
  const FoldedMoves moves = fold_moves(program, program.functions[0].body, Calls());
  ASSERT_EQ(moves.products.size(), 2U);
  EXPECT_EQ(moves.dropped.size(), 4U);
  for (const auto& [id, views] : moves.products) {
    const auto plan = plan_product(program, program.op(id), views);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->ldc, 24);
  }
}

}  // namespace
}  // namespace heddle::even_rows_tests
