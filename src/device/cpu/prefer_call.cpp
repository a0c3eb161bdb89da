// Where a library call beats a kernel on this CPU.
#include <algorithm>

#include "cost/fitted.h"
#include "device/cpu/library.h"
#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "stitch/scatter.h"

namespace heddle::cpu {

namespace {

// Products that are too small for a library call to pay; or those of two vectors, and small ones of
// a matrix and a vector, which read every element once, so that there is nothing for a library to
// gain.
bool is_small_product(const Program& program, const Op& op) {
  std::int64_t products = 1;
  for (const Factor& f : index_rule(program, op).factors) products *= f.size;
  if (products <= cost::kFewProducts) return true;
  const auto operands = program.operands(op);
  const auto [least, most] = std::minmax(
      {program.type_of(operands[0]).elements(), program.type_of(operands[1]).elements()});
  // Two vectors: a sum that fuses with what makes them.
  if (least == products) return true;
  return most == products && products <= cost::kFewProductsOfVector;
}

// A slice that is small beside what it goes into: a library call writes only the slice, in place.
bool is_small_update(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  return program.type_of(operands[1]).elements() <= program.type_of(operands[0]).elements() / 4;
}

// Updates that are few beside a large input are a library call, which works in place; many that
// one worker would have to do by itself as well.
bool is_library_scatter(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  const std::int64_t input = program.type_of(operands[0]).elements();
  const std::int64_t updates = program.type_of(operands[op.result_count + 1]).elements();
  if (input > cost::kLargeScatter && updates <= input / 4) return true;
  if (updates <= cost::kScatterAlone) return false;
  if (combines_in_any_order(program, op) && input <= updates / 64) return false;
  const ScatterDims dims = scatter_dimensions(program, op);
  return std::ranges::none_of(dims.updates, [&](const ScatterDims::Update& u) {
    return u.input >= 0 && !dims.by_data[static_cast<std::size_t>(u.input)];
  });
}

}  // namespace

bool prefers_library_call(const Program& program, const Op& op) {
  switch (op.def->emission) {
    case Emission::contract:
      return !is_small_product(program, op);
    case Emission::dynamic_update_slice:
      return is_small_update(program, op);
    case Emission::scatter:
      return is_library_scatter(program, op);
    default:
      return false;
  }
}

// Without another element type in between.
bool library_takes_views(const Program& program, const Op& op) {
  const Type& result = program.type_of(program.result(op, 0));
  if (result.dtype != DType::f32 && result.dtype != DType::f64) return false;
  return result.elements() > 0 && std::ranges::all_of(program.operands(op), [&](ValueId v) {
           const Type& type = program.type_of(v);
           return type.dtype == result.dtype && type.elements() > 0;
         });
}

}  // namespace heddle::cpu
