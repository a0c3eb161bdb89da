// Library calls against the reference evaluation.
#include "compiled.h"
#include "heddle/builder.h"
#include "heddle/op.h"

namespace heddle {
namespace {

// That the program has a step of this kind whose name begins so.
void expect_step(const Executable& executable, std::string_view kind, std::string_view begin) {
  for (const StepInfo& step : executable.steps())
    if (step.kind == kind && step.name.starts_with(begin)) return;
  ADD_FAILURE() << "no " << kind << " " << begin;
}

// A product of short numbers: through another type, or by oneDNN as they are.
void expect_product(const Executable& executable, std::string_view sizes,
                    std::string_view through) {
  for (const StepInfo& step : executable.steps())
    if (step.name.starts_with(sizes) &&
        (step.name.ends_with("onednn") || step.name.substr(sizes.size()).starts_with(through)))
      return;
  ADD_FAILURE() << "no " << sizes << through;
}

struct DotCase {
  Shape lhs, rhs;
  DotDims dims;
};

const DotCase kDots[] = {
    {{40, 30}, {30, 50}, {{}, {}, {1}, {0}}},
    {{30, 40}, {30, 50}, {{}, {}, {0}, {0}}},
    {{40, 30}, {50, 30}, {{}, {}, {1}, {1}}},
    {{30, 40}, {50, 30}, {{}, {}, {0}, {1}}},
    {{3, 20, 17}, {3, 17, 23}, {{0}, {0}, {2}, {1}}},
    {{20, 3, 17}, {17, 23, 3}, {{1}, {2}, {2}, {0}}},
    {{4, 20, 5, 16}, {4, 20, 5, 16}, {{0, 2}, {0, 2}, {3}, {3}}},
    {{4, 20, 5, 16}, {5, 16, 40}, {{}, {}, {2, 3}, {0, 1}}},
    {{4, 20, 5, 16}, {16, 5, 40}, {{}, {}, {2, 3}, {1, 0}}},
    {{20, 5, 16}, {40, 20, 5}, {{}, {}, {0, 1}, {1, 2}}},
    {{1, 300}, {300, 200}, {{}, {}, {1}, {0}}},
    {{200, 300}, {300}, {{}, {}, {1}, {0}}},
    {{300, 200}, {300}, {{}, {}, {0}, {0}}},
    {{300}, {300}, {{}, {}, {0}, {0}}},
    {{40}, {300}, {}},
    {{40, 0}, {0, 30}, {{}, {}, {1}, {0}}},
    {{70, 1, 30}, {30, 1, 80}, {{}, {}, {2}, {0}}},
    {{2, 3, 4, 50}, {50, 6, 7, 8}, {{}, {}, {3}, {0}}},
};

TEST(Library, ProductsOfAllForms) {
  for (const DotCase& c : kDots)
    for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::ui8, DType::c64}) {
      Builder b;
      b.function("main", {Type::tensor(dtype, c.lhs), Type::tensor(dtype, c.rhs)},
                 [&](const Vars& in) -> Vars { return {b.dot(in[0], in[1], c.dims)}; });
      const Program program = b.finish().value();
      expect_same(program, arguments_for(program));
    }
}

TEST(Library, NarrowFloatsGoThroughF32) {
  for (DType dtype : {DType::bf16, DType::f16})
    for (std::optional<DType> result : {std::optional<DType>(), std::optional(DType::f32)}) {
      Builder b;
      b.function("main", {Type::tensor(dtype, {33, 70}), Type::tensor(dtype, {70, 40})},
                 [&](const Vars& in) -> Vars {
                   return {b.dot(in[0], in[1], {{}, {}, {1}, {0}}, result)};
                 });
      const Program program = b.finish().value();
      expect_same(program, arguments_for(program));
      expect_product(compiled(program), "gemm 33x40x70 ", "f32");
    }
}

