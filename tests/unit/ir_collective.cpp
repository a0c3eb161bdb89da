#include <gmock/gmock.h>

#include "ir/replica_groups.h"
#include "ir_build.h"

namespace heddle::collective_tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Attr groups(Shape shape, const std::vector<std::int64_t>& ids) {
  return Attr{make_array<std::int64_t>(std::move(shape), ids)};
}
NamedAttr channel(std::int64_t handle) {
  return {"channel_handle",
          Attr{Attr::Struct{"channel_handle", {{"handle", Attr{Attr::Integer{handle, "i64"}}}}}}};
}
NamedAttr whole(std::string name, std::int64_t value) {
  return {std::move(name), Attr{Attr::Integer{value, "i64"}}};
}

// @main runs functions in a grid, all on its own arguments.
void add_main(TestProgram& b, const std::vector<std::vector<std::string>>& grid,
              const std::vector<Type>& arguments, const std::vector<Type>& results) {
  Attr::List rows;
  for (const auto& row : grid) {
    Attr::List names;
    for (const std::string& name : row) names.push_back(symbol(name));
    rows.push_back(Attr{names});
  }
  const RegionId main = b.begin("main", arguments);
  const std::vector<ValueId> args = b.program.region(main).args;
  b.end(main, b.add(main, "interpreter.run_parallel", args, results, {{"programs", Attr{rows}}}));
}

// @f runs one op on its argument in `grid` processes that get 1, 2, 3, …
struct OneCollective {
  std::string_view name;
  AttrDict attrs;
  std::vector<std::vector<std::string>> grid;
  Shape argument = {1}, result = {1};
  bool reduces = false;

  std::vector<Array> inputs() const {
    std::vector<Array> inputs;
    std::int32_t next = 1;
    for (const auto& row : grid)
      for (std::size_t i = 0; i < row.size(); ++i) {
        std::vector<std::int32_t> values(static_cast<std::size_t>(i32(argument).elements()));
        for (std::int32_t& v : values) v = next++;
        inputs.push_back(ints32(argument, values));
      }
    return inputs;
  }
  TestProgram built() const {
    TestProgram b;
    const RegionId f = b.begin("f", {i32(argument)});
    std::vector<RegionId> regions;
    if (reduces) regions.push_back(b.adder(i32()));
    b.end(f, b.add(f, name, {b.arg(f, 0)}, {i32(result)}, attrs, regions));
    const std::size_t n = inputs().size();
    add_main(b, grid, std::vector<Type>(n, i32(argument)), std::vector<Type>(n, i32(result)));
    return b;
  }
  std::vector<std::vector<std::int32_t>> run() const {
    auto got = built().run("main", inputs());
    EXPECT_TRUE(got.ok()) << (got ? "" : got.reason());
    std::vector<std::vector<std::int32_t>> values;
    if (got)
      for (const Array& a : *got) {
        auto span = a.as<std::int32_t>();
        values.emplace_back(span.begin(), span.end());
      }
    return values;
  }
  std::string why() const { return built().why("main", inputs()); }
};

using Grid = std::vector<std::vector<std::string>>;
const Grid kTwoByTwo = {{"f", "f"}, {"f", "f"}};
const Grid kFourReplicas = {{"f"}, {"f"}, {"f"}, {"f"}};

TEST(Collective, AllReduceByReplica) {
  EXPECT_THAT((OneCollective{"stablehlo.all_reduce",
                             {{"replica_groups", groups({1, 2}, {0, 1})}},
                             kTwoByTwo,
                             {1},
                             {1},
                             true}
                   .run()),
              ElementsAre(ElementsAre(4), ElementsAre(6), ElementsAre(4), ElementsAre(6)));
}

TEST(Collective, AllReduceByReplicaAndPartition) {
  EXPECT_THAT((OneCollective{"stablehlo.all_reduce",
                             {{"replica_groups", groups({2, 1}, {0, 1})}, channel(1)},
                             kTwoByTwo,
                             {1},
                             {1},
                             true}
                   .run()),
              ElementsAre(ElementsAre(3), ElementsAre(3), ElementsAre(7), ElementsAre(7)));
}

TEST(Collective, AllReduceByProcess) {
  EXPECT_THAT((OneCollective{"stablehlo.all_reduce",
                             {{"replica_groups", groups({2, 2}, {0, 3, 1, 2})},
                              channel(1),
                              {"use_global_device_ids", Attr{Attr::Unit{}}}},
                             kTwoByTwo,
                             {1},
                             {1},
                             true}
                   .run()),
              ElementsAre(ElementsAre(5), ElementsAre(5), ElementsAre(5), ElementsAre(5)));
}

