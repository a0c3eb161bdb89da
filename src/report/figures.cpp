#include "heddle/cost.h"
#include "heddle/machine_report.h"
#include "report/json.h"

namespace heddle {

std::string FiguresReport::text(const Style&) const {
  const MachineFigures& m = figures;
  std::string text = machine_name() + "\n";
  const auto row = [&](std::string_view what, double value, std::string_view unit) {
    text += fmt::format("  {:<34}{:>8.1f} {}\n", what, value, unit);
  };
  row("memory, copied by all cores", m.copy_rate / 1e9, "GB/s");
  row("memory, copied by one core", m.worker_copy_rate / 1e9, "GB/s");
  row("cache, copied by one core", m.near_rate / 1e9, "GB/s");
  row("additions and products, one core", m.light_rate / 1e9, "billion a second");
  row("exponentials, one core", m.heavy_rate / 1e9, "billion a second");
  row("start and end of a kernel", m.launch_seconds * 1e6, "us");
  for (const auto& [what, times] : by_onednn) row(what + " by oneDNN", times, "times as fast");
  if (!cluster) return text;
  const DeviceFigures& d = cluster->device;
  text +=
      fmt::format("each of {} devices at the same time ({})\n", cluster->devices(), cluster->about);
  row("matrix products", d.compute_rate / 1e9, "GFLOP/s");
  row("memory, copied", d.memory_rate / 1e9, "GB/s");
  row("a kernel or call beside its work", d.launch * 1e6, "us");
  row("a run beside its kernels", d.start * 1e6, "us");
  if (cluster->devices() == 1) return text;
  row("a message to another", cluster->levels[0].link.latency * 1e6, "us");
  row("bytes from another", cluster->levels[0].link.bandwidth / 1e9, "GB/s");
  return text;
}

std::string FiguresReport::json() const {
  const MachineFigures& m = figures;
  report::Json json = {{"machine", machine_name()},
                       {"workers", m.workers},
                       {"near_cache_bytes", m.near_cache},
                       {"far_cache_bytes", m.far_cache},
                       {"copy_bytes_per_second", m.copy_rate},
                       {"worker_copy_bytes_per_second", m.worker_copy_rate},
                       {"near_bytes_per_second", m.near_rate},
                       {"light_per_second", m.light_rate},
                       {"heavy_per_second", m.heavy_rate},
                       {"launch_seconds", m.launch_seconds},
                       {"vector_bytes", m.vector_bytes}};
  for (const auto& [what, times] : by_onednn) json["by_onednn"][what] = times;
  if (cluster) json["cluster"] = parse_json(cluster_text(*cluster));
  return report::json_text(json);
}

}  // namespace heddle