TEST(Library, ShortNumbersGoThroughFloats) {
  struct Case {
    DType operand, result;
    std::int64_t terms;
    std::string_view by;
  };
  const Case cases[] = {
      {DType::f8e4m3fn, DType::f32, 70, "f32"}, {DType::f8e5m2, DType::f16, 70, "f32"},
      {DType::i8, DType::i32, 70, "f32"},       {DType::ui8, DType::ui32, 300, "f64"},
      {DType::i16, DType::i64, 70, "f64"},      {DType::i32, DType::i32, 70, "i32"},
      {DType::ui64, DType::ui64, 70, "ui64"},
  };
  for (const Case& c : cases) {
    Builder b;
    b.function("main",
               {Type::tensor(c.operand, {33, c.terms}), Type::tensor(c.operand, {c.terms, 40})},
               [&](const Vars& in) -> Vars {
                 return {b.dot(in[0], in[1], {{}, {}, {1}, {0}}, c.result)};
               });
    const Program program = b.finish().value();
    SCOPED_TRACE(name(c.operand));
    expect_same(program, arguments_for(program));
    expect_product(compiled(program), fmt::format("gemm 33x40x{} ", c.terms), c.by);
  }
}

TEST(Library, PlainOrdersAreNotCopied) {
  for (const DotCase& c : std::span(kDots).first(5)) {
    Builder b;
    b.function("main", {Type::tensor(DType::f32, c.lhs), Type::tensor(DType::f32, c.rhs)},
               [&](const Vars& in) -> Vars { return {b.dot(in[0], in[1], c.dims)}; });
    const Executable executable = compiled(b.finish().value());
    for (const StepInfo& step : executable.steps())
      EXPECT_EQ(step.name.find("copied"), std::string::npos) << step.name;
  }
}

std::string conv(std::string_view lhs, std::string_view rhs, std::string_view result,
                 std::string_view dims, std::string_view window, int groups = 1, int batches = 1) {
  return fmt::format(
      R"(func.func @main(%a: tensor<{0}>, %b: tensor<{1}>) -> tensor<{2}> {{
    %0 = stablehlo.convolution(%a, %b) dim_numbers = {3}, window = {{{4}}}
      {{batch_group_count = {6} : i64, feature_group_count = {5} : i64}} :
      (tensor<{0}>, tensor<{1}>) -> tensor<{2}>
    return %0 : tensor<{2}>
  }})",
      lhs, rhs, result, dims, window, groups, batches);
}

