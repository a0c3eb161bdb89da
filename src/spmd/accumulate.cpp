// One micro-batch after the other: a loop that sums up, then what comes after.
#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "heddle/signature.h"
#include "ir/rewrite.h"
#include "spmd/micro_ops.h"

namespace heddle {

namespace {

Type times(Type type, int dim, std::int64_t count) {
  if (dim >= 0) type.shape[static_cast<std::size_t>(dim)] *= count;
  return type;
}

// Sums of many small numbers of 16 bits would lose most of them.
Type sum_type(Type type) {
  if (type.dtype == DType::bf16 || type.dtype == DType::f16) type.dtype = DType::f32;
  return type;
}

class LoopWriter {
 public:
  LoopWriter(const Program& from, const MicroBatches& cut)
      : cut_(cut), r_(from, [](Rewriter&, const Op&) -> Expected<bool> { return false; }) {}

  Expected<Program> write() {
    for (const Function& f : r_.from.functions)
      HEDDLE_TRY_VOID(f.name == cut_.function ? meant(f) : r_.copy(f));
    return r_.finish();
  }

 private:
  Verdict meant(const Function& f) {
    HEDDLE_TRY(phases_, micro_phases(r_.from, f, cut_));
    Function head = f;
    Program& to = r_.to.program;
    for (std::size_t i = 0; i < head.results.size(); ++i)
      head.results[i] = to.intern(times(r_.from.type(f.results[i]), cut_.results[i], cut_.count));
    head.loc = r_.location(f.loc);
    if (head.arg_attrs.size() > cut_.arguments.size()) head.arg_attrs.pop_back();
    head.result_layouts.clear();
    head.body = to.add_region();
    arguments_ = r_.from.region(f.body).args;
    for (std::size_t i = 0; i < cut_.arguments.size(); ++i) {
      const Type type = times(r_.from.type_of(arguments_[i]), cut_.arguments[i], cut_.count);
      whole_.emplace_back(r_.to, to.add_arg(head.body, to.intern(type)));
      if (cut_.arguments[i] < 0) r_.define(arguments_[i], whole_.back());
    }
    Verdict written = yes();
    r_.to.inside(head.body, [&] { written = body(f); });
    to.functions.push_back(std::move(head));
    return written;
  }

  Verdict body(const Function& f) {
    const Op& end = r_.from.op(r_.from.region(f.body).ops.back());
    find_late(f);
    HEDDLE_TRY_VOID(copy(f, MicroPhase::before));
    HEDDLE_TRY_VOID(loop(f, end));
    HEDDLE_TRY_VOID(copy(f, MicroPhase::after));
    Vars results;
    for (std::size_t i = 0; i < cut_.results.size(); ++i)
      results.push_back(cut_.results[i] >= 0 ? put_together_[i]
                                             : r_.value(r_.from.operands(end)[i]));
    r_.to.at(r_.location(end.loc));
    r_.to.ops("func.return", results, {});
    return yes();
  }

  // What no micro-batch needs comes after all of them, so that it takes no memory meanwhile.
  void find_late(const Function& f) {
    const std::vector<OpId>& ops = r_.from.region(f.body).ops;
    std::vector<bool> early(r_.from.op_count(), false);
    for (std::size_t i = ops.size(); i-- > 0;) {
      const Op& op = r_.from.op(ops[i]);
      const MicroPhase phase = phases_[ops[i]];
      if (phase == MicroPhase::before && !early[ops[i]]) phases_[ops[i]] = MicroPhase::after;
      if (phase != MicroPhase::each && !early[ops[i]]) continue;
      const auto need = [&](ValueId v) {
        if (const OpId maker = r_.from.value(v).op; maker != kNone) early[maker] = true;
      };
      for (ValueId v : r_.from.operands(op)) need(v);
      for (ValueId v : captured_values(r_.from, op)) need(v);
    }
  }

