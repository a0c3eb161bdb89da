#include "parallel/search/cells.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "heddle/op.h"
#include "ir/trips.h"
#include "parallel/messages.h"
#include "parallel/search/hidden_moves.h"

namespace heddle::search {

namespace {

// A loop whose text does not say how often it runs.
constexpr double kUnknownTrips = 10;

class CellMaker {
 public:
  CellMaker(OnMesh& on, SplitLists& lists, StrategyTable& table, const Function& function,
            const Wanted& wanted)
      : on_(on),
        program_(on.program),
        lists_(lists),
        table_(table),
        function_(function),
        wanted_(wanted),
        traits_(traits_of(program_, function, on.rules)) {
    out_.of_op.assign(program_.op_count(), -1);
    out_.lies.assign(program_.value_count(), {-1, -1});
    out_.ops = traits_.times;
  }

  Expected<Cells> run() {
    const std::vector<ValueId>& args = program_.region(function_.body).args;
    for (std::size_t i = 0; i < args.size(); ++i) add_argument(i, args[i]);
    HEDDLE_TRY_VOID(add_region(function_.body));
    times_ = 1;
    give_results();
    hide_moves(out_, program_, traits_);
    hold_values();
    return std::move(out_);
  }

 private:
  // ---- cells

  int add_cell(Cell cell) {
    cell.times = times_;
    out_.cells.push_back(std::move(cell));
    return static_cast<int>(out_.cells.size()) - 1;
  }

  // A cell whose ways are splits of a value, which lies as it says.
  int add_value_cell(Cell::Kind kind, ValueId v, std::vector<int> splits) {
    const int list = lists_.id(std::move(splits));
    const int cell = add_cell({.kind = kind, .value = v, .list = list});
    out_.lies[v] = {cell, list};
    return cell;
  }

  void add_argument(std::size_t i, ValueId v) {
    if (!program_.type_of(v).is_tensor()) {
      out_.arguments.push_back(-1);
      return;
    }
    const int said = wanted_.arguments[i];
    std::vector<int> splits = block_splits(on_, program_.type_of(v));
    if (row_parts(i) > 0)
      std::erase_if(splits, [&](int split) { return !on_.splits[split].dims[0].whole(); });
    const int cell =
        add_value_cell(Cell::Kind::argument, v, said >= 0 ? std::vector{said} : splits);
    out_.arguments.push_back(cell);
    const double often = i < wanted_.argument_times.size() ? wanted_.argument_times[i] : 1;
    // What is carried is there already: it counts where it comes once more, as on another stage.
    const double comes = comes_anew(i) ? often : often - 1;
    if (comes > 0) arrive(cell, program_.value(v).type, comes);
  }

  double row_parts(std::size_t argument) const {
    return argument < wanted_.row_parts.size() ? wanted_.row_parts[argument] : 0;
  }

  // Beside what is carried from run to run, arguments are a batch that comes from outside.
  bool comes_anew(std::size_t argument) const {
    const auto& carried = wanted_.carried;
    return !carried.empty() &&
           std::ranges::find(carried, argument, &Carried::argument) == carried.end();
  }

  // Over the slowest link that there is.
  void arrive(int cell, TypeId type, double often) {
    const double rate = least_bandwidth(on_.mesh.mesh) / often;
    Cell& argument = out_.cells[static_cast<std::size_t>(cell)];
    for (std::int64_t bytes : lists_.bytes(argument.list, type))
      argument.more.push_back(cost_of_seconds(static_cast<double>(bytes) / rate));
  }

  Verdict add_region(RegionId region) {
    const std::vector<OpId>& ops = program_.region(region).ops;
    for (std::size_t i = 0; i + 1 < ops.size(); ++i) {
      if (region == function_.body && ops[i] < wanted_.times.size()) times_ = wanted_.times[ops[i]];
      HEDDLE_TRY_VOID(add_op(ops[i]));
    }
    return yes();
  }