TEST(Library, ConvolutionsOfAllForms) {
  constexpr std::string_view kNhwc = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
  constexpr std::string_view kNchw = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]";
  const std::string programs[] = {
      conv("2x9x8x5xf32", "3x3x5x7xf32", "2x7x6x7xf32", kNhwc, ""),
      conv("2x9x8x5xf32", "3x3x5x7xf32", "2x9x8x7xf32", kNhwc, "pad = [[1, 1], [1, 1]]"),
      conv("2x9x8x5xf32", "1x1x5x7xf32", "2x9x8x7xf32", kNhwc, ""),
      conv("2x9x8x5xf32", "3x2x5x7xf32", "2x4x4x7xf32", kNhwc, "stride = [2, 2]"),
      conv("2x9x8x5xf32", "3x3x5x7xf32", "2x15x13x7xf32", kNhwc, "lhs_dilate = [2, 2]"),
      conv("2x9x8x5xf32", "1x1x5x7xf32", "2x17x15x7xf32", kNhwc, "lhs_dilate = [2, 2]"),
      conv("2x9x8x5xf32", "3x4x5x7xf32", "2x17x16x7xf32", kNhwc,
           "pad = [[1, 1], [2, 2]], lhs_dilate = [2, 2], reverse = [true, true]"),
      conv("2x5x9x8xf32", "7x5x4x3xf32", "2x7x12x7xf32", kNchw,
           "stride = [2, 2], pad = [[1, 0], [-1, 1]], lhs_dilate = [3, 2], rhs_dilate = [1, 1]"),
      conv("2x9x8x6xf32", "3x3x1x6xf32", "2x18x13x6xf32", kNhwc,
           "pad = [[2, 3], [0, 0]], lhs_dilate = [2, 2], rhs_dilate = [2, 1]", 6),
      conv("2x9x8x5xf32", "3x3x5x7xf32", "2x5x4x7xf32", kNhwc, "rhs_dilate = [2, 2]"),
      conv("2x9x8x5xf32", "3x3x5x7xf32", "2x7x6x7xf32", kNhwc, "reverse = [true, false]"),
      conv("2x9x8x5xf32", "3x3x5x7xf32", "2x6x6x7xf32", kNhwc, "pad = [[-1, 0], [0, 0]]"),
      conv("2x9x8x6xf32", "3x3x2x9xf32", "2x7x6x9xf32", kNhwc, "", 3),
      conv("2x9x8x6xf32", "3x3x1x6xf32", "2x7x6x6xf32", kNhwc, "", 6),
      conv("2x9x8x70xf64", "3x2x1x70xf64", "2x9x4x70xf64", kNhwc,
           "stride = [1, 2], pad = [[1, 1], [0, 0]], reverse = [true, false]", 70),
      conv("2x9x8x6xi32", "3x3x1x6xi32", "2x7x6x6xi32", kNhwc, "", 6),
      conv("2x9x8x6xf32", "6x1x3x3xf32", "2x7x6x6xf32", "[b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f]",
           "", 6),
      conv("4x9x8x5xf32", "3x3x5x6xf32", "2x7x6x6xf32", kNhwc, "", 1, 2),
      conv("2x5x9x8xf32", "7x5x3x3xf32", "2x7x9x8xf32", kNchw, "pad = [[1, 1], [1, 1]]"),
      conv("2x5x9x8xf64", "7x5x3x3xf64", "2x7x4x3xf64", kNchw, "stride = [2, 2]"),
      conv("2x5x9x8xi32", "7x5x3x3xi32", "2x7x7x6xi32", kNchw, ""),
      conv("2x9x8x5xbf16", "3x3x5x7xbf16", "2x7x6x7xbf16", kNhwc, ""),
      // The gradient of a kernel: images are features, and the window is an image.
      conv("4x9x8x5xf32", "4x7x6x3xf32", "3x3x5x3xf32", "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
           ""),
      // The same with so many features that tiles end in the middle of a place, padded and strided.
      conv("4x9x8x150xf32", "4x7x6x3xf32", "5x5x150x3xf32",
           "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]", "pad = [[1, 1], [1, 1]]"),
      conv("4x9x9x5xf32", "4x4x4x3xf32", "3x3x5x3xf32", "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
           "rhs_dilate = [2, 2]"),
      conv("2x5x9x8xf32", "7x5x1x1xf32", "2x7x9x8xf32", kNchw, ""),
      conv("2x5x9x8xf32", "7x5x1x1xf32", "2x7x5x4xf32", kNchw, "stride = [2, 2]"),
      conv("2x6x30x31xf32", "4x3x3x3xf32", "2x4x30x31xf32", kNchw, "pad = [[1, 1], [1, 1]]", 2),
      conv("2x9x8x5xf32", "3x3x5x7xf32", "2x7x7x6xf32", "[b, 0, 1, f]x[0, 1, i, o]->[b, f, 0, 1]",
           ""),
      conv("2x5x9x8xf32", "3x3x5x7xf32", "2x7x6x7xf32", "[b, f, 0, 1]x[0, 1, i, o]->[b, 0, 1, f]",
           ""),
      conv("2x5x6x7x3xf32", "3x2x3x3x4xf32", "2x5x5x5x4xf32",
           "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]", "pad = [[1, 1], [0, 0], [0, 0]]"),
      conv("2x50x6xf32", "4x6x8xf32", "2x47x8xf32", "[b, 0, f]x[0, i, o]->[b, 0, f]", ""),
      conv("3x6xf32", "6x8xf32", "3x8xf32", "[b, f]x[i, o]->[b, f]", ""),
      conv("2x3x40x40xf32", "1100x3x5x5xf32", "2x1100x36x36xf32", kNchw, ""),
      conv("2x6x5x1200xf32", "3x3x1200x7xf32", "2x4x3x7xf32", kNhwc, ""),
  };
  for (const std::string& text : programs) {
    SCOPED_TRACE(text);
    expect_same(text);
    expect_step(compiled(read(text)), "library", "conv");
  }
}

