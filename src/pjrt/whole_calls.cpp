#include "pjrt/whole_calls.h"

#include <unordered_set>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/call_graph.h"
#include "ir/call_parts.h"
#include "pjrt/custom_call.h"

namespace heddle::pjrt {

namespace {

// Custom calls that each device makes for itself: those in manual computations, and in functions
// that these call.
class OwnCalls {
 public:
  explicit OwnCalls(const Program& program) : program_(program), graph_(program) {
    for (const Function& f : program.functions)
      if (f.body != kNone) visit(f.body, false);
  }

  bool has(const Op& op) const { return own_.contains(&op); }

 private:
  void visit(RegionId region, bool own) {
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      if (own && op.def->form == Form::custom_call) own_.insert(&op);
      const bool inside = own || op.def->control == Control::manual;
      for (RegionId inner : program_.regions(op)) visit(inner, inside);
      const Function* callee = inside ? graph_.callee(op) : nullptr;
      if (callee != nullptr && callee->body != kNone && seen_.insert(callee).second)
        visit(callee->body, true);
    }
  }

  const Program& program_;
  CallGraph graph_;
  std::unordered_set<const Op*> own_;
  std::unordered_set<const Function*> seen_;
};

// What JAX makes of debug.callback(..., partitioned=True).
bool wants_parts(const Program& program, const Op& op) {
  return text_or(program.attr(op, "call_target_name"), "") ==
         "xla_ffi_partitioned_python_cpu_callback";
}

}  // namespace

Expected<Program> mark_whole_calls(const Program& program) {
  const OwnCalls own(program);
  Rewriter rewriter(program, [&](Rewriter& r, const Op& op) -> Expected<bool> {
    if (op.def->form != Form::custom_call || own.has(op)) return false;
    AttrDict attrs = program.attrs_of(op);
    const bool by_parts = op.result_count == 0 && wants_parts(program, op);
    attrs.push_back({by_parts ? std::string(kPartsAttr) : kOnce, {Attr::Unit{}}});
    write_custom_call(r, op, std::move(attrs));
    return true;
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle::pjrt
