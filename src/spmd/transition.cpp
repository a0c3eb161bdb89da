#include "spmd/transition.h"

#include <algorithm>

#include "spmd/exchange.h"
#include "spmd/refine.h"

namespace heddle {

namespace {

class Transition {
 public:
  Transition(Writer& writer, ValueId value, Split from, Split to)
      : w_(writer), value_(value), a_(std::move(from)), b_(std::move(to)) {
    for (std::size_t d = 0; d < a_.dims.size(); ++d)
      for (Split* s : {&a_, &b_})
        if (s->dims[d].digits.empty()) s->dims[d].digits = {{s->dims[d].size}};
  }

  ValueId run() {
    for (int round = 0; round < 16; ++round) {
      if (!same_room()) return through_whole();
      if (!refine(a_, b_, w_.mesh.mesh, refined_)) return through_whole();
      if (arrived()) break;
      if (!(slices() || reduce_scatters() || all_reduces() || all_to_alls() || permutes() ||
            gathers() || masks() || into_zeros()))
        return through_whole();
      rebuild();
    }
    Shape shape;
    for (const DimSplit& dim : b_.dims) shape.push_back(dim.local());
    value_ = w_.reshape(value_, shape);
    for (const auto& [dim, count] : crop_) value_ = w_.slice(value_, dim, 0, count);
    return value_;
  }

 private:
  // ---- the same room on both sides

  bool same_room() {
    for (std::size_t d = 0; d < a_.dims.size(); ++d) {
      DimSplit &a = a_.dims[d], &b = b_.dims[d];
      const std::int64_t have = a.padded(), want = b.padded();
      if (have == want) continue;
      if (a.whole()) {
        value_ = want < have ? w_.slice(value_, d, 0, want)
                             : w_.pad(value_, d, 0, want - have, w_.zero(w_.type(value_).dtype));
        a.digits = {{want}};
      } else if (b.whole()) {
        crop_.emplace_back(d, want);
        b.digits = {{have}};
        if (want > have) return false;
      } else {
        return false;
      }
    }
    return true;
  }

  // Everything on every device first, and the parts from there.
  ValueId through_whole() {
    for (const auto& [dim, count] : crop_) b_.dims[dim].digits = {{count}};
    if (const auto exchanged = write_exchange(w_, value_, a_, b_)) return *exchanged;
    Split whole = a_;
    whole.pending.clear();
    for (DimSplit& dim : whole.dims) dim.digits = {{dim.padded()}};
    Split here = a_, target = b_;
    HEDDLE_CHECK(!(here == whole), "there is no way from one split to another");
    for (Split* s : {&here, &whole, &target}) s->settle();
    const ValueId all = write_transition(w_, value_, here, whole);
    return write_transition(w_, all, whole, target);
  }

  bool arrived() const {
    return refined_.a_pending == refined_.b_pending &&
           std::ranges::all_of(refined_.places,
                               [](const Place& p) { return p.a == p.b || unit(p); });
  }
  static bool unit(const Place& p) { return p.extent() == 1; }

  void rebuild() {
    for (DimSplit& dim : a_.dims) dim.digits.clear();
    for (const Place& p : refined_.places) a_.dims[p.dim].digits.push_back(p.a);
    a_.pending = refined_.a_pending;
    a_.settle();
    for (DimSplit& dim : a_.dims)
      if (dim.digits.empty()) dim.digits = {{dim.size}};
  }

  // ---- where an axis stands

  static bool in(const SplitAxes& list, const SplitDigit& d) {
    return std::ranges::find(list, d) != list.end();
  }
  bool used_before(const SplitDigit& d) const {
    return in(refined_.a_pending, d) ||
           std::ranges::any_of(refined_.places, [&](const Place& p) { return p.a == d; });
  }
  bool used_after(const SplitDigit& d) const {
    return std::ranges::any_of(refined_.places, [&](const Place& p) { return p.b == d; });
  }

  // ---- views: a dimension for every digit that a device has

