#include "parallel/prepare.h"

#include <algorithm>
#include <map>

#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/clone.h"
#include "ir/eval/scalar.h"
#include "ir/rewrite.h"
#include "ir/unused.h"
#include "parallel/shifted.h"

namespace heddle {

namespace {

// What a value is, where a few ops on constants give it.
std::optional<Array> known_value(const Program& program, ValueId value) {
  constexpr std::size_t kMostOps = 24;
  constexpr std::int64_t kMostElements = 64;
  std::map<OpId, bool> needed;  // in the order in which they stand
  std::vector<ValueId> open{value};
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    const OpId id = program.value(v).op;
    if (id == kNone || !program.type_of(v).is_tensor()) return std::nullopt;
    const Op& op = program.op(id);
    const bool pure = op.def->cls == OpClass::light || op.def->cls == OpClass::move;
    if (!pure || op.region_count > 0 || program.type_of(v).elements() > kMostElements)
      return std::nullopt;
    if (!needed.emplace(id, true).second) continue;
    if (needed.size() > kMostOps) return std::nullopt;
    for (ValueId operand : program.operands(op)) open.push_back(operand);
  }
  Program alone;
  Function f;
  f.name = "main";
  f.body = alone.add_region();
  ValueMap values;
  for (const auto& [id, _] : needed) clone_op(alone, f.body, program, program.op(id), values);
  const ValueId result = values.at(value);
  f.results = {alone.value(result).type};
  alone.add_op(f.body, *find_op("func.return"), {&result, 1}, {});
  alone.functions.push_back(f);
  auto arrays = interpret(alone, alone.functions[0], {});
  if (!arrays) return std::nullopt;
  return (*arrays)[0];
}

// An update of all elements from `start` on.
struct Update {
  ValueId operand = kNone, update = kNone;
  std::vector<std::int64_t> start;
  const Op* with = nullptr;   // what is there and the update make the new value; none: the update is
  bool update_first = false;  // of its operands
};

std::optional<Update> slice_update(const Program& program, const Op& op) {
  Update found{program.operands(op)[0], program.operands(op)[1], {}};
  const Shape &whole = program.type_of(found.operand).shape,
              &part = program.type_of(found.update).shape;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    if (part[d] == whole[d]) {
      found.start.push_back(0);
      continue;
    }
    const auto at = known_value(program, program.operands(op)[d + 2]);
    if (!at) return std::nullopt;
    found.start.push_back(std::clamp<std::int64_t>(to_int64(*at, 0), 0, whole[d] - part[d]));
  }
  return found;
}

// What a scatter does at a place: it takes the update, or one op of it and what is there.
bool note_step(const Program& program, const Op& scatter, Update& found) {
  const Region& body = program.region(program.regions(scatter)[0]);
  const ValueId given = program.operands(program.op(body.ops.back()))[0];
  if (body.ops.size() == 1) return given == body.args[1];
  const Op& step = program.op(body.ops[0]);
  if (body.ops.size() != 2 || step.result_count != 1 || program.result(step, 0) != given ||
      step.operand_count != 2 || step.region_count > 0 || step.def->cls != OpClass::light)
    return false;
  const auto operands = program.operands(step);
  found.with = &step;
  found.update_first = operands[0] == body.args[1];
  return operands[found.update_first ? 0 : 1] == body.args[1] &&
         operands[found.update_first ? 1 : 0] == body.args[0];
}

// A scatter of one block.
std::optional<Update> block_scatter(const Program& program, const Op& op) {
  if (op.operand_count != 3) return std::nullopt;
  Update found{program.operands(op)[0], program.operands(op)[2], {}};
  if (!note_step(program, op, found)) return std::nullopt;
  const Type &whole = program.type_of(found.operand), &part = program.type_of(found.update);
  const Attr* dims = program.attr(op, "scatter_dimension_numbers");
  const auto windows = integers_or(field(dims, "update_window_dims"));
  const auto map = integers_or(field(dims, "scatter_dims_to_operand_dims"));
  if (windows.size() != whole.rank() || part.rank() != whole.rank()) return std::nullopt;
  const auto indices = known_value(program, program.operands(op)[1]);
  if (!indices || indices->elements() != static_cast<std::int64_t>(map.size())) return std::nullopt;
  found.start.assign(whole.rank(), 0);
  for (std::size_t i = 0; i < map.size(); ++i)
    found.start[static_cast<std::size_t>(map[i])] =
        to_int64(*indices, static_cast<std::int64_t>(i));
  for (std::size_t d = 0; d < whole.rank(); ++d)
    if (found.start[d] < 0 || found.start[d] + part.shape[d] > whole.shape[d]) return std::nullopt;
  return found;
}

