// Layouts that a plan with an exchange may pass through. An exchange brings every contribution of a
// pending sum and every copy over the slowest link, so it pays to finish sums and cut copies before
// it, to make copies after it, and to split where the two layouts do not get in each other's way.
#include <algorithm>

#include "layout/plan_moves.h"

namespace heddle {

namespace {

constexpr std::size_t kMostDims = 3;  // that are tried for a split

// A layout in pieces: for each dimension its digits on the mesh and in memory, slowest first.
class Pieces {
 public:
  static std::optional<Pieces> of(const Layout& layout, const PlanContext& in) {
    auto groups = group(layout, layout.padded_shape());
    if (!groups) return std::nullopt;
    Pieces p(in);
    p.dims_ = layout.dims();
    for (DimInfo& d : p.dims_) d.halo_lo = d.halo_hi = 0;
    p.digits_ = *std::move(groups);
    for (const Iter& i : layout.replicas())
      if (p.on_mesh(i)) p.copies_.push_back(i);
    p.pending_ = layout.partials();
    if (!std::all_of(p.pending_.begin(), p.pending_.end(),
                     [&](const Iter& i) { return p.on_mesh(i); }))
      return std::nullopt;
    p.reduce_ = layout.reduce();
    for (const AxisOffset& o : layout.offset())
      if (in.mesh.find(o.axis) != nullptr) p.offset_.push_back(o);
    return p;
  }

  std::size_t rank() const { return dims_.size(); }
  const DimInfo& dim(std::size_t d) const { return dims_[d]; }
  const Digits& digits(std::size_t d) const { return digits_[d]; }
  bool on_mesh(const Iter& i) const { return in_->mesh.find(i.axis) != nullptr; }
  bool is_split(std::size_t d) const {
    return std::any_of(digits_[d].begin(), digits_[d].end(),
                       [&](const Iter& i) { return on_mesh(i); });
  }
  // Elements below the last split of the dimension.
  std::int64_t run(std::size_t d) const {
    std::int64_t elements = 1;
    for (std::size_t i = digits_[d].size(); i-- > 0 && !on_mesh(digits_[d][i]);)
      elements *= digits_[d][i].extent.factor();
    return elements;
  }

  Digits take_pending() { return std::exchange(pending_, {}); }
  Digits take_copies() { return std::exchange(copies_, {}); }
  Digits take_splits(std::size_t d) {
    Digits taken;
    for (const Iter& i : digits_[d])
      if (on_mesh(i)) taken.push_back(i);
    if (taken.empty()) return taken;
    // Whole again: as if the dimension had never been cut, where all of it is here.
    DimInfo& dim = dims_[d];
    if (dim.origin <= 0 && dim.origin + dim.padded.factor() >= dim.size.factor()) {
      dim.padded = dim.size;
      dim.origin = 0;
    }
    digits_[d] = {{dim.padded, 0, kNoAxis}};
    return taken;
  }
  void copy_over(const Digits& iters) { copies_.insert(copies_.end(), iters.begin(), iters.end()); }
  // Splits the runs of dimension d; what does not divide them becomes copies.
  void split(std::size_t d, const Digits& iters) {
    Digits& list = digits_[d];
    std::int64_t rest = run(d);
    while (!list.empty() && !on_mesh(list.back())) list.pop_back();
    for (const Iter& i : iters) {
      if (rest == 0 || rest % i.extent.factor() != 0) {
        copies_.push_back(i);
        continue;
      }
      rest /= i.extent.factor();
      list.push_back(i);
    }
    list.push_back({rest, 0, kNoAxis});
  }

  std::optional<Layout> layout() const {
    LayoutParts parts;
    parts.dims = dims_;
    parts.replicas = copies_;
    parts.partials = pending_;
    parts.reduce = reduce_;
    parts.offset = offset_;
    std::int64_t stride = 1;
    for (std::size_t d = dims_.size(); d-- > 0;)
      for (std::size_t i = digits_[d].size(); i-- > 0;) {
        Iter digit = digits_[d][i];
        if (!on_mesh(digit)) {
          digit.axis = in_->axes.mem();
          digit.stride = stride;
          stride *= digit.extent.factor();
        }
        parts.digits.push_back(digit);
      }
    std::reverse(parts.digits.begin(), parts.digits.end());
    auto made = Layout::make(std::move(parts));
    if (!made || !validate(*made, in_->axes)) return std::nullopt;
    return *std::move(made);
  }

