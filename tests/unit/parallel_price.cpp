// The price of dealing an op out in one way or another, and decisions that follow from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/builder.h"
#include "heddle/decide.h"
#include "heddle/price.h"

namespace heddle {
namespace {

Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }

constexpr std::int64_t kRows = 1024, kInner = 2048, kColumns = 512;

// A product of which nothing is said.
struct Product {
  explicit Product(const AxisSizes& axes) {
    Builder b("product");
    b.function("main", {f32({kRows, kInner}), f32({kInner, kColumns})},
               [&](const Vars& in) -> Vars { return {b.dot(in[0], in[1])}; });
    program = b.finish().value();
    (void)program.add_mesh("mesh", axes).value();
    rules.emplace(program);
    on.emplace(program, *rules, program.meshes[0]);
    op = program.region(program.functions[0].body).ops[0];
  }

  // The factors are rows, columns and what is summed, in the order of the rule.
  FactorAxes factors(int axis, int split_one) const {
    const IndexRule& rule = rules->of(op);
    FactorAxes axes(rule.factors.size());
    const SplitDigit all{program.meshes[0].mesh.axes()[static_cast<std::size_t>(axis)].size, axis};
    for (std::size_t f = 0; f < axes.size(); ++f)
      if (rule.factors[f].size == (split_one == 0 ? kRows : split_one == 1 ? kColumns : kInner))
        axes[f] = {all};
    return axes;
  }
  Split whole(std::size_t i) const {
    return Split::whole(program.type_of(program.operands(program.op(op))[i]));
  }
  Split rows_of(std::size_t i, std::size_t dim, int axis) const {
    Split split = whole(i);
    const std::int64_t n = program.meshes[0].mesh.axes()[static_cast<std::size_t>(axis)].size;
    split.dims[dim] = DimSplit::blocks(split.dims[dim].size, SplitAxes{{n, axis}});
    return split;
  }

