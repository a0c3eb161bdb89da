#include "stitch/cost.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "stitch/scan.h"

namespace heddle {

namespace {

// How often an op's function is called for one of its elements, given how often its result is.
enum class Access { same, elsewhere };

// Whether a consumer takes its operand at the index of its own result, or somewhere else, so that
// two such consumers compute it twice.
Access access_of(const Op& consumer) {
  switch (consumer.def->emission) {
    case Emission::copy:
    case Emission::join:
    case Emission::dynamic_slice:
    case Emission::dynamic_update_slice:
    case Emission::gather:
      return Access::elsewhere;
    default:
      return Access::same;
  }
}

// Whether a broadcast repeats its operand along loops inside of those that the operand has, so that
// one value serves the whole loop.
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
  for (std::int64_t d = 0; d < last; ++d)
    if (!has[static_cast<std::size_t>(d)] && result[static_cast<std::size_t>(d)] != 1) return false;
  return true;
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

CostModel::CostModel(const Graph& graph, const Readers& readers, const MachineFigures& machine)
    : graph_(graph), readers_(readers), machine_(machine) {
  for (Vertex v = 0; v < graph.size(); ++v) {
    windows_.push_back(graph.stitchable[v] ? window_of(*graph.program, graph.op(v)) : 1);
    alone_.push_back(graph.stitchable[v] ? kernel({v}) : 0);
  }
}

std::int64_t CostModel::bytes(ValueId v) const {
  const Program& p = *graph_.program;
  const OpId from = p.value(v).op;
  if (from != kNone && p.op(from).def->form == Form::constant) {
    const Attr* attr = p.attr(p.op(from), "value");
    const Array* array = attr ? attr->get<Array>() : nullptr;
    if (array && array->is_splat()) return 0;
  }
  return p.type_of(v).is_tensor() ? p.type_of(v).bytes() : 0;
}

double CostModel::seconds(std::int64_t bytes, double work) const {
  const double workers = machine_.workers;
  const double rate =
      bytes > machine_.far_cache ? machine_.copy_rate : machine_.near_rate * workers / 2;
  const double busy =
      std::max(static_cast<double>(bytes) / rate, work / (machine_.light_rate * workers));
  return machine_.launch_seconds + busy;
}

std::int64_t CostModel::traffic(const Pattern& pattern) const {
  const Program& p = *graph_.program;
  std::unordered_set<ValueId> seen;
  std::unordered_set<OpId> members;
  for (Vertex v : pattern) members.insert(graph_.ops[v]);
  std::int64_t total = 0;
  for (Vertex v : pattern) {
    const Op& op = graph_.op(v);
    for (ValueId value : graph_.reads[v])
      if (!members.contains(p.value(value).op) && seen.insert(value).second) {
        // A slice or gather reads only what it gives.
        std::int64_t n = bytes(value);
        if (access_of(op) == Access::elsewhere && op.def->emission != Emission::join)
          n = std::min(n, bytes(p.result(op, 0)));
        total += n;
      }
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId r = p.result(op, i);
      for (OpId reader : readers_.of[r])
        if (!members.contains(reader)) {
          total += bytes(r);
          break;
        }
    }
  }
  return total;
}

double CostModel::kernel(const Pattern& pattern) const {
  const Program& p = *graph_.program;
  const double heavy = machine_.light_rate / machine_.heavy_rate;
  // From the last op to the first: how often each is computed.
  std::unordered_map<Vertex, double> times;
  double work = 0;
  for (std::size_t n = pattern.size(); n-- > 0;) {
    const Vertex v = pattern[n];
    const Op& op = graph_.op(v);
    const double own = static_cast<double>(p.type_of(p.result(op, 0)).elements());
    double same = 0, elsewhere = 0;
    bool leaves = graph_.escapes[v];
    for (Vertex c : graph_.consumers[v]) {
      auto it = times.find(c);
      if (it == times.end()) {
        leaves = true;
        continue;
      }
      const Op& user = graph_.op(c);
      const double theirs = static_cast<double>(p.type_of(p.result(user, 0)).elements());
      if (access_of(user) == Access::same) {
        same = std::max(same, it->second * windows_[c]);
      } else {
        const bool behind = theirs <= own || is_behind(p, user);
        elsewhere += it->second * (behind ? 1.0 : theirs / own);
      }
    }
    double count = std::max({same + elsewhere, leaves ? 1.0 : 0.0, elsewhere});
    // A reduction is computed once and kept.
    const bool reduces =
        op.def->emission == Emission::reduce || op.def->emission == Emission::contract;
    if (reduces) count = std::min(count, 1.0);
    if (count == 0) count = 1;
    times[v] = count;
    double points = own;
    if (reduces)
      points =
          std::max(own, static_cast<double>(p.type_of(p.operands(op)[0]).elements()) * windows_[v]);
    const bool free_of_work = op.def->emission == Emission::copy;
    work += count * points * (op.def->cls == OpClass::heavy ? heavy : free_of_work ? 0.25 : 1.0);
  }
  return seconds(traffic(pattern), work);
}

double CostModel::apart(const Pattern& pattern) const {
  double sum = 0;
  for (Vertex v : pattern) sum += alone_[v];
  return sum;
}

}  // namespace heddle
