#include "runtime/checkpoint_places.h"

#include <algorithm>
#include <cstring>

namespace heddle::runtime {

namespace {

std::vector<std::int64_t> indices(const StridedRun& run) {
  std::vector<std::int64_t> all;
  run.for_each([&](std::int64_t x) { all.push_back(x); });
  std::ranges::sort(all);
  return all;
}

// Walks all dimensions but the last, whose runs of neighbours are copied at once.
class Copier {
 public:
  Copier(std::span<const std::byte> from, const Places& source, std::span<std::byte> to,
         const Places& target, int size)
      : from_(from), to_(to), source_(source), target_(target), size_(size) {}

  Verdict run(std::size_t dim, std::int64_t from, std::int64_t to) {
    const auto& s = source_.dims;
    if (s.empty()) return copy(from, to, 1);
    const auto& here = s[dim];
    const auto& there = target_.dims[dim];
    if (dim + 1 < s.size()) {
      for (std::size_t i = 0; i < here.size(); ++i)
        HEDDLE_TRY_VOID(run(dim + 1, from + here[i], to + there[i]));
      return yes();
    }
    const bool plain = !source_.swizzle && !target_.swizzle;
    for (std::size_t i = 0; i < here.size();) {
      std::size_t n = 1;
      while (plain && i + n < here.size() &&
             here[i + n] == here[i] + static_cast<std::int64_t>(n) &&
             there[i + n] == there[i] + static_cast<std::int64_t>(n))
        ++n;
      HEDDLE_TRY_VOID(copy(from + here[i], to + there[i], static_cast<std::int64_t>(n)));
      i += n;
    }
    return yes();
  }

 private:
  Verdict copy(std::int64_t from, std::int64_t to, std::int64_t n) {
    if (source_.swizzle) from = source_.swizzle->apply(from);
    if (target_.swizzle) to = target_.swizzle->apply(to);
    if (from < 0 || to < 0 || (from + n) * size_ > static_cast<std::int64_t>(from_.size()) ||
        (to + n) * size_ > static_cast<std::int64_t>(to_.size()))
      return reason("an element lies outside of the memory that was given for it");
    std::memcpy(to_.data() + to * size_, from_.data() + from * size_,
                static_cast<std::size_t>(n * size_));
    return yes();
  }

  std::span<const std::byte> from_;
  std::span<std::byte> to_;
  const Places& source_;
  const Places& target_;
  std::int64_t size_;
};

}  // namespace

Coord coord_of(const Mesh& mesh, std::int64_t rank) {
  Coord coord;
  for (std::size_t i = mesh.axes().size(); i-- > 0; rank /= mesh.axes()[i].size)
    coord.push_back({mesh.axes()[i].axis, rank % mesh.axes()[i].size});
  std::ranges::sort(coord);
  return coord;
}

Expected<bool> is_first_holder(const Layout& layout, const Coord& coord,
                               const std::vector<Box>& boxes, const AxisRegistry& axes) {
  for (const Box& box : boxes) {
    if (box.count() == 0) continue;
    Index first;
    for (const StridedRun& run : box.dims) first.push_back(indices(run)[0]);
    HEDDLE_TRY(const Coord place, position_of(layout, first));
    return std::ranges::all_of(coord, [&](const AxisValue& at) {
      return at.axis == axes.mem() || coord_on(place, at.axis) == at.value;
    });
  }
  return false;
}

Places dense_places(const Box& box) {
  Places places;
  places.dims.resize(box.dims.size());
  std::int64_t step = 1;
  for (std::size_t d = box.dims.size(); d-- > 0;) {
    const std::int64_t count = box.dims[d].count();
    for (std::int64_t i = 0; i < count; ++i) places.dims[d].push_back(i * step);
    step *= count;
  }
  return places;
}

Expected<Places> memory_places(const Layout& layout, const Box& box, const AxisRegistry& axes) {
  HEDDLE_TRY(const AddressExpr address, lower_address(layout, axes.mem()));
  Places places;
  places.base = address.offset;
  places.swizzle = address.swizzle;
  places.dims.resize(box.dims.size());
  for (std::size_t d = 0; d < box.dims.size(); ++d) {
    places.dims[d] = indices(box.dims[d]);
    for (std::int64_t& x : places.dims[d]) {
      std::int64_t at = 0;
      for (const AddressTerm& term : address.terms) {
        if (term.dim != d) continue;
        const std::int64_t digit = (x - term.origin) / term.divisor;
        at += (term.modulus == 0 ? digit : digit % term.modulus) * term.stride;
      }
      x = at;
    }
  }
  return places;
}

std::optional<SharedPlaces> shared(const Box& box_a, const Places& a, const Box& box_b,
                                   const Places& b) {
  SharedPlaces both;
  both.a.base = a.base;
  both.a.swizzle = a.swizzle;
  both.b.base = b.base;
  both.b.swizzle = b.swizzle;
  both.a.dims.resize(box_a.dims.size());
  both.b.dims.resize(box_a.dims.size());
  for (std::size_t d = 0; d < box_a.dims.size(); ++d) {
    const auto in_a = indices(box_a.dims[d]), in_b = indices(box_b.dims[d]);
    for (std::size_t i = 0, j = 0; i < in_a.size() && j < in_b.size();) {
      if (in_a[i] == in_b[j]) {
        both.a.dims[d].push_back(a.dims[d][i]);
        both.b.dims[d].push_back(b.dims[d][j]);
      }
      const bool first = in_a[i] <= in_b[j], second = in_b[j] <= in_a[i];
      i += first;
      j += second;
    }
    if (both.a.dims[d].empty()) return std::nullopt;
  }
  return both;
}

Verdict copy_places(std::span<const std::byte> from, const Places& source, std::span<std::byte> to,
                    const Places& target, int element_bytes) {
  return Copier(from, source, to, target, element_bytes).run(0, source.base, target.base);
}

}  // namespace heddle::runtime
