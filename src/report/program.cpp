#include "base/text.h"
#include "heddle/explain_report.h"
#include "heddle/program_report.h"
#include "report/json.h"
#include "report/words.h"

namespace heddle {

using report::Json;

std::string VerifyReport::text(const Style&) const {
  const std::string parts = programs == 1 ? "" : counted(programs, "program") + ", ";
  return fmt::format("{}: well formed; {}{}, {}; read in {}, verified in {}\n", file, parts,
                     counted(functions, "function"), counted(ops, "op"),
                     format_seconds(read_seconds), format_seconds(verify_seconds));
}

std::string VerifyReport::json() const {
  return report::json_text({{"file", file},
                            {"ok", true},
                            {"programs", programs},
                            {"functions", functions},
                            {"ops", ops},
                            {"read_seconds", read_seconds},
                            {"verify_seconds", verify_seconds}});
}

std::string CompiledReport::text(const Style& style) const {
  const ExplainReport steps{execution};
  std::string text = explain ? steps.text(style) : "";
  text +=
      fmt::format("{} ops: {}, {} of them distinct; {} at the peak\n", stages.ops, steps.counts(),
                  stages.distinct_kernels, report::bytes_text(execution.peak_bytes));
  std::string times = fmt::format("read {}", format_seconds(read_seconds));
  for (const CompileReport::Stage& stage : stages.stages)
    times += fmt::format(", {} {}{}", stage.name, format_seconds(stage.seconds),
                         stage.name == "stitch" && stages.plan_from_cache ? " (kept)" : "");
  text += style.dim(times) + "\n";
  return text + style.bold("compiled in " + format_seconds(execution.compile_seconds)) + "\n";
}

std::string CompiledReport::json() const {
  Json report = {{"file", file},
                 {"entry", entry},
                 {"ops", stages.ops},
                 {"distinct_kernels", stages.distinct_kernels},
                 {"plan_from_cache", stages.plan_from_cache},
                 {"read_ms", read_seconds * 1e3},
                 {"stages_ms", Json::object()}};
  for (const CompileReport::Stage& stage : stages.stages)
    report["stages_ms"][stage.name] = stage.seconds * 1e3;
  report.update(report::execution_json(execution));
  return report::json_text(report);
}

}  // namespace heddle
