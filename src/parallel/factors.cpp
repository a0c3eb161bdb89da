// How the split of a dimension and the splits of an op's factors follow from each other.
#include <algorithm>
#include <cstdlib>

#include "heddle/parallel.h"

namespace heddle {

namespace {

const Factor& factor_of(const std::vector<Factor>& factors, const IndexTerm& term) {
  return factors[static_cast<std::size_t>(term.factor)];
}

}  // namespace

bool is_strided(const SplitAxes& axes) { return std::ranges::any_of(axes, &SplitDigit::local); }

std::int64_t spanned(const SplitAxes& axes) {
  std::int64_t n = 1;
  for (const SplitDigit& d : axes) n *= d.extent;
  return n;
}

void end_with_axis(SplitAxes& axes) {
  while (!axes.empty() && axes.back().local()) axes.pop_back();
}

SplitAxes leading_axes(const SplitAxes& axes) {
  return {axes.begin(), std::ranges::find_if(axes, &SplitDigit::local)};
}

bool is_plain(const DimRule& dim, const std::vector<Factor>& factors, std::int64_t size) {
  if (dim.offset != 0 || dim.dilation != 1) return false;
  std::int64_t stride = 1;
  int counted = 0;
  for (std::size_t i = dim.terms.size(); i-- > 0;) {
    const IndexTerm& term = dim.terms[i];
    if (factor_of(factors, term).size == 1) continue;  // always 0
    if (dim.slides && ++counted > 1) return false;
    if (term.divide != 1 || term.modulo != 0 || term.stride != stride) return false;
    stride *= factor_of(factors, term).size;
  }
  return stride == size;
}

int placing_factor(const DimRule& dim, const std::vector<Factor>& factors) {
  int place = -1, window = -1;
  auto span = [&](const IndexTerm& term) {
    return std::abs(term.stride) * (factor_of(factors, term).size - 1);
  };
  std::int64_t reach = 0, widest = 0, unknown = 0;
  for (const IndexTerm& term : dim.terms) {
    const FactorKind kind = factor_of(factors, term).kind;
    if (term.divide != 1 || term.modulo != 0) return -1;
    if (kind == FactorKind::whole) unknown = std::max(unknown, span(term));
    if (kind == FactorKind::whole || factor_of(factors, term).size == 1) continue;
    if (kind == FactorKind::window) {
      if (span(term) > widest) window = term.factor;
      widest = std::max(widest, span(term));
      continue;
    }
    if (place >= 0) return -1;  // two of them: which one is split is not for the dimension to say
    place = term.factor;
    reach = span(term);
  }
  // Data say where it lies, anywhere in most of the dimension: an update of a few rows.
  if (2 * unknown > std::max(reach, widest)) return -1;
  // A few places of a window that is nearly all of the dimension: a gradient by the kernel.
  return window >= 0 && widest > reach ? window : place;
}

void take_axes(const DimRule& dim, const std::vector<Factor>& factors, const DimSplit& split,
               FactorAxes& axes) {
  if (split.whole()) return;
  if (!is_plain(dim, factors, split.size)) {
    const int place = placing_factor(dim, factors);
    if (place >= 0 && split.is_block()) axes[static_cast<std::size_t>(place)] = split.axes();
    return;
  }
  const auto counted = std::ranges::count_if(
      dim.terms, [&](const IndexTerm& t) { return factor_of(factors, t).size != 1; });
  if (counted == 1) {
    const auto term = std::ranges::find_if(
        dim.terms, [&](const IndexTerm& t) { return factor_of(factors, t).size != 1; });
    SplitAxes& list = axes[static_cast<std::size_t>(term->factor)];
    list = split.padded() == split.size ? split.digits : leading_axes(split.digits);
    end_with_axis(list);
    return;
  }
  if (split.padded() != split.size) return;
  // Digits are dealt out to the factors, and cut where a factor ends.
  std::vector<SplitDigit> digits(split.digits.rbegin(), split.digits.rend());
  for (const IndexTerm& term : dim.terms) {
    std::int64_t left = factor_of(factors, term).size;
    SplitAxes list;
    while (left > 1 && !digits.empty()) {
      SplitDigit digit = digits.back();
      digits.pop_back();
      if (left % digit.extent != 0) {
        if (digit.extent % left != 0) return;
        const std::int64_t rest = digit.extent / left;
        digits.push_back({rest, digit.axis, digit.stride});
        digit = {left, digit.axis, digit.local() ? 1 : digit.stride * rest};
      }
      left /= digit.extent;
      list.push_back(digit);
    }
    end_with_axis(list);
    if (!list.empty()) axes[static_cast<std::size_t>(term.factor)] = std::move(list);
  }
}

DimSplit dim_split(const DimRule& dim, const std::vector<Factor>& factors, const FactorAxes& axes,
                   std::int64_t size) {
  if (!is_plain(dim, factors, size)) {
    const int place = placing_factor(dim, factors);
    if (place < 0 || is_strided(axes[static_cast<std::size_t>(place)])) return {size, {}};
    return DimSplit::blocks(size, axes[static_cast<std::size_t>(place)]);
  }
  DimSplit split{size, {}};
  for (const IndexTerm& term : dim.terms) {
    const SplitAxes& list = axes[static_cast<std::size_t>(term.factor)];
    const std::int64_t n = spanned(list);
    split.digits.insert(split.digits.end(), list.begin(), list.end());
    split.digits.push_back({(factor_of(factors, term).size + n - 1) / n});
  }
  Split settled;
  settled.dims.push_back(std::move(split));
  settled.settle();
  return settled.dims[0];
}

}  // namespace heddle
