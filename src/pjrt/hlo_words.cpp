#include "pjrt/hlo_words.h"

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "pjrt/custom_call.h"

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
    AttrDict attrs;
    attrs.reserve(2);
    attrs.push_back({"call_target_name", {target_of(program, op)}});
    if (const Attr* options = program.attr(op, "options"))
      attrs.push_back({"mhlo.backend_config", *options});
    write_custom_call(r, op, std::move(attrs));
    return true;
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

}  // namespace heddle::pjrt
