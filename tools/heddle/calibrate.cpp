// heddle calibrate: measures the machine, so that plans are made for it.
#include "device/cpu/calibrate.h"

#include <memory>

#include "base/cache_directory.h"
#include "base/file.h"
#include "commands.h"
#include "heddle/cost.h"
#include "heddle/machine_report.h"
#include "terminal.h"

namespace heddle::cli {

void add_calibrate(Command app) {
  Command command = app.add("calibrate", "Measure this machine, so that plans are made for it");
  const auto report = std::make_shared<ReportOptions>();
  command.flag("--json", report->json, "Print the figures as JSON");
  command.on_run([report] {
    // Found before a second of measuring.
    if (const auto folder = cache_directory()) can_write_into(*folder).value();
    const FiguresReport measured{calibrate().value()};
    keep_figures(measured.figures).value();
    write_report(measured, *report);
    if (!report->json) write_stdout(fmt::format("kept in {}\n", cache_directory()->string()));
  });
}

}  // namespace heddle::cli