  Verdict copy(const Function& f, MicroPhase phase) {
    for (OpId id : r_.from.region(f.body).ops) {
      const Op& op = r_.from.op(id);
      if (phases_[id] != phase || is_micro_sum(op) || op.def->form == Form::terminator) continue;
      HEDDLE_TRY_VOID(r_.copy_op(op));
    }
    return yes();
  }

  // What is carried: the number of the turn, the sums, and results that are put together.
  Verdict loop(const Function& f, const Op& end) {
    std::vector<const Op*> sums;
    for (OpId id : r_.from.region(f.body).ops)
      if (is_micro_sum(r_.from.op(id))) sums.push_back(&r_.from.op(id));
    Vars start = {r_.to.full(Type::tensor(DType::i32, {}), 0)};
    for (const Op* sum : sums)
      start.push_back(r_.to.full(sum_type(r_.from.type_of(r_.from.result(*sum, 0))), 0));
    for (std::size_t i = 0; i < cut_.results.size(); ++i)
      if (cut_.results[i] >= 0)
        start.push_back(
            r_.to.full(times(r_.from.type(f.results[i]), cut_.results[i], cut_.count), 0));
    Verdict written = yes();
    const Vars ended = r_.to.while_loop(
        start,
        [&](const Vars& now) {
          return r_.to.compare("LT", now[0],
                               r_.to.full_like(now[0], static_cast<double>(cut_.count)));
        },
        [&](const Vars& now) { return turn(f, end, sums, now, written); });
    if (!written) return written;
    if (r_.to.failed()) return r_.to.finish().why();
    for (std::size_t s = 0; s < sums.size(); ++s) {
      const ValueId result = r_.from.result(*sums[s], 0);
      r_.define(result, r_.to.convert(ended[1 + s], r_.from.type_of(result).dtype));
    }
    put_together_.resize(cut_.results.size());
    std::size_t next = 1 + sums.size();
    for (std::size_t i = 0; i < cut_.results.size(); ++i)
      if (cut_.results[i] >= 0) put_together_[i] = ended[next++];
    return yes();
  }

  // Where a part of this turn begins, in each dimension.
  Vars places(Var turn, const Type& part, int dim) {
    Vars at;
    for (std::size_t d = 0; d < part.rank(); ++d)
      at.push_back(static_cast<int>(d) == dim ? turn * static_cast<double>(part.shape[d])
                                              : r_.to.full_like(turn, 0));
    return at;
  }

  Vars turn(const Function& f, const Op& end, const std::vector<const Op*>& sums, const Vars& now,
            Verdict& written) {
    Builder& b = r_.to;
    for (std::size_t i = 0; i < cut_.arguments.size(); ++i) {
      if (cut_.arguments[i] < 0) continue;
      const Type part = r_.from.type_of(arguments_[i]);
      Vars operands = places(now[0], part, cut_.arguments[i]);
      operands.insert(operands.begin(), whole_[i]);
      r_.define(arguments_[i], b.op("dynamic_slice", operands, part,
                                    {{"slice_sizes", Attr{Attr::Integers(part.shape)}}}));
    }
    r_.define(arguments_[cut_.number()], b.convert(now[0], DType::ui32));
    written = copy(f, MicroPhase::each);
    if (!written) return now;
    Vars next = {now[0] + 1.0};
    for (std::size_t s = 0; s < sums.size(); ++s) {
      const Var mine = r_.value(r_.from.operands(*sums[s])[0]);
      next.push_back(now[1 + s] + b.convert(mine, now[1 + s].type().dtype));
    }
    for (std::size_t i = 0; i < cut_.results.size(); ++i) {
      if (cut_.results[i] < 0) continue;
      const Var part = r_.value(r_.from.operands(end)[i]);
      Vars operands = places(now[0], part.type(), cut_.results[i]);
      operands.insert(operands.begin(), {now[next.size()], part});
      next.push_back(b.op("dynamic_update_slice", operands));
    }
    return next;
  }

