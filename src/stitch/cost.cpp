#include "stitch/cost.h"

#include <algorithm>
#include <utility>

#include "cost/fitted.h"
#include "cost/rates.h"
#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/rules/scan.h"
#include "stitch/group.h"

namespace heddle {

namespace {

// Whether a broadcast repeats its operand along loops inside of those that the operand has, so that
// one value serves the whole loop; or along loops around a few elements only, which a block
// computes once.
bool is_behind(const Program& program, const Op& op) {
  const ValueId from = program.operands(op)[0];
  const Shape& shape = program.type_of(from).shape;
  const Shape& result = program.type_of(program.result(op, 0)).shape;
  if (op.def->form != Form::words || !program.attr(op, "broadcast_dimensions"))
    return program.type_of(from).elements() == 1;
  const std::vector<std::int64_t> dims = integers_or(program.attr(op, "broadcast_dimensions"));
  std::int64_t last = -1;  // dimension of the operand in the result
  std::vector<bool> has(result.size(), false);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (shape[d] != 1) {
      has[static_cast<std::size_t>(dims[d])] = true;
      last = std::max(last, dims[d]);
    }
  std::int64_t inside = 1;  // elements behind the last loop around
  for (auto d = static_cast<std::int64_t>(result.size()); d-- > 0;) {
    const auto at = static_cast<std::size_t>(d);
    if (d < last && !has[at] && result[at] != 1) return inside <= cost::kFewBehind;
    inside *= result[at];
  }
  return true;
}

// Rows that begin anywhere in a line of the cache.
bool has_ragged_rows(const Type& type) {
  return type.rank() > 1 && type.shape.back() * byte_size(type.dtype) % cost::kLineBytes != 0;
}

// A window computes its operand once per place of the window.
double window_of(const Program& program, const Op& op) {
  if (op.def->emission != Emission::reduce || op.def->form == Form::reduce) return 1;
  if (scan_of(program, op)) return 1;
  const double in = static_cast<double>(program.type_of(program.operands(op)[0]).elements());
  double all = 1;
  for (const Factor& f : index_rule(program, op).factors) all *= static_cast<double>(f.size);
  return std::max(1.0, all / in);
}

}  // namespace

std::int64_t memory_bytes(const Program& p, ValueId v) {
  const Type& type = p.type_of(v);
  if (!type.is_tensor()) return 0;
  const OpId from = p.value(v).op;
  if (from != kNone && p.op(from).def->form == Form::constant) {
    const Attr* attr = p.attr(p.op(from), "value");
    const Array* array = attr ? attr->get<Array>() : nullptr;
    if (array && array->is_splat()) return 0;
  }
  return type.bytes();
}

CostModel::CostModel(const Graph& graph, const MachineFigures& machine)
    : graph_(graph), machine_(machine) {
  const Program& p = *graph.program;
  bytes_.assign(p.value_count(), -1);
  maker_.assign(p.value_count(), kNone);
  seen_.assign(p.value_count(), 0);
  loaded_.assign(p.value_count(), 0);
  member_.assign(graph.size(), 0);
  times_.assign(graph.size(), 0);
  facts_.resize(graph.size());
  for (Vertex v = 0; v < graph.size(); ++v) {
    const Op& op = graph.op(v);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      bytes_[p.result(op, i)] = memory_bytes(p, p.result(op, i));
      maker_[p.result(op, i)] = v;
    }
    for (ValueId value : graph.reads[v])
      if (bytes_[value] < 0) bytes_[value] = memory_bytes(p, value);
    if (!graph.stitchable[v]) continue;
    Facts& f = facts_[v];
    f.elements = f.points = static_cast<double>(p.type_of(p.result(op, 0)).elements());
    f.window = window_of(p, op);
    f.reduces = is_reducer(p, op);
    const std::size_t reduced =  // the operand that it runs over
        op.def->emission == Emission::scatter ? op.result_count + 1 : 0;
    if (f.reduces)
      f.points = std::max(
          f.points, f.window * static_cast<double>(p.type_of(p.operands(op)[reduced]).elements()));
    f.elsewhere = !f.reduces && takes_elsewhere(op);
    f.behind = f.elsewhere && op.operand_count > 0 && is_behind(p, op);
    f.seconds =
        f.behind ? 0 : cost::work_seconds(instructions_of(p, op, machine.rounding), machine);
    f.pads = op.def->rearranges == Rearrange::pad;
    f.ragged = f.elsewhere && has_ragged_rows(p.type_of(p.result(op, 0)));
    f.partly = f.elsewhere && op.def->emission != Emission::join;
  }
  for (Vertex v = 0; v < graph.size(); ++v)
    if (graph.stitchable[v]) facts_[v].alone = kernel({v});
}

