#include "spmd/refine.h"

#include <algorithm>
#include <set>

namespace heddle {

namespace {

using Cuts = std::vector<std::set<std::int64_t>>;  // per axis, where digits begin and end

// A digit at the cuts of its axis, major first.
std::vector<SplitDigit> cut(const SplitDigit& digit, const Cuts& cuts) {
  if (digit.local()) return {digit};
  std::vector<SplitDigit> parts;
  std::int64_t begin = digit.stride;
  const std::int64_t end = digit.stride * digit.extent;
  for (std::int64_t c : cuts[static_cast<std::size_t>(digit.axis)]) {
    if (c <= begin || c > end || c % begin != 0) continue;
    parts.push_back({c / begin, digit.axis, begin});
    begin = c;
  }
  if (begin < end) parts.push_back({end / begin, digit.axis, begin});
  std::ranges::reverse(parts);
  return parts;
}

std::vector<SplitDigit> cut_all(const std::vector<SplitDigit>& digits, const Cuts& cuts) {
  std::vector<SplitDigit> all;
  for (const SplitDigit& d : digits)
    for (const SplitDigit& part : cut(d, cuts)) all.push_back(part);
  return all;
}

void add_cuts(Cuts& cuts, const std::vector<SplitDigit>& digits) {
  for (const SplitDigit& d : digits)
    if (!d.local()) {
      cuts[static_cast<std::size_t>(d.axis)].insert(d.stride);
      cuts[static_cast<std::size_t>(d.axis)].insert(d.stride * d.extent);
    }
}

// Parts of 2 and of 3 of an axis of 6 have no parts in common.
bool nest(const Cuts& cuts) {
  for (const auto& axis : cuts) {
    std::int64_t before = 1;
    for (std::int64_t c : axis) {
      if (c % before != 0) return false;
      before = c;
    }
  }
  return true;
}

// Keeps the major `extent` of the digit and gives back the rest.
bool divide(SplitDigit& digit, std::int64_t extent, std::vector<SplitDigit>& rest) {
  if (digit.extent % extent != 0) return false;
  const std::int64_t left = digit.extent / extent;
  rest.push_back({left, digit.axis, digit.stride});
  if (!digit.local()) digit.stride *= left;
  digit.extent = extent;
  return true;
}

bool pair_up(const Split& from, const Split& to, const Cuts& cuts, std::vector<Place>& places) {
  places.clear();
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    std::vector<SplitDigit> a = cut_all(from.dims[d].digits, cuts);
    std::vector<SplitDigit> b = cut_all(to.dims[d].digits, cuts);
    std::ranges::reverse(a);
    std::ranges::reverse(b);
    while (!a.empty() && !b.empty()) {
      SplitDigit x = a.back(), y = b.back();
      a.pop_back();
      b.pop_back();
      if (x.extent > y.extent && !divide(x, y.extent, a)) return false;
      if (y.extent > x.extent && !divide(y, x.extent, b)) return false;
      places.push_back({d, x, y});
    }
    for (const auto* rest : {&a, &b})
      if (std::ranges::any_of(*rest, [](const SplitDigit& r) { return r.extent > 1; }))
        return false;
  }
  return true;
}

}  // namespace

bool refine(const Split& a, const Split& b, const Mesh& mesh, Refined& out) {
  constexpr int kMostRounds = 8;  // each cuts an axis once more
  Cuts cuts(mesh.axes().size());
  for (const Split* s : {&a, &b}) {
    add_cuts(cuts, s->pending);
    for (const DimSplit& dim : s->dims) add_cuts(cuts, dim.digits);
  }
  for (int round = 0; round < kMostRounds; ++round) {
    if (!nest(cuts) || !pair_up(a, b, cuts, out.places)) return false;
    Cuts now = cuts;
    for (const Place& p : out.places) add_cuts(now, {p.a, p.b});
    out.a_pending = cut_all(a.pending, now);
    out.b_pending = cut_all(b.pending, now);
    if (now == cuts) return true;
    cuts = std::move(now);
  }
  return false;
}

}  // namespace heddle
