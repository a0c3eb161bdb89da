#include "parallel/even_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "heddle/op.h"
#include "heddle/row_parts.h"
#include "ir/attr_access.h"
#include "ir/rules/rule_builder.h"
#include "ir/unused.h"
#include "parallel/joined.h"
#include "parallel/op_parts.h"
#include "parallel/prepare.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostParts = 16;

// The shape with a dimension of `count` parts before this one.
Shape parted(Shape shape, std::size_t dim, std::int64_t count) {
  shape[dim] /= count;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim), count);
  return shape;
}

}  // namespace

// One part of a dimension, with all of the others.
std::optional<EvenParts::Cut> EvenParts::cut_of(const Op& op) const {
  if (op.def->parts != Parts::cut) return std::nullopt;
  const Shape &whole = program_.type_of(program_.operands(op)[0]).shape,
              &part = program_.type_of(program_.result(op, 0)).shape;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (whole[d] == part[d] || part[d] <= 1) continue;
    const std::int64_t start = integers_or(program_.attr(op, "start_indices"))[d];
    if (!cuts_only(program_, op, d) || whole[d] % part[d] != 0 || start % part[d] != 0 ||
        whole[d] / part[d] > kMostParts)
      return std::nullopt;
    return Cut{d, part[d]};
  }
  return std::nullopt;
}

bool EvenParts::joins(const Op& op) const {
  const int along = joined_factor(program_, op);
  if (along < 0 || op.operand_count < 2 || op.operand_count > kMostParts) return false;
  const auto dim = static_cast<std::size_t>(along);
  const auto operands = program_.operands(op);
  const std::int64_t size = program_.type_of(operands[0]).shape[dim];
  if (size <= 1) return false;
  auto is_cut = [&](ValueId v) {
    const OpId maker = program_.value(v).op;
    return maker != kNone && cuts_only(program_, program_.op(maker), dim);
  };
  // What was only cut out along this dimension is moved along it: neighbours have it.
  if (std::ranges::all_of(operands, is_cut)) return false;
  return std::ranges::all_of(operands, [&](ValueId v) {
    return program_.type_of(v).shape[dim] == size &&
           (!is_cut(v) || cut_of(program_.op(program_.value(v).op)));
  });
}

namespace {

// By OpId: ops that take rows of arguments, or put results together of rows.
std::vector<bool> ops_on_rows(const Program& program) {
  std::vector<bool> found(program.op_count(), false);
  for (const Function& f : program.functions) {
    if (f.body == kNone) continue;
    for (const RowParts& parts : argument_rows(program, f))
      for (const RowPart& part : parts) found[program.value(part.value).op] = true;
    const auto returned = program.operands(program.op(program.region(f.body).ops.back()));
    const auto rows = result_rows(program, f);
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (!rows[r].empty()) found[program.value(returned[r]).op] = true;
  }
  return found;
}

}  // namespace

EvenParts::EvenParts(const Program& program, bool rows_lie_on_stages)
    : program_(program), chosen_(program.op_count(), false) {
  std::vector<bool> stay(program.op_count(), false);
  if (rows_lie_on_stages) stay = ops_on_rows(program);
  const Slices slices = find_slices(program, use_counts(program));
  std::map<std::tuple<ValueId, std::size_t, std::int64_t>, std::vector<OpId>> cuts;
  for (OpId id = 0; id < program.op_count(); ++id) {
    const Op& op = program.op(id);
    if (op.result_count != 1 || program.layout_of(program.result(op, 0)) != nullptr) continue;
    if (stay[id]) continue;
    if (joins(op)) chosen_[id] = any_ = true;
    if (const auto cut = cut_of(op); cut && !slices.is_piece(id))
      cuts[{program.operands(op)[0], cut->dim, cut->size}].push_back(id);
  }
  // Only where every part is taken.
  for (const auto& [key, ops] : cuts) {
    const auto& [v, dim, size] = key;
    std::set<std::int64_t> starts;
    for (OpId id : ops)
      starts.insert(integers_or(program.attr(program.op(id), "start_indices"))[dim]);
    if (std::ssize(starts) * size != program.type_of(v).shape[dim]) continue;
    for (OpId id : ops) chosen_[id] = any_ = true;
  }
}

