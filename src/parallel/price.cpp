// The price of a choice: seconds to bring operands, to compute, and to bring results to where they
// are wanted.
#include "parallel/price.h"

#include <algorithm>

#include "cost/instructions.h"
#include "cost/piece.h"
#include "heddle/op.h"
#include "ir/goes_on.h"
#include "parallel/edges.h"
#include "parallel/messages.h"
#include "parallel/op_parts.h"
#include "parallel/sort_pairs.h"

namespace heddle {

namespace {

double bytes_on_device(const OnMesh& on, ValueId v, int split) {
  return static_cast<double>(local_type(on.type_of(v), on.splits[split]).bytes());
}

// Sums that nothing waits for are made together, so that the latency of one does not count.
double seconds_to_give(OnMesh& on, const Op& op, ValueId v, int from, int to) {
  const Route& route = on.routes.find(from, to, bits(on.type_of(v).dtype));
  const double bandwidth = least_bandwidth(on.mesh.mesh, on.splits[from].pending);
  double received = 0;
  for (const Route::Step& step : route.steps) received += static_cast<double>(step.bytes);
  constexpr double kLater = 1 - 1e-9;  // of two equal ways the one that sums later
  // Nor does that of products and reductions: sums of their parts are better than to compute them
  // everywhere.
  const bool is_sum = op.def->cls == OpClass::contract ||
                      (op.def->cls == OpClass::reduce && !on.splits[from].pending.empty());
  const bool alone = !on.needed_late[v] && !is_sum;
  if (bandwidth <= 0) return route.seconds;
  if (alone) return route.seconds * kLater;
  return std::min(route.seconds, received / bandwidth);
}

// Points of the iteration space that one device has.
double steps_of(const IndexRule& rule, const FactorAxes& axes) {
  double steps = 1;
  for (std::size_t f = 0; f < rule.factors.size(); ++f)
    steps *= static_cast<double>(rule.factors[f].size) /
             static_cast<double>(
                 std::min(total(axes[f]), std::max<std::int64_t>(rule.factors[f].size, 1)));
  return steps;
}

// Views and constants are no kernels of their own.
bool is_computed(const Op& op) {
  return op.def->view == ViewKind::none && op.def->parts != Parts::constant;
}

Instructions work_of(const OnMesh& on, const Op& op, double steps) {
  if (!is_computed(op)) return {};
  const Instructions each = instructions_of(on.program, op);
  return {each.light * steps, each.heavy * steps};
}

// What the op takes along lines beside reading its operands and writing its results once.
double line_seconds(OnMesh& on, const Op& op, const Choice& choice) {
  const std::size_t dim = choice.line->dim;
  const SplitAxes& axes = choice.axes[dim];
  if (choice.line->kind == Line::Kind::sort) return split_sort(on, op, choice).seconds;
  if (axes.empty()) return 0;
  Type totals = local_type(on.type_of(on.program.result(op, 0)), on.splits[choice.results[0]]);
  totals.shape[dim] = 1;
  return totals_route(on, totals, dim, axes).seconds;
}

std::vector<bool> values_needed_late(const Program& program) {
  std::vector<bool> late(program.value_count(), true);
  // Users stand behind what they use.
  for (OpId id = static_cast<OpId>(program.op_count()); id-- > 0;) {
    const Op& op = program.op(id);
    if (op.def->form == Form::terminator) continue;
    if (goes_on_at_once(program, op) && late[program.result(op, 0)]) continue;
    for (ValueId v : program.operands(op)) late[v] = false;
  }
  return late;
}

}  // namespace

OnMesh::OnMesh(const Program& program_, RuleCache& rules_, const MeshDecl& mesh_,
               std::int64_t memory_limit_)
    : program(program_),
      rules(rules_),
      mesh(mesh_),
      memory_limit(memory_limit_),
      needed_late(values_needed_late(program_)),
      routes(splits, mesh_.mesh, program_.axes) {
  for (std::size_t a = 0; a < mesh.mesh.axes().size(); ++a)
    if (mesh.mesh.axes()[a].size > 1) axis_groups.push_back({static_cast<int>(a)});
}

const Route& totals_route(OnMesh& on, const Type& totals, std::size_t dim, const SplitAxes& axes) {
  Split from = Split::whole(totals);
  from.dims[dim] = DimSplit::blocks(total(axes), axes);
  Split to = from;
  to.dims[dim] = {total(axes), {}};
  return on.routes.find(on.split_id(std::move(from)), on.split_id(std::move(to)),
                        bits(totals.dtype));
}

Price price_of(OnMesh& on, const Op& op, const IndexRule& rule, const Choice& choice,
               std::span<const int> wanted, Stitched stitched) {
  Price price;
  const DeviceFigures& device = on.mesh.mesh.device();
  cost::Piece piece{.steps = steps_of(rule, choice.axes)};
  double bytes = 0;
  auto count = [&](ValueId v, int split, std::size_t place) {
    const double all = bytes_on_device(on, v, split);
    bytes += all;
    const bool moves = place >= 64 || (stitched >> place & 1) == 0;
    if (moves) piece.add_value(all, device);
    if (moves && place >= op.operand_count) piece.is_launched = is_computed(op);
  };
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (const ValueId v = on.program.operands(op)[i]; on.type_of(v).is_tensor())
      count(v, choice.operands[i], i);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = on.program.result(op, i);
    if (!on.type_of(v).is_tensor()) continue;
    count(v, choice.results[i], op.operand_count + i);
    if (i < wanted.size()) price.give += seconds_to_give(on, op, v, choice.results[i], wanted[i]);
  }
  if (!rule.combine.op) {
    // Partial results are gathered together and combined once more.
    const SplitAxes over = summed_axes(rule, choice.axes);
    double gathered = 0;
    for (std::size_t i = 0; i < op.result_count; ++i)
      gathered += bytes_on_device(on, on.program.result(op, i), choice.results[i]);
    if (!over.empty()) price.combine = gather_seconds(on.mesh.mesh, over, gathered);
  }
  if (device.light_rate > 0) piece.work = work_of(on, op, piece.steps);
  price.compute = cost::piece_seconds(op.def->cls, piece, on.mesh.mesh);
  if (choice.line) price.line = line_seconds(on, op, choice);
  if (bytes > static_cast<double>(on.memory_limit)) price.too_large = cost::kDoesNotFit;
  return price;
}

Expected<Price> price(OnMesh& on, OpId id, const FactorAxes& factors,
                      std::span<const Split> operands, std::span<const Split> wanted) {
  const Op& op = on.program.op(id);
  HEDDLE_TRY(const Choice choice, choice_for(on, id, factors));
  if (operands.size() != op.operand_count)
    return reason("{}: layouts of {} operands came in, {} expected", op.def->name, operands.size(),
                  op.operand_count);
  std::vector<int> to;
  for (const Split& split : wanted) to.push_back(on.split_id(split));
  Price price = price_of(on, op, on.rules.of(id), choice, to);
  price.edges = edge_seconds(on, op, on.rules.of(id), choice);
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (const Type& type = on.type_of(on.program.operands(op)[i]); type.is_tensor())
      price.bring +=
          on.routes.find(on.split_id(operands[i]), choice.operands[i], bits(type.dtype)).seconds;
  return price;
}

}  // namespace heddle
