#include "layout/plan_space.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "layout/digits.h"

namespace heddle {

using namespace detail;

namespace {

// A digit on a mesh axis: where it is in its dimension and on its axis.
struct MeshDigit {
  std::size_t dim;
  std::int64_t place, extent;
  std::size_t axis;  // index into the mesh
  std::int64_t stride;
};

// Replicas or partials on a mesh axis.
struct Spread {
  std::size_t axis;
  std::int64_t extent, stride;
  Role role;
};

struct Side {
  std::vector<MeshDigit> digits;
  std::vector<Spread> spreads;
  std::vector<std::int64_t> offset;  // per mesh axis
};

class Builder {
 public:
  Builder(const Layout& source, const Layout& target, const Mesh& mesh, const AxisRegistry& axes)
      : source_(source), target_(target), mesh_(mesh), axes_(axes) {}

  Expected<PlanSpace> run(const PlanOptions& options) {
    space_.element_bits = options.element_bits;
    space_.memory = memory_axis();
    HEDDLE_TRY(from_, side(source_, kPending));
    HEDDLE_TRY(to_, side(target_, target_pending()));
    HEDDLE_TRY_VOID(common_dims());
    HEDDLE_TRY_VOID(cut_everything());
    add_scratch_cuts();
    HEDDLE_TRY_VOID(make_pieces());
    HEDDLE_TRY(space_.source, roles(from_, space_.source_pin, kPinnedSource));
    HEDDLE_TRY(space_.target, roles(to_, space_.target_pin, kPinnedTarget));
    // Pinned at one place on both sides: one role, and nothing to do.
    for (std::size_t i = 0; i < space_.subs.size(); ++i)
      if (space_.source[i] == kPinnedSource && space_.target[i] == kPinnedTarget &&
          space_.source_pin[i] == space_.target_pin[i])
        space_.target[i] = kPinnedSource;
    // A copy with other padding leaves the halo behind.
    if (!space_.repad_source)
      space_.source_halo = holder_bytes(source_, axes_, space_.element_bits) -
                           holder_bytes(without_halo(source_), axes_, space_.element_bits);
    if (!(space_.layout_of(space_.target) == target_)) {
      const std::int64_t bytes = holder_bytes(target_, axes_, space_.element_bits);
      space_.last_copy = static_cast<double>(bytes) / mesh_.local_bandwidth();
      space_.last_copy_live = space_.local_bytes(space_.target) + bytes;
    }
    return std::move(space_);
  }

 private:
  AxisId memory_axis() const {
    for (const Layout* l : {&target_, &source_})
      for (const Iter& i : l->digits())
        if (i.axis != kNoAxis && axes_[i.axis].kind == AxisKind::memory) return i.axis;
    return axes_.mem();
  }

  Role target_pending() {
    space_.source_reduce = source_.partials().empty() ? target_.reduce() : source_.reduce();
    space_.target_reduce = target_.reduce();
    space_.one_reduction = source_.partials().empty() || target_.partials().empty() ||
                           source_.reduce() == target_.reduce();
    return space_.one_reduction ? kPending : kPendingTarget;
  }

  std::optional<std::size_t> mesh_index(AxisId axis) const {
    for (std::size_t i = 0; i < mesh_.axes().size(); ++i)
      if (mesh_.axes()[i].axis == axis) return i;
    return std::nullopt;
  }

  Expected<Side> side(const Layout& layout, Role pending) const {
    Side s;
    HEDDLE_TRY(auto groups, group(layout, layout.padded_shape()));
    for (std::size_t d = 0; d < layout.rank(); ++d) {
      std::int64_t place = 1;
      for (std::size_t i = groups[d].size(); i-- > 0;) {
        const Iter& it = groups[d][i];
        if (auto axis = mesh_index(it.axis)) {
          if (it.stride.factor() < 0)
            return reason("dimension {} runs backwards over {}", d, mesh_.axes()[*axis].name);
          s.digits.push_back({d, place, it.extent.factor(), *axis, it.stride.factor()});
        }
        place *= it.extent.factor();
      }
    }
    auto spread = [&](const Digits& iters, Role role) {
      for (const Iter& i : iters)
        if (auto axis = mesh_index(i.axis))
          s.spreads.push_back({*axis, i.extent.factor(), i.stride.factor(), role});
    };
    spread(layout.replicas(), kReplicated);
    spread(layout.partials(), pending);
    s.offset.assign(mesh_.axes().size(), 0);
    for (const AxisOffset& o : layout.offset())
      if (auto axis = mesh_index(o.axis)) s.offset[*axis] = o.value.factor();
    return s;
  }