// Small updates stay: they are better done in place.
std::optional<Update> known_update(const Program& program, const Op& op) {
  std::optional<Update> found;
  if (op.def->emission == Emission::scatter) found = block_scatter(program, op);
  if (op.def->emission == Emission::dynamic_update_slice) found = slice_update(program, op);
  if (!found) return std::nullopt;
  const std::int64_t part = program.type_of(found->update).elements();
  if (part == 0 || 2 * part < program.type_of(found->operand).elements()) return std::nullopt;
  return found;
}

bool is_tuple(const Op& op) { return op.def->control == Control::tuple; }
bool is_element(const Op& op) { return op.def->control == Control::tuple_part; }
bool is_slice(const Op& op) { return op.def->rearranges == Rearrange::slice; }
bool is_pad(const Op& op) { return op.def->rearranges == Rearrange::pad; }

// ---- padding of what is padded with the same, as gradients of shifted values are

struct Padding {
  std::vector<std::int64_t> low, high;
  ValueId source = kNone, fill = kNone;
};

std::optional<Padding> padding_of(const Program& program, ValueId v) {
  const OpId id = program.value(v).op;
  if (id == kNone || !is_pad(program.op(id)) || program.layout_of(v) != nullptr)
    return std::nullopt;
  const Op& op = program.op(id);
  for (std::int64_t n : integers_or(program.attr(op, "interior_padding")))
    if (n != 0) return std::nullopt;
  return Padding{integers_or(program.attr(op, "edge_padding_low")),
                 integers_or(program.attr(op, "edge_padding_high")), program.operands(op)[0],
                 program.operands(op)[1]};
}

const Array* constant_of(const Program& program, ValueId v) {
  const OpId id = program.value(v).op;
  if (id == kNone || program.op(id).def->form != Form::constant) return nullptr;
  const Attr* value = program.attr(program.op(id), "value");
  return value == nullptr ? nullptr : value->get<Array>();
}

bool are_equal(const Program& program, ValueId a, ValueId b) {
  const Array *x = constant_of(program, a), *y = constant_of(program, b);
  return a == b || (x != nullptr && y != nullptr && x->type() == y->type() &&
                    std::ranges::equal(x->bytes(), y->bytes()));
}

// Both at once, where nothing that was cut off comes back as padding.
std::optional<Padding> joined_padding(const Program& program, ValueId v) {
  const auto outer = padding_of(program, v);
  if (!outer) return std::nullopt;
  auto joined = padding_of(program, outer->source);
  if (!joined || !are_equal(program, joined->fill, outer->fill)) return std::nullopt;
  for (std::size_t d = 0; d < joined->low.size(); ++d) {
    if ((joined->low[d] < 0 && outer->low[d] > 0) || (joined->high[d] < 0 && outer->high[d] > 0))
      return std::nullopt;
    joined->low[d] += outer->low[d];
    joined->high[d] += outer->high[d];
  }
  return joined;
}

// What an element of a tuple is, where the tuple is put together here; the value itself elsewhere.
ValueId element(const Program& program, ValueId v) {
  const OpId id = program.value(v).op;
  if (id == kNone || !is_element(program.op(id))) return v;
  const Op& op = program.op(id);
  const ValueId tuple = element(program, program.operands(op)[0]);
  const OpId made = program.value(tuple).op;
  if (made == kNone || !is_tuple(program.op(made))) return v;
  const std::int64_t index = integer_or(program.attr(op, "index"), 0);
  return element(program, program.operands(program.op(made))[static_cast<std::size_t>(index)]);
}

// Tuples that are only taken apart again are gone once their elements are known.
Expected<bool> without_tuple(Rewriter& rewriter, const Op& op) {
  const Program& program = rewriter.from;
  if (is_element(op)) {
    const ValueId v = program.result(op, 0), known = element(program, v);
    if (known == v) return false;
    if (program.type_of(v).is_tensor()) rewriter.define_results(op, {rewriter.value(known)});
    return true;
  }
  return is_tuple(op);
}

