// heddle ops: the op table.
#include <memory>

#include "commands.h"
#include "heddle/program_report.h"
#include "terminal.h"

namespace heddle::cli {

void add_ops(Command app) {
  const auto report = std::make_shared<ReportOptions>();
  Command command = app.add("ops", "List the ops that programs may use");
  command.report(*report);
  command.on_run([report] { write_report(OpsReport(), *report); });
}

}  // namespace heddle::cli
