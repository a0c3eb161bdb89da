#include "kernel/cuda_exchange.h"

#include <algorithm>
#include <map>

#include "heddle/plan.h"

namespace heddle {

namespace {

bool is_own(AxisId axis, const AxisRegistry& axes) {
  return axis == kNoAxis || axes[axis].kind == AxisKind::memory;
}

// The axes between threads that one of the layouts touches, as a mesh.
Expected<Mesh> threads_of(const Layout& a, const Layout& b, AxisRegistry& axes) {
  std::map<AxisId, std::int64_t> sizes;
  for (const Layout* layout : {&a, &b})
    for (const auto* digits : {&layout->digits(), &layout->replicas(), &layout->partials()})
      for (const Iter& digit : *digits) {
        if (is_own(digit.axis, axes)) continue;
        HEDDLE_TRY(const Dim span, heddle::span(*layout, digit.axis));
        std::int64_t& size = sizes[digit.axis];
        size = std::max(size, span.factor());
      }
  std::string text;
  for (const auto& [axis, size] : sizes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", axes[axis].name, size);
  return Mesh::parse(text, axes);
}

// Digits of one dimension by its loops. Threads that the last turn leaves idle have none.
Expected<std::vector<Digits>> by_loops(Digits digits, const std::vector<Dim>& loops) {
  std::int64_t size = 1, inner = 1;
  for (const Dim& loop : loops) size *= loop.factor();
  std::size_t first = digits.size();
  while (first > 0 && inner < size) inner *= digits[--first].extent.factor();
  digits.erase(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(first));
  if (inner > size) {
    const std::int64_t below = inner / digits[0].extent.factor();
    if (size % below != 0) return reason("{} positions are no whole turns of {}", size, below);
    digits[0].extent = size / below;
  }
  LayoutParts parts;
  for (const Dim& loop : loops) parts.dims.push_back({.size = loop, .padded = loop});
  parts.digits = std::move(digits);
  HEDDLE_TRY(const Layout layout, Layout::make(std::move(parts)));
  return group(layout, loops);
}

// Without one dimension; its digits between threads are given.
Expected<LayoutParts> without(const Layout& mapping, std::size_t dim, const AxisRegistry& axes,
                              Digits& between) {
  HEDDLE_TRY(const auto by_dim, group(mapping, mapping.padded_shape()));
  LayoutParts parts;
  for (std::size_t d = 0; d < by_dim.size(); ++d) {
    if (d != dim) {
      parts.dims.push_back(mapping.dims()[d]);
      parts.digits.insert(parts.digits.end(), by_dim[d].begin(), by_dim[d].end());
      continue;
    }
    for (const Iter& digit : by_dim[d])
      if (!is_own(digit.axis, axes)) between.push_back(digit);
  }
  return parts;
}

std::string_view words_of(Medium medium) {
  switch (medium) {
    case Medium::shuffle:
      return "by shuffles";
    case Medium::shared_memory:
      return "through shared memory";
    case Medium::cluster_memory:
      return "through the shared memory of other blocks";
    default:
      return "through memory";
  }
}

}  // namespace

std::optional<Medium> CudaExchange::widest() const {
  return meetings.empty() ? std::nullopt : std::optional(meetings.back().through);
}

Expected<CudaExchange> cuda_exchange(const Layout& there, const Layout& wanted,
                                     const AxisRegistry& axes) {
  AxisRegistry sized = axes;
  HEDDLE_TRY(const Mesh mesh, threads_of(there, wanted, sized));
  HEDDLE_TRY(const Plan plan, plan_redistribution(there, wanted, mesh, sized, {.bound = false}));
  // Each part of an axis once, in however many moves it takes part.
  std::map<Medium, std::vector<SubAxis>> met;
  for (const Move& move : plan.moves)
    for (const SubAxis& part : move.over) {
      std::vector<SubAxis>& parts = met[mesh.find(part.axis)->medium];
      if (move.kind != MoveKind::local_copy && std::ranges::count(parts, part) == 0)
        parts.push_back(part);
    }
  CudaExchange exchange;
  for (const auto& [medium, parts] : met) {
    std::int64_t holders = 1;
    for (const SubAxis& part : parts) holders *= part.extent;
    if (holders > 1) exchange.meetings.push_back({medium, holders});
  }
  std::ranges::reverse(exchange.meetings);  // media are listed from the farthest to the nearest
  return exchange;
}

std::string words_of(const CudaExchange& exchange) {
  std::string text;
  for (const auto& [through, holders] : exchange.meetings)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", holders, words_of(through));
  return text.empty() ? "nothing" : text;
}

Expected<Layout> summed_along(const Layout& mapping, std::size_t dim, const AxisRegistry& axes) {
  Digits between;
  HEDDLE_TRY(LayoutParts parts, without(mapping, dim, axes, between));
  parts.partials = std::move(between);
  return Layout::make(std::move(parts));
}

Expected<Layout> repeated_along(const Layout& mapping, std::size_t dim, const AxisRegistry& axes) {
  Digits between;
  HEDDLE_TRY(LayoutParts parts, without(mapping, dim, axes, between));
  parts.replicas = std::move(between);
  return Layout::make(std::move(parts));
}

std::int64_t own_positions(const Layout& mapping, std::size_t dim, const AxisRegistry& axes) {
  std::int64_t own = 1;
  if (const auto by_dim = group(mapping, mapping.padded_shape()))
    for (const Iter& digit : (*by_dim)[dim])
      if (is_own(digit.axis, axes)) own *= digit.extent.factor();
  return own;
}

Expected<Layout> cuda_value_layout(const Stage& stage, const std::vector<bool>& shared,
                                   const Layout& mapping, const CudaPlace& place, CudaUse use,
                                   const AxisRegistry& axes) {
  HEDDLE_TRY(const auto by_dim, group(mapping, mapping.padded_shape()));
  std::vector<Digits> of_loops(stage.loops.size());
  for (const bool is_shared : {true, false}) {
    std::vector<Dim> sizes;
    for (std::size_t i = 0; i < stage.loops.size(); ++i)
      if (shared[i] == is_shared) sizes.emplace_back(stage.loops[i].size);
    HEDDLE_TRY(const auto digits, by_loops(by_dim[is_shared ? 0 : 1], sizes));
    for (std::size_t i = 0, at = 0; i < stage.loops.size(); ++i)
      if (shared[i] == is_shared) of_loops[i] = digits[at++];
  }
  LayoutParts parts;
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < stage.loops.size(); ++i) {
    if (stage.loops[i].size == 1) continue;
    if (place.tile[i] != 0) {
      moving.push_back(i);
      continue;
    }
    if (use == CudaUse::stores) return reason("several points store one element");
    for (const Iter& digit : of_loops[i])
      if (!is_own(digit.axis, axes))
        (use == CudaUse::adds ? parts.partials : parts.replicas).push_back(digit);
  }
  std::ranges::sort(moving, std::greater<>(), [&](std::size_t i) { return place.tile[i]; });
  std::int64_t elements = 1;
  for (std::size_t n = moving.size(); n-- > 0; elements *= stage.loops[moving[n]].size)
    if (place.tile[moving[n]] != elements) return reason("its elements do not lie side by side");
  for (std::size_t i : moving)
    parts.digits.insert(parts.digits.end(), of_loops[i].begin(), of_loops[i].end());
  parts.dims.push_back({.size = elements, .padded = elements});
  return Layout::make(std::move(parts));
}

}  // namespace heddle