  Verdict add_op(OpId id) {
    const Op& op = program_.op(id);
    switch (op.def->parts) {
      case Parts::constant:
      case Parts::unseen:
        return yes();
      case Parts::manual:
        return reason(
            "{}: a body that is written per device leaves nothing to search: name its mesh instead",
            program_.where(op.loc));
      case Parts::loop:
        return add_loop(id);
      case Parts::branch:
        return add_branch(id);
      default:
        break;
    }
    add_plain_op(id, strategies_of(id, op));
    return yes();
  }

  const Strategies& strategies_of(OpId id, const Op& op) {
    const bool tensors = op.result_count > 0 && [&] {
      for (std::size_t i = 0; i < op.result_count; ++i)
        if (!program_.type_of(program_.result(op, i)).is_tensor()) return false;
      return true;
    }();
    if (op.def->parts == Parts::reshard && said_split(program_.result(op, 0)) >= 0)
      return table_.fixed(id, said_split(program_.result(op, 0)));
    if (!tensors || op.def->cls == OpClass::opaque || op.def->cls == OpClass::communicate ||
        op.def->parts == Parts::on_every_device || op.def->parts == Parts::reshard)
      return table_.whole(id);
    OpPlace place{0, traits_.stitched(program_, op)};
    for (std::size_t i = 0; i < op.operand_count && i < 64; ++i) {
      const ValueTraits& value = traits_.values[program_.operands(op)[i]];
      if (value.may_pend && value.uses == 1) place.pending |= std::uint64_t{1} << i;
    }
    return table_.of(id, place);
  }

  // Where the program's author wants a value; -1 where nothing is said.
  int said_split(ValueId v) {
    const ValueLayout* said = program_.layout_of(v);
    if (said == nullptr) return -1;
    auto split = split_of(said->layout, on_.mesh.mesh);
    return split ? on_.split_id(*std::move(split)) : -1;
  }

  void add_plain_op(OpId id, const Strategies& strategies) {
    const Op& op = program_.op(id);
    const int cell = add_cell({.kind = Cell::Kind::op, .op = id, .strategies = &strategies});
    out_.of_op[id] = cell;
    for (std::size_t i = 0; i < op.operand_count; ++i)
      bring(program_.operands(op)[i], cell, strategies.operands[i], times_);
    if (op.region_count > 0)
      for (ValueId v : captured_values(program_, op)) bring_whole(v, cell);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      out_.lies[v] = {cell, strategies.results[i]};
    }
  }

  // What the value is brought from has been there since before a loop, and is brought once.
  double times_of(ValueId v, double at_most) const {
    const int cell = out_.lies[v].first;
    return cell < 0 ? at_most : std::min(at_most, out_.cells[static_cast<std::size_t>(cell)].times);
  }

  void bring(ValueId v, int to, int to_list, double times) {
    if (to_list < 0 || out_.lies[v].first < 0) return;  // constants are written as they are needed
    const auto [from, from_list] = resting(v);
    Bring made{from, to, from_list, to_list, program_.value(v).type, times_of(v, times)};
    // What kernels keep to themselves is computed where it is needed, as is what it is made of.
    if (traits_.values[v].in_memory || program_.value(v).op == kNone) made.value = v;
    const Cell& user = out_.cells[static_cast<std::size_t>(to)];
    if (user.kind == Cell::Kind::op) {
      made.made = traits_.values[v].made;
      made.used = traits_.begin[user.op];
      made.may_be_sum = traits_.values[v].may_pend;
    }
    // All rows would be moved on every stage that has some.
    const Value& value = program_.value(v);
    if (value.op == kNone && value.region == function_.body)
      made.times *= std::max(1.0, row_parts(value.index));
    if (user.kind == Cell::Kind::argument)
      made.times *= std::max(1.0, row_parts(program_.value(user.value).index));
    out_.brings.push_back(made);
  }

  void bring_whole(ValueId v, int to) {
    if (out_.lies[v].first < 0) return;
    const Cell& cell = out_.cells[static_cast<std::size_t>(to)];
    bring(v, to, lists_.id(std::vector<int>(ways_of(cell, lists_), on_.whole_id(v))), times_);
  }