// Whether all that is done with tuples is to put them together and to take them apart.
bool only_taken_apart(const Program& program) {
  bool any = false;
  for (OpId id = 0; id < program.op_count(); ++id) {
    const Op& op = program.op(id);
    const bool inside = is_tuple(op) || is_element(op);
    any = any || inside;
    for (ValueId v : program.operands(op))
      if (program.type_of(v).kind == Type::Kind::tuple && !inside) return false;
    if (is_element(op) && program.type_of(program.result(op, 0)).is_tensor() &&
        element(program, program.result(op, 0)) == program.result(op, 0))
      return false;
  }
  return any;
}

// True where an update lies; none where that is everywhere.
Var inside_of(Builder& b, const Update& update, const Shape& part, const Shape& shape) {
  Var inside;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t begin = update.start[d], end = begin + part[d];
    if (end - begin == shape[d]) continue;
    const Var place = b.iota(Type::tensor(DType::i32, shape), static_cast<std::int64_t>(d));
    const Var here =
        b.op("and", {b.compare("GE", place, b.full_like(place, static_cast<double>(begin))),
                     b.compare("LT", place, b.full_like(place, static_cast<double>(end)))});
    inside = inside.none() ? here : b.op("and", {inside, here});
  }
  return inside;
}

class Preparation {
 public:
  explicit Preparation(const Program& program)
      : from_(program),
        uses_(use_counts(program)),
        rewriter_(program, [this](Rewriter&, const Op& op) { return replaced(op); }) {}

  Expected<Program> run() {
    for (const Function& f : from_.functions) HEDDLE_TRY_VOID(rewriter_.copy(f));
    return rewriter_.finish();
  }
  bool changed() const { return changed_; }

 private:
  Expected<bool> replaced(const Op& op) {
    if (op.result_count != 1) return false;
    const LayoutId layout = from_.value(from_.result(op, 0)).layout;
    Var now;
    if (const auto update = known_update(from_, op))
      now = written(*update, layout);
    else if (is_slice(op) && layout == kNone)
      now = without_detour(op);
    else if (const auto padding = joined_padding(from_, from_.result(op, 0)))
      now = padded(*padding, from_.type_of(from_.result(op, 0)));
    if (rewriter_.to.failed()) return rewriter_.to.finish().why();
    if (now.none()) return false;
    if (layout != kNone) {
      Program& out = rewriter_.to.program;
      out.set_layout(now.id(), out.intern(*from_.layout(layout)));
    }
    rewriter_.define_results(op, {now});
    return changed_ = true;
  }

  Var written(const Update& update, LayoutId layout) {
    Builder& b = rewriter_.to;
    const Var operand = rewriter_.value(update.operand);
    const Shape shape = operand.type().shape;
    const Var inside = inside_of(b, update, from_.type_of(update.update).shape, shape);
    if (inside.none() && update.with == nullptr)
      return layout == kNone ? rewriter_.value(update.update) : Var{};
    Var now = inside.none() ? rewriter_.value(update.update)
                            : Spread(rewriter_, uses_, update.start, shape).of(update.update);
    if (update.with != nullptr)
      now = b.ops(update.with->def->name,
                  update.update_first ? Vars{now, operand} : Vars{operand, now}, {operand.type()},
                  copied_attrs(from_, *update.with))[0];
    return inside.none() ? now : b.select(inside, now, operand);
  }

  Var padded(const Padding& padding, const Type& type) {
    return rewriter_.to.op("pad", {rewriter_.value(padding.source), rewriter_.value(padding.fill)},
                           type,
                           {{"edge_padding_high", Attr{Attr::Integers(padding.high)}},
                            {"edge_padding_low", Attr{Attr::Integers(padding.low)}},
                            {"interior_padding", Attr{Attr::Integers(type.rank(), 0)}}});
  }