  // Where padding or origin differ, a side that does not split the dimension takes the other's.
  Verdict common_dims() {
    auto splits = [](const Side& s, std::size_t d) {
      return std::any_of(s.digits.begin(), s.digits.end(),
                         [&](const MeshDigit& g) { return g.dim == d; });
    };
    for (std::size_t d = 0; d < source_.rank(); ++d) {
      const DimInfo& a = source_.dims()[d];
      const DimInfo& b = target_.dims()[d];
      DimInfo both = a;
      if (!(a.padded == b.padded) || a.origin != b.origin) {
        if (splits(to_, d)) {
          if (splits(from_, d))
            return reason("dimension {} is cut into blocks of different padding or origin", d);
          both = b;
          space_.repad_source = true;
        }
      }
      both.halo_lo = both.halo_hi = 0;
      space_.dims.push_back(both);
    }
    return yes();
  }

  // Cuts digits and axes at each other's boundaries until nothing changes.
  Verdict cut_everything() {
    bounds_.resize(space_.dims.size());
    cuts_.resize(mesh_.axes().size());
    for (std::size_t d = 0; d < bounds_.size(); ++d)
      bounds_[d] = {1, space_.dims[d].padded.factor()};
    for (std::size_t a = 0; a < cuts_.size(); ++a) cuts_[a] = {1, mesh_.axes()[a].size};
    for (const Side* s : {&from_, &to_}) {
      for (const MeshDigit& g : s->digits) {
        bounds_[g.dim].insert({g.place, g.place * g.extent});
        cuts_[g.axis].insert({g.stride, g.stride * g.extent});
      }
      for (const Spread& r : s->spreads) cuts_[r.axis].insert({r.stride, r.stride * r.extent});
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Side* s : {&from_, &to_})
        for (const MeshDigit& g : s->digits) {
          HEDDLE_TRY_VOID(
              carry(bounds_[g.dim], g.place, cuts_[g.axis], g.stride, g.extent, changed));
          HEDDLE_TRY_VOID(
              carry(cuts_[g.axis], g.stride, bounds_[g.dim], g.place, g.extent, changed));
        }
    }
    return yes();
  }

  // Every mark of `from` inside [base, base * extent] becomes a mark of `to`.
  static Verdict carry(const std::set<std::int64_t>& from, std::int64_t base,
                       std::set<std::int64_t>& to, std::int64_t to_base, std::int64_t extent,
                       bool& changed) {
    for (auto it = from.upper_bound(base); it != from.end() && *it < base * extent; ++it) {
      if (*it % base != 0 || base * extent % *it != 0)
        return reason("the two layouts cut {} and {}, which do not nest", *it, base * extent);
      changed = to.insert(to_base * (*it / base)).second || changed;
    }
    return yes();
  }

  bool occupied(std::size_t dim, std::int64_t place, std::int64_t extent) const {
    for (const Side* s : {&from_, &to_})
      for (const MeshDigit& g : s->digits)
        if (g.dim == dim && g.place < place * extent && place < g.place * g.extent) return true;
    return false;
  }

  // A pending or replicated axis may pass through a split that neither layout has: reduce-scatter,
  // something cheaper on the part, all-gather. Each gets one slot of its extent in free space.
  void add_scratch_cuts() {
    // Fast axes first, so that they get the outermost slots: contiguous blocks.
    std::vector<std::size_t> order(cuts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const double x = mesh_.axes()[a].link.bandwidth;
      const double y = mesh_.axes()[b].link.bandwidth;
      return x != y ? x > y : a < b;
    });
    for (std::size_t a : order)
      for (auto lo = cuts_[a].begin(); std::next(lo) != cuts_[a].end(); ++lo) {
        const std::int64_t hi = *std::next(lo);
        const bool wants =
            std::any_of(from_.spreads.begin(), from_.spreads.end(), [&](const Spread& s) {
              return s.axis == a && s.stride <= *lo && hi <= s.stride * s.extent;
            });
        if (wants) add_scratch(hi / *lo);
      }
  }

