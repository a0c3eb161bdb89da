#include "heddle/device_memory.h"

#include <fmt/format.h>

#include "base/text.h"
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

Verdict want_memory(const DeviceMemory& memory, std::int64_t limit, const std::string& whose,
                    const Spmd& spmd, const SpmdFunction& function) {
  if (memory.needed() <= limit) return yes();
  const std::string& where = memory.peak.where;
  std::string text = fmt::format(
      "{}: memory: @{} needs {} on each of {} devices: {}; {}\n  split it over more devices or "
      "axes, or give it more memory",
      where.empty() ? spmd.program.file : where, function.name, size(memory.needed()),
      spmd.program.meshes[function.mesh].mesh.devices(), memory.text(), whose);
  if (!memory.peak.largest.empty()) text += "; the largest values at the peak are";
  for (const std::string& line : memory.peak.largest) text += "\n  " + line;
  return Reason{std::move(text)};
}

}  // namespace heddle
