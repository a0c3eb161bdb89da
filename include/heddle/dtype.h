// Element types, spelled as MLIR spells them. Here in base because layouts need element sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "heddle/error.h"

namespace heddle {

enum class DType : std::uint8_t {
  i1,  // a truth value
  i2,
  i4,
  i8,
  i16,
  i32,
  i64,
  ui2,
  ui4,
  ui8,
  ui16,
  ui32,
  ui64,
  f4e2m1fn,
  f6e2m3fn,
  f6e3m2fn,
  f8e3m4,
  f8e4m3,
  f8e4m3b11fnuz,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0fnu,
  f16,
  bf16,
  f32,
  f64,
  c64,   // complex<f32>
  c128,  // complex<f64>
};

// All of them, in the order above.
std::span<const DType> all_dtypes();

// The type of either part of a complex number.
DType part_dtype(DType type);
// Bits of information: 1 for i1, 4 for ui4, 32 for f32, 64 for complex<f32>.
int bits(DType type);

// Bytes that one element takes in memory: at least 1, so 1 for i1 and i4.
int byte_size(DType type);

// MLIR's spelling: i1, ui8, bf16, f8E4M3FN, complex<f32>.
std::string_view name(DType type);

// The inverse of name(); spelling must be exact.
Expected<DType> parse_dtype(std::string_view text);

bool is_integer(DType type);  // signed or unsigned, not i1
bool is_float(DType type);
bool is_complex(DType type);

}  // namespace heddle
