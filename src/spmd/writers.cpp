#include "spmd/writers.h"

#include <array>

#include "heddle/op.h"

namespace heddle {

namespace {

using WriteOp = Verdict (*)(Core&, OpId);

// By PartWay.
constexpr std::array<WriteOp, 17> kWriters{nullptr,
                                           write_whole,
                                           write_local,
                                           write_piece,
                                           write_rows,
                                           write_reduced_again,
                                           write_concatenated,
                                           write_joined,
                                           write_scan_line,
                                           write_sort_line,
                                           write_first_of_sort,
                                           write_top_of_parts,
                                           write_window_scatter,
                                           write_reshard,
                                           write_manual,
                                           write_loop,
                                           write_branch};

Verdict write_decided(Core& c, OpId id) {
  c.carry_out(id);
  return write_as_decided(c, id);
}

Verdict write_op(Core& c, OpId id) {
  const Op& op = c.from.op(id);
  for (const auto& [v, split] : c.decision(id).let_go) c.withdraw(v, split);
  if (c.decision(id).by_user) return yes();
  c.current = id;
  c.w.loc = c.location(op.loc);
  for (OpId first : c.decision(id).first) HEDDLE_TRY_VOID(write_decided(c, first));
  HEDDLE_TRY_VOID(write_decided(c, id));
  if (op.def->cls == OpClass::communicate) c.tell_of(op);
  return yes();
}

}  // namespace

Verdict write_as_decided(Core& c, OpId id) {
  const WriteOp write = kWriters[static_cast<std::size_t>(c.decision(id).way)];
  return write == nullptr ? yes() : write(c, id);  // none: written elsewhere, or not at all
}

Verdict write_ops(Core& c, RegionId region) {
  const std::vector<OpId>& ops = c.from.region(region).ops;
  for (std::size_t i = 0; i + 1 < ops.size(); ++i) HEDDLE_TRY_VOID(write_op(c, ops[i]));
  return yes();
}

}  // namespace heddle
