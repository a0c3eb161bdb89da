#include "heddle/micro_batches.h"

#include <fmt/ranges.h>

#include "heddle/op.h"
#include "ir/eval/eval.h"
#include "ir/rewrite.h"
#include "ir/rules/rule_builder.h"
#include "ir/unused.h"
#include "spmd/micro_mesh.h"
#include "spmd/micro_ops.h"

namespace heddle {

namespace {

Verdict divides(const Program& program, const Function& function, const MicroBatchOptions& options,
                const BatchDim& batch) {
  const std::vector<ValueId>& arguments = program.region(function.body).args;
  if (batch.argument >= arguments.size())
    return reason("the batch is said to lie along argument {}: @{} has {}", batch.argument,
                  options.function, arguments.size());
  const Type& type = program.type_of(arguments[batch.argument]);
  if (!type.is_tensor() || batch.dim >= type.rank())
    return reason("the batch is said to lie along dimension {} of argument {}, which is {}",
                  batch.dim, batch.argument, type.str());
  const std::int64_t size = type.shape[batch.dim];
  if (options.count >= 1 && size % options.count == 0) return yes();
  constexpr std::int64_t kMostNamed = 16;
  std::vector<std::int64_t> counts;
  for (std::int64_t n = 1; n <= size && counts.size() < kMostNamed; ++n)
    if (size % n == 0) counts.push_back(n);
  return reason(
      "{} micro-batches: the batch, dimension {} of argument {} ({}), has {} elements, which can "
      "be "
      "cut into {}",
      options.count, batch.dim, batch.argument, type.str(), size, fmt::join(counts, ", "));
}

// The dimension that is cut, in equal blocks; -1: whole.
Expected<int> cut_dim(const Split& split, const std::string& what) {
  int found = -1;
  for (std::size_t d = 0; d < split.dims.size(); ++d) {
    const DimSplit& dim = split.dims[d];
    if (dim.whole()) continue;
    if (found >= 0 || !dim.is_block() || dim.padded() != dim.size)
      return reason("{} would not be cut into equal blocks of its batch", what);
    found = static_cast<int>(d);
  }
  return found;
}

Verdict set_dims(const SpmdFunction& function, MicroBatches& cut) {
  for (std::size_t i = 0; i < function.arguments.size(); ++i) {
    HEDDLE_TRY(const int dim, cut_dim(function.arguments[i], fmt::format("argument {}", i)));
    cut.arguments.push_back(dim);
  }
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    HEDDLE_TRY(const int dim, cut_dim(function.results[i], fmt::format("result {}", i)));
    cut.results.push_back(dim);
  }
  return yes();
}

// Whether it adds up what all micro-batches have.
bool adds(const Program& program, const Op& op) {
  return op.def->collective == CollectiveKind::all_reduce && op.region_count == 1 &&
         known_reduction(program, program.regions(op)[0]) == ReduceOp::sum;
}

// What was written for an op stands on its line, and has a name that nobody wrote there.
std::string said_name(const Program& program, const Op& op) {
  if (op.def->collective == CollectiveKind::none) return std::string(op.def->short_name());
  const auto kind =
      op.region_count == 1 ? known_reduction(program, program.regions(op)[0]) : std::nullopt;
  return kind ? fmt::format("{} over the batch", name(*kind)) : "all of the batch";
}

Reason needs_whole_batch(const Program& program, const Op& op) {
  return located(program, op,
                 fmt::format("[{}] it needs the whole batch at once, so that the batch cannot be "
                             "cut into micro-batches",
                             said_name(program, op)));
}

// Sums over the axis are sums over turns; the place on the axis is the number of the turn.
class MicroWriter {
 public:
  MicroWriter(const Program& from, MicroBatches& cut)
      : cut_(cut), rewriter_(from, [this](Rewriter& r, const Op& op) { return replace(r, op); }) {}

  Expected<Program> write() {
    for (const Function& f : rewriter_.from.functions)
      HEDDLE_TRY_VOID(f.name == cut_.function ? meant(f) : rewriter_.copy(f));
    return rewriter_.finish();
  }

 private:
  Verdict meant(const Function& f) {
    Rewriter& r = rewriter_;
    Function head = f;
    for (TypeId& t : head.results) t = r.to.program.intern(r.from.type(t));
    head.loc = r.location(f.loc);
    head.body = r.to.program.add_region();
    for (ValueId v : r.from.region(f.body).args)
      r.define(v, {r.to, r.to.program.add_arg(head.body, r.to.program.intern(r.from.type_of(v)))});
    number_ = {r.to,
               r.to.program.add_arg(head.body, r.to.program.intern(Type::tensor(DType::ui32, {})))};
    if (!head.arg_attrs.empty()) head.arg_attrs.emplace_back();
    Verdict copied = yes();
    r.to.inside(head.body, [&] { copied = r.copy_ops(f.body); });
    r.to.program.functions.push_back(std::move(head));
    return copied;
  }

