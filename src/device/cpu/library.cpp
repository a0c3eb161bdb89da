#include "device/cpu/library.h"

#include "device/cpu/calls.h"
#include "heddle/op.h"

namespace heddle::cpu {

namespace {

using Make = std::unique_ptr<LibraryCall> (*)(const Program&, const Op&);

struct Row {
  std::string_view op;
  Make make;
};

constexpr Row kRows[] = {
    {"stablehlo.convolution", conv_call},
    {"stablehlo.dynamic_update_slice", slice_update_call},
    {"stablehlo.fft", fft_call},
    {"stablehlo.scatter", scatter_call},
    {"stablehlo.select_and_scatter", select_scatter_call},
    {"stablehlo.sort", sort_call},
};

}  // namespace

std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                          const ProductViews* views) {
  const std::string_view name = op.def->name;
  if (name == "stablehlo.dot_general" || name == "stablehlo.dot")
    return dot_call(program, op, views);
  for (const Row& row : kRows)
    if (row.op == name) return row.make(program, op);
  return nullptr;
}

}  // namespace heddle::cpu