TEST(Collective, AllGatherGoesByTheGroupsOrder) {
  EXPECT_THAT(
      (OneCollective{"stablehlo.all_gather",
                     {{"replica_groups", groups({1, 2}, {1, 0})}, whole("all_gather_dim", 0)},
                     {{"f"}, {"f"}},
                     {1},
                     {2}}
           .run()),
      ElementsAre(ElementsAre(2, 1), ElementsAre(2, 1)));
}

TEST(Collective, ReduceScatter) {
  EXPECT_THAT(
      (OneCollective{"stablehlo.reduce_scatter",
                     {{"replica_groups", groups({1, 2}, {0, 1})}, whole("scatter_dimension", 0)},
                     {{"f"}, {"f"}},
                     {2},
                     {1},
                     true}
           .run()),
      ElementsAre(ElementsAre(4), ElementsAre(6)));
}

TEST(Collective, AllToAll) {
  EXPECT_THAT((OneCollective{"stablehlo.all_to_all",
                             {{"replica_groups", groups({1, 2}, {0, 1})},
                              whole("split_dimension", 0),
                              whole("concat_dimension", 0),
                              whole("split_count", 2)},
                             {{"f"}, {"f"}},
                             {2},
                             {2}}
                   .run()),
              ElementsAre(ElementsAre(1, 3), ElementsAre(2, 4)));
}

TEST(Collective, PermuteGivesZerosWhereNobodySends) {
  EXPECT_THAT((OneCollective{"stablehlo.collective_permute",
                             {{"source_target_pairs", groups({2, 2}, {0, 1, 1, 2})}},
                             kFourReplicas}
                   .run()),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(0)));
}

TEST(Collective, BroadcastFromTheFirstOfTheGroup) {
  EXPECT_THAT((OneCollective{"stablehlo.collective_broadcast",
                             {{"replica_groups", groups({1, 2}, {2, 1})}},
                             kFourReplicas}
                   .run()),
              ElementsAre(ElementsAre(0), ElementsAre(3), ElementsAre(3), ElementsAre(0)));
}

TEST(Collective, IdsOutOfRangeAreAReason) {
  EXPECT_THAT((OneCollective{"stablehlo.all_reduce",
                             {{"replica_groups", groups({1, 2}, {0, 7})}},
                             {{"f"}, {"f"}},
                             {1},
                             {1},
                             true}
                   .why()),
              HasSubstr("have the id 7"));
}

TEST(Collective, IdsComeOnce) {
  EXPECT_THAT((OneCollective{"stablehlo.all_reduce",
                             {{"replica_groups", groups({1, 2}, {0, 0})}},
                             {{"f"}, {"f"}},
                             {1},
                             {1},
                             true}
                   .why()),
              HasSubstr("[all_reduce] C1: replica_groups has the id 0 twice"));
}

// One process waits for another that has ended.
TEST(Collective, ADeadlockNamesWhoWaitsForWhom) {
  TestProgram b;
  const RegionId f = b.begin("f", {i32({1})});
  b.end(f, b.add(f, "stablehlo.all_reduce", {b.arg(f, 0)}, {i32({1})},
                 {{"replica_groups", groups({1, 2}, {0, 1})}}, {b.adder(i32())}));
  const RegionId g = b.begin("g", {i32({1})});
  b.end(g, {b.arg(g, 0)});
  add_main(b, {{"f"}, {"g"}}, {i32({1}), i32({1})}, {i32({1}), i32({1})});
  EXPECT_THAT(b.why("main", {ints32({1}, {1}), ints32({1}, {2})}),
              AllOf(HasSubstr("process 0 (replica 0, partition 0) waits in test.mlir"),
                    HasSubstr("[all_reduce] for process 1, which has ended")));
}

TEST(Collective, AFailureEndsTheOthers) {
  TestProgram b;
  const RegionId f = b.begin("f", {i32({1})});
  b.end(f, b.add(f, "stablehlo.all_reduce", {b.arg(f, 0)}, {i32({1})},
                 {{"replica_groups", groups({1, 2}, {0, 1})}}, {b.adder(i32())}));
  const RegionId g = b.begin("g", {i32({1})});
  b.add(g, "check.expect_eq_const", {b.arg(g, 0)}, {}, {{"value", Attr{ints32({1}, {5})}}});
  b.end(g, {b.arg(g, 0)});
  add_main(b, {{"f"}, {"g"}}, {i32({1}), i32({1})}, {i32({1}), i32({1})});
  EXPECT_THAT(b.why("main", {ints32({1}, {1}), ints32({1}, {2})}),
              AllOf(HasSubstr("[run_parallel] process 1"), HasSubstr("[expect_eq_const] 1 of 1")));
}

