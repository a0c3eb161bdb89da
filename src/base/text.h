// Figures and words as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heddle/error.h"

namespace heddle {

// "1 function", "3 functions"
std::string counted(std::size_t n, std::string_view what);

// "64.0 MB" (powers of 1000), "512 B"
std::string format_bytes(double bytes);

// The other way round: "64 MB", "1.5GB", "16GiB", "512"; without regard to capital letters.
Expected<std::int64_t> parse_bytes(std::string_view text);

// A unit of a figure, and what one of it is in the unit that we count in.
struct FigureUnit {
  std::string_view spelling;
  double factor = 1;
};
using FigureUnits = std::span<const FigureUnit>;
inline constexpr FigureUnit kRateUnits[] = {
    {"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
inline constexpr FigureUnit kOperationUnits[] = {
    {"FLOP/s", 1}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};
inline constexpr FigureUnit kSizeUnits[] = {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
inline constexpr FigureUnit kTimeUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};

// "25GB/s" as bytes per second: a number of at least 0 with one of the units right behind it.
std::optional<double> parse_figure(std::string_view text, FigureUnits units);
// "B/s, kB/s, MB/s, GB/s, TB/s"
std::string spelled(FigureUnits units);

// "22 ms", "5.6 us", "1.5 s"
std::string format_seconds(double seconds);

// At most `columns` wide; what is cut off shows as "...". Never cuts inside a character.
std::string shortened(std::string_view text, std::size_t columns);

// "expected ':'" of "shard:2:3: expected ':'\n 2 | ...": where the text around a user's word is not
// the user's, and so is no place in it.
std::string without_place(const std::string& reason);

}  // namespace heddle
