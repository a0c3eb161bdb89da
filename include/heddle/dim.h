// Dim: an integer, or a known integer times unknown sizes (16·n), as in "n is divisible by 16".
// What cannot be proved for every value of the unknowns is answered with "no".
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>

namespace heddle {

// A symbolic size. Names live in the AxisRegistry; 0 means "none".
using SymbolId = std::uint16_t;

class Dim {
 public:
  static constexpr int kMaxSymbols = 4;

  constexpr Dim() = default;
  constexpr Dim(std::int64_t value) : factor_(value) {}  // NOLINT: an integer is a Dim
  static Dim symbol(SymbolId id);
  // The result of arithmetic that left 64 bits or took too many symbols; Layout::make refuses it.
  static constexpr Dim too_large() { return Dim(kPoison); }

  constexpr bool valid() const { return factor_ != kPoison; }
  constexpr bool is_const() const { return symbols_[0] == 0; }
  // The integer, or the known factor of a symbolic size.
  constexpr std::int64_t factor() const { return factor_; }
  const std::array<SymbolId, kMaxSymbols>& symbols() const { return symbols_; }
  constexpr bool is(std::int64_t value) const { return is_const() && factor_ == value; }
  bool is_zero() const { return factor_ == 0; }

  friend constexpr bool operator==(const Dim&, const Dim&) = default;
  // An order for sorting only; it says nothing about the sizes that symbols stand for.
  friend constexpr auto operator<=>(const Dim& a, const Dim& b) {
    if (auto c = a.symbols_ <=> b.symbols_; c != 0) return c;
    return a.factor_ <=> b.factor_;
  }

  friend Dim operator*(const Dim& a, const Dim& b);
  Dim operator-() const;

  // Whether a divides b whatever the symbols stand for.
  static bool divides(const Dim& a, const Dim& b);
  // b / a; only where divides(a, b).
  static Dim quotient(const Dim& b, const Dim& a);
  // The sum, where it is again a known integer times the same symbols.
  static std::optional<Dim> sum(const Dim& a, const Dim& b);

  // Replaces symbols by their values; unknown symbols stay.
  Dim bind(const std::map<SymbolId, std::int64_t>& values) const;
  std::uint64_t hash() const;

 private:
  static constexpr std::int64_t kPoison = INT64_MIN;
  std::int64_t factor_ = 0;
  std::array<SymbolId, kMaxSymbols> symbols_{};  // sorted descending, 0 at the end
};

}  // namespace heddle
