#include "frontend/jax_calls.h"

#include <algorithm>
#include <unordered_set>

#include "frontend/jax_ops.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "heddle/verify.h"
#include "ir/attr_access.h"
#include "ir/rewrite.h"

namespace heddle::frontend {

namespace {

bool is_token(const Program& program, ValueId v) {
  return program.type_of(v).kind == Type::Kind::token;
}

// @xla_python_cpu_callback, @xla_ffi_python_gpu_callback, @xla_ffi_partitioned_python_cpu_callback
bool calls_python(std::string_view target) {
  return target.starts_with("xla_") && target.ends_with("_callback") &&
         target.find("python") != std::string_view::npos;
}

// A call whose only effect is in Python: it gives nothing but tokens.
bool only_prints(const Program& program, const Op& op) {
  if (!calls_python(target_of(program, op))) return false;
  for (std::size_t i = 0; i < op.result_count; ++i)
    if (!is_token(program, program.result(op, i))) return false;
  return true;
}

bool is_approximate(const Program& program, const Op& op) {
  return target_of(program, op) == "ApproxTopK";
}

// The function that orders two elements.
std::string_view comparator_of(const Program& program, const Op& op) {
  const Attr* called = program.attr(op, "called_computations");
  const auto* list = called == nullptr ? nullptr : called->get<Attr::List>();
  return list == nullptr || list->size() != 1 ? "" : text_or(&list->front(), "");
}

bool is_order_token(const AttrDict& attrs) { return find_attr(attrs, "jax.token") != nullptr; }

bool is_ordered(const Function& f) {
  return !f.is_private && f.body != kNone &&
         (std::ranges::any_of(f.arg_attrs, is_order_token) ||
          std::ranges::any_of(f.result_attrs, is_order_token));
}

std::vector<bool> order_tokens(const std::vector<AttrDict>& attrs) {
  std::vector<bool> tokens;
  for (const AttrDict& of_one : attrs) tokens.push_back(is_order_token(of_one));
  return tokens;
}

class Calls {
 public:
  Calls(const Program& program, const ReadOptions& options)
      : program_(program), keep_callbacks_(options.keep_callbacks) {
    for (OpId id = 0; id < program.op_count(); ++id) {
      const Op& op = program.op(id);
      if (is_approximate(program, op)) comparators_.insert(comparator_of(program, op));
      others_ = others_ || is_lapack_call(program, op) || is_client_composite(program, op) ||
                is_sparse_product(program, op) || is_sink(program, op) ||
                is_sharding_question(program, op);
      if (options.keep_callbacks || !only_prints(program, op)) continue;
      if (callbacks_++ == 0) first_ = program.where(op.loc);
    }
  }

  bool any() const {
    return callbacks_ > 0 || !comparators_.empty() || others_ ||
           std::ranges::any_of(program_.functions, is_ordered);
  }

  Expected<Program> replace() {
    Rewriter rewriter(program_, [&](Rewriter& r, const Op& op) -> Expected<bool> {
      if (!keep_callbacks_ && only_prints(program_, op)) return leave_out(r, op);
      if (is_approximate(program_, op)) return sort(r, op);
      if (is_lapack_call(program_, op)) return lapack_routine(r, op);
      if (is_client_composite(program_, op)) return client_op(r, op);
      if (is_sparse_product(program_, op)) return sparse_product(r, op);
      if (is_sink(program_, op)) return true;
      if (is_sharding_question(program_, op)) return pass_value_on(r, op);
      return false;
    });
    for (const Function& f : program_.functions) {
      if (comparators_.contains(f.name)) continue;
      HEDDLE_TRY_VOID(is_ordered(f) ? copy_without_tokens(rewriter, f) : rewriter.copy(f));
    }
    if (callbacks_ > 0)
      warn(
          "{}: {} into Python (jax.debug.print, jax.debug.callback): the text does not hold the "
          "Python function, so nothing is printed",
          first_,
          callbacks_ == 1 ? "left out a call" : fmt::format("left out {} calls", callbacks_));
    return rewriter.finish();
  }

 private:
  // What comes in order after the call comes after what was before it.
  bool leave_out(Rewriter& r, const Op& op) const {
    Var before;
    for (ValueId v : program_.operands(op))
      if (is_token(program_, v)) before = r.value(v);
    for (std::size_t i = 0; i < op.result_count; ++i)
      r.define(program_.result(op, i),
               before.none() ? r.to.op("create_token", {}, program_.type_of(program_.result(op, i)))
                             : before);
    return true;
  }