  void add_scratch(std::int64_t n) {
    for (std::size_t d = 0; d < bounds_.size(); ++d) {
      if (space_.dims[d].padded.factor() < 2) continue;
      for (auto hi = std::prev(bounds_[d].end()); hi != bounds_[d].begin(); --hi) {
        const std::int64_t lo = *std::prev(hi);
        const std::int64_t extent = *hi / lo;
        if (*hi % lo != 0 || extent % n != 0 || occupied(d, lo, extent)) continue;
        if (!scratch_.insert({d, *hi}).second) continue;
        bounds_[d].insert(*hi / n);
        return;
      }
    }
  }

  Verdict make_pieces() {
    for (std::size_t d = 0; d < bounds_.size(); ++d)
      for (auto hi = std::prev(bounds_[d].end()); hi != bounds_[d].begin(); --hi) {
        const std::int64_t lo = *std::prev(hi);
        if (*hi % lo != 0)
          return reason("the splits of dimension {} do not nest: {} does not divide {}", d, lo,
                        *hi);
        space_.slots.push_back({d, *hi / lo, lo});
      }
    for (std::size_t a = 0; a < cuts_.size(); ++a)
      for (auto lo = cuts_[a].begin(); std::next(lo) != cuts_[a].end(); ++lo) {
        const std::int64_t hi = *std::next(lo);
        const MeshAxis& axis = mesh_.axes()[a];
        if (hi % *lo != 0 || *lo > axis.size || hi > axis.size)
          return reason("the parts of axis {} do not nest: {} does not divide {}", axis.name, *lo,
                        hi);
        space_.subs.push_back({axis.axis, hi / *lo, *lo});
        space_.hops.push_back({hi / *lo, axis.link, axis.medium});
        sub_axis_.push_back(a);
      }
    if (space_.subs.size() > kMaxSubAxes || space_.slots.size() > kMaxSlots)
      return reason("the layouts cut the mesh into {} parts; {} are searched at most",
                    space_.subs.size(), kMaxSubAxes);
    return yes();
  }

  Expected<State> roles(const Side& s, std::vector<std::int64_t>& pins, Role pinned) const {
    State state{};
    pins.assign(space_.subs.size(), 0);
    for (std::size_t i = 0; i < space_.subs.size(); ++i) {
      const SubAxis& sub = space_.subs[i];
      const std::size_t a = sub_axis_[i];
      const std::int64_t end = sub.stride * sub.extent;
      const std::int64_t at = s.offset[a] / sub.stride % sub.extent;
      auto inside = [&](std::int64_t stride, std::int64_t extent) {
        return stride <= sub.stride && end <= stride * extent;
      };
      Role role = pinned;
      for (const MeshDigit& g : s.digits)
        if (g.axis == a && inside(g.stride, g.extent))
          role = slot_at(g.dim, g.place * (sub.stride / g.stride));
      for (const Spread& r : s.spreads)
        if (r.axis == a && inside(r.stride, r.extent)) role = r.role;
      if (role == pinned)
        pins[i] = at;
      else if (at != 0)
        return reason("the offset on axis {} does not fall between its parts",
                      mesh_.axes()[a].name);
      state[i] = role;
    }
    return state;
  }

  Role slot_at(std::size_t dim, std::int64_t place) const {
    for (std::size_t k = 0; k < space_.slots.size(); ++k)
      if (space_.slots[k].dim == dim && space_.slots[k].place == place) return static_cast<Role>(k);
    HEDDLE_CHECK(false, "no slot at place {} of dimension {}", place, dim);
  }

  const Layout& source_;
  const Layout& target_;
  const Mesh& mesh_;
  const AxisRegistry& axes_;
  Side from_, to_;
  std::vector<std::set<std::int64_t>> bounds_;  // place values, per dimension
  std::vector<std::set<std::int64_t>> cuts_;    // strides, per mesh axis
  std::set<std::pair<std::size_t, std::int64_t>> scratch_;
  std::vector<std::size_t> sub_axis_;
  PlanSpace space_;
};

}  // namespace

