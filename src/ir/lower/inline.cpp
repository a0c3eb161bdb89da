#include "heddle/inline.h"

#include <unordered_set>

#include "heddle/op.h"
#include "ir/call_graph.h"
#include "ir/eval/eval.h"
#include "ir/rewrite.h"

namespace heddle {

namespace {

// All functions that an attribute names, however deep in lists.
void collect_symbols(const Attr& attr, std::unordered_set<std::string>& names) {
  if (const auto* symbol = attr.get<Attr::Symbol>()) names.insert(symbol->name);
  if (const auto* list = attr.get<Attr::List>())
    for (const Attr& item : *list) collect_symbols(item, names);
  if (const auto* fields = attr.get<Attr::Struct>())
    for (const NamedAttr& item : fields->fields) collect_symbols(item.value, names);
}

// The functions that stay, in order: public ones, those that only a declaration stands for, and
// those that an op needs by name for more than a call, such as the programs of run_parallel.
std::vector<const Function*> lasting(const Program& program, const CallGraph& graph) {
  std::unordered_set<std::string> named;
  for (OpId id = 0; id < program.op_count(); ++id) {
    const Op& op = program.op(id);
    if (graph.callee(op) == nullptr)
      for (const NamedAttr& a : program.attrs_of(op)) collect_symbols(a.value, named);
  }
  std::vector<const Function*> kept;
  bool any_public = false;
  for (const Function& f : program.functions) any_public |= !f.is_private;
  for (const Function& f : program.functions)
    if (!f.is_private || f.body == kNone || named.contains(f.name) || !any_public)
      kept.push_back(&f);
  return kept;
}

class Inliner {
 public:
  explicit Inliner(const CallGraph& graph) : graph_(graph) {}

  Expected<bool> operator()(Rewriter& rewriter, const Op& op) const {
    if (op.def->control == Control::named) return inline_named(rewriter, op);
    const Function* f = graph_.callee(op);
    if (!f || f->body == kNone) return false;
    const Region& body = rewriter.from.region(f->body);
    const Vars arguments = rewriter.operands(op);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      rewriter.define(body.args[i], constrained(rewriter, arguments[i],
                                                rewriter.from.value(body.args[i]).layout));
    HEDDLE_TRY_VOID(rewriter.copy_called(f->body, op.loc));
    Vars results = rewriter.operands(rewriter.from.op(body.ops.back()));
    for (std::size_t i = 0; i < f->result_layouts.size(); ++i)
      results[i] = constrained(rewriter, results[i], f->result_layouts[i]);
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i] = constrained(rewriter, results[i],
                               rewriter.from.value(rewriter.from.result(op, i)).layout);
    rewriter.define_results(op, results);
    return true;
  }

 private:
  static Expected<bool> inline_named(Rewriter& rewriter, const Op& op) {
    const Program& from = rewriter.from;
    const RegionId region = from.regions(op)[0];
    const Region& body = from.region(region);
    const auto wanted = from.operand_layouts(op);
    const Vars arguments = rewriter.operands(op);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      rewriter.define(body.args[i],
                      constrained(rewriter, arguments[i], i < wanted.size() ? wanted[i] : kNone));
    HEDDLE_TRY_VOID(rewriter.copy_called(region, op.loc));
    Vars results = rewriter.operands(from.op(body.ops.back()));
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i] = constrained(rewriter, results[i], from.value(from.result(op, i)).layout);
    rewriter.define_results(op, results);
    return true;
  }

  // What a function says of where its arguments and results lie stays as a constraint.
  static Var constrained(Rewriter& rewriter, Var value, LayoutId layout) {
    if (layout == kNone) return value;
    const Var kept = rewriter.to.op("sdy.sharding_constraint", {value}, value.type());
    if (kept.none()) return value;
    rewriter.to.program.set_layout(kept.id(),
                                   rewriter.to.program.intern(*rewriter.from.layout(layout)));
    return kept;
  }

  const CallGraph& graph_;
};

}  // namespace

Expected<Program> inline_calls(const Program& program, std::size_t most_ops) {
  const CallGraph graph(program);
  HEDDLE_TRY_VOID(graph.without_circles());
  Rewriter rewriter(program, Inliner(graph), most_ops);
  for (const Function* f : lasting(program, graph)) HEDDLE_TRY_VOID(rewriter.copy(*f));
  return rewriter.finish();
}

}  // namespace heddle
