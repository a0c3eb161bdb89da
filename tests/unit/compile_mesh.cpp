// Programs with collectives, compiled and run on several devices, against the interpreter.
#include <gmock/gmock.h>

#include "compiled.h"
#include "heddle/run_parallel.h"
#include "heddle/thread_mesh.h"

namespace heddle {
namespace {

using testing::HasSubstr;

// A program that runs @device on every process of a grid, all on the same function's arguments.
std::string on_grid(const std::string& device, int replicas, int partitions,
                    const std::vector<Type>& arguments, const std::vector<std::string>& results) {
  std::string args, types, outs, row, programs, given;
  const int n = replicas * partitions;
  int next = 0;
  for (int r = 0; r < n; ++r) {
    for (const Type& type : arguments) {
      args += fmt::format("{}%a{}: {}", next == 0 ? "" : ", ", next, type.str());
      given += fmt::format("{}%a{}", next == 0 ? "" : ", ", next);
      types += fmt::format("{}{}", next == 0 ? "" : ", ", type.str());
      ++next;
    }
    for (const std::string& type : results) outs += (outs.empty() ? "" : ", ") + type;
  }
  for (int p = 0; p < partitions; ++p) row += p == 0 ? "@device" : ", @device";
  for (int r = 0; r < replicas; ++r) programs += (r == 0 ? "[" : ", [") + row + "]";
  std::string back;
  for (std::size_t i = 0; i < results.size() * static_cast<std::size_t>(n); ++i)
    back += fmt::format("{}%0#{}", i == 0 ? "" : ", ", i);
  if (results.size() * static_cast<std::size_t>(n) == 1) back = "%0";
  const std::size_t count = results.size() * static_cast<std::size_t>(n);
  return fmt::format(
      "func.func private @device{}\n"
      "func.func @main({}) -> ({}) {{\n"
      "  %0{} = \"interpreter.run_parallel\"({}) {{ programs=[{}] }} : ({}) -> ({})\n"
      "  return {} : {}\n}}\n",
      device, args, outs, count == 1 ? "" : fmt::format(":{}", count), given, programs, types, outs,
      back, outs);
}

// The interpreter's processes and real devices give the same bits.
void expect_same_on_threads(const std::string& text) {
  const Program program = read(text);
  const auto arguments = arguments_for(program);
  const Function& main = *program.find_function("main");
  const auto wanted = interpret(program, main, arguments);
  ASSERT_TRUE(wanted) << wanted.reason() << "\n" << text;
  InterpretOptions options;
  options.run_parallel = run_parallel_on_threads({});
  const auto got = interpret(program, main, arguments, options);
  ASSERT_TRUE(got) << got.reason() << "\n" << text;
  for (std::size_t i = 0; i < wanted->size(); ++i)
    EXPECT_EQ((*got)[i], (*wanted)[i]) << "result " << i << " of\n" << text;
}

std::string reduction(std::string_view op, const Type& scalar) {
  return fmt::format(
      "({{ ^bb0(%x: {0}, %y: {0}):\n %s = stablehlo.{1} %x, %y : {0}\n"
      " stablehlo.return %s : {0} }})",
      scalar.str(), op);
}

TEST(Mesh, AllReduceOfEveryTypeAndReduction) {
  for (DType dtype : all_dtypes())
    for (std::string_view op : {"add", "multiply", "minimum", "maximum", "and", "or", "xor"}) {
      const bool bits = is_integer(dtype) || dtype == DType::i1;
      if (!bits && (op == "and" || op == "or" || op == "xor")) continue;
      const Type type = Type::tensor(dtype, {5});
      expect_same_on_threads(on_grid(
          fmt::format("(%x0: {0}) -> {0} {{\n %r = \"stablehlo.all_reduce\"(%x0) {1} "
                      "{{replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}} : ({0}) -> {0}\n"
                      " return %r : {0}\n}}",
                      type.str(), reduction(op, Type::tensor(dtype, {}))),
          3, 1, {type}, {type.str()}));
    }
}

TEST(Mesh, AnyComputationReduces) {
  const Type type = Type::tensor(DType::f32, {4, 6});
  const std::string body =
      "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n %p = stablehlo.multiply %x, %y : tensor<f32>\n"
      " %s = stablehlo.subtract %p, %y : tensor<f32>\n stablehlo.return %s : tensor<f32> })";
  expect_same_on_threads(on_grid(
      "(%x0: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x3xf32>) {\n"
      " %r = \"stablehlo.all_reduce\"(%x0) " +
          body +
          " {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> "
          "tensor<4x6xf32>\n"
          " %s = \"stablehlo.reduce_scatter\"(%x0) " +
          body +
          " {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : "
          "(tensor<4x6xf32>) -> tensor<4x3xf32>\n"
          " return %r, %s : tensor<4x6xf32>, tensor<4x3xf32>\n}",
      2, 1, {type}, {type.str(), "tensor<4x3xf32>"}));
}

TEST(Mesh, SumsInAWiderType) {
  const Type type = Type::tensor(DType::bf16, {8});
  expect_same_on_threads(
      on_grid("(%x0: tensor<8xbf16>) -> tensor<8xf32> {\n %r = \"stablehlo.all_reduce\"(%x0) " +
                  reduction("add", Type::tensor(DType::f32, {})) +
                  " {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xbf16>) -> "
                  "tensor<8xf32>\n return %r : tensor<8xf32>\n}",
              2, 1, {type}, {"tensor<8xf32>"}));
}

TEST(Mesh, GathersAndExchangesAlongEveryDimension) {
  for (int dim : {0, 1, 2}) {
    Shape wide = {2, 4, 6}, narrow = {2, 4, 6};
    wide[static_cast<std::size_t>(dim)] *= 2;
    narrow[static_cast<std::size_t>(dim)] /= 2;
    const Type type = Type::tensor(DType::i16, {2, 4, 6}), all = Type::tensor(DType::i16, wide),
               part = Type::tensor(DType::i16, narrow);
    expect_same_on_threads(on_grid(
        fmt::format(
            "(%x0: {0}) -> ({1}, {2}) {{\n"
            " %g = \"stablehlo.all_gather\"(%x0) {{all_gather_dim = {3} : i64, replica_groups = "
            "dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>, channel_handle = "
            "#stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}} : ({0}) -> "
            "{1}\n"
            " %s = \"stablehlo.reduce_scatter\"(%x0) {4} {{scatter_dimension = {3} : i64, "
            "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : ({0}) -> {2}\n"
            " return %g, %s : {1}, {2}\n}}",
            type.str(), all.str(), part.str(), dim,
            reduction("maximum", Type::tensor(DType::i16, {}))),
        2, 2, {type}, {all.str(), part.str()}));
    for (int concat : {0, 1, 2}) {
      Shape turned = narrow;
      turned[static_cast<std::size_t>(concat)] *= 2;
      const Type out = Type::tensor(DType::i16, turned);
      expect_same_on_threads(on_grid(
          fmt::format("(%x0: {0}) -> {1} {{\n %g = \"stablehlo.all_to_all\"(%x0) "
                      "{{split_dimension = {2} : i64, concat_dimension = {3} : i64, split_count = "
                      "2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : ({0}) -> "
                      "{1}\n return %g : {1}\n}}",
                      type.str(), out.str(), dim, concat),
          2, 1, {type}, {out.str()}));
    }
  }
}

TEST(Mesh, PermuteBroadcastAndIds) {
  const Type type = Type::tensor(DType::f32, {3});
  expect_same_on_threads(on_grid(
      R"((%x0: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<ui32>, tensor<ui32>) {
  %p = "stablehlo.collective_permute"(%x0) {source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<3xf32>) -> tensor<3xf32>
  %b = "stablehlo.collective_broadcast"(%x0) {replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<3xf32>) -> tensor<3xf32>
  %i = stablehlo.partition_id : tensor<ui32>
  %j = stablehlo.replica_id : tensor<ui32>
  return %p, %b, %i, %j : tensor<3xf32>, tensor<3xf32>, tensor<ui32>, tensor<ui32>
})",
      2, 3, {type}, {type.str(), type.str(), "tensor<ui32>", "tensor<ui32>"}));
}

