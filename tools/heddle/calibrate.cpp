// heddle calibrate: measures the machine, so that plans are made for it.
#include "device/cpu/calibrate.h"

#include <memory>

#include "base/cache_directory.h"
#include "base/cores.h"
#include "base/file.h"
#include "commands.h"
#include "compile/calibrate_device.h"
#include "compile/calibrate_mesh.h"
#include "device/cpu/choose_library.h"
#include "heddle/compile_options.h"
#include "heddle/cost.h"
#include "heddle/machine_report.h"
#include "option_values.h"
#include "parallel/here.h"
#include "ranks.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

struct CalibrateRequest {
  RankRequest ranks;
  std::int64_t devices = 0;  // threads; 0: one for each core
  std::string output;        // a cluster file
  std::string device = "cpu";
  ReportOptions report;
};

// Many more threads than cores measure how the machine changes between them, and take for ever.
void want_few(std::int64_t devices) {
  constexpr std::int64_t kOfEachCore = 8;
  const std::int64_t most = kOfEachCore * usable_cores();
  if (devices > most)
    throw WrongUse{"--devices", fmt::format("at most {} for each core, here {}, not {}",
                                            kOfEachCore, most, devices)};
}

// A GPU: by itself, as one device.
void run_on_device(const CalibrateRequest& request) {
  if (request.devices > 0) throw WrongUse{"--devices", "counts threads, and not with --device"};
  if (!request.output.empty())
    throw WrongUse{"--output", "writes a cluster of threads or ranks, and not with --device"};
  Device& device = *of_option(find_device(request.device));
  const MeasuredDevice measured = calibrate_device(device).value();
  keep_gpu_figures(measured.model, measured.figures).value();
  write_report(device_figures(measured), request.report);
  if (!request.report.json)
    write_stdout(
        fmt::format("kept in {}, for programs on such a GPU\n", cache_directory()->string()));
}

// Found before seconds of measuring.
void want_place(const CalibrateRequest& request) {
  if (request.output.empty()) {
    if (const auto folder = cache_directory()) can_write_into(*folder).value();
  } else if (const Verdict can = can_write(request.output); !can) {
    throw Error("--output: " + can.reason());
  }
}

// Figures of this machine are for whoever runs on all of it; ranks have a part each.
void keep(const MachineFigures& machine, const LibraryFigures& libraries, const Cluster& cluster,
          bool are_ranks) {
  if (!are_ranks) {
    keep_figures(machine).value();
    keep_library_figures(libraries).value();
  }
  keep_cluster_here(cluster, are_ranks ? DevicesAs::ranks : DevicesAs::threads).value();
}

std::string where_kept(const CalibrateRequest& request, const MachineFigures& machine,
                       const Cluster& cluster, bool are_ranks) {
  if (!request.output.empty())
    return fmt::format(
        "written to {}, for plans with --cluster {}; what --cluster here means is as before\n",
        request.output, request.output);
  std::string name = "here";
  if (cluster.devices() != machine.workers || are_ranks)
    name += fmt::format("-{}", cluster.devices());
  const std::string of_ranks =
      are_ranks ? fmt::format(" of ranks, and --cluster {}-ranks", name) : "";
  return fmt::format("kept in {}, for plans with --cluster {}{}\n", cache_directory()->string(),
                     name, of_ranks);
}

void run(const CalibrateRequest& request) {
  want_few(request.devices);
  want_place(request);
  if (request.device != "cpu") return run_on_device(request);
  const auto ranks = connect_ranks(request.ranks);
  const MachineFigures machine = calibrate().value();
  const LibraryFigures libraries = cpu::measure_libraries();
  const auto devices = request.devices > 0 ? request.devices : std::int64_t{machine.workers};
  const Cluster cluster = (ranks ? calibrate_ranks(*ranks, machine)
                                 : calibrate_threads(static_cast<int>(devices), machine))
                              .value();
  if (ranks && ranks->rank() != 0) return;
  if (request.output.empty())
    keep(machine, libraries, cluster, ranks != nullptr);
  else if (const Verdict done = write_file(request.output, cluster_text(cluster)); !done)
    throw Error("--output: " + done.reason());
  FiguresReport report{machine, cluster};
  if (libraries.products > 0)
    report.by_onednn = {{"products", libraries.products},
                        {"short products", libraries.short_products},
                        {"convolutions", libraries.convolutions}};
  write_report(report, request.report);
  if (request.report.json) return;
  write_stdout(where_kept(request, machine, cluster, ranks != nullptr));
}

}  // namespace

void add_calibrate(Command app) {
  const auto request = std::make_shared<CalibrateRequest>();
  Command command = app.add("calibrate", "Measure this machine, so that plans are made for it");
  command
      .option("--devices", request->devices,
              "Devices that share it as threads; otherwise one for each core. Under\n"
              "mpirun or `heddle launch`, ranks and what is between them")
      .from_to(1, 256);
  command.option("--device", request->device, "What to measure: cpu, or a GPU as cuda or cuda:1")
      .shows_default();
  add_rank_options(command, request->ranks);
  command
      .option("-o,--output", request->output,
              "Write a cluster file there, for --cluster, and keep nothing")
      .not_empty();
  command.flag("--json", request->report.json, "Print the figures as JSON");
  command.on_run([request] { run(*request); });
}

}  // namespace heddle::cli
