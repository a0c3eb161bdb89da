// Cumulative sums along one long row become sums along parts of it.
#include <gtest/gtest.h>

#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "heddle/stablehlo.h"
#include "heddle/stitch.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace long_scan_tests {

struct Scan {
  std::string type = "f32", op = "add", begin = "0.0";
  std::vector<std::int64_t> shape = {96};
  std::size_t dim = 0;
  bool backward = false;
};

Program program_of(const Scan& scan) {
  std::string shape, window, padding;
  for (std::size_t d = 0; d < scan.shape.size(); ++d) {
    const std::int64_t n = d == scan.dim ? scan.shape[d] : 1;
    shape += fmt::format("{}x", scan.shape[d]);
    window += fmt::format("{}{}", d > 0 ? ", " : "", n);
    padding += fmt::format("{}[{}, {}]", d > 0 ? ", " : "", scan.backward ? 0 : n - 1,
                           scan.backward ? n - 1 : 0);
  }
  return read_stablehlo(fmt::format(R"(
    func.func @main(%x: tensor<{0}{1}>) -> tensor<{0}{1}> {{
      %z = stablehlo.constant dense<{2}> : tensor<{1}>
      %0 = "stablehlo.reduce_window"(%x, %z) ({{
        ^bb0(%a: tensor<{1}>, %b: tensor<{1}>):
          %c = stablehlo.{3} %a, %b : tensor<{1}>
          stablehlo.return %c : tensor<{1}>
      }}) {{window_dimensions = array<i64: {4}>, padding = dense<[{5}]> : tensor<{6}x2xi64>}}
          : (tensor<{0}{1}>, tensor<{1}>) -> tensor<{0}{1}>
      return %0 : tensor<{0}{1}>
    }})",
                                    shape, scan.type, scan.begin, scan.op, window, padding,
                                    scan.shape.size()))
      .value();
}

Program in_parts(const Program& program, bool counts_all = true) {
  MachineFigures machine;
  machine.counts_all = counts_all;
  machine.workers = 16;
  return with_scans_in_parts(program, machine,
                             {.least_row = 64, .shortest_part = 4, .longest_part = 32})
      .value();
}

// Small whole numbers, whose sums are exact in any order.
Array numbers(const Type& type) {
  Array array(type);
  dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    int at = 0;
    for (T& x : array.template as_mutable<T>()) x = convert_scalar<T>(at++ * 37 % 11 - 5);
  });
  return array;
}

void expect_parts(const Scan& scan) {
  SCOPED_TRACE(fmt::format("{} of {}{}", scan.op, scan.type, scan.backward ? " backward" : ""));
  const Program program = program_of(scan), made = in_parts(program);
  EXPECT_GT(made.region(made.find_function("main")->body).ops.size(), 8U);
  const std::vector<Array> given = {
      numbers(program.type_of(program.region(program.find_function("main")->body).args[0]))};
  const auto wanted = interpret(program, *program.find_function("main"), given).value();
  const auto got = interpret(made, *made.find_function("main"), given).value();
  EXPECT_EQ(got[0].type(), wanted[0].type());
  EXPECT_TRUE(std::ranges::equal(got[0].bytes(), wanted[0].bytes()));
}

void expect_same(const Scan& scan, bool counts_all = true) {
  const Program program = program_of(scan), made = in_parts(program, counts_all);
  EXPECT_EQ(made.region(made.find_function("main")->body).ops.size(),
            program.region(program.find_function("main")->body).ops.size());
}

TEST(LongScans, RowsInPartsGiveTheSame) {
  for (const bool backward : {false, true}) {
    expect_parts({.backward = backward});
    expect_parts({.type = "i32", .begin = "0", .shape = {1, 100}, .dim = 1, .backward = backward});
    expect_parts({.op = "maximum", .begin = "0xFF800000", .backward = backward});
    expect_parts({.type = "f64",
                  .op = "minimum",
                  .begin = "0x7FF0000000000000",
                  .shape = {1, 1, 128},
                  .dim = 2,
                  .backward = backward});
    expect_parts({.type = "ui8", .op = "multiply", .begin = "1", .backward = backward});
  }
}

TEST(LongScans, OthersStayWhole) {
  expect_same({}, false);                      // not such a device
  expect_same({.shape = {63}});                // too short
  expect_same({.shape = {97}});                // no parts of one length
  expect_same({.shape = {2, 96}, .dim = 1});   // several rows
  expect_same({.shape = {96, 2}});             // not along rows
  expect_same({.type = "bf16"});               // would round twice more
  expect_same({.op = "add", .begin = "1.0"});  // begins with something
}

}  // namespace long_scan_tests
}  // namespace heddle
