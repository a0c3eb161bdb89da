#include "compile/plan_cache.h"

#include "base/build_id.h"
#include "base/cache_directory.h"
#include "compile/plan_bytes.h"
#include "heddle/device.h"
#include "heddle/hash.h"
#include "heddle/log.h"
#include "ir/program_bytes.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostConstants = 16 << 20;  // bytes: each file has them again

std::int64_t bytes_of_constants(const Program& program) {
  std::int64_t bytes = 0;
  for (OpId id = 0; id < program.op_count(); ++id)
    for (const NamedAttr& attr : program.attrs_of(program.op(id)))
      if (const auto* array = attr.value.get<Array>(); array != nullptr && !array->is_splat())
        bytes += array->type().bytes();
  return bytes;
}

// Field by field: a new one does not compile until it is listed here.
void write_figures(const MachineFigures& machine, ByteWriter& to) {
  const auto& [workers, near_cache, far_cache, copy_rate, worker_copy_rate, near_rate,
               launch_seconds, light_rate, heavy_rate, rounding, vector_bytes, counts_all, sweeps] =
      machine;
  for (std::int64_t number :
       {std::int64_t{workers}, near_cache, far_cache, std::int64_t{vector_bytes}})
    to.integer(number);
  for (double number :
       {copy_rate, worker_copy_rate, near_rate, launch_seconds, light_rate, heavy_rate, rounding})
    to.real(number);
  to.number((counts_all ? 1 : 0) + (sweeps ? 2 : 0));
}

std::string name_of(const std::string& key) {
  return fmt::format("plan_{:016x}{:016x}", hash_combine(1, key), hash_combine(2, key));
}

}  // namespace

PlanCache::PlanCache(const std::filesystem::path& directory)
    : files_(directory, kMostBytesOfCode) {}

const PlanCache* PlanCache::shared() {
  static const std::unique_ptr<const PlanCache> cache = [] {
    const auto directory = cache_directory();
    return directory ? std::make_unique<const PlanCache>(*directory) : nullptr;
  }();
  return cache.get();
}

std::optional<std::string> PlanCache::key_of(const runtime::CompiledProgram& compiled,
                                             const StitchOptions& options) {
  const Program& program = compiled.program;
  const auto& [fuse, machine, calls, explain, can_lower] = options;
  const std::string device = calls == nullptr ? "" : calls->plans_depend_on();
  if (device.empty() || build_id().empty() || explain) return {};
  if (program.op_count() < kLeastOpsOfPlan || bytes_of_constants(program) > kMostConstants)
    return {};
  ByteWriter key;
  key.text(build_id());
  key.text(device);
  key.number(fuse ? 1 : 0);
  key.number(compiled.function);
  write_figures(machine, key);
  write_program(program, key);
  return key.take();
}

bool PlanCache::find(const std::string& key, runtime::CompiledProgram& compiled) const {
  const auto bytes = files_.read(name_of(key));
  if (!bytes) return false;
  ByteReader file(*bytes);
  const std::string_view kept_for = file.text(), units = file.text();
  // Another key with the same name, which hardly ever is.
  if (!file.is_whole() || kept_for != key) return false;
  if (const Verdict read = read_units(units, compiled); !read) {
    log(kLogSteps, "a plan in the cache is left alone: {}", read.reason());
    return false;
  }
  log(kLogPlans, "compile: the plan is from the cache");
  return true;
}

void PlanCache::keep(const std::string& key, const runtime::CompiledProgram& compiled) const {
  ByteWriter file, units;
  write_units(compiled, units);
  file.text(key);
  file.text(units.bytes());
  files_.write(name_of(key), file.bytes());
}

}  // namespace heddle
