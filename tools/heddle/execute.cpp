#include "execute.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "clock.h"
#include "deploy.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "heddle/ranks.h"
#include "heddle/trace.h"

namespace heddle::cli {
namespace {

// Bytes of their own, so that a run may overwrite them.
DeviceParts owned(DeviceParts parts) {
  for (std::vector<Array>& of_device : parts)
    for (Array& part : of_device) (void)part.mutable_bytes();
  return parts;
}

void count_ops(const Program& program, RegionId region, std::map<std::string, int>& counts) {
  for (const OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    if (op.def->form != Form::terminator) ++counts[std::string(op.def->short_name())];
    for (const RegionId inner : program.regions(op)) count_ops(program, inner, counts);
  }
}

}  // namespace

std::string interpreter_text(const Program& program, const Function& function) {
  constexpr std::size_t kMostNamed = 8;
  std::map<std::string, int> counts;
  count_ops(program, function.body, counts);
  std::vector<std::pair<int, std::string>> most;
  int all = 0;
  for (const auto& [name, n] : counts) {
    most.emplace_back(-n, name);
    all += n;
  }
  std::ranges::sort(most);
  std::string text = fmt::format(
      "the reference takes ops one by one as they stand, with nothing fused or planned; @{} has {}",
      function.name, all);
  for (std::size_t i = 0; i < std::min(most.size(), kMostNamed); ++i)
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",", -most[i].first, most[i].second);
  return text + (most.size() > kMostNamed ? ", ..." : "");
}

Target with_options(Target target, const ExecuteRequest& request) {
  CompileOptions& compile = target.options;
  compile.verified = true;  // when it was read
  compile.stitch.fuse = request.fuse;
  compile.stitch.explain = request.explain;
  compile.machine_code = request.engine != "kernels";
  compile.async = request.async;
  return target;
}

double Execution::median() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

Execution execute(const Program& program, const Function& function,
                  const std::vector<Array>& arguments, const Target& asked,
                  const ExecuteRequest& request, const InterpretOptions& options) {
  Target target = with_options(asked, request);
  if (request.donate) target.options.donated.assign(arguments.size(), true);
  Deployed deployed = deploy(program, function, target, request, options);
  Deployment& place = deployed.deployment;
  if (place.ranks_with_parts())
    (void)compare_inputs(*place.ranks_with_parts(), arguments, request.sources).value();
  const DeviceParts parts = place.deal_out(arguments).value();
  Execution done;
  RunOptions run;
  run.trace = options.trace;
  run.print = options.print;
  DeviceParts results;
  for (int i = 0; i < request.repeat; ++i) {
    DeviceParts given = request.donate ? owned(parts) : parts;
    results.clear();
    const auto start = std::chrono::steady_clock::now();
    results = place.run(std::move(given), run).value();
    done.seconds.push_back(seconds_since(start));
    run.trace = nullptr;  // the first run says it all
  }
  if (request.time_steps && deployed.executable) {
    if (Verdict code = deployed.executable->finish_compiling(); !code)
      log(kLogSteps, "not all kernels have machine code: {}", code.reason());
    run.times = &done.times;
    run.print = [](std::string_view) {};
    (void)place.run(request.donate ? owned(parts) : parts, run).value();
  }
  done.results = place.whole(results).value();
  deployed.describe(done);
  done.explained = request.explain && deployed.executable;
  return done;
}

}  // namespace heddle::cli
