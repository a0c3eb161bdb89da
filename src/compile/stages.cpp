#include "compile/stages.h"

#include <algorithm>
#include <array>

#include "compile.h"
#include "compile/distribute.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "heddle/signature.h"
#include "heddle/verify.h"

namespace heddle {

namespace {

// mhlo.num_replicas and mhlo.num_partitions of a module; 1 where it says nothing.
std::int64_t module_number(const Program& program, std::string_view attr) {
  const Attr* found = find_attr(program.attrs, attr);
  const auto* number = found == nullptr ? nullptr : found->get<Attr::Integer>();
  return number == nullptr ? 1 : number->value;
}

// In their order; spmd is on a mesh only.
constexpr std::array kStages = {"verify",   "inline", "client",  "spmd", "schedule", "lower",
                                "simplify", "stitch", "kernels", "code", "memory"};

// The last place where there is no such stage.
std::size_t place_of(std::string_view stage) {
  std::size_t at = 0;
  while (at + 1 < kStages.size() && stage != kStages[at]) ++at;
  return at;
}

}  // namespace

std::string next_stage(std::string_view done) {
  if (done.empty()) return kStages[0];
  const std::string next = kStages[std::min(place_of(done) + 1, kStages.size() - 1)];
  return next == "spmd" ? "spmd, lower" : next;  // it takes no time on one device
}

void Stages::done(std::string_view stage) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - start_).count();
  log(kLogPlans, "compile: {} took {:.1f} ms", stage, seconds * 1e3);
  if (options_.report) options_.report->stages.push_back({std::string(stage), seconds});
  if (options_.progress) options_.progress->done = kStages[place_of(stage)];
  start_ = now;
  if (options_.stop && options_.stop())
    throw Error(fmt::format("compiling was stopped after the stage {}", stage));
}

void Stages::done(std::string_view stage, const Program& program) {
  const Verdict sound = verify(program);
  HEDDLE_CHECK(sound, "after {}: {}", stage, sound.reason());
  done(stage);
  if (options_.on_program) options_.on_program(stage, program);
}

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

Local on_one_device(const Program& program, const Target& target) {
  const Function& f = *program.find_function(target.options.entry);
  Local local{program,
              Placement::on_one_device(argument_types(program, f), result_types(program, f)),
              target.options.memory_limit};
  local.placement.replicas = module_number(program, "mhlo.num_replicas");
  local.placement.partitions = module_number(program, "mhlo.num_partitions");
  local.interpreted_because = why_interpreted(program, f.name);
  return local;
}

Local on_mesh(const Spmd& spmd, const SpmdFunction& function) {
  Local local{spmd.program, placement_of(spmd, function)};
  local.interpreted_because = why_interpreted(spmd.program, function.name);
  return local;
}

bool names_mesh(const Program& program, const Target& target) {
  const GivenLayouts& given = target.layouts;
  const bool says_layouts =
      !given.shards.empty() || !given.seeds.empty() || given.closed || given.search > 0;
  const bool has_own = target.mesh == kOwnMesh && !program.meshes.empty();
  return says_layouts || has_own || (!target.mesh.empty() && target.mesh != kOwnMesh);
}

Device& device_of(const Target& target) {
  return target.options.device != nullptr ? *target.options.device : default_device();
}

bool stays_whole(const OpDef& def, const DeviceCalls& device) {
  const bool computed = def.scalar != ScalarOp::none || device.has_call(def);
  return computed && def.index_rule != nullptr;
}

runtime::AssembleOptions assembly(const Local& local, const Target& target) {
  runtime::AssembleOptions options{target.options.donated, local.memory_limit, local.placement,
                                   target.options.overlap};
  for (const Carried& c : target.carried) {
    if (c.argument >= options.donated.size()) options.donated.resize(c.argument + 1, false);
    options.donated[c.argument] = true;
  }
  return options;
}

Expected<Executable> interpreted(const Local& local, const Target& target) {
  runtime::CompiledProgram whole;
  whole.program = local.program;
  whole.device = &device_of(target);
  const Function* entry = whole.program.find_function(target.options.entry);
  whole.function = static_cast<std::size_t>(entry - whole.program.functions.data());
  whole.interpreted_because = local.interpreted_because;
  return runtime::assemble(std::move(whole), assembly(local, target));
}

}  // namespace heddle
