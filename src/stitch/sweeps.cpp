#include "stitch/sweeps.h"

#include <algorithm>
#include <unordered_set>

#include "cost/fitted.h"
#include "cost/rates.h"
#include "heddle/op.h"
#include "stitch/cost.h"
#include "stitch/group.h"

namespace heddle {

namespace {

using Margin = Sweeps::Margin;

Margin around(const Margin& a, const Margin& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
Margin shifted(const Margin& a, const Margin& by) { return {a.low + by.low, a.high + by.high}; }

class SweepFinder {
 public:
  SweepFinder(const Program& program, const StitchGroup& group) : program_(program), group_(group) {
    members_.insert(group.ops.begin(), group.ops.end());
  }

  std::optional<Sweeps> run() {
    if (group_.outputs.size() != 1 || !is_matrix(group_.outputs[0])) return {};
    for (ValueId v : group_.inputs)
      if (elements(v) != 1 && !is_matrix(v)) return {};
    for (OpId id : group_.ops)
      if (!look_at(id)) return {};
    found_.rows[group_.outputs[0]] = found_.columns[group_.outputs[0]] = {};
    for (OpId id : group_.ops) {
      const ValueId v = result_of(id);
      if (v != group_.outputs[0] && is_read_around(v)) found_.kept.push_back(v);
    }
    if (found_.kept.empty() || program_.value(group_.outputs[0]).op != group_.ops.back()) return {};
    if (!reach_from(group_.outputs[0])) return {};
    for (std::size_t k = found_.kept.size(); k-- > 0;)
      if (!is_matrix(found_.kept[k]) || !found_.rows.contains(found_.kept[k]) ||
          !reach_from(found_.kept[k]))
        return {};
    return std::move(found_);
  }

 private:
  std::int64_t elements(ValueId v) const { return program_.type_of(v).elements(); }
  ValueId result_of(OpId id) const { return program_.result(program_.op(id), 0); }
  bool is_matrix(ValueId v) const {
    const Type& type = program_.type_of(v);
    return type.is_tensor() && type.rank() == 2 && type.dtype == DType::f32 && type.shape[0] > 1 &&
           type.shape[1] > 1;
  }

  // What an op does to places: how far from its own it takes each operand. False: by other ways.
  bool look_at(OpId id) {
    const Op& op = program_.op(id);
    const bool points =
        op.def->emission == Emission::scalar || op.def->emission == Emission::compare;
    if (op.result_count != 1 || (!points && op.def->emission != Emission::copy)) return false;
    const Type& type = program_.type_of(result_of(id));
    if (type.rank() == 0) return points;
    if (type.rank() != 2 || type.shape[0] == 1 || type.shape[1] == 1) return false;
    const IndexRule rule = index_rule(program_, op);
    const auto operands = program_.operands(op);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      users_[operands[i]].push_back(id);
      if (elements(operands[i]) == 1) continue;
      if (program_.type_of(operands[i]).rank() != 2) return false;
      for (std::size_t d = 0; d < 2; ++d) {
        const DimRule &from = rule.operands[i].dims[d], &to = rule.results[0].dims[d];
        if (!is_one_factor(from) || !is_one_factor(to) || to.offset != 0 ||
            from.terms[0].factor != to.terms[0].factor)
          return false;
        (d == 0 ? row_shift_ : column_shift_)[id] = from.offset;
      }
    }
    return true;
  }
  static bool is_one_factor(const DimRule& rule) {
    return rule.terms.size() == 1 && rule.terms[0].stride == 1 && rule.terms[0].divide == 1 &&
           rule.terms[0].modulo == 0 && rule.dilation == 1 && !rule.slides;
  }

  // Whether its users take it at several places.
  bool is_read_around(ValueId v) const {
    const auto users = users_.find(v);
    return users != users_.end() && users->second.size() > 1 &&
           std::ranges::any_of(users->second,
                               [&](OpId u) { return takes_elsewhere(program_.op(u)); });
  }

  // How far the stage of a value reaches into what it is made of: inputs and other sweeps.
  bool reach_from(ValueId root) {
    constexpr std::int64_t kMostRows = 8, kMostColumns = 4;
    std::unordered_map<ValueId, Margin> rows = {{root, {}}}, columns = {{root, {}}};
    for (std::size_t n = group_.ops.size(); n-- > 0;) {
      const OpId id = group_.ops[n];
      const ValueId v = result_of(id);
      if (!rows.contains(v) || (v != root && is_source(v))) continue;
      for (ValueId from : program_.operands(program_.op(id))) {
        if (elements(from) == 1) continue;
        const Margin row = shifted(rows[v], {row_shift_[id], row_shift_[id]});
        const Margin column = shifted(columns[v], {column_shift_[id], column_shift_[id]});
        const bool fresh = !rows.contains(from);
        rows[from] = fresh ? row : around(rows[from], row);
        columns[from] = fresh ? column : around(columns[from], column);
      }
    }
    for (const auto& [v, row] : rows) {
      if (v == root || !is_source(v)) continue;
      const Margin& column = columns[v];
      if (row.high - row.low > kMostRows || column.low < -kMostColumns ||
          column.high > kMostColumns)
        return false;
      const Margin all = shifted(found_.rows[root], row);
      const Margin wide = shifted(found_.columns[root], column);
      const bool fresh = !found_.rows.contains(v);
      found_.rows[v] = fresh ? all : around(found_.rows[v], all);
      found_.columns[v] = fresh ? wide : around(found_.columns[v], wide);
    }
    return true;
  }
  bool is_source(ValueId v) const {
    return !members_.contains(program_.value(v).op) ||
           std::ranges::find(found_.kept, v) != found_.kept.end();
  }

  const Program& program_;
  const StitchGroup& group_;
  std::unordered_set<OpId> members_;
  std::unordered_map<ValueId, std::vector<OpId>> users_;
  std::unordered_map<OpId, std::int64_t> row_shift_, column_shift_;
  Sweeps found_;
};

// Columns that a warp passes over, and those of them at both ends that are only there for others.
constexpr std::int64_t kWarpColumns = 128, kLaneColumns = 4;

std::int64_t useful_columns(const Sweeps& sweeps) {
  Margin all;
  for (const auto& [v, reach] : sweeps.columns) all = around(all, reach);
  const auto whole = [](std::int64_t n) {
    return (n + kLaneColumns - 1) / kLaneColumns * kLaneColumns;
  };
  return kWarpColumns - whole(-all.low) - whole(all.high);
}
std::int64_t more_rows(const Sweeps& sweeps) {
  Margin all;
  for (const auto& [v, reach] : sweeps.rows) all = around(all, reach);
  return all.high - all.low;
}

}  // namespace

std::optional<Sweeps> find_sweeps(const Program& program, const StitchGroup& group) {
  auto found = SweepFinder(program, group).run();
  // Rows that are held in registers, and columns that are left.
  constexpr std::size_t kMostSweeps = 8;
  if (!found || found->kept.size() + group.inputs.size() > kMostSweeps + 4 ||
      found->kept.size() + 1 > kMostSweeps || useful_columns(*found) < kWarpColumns / 2)
    return {};
  return found;
}

// As many as leave every worker some warps, and few beside those that are computed twice.
std::int64_t rows_of_sweeps(const Program& program, const StitchGroup& group, const Sweeps& sweeps,
                            const MachineFigures& machine) {
  constexpr std::int64_t kMost = 512, kWarpsOfWorker = 8;
  const Shape& shape = program.type_of(group.outputs[0]).shape;
  const std::int64_t strips = (shape[1] + useful_columns(sweeps) - 1) / useful_columns(sweeps);
  std::int64_t rows = std::min(kMost, shape[0]);
  while (rows > 4 * more_rows(sweeps) && rows > 8 &&
         strips * ((shape[0] + rows - 1) / rows) < kWarpsOfWorker * machine.workers)
    rows /= 2;
  return rows;
}

KernelEstimate estimate_sweeps(const Program& program, const StitchGroup& group,
                               const Sweeps& sweeps, std::int64_t rows,
                               const MachineFigures& machine) {
  KernelEstimate result;
  const Shape& shape = program.type_of(group.outputs[0]).shape;
  const double again = static_cast<double>(rows + more_rows(sweeps)) / static_cast<double>(rows) *
                       static_cast<double>(kWarpColumns) /
                       static_cast<double>(useful_columns(sweeps));
  cost::Traffic traffic;
  for (ValueId v : group.inputs) {
    const auto bytes = static_cast<double>(memory_bytes(program, v));
    traffic.add_value(bytes * (program.type_of(v).rank() == 2 ? again : 1), machine);
  }
  result.bytes_again = traffic.memory;
  for (ValueId v : group.inputs)
    result.bytes_again -= static_cast<double>(memory_bytes(program, v));
  result.bytes_again = std::max(result.bytes_again, 0.0);
  traffic.add_value(static_cast<double>(program.type_of(group.outputs[0]).bytes()), machine);
  for (OpId id : group.ops) {
    const Op& op = program.op(id);
    if (op.def->emission == Emission::copy) continue;
    const Instructions one = instructions_of(program, op, machine.rounding);
    const double points =
        again * static_cast<double>(program.type_of(program.result(op, 0)).elements());
    result.light += one.light * points;
    result.heavy += one.heavy * points;
  }
  // Neighbours' values, and rows that move on.
  result.light += again * static_cast<double>(sweeps.kept.size() + 1) *
                  static_cast<double>(shape[0] * shape[1]);
  result.blocks = (shape[0] + rows - 1) / rows *
                  ((shape[1] + useful_columns(sweeps) - 1) / useful_columns(sweeps));
  result.parts = result.blocks;
  const double alone = cost::work_seconds({.light = result.light, .heavy = result.heavy}, machine);
  const double workers = cost::busy_workers(alone, static_cast<double>(result.parts), machine);
  result.work = alone / workers;
  result.memory = cost::traffic_seconds(traffic, workers, machine);
  result.seconds =
      cost::kStepSeconds + machine.launch_seconds + cost::overlapped(result.memory, result.work);
  return result;
}

}  // namespace heddle