std::string sort(std::string_view type, std::string_view element, int operands, int dimension,
                 std::string_view body) {
  std::string list, types, arguments, names;
  for (int i = 0; i < operands; ++i) {
    const std::string comma = i > 0 ? ", " : "";
    list += fmt::format("{}%a{}: tensor<{}>", comma, i, type);
    types += fmt::format("{}tensor<{}>", comma, type);
    arguments += fmt::format("{}%l{}: tensor<{}>, %r{}: tensor<{}>", comma, i, element, i, element);
    names += fmt::format("{}%a{}", comma, i);
  }
  const std::string results = operands == 1 ? "%s" : "%s#0, %s#1";
  return fmt::format(R"(func.func @main({0}) -> ({1}) {{
    %s{2} = "stablehlo.sort"({3}) <{{dimension = {4} : i64, is_stable = true}}> ({{
      ^bb0({5}):
        {6}
        stablehlo.return %c : tensor<i1>
    }}) : ({1}) -> ({1})
    return {7} : {1}
  }})",
                     list, types, operands == 1 ? "" : ":2", names, dimension, arguments, body,
                     results);
}

TEST(Library, Sorts) {
  constexpr std::string_view kLess =
      "%c = stablehlo.compare LT, %l0, %r0 : (tensor<f32>, tensor<f32>) -> tensor<i1>";
  constexpr std::string_view kTotal =
      "%c = stablehlo.compare GT, %l0, %r0, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>";
  constexpr std::string_view kTwoKeys = R"(
        %e = stablehlo.compare EQ, %l0, %r0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %f = stablehlo.compare LT, %l0, %r0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %g = stablehlo.compare GT, %l1, %r1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %h = stablehlo.and %e, %g : tensor<i1>
        %c = stablehlo.or %f, %h : tensor<i1>)";
  constexpr std::string_view kInteger =
      "%c = stablehlo.compare GT, %l0, %r0 : (tensor<i16>, tensor<i16>) -> tensor<i1>";
  const std::string programs[] = {
      sort("40xf32", "f32", 1, 0, kLess),     sort("6x7x5xf32", "f32", 1, 1, kLess),
      sort("6x7x5xf32", "f32", 2, 2, kTotal), sort("6x50xf32", "f32", 2, 1, kTwoKeys),
      sort("70000xf32", "f32", 1, 0, kTotal), sort("3x40xi16", "i16", 2, 1, kInteger),
      sort("6x1xf32", "f32", 1, 1, kLess),
  };
  for (const std::string& text : programs) {
    SCOPED_TRACE(text);
    expect_same(text);
    expect_step(compiled(read(text)), "library", "sort");
  }
}

TEST(Library, SortsWithNaNAndBothZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {3, nan, -0.0F, 0, -nan, 2, -1, nan, 0, -0.0F, 7, -2};
  const Array array = make_array<float>(Shape{12}, values);
  for (std::string_view order : {"FLOAT", "TOTALORDER"})
    for (std::string_view direction : {"LT", "GT"}) {
      const Program program = read(sort(
          "12xf32", "f32", 1, 0,
          fmt::format("%c = stablehlo.compare {}, %l0, %r0, {} : (tensor<f32>, tensor<f32>) -> "
                      "tensor<i1>",
                      direction, order)));
      const Array wanted = interpret(program, program.functions[0], {array}).value()[0];
      const Array got = compiled(program).run({array}).value()[0];
      EXPECT_EQ(got, wanted) << order << " " << direction;
    }
}

std::string top_k(std::string_view rows, std::string_view element, int width, int kept) {
  return fmt::format(R"(func.func @main(%x: tensor<{0}{2}x{1}>) ->
      (tensor<{0}{3}x{1}>, tensor<{0}{3}xi32>) {{
    %v, %i = chlo.top_k(%x, k = {3}) : tensor<{0}{2}x{1}> -> (tensor<{0}{3}x{1}>, tensor<{0}{3}xi32>)
    return %v, %i : tensor<{0}{3}x{1}>, tensor<{0}{3}xi32>
  }})",
                     rows, element, width, kept);
}

