#include "pjrt/hlo_words.h"

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/rewrite.h"

namespace heddle::pjrt {

namespace {

constexpr std::string_view kOwn = "heddle.";

// "heddle.lapack.potrf"; routines differ more than other attributes do.
std::string target_of(const Program& program, const Op& op) {
  const std::string_view routine = text_or(program.attr(op, "routine"), "");
  return std::string(op.def->name) + (routine.empty() ? "" : ".") + std::string(routine);
}

}  // namespace

Expected<Program> in_hlo_words(const Program& program) {
  Rewriter rewriter(program, [&](Rewriter& r, const Op& op) -> Expected<bool> {
    if (!std::string_view(op.def->name).starts_with(kOwn)) return false;
    std::vector<Type> types;
    for (std::size_t i = 0; i < op.result_count; ++i)
      types.push_back(program.type_of(program.result(op, i)));
    AttrDict attrs;
    attrs.reserve(2);
    attrs.push_back({"call_target_name", {target_of(program, op)}});
    if (const Attr* options = program.attr(op, "options"))
      attrs.push_back({"mhlo.backend_config", *options});
    const Vars results = r.to.ops("custom_call", r.operands(op), types, std::move(attrs));
    if (!r.to.failed()) r.define_results(op, results);
    return true;
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle::pjrt