  Program program;
  mutable std::optional<RuleCache> rules;
  std::optional<OnMesh> on;
  OpId op = 0;
};

TEST(Price, RowsOfRowsCostNothingToBring) {
  Product p({{"x", 4}});
  const Split operands[] = {p.rows_of(0, 0, 0), p.whole(1)};
  const Price rows = price(*p.on, p.op, p.factors(0, 0), operands).value();
  EXPECT_EQ(rows.bring, 0);
  EXPECT_EQ(rows.give, 0);
  EXPECT_GT(rows.compute, 0);
  // From there, columns need all rows.
  const Price columns = price(*p.on, p.op, p.factors(0, 1), operands).value();
  EXPECT_GT(columns.bring, 0);
  EXPECT_GT(columns.total(), rows.total());
}

TEST(Price, WorkIsShared) {
  Product two({{"x", 2}}), eight({{"x", 8}});
  auto compute = [](Product& p, const FactorAxes& axes) {
    const Split operands[] = {p.whole(0), p.whole(1)};
    return price(*p.on, p.op, axes, operands).value().compute;
  };
  const double alone = compute(two, FactorAxes(two.rules->of(two.op).factors.size()));
  EXPECT_DOUBLE_EQ(compute(two, two.factors(0, 0)) * 2, alone);
  // On more devices the operand that all of them read begins to count.
  EXPECT_LT(compute(eight, eight.factors(0, 0)), compute(two, two.factors(0, 0)));
  EXPECT_GE(compute(eight, eight.factors(0, 0)) * 8, alone);
}

TEST(Price, ASumThatIsStillToBeMadeCostsWhereTheResultIsWanted) {
  Product p({{"x", 4}});
  const Split operands[] = {p.rows_of(0, 1, 0), p.rows_of(1, 0, 0)};
  const Split whole = Split::whole(p.program.type_of(p.program.result(p.program.op(p.op), 0)));
  const Price pending = price(*p.on, p.op, p.factors(0, 2), operands).value();
  const Price made = price(*p.on, p.op, p.factors(0, 2), operands, {&whole, 1}).value();
  EXPECT_EQ(pending.bring, 0);
  EXPECT_EQ(pending.give, 0);
  EXPECT_GT(made.give, 0);
  EXPECT_EQ(made.compute, pending.compute);
}

TEST(Price, DependsOnNothingThatWasAskedBefore) {
  Product fresh({{"x", 4}, {"y", 2}}), used({{"x", 4}, {"y", 2}});
  const Split operands[] = {used.rows_of(0, 0, 0), used.rows_of(1, 1, 1)};
  std::vector<Price> once;
  for (int axis : {0, 1})
    for (int factor : {0, 1, 2})
      once.push_back(price(*used.on, used.op, used.factors(axis, factor), operands).value());
  // Backwards, in another table.
  for (int axis : {1, 0})
    for (int factor : {2, 1, 0}) {
      const Price again = price(*fresh.on, fresh.op, fresh.factors(axis, factor), operands).value();
      EXPECT_EQ(again, once[static_cast<std::size_t>(3 * axis + factor)]);
    }
}

// A slice of rows that are dealt out, on a mesh whose collectives may have been timed.
Price price_of_shifted_rows(std::int64_t begin, std::vector<TimedMove> timed) {
  constexpr std::int64_t kShorter = 1022;
  Builder b("shifted");
  b.function("main", {f32({kRows, kColumns})}, [&](const Vars& in) -> Vars {
    return {b.slice(in[0], {begin, 0}, {begin + kShorter, kColumns})};
  });
  Program program = b.finish().value();
  (void)program.add_mesh("mesh", {{"x", 2}}).value();
  Mesh& mesh = program.meshes[0].mesh;
  mesh = Mesh::make(mesh.axes(), mesh.device(), std::move(timed)).value();
  RuleCache rules(program);
  OnMesh on(program, rules, program.meshes[0]);
  FactorAxes axes(rules.of(0).factors.size());
  axes[0] = {{2, 0}};
  Split rows = Split::whole(f32({kRows, kColumns}));
  rows.dims[0] = DimSplit::blocks(kRows, axes[0]);
  return price(on, 0, axes, {&rows, 1}).value();
}

TEST(Price, EdgesOfNeighboursCostAMessageEach) {
  // Of 1,024 rows in two blocks: 511 from row 0 and from row 511 on, which is the first device's.
  const Price low = price_of_shifted_rows(0, {});
  EXPECT_EQ(low.bring, 0);
  EXPECT_GT(low.edges, 0);
  // Rows 1 to 511 and 512 to 1,022: each has its own.
  EXPECT_EQ(price_of_shifted_rows(1, {}).edges, 0);
  EXPECT_EQ(price_of_shifted_rows(2, {}).edges, low.edges);
  EXPECT_EQ(price_of_shifted_rows(2, {{CollectiveKind::permute, 1e3, 5e-3}}).edges,
            5e-3 * kColumns * 4 / 1e3);
}

TEST(Price, SaysWhyAnOpCannotBeWrittenSo) {
  Builder b("fft");
  const Type line = Type::tensor(DType::c64, {8, 64});
  b.function("main", {line}, [&](const Vars& in) -> Vars { return {b.op("cosine", {in[0]})}; });
  Program program = b.finish().value();
  (void)program.add_mesh("mesh", {{"x", 3}}).value();
  RuleCache rules(program);
  OnMesh on(program, rules, program.meshes[0]);
  const Split whole = Split::whole(line);
  EXPECT_THAT(price(on, 0, FactorAxes(1), {&whole, 1}).reason(),
              testing::HasSubstr("axes of 1 factors came in, 2 expected"));
  EXPECT_THAT(price(on, 0, FactorAxes(2), {}).reason(),
              testing::HasSubstr("layouts of 0 operands came in, 1 expected"));
}

// A layer whose activations are split by rows and whose weights by what they are multiplied with.
Program two_products() {
  Builder b("layer");
  b.function(
      "main", {f32({64, 128}), f32({128, 256}), f32({256, 128})},
      [&](const Vars& in) -> Vars { return {b.dot(b.op("tanh", {b.dot(in[0], in[1])}), in[2])}; });
  Program program = b.finish().value();
  (void)program.add_mesh("mesh", {{"x", 4}}).value();
  return program;
}

Seed seed(std::size_t argument, std::size_t dim) {
  Sharding s;
  s.mesh = "mesh";
  s.dims.resize(2);
  s.dims[dim].axes = {{"x", 1, 0}};
  return {false, argument, s};
}

TEST(Decide, EveryValueHasALayoutAndEveryOpItsFactors) {
  ParallelOptions options;
  options.mesh = "mesh";
  options.seeds = {seed(1, 1), seed(2, 0)};
  const auto decided = parallelize(two_products(), options).value();
  const Program& program = decided->program;
  const Decisions& decisions = *decided->functions[0].decisions;
  const Region& body = program.region(program.functions[0].body);
  for (ValueId v : body.args) EXPECT_NE(program.layout_of(v), nullptr);
  int pending = 0;
  for (OpId id : body.ops) {
    const Op& op = program.op(id);
    if (op.result_count == 0) continue;
    EXPECT_EQ(decisions.ops[id].choice->axes.size(), decided->rules.of(id).factors.size());
    EXPECT_EQ(decisions.ops[id].way, PartWay::local);
    ASSERT_NE(program.layout_of(program.result(op, 0)), nullptr);
    EXPECT_EQ(
        split_of(program.layout_of(program.result(op, 0))->layout, program.meshes[0].mesh).value(),
        decisions.split(decisions.ops[id].choice->results[0]));
    pending += decisions.split(decisions.ops[id].choice->results[0]).pending.empty() ? 0 : 1;
  }
  EXPECT_EQ(pending, 1);  // the second product
  // The return brings the sum to where the result is wanted, by a plan.
  const std::vector<Fetch>& returned = decisions.ops[body.ops.back()].fetches;
  ASSERT_EQ(returned.size(), 1U);
  ASSERT_NE(returned[0].route->plan, nullptr);
  EXPECT_EQ(returned[0].route->plan->moves.size(), 1U);
  EXPECT_GT(returned[0].route->plan->moves[0].bytes, 0);
  EXPECT_EQ(returned[0].route->seconds, returned[0].route->plan->seconds);
}

// What was chosen costs what a price that knows nothing of the choice says, op by op and in all.
TEST(Decide, CostsAreThoseOfThePrice) {
  ParallelOptions options;
  options.mesh = "mesh";
  options.seeds = {seed(0, 1), seed(1, 1), seed(2, 0)};
  const auto decided = parallelize(two_products(), options).value();
  const Program& program = decided->program;
  const Decisions& decisions = *decided->functions[0].decisions;
  RuleCache rules(program);
  OnMesh fresh(program, rules, program.meshes[0]);
  double computed = 0;
  for (OpId id : program.region(program.functions[0].body).ops) {
    const Op& op = program.op(id);
    if (op.result_count == 0) continue;
    const Choice& choice = *decisions.ops[id].choice;
    std::vector<Split> operands;
    for (ValueId v : program.operands(op))
      operands.push_back(split_of(program.layout_of(v)->layout, program.meshes[0].mesh).value());
    const Price asked = price(fresh, id, choice.axes, operands).value();
    EXPECT_DOUBLE_EQ(asked.bring, choice.price.bring);
    EXPECT_DOUBLE_EQ(asked.bring, decisions.ops[id].bring_seconds());
    EXPECT_DOUBLE_EQ(asked.compute, choice.price.compute);
    computed += asked.compute;
    for (const Choice::Rejected& other : choice.rejected)
      EXPECT_GE(other.seconds, choice.price.total());
  }
  EXPECT_DOUBLE_EQ(computed, decisions.compute_seconds());
}

}  // namespace
}  // namespace heddle
