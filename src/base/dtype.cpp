#include "heddle/dtype.h"

#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <vector>

namespace heddle {
namespace {

enum class Kind : std::uint8_t { truth, integer, floating, complex };

struct Row {
  DType type;
  std::string_view name;
  int bits;
  Kind kind;
};

// In the order of the enumeration.
constexpr std::array kRows = {
    Row{DType::i1, "i1", 1, Kind::truth},
    Row{DType::i2, "i2", 2, Kind::integer},
    Row{DType::i4, "i4", 4, Kind::integer},
    Row{DType::i8, "i8", 8, Kind::integer},
    Row{DType::i16, "i16", 16, Kind::integer},
    Row{DType::i32, "i32", 32, Kind::integer},
    Row{DType::i64, "i64", 64, Kind::integer},
    Row{DType::ui2, "ui2", 2, Kind::integer},
    Row{DType::ui4, "ui4", 4, Kind::integer},
    Row{DType::ui8, "ui8", 8, Kind::integer},
    Row{DType::ui16, "ui16", 16, Kind::integer},
    Row{DType::ui32, "ui32", 32, Kind::integer},
    Row{DType::ui64, "ui64", 64, Kind::integer},
    Row{DType::f4e2m1fn, "f4E2M1FN", 4, Kind::floating},
    Row{DType::f6e2m3fn, "f6E2M3FN", 6, Kind::floating},
    Row{DType::f6e3m2fn, "f6E3M2FN", 6, Kind::floating},
    Row{DType::f8e3m4, "f8E3M4", 8, Kind::floating},
    Row{DType::f8e4m3, "f8E4M3", 8, Kind::floating},
    Row{DType::f8e4m3b11fnuz, "f8E4M3B11FNUZ", 8, Kind::floating},
    Row{DType::f8e4m3fn, "f8E4M3FN", 8, Kind::floating},
    Row{DType::f8e4m3fnuz, "f8E4M3FNUZ", 8, Kind::floating},
    Row{DType::f8e5m2, "f8E5M2", 8, Kind::floating},
    Row{DType::f8e5m2fnuz, "f8E5M2FNUZ", 8, Kind::floating},
    Row{DType::f8e8m0fnu, "f8E8M0FNU", 8, Kind::floating},
    Row{DType::f16, "f16", 16, Kind::floating},
    Row{DType::bf16, "bf16", 16, Kind::floating},
    Row{DType::f32, "f32", 32, Kind::floating},
    Row{DType::f64, "f64", 64, Kind::floating},
    Row{DType::c64, "complex<f32>", 64, Kind::complex},
    Row{DType::c128, "complex<f64>", 128, Kind::complex},
};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].type) != i) return false;
  }
  return kRows.size() == static_cast<std::size_t>(DType::c128) + 1;
}
static_assert(rows_are_in_order());

const Row& row(DType type) {
  const auto index = static_cast<std::size_t>(type);
  HEDDLE_CHECK(index < kRows.size(), "no element type has the number {}", index);
  return kRows[index];
}

}  // namespace

std::span<const DType> all_dtypes() {
  static constexpr auto kAll = [] {
    std::array<DType, kRows.size()> all{};
    for (std::size_t i = 0; i < kRows.size(); ++i) all[i] = kRows[i].type;
    return all;
  }();
  return kAll;
}

DType part_dtype(DType type) { return type == DType::c64 ? DType::f32 : DType::f64; }

int bits(DType type) { return row(type).bits; }
int byte_size(DType type) { return (row(type).bits + 7) / 8; }
std::string_view name(DType type) { return row(type).name; }
bool is_integer(DType type) { return row(type).kind == Kind::integer; }
bool is_float(DType type) { return row(type).kind == Kind::floating; }
bool is_complex(DType type) { return row(type).kind == Kind::complex; }

Expected<DType> parse_dtype(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Row& known : kRows) {
    if (known.name == text) return known.type;
    names.push_back(known.name);
  }
  return reason("unknown element type `{}`: it must be one of {}", text, fmt::join(names, ", "));
}

}  // namespace heddle
