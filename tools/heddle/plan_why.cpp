// heddle plan --why: what else something could be, and what that would cost.
#include <algorithm>

#include "base/words.h"
#include "heddle/pipeline_report.h"
#include "heddle/signature.h"
#include "heddle/why_report.h"
#include "plan_request.h"
#include "program_files.h"

namespace heddle::cli {

// What a device has, where somebody says it.
std::optional<std::int64_t> memory_of_device(const PlanRequest& request) {
  if (const auto said = bytes_of_option(request.memory)) return said;
  if (request.mesh.cluster.empty()) return std::nullopt;
  return of_option(find_cluster(request.mesh.cluster)).memory;
}

namespace {

// tp=4, or dp=4,tp=2
bool names_axes(const std::string& what) {
  return std::ranges::all_of(split_outside(what, ','), [](const std::string& one) {
    const std::size_t cut = one.find('=');
    return cut != one.npos && cut > 0 && cut + 1 < one.size() &&
           one.find_first_not_of("0123456789", cut + 1) == one.npos;
  });
}

// What the same search finds with other devices, stages or micro-batches.
OtherMesh compared(const Program& program, OtherMesh other, Target target) {
  const bool staged = searches_pipeline(target) || target.micro_batches > 1 ||
                      (target.cluster && target.mesh == kOwnMesh);
  stoppably(target, [&](const Target& t) {
    const auto tell = [&](const auto& found) {
      if (found) {
        other.other_seconds = found->cost;
        other.other_bytes = found->peak_bytes;
      } else {
        other.why_not = found.reason();
      }
    };
    if (staged) {
      const auto found = search_pipeline(program, t);
      if (found) other.other_mesh = setting_text(*found);
      tell(found);
    } else {
      tell(find_plan(program, t));
    }
    return Expected<bool>(true);
  });
  return other;
}

// stages=2 and micro_batches=8 are questions about the pipeline, all else about axes.
Target other_target(const Target& asked, const std::string& mesh, const std::string& axis,
                    const std::string& why) {
  Target other = asked;
  other.cut.reset();
  other.layouts.search_details = false;
  if (other.layouts.search == 0) other.layouts.search = 2;
  const std::size_t cut = why.find('=');
  const std::string name = why.substr(0, cut);
  constexpr std::size_t kMostDigits = 6;
  const bool one = why.find(',') == why.npos;
  if (one &&
      (name == "stages" || (name == axis && asked.mesh == kOwnMesh) || name == "micro_batches")) {
    const std::int64_t count = std::stoll("0" + why.substr(cut + 1, kMostDigits));
    if (count < 1) throw WrongUse{"--why", name + "=0: there is at least one"};
    if (name != "micro_batches") {
      other.stages = static_cast<int>(count);
      other.pipeline.clear();
      if ((count > 1) == (other.micro_batches == 1)) other.micro_batches = count > 1 ? 0 : 1;
    } else {
      other.micro_batches = count;
    }
    other.chunks = searches_pipeline(other) ? 0 : 1;
    return other;
  }
  other.mesh = of_option(other_mesh(mesh, why));
  if (axis.empty()) return other;
  other.pipeline = axis;
  other.stages = 1;
  other.chunks = 0;
  return other;
}

}  // namespace

void answer_why(const Program& program, const Dealt& dealt, const Target& asked,
                const PlanRequest& request) {
  const std::string entry = entry_of(program, request.entry);
  const Spmd& spmd = dealt.spmd();
  if (!names_axes(request.why)) {
    WhyReport why = of_option(why_report(spmd, entry, request.why));
    const Target& dealt_for = dealt.found ? dealt.found->target : asked;
    why.of_part = dealt_for.micro_batches > 1;
    return write_report(why, request.report);
  }
  for (const FunctionPlan& plan : spmd.decided->functions) {
    if (!plan.found) continue;
    const std::string mesh =
        dealt.pipeline ? dealt.pipeline->mesh : spmd.logical().meshes[plan.mesh].mesh.str();
    const std::string axis = dealt.pipeline ? dealt.pipeline->axis : "";
    OtherMesh other{.question = request.why,
                    .mesh = mesh,
                    .other_mesh = {},
                    .seconds = plan.found->cost,
                    .bytes = plan.found->peak_bytes,
                    .limit = memory_of_device(request).value_or(INT64_MAX),
                    .other_seconds = {}};
    if (dealt.pipeline) {
      other.seconds = dealt.pipeline->times.seconds;
      other.bytes = dealt.pipeline->times.peak_bytes();
    }
    if (dealt.found) other.mesh = setting_text(*dealt.found);
    const Target target = other_target(asked, mesh, axis, request.why);
    other.other_mesh = target.mesh == kOwnMesh ? request.why : target.mesh;
    return write_report(compared(program, std::move(other), target), request.report);
  }
  throw WrongUse{"--why", "meshes are compared by a search: add --plan auto"};
}

}  // namespace heddle::cli