  // A slice of what was put together or padded, from the parts themselves.
  Var without_detour(const Op& op) {
    const ValueId v = from_.result(op, 0), whole = from_.operands(op)[0];
    const auto slice = shifted_slice(from_, v);
    if (!slice) return {};
    if (slice->source != whole) return write_shifted(rewriter_, *slice, from_.type_of(v).shape);
    const OpId joined = from_.value(whole).op;
    if (joined == kNone || from_.op(joined).def->rearranges != Rearrange::join ||
        from_.layout_of(whole) != nullptr || !only_sliced(whole) || is_turned_round(whole))
      return {};
    return joined_slices(from_.op(joined), *slice, from_.type_of(v).shape);
  }

  void look_at_slices() {
    if (!slices_.empty()) return;
    slices_.assign(from_.value_count(), {});
    joined_in_.assign(from_.value_count(), kNone);
    for (OpId id = 0; id < from_.op_count(); ++id) {
      const Op& op = from_.op(id);
      if (is_slice(op)) slices_[from_.operands(op)[0]].push_back(from_.result(op, 0));
      if (op.def->rearranges != Rearrange::join) continue;
      for (ValueId v : from_.operands(op)) joined_in_[v] = id;
    }
  }

  bool only_sliced(ValueId v) {
    look_at_slices();
    return std::ssize(slices_[v]) == uses_[v];
  }

  // Whether all slices of the value are put together again, and nothing else is: what is turned
  // along one dimension after the other.
  bool is_turned_round(ValueId v) {
    look_at_slices();
    const OpId joined = joined_in_[slices_[v].front()];
    return joined != kNone && from_.op(joined).operand_count == slices_[v].size() &&
           std::ranges::all_of(slices_[v], [&](ValueId slice) {
             return uses_[slice] == 1 && joined_in_[slice] == joined;
           });
  }

  Var joined_slices(const Op& joined, const Shifted& slice, const Shape& shape) {
    const std::int64_t along = integer_or(from_.attr(joined, "dimension"), 0);
    const auto dim = static_cast<std::size_t>(along);
    Builder::Dims start, limit;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      start.push_back(-slice.low[d]);
      limit.push_back(start.back() + shape[d]);
    }
    const std::int64_t first = start[dim], end = limit[dim];
    if (first == end) return {};
    Vars parts;
    std::int64_t before = 0;
    for (ValueId part : from_.operands(joined)) {
      const Shape& size = from_.type_of(part).shape;
      start[dim] = std::clamp<std::int64_t>(first - before, 0, size[dim]);
      limit[dim] = std::clamp<std::int64_t>(end - before, 0, size[dim]);
      before += size[dim];
      if (limit[dim] <= start[dim]) continue;
      const bool all = limit == size && std::ranges::count(start, 0) == std::ssize(start);
      const Var now = rewriter_.value(part);
      parts.push_back(all ? now : rewriter_.to.slice(now, start, limit));
    }
    return parts.size() == 1 ? parts[0] : rewriter_.to.concatenate(parts, along);
  }

  const Program& from_;
  std::vector<int> uses_;
  std::vector<std::vector<ValueId>> slices_;  // by value
  std::vector<OpId> joined_in_;               // by value: what puts it together with others
  Rewriter rewriter_;
  bool changed_ = false;
};

bool can_be_prepared(const Program& program) {
  for (OpId id = 0; id < program.op_count(); ++id) {
    const Op& op = program.op(id);
    if (known_update(program, op)) return true;
    if (is_pad(op) && joined_padding(program, program.result(op, 0))) return true;
    if (!is_slice(op)) continue;
    const OpId source = program.value(program.operands(op)[0]).op;
    if (source == kNone) continue;
    const Rearrange made = program.op(source).def->rearranges;
    if (made == Rearrange::pad || made == Rearrange::join) return true;
  }
  return false;
}

}  // namespace

Expected<Program> with_known_places(const Program& program) {
  if (only_taken_apart(program)) {
    Rewriter rewriter(program, without_tuple);
    for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
    HEDDLE_TRY(const Program flat, rewriter.finish());
    return with_known_places(flat);
  }
  constexpr int kMostRounds = 6;  // one for each dimension that was padded by itself
  Program now = program;
  for (int round = 0; round < kMostRounds && can_be_prepared(now); ++round) {
    Preparation preparation(now);
    HEDDLE_TRY(Program next, preparation.run());
    if (!preparation.changed()) break;
    HEDDLE_TRY(now, without_unused(next));
  }
  return now;
}

}  // namespace heddle