  std::vector<std::size_t> local_places() const {
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < refined_.places.size(); ++i)
      if (refined_.places[i].a.local()) list.push_back(i);
    return list;
  }
  Shape view_shape(const std::vector<std::size_t>& order) const {
    Shape shape;
    for (std::size_t i : order) shape.push_back(refined_.places[i].extent());
    return shape;
  }
  Shape dims_shape() const {
    Shape shape(a_.dims.size(), 1);
    for (const Place& p : refined_.places)
      if (p.a.local()) shape[p.dim] *= p.extent();
    return shape;
  }
  // Brings places that stand as `order` says into their own order, and joins them to dimensions.
  void from_view(const std::vector<std::size_t>& order) {
    std::vector<std::int64_t> permutation;
    for (std::size_t i : local_places())
      permutation.push_back(std::ranges::find(order, i) - order.begin());
    value_ =
        w_.reshape(w_.transpose(w_.reshape(value_, view_shape(order)), permutation), dims_shape());
  }
  // The chosen places first, in their order, and the others behind.
  std::vector<std::size_t> to_front(const std::vector<std::size_t>& chosen) {
    const std::vector<std::size_t> before = local_places();
    std::vector<std::size_t> order = chosen;
    for (std::size_t i : before)
      if (std::ranges::find(chosen, i) == chosen.end()) order.push_back(i);
    std::vector<std::int64_t> permutation;
    for (std::size_t i : order)
      permutation.push_back(std::ranges::find(before, i) - before.begin());
    value_ = w_.transpose(w_.reshape(value_, view_shape(before)), permutation);
    return order;
  }
  // Whether these places are in one dimension and come before all others that a device has there,
  // once those of them that it lacks are there.
  std::optional<std::size_t> leads(const std::vector<std::size_t>& chosen) const {
    const std::size_t dim = refined_.places[chosen[0]].dim;
    bool others = false;
    for (std::size_t i = 0; i < refined_.places.size(); ++i) {
      const bool mine = std::ranges::find(chosen, i) != chosen.end();
      if (mine && refined_.places[i].dim != dim) return std::nullopt;
      if (refined_.places[i].dim != dim) continue;
      if (mine && others) return std::nullopt;
      others = others || (!mine && refined_.places[i].a.local() && refined_.places[i].extent() > 1);
    }
    return dim;
  }
  SplitAxes axes_after(const std::vector<std::size_t>& chosen) const {
    SplitAxes axes;
    for (std::size_t i : chosen) axes.push_back(refined_.places[i].b);
    return axes;
  }

  // ---- the steps; each says whether there was anything to do

  bool slices() {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < refined_.places.size(); ++i)
      if (refined_.places[i].a.local() && !refined_.places[i].b.local() &&
          !unit(refined_.places[i]) && !used_before(refined_.places[i].b))
        chosen.push_back(i);
    if (chosen.empty()) return false;
    if (const auto dim = leads(chosen)) {
      const SplitAxes axes = axes_after(chosen);
      const std::int64_t block = w_.type(value_).shape[*dim] / total(axes);
      value_ = w_.dynamic_slice(value_, *dim, w_.multiply(w_.position(axes), block), block);
    } else {
      const std::vector<std::size_t> before = local_places();
      value_ = w_.reshape(value_, view_shape(before));
      for (std::size_t i : chosen) {
        const auto d = static_cast<std::size_t>(std::ranges::find(before, i) - before.begin());
        value_ = w_.dynamic_slice(value_, d, w_.position({refined_.places[i].b}), 1);
      }
    }
    for (std::size_t i : chosen) refined_.places[i].a = refined_.places[i].b;
    value_ = w_.reshape(value_, dims_shape());
    return true;
  }

