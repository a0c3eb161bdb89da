#include "heddle/dim.h"

#include <algorithm>

#include "heddle/hash.h"

namespace heddle {

namespace {

using Symbols = std::array<SymbolId, Dim::kMaxSymbols>;

bool contains_all(const Symbols& whole, const Symbols& part, Symbols* rest) {
  Symbols left{};
  std::size_t p = 0;
  std::size_t out = 0;
  for (SymbolId s : whole) {
    if (s == 0) break;
    if (p < part.size() && part[p] == s) {
      ++p;
    } else {
      left[out++] = s;
    }
  }
  if (p < part.size() && part[p] != 0) return false;
  if (rest != nullptr) *rest = left;
  return true;
}

}  // namespace

Dim Dim::symbol(SymbolId id) {
  Dim d(1);
  d.symbols_[0] = id;
  return d;
}

Dim operator*(const Dim& a, const Dim& b) {
  if (!a.valid() || !b.valid()) return Dim::too_large();
  Dim r;
  if (__builtin_mul_overflow(a.factor_, b.factor_, &r.factor_)) return Dim::too_large();
  if (r.factor_ == 0 || (a.is_const() && b.is_const())) return r;
  std::array<SymbolId, 2 * Dim::kMaxSymbols> all{};
  std::copy(a.symbols_.begin(), a.symbols_.end(), all.begin());
  std::copy(b.symbols_.begin(), b.symbols_.end(), all.begin() + Dim::kMaxSymbols);
  std::sort(all.begin(), all.end(), std::greater<>());
  if (all[Dim::kMaxSymbols] != 0) return Dim::too_large();
  std::copy_n(all.begin(), Dim::kMaxSymbols, r.symbols_.begin());
  return r;
}

Dim Dim::operator-() const {
  if (!valid()) return *this;
  Dim r = *this;
  r.factor_ = -r.factor_;
  return r;
}

bool Dim::divides(const Dim& a, const Dim& b) {
  if (!a.valid() || !b.valid() || a.factor_ == 0) return false;
  if (b.factor_ == 0) return true;
  return b.factor_ % a.factor_ == 0 && contains_all(b.symbols_, a.symbols_, nullptr);
}

Dim Dim::quotient(const Dim& b, const Dim& a) {
  if (b.factor_ == 0) return 0;
  Dim r(b.factor_ / a.factor_);
  contains_all(b.symbols_, a.symbols_, &r.symbols_);
  return r;
}

std::optional<Dim> Dim::sum(const Dim& a, const Dim& b) {
  if (!a.valid() || !b.valid()) return std::nullopt;
  if (a.factor_ == 0) return b;
  if (b.factor_ == 0) return a;
  if (a.symbols_ != b.symbols_) return std::nullopt;
  Dim r = a;
  if (__builtin_add_overflow(a.factor_, b.factor_, &r.factor_)) return std::nullopt;
  if (r.factor_ == 0) return Dim(0);
  return r;
}

Dim Dim::bind(const std::map<SymbolId, std::int64_t>& values) const {
  Dim r(factor_);
  for (SymbolId s : symbols_) {
    if (s == 0) break;
    auto it = values.find(s);
    r = r * (it == values.end() ? Dim::symbol(s) : Dim(it->second));
  }
  return r;
}

std::uint64_t Dim::hash() const {
  std::uint64_t h = hash_mix(static_cast<std::uint64_t>(factor_));
  for (SymbolId s : symbols_) {
    if (s == 0) break;
    h = hash_combine(h, s);
  }
  return h;
}

}  // namespace heddle
