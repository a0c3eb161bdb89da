// heddle doctor: what the machine has, and what Heddle can do with it.
#include <memory>

#include "commands.h"
#include "heddle/machine_report.h"
#include "terminal.h"

namespace heddle::cli {

void add_doctor(Command app) {
  const auto report = std::make_shared<ReportOptions>();
  Command command = app.add("doctor", "What this machine has and what Heddle can do with it");
  command.report(*report);
  command.on_run([report] { write_report(doctor(), *report); });
}

}  // namespace heddle::cli
