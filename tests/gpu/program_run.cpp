// Whole programs on a CUDA device, through the runtime, give what the reference gives.
#include <gmock/gmock.h>

#include <cmath>

#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/inputs.h"
#include "heddle/interpreter.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"

namespace heddle {
namespace {

class GpuProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
  static Target target() {
    Target target;
    target.options.device = *gpu::device();
    return target;
  }
};

Program read(std::string_view text) { return read_stablehlo(std::string(text)).value(); }

Array numbered(const Type& type) {
  Array array(type);
  float next = -1;
  for (float& number : array.as_mutable<float>()) number = next = next > 1 ? -1 : next + 0.013f;
  return array;
}

void expect_near(const Array& a, const Array& b) {
  ASSERT_EQ(a.as<float>().size(), b.as<float>().size());
  for (std::size_t i = 0; i < a.as<float>().size(); ++i)
    ASSERT_NEAR(a.as<float>()[i], b.as<float>()[i], 1e-3) << i;
}

TEST_F(GpuProgram, ProductsAreCallsAndAgree) {
  for (const char* dims : {"[1] x [0]", "[0] x [0]", "[1] x [1]", "[0] x [1]"}) {
    const Program program = read(fmt::format(R"(
      func.func @main(%a: tensor<160x160xf32>, %b: tensor<160x160xf32>) -> tensor<160x160xf32> {{
        %0 = stablehlo.dot_general %a, %b, contracting_dims = {} :
          (tensor<160x160xf32>, tensor<160x160xf32>) -> tensor<160x160xf32>
        return %0 : tensor<160x160xf32>
      }})",
                                             dims));
    const Type type = Type::tensor(DType::f32, {160, 160});
    const std::vector<Array> arguments{numbered(type), numbered(type)};
    const auto executable = compile(program, target());
    ASSERT_TRUE(executable) << executable.reason();
    const auto got = executable->run(arguments);
    ASSERT_TRUE(got) << got.reason();
    expect_near(interpret(program, program.functions[0], arguments).value()[0], (*got)[0]);
  }
}

// Numbers are whole and small, so that sums are exact.
TEST_F(GpuProgram, ProductsOfEightBitsAreCallsAndAgree) {
  for (const char* other : {"f8E4M3FN", "f8E5M2"}) {
    const Program program = read(fmt::format(R"(
      func.func @main(%a: tensor<256x128xf8E4M3FN>, %b: tensor<192x128x{0}>) -> tensor<256x192xf32> {{
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] :
          (tensor<256x128xf8E4M3FN>, tensor<192x128x{0}>) -> tensor<256x192xf32>
        return %0 : tensor<256x192xf32>
      }})",
                                             other));
    std::vector<Array> arguments;
    for (const Type& type : {Type::tensor(DType::f8e4m3fn, {256, 128}),
                             Type::tensor(parse_dtype(other).value(), {192, 128})}) {
      Array array(type);
      dispatch(type.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        std::int32_t next = 0;
        for (T& x : array.as_mutable<T>())
          x = convert_scalar<T>((next = (next * 5 + 3) % 64) % 4 - 1);
      });
      arguments.push_back(array);
    }
    const Executable executable = compile(program, target()).value();
    EXPECT_THAT(executable.steps().at(0).name, testing::HasSubstr("cublasLt"));
    expect_near(interpret(program, program.functions[0], arguments).value()[0],
                executable.run(arguments).value()[0]);
  }
}