TEST(Collective, SendAndReceiveInOrder) {
  TestProgram b;
  const Type token = Type::token();
  const RegionId f = b.begin("f", {i32()});
  const ValueId start = b.add(f, "stablehlo.create_token", {}, {token})[0];
  const ValueId sent = b.add(f, "stablehlo.send", {b.arg(f, 0), start}, {token}, {channel(4)})[0];
  b.end(f, {sent});
  const RegionId g = b.begin("g");
  const ValueId wait = b.add(g, "stablehlo.create_token", {}, {token})[0];
  b.end(g, {b.add(g, "stablehlo.recv", {wait}, {i32(), token}, {channel(4)})[0]});
  add_main(b, {{"g"}, {"f"}}, {i32()}, {i32(), token});
  auto got = b.run("main", {ints32({}, {9})});
  ASSERT_TRUE(got.ok()) << got.reason();
  EXPECT_EQ((*got)[0], ints32({}, {9}));
  EXPECT_THAT(b.why("g"), HasSubstr("there is no other process"));
}

TEST(Collective, AloneIsAGroupOfOne) {
  TestProgram b;
  const RegionId main = b.begin("main", {i32({2})});
  b.end(main, b.add(main, "stablehlo.all_reduce", {b.arg(main, 0)}, {i32({2})},
                    {{"replica_groups", groups({1, 1}, {0})}}, {b.adder(i32())}));
  EXPECT_EQ((*b.run("main", {ints32({2}, {4, 5})}))[0], ints32({2}, {4, 5}));
}

Sharding sharding(std::vector<std::vector<std::string>> dims) {
  Sharding s;
  s.mesh = "mesh";
  for (const auto& names : dims) {
    ShardingDim d;
    for (const std::string& name : names) d.axes.push_back({name});
    s.dims.push_back(d);
  }
  return s;
}

// An op of one operand and one result over manual axes.
std::vector<ValueId> manual(Builder& b, RegionId at, ValueId operand, const Type& type,
                            const Sharding& in, const Sharding& out,
                            const std::vector<std::string>& axes, RegionId body) {
  Attr::List names;
  for (const std::string& axis : axes) names.push_back(Attr{axis});
  const std::vector<ValueId> results = b.add(at, "sdy.manual_computation", {operand}, {type},
                                             {{"manual_axes", Attr{names}}}, {body});
  const LayoutId takes[] = {b.program.add_layout(in, type).value()};
  b.program.set_operand_layouts(b.program.value(results[0]).op, takes);
  b.program.set_layout(results[0], b.program.add_layout(out, type).value());
  return results;
}

Attr mesh_axes(const std::vector<std::string>& axes) {
  Attr::List refs;
  for (const std::string& axis : axes)
    refs.push_back(Attr{Attr::Struct{"axis_ref", {{"name", Attr{axis}}}}});
  return Attr{
      Attr::Struct{"replica_group_mesh_axes", {{"mesh", symbol("mesh")}, {"axes", Attr{refs}}}}};
}

// Groups along parts of axes are right where a list of their members has nobody twice; whether they
// are is known without that list.
TEST(Collective, GroupsAlongAxesAreCheckedByTheirParts) {
  TestProgram b;
  b.program.add_mesh("mesh", {{"x", 12}, {"y", 2}}).value();
  const RegionId main = b.begin("main", {i32({1})});
  const auto check = [&](const std::vector<std::pair<int, int>>& parts) {
    Attr::List refs;
    for (const auto& [pre, size] : parts)
      refs.push_back(
          Attr{Attr::Struct{"axis_ref",
                            {{"name", Attr{std::string("x")}},
                             {"sub_axis_info", Attr{fmt::format("({}){}", pre, size)}}}}});
    const Attr axes{
        Attr::Struct{"replica_group_mesh_axes", {{"mesh", symbol("mesh")}, {"axes", Attr{refs}}}}};
    const ValueId sum = b.add(main, "stablehlo.all_reduce", {b.arg(main, 0)}, {i32({1})},
                              {{"replica_groups", axes}}, {b.adder(i32())})[0];
    const Op& op = b.program.op(b.program.value(sum).op);
    const Verdict verdict = check_groups(b.program, op);
    EXPECT_EQ(verdict.ok(), replica_groups(b.program, op).ok());
    return verdict.ok();
  };
  EXPECT_TRUE(check({{1, 2}, {2, 3}}));  // 24 devices: strides 12 and 4
  EXPECT_TRUE(check({{2, 3}, {1, 2}}));
  EXPECT_TRUE(check({{1, 3}, {3, 4}}));
  EXPECT_FALSE(check({{1, 2}, {1, 2}}));
  EXPECT_FALSE(check({{1, 2}, {1, 6}}));
  EXPECT_FALSE(check({{1, 2}, {3, 4}}));  // they do not nest
}

