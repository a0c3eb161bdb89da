// heddle layout plan: cheap moves from one layout to another.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "heddle/dtype.h"
#include "heddle/notation.h"
#include "heddle/plan.h"
#include "layout_commands.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LayoutPlanRequest {
  std::string source, target;
  std::string dtype = "f32";
  std::string memory;
  bool check = false;
  LayoutOptions layout;
};

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
  return fmt::format("no plan can do with less than {}",
                     format_bytes(static_cast<double>(plan.bound_bytes)));
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

void write_text(const Plan& plan, const LayoutWorld& world, bool checked, const Style& style) {
  const auto columns = static_cast<std::size_t>(style.columns());
  const std::string_view arrow = style.either("→", "->");
  const std::string mesh = world.mesh.str() + inferred_words(world);
  const std::string_view holder = holder_word(world);
  std::string text;
  if (plan.moves.empty()) {
    text += style.bold(is_empty(plan.source) ? "nothing to move: there are no elements"
                                             : "nothing to move: the data already lies so") +
            "\n";
  } else {
    text +=
        style.bold(fmt::format("{} move{}, {} predicted", plan.moves.size(),
                               plan.moves.size() == 1 ? "" : "s", format_seconds(plan.seconds))) +
        "\n";
  }
  text += fmt::format("  mesh    {}\n", mesh);
  text += fmt::format("  from    {}\n", print_layout(plan.source, world.axes));
  text += fmt::format("  to      {}\n", print_layout(plan.target, world.axes));
  if (!plan.moves.empty()) {
    text += fmt::format("  bytes   {} received by a {}; {}\n",
                        format_bytes(static_cast<double>(plan.bytes)), holder, bound_words(plan));
    text += fmt::format("  memory  {} on a {} at the peak\n",
                        format_bytes(static_cast<double>(plan.peak_bytes)), holder);
    if (!plan.exhaustive) text += fmt::format("  search  {}\n", search_words(plan));
    text += "\n";
  }
  const std::size_t wide = over_width(plan, world.axes);
  for (std::size_t i = 0; i < plan.moves.size(); ++i) {
    const Move& m = plan.moves[i];
    text += fmt::format("{:>3}  {:<14}  over {:<{}} {:>9}  {:>8}  {}\n", i + 1, name(m.kind),
                        shortened(over(m, world.axes), wide), wide,
                        format_bytes(static_cast<double>(m.bytes)), format_seconds(m.seconds),
                        m.bytes == 0 ? fmt::format("inside each {}", holder)
                                     : fmt::format("by {}", name(m.medium)));
    text += style.dim(fmt::format("       {} {}", arrow, print_layout(m.to, world.axes))) + "\n";
    text += style.dim(shortened(fmt::format("       {}", m.why), columns)) + "\n";
  }
  if (!plan.rejected.empty()) text += "\nrejected\n";
  for (const Alternative& a : plan.rejected)
    text += fmt::format("     {:<42} {:>8}  {}\n", a.what, format_seconds(a.seconds), a.why_not);
  if (checked)
    text +=
        "\n" + style.green("checked") + ": every element arrives, each contribution exactly once\n";
  write_stdout(text);
}

void write_report(const Plan& plan, const LayoutWorld& world, bool checked) {
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
  write_json(report);
}

// Whether elements of the type can be reduced so.
void check_reduction(const Layout& layout, const char* which, DType type) {
  if (layout.partials().empty()) return;
  const ReduceOp op = layout.reduce();
  const bool logical = op == ReduceOp::logical_and || op == ReduceOp::logical_or;
  const bool ordered = op == ReduceOp::min || op == ReduceOp::max;
  if ((logical && (is_float(type) || is_complex(type))) || (ordered && is_complex(type)))
    throw Error(fmt::format(
        "[plan] the {} has a pending '{}', which elements of type {} do not have; give --dtype {}",
        which, name(op), name(type), logical ? "i1 or an integer type" : "a real type"));
}

void run(const LayoutPlanRequest& request) {
  LayoutWorld world =
      layout_value(make_world(request.layout.said, {request.source, request.target}));
  const Layout source = layout_value(world.read(request.source));
  const Layout target = layout_value(world.read(request.target));
  (void)add_kernel_axes(world, request.layout.said, {source, target}).value();
  PlanOptions options;
  options.explain = true;
  const DType type = parse_dtype(request.dtype).value();
  options.element_bits = 8 * byte_size(type);
  check_reduction(source, "source", type);
  check_reduction(target, "target", type);
  // To the planner 0 is no cap.
  if (!request.memory.empty())
    options.memory_cap = std::max<std::int64_t>(1, parse_bytes(request.memory).value());
  const Plan plan = plan_redistribution(source, target, world.mesh, world.axes, options).value();
  const Verdict small = can_simulate(plan, world.mesh);
  const bool check = request.check && small;
  if (check) {
    const auto right = simulate(plan, world.mesh, world.axes);
    HEDDLE_CHECK(right.ok(), "the plan is wrong: {}", right.reason());
  }
  if (request.layout.report.json)
    write_report(plan, world, check);
  else
    write_text(plan, world, check, Style::of_stdout(request.layout.report.plain));
  if (request.check && !small) throw Error("--check: not done. " + small.reason());
}

}  // namespace

void add_layout_plan(CLI::App& layout) {
  auto request = std::make_shared<LayoutPlanRequest>();
  CLI::App* command = layout.add_subcommand("plan", "Find cheap moves from one layout to another");
  command->add_option("SOURCE", request->source, "How the data lies, as in \"(64:8@gpu, 128)\"")
      ->required();
  command->add_option("TARGET", request->target, "How it should lie")->required();
  command->add_option("--dtype", request->dtype, "Type of the elements")->capture_default_str();
  command
      ->add_option("--memory", request->memory, "Most bytes on a device during a move, as in 16GB")
      ->check(wrong_size);
  command->add_flag("--check", request->check,
                    "Execute the plan on tagged elements and compare (small tensors)");
  add_layout_options(*command, request->layout);
  command->callback([request] { run(*request); });
}

}  // namespace heddle::cli