std::int64_t PlanSpace::local_elements(const State& state) const {
  std::array<bool, kMaxSlots> taken{};
  for (std::size_t i = 0; i < subs.size(); ++i)
    if (in_slot(state[i])) taken[state[i]] = true;
  std::int64_t elements = 1;
  for (std::size_t k = 0; k < slots.size(); ++k)
    if (!taken[k]) elements *= slots[k].extent;
  return elements;
}

std::int64_t PlanSpace::local_bytes(const State& state) const {
  return static_cast<std::int64_t>(
      (static_cast<__int128>(local_elements(state)) * element_bits + 7) / 8);
}

Layout PlanSpace::layout_of(const State& state) const {
  LayoutParts parts;
  parts.dims = dims;
  parts.reduce = source_reduce;
  std::vector<Iter> by_slot(slots.size());
  for (std::size_t k = 0; k < slots.size(); ++k) by_slot[k] = {slots[k].extent, 0, memory};
  for (std::size_t i = 0; i < subs.size(); ++i) {
    const Iter it{subs[i].extent, subs[i].stride, subs[i].axis};
    switch (state[i]) {
      case kReplicated:
        parts.replicas.push_back(it);
        break;
      case kPendingTarget:
        parts.reduce = target_reduce;
        [[fallthrough]];
      case kPending:
        parts.partials.push_back(it);
        break;
      case kPinnedSource:
        parts.offset.push_back({it.axis, source_pin[i] * subs[i].stride});
        break;
      case kPinnedTarget:
        parts.offset.push_back({it.axis, target_pin[i] * subs[i].stride});
        break;
      default:
        by_slot[state[i]] = it;
    }
  }
  std::int64_t stride = 1;
  for (std::size_t k = slots.size(); k-- > 0;) {
    if (by_slot[k].axis != memory || !by_slot[k].stride.is_zero()) continue;
    by_slot[k].stride = stride;
    stride *= slots[k].extent;
  }
  parts.digits = std::move(by_slot);
  auto layout = Layout::make(std::move(parts));
  HEDDLE_CHECK(layout.ok(), "a state of the planner is no layout");
  return *std::move(layout);
}

Expected<PlanSpace> make_plan_space(const Layout& source, const Layout& target, const Mesh& mesh,
                                    const AxisRegistry& axes, const PlanOptions& options) {
  return Builder(source, target, mesh, axes).run(options);
}

Layout without_halo(const Layout& layout) {
  if (!has_halo(layout)) return layout;
  LayoutParts parts = layout.parts();
  for (DimInfo& d : parts.dims) d.halo_lo = d.halo_hi = 0;
  return Layout::make(std::move(parts)).value();
}

bool has_halo(const Layout& layout) {
  return std::any_of(layout.dims().begin(), layout.dims().end(),
                     [](const DimInfo& d) { return d.has_halo(); });
}

namespace {

// Elements that halos add to each run in memory: its length with them, and without.
struct Widened {
  std::int64_t with, without;
};

std::vector<Widened> widened_runs(const Layout& layout) {
  std::vector<Widened> runs;
  if (!has_halo(layout)) return runs;
  auto groups = group(layout, layout.padded_shape());
  HEDDLE_CHECK(groups.ok(), "a halo was validated on digits that do not group");
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    const DimInfo& dim = layout.dims()[d];
    if (!dim.has_halo()) continue;
    const std::int64_t run = (*groups)[d].back().extent.factor();
    runs.push_back({run + dim.halo_lo + dim.halo_hi, run});
  }
  return runs;
}

}  // namespace

std::int64_t holder_bytes(const Layout& layout, const AxisRegistry& axes,
                          std::int64_t element_bits) {
  __int128 bits = element_bits;
  for (const Iter& i : layout.digits())
    if (i.axis != kNoAxis && axes[i.axis].kind == AxisKind::memory) bits *= i.extent.factor();
  for (const Widened& w : widened_runs(layout)) {
    bits = bits / w.without * w.with;
    if (bits / 8 > kMostBytes) return kMostBytes;
  }
  return static_cast<std::int64_t>((bits + 7) / 8);
}

}  // namespace heddle