// 4x2 over x=2, y=2: each device has 2x1, gathers along y, and x stays split.
TEST(Manual, SlicesRunsAndAssembles) {
  TestProgram b;
  b.program.add_mesh("mesh", {{"x", 2}, {"y", 2}}).value();
  const RegionId main = b.begin("main", {i32({4, 2})});
  const RegionId body = b.region({i32({2, 1})});
  const ValueId all = b.add(body, "stablehlo.all_gather", {b.arg(body, 0)}, {i32({2, 2})},
                            {{"replica_groups", mesh_axes({"y"})},
                             channel(1),
                             {"use_global_device_ids", Attr{Attr::Unit{}}},
                             whole("all_gather_dim", 1)})[0];
  b.add(body, "sdy.return", {all});
  b.end(main, manual(b, main, b.arg(main, 0), i32({4, 2}), sharding({{"x"}, {"y"}}),
                     sharding({{"x"}, {}}), {"x", "y"}, body));
  const Array input = ints32({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  auto got = b.run("main", {input});
  ASSERT_TRUE(got.ok()) << got.reason();
  EXPECT_EQ((*got)[0], input);
}

// The outer one splits rows along x, the inner one columns along y; partition ids tell the devices.
TEST(Manual, Nests) {
  TestProgram b;
  b.program.add_mesh("mesh", {{"x", 2}, {"y", 2}}).value();
  const Type ui = Type::tensor(DType::ui32, {});
  const RegionId main = b.begin("main", {i32({2, 2})});
  const RegionId outer = b.region({i32({1, 2})}), inner = b.region({i32({1, 1})});
  const ValueId id = b.add(inner, "stablehlo.partition_id", {}, {ui})[0];
  const ValueId number = b.add(inner, "stablehlo.convert", {id}, {i32()})[0];
  const ValueId square = b.add(inner, "stablehlo.reshape", {number}, {i32({1, 1})})[0];
  b.add(inner, "sdy.return",
        b.add(inner, "stablehlo.add", {b.arg(inner, 0), square}, {i32({1, 1})}));
  b.add(outer, "sdy.return",
        manual(b, outer, b.arg(outer, 0), i32({1, 2}), sharding({{}, {"y"}}), sharding({{}, {"y"}}),
               {"y"}, inner));
  b.end(main, manual(b, main, b.arg(main, 0), i32({2, 2}), sharding({{"x"}, {}}),
                     sharding({{"x"}, {}}), {"x"}, outer));
  auto got = b.run("main", {ints32({2, 2}, {10, 20, 30, 40})});
  ASSERT_TRUE(got.ok()) << got.reason();
  EXPECT_EQ((*got)[0], ints32({2, 2}, {10, 21, 32, 43}));
}

TEST(Manual, PartsMustFit) {
  TestProgram b;
  b.program.add_mesh("mesh", {{"x", 3}}).value();
  const RegionId main = b.begin("main", {i32({4})});
  const RegionId body = b.region({i32({4})});
  b.add(body, "sdy.return", {b.arg(body, 0)});
  manual(b, main, b.arg(main, 0), i32({4}), sharding({{"x"}}), sharding({{"x"}}), {"x"}, body);
  b.end(main);
  EXPECT_THAT(b.why("main", {ints32({4}, {1, 2, 3, 4})}), HasSubstr("cannot be split along axis"));
}

TEST(Mesh, GroupsAlongAxes) {
  AxisRegistry registry;
  const MeshDecl mesh{"mesh", make_mesh({{"x", 2}, {"y", 4}}, registry).value(), {}, {}};
  EXPECT_EQ(axis_span(mesh, {"x"})->stride, 4);
  auto part = axis_span(mesh, {"y", 1, 2});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->size, 2);
  EXPECT_EQ(part->stride, 2);
  EXPECT_FALSE(axis_span(mesh, {"y", 1, 3}).ok());
  EXPECT_FALSE(axis_span(mesh, {"z"}).ok());
}

}  // namespace
}  // namespace heddle::collective_tests
