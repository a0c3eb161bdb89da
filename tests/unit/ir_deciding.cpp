// Which ops decide something by their digits.
#include <gtest/gtest.h>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "ir/deciding.h"

namespace heddle::deciding_tests {
namespace {

// The names of those that do.
std::vector<std::string> deciding(const std::function<Vars(Builder&, const Vars&)>& write) {
  Builder b;
  const Type type = Type::tensor(DType::bf16, {4, 4});
  b.function("main", {type, type}, [&](const Vars& in) -> Vars { return write(b, in); });
  const Program program = b.finish().value();
  const std::vector<bool> found = deciding_ops(program);
  std::vector<std::string> names;
  for (OpId id : program.region(program.functions[0].body).ops)
    if (found[id]) names.emplace_back(program.op(id).def->short_name());
  return names;
}

using Names = std::vector<std::string>;

TEST(Deciding, NumbersAloneDecideNothing) {
  EXPECT_EQ(deciding([](Builder& b, const Vars& in) -> Vars {
              const Var x = b.dot(in[0], in[1]) * in[0];
              return {b.reduce(b.op("tanh", {x}), {1}, "add"), b.reduce(x, {0}, "maximum")};
            }),
            Names{});
}

TEST(Deciding, TwoNumbersCompared) {
  // Where the greatest lies: a row's maximum must be one of its numbers, to the last digit.
  EXPECT_EQ(deciding([](Builder& b, const Vars& in) -> Vars {
              const Var x = in[0] * in[1], unused = in[0] - in[1];
              const Var most = b.broadcast(b.reduce(x, {1}, "maximum"), {4, 4}, {0});
              return {b.compare("EQ", x, most), unused};
            }),
            (Names{"multiply", "constant", "reduce", "broadcast_in_dim"}));
  EXPECT_EQ(deciding([](Builder& b, const Vars& in) -> Vars {
              return {b.compare("LT", in[0] + in[1], in[1])};
            }),
            Names{"add"});
}

TEST(Deciding, OneNumberAndAConstant) {
  EXPECT_EQ(deciding([](Builder& b, const Vars& in) -> Vars {
              const Var x = in[0] + in[1];
              const Var zero = b.broadcast(b.full(Type::tensor(DType::bf16, {}), 0), {4, 4});
              return {b.select(b.compare("GT", x, zero), x, zero), b.compare("NE", x, x)};
            }),
            Names{});
  EXPECT_EQ(deciding([](Builder& b, const Vars& in) -> Vars {
              const Var x = in[0] + in[1];
              return {b.compare("EQ", x, b.full_like(x, 1))};
            }),
            (Names{"add", "constant"}));
}

TEST(Deciding, WholeNumbersAndBits) {
  for (const char* name : {"floor", "ceil", "sign", "round_nearest_even"})
    EXPECT_EQ(
        deciding([&](Builder& b, const Vars& in) -> Vars { return {b.op(name, {in[0] + in[1]})}; }),
        Names{"add"})
        << name;
  EXPECT_EQ(deciding([](Builder& b, const Vars& in) -> Vars {
              return {b.convert(in[0] + in[1], DType::i32), b.convert(in[0] - in[1], DType::f32)};
            }),
            Names{"add"});
  EXPECT_EQ(deciding([](Builder& b, const Vars& in) -> Vars {
              return {b.bitcast(in[0] + in[1], DType::i16)};
            }),
            Names{"add"});
}

TEST(Deciding, LoopsAndBranches) {
  EXPECT_EQ(deciding([](Builder& b, const Vars& in) -> Vars {
              const Var x = in[0] + in[1], y = in[0] - in[1];
              const Vars out = b.while_loop(
                  {x},
                  [&](const Vars& at) {
                    const Var sum = b.reduce(at[0], {0, 1}, "add");
                    return b.compare("LT", sum, b.full_like(sum, 3));
                  },
                  [&](const Vars& at) -> Vars { return {at[0] + 1.0}; });
              return {out[0] * y};
            }),
            Names{"add"});
}

}  // namespace
}  // namespace heddle::deciding_tests
