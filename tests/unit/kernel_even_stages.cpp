// Stages that go along rows of nearly one length go along the same.
#include <cmath>
#include <limits>
#include <random>

#include "heddle/cost.h"
#include "kernel/cuda_resident.h"
#include "kernel/emit_cuda.h"
#include "stitched.h"

namespace heddle::even_stage_tests {
namespace {

constexpr std::int64_t kHeld = 8193, kApart = 8200;

MachineFigures gpu() {
  return figures_of_gpu({.multiprocessors = 132,
                         .clock = 1.98e9,
                         .memory_rate = 4.9e12,
                         .shared_bytes = 227 << 10,
                         .far_cache = 60 << 20},
                        1);
}

Array numbers(const Type& type, unsigned seed) {
  std::mt19937 random(seed);
  Array a(type);
  for (float& x : a.as_mutable<float>()) x = static_cast<float>(random() % 1000) / 250 - 2;
  return a;
}

// Rows that lie further apart: their softmax, written likewise, and a sum over all of them. Two
// dimensions of rows that nobody can join, as one of them is shifted in what is read beside.
Program softmax_of_rows(bool beside) {
  Builder b;
  std::vector<Type> types{Type::tensor(DType::f32, {2, 3, kApart}),
                          Type::tensor(DType::f32, {2, 4})};
  if (beside) types.push_back(Type::tensor(DType::f32, {2, 3, kHeld}));
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Shape shape{2, 3, kHeld};
    Var x = b.slice(in[0], {0, 0, 0}, shape);
    const Var shift = b.slice(in[1], {0, 1}, {2, 4});
    const Var e =
        b.op("exponential", {x - b.broadcast(b.reduce(x, {2}, "maximum"), shape, {0, 1})});
    const Var sum = b.reduce(e, {2}, "add");
    Var p = e / b.broadcast(sum + shift * shift, shape, {0, 1});
    if (beside) p = p + in[2];
    const Var zero = b.full(Type::tensor(DType::f32, {}), 0);
    const Var apart = b.op("pad", {p, zero}, Type::tensor(DType::f32, {2, 3, kApart}),
                           {{"edge_padding_high", Attr{Attr::Integers{0, 0, kApart - kHeld}}},
                            {"edge_padding_low", Attr{Attr::Integers{0, 0, 0}}},
                            {"interior_padding", Attr{Attr::Integers{0, 0, 0}}}});
    return {apart, b.reduce(b.op("log", {sum}) + shift, {0, 1}, "add")};
  });
  return b.finish().value();
}

Stitched run(const Program& program, float beyond) {
  std::vector<Array> arguments;
  unsigned seed = 1;
  for (ValueId v : program.region(program.functions[0].body).args)
    arguments.push_back(numbers(program.type_of(v), seed++));
  auto all = arguments[0].as_mutable<float>();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<std::int64_t>(i) % kApart >= kHeld) all[i] = beyond;
  const auto wanted = interpret(program, program.functions[0], arguments).value();
  Stitched got = run_stitched(program, arguments, {.machine = gpu()});
  for (std::size_t r = 0; r < wanted.size(); ++r)
    for (std::size_t i = 0; i < wanted[r].as<float>().size(); ++i)
      EXPECT_NEAR(got.results[r].as<float>()[i], wanted[r].as<float>()[i], 1e-4) << r << ", " << i;
  return got;
}

// How often the first kernel goes along rows of that length.
std::size_t stages_of(const Stitched& stitched, std::int64_t size) {
  std::size_t count = 0;
  for (const Stage& stage : stitched.kernels.at(0).phases.at(0).stages)
    count += !stage.loops.empty() && stage.loops.back().size == size ? 1 : 0;
  return count;
}

TEST(EvenStages, RowsThatLieApart) {
  // Whatever is beyond the rows is read, and counts for nothing.
  for (float beyond : {0.F, 1e30F, std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity()}) {
    const Stitched got = run(softmax_of_rows(false), beyond);
    EXPECT_EQ(got.kernels.size(), 1U);
    EXPECT_EQ(stages_of(got, kHeld), 0U);
    EXPECT_EQ(stages_of(got, kApart), 3U);
    // One row at a time, although both dimensions of rows are summed up.
    EXPECT_EQ(got.kernels[0].phases[0].blocks(), 6);
  }
}

// By 16 bytes, and in one piece to shared memory.
TEST(EvenStages, AreRowsOfVectors) {
  const Stitched got = run(softmax_of_rows(false), 0);
  const auto plan = cuda_resident(got.kernels[0], got.kernels[0].phases[0],
                                  {.shared_bytes = 227 << 10, .clusters = true});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->vector, 4);
}

// What would be read behind the end of another matrix is still guarded.
TEST(EvenStages, RowsOfAnotherMatrixThatLieTogether) {
  const Stitched got = run(softmax_of_rows(true), 1);
  EXPECT_EQ(got.kernels.size(), 1U);
  EXPECT_EQ(stages_of(got, kApart), 3U);
}

}  // namespace
}  // namespace heddle::even_stage_tests