// Small operands of one op go as one message, whichever way they are cut; large ones, and those of
// another type, go alone.
TEST(Mesh, SeveralOperandsOfOneOp) {
  const std::vector<Type> types = {
      Type::tensor(DType::f32, {2, 4, 3}),    Type::tensor(DType::f32, {4, 2, 1}),
      Type::tensor(DType::f32, {2, 2, 4000}), Type::tensor(DType::f32, {2, 6, 5}),
      Type::tensor(DType::f32, {6, 2, 0}),    Type::tensor(DType::f32, {2, 2, 1})};
  const auto changed = [&](int dim, int times, int parts) {
    std::vector<std::string> texts;
    for (Type type : types) {
      auto& size = type.shape[static_cast<std::size_t>(dim)];
      size = size * times / parts;
      texts.push_back(type.str());
    }
    return texts;
  };
  std::string values, head;
  for (std::size_t i = 0; i < types.size(); ++i) {
    values += fmt::format("{}%x{}", i == 0 ? "" : ", ", i);
    head += fmt::format("{}%x{}: {}", i == 0 ? "" : ", ", i, types[i].str());
  }
  const auto same = changed(0, 1, 1);
  const std::string sum = reduction("add", Type::tensor(DType::f32, {}));
  const std::string groups = "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>";
  const auto expect_same = [&](const std::string& op, const std::string& attributes,
                               const std::vector<std::string>& out) {
    const std::string outs = fmt::format("{}", fmt::join(out, ", "));
    expect_same_on_threads(on_grid(
        fmt::format("({0}) -> ({1}) {{\n %r:{2} = \"stablehlo.{3}\"({4}) {5} : ({6}) -> ({1})\n"
                    " return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : {1}\n}}",
                    head, outs, out.size(), op, values, attributes, fmt::join(same, ", ")),
        2, 1, types, out));
  };
  expect_same("all_reduce", sum + " {" + groups + "}", same);
  expect_same("collective_permute", "{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}",
              same);
  for (const int dim : {0, 1}) {
    expect_same("all_gather", fmt::format("{{all_gather_dim = {} : i64, {}}}", dim, groups),
                changed(dim, 2, 1));
    expect_same("reduce_scatter",
                fmt::format("{} {{scatter_dimension = {} : i64, {}}}", sum, dim, groups),
                changed(dim, 1, 2));
    expect_same("all_to_all",
                fmt::format("{{split_dimension = {0} : i64, concat_dimension = {0} : i64, "
                            "split_count = 2 : i64, {1}}}",
                            dim, groups),
                same);
  }
}