TEST(Library, LargestElements) {
  for (std::string_view element : {"f32", "f64", "bf16", "i8", "ui16", "i64", "i1"})
    for (int kept : {1, 3, 20, 64}) {
      const std::string text = top_k("5x2x", element, 64, kept);
      SCOPED_TRACE(text);
      expect_same(text);
      expect_step(compiled(read(text)), "library", "top");
    }
  expect_same(top_k("", "f32", 1, 1));
  expect_same(top_k("300x", "f32", 5, 0));
}

TEST(Library, LargestElementsWithNaNAndBothZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {3, nan,   -0.0F, 0, -nan, 2,         -1,       nan,
                                     0, -0.0F, 7,     7, -2,   -infinity, infinity, 1e-40F};
  const Array array = make_array<float>(Shape{16}, values);
  for (int kept : {2, 9, 16}) {
    const Program program = read(top_k("", "f32", 16, kept));
    const auto wanted = interpret(program, program.functions[0], {array}).value();
    EXPECT_EQ(compiled(program).run({array}).value(), wanted) << kept;
  }
}

std::string scatter(std::string_view body) {
  return fmt::format(R"(func.func @main(%a: tensor<6x70xf32>, %u: tensor<9x70xf32>) ->
      tensor<6x70xf32> {{
    %i = stablehlo.constant dense<[[0], [5], [3], [3], [-1], [6], [0], [2], [3]]> : tensor<9x1xi32>
    %0 = "stablehlo.scatter"(%a, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        {}
        stablehlo.return %z : tensor<f32>
    }}) : (tensor<6x70xf32>, tensor<9x1xi32>, tensor<9x70xf32>) -> tensor<6x70xf32>
    return %0 : tensor<6x70xf32>
  }})",
                     body);
}