  // Operands are the values, their indices, and of each what lies beyond the end.
  Expected<bool> sort(Rewriter& r, const Op& op) const {
    const Function* comparator = program_.find_function(comparator_of(program_, op));
    const Attr* config = program_.attr(op, "mhlo.backend_config");
    const std::int64_t dim = integer_or(field(config, "reduction_dim"), -1);
    if (comparator == nullptr || comparator->body == kNone || op.operand_count < 2 ||
        op.operand_count != 2 * op.result_count)
      return reason("{}: @ApproxTopK needs a comparator and values with their indices",
                    program_.where(op.loc));
    Vars in;
    std::vector<Type> types, scalars;
    for (std::size_t i = 0; i < op.result_count; ++i) {
      in.push_back(r.value(program_.operands(op)[i]));
      types.push_back(in.back().type());
      for (int side = 0; side < 2; ++side) scalars.push_back(Type::tensor(types[i].dtype, {}));
    }
    if (dim < 0 || dim >= static_cast<std::int64_t>(types[0].rank()))
      return reason("{}: @ApproxTopK reduces dimension {} of {}", program_.where(op.loc), dim,
                    types[0].str());
    const Region& body = program_.region(comparator->body);
    const bool fits = std::ranges::equal(
        body.args, scalars, [&](ValueId v, const Type& t) { return program_.type_of(v) == t; });
    if (!fits)
      return reason("{}: @{} does not compare elements of {}", program_.where(op.loc),
                    comparator->name, types[0].str());
    Verdict copied = yes();
    const RegionId order = r.to.region(scalars, [&](const Vars& args) -> Vars {
      for (std::size_t i = 0; i < args.size(); ++i) r.define(body.args[i], args[i]);
      copied = r.copy_ops(comparator->body, true);
      return copied ? r.operands(program_.op(body.ops.back())) : Vars{};
    });
    HEDDLE_TRY_VOID(copied);
    Vars sorted = r.to.ops("sort", in, types,
                           {{"dimension", {Attr::Integer{dim}}}, {"is_stable", {true}}}, {order});
    for (std::size_t i = 0; i < sorted.size(); ++i)
      sorted[i] = r.to.slice(sorted[i], Builder::Dims(types[i].rank(), 0),
                             program_.type_of(program_.result(op, i)).shape);
    if (!r.to.failed()) r.define_results(op, sorted);
    return true;
  }

  // JAX passes the tokens itself; nobody else has any.
  Verdict copy_without_tokens(Rewriter& r, const Function& f) const {
    Program& to = r.to.program;
    Function head = f;
    head.loc = r.location(f.loc);
    head.body = to.add_region();
    head.arg_attrs.clear();
    head.results.clear(), head.result_attrs.clear(), head.result_layouts.clear();
    const Region& body = program_.region(f.body);
    std::vector<ValueId> tokens;
    for (std::size_t i = 0; i < body.args.size(); ++i) {
      const ValueId v = body.args[i];
      if (is_order_token(f.arg_attrs[i])) {
        tokens.push_back(v);
        continue;
      }
      const ValueId arg = to.add_arg(head.body, to.intern(program_.type_of(v)));
      to.set_layout(arg, r.layout(program_.value(v).layout));
      r.define(v, {r.to, arg});
      head.arg_attrs.push_back(f.arg_attrs[i]);
    }
    Verdict copied = yes();
    r.to.inside(head.body, [&] {
      for (ValueId v : tokens) r.define(v, r.to.op("create_token", {}, program_.type_of(v)));
      copied = r.copy_ops(f.body, true);
      if (!copied) return;
      const Vars all = r.operands(program_.op(body.ops.back()));
      Vars kept;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_order_token(f.result_attrs[i])) continue;
        kept.push_back(all[i]);
        head.results.push_back(to.intern(program_.type(f.results[i])));
        head.result_attrs.push_back(f.result_attrs[i]);
        if (!f.result_layouts.empty()) head.result_layouts.push_back(r.layout(f.result_layouts[i]));
      }
      (void)r.to.ops("func.return", kept, {});
    });
    HEDDLE_TRY_VOID(copied);
    to.functions.push_back(std::move(head));
    return yes();
  }

  const Program& program_;
  bool keep_callbacks_, others_ = false;
  std::unordered_set<std::string_view> comparators_;
  std::size_t callbacks_ = 0;
  std::string first_;  // where the first callback stands
};

}  // namespace

Expected<Program> without_jax_calls(Program program, const ReadOptions& options) {
  if (const Function* main = program.find_function("main"); main && options.tokens)
    *options.tokens = {order_tokens(main->arg_attrs), order_tokens(main->result_attrs)};
  Calls calls(program, options);
  if (!calls.any()) return program;
  HEDDLE_TRY_VOID(verify(program));
  return calls.replace();
}

}  // namespace heddle::frontend
