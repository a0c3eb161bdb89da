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
    {"chlo.top_k", top_k_call},
    {"stablehlo.convolution", conv_call},
    {"stablehlo.dynamic_update_slice", slice_update_call},
    {"stablehlo.fft", fft_call},
    {"stablehlo.scatter", scatter_call},
    {"stablehlo.select_and_scatter", select_scatter_call},
    {"stablehlo.sort", sort_call},
};

const Row* row_of(const OpDef& def) {
  for (const Row& row : kRows)
    if (row.op == def.name) return &row;
  return nullptr;
}

bool is_product(const OpDef& def) {
  return def.name == "stablehlo.dot_general" || def.name == "stablehlo.dot";
}

}  // namespace

bool has_library_call(const OpDef& def) { return is_product(def) || row_of(def) != nullptr; }

std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                          const ProductViews* views) {
  if (is_product(*op.def)) return dot_call(program, op, views);
  const Row* row = row_of(*op.def);
  return row == nullptr ? nullptr : row->make(program, op);
}

}  // namespace heddle::cpu
