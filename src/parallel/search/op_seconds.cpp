#include "parallel/search/op_seconds.h"

namespace heddle::search {

namespace {

class Shares {
 public:
  Shares(const Cells& cells, const std::vector<int>& ways, SplitLists& lists,
         const Program& program, const Function& function)
      : cells_(cells),
        ways_(ways),
        lists_(lists),
        program_(program),
        outermost_(program.op_count(), kNone),
        first_user_(program.value_count(), kNone),
        seconds_(program.op_count(), 0) {
    for (OpId id : program.region(function.body).ops) enter(id, id);
  }

  std::vector<double> run() {
    for (std::size_t c = 0; c < cells_.cells.size(); ++c) add_cell(c);
    for (const Bring& bring : cells_.brings) add_bring(bring);
    return std::move(seconds_);
  }

 private:
  void enter(OpId id, OpId outermost) {
    const Op& op = program_.op(id);
    outermost_[id] = outermost;
    for (ValueId v : program_.operands(op))
      if (first_user_[v] == kNone) first_user_[v] = outermost;
    for (RegionId region : program_.regions(op))
      for (OpId inner : program_.region(region).ops) enter(inner, outermost);
  }

  std::size_t way(int cell) const {
    return static_cast<std::size_t>(ways_[static_cast<std::size_t>(cell)]);
  }

  // The op that a cell belongs to.
  OpId owner(const Cell& cell) const {
    if (cell.op != kNone) return outermost_[cell.op];
    const OpId maker = program_.value(cell.value).op;
    return maker != kNone ? outermost_[maker] : first_user_[cell.value];
  }

  void add(OpId op, double seconds) {
    if (op != kNone) seconds_[op] += seconds;
  }

  void add_cell(std::size_t c) {
    const Cell& cell = cells_.cells[c];
    const std::size_t w = way(static_cast<int>(c));
    double seconds = cell.more.empty() ? 0 : seconds_of_cost(cell.more[w]);
    if (cell.strategies != nullptr)
      seconds += cell.times * seconds_of_cost(cell.strategies->costs[w]);
    add(owner(cell), seconds);
  }

  // What is brought to where an argument lies is a result, which belongs to its maker.
  void add_bring(const Bring& bring) {
    const auto& moves = lists_.moves(bring.from_list, bring.to_list, bring.type);
    const std::size_t columns = lists_[bring.to_list].size();
    const double seconds =
        bring.times * seconds_of_cost(moves[way(bring.from) * columns + way(bring.to)]);
    const Cell& from = cells_.cells[static_cast<std::size_t>(bring.from)];
    const Cell& to = cells_.cells[static_cast<std::size_t>(bring.to)];
    add(owner(to.kind == Cell::Kind::argument ? from : to), seconds);
  }

  const Cells& cells_;
  const std::vector<int>& ways_;
  SplitLists& lists_;
  const Program& program_;
  std::vector<OpId> outermost_;   // by OpId: the op of the function's own region around it
  std::vector<OpId> first_user_;  // by ValueId
  std::vector<double> seconds_;
};

}  // namespace

std::vector<double> op_seconds(const Cells& cells, const std::vector<int>& ways, SplitLists& lists,
                               const Program& program, const Function& function) {
  return Shares(cells, ways, lists, program, function).run();
}

}  // namespace heddle::search