  // A sum that several users need is made once for all of them.
  std::pair<int, int> resting(ValueId v) {
    const ValueTraits& traits = traits_.values[v];
    if (!traits.may_pend || traits.uses < 2) return out_.lies[v];
    const auto [maker, list] = out_.lies[v];
    const Cell& made = out_.cells[static_cast<std::size_t>(maker)];
    if (made.kind != Cell::Kind::op) return out_.lies[v];
    std::set<int> places;
    for (int split : lists_[list]) places.insert(complete_split(on_, split));
    const double often = made.times, before = std::exchange(times_, often);
    const int cell = add_value_cell(Cell::Kind::rest, v, {places.begin(), places.end()});
    times_ = before;
    Bring rests{maker, cell, list, out_.lies[v].second, program_.value(v).type, often};
    out_.brings.push_back(rests);
    return out_.lies[v];
  }

  // ---- control

  std::vector<int> splits_to_carry(ValueId v) { return block_splits(on_, program_.type_of(v)); }

  Verdict add_loop(OpId id) {
    const Op& op = program_.op(id);
    const RegionId condition = program_.regions(op)[0], body = program_.regions(op)[1];
    const auto returned = program_.operands(program_.op(program_.region(body).ops.back()));
    std::vector<int> carried(op.result_count, -1);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId result = program_.result(op, i), given = program_.operands(op)[i];
      if (!program_.type_of(result).is_tensor()) continue;
      carried[i] = add_value_cell(Cell::Kind::carried, result, splits_to_carry(result));
      bring(given, carried[i], out_.lies[result].second, times_);
      for (RegionId region : {condition, body})
        out_.lies[program_.region(region).args[i]] = out_.lies[result];
    }
    const auto trips = trips_of(program_, op);
    const double before =
        std::exchange(times_, times_ * (trips ? static_cast<double>(*trips) : kUnknownTrips));
    HEDDLE_TRY_VOID(add_region(condition));
    HEDDLE_TRY_VOID(add_region(body));
    for (std::size_t i = 0; i < op.result_count; ++i)
      if (carried[i] >= 0 && returned[i] != program_.region(body).args[i])
        bring(returned[i], carried[i], out_.lies[program_.result(op, i)].second, times_);
    times_ = before;
    return yes();
  }