TEST(Library, Scatters) {
  const std::string programs[] = {
      scatter("%z = stablehlo.add %x, %y : tensor<f32>"),
      scatter("%z = stablehlo.maximum %y, %x : tensor<f32>"),
      scatter("%k = stablehlo.constant dense<2.0> : tensor<f32>\n"
              "%w = stablehlo.multiply %y, %k : tensor<f32>\n"
              "%z = stablehlo.subtract %x, %w : tensor<f32>"),
      // Windows that reach over the border, along the dimension that indices are for.
      R"(func.func @main(%a: tensor<4x9xi32>, %u: tensor<5x2x3xi32>) -> tensor<4x9xi32> {
        %i = stablehlo.constant dense<[[0, 0], [1, 7], [2, -2], [3, 4], [-1, 3]]> : tensor<5x2xi64>
        %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
            update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1],
            index_vector_dim = 1>}> ({
          ^bb0(%x: tensor<i32>, %y: tensor<i32>):
            stablehlo.return %y : tensor<i32>
        }) : (tensor<4x9xi32>, tensor<5x2xi64>, tensor<5x2x3xi32>) -> tensor<4x9xi32>
        return %0 : tensor<4x9xi32>
      })",
      // Scalars, the vector of indices inside of the last dimension of one.
      R"(func.func @main(%a: tensor<7xf32>, %u: tensor<11xf32>) -> tensor<7xf32> {
        %i = stablehlo.constant dense<[0, 6, 3, 3, 9, -2, 1, 1, 1, 5, 6]> : tensor<11xi32>
        %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
            index_vector_dim = 1>}> ({
          ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            %z = stablehlo.add %x, %y : tensor<f32>
            stablehlo.return %z : tensor<f32>
        }) : (tensor<7xf32>, tensor<11xi32>, tensor<11xf32>) -> tensor<7xf32>
        return %0 : tensor<7xf32>
      })",
  };
  for (const std::string& text : programs) {
    SCOPED_TRACE(text);
    expect_same(text);
    CompileOptions alone;
    alone.stitch.fuse = false;
    expect_same(text, alone);
  }
  // Rows of a table, and numbers, each by one index.
  for (const std::string_view element : {"f32", "f64", "i32", "ui64", "i8"})
    for (const std::string_view index : {"i32", "i64"})
      for (const std::string_view row : {"", "x5"})
        for (const std::string_view value : {"%z", "%y"}) {
          const std::string text = fmt::format(
              R"(func.func @main(%a: tensor<7{2}x{0}>, %u: tensor<11{2}x{0}>) -> tensor<7{2}x{0}> {{
            %i = stablehlo.constant dense<[[0], [6], [3], [3], [9], [-2], [1], [1], [1], [5], [6]]> : tensor<11x1x{1}>
            %0 = "stablehlo.scatter"(%a, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{3}
                inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
              ^bb0(%x: tensor<{0}>, %y: tensor<{0}>):
                %z = stablehlo.add %x, %y : tensor<{0}>
                stablehlo.return {4} : tensor<{0}>
            }}) : (tensor<7{2}x{0}>, tensor<11x1x{1}>, tensor<11{2}x{0}>) -> tensor<7{2}x{0}>
            return %0 : tensor<7{2}x{0}>
          }})",
              element, index, row, row.empty() ? "" : "update_window_dims = [1],", value);
          SCOPED_TRACE(text);
          expect_same(text);
        }
  // Few updates of a large value are a call, which works in place.
  const std::string few = R"(func.func @main(%a: tensor<40000xf32>, %u: tensor<11xf32>) ->
      tensor<40000xf32> {
    %i = stablehlo.constant dense<[0, 6, 3, 3, 90000, -2, 1, 1, 1, 5, 6]> : tensor<11xi32>
    %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
        index_vector_dim = 1>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %z = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %z : tensor<f32>
    }) : (tensor<40000xf32>, tensor<11xi32>, tensor<11xf32>) -> tensor<40000xf32>
    return %0 : tensor<40000xf32>
  })";
  expect_same(few);
  expect_step(compiled(read(few)), "library", "scatter");
}

TEST(Library, Transforms) {
  const auto fft = [](std::string_view from, std::string_view to, std::string_view kind,
                      std::string_view lengths) {
    return fmt::format(R"(func.func @main(%a: tensor<{0}>) -> tensor<{1}> {{
      %0 = stablehlo.fft %a, type = {2}, length = [{3}] : (tensor<{0}>) -> tensor<{1}>
      return %0 : tensor<{1}>
    }})",
                       from, to, kind, lengths);
  };
  // Few lines and more than lie side by side; factors with code of their own, others, and primes
  // that have none; real numbers, even and odd many, along several axes.
  const auto same = [&](std::string_view type, std::string_view kind, std::string_view lengths) {
    return fft(type, type, kind, lengths);
  };
  const std::string programs[] = {
      same("16xcomplex<f64>", "FFT", "16"),
      same("3x30xcomplex<f64>", "IFFT", "30"),
      same("2x7x11xcomplex<f64>", "FFT", "7, 11"),
      same("11x210xcomplex<f64>", "FFT", "210"),
      same("2x37x19xcomplex<f64>", "IFFT", "37, 19"),
      same("17x211xcomplex<f32>", "FFT", "211"),
      same("3x4x6x10xcomplex<f32>", "IFFT", "4, 6, 10"),
      fft("4x12xf64", "4x7xcomplex<f64>", "RFFT", "12"),
      fft("9x74xf64", "9x38xcomplex<f64>", "RFFT", "74"),
      fft("2x5x9xf64", "2x5x5xcomplex<f64>", "RFFT", "5, 9"),
      fft("3x8x6xf32", "3x8x4xcomplex<f32>", "RFFT", "8, 6"),
      fft("4x7xcomplex<f64>", "4x12xf64", "IRFFT", "12"),
      fft("10x38xcomplex<f64>", "10x74xf64", "IRFFT", "74"),
      fft("3x5x5xcomplex<f64>", "3x5x9xf64", "IRFFT", "5, 9"),
      fft("3x6x5xcomplex<f32>", "3x6x8xf32", "IRFFT", "6, 8"),
      fft("4x1xf32", "4x1xcomplex<f32>", "RFFT", "1"),
      fft("2x2xcomplex<f32>", "2x2xf32", "IRFFT", "2"),
      // Eight lines at a time, by rows and by columns, and what is left of both.
      fft("17x30xf32", "17x16xcomplex<f32>", "RFFT", "30"),
      fft("9x16xcomplex<f32>", "9x30xf32", "IRFFT", "30"),
      same("10x24x9xcomplex<f32>", "FFT", "24, 9"),
      same("11x6x12xcomplex<f64>", "IFFT", "6, 12"),
  };
  for (const std::string& text : programs) {
    SCOPED_TRACE(text);
    const Program program = read(text);
    const std::vector<Array> arguments = arguments_for(program);
    const Array wanted = interpret(program, program.functions[0], arguments).value()[0];
    const Array got = compiled(program).run(arguments).value()[0];
    const auto expect_near = [&](auto tag, double far) {
      using T = decltype(tag);
      const std::span<const T> ours = got.as<T>(), theirs = wanted.as<T>();
      for (std::size_t i = 0; i < wanted.bytes().size() / sizeof(T); ++i)
        ASSERT_NEAR(ours[i], theirs[i], far) << i;
    };
    const bool is_wide = wanted.dtype() == DType::f64 || wanted.dtype() == DType::c128;
    is_wide ? expect_near(double{}, 1e-11) : expect_near(float{}, 1e-4);
    expect_step(compiled(program), "library",
                text.find("IRFFT") != std::string::npos ? "IRFFT" : "");
  }
}

