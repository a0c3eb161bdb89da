#include "spmd/fetch.h"

#include <algorithm>

#include "parallel/messages.h"
#include "spmd/transition.h"

namespace heddle {

namespace {

// Where the window of this device begins.
ValueId start_here(Core& c, const Window& window) {
  ValueId start = c.w.multiply(c.w.position(window.axes), window.step);
  if (window.every > 1)
    start =
        c.w.op("stablehlo.divide", {start, c.w.number(window.every)}, Type::tensor(DType::i64, {}));
  return c.w.add(start, c.w.number(window.begin));
}

std::vector<std::int64_t> numbers_of(const SplitAxes& axes) {
  std::vector<std::int64_t> all;
  for (const SplitDigit& d : axes) all.insert(all.end(), {d.extent, d.axis, d.stride});
  return all;
}

ValueId fetch_neighbours(Core& c, ValueId local, const Window& window, std::int64_t low,
                         std::int64_t high) {
  const std::int64_t pieces = total(window.axes);
  const std::int64_t block = (window.size + pieces - 1) / pieces;
  std::vector<ValueId> parts;
  auto from = [&](std::int64_t hop, std::int64_t count, bool tail) {
    std::vector<std::int64_t> key = numbers_of(window.axes);
    key.insert(key.end(), {c.w.at, local, static_cast<std::int64_t>(window.dim), hop, count, tail});
    auto [known, is_new] = c.edges.try_emplace(std::move(key), kNone);
    if (!is_new) return known->second;
    const ValueId edge = c.w.slice(local, window.dim, tail ? block - count : 0, count);
    const Type sent = c.w.type(edge);
    c.tell(MoveKind::halo_exchange, window.axes, sent, sent.bytes(),
           link_seconds(c.mesh.mesh, window.axes, sent.bytes()));
    return known->second = c.w.permute(edge, c.w.shift_pairs(window.axes, tail ? hop : -hop));
  };
  for (std::int64_t hop = (low + block - 1) / block; hop >= 1; --hop)
    if (hop < pieces)
      parts.push_back(from(hop, std::min(block, low - (hop - 1) * block), true));
    else
      parts.push_back(c.w.slice(local, window.dim, 0, std::min(block, low - (hop - 1) * block)));
  parts.push_back(local);
  for (std::int64_t hop = 1; hop <= (high + block - 1) / block; ++hop)
    if (hop < pieces)
      parts.push_back(from(hop, std::min(block, high - (hop - 1) * block), false));
    else
      parts.push_back(c.w.slice(local, window.dim, 0, std::min(block, high - (hop - 1) * block)));
  const ValueId around = c.w.concatenate(std::move(parts), window.dim);
  if (window.step == block && window.every == 1)
    return c.w.slice(around, window.dim, window.begin + low, window.count);
  const ValueId first = c.w.add(c.w.multiply(c.w.position(window.axes), -block),
                                c.w.number(low));  // of what is around
  return c.w.dynamic_slice(around, window.dim, c.w.add(start_here(c, window), first), window.count);
}

// A reversed dimension: blocks change places. Where they are uneven, each is brought to its end
// first. kNone: the window is another one.
ValueId fetch_mirrored(Core& c, ValueId local, const Window& window) {
  const std::int64_t pieces = total(window.axes);
  const std::int64_t block = (window.size + pieces - 1) / pieces;
  if (window.step != -block || window.count != block || window.begin != window.size - block)
    return kNone;
  const std::int64_t room = pieces * block - window.size;
  if (room > 0) {
    const Window shifted{window.dim, window.axes, window.size, -room, block, block, kNone};
    if (!reach_of(shifted).near) return kNone;
    local = fetch_neighbours(c, local, shifted, room, 0);
  }
  const Type sent = c.w.type(local);
  c.tell(MoveKind::permute, window.axes, sent, sent.bytes(),
         link_seconds(c.mesh.mesh, window.axes, sent.bytes()));
  return c.w.permute(local, c.w.mirror_pairs(window.axes));
}

ValueId fetch_whole(Core& c, ValueId local, const Window& window) {
  const Type type = c.w.type(local);
  Split from, to;
  for (std::size_t d = 0; d < type.rank(); ++d) {
    from.dims.push_back({type.shape[d], {}});
    to.dims.push_back({type.shape[d], {}});
  }
  from.dims[window.dim] = DimSplit::blocks(window.size, window.axes);
  to.dims[window.dim] = {window.size, {}};
  const Route& route = c.on.routes.find(c.on.split_id(from), c.on.split_id(to), bits(type.dtype));
  for (const Route::Step& step : route.steps)
    c.result.communications.push_back(
        {step.kind, step.over, step.bytes, step.seconds, c.current, type.str(), c.depth});
  const ValueId whole = write_transition(c.w, local, from, to);
  const std::int64_t pieces = total(window.axes);
  const std::int64_t last = start_of(window, pieces - 1);
  const std::int64_t low = std::max<std::int64_t>({-window.begin, -last, 0});
  const std::int64_t high = std::max<std::int64_t>(
      {window.begin + window.count - window.size, last + window.count - window.size, 0});
  const ValueId fill = window.fill == kNone ? c.w.zero(type.dtype) : window.fill;
  const ValueId room = c.w.pad(whole, window.dim, low, high, fill);
  return c.w.dynamic_slice(room, window.dim, c.w.add(start_here(c, window), c.w.number(low)),
                           window.count);
}

ValueId fetch_new(Core& c, ValueId local, const Window& window) {
  if (const ValueId mirrored = fetch_mirrored(c, local, window); mirrored != kNone) return mirrored;
  const WindowReach reach = reach_of(window);
  if (!reach.near) return fetch_whole(c, local, window);
  const std::int64_t last = start_of(window, total(window.axes) - 1);
  const ValueId part = fetch_neighbours(c, local, window, reach.low, reach.high);
  const bool stays_inside = window.begin >= 0 && last + window.count <= window.size && last >= 0 &&
                            window.begin + window.count <= window.size;
  if (window.fill == kNone || stays_inside) return part;
  return c.w.masked(part, window.dim, start_here(c, window), window.size, window.fill);
}

}  // namespace

// What has been fetched in this region is there for all that come after.
ValueId fetch(Core& c, ValueId local, const Window& window) {
  std::vector<std::int64_t> key = numbers_of(window.axes);
  key.insert(key.end(), {c.w.at, local, static_cast<std::int64_t>(window.dim), window.size,
                         window.begin, window.step, window.every, window.count, window.fill});
  auto [known, is_new] = c.fetched.try_emplace(std::move(key), kNone);
  if (is_new) known->second = fetch_new(c, local, window);
  return known->second;
}

}  // namespace heddle
