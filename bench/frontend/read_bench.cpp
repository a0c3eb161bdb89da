// Time of reading StableHLO text: constants in hex, and a long program of many small ops.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "heddle/stablehlo.h"
#include "heddle/verify.h"

namespace heddle {
namespace {

std::string constant(const char* element, std::int64_t elements, std::size_t bytes) {
  std::string digits(2 * bytes, '0');
  for (std::size_t i = 0; i < digits.size(); ++i) digits[i] = "0123456789ABCDEF"[i * 7 % 13 % 16];
  return fmt::format(
      "func.func @main() {{\n  %0 = stablehlo.constant dense<\"0x{}\"> : tensor<{}x{}>\n  "
      "return\n}}\n",
      digits, elements, element);
}

// Bytes are those of the constant; its text is twice as long.
void HexConstant(benchmark::State& state, const char* element, std::size_t size) {
  const auto bytes = static_cast<std::size_t>(state.range(0)) << 20;
  const std::string text = constant(element, static_cast<std::int64_t>(bytes / size), bytes);
  for (auto _ : state) benchmark::DoNotOptimize(read_stablehlo(text).value());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}
BENCHMARK_CAPTURE(HexConstant, f32, "f32", 4)->Arg(1)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(HexConstant, i8, "i8", 1)->Arg(64)->Unit(benchmark::kMillisecond);

// Layers as a transformer has them, some 80,000 lines.
std::string many_ops(int layers) {
  std::string text =
      "module @m {\n  func.func public @main(%x: tensor<64x128xbf16>, %w: tensor<128x128xbf16>, "
      "%b: tensor<128xf32>) -> tensor<64x128xbf16> {\n";
  std::string last = "%x";
  for (int i = 0; i < layers; ++i) {
    text += fmt::format(
        "    %d{0} = stablehlo.dot_general {1}, %w, contracting_dims = [1] x [0], precision = "
        "[DEFAULT, DEFAULT] : (tensor<64x128xbf16>, tensor<128x128xbf16>) -> tensor<64x128xbf16>\n"
        "    %f{0} = stablehlo.convert %d{0} : (tensor<64x128xbf16>) -> tensor<64x128xf32>\n"
        "    %c{0} = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
        "    %r{0} = stablehlo.reduce(%f{0} init: %c{0}) applies stablehlo.add across dimensions = "
        "[1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>\n"
        "    %s{0} = stablehlo.broadcast_in_dim %r{0}, dims = [0] : (tensor<64xf32>) -> "
        "tensor<64x128xf32>\n"
        "    %t{0} = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<128xf32>) -> "
        "tensor<64x128xf32>\n"
        "    %u{0} = stablehlo.add %s{0}, %t{0} : tensor<64x128xf32>\n"
        "    %v{0} = stablehlo.convert %u{0} : (tensor<64x128xf32>) -> tensor<64x128xbf16>\n",
        i, last);
    last = fmt::format("%v{}", i);
  }
  return text + fmt::format("    return {} : tensor<64x128xbf16>\n  }}\n}}\n", last);
}

void read_and_verify(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    const Program program = read_stablehlo(text).value();
    verify(program).value();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void ReadAndVerify(benchmark::State& state) {
  read_and_verify(state, many_ops(static_cast<int>(state.range(0))));
}
BENCHMARK(ReadAndVerify)->Arg(10000)->Unit(benchmark::kMillisecond);

// HEDDLE_BENCH_PROGRAM=FILE: the same for a program of your own.
void ReadAndVerifyFile(benchmark::State& state) {
  const char* file = std::getenv("HEDDLE_BENCH_PROGRAM");
  if (file == nullptr) return state.SkipWithError("HEDDLE_BENCH_PROGRAM names no program");
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  read_and_verify(state, text.str());
}
BENCHMARK(ReadAndVerifyFile)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle
