// Steps of optimisers over gradients that lie along dp, whose sums they can be taken inside of.
#pragma once

#include "heddle/stablehlo.h"

namespace heddle {

// Values that lie along dp, or that all devices have.
inline std::string optimiser_text(int devices, std::int64_t rows, const std::string& type,
                                  const std::string& state, const std::string& body) {
  const std::string whole = "{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}";
  const std::string kept = fmt::format("tensor<{}x512xf32>", rows);
  std::string arguments, results, values, types;
  for (const char s : state) {
    arguments += fmt::format(", %{}: {} {}", s, kept, whole);
    results += fmt::format("{}{} {}", results.empty() ? "" : ", ", kept, whole);
    values += fmt::format("{}%{}1", values.empty() ? "" : ", ", s);
    types += fmt::format("{}{}", types.empty() ? "" : ", ", kept);
  }
  std::string text = fmt::format(R"(
    sdy.mesh @mesh = <["dp"={0}]>
    func.func @main(%g: tensor<{0}x{1}x512x{2}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"dp"}}, {{}}, {{}}]>}}{3})
        -> ({4}) {{
      %none = stablehlo.constant dense<0.0> : tensor<{2}>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%g init: %none) applies stablehlo.add across dimensions = [0]
          : (tensor<{0}x{1}x512x{2}>, tensor<{2}>) -> tensor<{1}x512x{2}>
      %w = stablehlo.convert %sum : (tensor<{1}x512x{2}>) -> tensor<{1}x512xf32>
      %rate = stablehlo.constant dense<0.9> : KEPT
      {5}
      return {6} : {7}
    }})",
                                 devices, rows, type, arguments, results, body, values, types);
  for (std::size_t at; (at = text.find("KEPT")) != std::string::npos;) text.replace(at, 4, kept);
  return text;
}

inline std::string momentum_text(int devices, std::int64_t rows, const std::string& type) {
  return optimiser_text(devices, rows, type, "pm", R"(
      %0 = stablehlo.multiply %rate, %m : KEPT
      %m1 = stablehlo.add %0, %w : KEPT
      %p1 = stablehlo.subtract %p, %m1 : KEPT)");
}
inline Program momentum_step(int devices, std::int64_t rows, const std::string& type) {
  return read_stablehlo(momentum_text(devices, rows, type)).value();
}

// With the norms of the parameter and of its change, as LAMB has them.
inline Program lamb_step(int devices, std::int64_t rows) {
  return read_stablehlo(optimiser_text(devices, rows, "f32", "pm", R"(
      %0 = stablehlo.multiply %rate, %m : KEPT
      %m1 = stablehlo.add %0, %w : KEPT
      %1 = stablehlo.multiply %m1, %m1 : KEPT
      %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1]
          : (KEPT, tensor<f32>) -> tensor<f32>
      %3 = stablehlo.multiply %p, %p : KEPT
      %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1]
          : (KEPT, tensor<f32>) -> tensor<f32>
      %5 = stablehlo.divide %4, %2 : tensor<f32>
      %6 = stablehlo.sqrt %5 : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> KEPT
      %8 = stablehlo.multiply %7, %m1 : KEPT
      %p1 = stablehlo.subtract %p, %8 : KEPT)"))
      .value();
}

// State in slices; `fuse rs *` takes what is between them into the collective.
inline const std::string kStateInSlices =
    "rs, ag = split all_reduce.0 along 0\nreorder * under ag\nas_slice arg2 result1\n";
// The same without the parameter: nothing is gathered.
inline const std::string kAllInSlices =
    "rs, ag = split all_reduce.0 along 0\nreorder * under ag\nas_slice arg1 arg2 result0 result1\n";

}  // namespace heddle
