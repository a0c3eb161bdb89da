// The search as a cost-function network: a variable per class of cells, a value per way.
#pragma once

#include <optional>

#include "parallel/search/cells.h"

namespace heddle::search {

struct MemoryOptions {
  std::int64_t limit = INT64_MAX;
  std::vector<std::int64_t> times;  // at which memory is looked at
};

// None where `stop` says so before it is done.
std::optional<CostNetwork> network_of(
    const Cells& cells, const std::vector<int>& classes, SplitLists& lists,
    const std::function<bool()>& stop = [] { return false; });
// What cells hold at the times that are looked at.
void add_memory(CostNetwork& network, const Cells& cells, const std::vector<int>& classes,
                SplitLists& lists, const MemoryOptions& options);

// The most that values take at any time where each cell goes its way, and when that is.
struct Peak {
  std::int64_t bytes = 0, time = 0;
};
// What every plan takes, moves apart: each cell the way that takes least.
CostNetwork::Cost least_of_cells(const Cells& cells, const SplitLists& lists);

Peak peak_of(const Cells& cells, const std::vector<int>& ways, SplitLists& lists);

// What moves take where each cell goes its way, and what of that nothing runs beside.
struct Moved {
  CostNetwork::Cost all = 0, exposed = 0;
};
Moved moved_by(const Cells& cells, const std::vector<int>& ways, SplitLists& lists);

// Times at which most is held, were nothing split, or everything as far as it can be.
std::vector<std::int64_t> busy_times(const Cells& cells, SplitLists& lists, const Program& program);

}  // namespace heddle::search
