// Cumulative sums along one long row: in parts that the workers of a device share.
#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/attr_access.h"
#include "ir/clone.h"
#include "ir/rewrite.h"
#include "ir/rules/scan.h"

namespace heddle {

namespace {

std::string_view combiner_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return "add";
    case ReduceOp::product:
      return "multiply";
    case ReduceOp::min:
      return "minimum";
    case ReduceOp::max:
      return "maximum";
    default:
      return {};
  }
}

class ScansInParts {
 public:
  ScansInParts(const Program& program, int workers, const LongScans& sizes)
      : program_(program), workers_(workers), sizes_(sizes) {}

  Expected<bool> operator()(Rewriter& r, const Op& op) {
    const auto scan = scan_of(program_, op);
    if (!scan) return false;
    const Type type = program_.type_of(op.results);
    const std::string_view combiner = combiner_of(*index_rule(program_, op).combine.op);
    // What rounds when it is kept would round twice more.
    const bool is_wide = type.dtype == DType::f32 || type.dtype == DType::f64;
    if (combiner.empty() || !(is_wide || is_integer(type.dtype)) || scan->dim + 1 != type.rank())
      return false;
    const std::int64_t row = type.shape.back();
    const std::int64_t length = row == type.elements() ? part_length(row) : 0;
    if (length == 0) return false;
    has_changed_ = true;
    const Vars given = r.operands(op);
    Shape parts = type.shape;
    parts.back() /= length;
    const Shape totals = parts;
    parts.push_back(length);
    const Var cut = r.to.reshape(given[0], parts);
    HEDDLE_TRY(const Var within, scanned(r, op, cut, given[1], scan->backward));
    HEDDLE_TRY(const Var up_to, scanned(r, op, ends_of(r, within, totals, scan->backward), given[1],
                                        scan->backward));
    Builder::Dims kept(totals.size());
    for (std::size_t d = 0; d < kept.size(); ++d) kept[d] = static_cast<std::int64_t>(d);
    const Var before =
        r.to.broadcast(moved(r, up_to, given[1], totals, scan->backward), parts, kept);
    r.define(op.results, r.to.reshape(r.to.op(combiner, {before, within}), type.shape));
    return true;
  }

  bool has_changed() const { return has_changed_; }

 private:
  // Of parts of a row; 0: it stays whole. The longest that keep all workers busy, in multiples of
  // accesses.
  std::int64_t part_length(std::int64_t row) const {
    if (row < sizes_.least_row) return 0;
    std::int64_t shortest = 0;
    for (std::int64_t length = sizes_.longest_part; length >= sizes_.shortest_part; length -= 4) {
      if (row % length != 0) continue;
      if (row / length >= workers_) return length;
      shortest = length;
    }
    return shortest;
  }

  // The same along the last dimension of another value.
  static Expected<Var> scanned(Rewriter& r, const Op& op, Var x, Var begin, bool backward) {
    const Type& type = x.type();
    const std::size_t rank = type.rank();
    Array padding(Type::tensor(DType::i64, {static_cast<std::int64_t>(rank), 2}));
    padding.as_mutable<std::int64_t>()[2 * rank - (backward ? 1 : 2)] = type.shape.back() - 1;
    Attr::Integers window(rank, 1);
    window.back() = type.shape.back();
    AttrDict attrs = copied_attrs(r.from, op);
    set_attr(attrs, "padding", Attr{std::move(padding)});
    set_attr(attrs, "window_dimensions", Attr{std::move(window)});
    for (std::string_view name : {"window_strides", "base_dilations", "window_dilations"})
      set_attr(attrs, name, Attr{Attr::Integers(rank, 1)});
    HEDDLE_TRY(const RegionId body, r.copy_region(r.from.regions(op)[0]));
    return r.to.ops(op.def->name, {x, begin}, {type}, attrs, {body})[0];
  }

  // What each part comes to: its last element, in the order of the sum.
  static Var ends_of(Rewriter& r, Var within, const Shape& totals, bool backward) {
    Builder::Dims from(within.type().rank(), 0), to = within.type().shape;
    if (backward)
      to.back() = 1;
    else
      from.back() = to.back() - 1;
    return r.to.reshape(r.to.slice(within, from, to), totals);
  }

  // What comes before each part: all parts before it, and nothing before the first.
  static Var moved(Rewriter& r, Var up_to, Var begin, const Shape& totals, bool backward) {
    const auto last = static_cast<std::int64_t>(totals.size()) - 1;
    Shape one = totals, from(totals.size(), 0), to = totals;
    one.back() = 1;
    (backward ? from : to).back() += backward ? 1 : -1;
    const Var first = r.to.broadcast(begin, one);
    if (totals.back() == 1) return first;
    const Var others = r.to.slice(up_to, Builder::Dims(from.begin(), from.end()),
                                  Builder::Dims(to.begin(), to.end()));
    return r.to.concatenate(backward ? Vars{others, first} : Vars{first, others}, last);
  }

  const Program& program_;
  const int workers_;
  const LongScans sizes_;
  bool has_changed_ = false;
};

}  // namespace

Expected<Program> with_scans_in_parts(const Program& program, const MachineFigures& machine,
                                      const LongScans& sizes) {
  if (!machine.counts_all) return program;
  ScansInParts parts(program, machine.workers, sizes);
  Rewriter rewriter(program, [&](Rewriter& r, const Op& op) { return parts(r, op); });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  if (!parts.has_changed()) return program;
  return rewriter.unverified();
}

}  // namespace heddle
