// Reductions of a value and its place, by regions of many kinds, give what the reference gives:
// NaN, ties and regions whose order matters among them.
#include <limits>

#include "choices.h"
#include "heddle/builder.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "same_bits.h"

namespace heddle::property::selection {
namespace {

using Dims = Builder::Dims;

Vars selected(Builder& b, const Vars& in, std::int64_t kind) {
  const Var x = in[0], i = in[1], y = in[2], j = in[3];
  const std::string_view beats = kind % 2 == 0 ? "GT" : "LT";
  const Var better = b.compare(beats, x, y), tie = b.compare("EQ", x, y);
  const Var earlier = b.op("and", {tie, b.compare("LT", i, j)});
  if (kind < 2) {  // NaN wins, and the first of two that are equal
    const Var wins = b.op("or", {better, b.compare("NE", x, x)});
    return {b.select(wins, x, y), b.select(b.op("or", {wins, earlier}), i, j)};
  }
  if (kind < 4) {  // NaN loses
    const Var wins = b.op("or", {better, earlier});
    return {b.select(wins, x, y), b.select(wins, i, j)};
  }
  if (kind < 6) return {b.select(better, x, y), b.select(better, i, j)};  // the last of equals
  return {x, b.select(better, i, j)};                                     // the order matters
}

Array filled(const Type& type, std::uint64_t seed, bool with_nan) {
  Array array(type);
  auto next = [&] {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((seed >> 33) % 13);
  };
  if (type.dtype == DType::f32) {
    for (float& x : array.as_mutable<float>()) {
      const std::int64_t n = next();
      x = with_nan && n == 12 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(n) - 6;
    }
  } else {
    for (std::int32_t& x : array.as_mutable<std::int32_t>()) x = static_cast<std::int32_t>(next());
  }
  return array;
}

void agrees(Choices& choices, bool machine_code) {
  Shape shape;
  for (std::int64_t d = choices.between(1, 3); d > 0; --d)
    shape.push_back(choices.pick({1, 5, 16, 40, 3, 100}));
  while (Type::tensor(DType::f32, shape).elements() > 20'000) shape[0] = 1, shape.back() = 40;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t dim = choices.one_in(3) ? choices.below(rank) : rank - 1;
  const std::int64_t kind = choices.below(8);
  const DType dtype = choices.pick({DType::f32, DType::i32}),
              place = choices.pick({DType::i32, DType::i64, DType::ui32});
  const Type type = Type::tensor(dtype, shape);
  const Type x = Type::tensor(dtype, {}), i = Type::tensor(place, {});
  Shape rest = shape;
  rest.erase(rest.begin() + dim);
  Builder b;
  b.function("main", {type}, [&](const Vars& in) -> Vars {
    const RegionId body =
        b.region({x, i, x, i}, [&](const Vars& r) -> Vars { return selected(b, r, kind); });
    return b.ops("reduce",
                 {in[0], b.iota(Type::tensor(place, shape), dim), b.full(x, kind % 2 ? 99 : -99),
                  b.full(i, 0)},
                 {Type::tensor(dtype, rest), Type::tensor(place, rest)},
                 {{"dimensions", {Dims{dim}}}}, {body});
  });
  const Program program = b.finish().value();
  const bool with_nan = choices.one_in(2);
  const std::vector<Array> arguments = {
      filled(type, static_cast<std::uint64_t>(choices.below(999)), with_nan)};
  require_same_bits(program, arguments, machine_code);
}

void planned(Choices& choices) { agrees(choices, false); }
void compiled(Choices& choices) { agrees(choices, true); }

class Selections : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("HEDDLE_CACHE_DIR", "", 1); }
};
TEST_F(Selections, AgreeWithKernelsInterpreted) { run_law(planned, 0, {.cases = 300}); }
TEST_F(Selections, AgreeCompiled) { run_law(compiled, 0, {.cases = 150}); }

}  // namespace
}  // namespace heddle::property::selection