Var EvenParts::written(Rewriter& rewriter, OpId id) const {
  if (!chosen_[id]) return {};
  Builder& b = rewriter.to;
  const Op& op = program_.op(id);
  const Shape& shape = program_.type_of(program_.result(op, 0)).shape;
  if (const auto cut = cut_of(op)) {
    const Var whole = rewriter.value(program_.operands(op)[0]);
    const std::int64_t count = whole.type().shape[cut->dim] / cut->size;
    const Shape apart = parted(whole.type().shape, cut->dim, count);
    Builder::Dims start(apart.size(), 0), limit(apart.begin(), apart.end());
    start[cut->dim] = integers_or(program_.attr(op, "start_indices"))[cut->dim] / cut->size;
    limit[cut->dim] = start[cut->dim] + 1;
    return b.reshape(b.slice(b.reshape(whole, apart), start, limit), shape);
  }
  const auto dim = static_cast<std::size_t>(joined_factor(program_, op));
  Vars parts;
  for (ValueId v : program_.operands(op))
    parts.push_back(b.reshape(rewriter.value(v), parted(program_.type_of(v).shape, dim, 1)));
  return b.reshape(b.concatenate(parts, static_cast<std::int64_t>(dim)), shape);
}

Expected<Program> with_even_parts(const Program& program, bool rows_lie_on_stages) {
  const EvenParts parts(program, rows_lie_on_stages);
  if (!parts.any()) return program;
  Rewriter rewriter(program, [&](Rewriter& now, const Op& op) -> Expected<bool> {
    if (op.result_count != 1) return false;
    const Var var = parts.written(now, program.value(program.result(op, 0)).op);
    if (var.none()) return false;
    now.define_results(op, {var});
    return true;
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

namespace {

class Parted {
 public:
  explicit Parted(const Program& program) : program_(program), of_(program.value_count()) {}

  std::vector<PartsOf> run() {
    find_users();
    for (OpId id = 0; id < program_.op_count(); ++id) {
      const Op& op = program_.op(id);
      if (op.def->rearranges != Rearrange::reshape || op.result_count != 1) continue;
      const ValueId from = program_.operands(op)[0], to = program_.result(op, 0);
      if (const auto dim = apart(program_.type_of(from).shape, program_.type_of(to).shape);
          dim && only_cut(to, *dim))
        mark(from, {*dim, program_.type_of(to).shape[*dim]});
      if (const auto dim = apart(program_.type_of(to).shape, program_.type_of(from).shape);
          dim && is_joined(from, *dim))
        mark(to, {*dim, program_.type_of(from).shape[*dim]});
    }
    return std::move(of_);
  }

 private:
  void find_users() {
    users_.resize(program_.value_count());
    for (OpId id = 0; id < program_.op_count(); ++id)
      for (ValueId v : program_.operands(program_.op(id))) users_[v].push_back(id);
  }

  // Where `finer` has a dimension of `shape` as two.
  static std::optional<std::size_t> apart(const Shape& shape, const Shape& finer) {
    if (finer.size() != shape.size() + 1) return std::nullopt;
    std::size_t d = 0;
    while (d < shape.size() && shape[d] == finer[d]) ++d;
    if (d == shape.size() || finer[d] <= 1 || finer[d + 1] <= 1) return std::nullopt;
    return parted(shape, d, finer[d]) == finer ? std::optional(d) : std::nullopt;
  }

  bool only_cut(ValueId v, std::size_t dim) const {
    return std::ranges::all_of(users_[v],
                               [&](OpId id) { return cuts_only(program_, program_.op(id), dim); });
  }
  bool is_joined(ValueId v, std::size_t dim) const {
    const OpId maker = program_.value(v).op;
    return maker != kNone && joined_factor(program_, program_.op(maker)) == static_cast<int>(dim);
  }

  bool elementwise(OpId id) const {
    return id != kNone && program_.op(id).def->index_rule == elementwise_index_rule;
  }

  void mark(ValueId v, const PartsOf& parts) {
    std::vector<ValueId> open{v};
    while (!open.empty()) {
      const ValueId now = open.back();
      open.pop_back();
      if (of_[now].count > 1 || program_.layout_of(now) != nullptr ||
          program_.type_of(now).shape != program_.type_of(v).shape)
        continue;
      of_[now] = parts;
      if (const OpId maker = program_.value(now).op; elementwise(maker))
        for (ValueId operand : program_.operands(program_.op(maker))) open.push_back(operand);
      for (OpId user : users_[now])
        if (elementwise(user))
          for (std::size_t i = 0; i < program_.op(user).result_count; ++i)
            open.push_back(program_.result(program_.op(user), i));
    }
  }

  const Program& program_;
  std::vector<std::vector<OpId>> users_;
  std::vector<PartsOf> of_;
};

}  // namespace

std::vector<PartsOf> parted_values(const Program& program) { return Parted(program).run(); }

}  // namespace heddle