// A kernel that goes on with running sums down columns: few blocks, which clusters could share.
TEST_F(GpuProgram, RunningSumsOfColumnsAndWhatFollowsAgree) {
  const Program program = read(R"(
      func.func @main(%x: tensor<2048x512xi32>) -> tensor<2048x512xi32> {
        %z = stablehlo.constant dense<0> : tensor<i32>
        %two = stablehlo.constant dense<2> : tensor<2048x512xi32>
        %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2048, 1>, padding = dense<[[2047, 0], [0, 0]]> : tensor<2x2xi64>}> ({
          ^bb0(%a: tensor<i32>, %b: tensor<i32>):
            %s = stablehlo.add %a, %b : tensor<i32>
            stablehlo.return %s : tensor<i32>
          }) : (tensor<2048x512xi32>, tensor<i32>) -> tensor<2048x512xi32>
        %1 = stablehlo.multiply %0, %two : tensor<2048x512xi32>
        return %1 : tensor<2048x512xi32>
      })");
  Array x(Type::tensor(DType::i32, {2048, 512})), sums(x.type());
  const auto given = x.as_mutable<std::int32_t>();
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = static_cast<std::int32_t>(i % 13);
  const auto wanted = sums.as_mutable<std::int32_t>();
  for (std::size_t i = 0; i < given.size(); ++i)
    wanted[i] = 2 * given[i] + (i < 512 ? 0 : wanted[i - 512]);
  const Executable executable = compile(program, target()).value();
  const Array got = executable.run({x}).value()[0];
  EXPECT_TRUE(std::ranges::equal(got.as<std::int32_t>(), sums.as<std::int32_t>()));
}

// Of every number of 16 bits, also those that are too large and those that are none (whose signs
// the processor drops where it widens f16).
TEST_F(GpuProgram, FloatsOfEightBitsAreTheNearest) {
  for (const char* to : {"f8E4M3FN", "f8E5M2"}) {
    const Program program = read(fmt::format(R"(
      func.func @main(%x: tensor<65536xbf16>, %y: tensor<65536xf16>) -> (tensor<65536x{0}>, tensor<65536x{0}>) {{
        %0 = stablehlo.convert %x : (tensor<65536xbf16>) -> tensor<65536x{0}>
        %1 = stablehlo.convert %y : (tensor<65536xf16>) -> tensor<65536x{0}>
        return %0, %1 : tensor<65536x{0}>, tensor<65536x{0}>
      }})",
                                             to));
    std::vector<Array> arguments;
    for (DType type : {DType::bf16, DType::f16}) {
      Array array(Type::tensor(type, {65536}));
      for (std::size_t i = 0; i < 65536; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        std::memcpy(array.mutable_bytes().data() + 2 * i, &bits, 2);
      }
      arguments.push_back(array);
    }
    const auto wanted = interpret(program, program.functions[0], arguments).value();
    const auto got = compile(program, target()).value().run(arguments).value();
    const DType small = parse_dtype(to).value();
    for (std::size_t r = 0; r < 2; ++r)
      dispatch(small, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (is_small_float_v<T>) {
          const auto want = wanted[r].as<T>(), have = got[r].as<T>();
          for (std::size_t i = 0; i < want.size(); ++i)
            ASSERT_TRUE(wanted[r].bytes()[i] == got[r].bytes()[i] ||
                        (std::isnan(static_cast<double>(want[i])) &&
                         std::isnan(static_cast<double>(have[i]))))
                << to << " " << r << " " << i;
        }
      });
  }
}

TEST_F(GpuProgram, BatchesOfProductsAgree) {
  const Program program = read(R"(
    func.func @main(%a: tensor<6x40x5x64xf32>, %b: tensor<6x48x5x64xf32>) -> tensor<6x5x40x48xf32> {
      %0 = stablehlo.dot_general %a, %b, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
        : (tensor<6x40x5x64xf32>, tensor<6x48x5x64xf32>) -> tensor<6x5x40x48xf32>
      return %0 : tensor<6x5x40x48xf32>
    })");
  const std::vector<Array> arguments{numbered(Type::tensor(DType::f32, {6, 40, 5, 64})),
                                     numbered(Type::tensor(DType::f32, {6, 48, 5, 64}))};
  const auto got = compile(program, target()).value().run(arguments);
  ASSERT_TRUE(got) << got.reason();
  expect_near(interpret(program, program.functions[0], arguments).value()[0], (*got)[0]);
}

