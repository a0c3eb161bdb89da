// select_and_scatter along split dimensions: each device has all windows that reach into its part,
// of the source and of what they select from, by the edges of its neighbours.
//
// Windows select among elements that exist, so that devices at the ends of a dimension run another
// op than those between: the program has one for each kind, and the device's position says which.
#include <algorithm>

#include "heddle/op.h"
#include "parallel/scatter_kinds.h"
#include "spmd/fetch.h"
#include "spmd/part.h"
#include "spmd/writers.h"

namespace heddle {

namespace {

// What devices at these positions compute: `taken` are the operands with what neighbours have.
Expected<ValueId> scattered(Core& c, const Op& op, const IndexRule& rule, const Choice& choice,
                            const std::vector<ScatterDim>& dims,
                            const std::vector<std::int64_t>& at, std::vector<ValueId> taken) {
  HEDDLE_TRY(OpPiece piece, scatter_piece(c.from, op, rule, choice.axes, dims, at));
  const Type local = local_type(c.type_of(c.from.result(op, 0)), c.split(choice.results[0]));
  bool any = true;
  for (std::size_t k = 0; k < dims.size(); ++k)
    for (std::size_t i = 0; i < 2; ++i) {
      const Window& window = dims[k].taken[i];
      const DimPiece& part = piece.operands[i].dims[window.dim];
      any = any && part.size() > 0;
      const std::int64_t begin = start_of(window, at[k]);
      taken[i] = c.w.slice(taken[i], window.dim, any ? part.start - begin : 0, part.size());
    }
  if (!any) return c.w.over(taken[2], local);
  HEDDLE_TRY(std::vector<ValueId> results,
             emit_piece(c.out, c.w.at, c.from, op, rule, piece, taken, {}));
  for (const ScatterDim& d : dims)
    results[0] = c.w.pad(results[0], d.dim, 0, d.block - c.w.type(results[0]).shape[d.dim],
                         c.w.zero(local.dtype));
  return results[0];
}

ValueId kind_here(Core& c, const ScatterDim& dim) {
  if (dim.kinds.size() == 1) return c.w.number(0);
  const Type scalar = Type::tensor(DType::i64, {});
  const ValueId here = c.w.position(dim.taken[0].axes);
  ValueId run = c.w.number(0);
  std::vector<std::int64_t> table;
  for (std::size_t k = 0; k < dim.runs.size(); ++k) {
    for (std::int64_t kind : dim.runs[k].kinds) table.push_back(std::max<std::int64_t>(kind, 0));
    if (k == 0) continue;
    const ValueId reached = c.w.compare(here, c.w.number(dim.runs[k].begin), "GE");
    run = c.w.add(run, c.w.op("stablehlo.convert", {reached}, scalar));
  }
  const ValueId rest = c.w.op("stablehlo.remainder", {here, c.w.number(dim.period)}, scalar);
  const Type numbers = Type::tensor(DType::i64, {static_cast<std::int64_t>(table.size())});
  const ValueId all = c.w.constant(Array(numbers, std::as_bytes(std::span(table))));
  const ValueId at = c.w.add(c.w.multiply(run, dim.period), rest);
  return c.w.reshape(c.w.dynamic_slice(all, 0, at, 1), {});
}

}  // namespace

Verdict write_window_scatter(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  const Choice& choice = *c.decision(id).choice;
  const IndexRule& rule = c.on.rules.of(id);
  std::vector<ValueId> operands = c.get_operands(id);
  neutralise(c, op, rule, choice, operands);
  const std::vector<ScatterDim> dims = scatter_dims(c.from, op, rule, choice);
  for (const ScatterDim& d : dims)
    for (std::size_t i = 0; i < 2; ++i) operands[i] = fetch(c, operands[i], d.taken[i]);
  for (ValueId v : captured_values(c.from, op)) operands.push_back(c.get(v, c.on.whole_id(v)));
  std::vector<std::vector<std::int64_t>> positions{{}};  // one of each kind
  ValueId kind = c.w.number(0);
  for (const ScatterDim& d : dims) {
    kind = c.w.add(c.w.multiply(kind, static_cast<std::int64_t>(d.kinds.size())), kind_here(c, d));
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& before : positions)
      for (std::int64_t at : d.kinds) {
        longer.push_back(before);
        longer.back().push_back(at);
      }
    positions = std::move(longer);
  }
  const ValueId result = c.from.result(op, 0);
  if (positions.size() == 1) {
    HEDDLE_TRY(ValueId made,
               scattered(c, op, rule, choice, dims, positions[0], std::move(operands)));
    c.define(result, choice.results[0], made);
    return yes();
  }
  std::vector<RegionId> branches;
  const RegionId around = c.w.at;
  for (const auto& at : positions) {
    c.w.at = c.out.add_region();
    HEDDLE_TRY(ValueId made, scattered(c, op, rule, choice, dims, at, operands));
    c.out.add_op(c.w.at, *find_op("stablehlo.return"), {&made, 1}, {}, {}, {}, c.w.loc);
    branches.push_back(c.w.at);
  }
  c.w.at = around;
  c.define(result, choice.results[0],
           c.w.op("stablehlo.case", {c.w.convert(kind, DType::i32)},
                  local_type(c.type_of(result), c.split(choice.results[0])), {}, branches));
  return yes();
}

}  // namespace heddle