void CostModel::enter(const Pattern& pattern) const {
  ++epoch_;
  for (Vertex v : pattern) member_[v] = epoch_;
}

cost::Traffic CostModel::traffic(const Pattern& pattern) const {
  const Program& p = *graph_.program;
  enter(pattern);
  cost::Traffic total;
  const auto count = [&](std::int64_t bytes) {
    total.add_value(static_cast<double>(bytes), machine_);
  };
  for (Vertex v : pattern) {
    const Op& op = graph_.op(v);
    for (ValueId value : graph_.reads[v]) {
      if (seen_[value] == epoch_ || (maker_[value] != kNone && is_member(maker_[value]))) continue;
      seen_[value] = epoch_;
      count(facts_[v].partly ? std::min(bytes_[value], bytes_[p.result(op, 0)]) : bytes_[value]);
    }
    if (is_passed_on(v)) continue;
    for (std::size_t i = 0; i < op.result_count; ++i) {
      count(bytes_[p.result(op, i)]);
      // What cannot go past the caches is read before it is written.
      if (facts_[v].ragged) count(bytes_[p.result(op, i)]);
    }
  }
  return total;
}

// Whether it goes to others of the pattern only.
bool CostModel::is_passed_on(Vertex v) const {
  return !graph_.escapes[v] &&
         std::ranges::all_of(graph_.consumers[v], [&](Vertex c) { return is_member(c); });
}

// How often each vertex of the pattern is computed at every one of its points, from the last to the
// first.
void CostModel::count_times(const Pattern& pattern) const {
  for (std::size_t n = pattern.size(); n-- > 0;) {
    const Vertex v = pattern[n];
    const Facts& own = facts_[v];
    double same = graph_.escapes[v] ? 1 : 0, elsewhere = 0;
    for (Vertex c : graph_.consumers[v]) {
      const Facts& user = facts_[c];
      if (!is_member(c))
        same = std::max(same, 1.0);
      else if (!user.elsewhere)
        same = std::max(same, times_[c] * user.window);
      else
        elsewhere += times_[c] * (user.pads && !is_passed_on(c) ? 2.0
                                  : user.elements <= own.elements || user.behind
                                      ? 1.0
                                      : user.elements / own.elements);
    }
    times_[v] = own.reduces ? 1 : std::max(1.0, same + elsewhere);
  }
}

// Loads of what comes from outside: once for all vertices that read it at their own place, and once
// for every one that reads it elsewhere.
double CostModel::loads(const Pattern& pattern) const {
  double count = 0;
  for (Vertex v : pattern) {
    const Facts& own = facts_[v];
    if (own.behind) continue;
    for (ValueId value : graph_.reads[v]) {
      if (bytes_[value] <= cost::kOneElement ||
          (maker_[value] != kNone && is_member(maker_[value])))
        continue;
      if (!own.elsewhere && std::exchange(loaded_[value], epoch_) == epoch_) continue;
      count += times_[v] * own.points;
    }
  }
  return count;
}

double CostModel::work(const Pattern& pattern) const {
  count_times(pattern);
  double seconds = cost::work_seconds({.light = loads(pattern)}, machine_);
  for (Vertex v : pattern) seconds += times_[v] * facts_[v].points * facts_[v].seconds;
  return seconds;
}

// About as many as a schedule would make of its largest loops.
double CostModel::blocks(const Pattern& pattern) const {
  double most = 1;
  for (Vertex v : pattern) most = std::max(most, facts_[v].points);
  return most <= cost::kBlockElements ? 1 : most * cost::kSmallestBlock / cost::kBlockElements;
}

double CostModel::kernel(const Pattern& pattern) const {
  const cost::Traffic memory = traffic(pattern);  // enters the pattern
  const double alone = work(pattern);
  const double workers = cost::busy_workers(alone, blocks(pattern), machine_);
  return cost::kStepSeconds + machine_.launch_seconds +
         cost::overlapped(cost::traffic_seconds(memory, workers, machine_), alone / workers);
}

CostModel::Repeated CostModel::most_repeated(const Pattern& pattern) const {
  enter(pattern);
  count_times(pattern);
  Repeated most;
  for (Vertex v : pattern)
    if (facts_[v].seconds * times_[v] > 0 && graph_.op(v).def->cls != OpClass::move &&
        times_[v] > most.times)
      most = {v, times_[v]};
  return most;
}

double CostModel::apart(const Pattern& pattern) const {
  double sum = 0;
  for (Vertex v : pattern) sum += facts_[v].alone;
  return sum;
}

}  // namespace heddle