// Attention of ten sequences with twelve heads, which lie side by side in a row.
Program heads_of_sequences(std::int64_t length, std::int64_t width) {
  const std::string heads = fmt::format("tensor<10x{}x12x{}xf32>", length, width);
  const std::string rows = fmt::format("tensor<10x{}x{}xf32>", length, 12 * width);
  const std::string whole = fmt::format("tensor<10x{}x{}xf32>", length, 36 * width);
  const std::string square = fmt::format("tensor<10x12x{0}x{0}xf32>", length);
  const std::string mixed = fmt::format("tensor<10x12x{}x{}xf32>", length, width);
  std::string text = fmt::format("func.func @main(%x: {}) -> {} {{\n", whole, rows);
  for (int part = 0; part < 3; ++part)
    text += fmt::format(
        "%s{0} = stablehlo.slice %x [0:10, 0:{1}, {2}:{3}] : ({4}) -> {5}\n"
        "%h{0} = stablehlo.reshape %s{0} : ({5}) -> {6}\n",
        part, length, part * 12 * width, (part + 1) * 12 * width, whole, rows, heads);
  text += fmt::format(R"(
      %s = stablehlo.dot_general %h0, %h1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
        : ({0}, {0}) -> {1}
      %e = stablehlo.tanh %s : {1}
      %o = stablehlo.dot_general %e, %h2, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1]
        : ({1}, {0}) -> {2}
      %t = stablehlo.transpose %o, dims = [0, 2, 1, 3] : ({2}) -> {0}
      %r = stablehlo.reshape %t : ({0}) -> {3}
      return %r : {3}
    }})",
                      heads, square, mixed, rows);
  return read(text);
}

// Two loops around a product, of which the library takes one: ten turns of the other on eight
// streams, alone and in a recording; large enough that ways are tried, and not.
TEST_F(GpuProgram, HeadsOfSeveralSequencesAgree) {
  const auto queue = (*gpu::device())->queue();
  for (const auto& [length, width] : {std::pair{16, 8}, std::pair{128, 32}}) {
    const Program program = heads_of_sequences(length, width);
    const Executable executable = compile(program, target()).value();
    EXPECT_EQ(executable.steps().size(), 3U);
    Array x = numbered(Type::tensor(DType::f32, {10, length, 36 * width}));
    const Array wanted = interpret(program, program.functions[0], {x}).value()[0];
    const Buffer there = to_device(*queue, x).value();
    for (int turn = 0; turn < 10; ++turn) {
      const Buffer result = executable.run_on_device({there}).value()[0];
      expect_near(wanted, to_host(*queue, result, wanted.type()).value());
    }
  }
}

// Every element of every type comes where it belongs: tiles that fit, and those that are cut off.
TEST_F(GpuProgram, TransposesAgree) {
  struct Case {
    const char *from, *permutation, *to;
  };
  for (const Case& c :
       {Case{"256x320", "1, 0", "320x256"}, Case{"250x331", "1, 0", "331x250"},
        Case{"3x64x40x24", "0, 2, 3, 1", "3x40x24x64"},
        Case{"4x72x5x48", "0, 2, 3, 1", "4x5x48x72"}, Case{"6x48x56", "2, 1, 0", "56x48x6"}})
    for (const char* type : {"f64", "f32", "bf16", "i8", "i1"}) {
      const Program program = read(fmt::format(R"(
        func.func @main(%x: tensor<{0}x{3}>) -> tensor<{2}x{3}> {{
          %0 = stablehlo.transpose %x, dims = [{1}] : (tensor<{0}x{3}>) -> tensor<{2}x{3}>
          return %0 : tensor<{2}x{3}>
        }})",
                                               c.from, c.permutation, c.to, type));
      const Type in = argument_types(program, program.functions[0])[0];
      const std::vector<Array> arguments{random_array(in, 3)};
      const auto got = compile(program, target()).value().run(arguments);
      ASSERT_TRUE(got) << got.reason();
      EXPECT_EQ(interpret(program, program.functions[0], arguments).value()[0], (*got)[0])
          << c.from << " of " << type;
    }
}

