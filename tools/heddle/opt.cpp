// heddle opt: the program after a stage, as text.
#include <memory>

#include "commands.h"
#include "heddle/index_rule.h"
#include "heddle/stablehlo.h"
#include "program_files.h"
#include "stages.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

struct OptRequest {
  std::string file;
  std::string until = "read";
  bool generic = false, rules = false, locations = false;
};

// Ops without results have nothing that depends on anything.
std::string rule_text(const Program& program, const Op& op) {
  return op.result_count == 0 ? "" : index_rule(program, op).str();
}

void run(const OptRequest& request) {
  PrintOptions options{.form = request.generic ? TextForm::generic : TextForm::pretty,
                       .locations = request.locations};
  std::string text;
  for (Program& program : load_programs(request.file)) {
    if (!text.empty()) text += "\n// -----\n\n";
    const Program now = after_stage(std::move(program), request.until);
    if (request.rules) options.comment = [&now](const Op& op) { return rule_text(now, op); };
    text += print_stablehlo(now, options);
  }
  write_stdout(text);
}

}  // namespace

void add_opt(Command app) {
  const auto request = std::make_shared<OptRequest>();
  Command command = app.add("opt", "Show a program after a stage");
  command.program_file(request->file);
  command.option("--until", request->until, "The last stage").one_of(stage_names()).shows_default();
  command.flag("--generic", request->generic, "MLIR's generic form");
  command.flag("--locations", request->locations,
               "Behind each op the user's line that it came from, as loc(...)");
  command.flag("--rules", request->rules,
               "Under each op its index rule: what its results depend on");
  command.on_run([request] { run(*request); });
}

}  // namespace heddle::cli
