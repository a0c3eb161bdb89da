#include "record/view_ops.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "heddle/hash.h"

namespace heddle::record {

namespace {

using Dims = Builder::Dims;

Var reshape(Builder& b, Var x, const Shape& shape) {
  return x.type().shape == shape ? x : b.reshape(x, shape);
}

Var reverse(Builder& b, Var x, const BoxView& box) {
  Dims dims;
  for (std::size_t d = 0; d < box.base.size(); ++d)
    if (box.ranges[d].reversed) dims.push_back(static_cast<std::int64_t>(d));
  if (dims.empty()) return x;
  return b.op("reverse", {x}, AttrDict{{"dimensions", {std::move(dims)}}});
}

Shape sizes_of(const BoxView& box) {
  Shape sizes;
  for (const BoxView::Range& range : box.ranges) sizes.push_back(range.size);
  return sizes;
}

Var cut(Builder& b, Var x, const BoxView& box) {
  if (box.is_whole()) return x;
  Dims start, limit, steps;
  for (const BoxView::Range& range : box.ranges) {
    start.push_back(range.start);
    limit.push_back(range.start + range.step * (range.size - 1) + 1);
    steps.push_back(range.step);
  }
  return b.slice(x, std::move(start), std::move(limit), std::move(steps));
}

// Base dimensions that the view shows, in the base's order, and where each stands among those.
struct Shown {
  Shape sizes;
  std::vector<std::int64_t> rank_of;  // by base dimension
};
Shown shown(const BoxView& box) {
  Shown result;
  result.rank_of.assign(box.base.size(), -1);
  for (std::size_t d = 0; d < box.base.size(); ++d) {
    if (std::ranges::find(box.from, static_cast<int>(d)) == box.from.end()) continue;
    result.rank_of[d] = static_cast<std::int64_t>(result.sizes.size());
    result.sizes.push_back(box.ranges[d].size);
  }
  return result;
}

// For each of the view's dimensions that is one of the base's: its place among the shown ones.
Dims order_of(const BoxView& box, const Shown& parts) {
  Dims order;
  for (int from : box.from)
    if (from >= 0) order.push_back(parts.rank_of[static_cast<std::size_t>(from)]);
  return order;
}

Dims inverse(const Dims& order) {
  Dims result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return result;
}

Var transpose(Builder& b, Var x, const Dims& order) {
  return std::ranges::is_sorted(order) ? x : b.transpose(x, order);
}

}  // namespace

Var read_box(Builder& b, Var store, const AffineView& view, const BoxView& box) {
  Var x = reverse(b, cut(b, reshape(b, store, box.base), box), box);
  const Shown parts = shown(box);
  if (x.type().shape != parts.sizes) x = b.reshape(x, parts.sizes);
  x = transpose(b, x, order_of(box, parts));
  if (x.type().elements() == view.elements()) return reshape(b, x, view.shape);
  Dims dims;
  for (std::size_t d = 0; d < view.rank(); ++d)
    if (box.from[d] >= 0) dims.push_back(static_cast<std::int64_t>(d));
  return b.broadcast(x, view.shape, std::move(dims));
}

namespace {

// A value in the view's shape as the box of the base that it is for.
Var as_box(Builder& b, Var value, const BoxView& box) {
  const Shown parts = shown(box);
  const Dims order = order_of(box, parts);
  Shape as_shown;
  for (std::int64_t place : order) as_shown.push_back(parts.sizes[static_cast<std::size_t>(place)]);
  const Var x = transpose(b, reshape(b, value, as_shown), inverse(order));
  return reverse(b, reshape(b, x, sizes_of(box)), box);
}

}  // namespace

Var write_whole(Builder& b, Var value, const Type& type, const BoxView& box) {
  return reshape(b, as_box(b, value, box), type.shape);
}

Var write_box(Builder& b, Var store, Var value, const BoxView& box) {
  const Type type = store.type();
  const Var x = as_box(b, value, box);
  // One form for boxes with and without steps: the value spread out over the whole, and where it
  // is.
  Dims low, high, between;
  for (std::size_t d = 0; d < box.base.size(); ++d) {
    const BoxView::Range& range = box.ranges[d];
    low.push_back(range.start);
    between.push_back(range.step - 1);
    high.push_back(box.base[d] - (range.start + range.step * (range.size - 1) + 1));
  }
  const AttrDict room = {
      {"edge_padding_low", {low}}, {"edge_padding_high", {high}}, {"interior_padding", {between}}};
  const Var nothing = b.full(Type::tensor(type.dtype, {}), 0);
  const Var spread = b.op("pad", {x, nothing}, room);
  const Var inside = b.full(Type::tensor(DType::i1, sizes_of(box)), 1);
  const Var where = b.op("pad", {inside, b.full(Type::tensor(DType::i1, {}), 0)}, room);
  const Var old = reshape(b, store, box.base);
  return reshape(b, b.select(where, spread, old), type.shape);
}

namespace {

std::uint64_t hash_of(const AffineView& view) {
  std::uint64_t hash = static_cast<std::uint64_t>(view.offset);
  for (std::size_t d = 0; d < view.rank(); ++d)
    hash = hash_combine(hash_combine(hash, static_cast<std::uint64_t>(view.shape[d])),
                        static_cast<std::uint64_t>(view.strides[d]));
  return hash;
}

// The last answers, by what was asked for.
template <typename Key, typename Answer>
struct Remembered {
  struct Entry {
    std::optional<Key> key;
    Answer answer;
  };
  std::array<Entry, 64> entries;
};

}  // namespace

const std::optional<BoxView>& box_of(const AffineView& view, const Shape& shape) {
  using Key = std::pair<AffineView, Shape>;
  thread_local Remembered<Key, std::optional<BoxView>> known;
  auto& entry = known.entries[hash_of(view) % known.entries.size()];
  if (!entry.key || entry.key->first != view || entry.key->second != shape)
    entry = {Key(view, shape), find_box(view, shape)};
  return entry.answer;
}

const Meeting& meeting_of(const AffineView& a, const AffineView& b, const Shape& shape) {
  using Key = std::tuple<AffineView, AffineView, Shape>;
  thread_local Remembered<Key, Meeting> known;
  auto& entry = known.entries[hash_combine(hash_of(a), hash_of(b)) % known.entries.size()];
  if (!entry.key || std::get<0>(*entry.key) != a || std::get<1>(*entry.key) != b ||
      std::get<2>(*entry.key) != shape)
    entry = {Key(a, b, shape), meet(a, b, shape)};
  return entry.answer;
}

bool repeats(const AffineView& view) {
  for (std::size_t d = 0; d < view.rank(); ++d)
    if (view.strides[d] == 0 && view.shape[d] > 1) return true;
  return false;
}

}  // namespace heddle::record
