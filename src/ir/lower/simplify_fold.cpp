// Constants computed ahead, by the reference interpreter.
#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "ir/lower/simplify.h"

namespace heddle {

namespace {

bool is_one_value(const Array& a) { return a.is_splat() || a.elements() == 1; }

// Larger constants cost more to keep than to compute.
constexpr std::int64_t kMostElements = 4096;

// One op in a program of its own.
std::optional<std::vector<Array>> run_alone(const Program& program, const Op& op,
                                            const std::vector<Array>& operands,
                                            const std::vector<Type>& results) {
  Builder b;
  std::vector<Type> types;
  for (const Array& a : operands) types.push_back(a.type());
  b.function("main", types, [&](const Vars& in) {
    return b.ops(op.def->name, in, results, program.attrs_of(op));
  });
  auto alone = b.finish();
  if (!alone) return std::nullopt;
  auto got = interpret(*alone, alone->functions[0], operands);
  if (!got) return std::nullopt;
  return *got;
}

// Element by element, with one value everywhere: one element tells all.
std::optional<std::vector<Array>> of_splats(const Program& program, const Op& op,
                                            const std::vector<const Array*>& operands) {
  if (op.def->cls != OpClass::light && op.def->cls != OpClass::heavy) return std::nullopt;
  if (op.result_count != 1 || op.def->emission == Emission::bitcast) return std::nullopt;
  const Type& type = program.type_of(program.result(op, 0));
  std::vector<Array> scalars;
  for (const Array* a : operands) {
    if (!is_one_value(*a) || (a->shape() != type.shape && a->type().rank() != 0))
      return std::nullopt;
    scalars.push_back(Array::splat(Type::tensor(a->dtype(), {}), a->element(0)));
  }
  auto got = run_alone(program, op, scalars, {Type::tensor(type.dtype, {})});
  if (!got) return std::nullopt;
  return std::vector<Array>{Array::splat(type, (*got)[0].element(0))};
}

// Moves of one value stay that value.
bool only_moves(const Op& op) {
  return op.def->emission == Emission::copy && op.operand_count == 1;
}

// Random numbers and what takes long are left to the run.
bool is_cheap(const Op& op) {
  if (op.def->draws || op.def->bits) return false;
  return op.def->cls != OpClass::control && op.region_count == 0;
}

}  // namespace

std::optional<std::vector<Array>> folded(const Program& program, const Op& op,
                                         const std::vector<const Array*>& operands) {
  if (!is_cheap(op)) return std::nullopt;
  if (only_moves(op) && is_one_value(*operands[0]))
    return std::vector<Array>{
        Array::splat(program.type_of(program.result(op, 0)), operands[0]->element(0))};
  std::int64_t elements = 0;
  for (const Array* a : operands) elements = std::max(elements, a->elements());
  std::vector<Type> types;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    types.push_back(program.type_of(program.result(op, i)));
    elements = std::max(elements, types.back().elements());
  }
  if (elements > kMostElements || elements == 1) {
    if (auto splats = of_splats(program, op, operands)) return splats;
  }
  if (elements > kMostElements) return std::nullopt;
  std::vector<Array> arguments;
  for (const Array* a : operands) arguments.push_back(*a);
  return run_alone(program, op, arguments, types);
}

}  // namespace heddle
