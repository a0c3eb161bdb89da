// heddle calibrate: measures the machine, so that plans are made for it.
#include "device/cpu/calibrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cache_directory.h"
#include "base/file.h"
#include "commands.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

void write_report(const MachineFigures& m) {
  write_json(Json{{"machine", host_name()},
                  {"workers", m.workers},
                  {"near_cache_bytes", m.near_cache},
                  {"far_cache_bytes", m.far_cache},
                  {"copy_bytes_per_second", m.copy_rate},
                  {"near_bytes_per_second", m.near_rate},
                  {"light_per_second", m.light_rate},
                  {"heavy_per_second", m.heavy_rate},
                  {"launch_seconds", m.launch_seconds},
                  {"vector_bytes", m.vector_bytes}});
}

void write_text(const MachineFigures& m) {
  std::string text = host_name() + "\n";
  auto row = [&](std::string_view what, double value, std::string_view unit) {
    text += fmt::format("  {:<34}{:>8.1f} {}\n", what, value, unit);
  };
  row("memory, copied by all cores", m.copy_rate / 1e9, "GB/s");
  row("cache, copied by one core", m.near_rate / 1e9, "GB/s");
  row("additions and products, one core", m.light_rate / 1e9, "billion a second");
  row("exponentials, one core", m.heavy_rate / 1e9, "billion a second");
  row("start and end of a kernel", m.launch_seconds * 1e6, "us");
  write_stdout(text);
}

}  // namespace

void add_calibrate(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("calibrate", "Measure this machine, so that plans are made for it");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print the figures as JSON");
  command->callback([json] {
    // Found before a second of measuring.
    if (const auto folder = cache_directory()) (void)can_write_into(*folder).value();
    const MachineFigures figures = calibrate().value();
    keep_figures(figures).value();
    if (*json) return write_report(figures);
    write_text(figures);
    write_stdout(fmt::format("kept in {}\n", cache_directory()->string()));
  });
}

}  // namespace heddle::cli