// Windows that overlap, are padded or dilated; equal elements, of which one is chosen.
std::string pool_gradient(std::string_view operand, std::string_view source,
                          std::string_view element, std::string_view compare,
                          std::string_view attributes) {
  return fmt::format(
      R"(func.func @main(%a: tensor<{0}x{2}>, %s: tensor<{1}x{2}>) -> tensor<{0}x{2}> {{
    %zero = stablehlo.constant dense<1> : tensor<i32>
    %init = stablehlo.convert %zero : (tensor<i32>) -> tensor<{2}>
    %0 = "stablehlo.select_and_scatter"(%a, %s, %init) ({{
      ^bb0(%x: tensor<{2}>, %y: tensor<{2}>):
        %c = stablehlo.compare {3}, %x, %y : (tensor<{2}>, tensor<{2}>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
    }}, {{
      ^bb0(%x: tensor<{2}>, %y: tensor<{2}>):
        %t = stablehlo.add %x, %y : tensor<{2}>
        stablehlo.return %t : tensor<{2}>
    }}) {{{4}}} : (tensor<{0}x{2}>, tensor<{1}x{2}>, tensor<{2}>) -> tensor<{0}x{2}>
    return %0 : tensor<{0}x{2}>
  }})",
      operand, source, element, compare, attributes);
}

TEST(Library, GradientsOfPooling) {
  constexpr std::string_view kOverlap =
      "window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>, "
      "padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>";
  constexpr std::string_view kHalf =
      "window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>";
  for (std::string_view element : {"f32", "f64", "i32"})
    for (std::string_view compare : {"GE", "GT", "LE", "LT"}) {
      expect_same(pool_gradient("2x9x9x70", "2x5x5x70", element, compare, kOverlap));
      expect_same(pool_gradient("3x20x20x16", "3x10x10x16", element, compare, kOverlap));
      expect_same(pool_gradient("2x3x8x8", "2x3x4x4", element, compare, kHalf));
    }
  // Windows of one element, and more places than elements.
  expect_same(pool_gradient("2x5", "2x5", "f32", "GE", "window_dimensions = array<i64: 1, 1>"));
  expect_same(pool_gradient("2x5", "4x5", "f32", "GE",
                            "window_dimensions = array<i64: 1, 1>, "
                            "padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>"));
}

}  // namespace
}  // namespace heddle