 private:
  explicit Pieces(const PlanContext& in) : in_(&in) {}
  const PlanContext* in_;
  std::vector<DimInfo> dims_;
  std::vector<Digits> digits_;
  Digits copies_, pending_;
  ReduceOp reduce_ = ReduceOp::sum;
  std::vector<AxisOffset> offset_;
};

// Where the splits of a dimension begin and end.
void add_bounds(const Pieces& p, std::size_t d, std::vector<std::int64_t>& bounds) {
  std::int64_t place = 1;
  for (std::size_t i = p.digits(d).size(); i-- > 0;) {
    const Iter& digit = p.digits(d)[i];
    if (p.on_mesh(digit)) bounds.push_back(place);
    place *= digit.extent.factor();
    if (p.on_mesh(digit)) bounds.push_back(place);
  }
}

// Dimensions that both cut, and not at places that nest.
std::vector<std::size_t> crossing_dims(const Pieces& a, const Pieces& b) {
  std::vector<std::size_t> crossing;
  std::vector<std::size_t> shared;
  for (std::size_t d = 0; d < a.rank(); ++d) {
    if (!a.is_split(d) || !b.is_split(d) || a.digits(d) == b.digits(d)) continue;
    shared.push_back(d);
    std::vector<std::int64_t> bounds;
    add_bounds(a, d, bounds);
    add_bounds(b, d, bounds);
    std::sort(bounds.begin(), bounds.end());
    bool nest = a.dim(d).padded == b.dim(d).padded && a.dim(d).origin == b.dim(d).origin;
    for (std::size_t i = 1; i < bounds.size(); ++i) nest = nest && bounds[i] % bounds[i - 1] == 0;
    if (!nest) crossing.push_back(d);
  }
  return crossing.empty() ? shared : crossing;
}

// The dimensions with the longest runs: there is most room for a split.
std::vector<std::size_t> roomy_dims(const Pieces& p) {
  std::vector<std::size_t> dims(p.rank());
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = d;
  std::stable_sort(dims.begin(), dims.end(),
                   [&](std::size_t a, std::size_t b) { return p.run(a) > p.run(b); });
  dims.resize(std::min(dims.size(), kMostDims));
  return dims;
}

// Layouts near one side, each once.
class Stops {
 public:
  Stops(const Pieces& side, const Layout& layout, const std::vector<std::size_t>& crossing)
      : side_(side), layout_(layout), crossing_(crossing) {}

  // Splits in the way go to another dimension, or become copies.
  void add_out_of_the_way() {
    if (crossing_.empty()) return;
    for (const std::size_t d : roomy_dims(side_)) {
      if (std::find(crossing_.begin(), crossing_.end(), d) != crossing_.end()) continue;
      Pieces p = side_;
      for (const std::size_t c : crossing_) p.split(d, p.take_splits(c));
      add(p);
      p.split(d, p.take_pending());
      add(p);
    }
    Pieces p = side_;
    for (const std::size_t c : crossing_) p.copy_over(p.take_splits(c));
    p.copy_over(p.take_pending());
    add(p);
  }
  // What is pending, or copied, splits a dimension.
  void add_spread(bool pending, bool copies) {
    for (const std::size_t d : roomy_dims(side_)) {
      Pieces p = side_;
      if (pending) p.split(d, p.take_pending());
      if (copies) p.split(d, p.take_copies());
      add(p);
    }
  }
  void add_finished() {
    Pieces p = side_;
    p.copy_over(p.take_pending());
    add(p);
  }
  std::vector<Layout> take() { return std::move(found_); }

 private:
  void add(const Pieces& pieces) {
    const auto made = pieces.layout();
    if (made && !(*made == layout_) &&
        std::find(found_.begin(), found_.end(), *made) == found_.end())
      found_.push_back(*made);
  }
  const Pieces& side_;
  const Layout& layout_;
  const std::vector<std::size_t>& crossing_;
  std::vector<Layout> found_;
};

}  // namespace

PlanStops plan_stops(const PlanContext& in) {
  const auto from = Pieces::of(in.source, in);
  const auto to = Pieces::of(in.core_target, in);
  if (!from || !to) return {};
  const std::vector<std::size_t> crossing = crossing_dims(*from, *to);
  Stops first(*from, in.source, crossing);
  if (!in.source.partials().empty()) {
    first.add_spread(true, false);
    first.add_spread(true, true);
    first.add_finished();
  }
  first.add_out_of_the_way();
  Stops last(*to, in.core_target, crossing);
  last.add_out_of_the_way();
  if (!in.core_target.partials().empty() || !in.core_target.replicas().empty())
    last.add_spread(true, true);
  if (!in.core_target.partials().empty()) last.add_finished();
  return {first.take(), last.take()};
}

}  // namespace heddle
