#include "parallel/search/hidden_moves.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle::search {

namespace {

// As far as the schedule stage looks.
constexpr std::int64_t kMostLooks = 400;

bool may_wait(const Bring& bring) {
  return bring.may_be_sum && bring.times == 1 && bring.used > bring.made + 1;
}

std::int64_t end_of(const Bring& bring) { return std::min(bring.used, bring.made + kMostLooks); }

// What each op takes at least, by the time at which it begins; of ops that the schedule stage
// takes for work.
std::vector<CostNetwork::Cost> least_work(const Cells& cells, const Program& program,
                                          const Traits& traits) {
  std::vector<CostNetwork::Cost> work(static_cast<std::size_t>(cells.ops) + 1, 0);
  for (const Cell& cell : cells.cells) {
    if (cell.kind != Cell::Kind::op || cell.times != 1) continue;
    const OpClass cls = program.op(cell.op).def->cls;
    if (cls != OpClass::contract && cls != OpClass::reduce) continue;
    work[static_cast<std::size_t>(traits.begin[cell.op])] +=
        *std::ranges::min_element(cell.strategies->costs);
  }
  return work;
}

}  // namespace

CostNetwork::Cost exposed(CostNetwork::Cost move, const Bring& bring) {
  return move == CostNetwork::kForbidden ? move
                                         : std::max<CostNetwork::Cost>(0, move - bring.hidden);
}

void hide_moves(Cells& cells, const Program& program, const Traits& traits) {
  const std::vector<CostNetwork::Cost> work = least_work(cells, program, traits);
  std::vector<std::int64_t> beside(work.size() + 1, 0);  // moves that go on at each time
  for (const Bring& bring : cells.brings)
    if (may_wait(bring)) {
      ++beside[static_cast<std::size_t>(bring.made) + 1];
      --beside[static_cast<std::size_t>(end_of(bring))];
    }
  std::vector<CostNetwork::Cost> parts(work.size() + 1, 0);  // of one move, until each time
  std::int64_t now = 0;
  for (std::size_t t = 0; t < work.size(); ++t) {
    now += beside[t];
    parts[t + 1] = parts[t] + (now > 0 ? work[t] / now : 0);
  }
  for (Bring& bring : cells.brings)
    if (may_wait(bring))
      bring.hidden = parts[static_cast<std::size_t>(end_of(bring))] -
                     parts[static_cast<std::size_t>(bring.made) + 1];
}

}  // namespace heddle::search
