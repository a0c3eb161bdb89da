// Cheap moves from one layout to another.
#include <algorithm>

#include "base/text.h"
#include "heddle/layout_report.h"
#include "heddle/notation.h"
#include "report/json.h"
#include "report/words.h"

namespace heddle {

using report::bytes_text;
using report::Json;

namespace {

std::string over(const Move& move, const AxisRegistry& axes) {
  std::string text;
  for (const SubAxis& s : move.over) {
    const AxisInfo& axis = axes[s.axis];
    text += text.empty() ? "" : ",";
    text +=
        s.extent == axis.size ? axis.name : fmt::format("{}:{}@{}", s.extent, s.stride, axis.name);
  }
  return text.empty() ? "-" : text;
}

bool is_empty(const Layout& layout) {
  return std::any_of(layout.dims().begin(), layout.dims().end(),
                     [](const DimInfo& d) { return d.size.is_zero(); });
}

std::string inferred_words(const LayoutWorld& world) {
  if (!world.inferred) return "";
  const std::string which = world.inferred_axes.empty() ? "" : world.inferred_axes + " ";
  return fmt::format(" ({}from the layouts; --mesh sets it)", which);
}

std::string bound_words(const Plan& plan) {
  if (plan.bytes == 0) return "none are needed";
  if (plan.bound_bytes == 0) return "how few would do is not known";
  return fmt::format("no plan can do with less than {}", bytes_text(plan.bound_bytes));
}

std::string search_words(const Plan& plan) {
  return fmt::format("not every way was looked at ({} states): a cheaper plan may exist",
                     plan.states);
}

// What holds data: a device, or the smallest thing inside it that the mesh counts.
std::string_view holder_word(const LayoutWorld& world) {
  Scope smallest = Scope::device;
  for (const MeshAxis& a : world.mesh.axes())
    if (world.axes[a.axis].kind == AxisKind::kernel)
      smallest = std::max(smallest, world.axes[a.axis].inner);
  return name(smallest);
}

// How wide the list of axes is: as the longest, while that leaves room for the rest.
std::size_t over_width(const Plan& plan, const AxisRegistry& axes) {
  std::size_t width = 12;
  for (const Move& m : plan.moves) width = std::max(width, over(m, axes).size());
  return std::min<std::size_t>(width, 26);
}

std::string head_text(const MovesReport& report, const Style& style) {
  const Plan& plan = report.plan;
  const AxisRegistry& axes = report.world.axes;
  const std::string verdict =
      !plan.moves.empty()     ? fmt::format("{}, {} predicted", counted(plan.moves.size(), "move"),
                                            format_seconds(plan.seconds))
      : is_empty(plan.source) ? "nothing to move: there are no elements"
                              : "nothing to move: the data already lies so";
  std::string text = style.bold(verdict) + "\n";
  text += fmt::format("  mesh    {}{}\n", report.world.mesh.str(), inferred_words(report.world));
  text += fmt::format("  from    {}\n", print_layout(plan.source, axes));
  text += fmt::format("  to      {}\n", print_layout(plan.target, axes));
  if (plan.moves.empty()) return text;
  const std::string_view holder = holder_word(report.world);
  text += fmt::format("  bytes   {} received by a {}; {}\n", bytes_text(plan.bytes), holder,
                      bound_words(plan));
  text += fmt::format("  memory  {} on a {} at the peak\n", bytes_text(plan.peak_bytes), holder);
  if (!plan.exhaustive) text += fmt::format("  search  {}\n", search_words(plan));
  return text + "\n";
}

std::string moves_text(const MovesReport& report, const Style& style) {
  const AxisRegistry& axes = report.world.axes;
  const auto columns = static_cast<std::size_t>(style.columns());
  const std::string_view arrow = style.either("→", "->");
  const std::string_view holder = holder_word(report.world);
  const std::size_t wide = over_width(report.plan, axes);
  std::string text;
  for (std::size_t i = 0; i < report.plan.moves.size(); ++i) {
    const Move& m = report.plan.moves[i];
    text += fmt::format("{:>3}  {:<14}  over {:<{}} {:>9}  {:>8}  {}\n", i + 1, name(m.kind),
                        shortened(over(m, axes), wide), wide, bytes_text(m.bytes),
                        format_seconds(m.seconds),
                        m.bytes == 0 ? fmt::format("inside each {}", holder)
                                     : fmt::format("by {}", name(m.medium)));
    text += style.dim(fmt::format("       {} {}", arrow, print_layout(m.to, axes))) + "\n";
    text += style.dim(shortened(fmt::format("       {}", m.why), columns)) + "\n";
  }
  return text;
}

// Whether elements of the type can be reduced so.
Verdict check_reduction(const Layout& layout, const char* which, DType type) {
  if (layout.partials().empty()) return yes();
  const ReduceOp op = layout.reduce();
  const bool logical = op == ReduceOp::logical_and || op == ReduceOp::logical_or;
  const bool ordered = op == ReduceOp::min || op == ReduceOp::max;
  if ((logical && (is_float(type) || is_complex(type))) || (ordered && is_complex(type)))
    return reason(
        "[plan] the {} has a pending '{}', which elements of type {} do not have; give `dtype` {}",
        which, name(op), name(type), logical ? "i1 or an integer type" : "a real type");
  return yes();
}

}  // namespace

Expected<MovesReport> moves_report(const std::string& from, const std::string& to,
                                   const WorldText& said, DType type,
                                   std::optional<std::int64_t> memory) {
  HEDDLE_TRY(LayoutWorld world, make_world(said, {from, to}));
  HEDDLE_TRY(const Layout source, world.read(from));
  HEDDLE_TRY(const Layout target, world.read(to));
  HEDDLE_TRY_VOID(add_kernel_axes(world, said, {source, target}));
  HEDDLE_TRY_VOID(check_reduction(source, "source", type));
  HEDDLE_TRY_VOID(check_reduction(target, "target", type));
  PlanOptions options;
  options.explain = true;
  options.element_bits = 8 * byte_size(type);
  if (memory) options.memory_cap = std::max<std::int64_t>(*memory, 1);
  HEDDLE_TRY(Plan plan, plan_redistribution(source, target, world.mesh, world.axes, options));
  return MovesReport{std::move(world), std::move(plan)};
}

Verdict MovesReport::check() {
  HEDDLE_TRY_VOID(can_simulate(plan, world.mesh));
  const auto right = simulate(plan, world.mesh, world.axes);
  HEDDLE_CHECK(right.ok(), "the plan is wrong: {}", right.reason());
  checked = true;
  return yes();
}

std::string MovesReport::text(const Style& style) const {
  std::string text = head_text(*this, style) + moves_text(*this, style);
  if (!plan.rejected.empty()) text += "\nrejected\n";
  for (const Alternative& a : plan.rejected)
    text += fmt::format("     {:<42} {:>8}  {}\n", a.what, format_seconds(a.seconds), a.why_not);
  if (checked)
    text +=
        "\n" + style.green("checked") + ": every element arrives, each contribution exactly once\n";
  return text;
}

std::string MovesReport::json() const {
  Json report = {{"mesh", world.mesh.str()},
                 {"source", print_layout(plan.source, world.axes)},
                 {"target", print_layout(plan.target, world.axes)},
                 {"seconds", plan.seconds},
                 {"bytes", plan.bytes},
                 {"peak_bytes", plan.peak_bytes},
                 {"bound", {{"bytes", plan.bound_bytes}, {"seconds", plan.bound_seconds}}},
                 {"states", plan.states},
                 {"exhaustive", plan.exhaustive},
                 {"moves", Json::array()},
                 {"rejected", Json::array()}};
  for (const Move& m : plan.moves)
    report["moves"].push_back({{"kind", name(m.kind)},
                               {"over", over(m, world.axes)},
                               {"medium", name(m.medium)},
                               {"bytes", m.bytes},
                               {"seconds", m.seconds},
                               {"live_bytes", m.live},
                               {"to", print_layout(m.to, world.axes)},
                               {"why", m.why}});
  for (const Alternative& a : plan.rejected)
    report["rejected"].push_back({{"what", a.what},
                                  {"seconds", a.seconds},
                                  {"peak_bytes", a.peak_bytes},
                                  {"why_not", a.why_not}});
  if (checked) report["checked"] = true;
  return report::json_text(report);
}

}  // namespace heddle
