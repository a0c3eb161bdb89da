#include <algorithm>
#include <map>
#include <set>

#include "layout/digits.h"
#include "layout/map.h"

namespace heddle {

using namespace detail;

Expected<Layout> with_swizzle(const Layout& layout, Swizzle swizzle) {
  if (layout.swizzle()) return reason("[swizzle] the layout has a swizzle already");
  LayoutParts parts = layout.parts();
  parts.swizzle = swizzle;
  return Layout::make(std::move(parts));
}

Expected<ConflictReport> bank_conflicts(const Layout& memory, AxisId address, const Layout& access,
                                        AxisId lane, AxisId step, int element_bytes, int vector,
                                        BankModel model) {
  if (!memory.concrete() || !access.concrete())
    return reason("[conflicts] bind unknown sizes first");
  if (memory.rank() != access.rank())
    return reason("[conflicts] the memory layout has {} dimensions and the access {}",
                  memory.rank(), access.rank());
  Dim elements = 1;
  for (std::size_t d = 0; d < memory.rank(); ++d) {
    if (!(memory.dims()[d].size == access.dims()[d].size))
      return reason("[conflicts] dimension {} has {} elements in memory and {} in the access", d,
                    show(memory.dims()[d].size), show(access.dims()[d].size));
    elements = elements * memory.dims()[d].size;
  }
  if (elements.factor() > 1 << 22)
    return reason("[conflicts] more than 4M elements; look at one tile");
  if (element_bytes < 1 || vector < 1 || model.banks < 1 || model.bank_bytes < 1)
    return reason("[conflicts] element, vector and bank sizes are at least 1");

  // Bytes that each lane touches in each step; a step is one instruction of `vector` elements a
  // lane.
  std::map<std::int64_t, std::map<std::int64_t, std::vector<std::int64_t>>> steps;
  LayoutMap where(memory, false);
  LayoutMap who(access, false);
  where.for_each_index([&](std::span<const std::int64_t> x) {
    if (!who.has(x)) return;
    Coord cell = where.coord(where.at(x));
    Coord reader = who.coord(who.at(x));
    steps[coord_on(reader, step) / vector][coord_on(reader, lane)].push_back(
        coord_on(cell, address) * element_bytes);
  });
  ConflictReport report;
  report.steps = static_cast<std::int64_t>(steps.size());
  for (auto& [s, lanes] : steps) {
    // Wide accesses are served in groups of lanes that fill the banks once.
    const int lane_bytes = vector * element_bytes;
    const std::size_t together = static_cast<std::size_t>(
        std::max(1, model.banks * model.bank_bytes / std::max(lane_bytes, model.bank_bytes)));
    std::vector<std::vector<std::int64_t>> order;
    for (auto& [l, bytes] : lanes) order.push_back(bytes);
    for (std::size_t from = 0; from < order.size(); from += together) {
      std::map<std::int64_t, std::set<std::int64_t>> words;  // bank -> distinct words in it
      for (std::size_t l = from; l < std::min(order.size(), from + together); ++l)
        for (std::int64_t byte : order[l])
          for (std::int64_t b = byte; b < byte + element_bytes;
               b += std::min(element_bytes, model.bank_bytes)) {
            std::int64_t word = b / model.bank_bytes;
            words[word % model.banks].insert(word);
          }
      for (auto& [bank, distinct] : words)
        if (static_cast<int>(distinct.size()) > report.worst_ways) {
          report.worst_ways = static_cast<int>(distinct.size());
          report.worst_step = s;
        }
    }
  }
  return report;
}

}  // namespace heddle
