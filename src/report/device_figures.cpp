// What was measured of a device, for people and scripts.
#include "compile/calibrate_device.h"
#include "heddle/machine_report.h"
#include "report/json.h"

namespace heddle {

DeviceFiguresReport device_figures(const MeasuredDevice& measured) {
  const MachineFigures& m = measured.figures;
  DeviceFiguresReport report{measured.name, measured.model, m, {}};
  const auto add = [&](std::string what, std::string key, std::string unit, double value) {
    report.rates.push_back({std::move(what), std::move(key), std::move(unit), value});
  };
  add("memory, read and written", "copy_bytes_per_second", "GB/s", m.copy_rate);
  add("from host memory", "to_device_bytes_per_second", "GB/s", measured.to_device_rate);
  add("to host memory", "from_device_bytes_per_second", "GB/s", measured.from_device_rate);
  add("a small kernel", "launch_seconds", "us", m.launch_seconds);
  add("until the host knows of it", "barrier_seconds", "us", measured.barrier_seconds);
  add("additions and products", "light_per_second", "billion a second", m.light_rate * m.workers);
  add("exponentials", "heavy_per_second", "billion a second", m.heavy_rate * m.workers);
  for (const auto& [dtype, rate] : measured.matrix_rates)
    add(fmt::format("matrix products, {}", name(dtype)),
        fmt::format("matrix_{}_per_second", name(dtype)), "TFLOP/s", rate);
  return report;
}

std::string DeviceFiguresReport::text(const Style&) const {
  std::string text = fmt::format("{} ({})\n", model, name);
  for (const Rate& rate : rates) {
    const double scale = rate.unit == "us" ? 1e6 : rate.unit == "TFLOP/s" ? 1e-12 : 1e-9;
    text += fmt::format("  {:<34}{:>10.1f} {}\n", rate.what, rate.value * scale, rate.unit);
  }
  return text;
}

std::string DeviceFiguresReport::json() const {
  report::Json json = {{"device", name}, {"machine", model}, {"workers", figures.workers}};
  for (const Rate& rate : rates) json[rate.key] = rate.value;
  return report::json_text(json);
}

}  // namespace heddle
