#include "heddle/device_memory.h"

#include <fmt/format.h>

#include "base/text.h"
#include "heddle/compile.h"
#include "heddle/schedule.h"

namespace heddle {
namespace {

std::string size(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

std::string DeviceMemory::text() const {
  return fmt::format("{} for arguments and {} for values at the peak, {}", size(arguments),
                     size(values), planned ? "as compiled" : "op by op");
}

DeviceMemory device_memory(const Spmd& spmd, const SpmdFunction& function,
                           const Executable& executable) {
  DeviceMemory memory{.arguments = function.argument_bytes, .peak = executable.peak()};
  memory.planned = executable.interpreted_because().empty();
  memory.values =
      memory.planned
          ? memory.peak.bytes
          : peak_bytes(spmd.program, *spmd.program.find_function(function.name)) - memory.arguments;
  return memory;
}

Expected<DeviceMemory> memory_when_compiled(const Spmd& spmd, const SpmdFunction& function) {
  Target target;
  target.options.entry = function.name;
  target.options.machine_code = false;
  target.ranks = true;  // a device is a machine of its own
  // What the next run takes from this one lies in the memory of what it replaces.
  target.options.donated.assign(function.arguments.size(), false);
  for (std::size_t i = 0; i < spmd.logical().functions.size(); ++i)
    if (const auto& found = spmd.decided->functions[i].found;
        found && spmd.logical().functions[i].name == function.name)
      for (const Carried& c : found->carried) target.options.donated[c.argument] = true;
  HEDDLE_TRY(const Executable executable, compile_distributed(spmd, target));
  return device_memory(spmd, function, executable);
}

// Whether a search found the plan, and without a limit of its own.
static bool is_searched(const Spmd& spmd, const SpmdFunction& function) {
  for (std::size_t i = 0; i < spmd.logical().functions.size(); ++i)
    if (const auto& found = spmd.decided->functions[i].found;
        found && spmd.logical().functions[i].name == function.name)
      return found->memory == INT64_MAX;
  return false;
}

Verdict want_memory(const DeviceMemory& memory, std::int64_t limit, const std::string& whose,
                    const Spmd& spmd, const SpmdFunction& function) {
  if (memory.needed() <= limit) return yes();
  const std::string& where = memory.peak.where;
  std::string text = fmt::format(
      "{}: memory: @{} needs {} on each of {} devices: {}; {}\n  split it over more devices or "
      "axes, {}or give it more memory",
      where.empty() ? spmd.program.file : where, function.name, size(memory.needed()),
      spmd.program.meshes[function.mesh].mesh.devices(), memory.text(), whose,
      is_searched(spmd, function)
          ? fmt::format("have the search keep within it (`fix` memory={}B), ", limit)
          : "");
  if (!memory.peak.largest.empty()) text += "; the largest values at the peak are";
  for (const std::string& line : memory.peak.largest) text += "\n  " + line;
  return Reason{std::move(text)};
}

}  // namespace heddle