// Channels first, normalised, channels last: a tile in shared memory, turned.
TEST_F(GpuProgram, ATransposedNormAgrees) {
  const Program program = read(R"(
    func.func @main(%x: tensor<4x256x320xf32>) -> tensor<4x320x256xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<4x256x320xf32>) -> tensor<4x320x256xf32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [2]
        : (tensor<4x320x256xf32>, tensor<f32>) -> tensor<4x320xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<4x320xf32>) -> tensor<4x320x256xf32>
      %3 = stablehlo.subtract %0, %2 : tensor<4x320x256xf32>
      return %3 : tensor<4x320x256xf32>
    })");
  const std::vector<Array> arguments{numbered(Type::tensor(DType::f32, {4, 256, 320}))};
  const auto got = compile(program, target()).value().run(arguments);
  ASSERT_TRUE(got) << got.reason();
  expect_near(interpret(program, program.functions[0], arguments).value()[0], (*got)[0]);
}

// Values that stay on the device from one run to the next.
TEST_F(GpuProgram, BuffersStayThere) {
  const Program program = read(R"(
    func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
      %0 = stablehlo.add %x, %x : tensor<1000xf32>
      return %0 : tensor<1000xf32>
    })");
  const Executable executable = compile(program, target()).value();
  const auto queue = (*gpu::device())->queue();
  const Array start = numbered(Type::tensor(DType::f32, {1000}));
  Buffer x = to_device(*queue, start).value();
  for (int step = 0; step < 10; ++step) x = executable.run_on_device({x}).value()[0];
  const Array end = to_host(*queue, x, start.type()).value();
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(end.as<float>()[i], 1024 * start.as<float>()[i]);
}

TEST_F(GpuProgram, GradientsOfPoolingAgree) {
  const Program program = read(R"(
    func.func @main(%x: tensor<3x13x12x5xf32>, %s: tensor<3x7x5x5xf32>, %z: tensor<f32>) -> tensor<3x13x12x5xf32> {
      %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<3x13x12x5xf32>, tensor<3x7x5x5xf32>, tensor<f32>) -> tensor<3x13x12x5xf32>
      return %0 : tensor<3x13x12x5xf32>
    })");
  // Few different numbers, so that windows have to choose among equal ones.
  Array x = numbered(Type::tensor(DType::f32, {3, 13, 12, 5}));
  for (float& number : x.as_mutable<float>()) number = std::floor(number * 40) / 8;
  Array zero(Type::tensor(DType::f32, {}));
  zero.as_mutable<float>()[0] = 0.5F;
  const std::vector<Array> arguments{x, numbered(Type::tensor(DType::f32, {3, 7, 5, 5})), zero};
  const Executable executable = compile(program, target()).value();
  for (const StepInfo& step : executable.steps())
    EXPECT_EQ(step.name.find("on the host"), std::string::npos) << step.name;
  expect_near(interpret(program, program.functions[0], arguments).value()[0],
              executable.run(arguments).value()[0]);
}

// Rows for a warp and rows for a block, with elements that are equal.
TEST_F(GpuProgram, TheLargestOfRowsAgree) {
  for (std::int64_t width : {7, 64, 3000}) {
    const Program program = read(fmt::format(R"(
      func.func @main(%x: tensor<13x{0}xf32>) -> (tensor<13x5xf32>, tensor<13x5xi32>) {{
        %v, %i = chlo.top_k(%x, k = 5) : tensor<13x{0}xf32> -> (tensor<13x5xf32>, tensor<13x5xi32>)
        return %v, %i : tensor<13x5xf32>, tensor<13x5xi32>
      }})",
                                             width));
    Array x = numbered(Type::tensor(DType::f32, {13, width}));
    for (float& number : x.as_mutable<float>()) number = std::floor(number * 20) / 4;
    const Executable executable = compile(program, target()).value();
    for (const StepInfo& step : executable.steps())
      EXPECT_EQ(step.name.find("on the host"), std::string::npos) << step.name;
    const auto want = interpret(program, program.functions[0], {x}).value();
    const auto got = executable.run({x}).value();
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(std::ranges::equal(want[i].bytes(), got[i].bytes())) << width << " " << i;
  }
}

