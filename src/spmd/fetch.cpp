// Windows of a dimension that is dealt out in blocks: from the neighbours' edges where these reach,
// from the whole dimension elsewhere.
#include <algorithm>

#include "spmd/partitioner.h"
#include "spmd/transition.h"

namespace heddle {

std::int64_t Partitioner::start_of(const Window& window, std::int64_t position) {
  return window.begin + position * window.step / window.every;
}

// The same for this device.
ValueId Partitioner::start_here(const Window& window) {
  ValueId start = w_.multiply(w_.position(window.axes), window.step);
  if (window.every > 1)
    start =
        w_.op("stablehlo.divide", {start, w_.number(window.every)}, Type::tensor(DType::i64, {}));
  return w_.add(start, w_.number(window.begin));
}

// How far windows reach out of their blocks: most at the first or the last device.
Partitioner::Reach Partitioner::reach_of(const Window& window) {
  const std::int64_t pieces = total(window.axes);
  const std::int64_t block = (window.size + pieces - 1) / pieces;
  const std::int64_t last = start_of(window, pieces - 1);
  const std::int64_t rounded = window.every > 1 ? 1 : 0;  // between them, perhaps one further
  Reach reach;
  reach.low = std::max<std::int64_t>({-window.begin, (pieces - 1) * block - last, 0}) + rounded;
  reach.high = std::max<std::int64_t>(
                   {window.begin + window.count - block, last + window.count - pieces * block, 0}) +
               rounded;
  const std::int64_t hops = (reach.low + block - 1) / block + (reach.high + block - 1) / block;
  reach.near = hops <= 2 && reach.low + reach.high < (pieces - 1) * block;
  return reach;
}

namespace {

std::vector<std::int64_t> numbers_of(const AxisList& axes) {
  std::vector<std::int64_t> all;
  for (const SplitDigit& d : axes) all.insert(all.end(), {d.extent, d.axis, d.stride});
  return all;
}

}  // namespace

// What has been fetched in this region is there for all that come after.
ValueId Partitioner::fetch(ValueId local, const Window& window) {
  std::vector<std::int64_t> key = numbers_of(window.axes);
  key.insert(key.end(), {w_.at, local, static_cast<std::int64_t>(window.dim), window.size,
                         window.begin, window.step, window.every, window.count, window.fill});
  auto [known, is_new] = fetched_.try_emplace(std::move(key), kNone);
  if (is_new) known->second = fetch_new(local, window);
  return known->second;
}

ValueId Partitioner::fetch_new(ValueId local, const Window& window) {
  if (const ValueId mirrored = fetch_mirrored(local, window); mirrored != kNone) return mirrored;
  const Reach reach = reach_of(window);
  if (!reach.near) return fetch_whole(local, window);
  const std::int64_t last = start_of(window, total(window.axes) - 1);
  const ValueId part = fetch_neighbours(local, window, reach.low, reach.high);
  const bool stays_inside = window.begin >= 0 && last + window.count <= window.size && last >= 0 &&
                            window.begin + window.count <= window.size;
  if (window.fill == kNone || stays_inside) return part;
  return w_.masked(part, window.dim, start_here(window), window.size, window.fill);
}

// All parts of so many bytes on every device of the axes.
double Partitioner::gather_seconds(double bytes, const AxisList& axes) const {
  return heddle::gather_seconds(hops_of(axes), bytes);
}

std::vector<Hop> Partitioner::hops_of(const AxisList& axes) const {
  std::vector<Hop> hops;
  for (const SplitDigit& d : axes) {
    const MeshAxis& axis = mesh_.mesh.axes()[static_cast<std::size_t>(d.axis)];
    hops.push_back({d.extent, axis.link, axis.medium});
  }
  return hops;
}

ValueId Partitioner::fetch_neighbours(ValueId local, const Window& window, std::int64_t low,
                                      std::int64_t high) {
  const std::int64_t pieces = total(window.axes);
  const std::int64_t block = (window.size + pieces - 1) / pieces;
  std::vector<ValueId> parts;
  auto from = [&](std::int64_t hop, std::int64_t count, bool tail) {
    std::vector<std::int64_t> key = numbers_of(window.axes);
    key.insert(key.end(), {w_.at, local, static_cast<std::int64_t>(window.dim), hop, count, tail});
    auto [known, is_new] = edges_.try_emplace(std::move(key), kNone);
    if (!is_new) return known->second;
    const ValueId edge = w_.slice(local, window.dim, tail ? block - count : 0, count);
    const Type sent = w_.type(edge);
    tell(MoveKind::halo_exchange, window.axes, sent, sent.bytes(),
         link_seconds(window.axes, sent.bytes()));
    return known->second = w_.permute(edge, w_.shift_pairs(window.axes, tail ? hop : -hop));
  };
  for (std::int64_t hop = (low + block - 1) / block; hop >= 1; --hop)
    if (hop < pieces)
      parts.push_back(from(hop, std::min(block, low - (hop - 1) * block), true));
    else
      parts.push_back(w_.slice(local, window.dim, 0, std::min(block, low - (hop - 1) * block)));
  parts.push_back(local);
  for (std::int64_t hop = 1; hop <= (high + block - 1) / block; ++hop)
    if (hop < pieces)
      parts.push_back(from(hop, std::min(block, high - (hop - 1) * block), false));
    else
      parts.push_back(w_.slice(local, window.dim, 0, std::min(block, high - (hop - 1) * block)));
  const ValueId around = w_.concatenate(std::move(parts), window.dim);
  if (window.step == block && window.every == 1)
    return w_.slice(around, window.dim, window.begin + low, window.count);
  const ValueId first =
      w_.add(w_.multiply(w_.position(window.axes), -block), w_.number(low));  // of what is around
  return w_.dynamic_slice(around, window.dim, w_.add(start_here(window), first), window.count);
}

// A reversed dimension: blocks change places. Where they are uneven, each is brought to its end
// first. kNone: the window is another one.
ValueId Partitioner::fetch_mirrored(ValueId local, const Window& window) {
  const std::int64_t pieces = total(window.axes);
  const std::int64_t block = (window.size + pieces - 1) / pieces;
  if (window.step != -block || window.count != block || window.begin != window.size - block)
    return kNone;
  const std::int64_t room = pieces * block - window.size;
  if (room > 0) {
    const Window shifted{window.dim, window.axes, window.size, -room, block, block, kNone};
    if (!reach_of(shifted).near) return kNone;
    local = fetch_neighbours(local, shifted, room, 0);
  }
  const Type sent = w_.type(local);
  tell(MoveKind::permute, window.axes, sent, sent.bytes(), link_seconds(window.axes, sent.bytes()));
  return w_.permute(local, w_.mirror_pairs(window.axes));
}

ValueId Partitioner::fetch_whole(ValueId local, const Window& window) {
  const Type type = w_.type(local);
  Split from, to;
  for (std::size_t d = 0; d < type.rank(); ++d) {
    from.dims.push_back({type.shape[d], {}});
    to.dims.push_back({type.shape[d], {}});
  }
  from.dims[window.dim] = DimSplit::blocks(window.size, window.axes);
  to.dims[window.dim] = {window.size, {}};
  const Route& route = routes_.find(split_id(from), split_id(to), bits(type.dtype));
  for (const Route::Step& step : route.steps)
    result_.communications.push_back(
        {step.kind, step.over, step.bytes, step.seconds, current_, type.str(), depth_});
  const ValueId whole = write_transition(w_, local, from, to);
  const std::int64_t pieces = total(window.axes);
  const std::int64_t last = start_of(window, pieces - 1);
  const std::int64_t low = std::max<std::int64_t>({-window.begin, -last, 0});
  const std::int64_t high = std::max<std::int64_t>(
      {window.begin + window.count - window.size, last + window.count - window.size, 0});
  const ValueId fill = window.fill == kNone ? w_.zero(type.dtype) : window.fill;
  const ValueId room = w_.pad(whole, window.dim, low, high, fill);
  return w_.dynamic_slice(room, window.dim, w_.add(start_here(window), w_.number(low)),
                          window.count);
}

}  // namespace heddle