  bool reduce_scatters() {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < refined_.places.size(); ++i)
      if (refined_.places[i].a.local() && in(refined_.a_pending, refined_.places[i].b))
        chosen.push_back(i);
    if (chosen.empty()) return false;
    const SplitAxes axes = axes_after(chosen);
    if (const auto dim = leads(chosen)) {
      value_ = w_.reduce_scatter(value_, *dim, axes, a_.reduce);
    } else {
      to_front(chosen);
      const std::int64_t count = total(axes);
      std::int64_t rest = 1;
      for (std::int64_t n : w_.type(value_).shape) rest *= n;
      value_ = w_.reduce_scatter(w_.reshape(value_, {count, rest / count}), 0, axes, a_.reduce);
    }
    for (std::size_t i : chosen) refined_.places[i].a = refined_.places[i].b;
    std::erase_if(refined_.a_pending, [&](const SplitDigit& d) { return in(axes, d); });
    value_ = w_.reshape(value_, dims_shape());
    return true;
  }

  bool all_reduces() {
    SplitAxes axes;
    for (const SplitDigit& d : refined_.a_pending)
      if (!in(refined_.b_pending, d)) axes.push_back(d);
    if (axes.empty()) return false;
    value_ = w_.all_reduce(value_, axes, a_.reduce);
    std::erase_if(refined_.a_pending, [&](const SplitDigit& d) { return in(axes, d); });
    return true;
  }

  // Axes that leave one dimension for another: what a device has of the new one becomes parts, and
  // it gets the whole of the old one for its part.
  bool all_to_alls() {
    std::vector<std::size_t> gives, gets;
    SplitAxes axes;
    for (std::size_t i = 0; i < refined_.places.size(); ++i) {
      if (refined_.places[i].a.local() || !refined_.places[i].b.local()) continue;
      for (std::size_t j = 0; j < refined_.places.size(); ++j)
        if (refined_.places[j].a.local() && refined_.places[j].b == refined_.places[i].a) {
          axes.push_back(refined_.places[i].a);
          gives.push_back(j);
          gets.push_back(i);
        }
    }
    if (axes.empty()) return false;
    std::vector<std::size_t> order = to_front(gives);
    std::int64_t rest = 1;
    for (std::int64_t n : w_.type(value_).shape) rest *= n;
    const std::int64_t count = total(axes);
    value_ = w_.all_to_all(w_.reshape(value_, {count, rest / count}), 0, axes);
    for (std::size_t i : gives) refined_.places[i].a = refined_.places[i].b;
    for (std::size_t i : gets) refined_.places[i].a = refined_.places[i].b;
    std::copy(gets.begin(), gets.end(), order.begin());
    from_view(order);
    return true;
  }

  // Places that another axis counts afterwards: whole parts change their devices.
  bool permutes() {
    std::vector<std::pair<SplitDigit, SplitDigit>> changes;  // what was a becomes b
    SplitAxes after;
    for (const Place& p : refined_.places) {
      const SplitDigit now = !p.a.local() && !p.b.local() ? p.b : p.a;
      if (now.local() || unit(p)) continue;
      if (overlap(after, now) || overlap(refined_.a_pending, now)) return false;
      after.push_back(now);
      if (!(now == p.a)) changes.emplace_back(p.a, now);
    }
    if (changes.empty()) return false;
    value_ = w_.permute(value_, w_.known_pairs(changes, [&] { return pairs_of(changes); }));
    for (Place& p : refined_.places)
      if (!p.a.local() && !p.b.local()) p.a = p.b;
    return true;
  }

  // The device with the same position, but for the changed axes. An axis that is no longer counted
  // takes over from one that was not before, so that every device sends and gets once.
  Array pairs_of(std::vector<std::pair<SplitDigit, SplitDigit>> changes) const {
    const auto forward = changes;
    for (const auto& [from, to] : forward) {
      const bool starts = std::ranges::none_of(forward, [&](auto& c) { return c.second == from; });
      if (!starts) continue;
      SplitDigit end = to;  // follow the chain from an axis that nothing goes to
      for (bool more = true; more;) {
        more = false;
        for (const auto& [next, then] : forward)
          if (next == end) {
            end = then;
            more = true;
            break;
          }
      }
      changes.emplace_back(end, from);
    }
    const Mesh& mesh = w_.mesh.mesh;
    std::vector<std::int64_t> pairs;
    for (std::int64_t p = 0; p < mesh.devices(); ++p) {
      std::int64_t q = p;
      for (const auto& [from, to] : changes)
        q += (coordinate(from, mesh, p) - coordinate(to, mesh, p)) * step_of(to);
      pairs.insert(pairs.end(), {w_.device_at(p), w_.device_at(q)});
    }
    return Array(Type::tensor(DType::i64, {mesh.devices(), 2}), std::as_bytes(std::span(pairs)));
  }
  std::int64_t step_of(const SplitDigit& d) const {
    std::int64_t step = d.stride;
    const auto& axes = w_.mesh.mesh.axes();
    for (std::size_t a = static_cast<std::size_t>(d.axis) + 1; a < axes.size(); ++a)
      step *= axes[a].size;
    return step;
  }

  bool gathers() {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < refined_.places.size(); ++i)
      if (!refined_.places[i].a.local() && refined_.places[i].b.local() &&
          !in(refined_.b_pending, refined_.places[i].a))
        chosen.push_back(i);
    if (chosen.empty()) return false;
    SplitAxes axes;
    for (std::size_t i : chosen) axes.push_back(refined_.places[i].a);
    if (const auto dim = leads(chosen)) {
      value_ = w_.all_gather(value_, *dim, axes);
      for (std::size_t i : chosen) refined_.places[i].a = refined_.places[i].b;
      return true;
    }
    std::vector<std::size_t> order = chosen;
    for (std::size_t i : local_places()) order.push_back(i);
    std::int64_t rest = 1;
    for (std::int64_t n : w_.type(value_).shape) rest *= n;
    value_ = w_.all_gather(w_.reshape(value_, {1, rest}), 0, axes);
    for (std::size_t i : chosen) refined_.places[i].a = refined_.places[i].b;
    from_view(order);
    return true;
  }

  // Of several copies one stays; the others become what changes nothing.
  bool masks() {
    SplitAxes axes;
    for (const SplitDigit& d : refined_.b_pending)
      if (!used_before(d)) axes.push_back(d);
    if (axes.empty()) return false;
    const Type type = w_.type(value_);
    const ValueId none =
        w_.over(w_.constant(neutral_array(b_.reduce, Type::tensor(type.dtype, {}))), type);
    const ValueId first = w_.over(w_.is_first(axes), Type::tensor(DType::i1, type.shape));
    value_ = w_.select(first, value_, none);
    refined_.a_pending.insert(refined_.a_pending.end(), axes.begin(), axes.end());
    sort_pending();
    a_.reduce = b_.reduce;
    return true;
  }

  // A part becomes the whole with nothing but this part in it.
  bool into_zeros() {
    for (std::size_t i = 0; i < refined_.places.size(); ++i) {
      if (refined_.places[i].a.local() || !in(refined_.b_pending, refined_.places[i].a)) continue;
      const SplitDigit axis = refined_.places[i].a;
      refined_.places[i].a = {axis.extent};
      const std::vector<std::size_t> order = local_places();
      Shape part = view_shape(order), all = part;
      const auto d = static_cast<std::size_t>(std::ranges::find(order, i) - order.begin());
      part[d] = 1;
      const Type whole = Type::tensor(w_.type(value_).dtype, all);
      const ValueId none =
          w_.over(w_.constant(neutral_array(b_.reduce, Type::tensor(whole.dtype, {}))), whole);
      std::vector<ValueId> operands{none, w_.reshape(value_, part)};
      const ValueId origin = w_.number(0), here = w_.position({axis});
      for (std::size_t k = 0; k < all.size(); ++k) operands.push_back(k == d ? here : origin);
      value_ = w_.op("stablehlo.dynamic_update_slice", operands, whole);
      value_ = w_.reshape(value_, dims_shape());
      refined_.a_pending.push_back(axis);
      sort_pending();
      a_.reduce = b_.reduce;
      return true;
    }
    return false;
  }

  void sort_pending() {
    std::ranges::sort(refined_.a_pending, [](const SplitDigit& x, const SplitDigit& y) {
      return std::pair(x.axis, -x.stride) < std::pair(y.axis, -y.stride);
    });
  }

  Writer& w_;
  ValueId value_;
  Split a_, b_;
  Refined refined_;
  std::vector<std::pair<std::size_t, std::int64_t>> crop_;
};

}  // namespace

ValueId write_transition(Writer& writer, ValueId value, const Split& from, const Split& to) {
  if (from == to) return value;
  return Transition(writer, value, from, to).run();
}

}  // namespace heddle