  Expected<bool> replace(Rewriter& r, const Op& op) {
    if (op.def->collective == CollectiveKind::none) return false;
    if (op.def->collective == CollectiveKind::partition_id) {
      r.define(r.from.result(op, 0), number_);
      return true;
    }
    if (adds(r.from, op)) {
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const Var mine = r.value(r.from.operands(op)[i]);
        r.define(r.from.result(op, i), r.to.op(kMicroSum, {mine}));
      }
      return true;
    }
    return needs_whole_batch(r.from, op);
  }

  MicroBatches& cut_;
  Var number_;
  Rewriter rewriter_;
};

// What would have to come from other micro-batches, other than a sum.
Verdict only_sums(const Spmd& spmd, const SpmdFunction& function) {
  for (const Communication& c : function.communications) {
    if (c.kind == MoveKind::all_reduce) continue;
    if (c.needed_by == kNone)
      return reason(
          "a result of @{} needs the whole batch at once, so that the batch cannot be cut "
          "into micro-batches",
          function.name);
    return needs_whole_batch(spmd.logical(), spmd.logical().op(c.needed_by));
  }
  return yes();
}

// Meshes that the text declares stay, and so does what it says of arguments and results.
Verdict keep_layouts(const Program& given, const Function& whole, MicroBatches& cut) {
  Program& program = cut.program;
  program.meshes = given.meshes;
  program.axes = given.axes;
  Function* function = nullptr;
  for (Function& f : program.functions)
    if (f.name == cut.function) function = &f;
  const auto as_part = [&](const ValueLayout& said, const Type& type,
                           const Type& part) -> Expected<LayoutId> {
    HEDDLE_TRY(const Sharding sharding, given.sharding(said, type));
    return program.add_layout(sharding, part);
  };
  const std::vector<ValueId> arguments = program.region(function->body).args;
  for (std::size_t i = 0; i < cut.arguments.size(); ++i) {
    const ValueId v = given.region(whole.body).args[i];
    if (const ValueLayout* said = given.layout_of(v)) {
      HEDDLE_TRY(const LayoutId layout,
                 as_part(*said, given.type_of(v), program.type_of(arguments[i])));
      program.set_layout(arguments[i], layout);
    }
  }
  for (std::size_t i = 0; i < whole.result_layouts.size(); ++i) {
    function->result_layouts.push_back(kNone);
    if (const ValueLayout* said = given.layout(whole.result_layouts[i])) {
      HEDDLE_TRY(function->result_layouts[i],
                 as_part(*said, given.type(whole.results[i]), program.type(function->results[i])));
    }
  }
  return yes();
}

Expected<MicroBatches> cut_along(const Program& given, const Function& whole,
                                 const MicroBatchOptions& options, const BatchDim& batch) {
  MicroBatches cut;
  cut.function = options.function;
  cut.count = options.count;
  cut.batch = batch;
  HEDDLE_TRY_VOID(divides(given, whole, options, batch));
  HEDDLE_TRY(const Program program, on_micro_mesh(given, options.count));
  SpmdOptions how;
  how.mesh = kMicroAxis;
  how.function = options.function;
  how.carried = options.carried;
  how.seeds =
      micro_seeds(program, *program.find_function(options.function), batch, options.carried);
  HEDDLE_TRY(const Spmd spmd, partition(program, how));
  const SpmdFunction& function = *spmd.find(options.function);
  HEDDLE_TRY_VOID(only_sums(spmd, function));
  HEDDLE_TRY_VOID(set_dims(function, cut));
  HEDDLE_TRY(cut.program, MicroWriter(spmd.program, cut).write());
  HEDDLE_TRY(cut.program, with_sums_outside(cut.program, cut));
  HEDDLE_TRY(cut.program, without_unused(cut.program));
  HEDDLE_TRY_VOID(keep_layouts(given, whole, cut));
  HEDDLE_TRY_VOID(micro_phases(cut.program, *cut.program.find_function(cut.function), cut));
  return cut;
}

}  // namespace

Expected<MicroBatches> cut_into_micro_batches(const Program& given,
                                              const MicroBatchOptions& options) {
  const Function* whole = given.find_function(options.function);
  if (whole == nullptr || whole->body == kNone)
    return reason("there is no function @{} with a body", options.function);
  if (options.batch) return cut_along(given, *whole, options, *options.batch);
  HEDDLE_TRY(const std::vector<BatchDim> likely,
             likely_batches(given, options.function, options.carried));
  // Where none can be cut, the likeliest says why.
  Expected<MicroBatches> first = cut_along(given, *whole, options, likely[0]);
  for (std::size_t i = 1; i < likely.size() && !first; ++i)
    if (auto other = cut_along(given, *whole, options, likely[i])) return other;
  return first;
}

}  // namespace heddle
