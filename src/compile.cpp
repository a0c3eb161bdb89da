// The pipeline, from top to bottom.
#include "heddle/compile.h"

#include <chrono>

#include "compile.h"
#include "heddle/inline.h"
#include "heddle/log.h"
#include "heddle/lower.h"
#include "heddle/op.h"
#include "heddle/simplify.h"
#include "heddle/verify.h"
#include "kernel/lower_group.h"
#include "runtime/assemble.h"

namespace heddle {

using namespace runtime;

namespace {

// Only the entry is public, so that nothing else is compiled.
Expected<Program> with_entry_only(const Program& program, const std::string& entry) {
  const Function* wanted = program.find_function(entry);
  if (wanted == nullptr) return reason("{} has no function @{}", program.file, entry);
  if (wanted->body == kNone)
    return reason("{}: function @{} is only declared: it has no body", program.where(wanted->loc),
                  entry);
  Program copy = program;
  for (Function& f : copy.functions) f.is_private = f.name != entry;
  return copy;
}

std::size_t number_of(const Program& program, const std::string& entry) {
  return static_cast<std::size_t>(program.find_function(entry) - program.functions.data());
}

CompiledProgram interpreted(const Program& program, const std::string& entry, std::string why) {
  CompiledProgram whole;
  whole.program = program;
  whole.function = number_of(program, entry);
  whole.interpreted_because = std::move(why);
  return whole;
}

// Says what each stage took.
class Stages {
 public:
  explicit Stages(const CompileOptions& options) : options_(options) {}
  void done(std::string_view stage) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    log(kLogPlans, "compile: {} took {:.1f} ms", stage, seconds * 1e3);
    if (options_.report) options_.report->stages.push_back({std::string(stage), seconds});
    start_ = now;
  }

 private:
  const CompileOptions& options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Expected<Executable> compile(const Program& source, const CompileOptions& options) {
  Device& device = options.device != nullptr ? *options.device : default_device();
  const AssembleOptions assembly{.donated = options.donated, .memory_limit = options.memory_limit};
  Stages stages(options);
  const auto show = [&](std::string_view stage, const Program& program) {
    stages.done(stage);
    if (options.on_program) options.on_program(stage, program);
  };
  HEDDLE_TRY(Program program, with_entry_only(source, options.entry));
  HEDDLE_TRY_VOID(verify(program));
  if (std::string why = why_interpreted(program, options.entry); !why.empty())
    return assemble(interpreted(source, options.entry, std::move(why)), assembly);
  stages.done("verify");

  auto flat = inline_calls(program);
  if (!flat) return assemble(interpreted(source, options.entry, flat.reason()), assembly);
  program = *std::move(flat);
  show("inline", program);
  const auto is_computed_as_it_is = [&](const OpDef& def) {
    return def.scalar != ScalarOp::none || device.has_call(def);
  };
  HEDDLE_TRY(program,
             lower_chlo(program, {.keep = is_computed_as_it_is, .expand_random_bits = true}));
  HEDDLE_TRY(program, lower_complex(program));
  show("lower", program);
  HEDDLE_TRY(program, simplify(program));
  show("simplify", program);

  CompiledProgram compiled;
  compiled.program = std::move(program);
  compiled.device = &device;
  compiled.function = number_of(compiled.program, options.entry);
  if (options.report)
    options.report->ops = compiled.program.region(compiled.entry().body).ops.size();
  StitchOptions stitch = options.stitch;
  stitch.calls = &device;
  stitch.can_lower = [&](const Program& p, const StitchGroup& group) {
    return lower_group(p, group, stitch.machine).ok();
  };
  HEDDLE_TRY_VOID(stitch_regions(compiled, compiled.entry().body, stitch));
  stages.done("stitch");
  HEDDLE_TRY_VOID(make_kernels(compiled, options, [&] { stages.done("kernels"); }));
  stages.done("code");
  auto executable = assemble(std::move(compiled), assembly);
  stages.done("memory");
  return executable;
}

}  // namespace heddle