  const MicroBatches& cut_;
  Rewriter r_;
  std::vector<MicroPhase> phases_;
  std::vector<ValueId> arguments_;
  Vars whole_, put_together_;
};

Verdict is_shared_equally(const DimSplit& cut, const std::string& what) {
  if (cut.whole() || cut.padded() == cut.size) return yes();
  return reason(
      "{} has {} elements of its batch in a micro-batch, which {} devices cannot share equally: "
      "take fewer micro-batches, or lay it out over fewer devices",
      what, cut.size, total(cut.axes()));
}

// Every device has its share of every micro-batch: one digit more, on the device.
Verdict widen(Type& type, Split& split, int dim, std::int64_t count, const std::string& what) {
  if (dim < 0) return yes();
  const auto d = static_cast<std::size_t>(dim);
  DimSplit& cut = split.dims[d];
  HEDDLE_TRY_VOID(is_shared_equally(cut, what));
  type.shape[d] *= count;
  cut.size *= count;
  if (!cut.digits.empty()) cut.digits.insert(cut.digits.begin(), SplitDigit{count, -1, 1});
  split.settle();
  return yes();
}

}  // namespace

Expected<Program> accumulated(const Program& program, const MicroBatches& cut) {
  return LoopWriter(program, cut).write();
}

Expected<Spmd> accumulated(Spmd spmd, const MicroBatches& cut) {
  HEDDLE_TRY(spmd.program, accumulated(spmd.program, cut));
  const Program& logical = spmd.logical();
  HEDDLE_TRY(const std::vector<MicroPhase> phases,
             micro_phases(logical, *logical.find_function(cut.function), cut));
  for (SpmdFunction& f : spmd.functions) {
    if (f.name != cut.function) continue;
    HEDDLE_TRY_VOID(with_whole_batch(f, cut));
    for (Communication& c : f.communications)
      if (c.needed_by != kNone && phases[c.needed_by] == MicroPhase::each) ++c.depth;
  }
  return spmd;
}

Verdict shares_micro_batches(const Program& program, const Function& function,
                             const MicroBatches& cut, const Propagation& layouts) {
  const std::vector<ValueId>& args = program.region(function.body).args;
  const auto check = [](const Split& split, int dim, const char* what, std::size_t i) {
    if (dim < 0) return yes();
    return is_shared_equally(split.dims[static_cast<std::size_t>(dim)],
                             fmt::format("{} {}", what, i));
  };
  for (std::size_t i = 0; i < cut.arguments.size(); ++i)
    HEDDLE_TRY_VOID(check(layouts.splits[args[i]], cut.arguments[i], "argument", i));
  for (std::size_t i = 0; i < cut.results.size(); ++i)
    HEDDLE_TRY_VOID(check(layouts.results[i], cut.results[i], "result", i));
  return yes();
}

Verdict with_whole_batch(SpmdFunction& f, const MicroBatches& cut) {
  if (f.arguments.size() > cut.number()) {
    f.arguments.pop_back();
    f.argument_types.pop_back();
    if (!f.argument_meshes.empty()) f.argument_meshes.pop_back();
  }
  f.argument_bytes = f.result_bytes = 0;
  for (std::size_t i = 0; i < f.arguments.size(); ++i) {
    HEDDLE_TRY_VOID(widen(f.argument_types[i], f.arguments[i], cut.arguments[i], cut.count,
                          fmt::format("argument {}", i)));
    f.argument_bytes += local_type(f.argument_types[i], f.arguments[i]).bytes();
  }
  for (std::size_t i = 0; i < f.results.size(); ++i) {
    HEDDLE_TRY_VOID(widen(f.result_types[i], f.results[i], cut.results[i], cut.count,
                          fmt::format("result {}", i)));
    f.result_bytes += local_type(f.result_types[i], f.results[i]).bytes();
  }
  return yes();
}

}  // namespace heddle