  Verdict add_branch(OpId id) {
    const Op& op = program_.op(id);
    for (RegionId region : program_.regions(op)) HEDDLE_TRY_VOID(add_region(region));
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId result = program_.result(op, i);
      if (!program_.type_of(result).is_tensor()) continue;
      const int cell = add_value_cell(Cell::Kind::carried, result, splits_to_carry(result));
      for (RegionId region : program_.regions(op))
        bring(program_.operands(program_.op(program_.region(region).ops.back()))[i], cell,
              out_.lies[result].second, times_);
    }
    return yes();
  }

  // ---- the boundary

  const Op& returning() const { return program_.op(program_.region(function_.body).ops.back()); }

  // Results lie as the arguments that they become, or as somebody wants them; all others as they
  // come, once they are complete.
  void give_results() {
    const auto returned = program_.operands(returning());
    for (std::size_t i = 0; i < returned.size(); ++i) {
      const ValueId v = returned[i];
      if (out_.lies[v].first < 0) continue;
      const auto becomes = std::ranges::find(wanted_.carried, i, &Carried::result);
      if (becomes != wanted_.carried.end()) {
        const int argument = out_.arguments[becomes->argument];
        bring(v, argument, out_.cells[static_cast<std::size_t>(argument)].list, 1);
        continue;
      }
      complete(v, wanted_.results[i]);
    }
  }

  void complete(ValueId v, int wanted) {
    const auto [cell, list] = out_.lies[v];
    std::vector<CostNetwork::Cost>& more = out_.cells[static_cast<std::size_t>(cell)].more;
    more.resize(lists_[list].size(), 0);
    for (std::size_t k = 0; k < more.size(); ++k) {
      const int to = wanted >= 0 ? wanted : complete_split(on_, lists_[list][k]);
      more[k] += cost_of_seconds(
          on_.routes.find(lists_[list][k], to, bits(program_.type_of(v).dtype)).seconds);
    }
  }

  // ---- memory

  // Arguments are there all the time, and so is the room for results, but for those that are
  // written over the arguments that they become. Values that kernels keep to themselves take none.
  void hold_values() {
    std::vector<bool> has_room(program_.value_count(), false);
    hold_results(has_room);
    for (const Cell& cell : out_.cells) {
      if (cell.kind == Cell::Kind::argument) {
        hold(cell.value, 0, out_.ops, kNone);
        continue;
      }
      if (cell.kind != Cell::Kind::op) {
        hold_until_used(cell.value, has_room);
        continue;
      }
      const Op& op = program_.op(cell.op);
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const ValueId v = program_.result(op, i);
        if (!traits_.values[v].in_memory || op.def->view != ViewKind::none) continue;
        if (const auto [at, list] = out_.lies[v]; list >= 0 && at == out_.of_op[cell.op])
          hold_until_used(v, has_room);
      }
    }
  }

  void hold_results(std::vector<bool>& has_room) {
    const std::vector<ValueId>& args = program_.region(function_.body).args;
    const auto returned = program_.operands(returning());
    for (std::size_t i = 0; i < returned.size(); ++i) {
      const ValueId v = returned[i];
      if (out_.lies[v].first < 0 || has_room[v]) continue;
      const auto becomes = std::ranges::find(wanted_.carried, i, &Carried::result);
      has_room[v] = true;
      if (becomes == wanted_.carried.end())
        hold(v, 0, out_.ops, kNone);
      else if (!is_written_over(v, args[becomes->argument]))
        hold(args[becomes->argument], 0, out_.ops, kNone);  // it lies alike
    }
  }

  // By an op after which nobody reads the argument; it may itself, where it goes element by
  // element.
  bool is_written_over(ValueId v, ValueId argument) const {
    const OpId maker = program_.value(v).op;
    if (maker == kNone) return v == argument;
    const OpClass cls = program_.op(maker).def->cls;
    const std::int64_t last = traits_.values[argument].last_used, made = traits_.values[v].made;
    return last < made || (last == made && (cls == OpClass::light || cls == OpClass::heavy));
  }

  void hold_until_used(ValueId v, const std::vector<bool>& has_room) {
    if (!has_room[v]) hold(v, traits_.values[v].made, traits_.values[v].last_used + 1, v);
  }

  void hold(ValueId v, std::int64_t begin, std::int64_t end, ValueId value) {
    const auto [cell, list] = out_.lies[v];
    if (list >= 0 && begin < end)
      out_.held.push_back({cell, list, program_.value(v).type, begin, end, value});
  }

  OnMesh& on_;
  const Program& program_;
  SplitLists& lists_;
  StrategyTable& table_;
  const Function& function_;
  const Wanted& wanted_;
  const Traits traits_;
  Cells out_;
  double times_ = 1;
};

}  // namespace

std::vector<std::int64_t> held_over_time(const Cells& cells,
                                         const std::function<std::int64_t(const Held&)>& bytes) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(cells.ops) + 2, 0);
  for (const Held& held : cells.held) {
    const std::int64_t taken = bytes(held);
    sums[static_cast<std::size_t>(held.begin)] += taken;
    sums[static_cast<std::size_t>(held.end)] -= taken;
  }
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  return sums;
}

std::size_t ways_of(const Cell& cell, const SplitLists& lists) {
  return cell.strategies != nullptr ? cell.strategies->ways.size() : lists[cell.list].size();
}

Expected<Cells> cells_of(OnMesh& on, SplitLists& lists, StrategyTable& table,
                         const Function& function, const Wanted& wanted) {
  return CellMaker(on, lists, table, function, wanted).run();
}

}  // namespace heddle::search
