#include "pjrt/elements.h"

#include <array>

#include "pjrt/error.h"

namespace heddle::pjrt {

namespace {

struct Row {
  ElementType number;
  DType type;
};

constexpr std::array kRows = {
    Row{ElementType::pred, DType::i1},
    Row{ElementType::s2, DType::i2},
    Row{ElementType::s4, DType::i4},
    Row{ElementType::s8, DType::i8},
    Row{ElementType::s16, DType::i16},
    Row{ElementType::s32, DType::i32},
    Row{ElementType::s64, DType::i64},
    Row{ElementType::u2, DType::ui2},
    Row{ElementType::u4, DType::ui4},
    Row{ElementType::u8, DType::ui8},
    Row{ElementType::u16, DType::ui16},
    Row{ElementType::u32, DType::ui32},
    Row{ElementType::u64, DType::ui64},
    Row{ElementType::f4e2m1fn, DType::f4e2m1fn},
    Row{ElementType::f8e3m4, DType::f8e3m4},
    Row{ElementType::f8e4m3, DType::f8e4m3},
    Row{ElementType::f8e4m3b11fnuz, DType::f8e4m3b11fnuz},
    Row{ElementType::f8e4m3fn, DType::f8e4m3fn},
    Row{ElementType::f8e4m3fnuz, DType::f8e4m3fnuz},
    Row{ElementType::f8e5m2, DType::f8e5m2},
    Row{ElementType::f8e5m2fnuz, DType::f8e5m2fnuz},
    Row{ElementType::f8e8m0fnu, DType::f8e8m0fnu},
    Row{ElementType::f16, DType::f16},
    Row{ElementType::bf16, DType::bf16},
    Row{ElementType::f32, DType::f32},
    Row{ElementType::f64, DType::f64},
    Row{ElementType::c64, DType::c64},
    Row{ElementType::c128, DType::c128},
};

// As JAX calls types that Heddle has not.
std::string name_of_other(ElementType type) {
  if (type == ElementType::f6e2m3fn) return "float6_e2m3fn";
  if (type == ElementType::f6e3m2fn) return "float6_e3m2fn";
  return fmt::format("this element type (number {} of PJRT's)", static_cast<int>(type));
}

}  // namespace

DType dtype_of(ElementType type) {
  for (const Row& row : kRows)
    if (row.number == type) return row.type;
  throw Failure(Code::unimplemented,
                fmt::format("Heddle has no arrays of {}; it has bool, int2 to int64, uint2 to "
                            "uint64, float4_e2m1fn, float8_*, float16, bfloat16, float32, "
                            "float64, complex64 and complex128",
                            name_of_other(type)));
}

ElementType element_type_of(const Type& type) {
  if (type.kind == Type::Kind::token) return ElementType::token;
  for (const Row& row : kRows)
    if (row.type == type.dtype) return row.number;
  throw Failure(Code::unimplemented, fmt::format("{} has no number in PJRT", type.str()));
}

Type type_of(ElementType type, const std::int64_t* dims, std::size_t rank) {
  if (type == ElementType::token) return Type::token();
  return Type::tensor(dtype_of(type), Shape(dims, dims + rank));
}

std::string row_major_text(std::size_t rank) {
  std::string text = "{";
  for (std::size_t d = rank; d-- > 0;) text += fmt::format("{}{}", d, d == 0 ? "" : ",");
  return text + "}";
}

}  // namespace heddle::pjrt