// Eight steps that are kept as a graph, with arguments at other places from run to run.
TEST_F(GpuProgram, WorkThatIsKeptAgrees) {
  std::string text =
      "func.func @main(%x0: tensor<160x160xf32>, %w: tensor<160x160xf32>) -> tensor<160x160xf32> "
      "{\n";
  for (int i = 0; i < 8; ++i)
    text += fmt::format(
        "%x{1} = stablehlo.dot_general %x{0}, %w, contracting_dims = [1] x [0] : "
        "(tensor<160x160xf32>, tensor<160x160xf32>) -> tensor<160x160xf32>\n",
        i, i + 1);
  text += "return %x8 : tensor<160x160xf32>\n}";
  const Program program = read(text);
  const Executable executable = compile(program, target()).value();
  const Type type = Type::tensor(DType::f32, {160, 160});
  Array w = numbered(type);
  for (float& number : w.as_mutable<float>()) number /= 10;
  const auto queue = (*gpu::device())->queue();
  const Buffer weights = to_device(*queue, w).value();
  std::vector<Array> inputs(3, numbered(type));
  std::vector<Array> wanted;
  std::vector<Buffer> there;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (float& number : inputs[i].as_mutable<float>()) number += static_cast<float>(i);
    wanted.push_back(executable.run({inputs[i], w}).value()[0]);
    there.push_back(to_device(*queue, inputs[i]).value());
  }
  for (int turn = 0; turn < 30; ++turn) {
    const std::size_t i = static_cast<std::size_t>(turn) * 7 % 3;
    const Buffer result = executable.run_on_device({there[i], weights}).value()[0];
    const Array got = to_host(*queue, result, type).value();
    ASSERT_TRUE(std::ranges::equal(got.bytes(), wanted[i].bytes())) << "turn " << turn;
  }
}

// Their negation was lost by ptxas where three of them are compared.
TEST_F(GpuProgram, TheLargestAndLeastOfNegatedIntegersAgree) {
  for (const char* type : {"i8", "i16", "i32"})
    for (const char* which : {"maximum", "minimum"}) {
      const Program program = read(fmt::format(R"(
        func.func @main(%x: tensor<13x7x{0}>) -> tensor<13x3x{0}> {{
          %n = stablehlo.negate %x : tensor<13x7x{0}>
          %z = stablehlo.constant dense<1> : tensor<{0}>
          %0 = "stablehlo.reduce_window"(%n, %z) <{{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}}> ({{
            ^bb0(%a: tensor<{0}>, %b: tensor<{0}>):
              %m = stablehlo.{1} %a, %b : tensor<{0}>
              stablehlo.return %m : tensor<{0}>
          }}) : (tensor<13x7x{0}>, tensor<{0}>) -> tensor<13x3x{0}>
          return %0 : tensor<13x3x{0}>
        }})",
                                               type, which));
      Array x(program.type_of(program.region(program.functions[0].body).args[0]));
      dispatch(x.type().dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        std::int32_t next = 0;
        for (T& number : x.as_mutable<T>())
          number = convert_scalar<T>((next = (next * 5 + 3) % 64) - 32);
      });
      const auto executable = compile(program, target());
      ASSERT_TRUE(executable) << executable.reason();
      const auto got = executable->run({x});
      ASSERT_TRUE(got) << got.reason();
      const auto due = interpret(program, program.functions[0], {x}).value();
      EXPECT_TRUE(std::ranges::equal(due[0].bytes(), (*got)[0].bytes())) << type << " " << which;
    }
}

TEST_F(GpuProgram, TooMuchMemoryIsSaid) {
  const auto buffer = (*gpu::device())->allocate(std::int64_t{1} << 50);
  ASSERT_FALSE(buffer);
  EXPECT_THAT(buffer.reason(), testing::HasSubstr("has no room for"));
  const Buffer held = (*gpu::device())->allocate(3 << 20).value();
  const auto again = (*gpu::device())->allocate(std::int64_t{1} << 50);
  EXPECT_THAT(again.reason(), testing::HasSubstr("the largest: "));
  EXPECT_TRUE((*gpu::device())->allocate(1000));
}

}  // namespace
}  // namespace heddle