// A loop with a collective inside, on 4 devices with one executable.
constexpr const char* kLoopOnMesh =
    R"(func.func @main(%a: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<64x1024xf32>
   cond {
    %n = stablehlo.constant dense<20> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
   } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %s = "stablehlo.all_reduce"(%x) ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %m = stablehlo.maximum %p, %q : tensor<f32>
        stablehlo.return %m : tensor<f32>
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %id = stablehlo.partition_id : tensor<ui32>
    %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<64x1024xf32>
    %y = stablehlo.add %s, %b : tensor<64x1024xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<64x1024xf32>
   }
  return %r#1 : tensor<64x1024xf32>
})";

TEST(Mesh, OneExecutableOnManyDevices) {
  const Program program = read(kLoopOnMesh);
  const Executable executable = compiled(program);
  EXPECT_EQ(executable.interpreted_because(), "");
  std::size_t collectives = 0;
  for (const StepInfo& step : executable.steps()) collectives += step.kind == "collective";
  EXPECT_EQ(collectives, 2U);
  ThreadMesh mesh(4);
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::vector<Array>> arguments(4);
    for (auto& a : arguments) a = {small_numbers(Type::tensor(DType::f32, {64, 1024}))};
    const auto got = mesh.run(executable, arguments);
    ASSERT_TRUE(got) << got.reason();
    for (std::size_t d = 0; d < 4; ++d)
      for (std::size_t i = 0; i < 64 * 1024; i += 777)
        ASSERT_EQ((*got)[d][0].as<float>()[i],
                  arguments[d][0].as<float>()[i] + 19 * 3 + static_cast<float>(d));
  }
}

TEST(Mesh, WrongNumbersOfDevicesAreSaid) {
  const Executable executable = compiled(read(kLoopOnMesh));
  ThreadMesh mesh(2);
  const std::vector<Array> one = {Array(Type::tensor(DType::f32, {64, 1024}))};
  const auto got = mesh.run(executable, {one, one});
  ASSERT_FALSE(got);
  EXPECT_THAT(got.reason(), HasSubstr("rank "));
  EXPECT_THAT(got.reason(), HasSubstr("the groups have the id 2, but this run has 2 of them"));
  EXPECT_THAT(got.reason(), HasSubstr("all_reduce at test.mlir:11:10"));
  // The mesh is good for another run.
  const Executable other =
      compiled(read("func.func @main() -> tensor<ui32> {\n"
                    " %0 = stablehlo.partition_id : tensor<ui32>\n"
                    " return %0 : tensor<ui32>\n}"));
  const auto ids = mesh.run(other, {{}, {}});
  ASSERT_TRUE(ids) << ids.reason();
  EXPECT_EQ((*ids)[1][0].as<std::uint32_t>()[0], 1U);
}

TEST(Mesh, DifferentProgramsAreSeen) {
  auto transports = thread_transports(2);
  const std::string text =
      "func.func @main() -> tensor<f32> {{\n %0 = stablehlo.constant "
      "dense<{}> : tensor<f32>\n return %0 : tensor<f32>\n}}";
  std::vector<std::string> ends(2);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      const Executable executable = compiled(read(fmt::format(fmt::runtime(text), r + 1)));
      RunOptions options;
      options.transport = transports[r].get();
      const auto got = executable.run({}, options);
      if (!got) ends[r] = got.reason();
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& end : ends)
    EXPECT_THAT(end, HasSubstr("rank 1 of 2 runs another program than rank 0"));
}

TEST(Mesh, AFailureOnOneDeviceEndsAll) {
  ThreadMesh mesh(3);
  const Executable executable =
      compiled(read(R"(func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.all_reduce"(%a) ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %m = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})"));
  const std::vector<Array> good = {Array(Type::tensor(DType::f32, {2}))};
  const std::vector<Array> bad = {Array(Type::tensor(DType::f32, {3}))};
  const auto got = mesh.run(executable, {good, bad, good});
  ASSERT_FALSE(got);
  EXPECT_THAT(got.reason(), HasSubstr("rank 1 of 3 failed in step 0: "));
  EXPECT_THAT(got.reason(), HasSubstr("is tensor<2xf32>, tensor<3xf32> came in"));
}

}  // namespace
}  // namespace heddle
