// heddle layout: looks at layouts, and at plans between them.
#include <charconv>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "commands.h"
#include "heddle/layout_report.h"
#include "option_values.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

// What both commands take.
struct LayoutOptions {
  WorldText said;
  std::string dtype = "f32";
  ReportOptions report;
};

struct ShowRequest {
  LayoutOptions common;
  std::string layout;
  std::optional<std::string> svg;  // a file, or - for standard output
  std::vector<std::string> axes;
  int width = 0;
};

struct MovesRequest {
  LayoutOptions common;
  std::string source, target, memory;
  bool check = false;
};

void add_common(Command& command, LayoutOptions& options, const char* about_type) {
  command.option("--mesh", options.said.mesh, "Axes of the devices and their sizes: node=2,gpu=8");
  command.option("--bind", options.said.bindings, "Numbers for symbolic sizes: n=16,m=4").commas();
  command.option("--dtype", options.dtype, about_type).shows_default();
  command.report(options.report);
}

void check_svg(const ShowRequest& request) {
  if (request.svg == "")
    throw WrongUse{"--svg", "write the name of a file, or - for standard output"};
  if (request.svg == "-" && request.common.report.json)
    throw WrongUse{"--svg -", "standard output takes either --json or the picture"};
}

void show(const ShowRequest& request) {
  check_svg(request);
  const LayoutOptions& common = request.common;
  const DType type = parse_dtype(common.dtype).value();
  LayoutReport report = of_option(layout_report(request.layout, common.said, type, request.axes));
  if (request.svg == "-") return write_stdout(report.svg());
  if (request.svg) {
    write_file(*request.svg, report.svg()).value();
    report.drawn_in = *request.svg;
  }
  if (common.report.json) return write_stdout(report.json());
  const Style style = Style::of_stdout(common.report.plain);
  write_stdout(report.text(request.width > 0 ? style.wide(request.width) : style));
}

void plan_moves(const MovesRequest& request) {
  const LayoutOptions& common = request.common;
  const DType type = parse_dtype(common.dtype).value();
  MovesReport report = of_option(moves_report(request.source, request.target, common.said, type,
                                              bytes_of_option(request.memory)));
  const Verdict checked = request.check ? report.check() : yes();
  write_report(report, common.report);
  if (!checked) throw Error("--check: not done. " + checked.reason());
}

// CLI11 would say of words that they are out of range.
std::string wrong_width(const std::string& text) {
  int columns = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, columns);
  if (problem == std::errc() && stop == end && columns >= 40 && columns <= 1000) return "";
  return fmt::format("'{}' is no width: write a whole number from 40 to 1000", shortened(text, 40));
}

void add_show(Command layout) {
  const auto request = std::make_shared<ShowRequest>();
  Command command = layout.add("show", "A layout in words and as a picture");
  command.option("LAYOUT", request->layout, "For example \"(64:8@gpu, 128)\"").required();
  command.option("--axes", request->axes, "Axes whose positions are drawn: warp,lane").commas();
  command.option("--svg", request->svg,
                 "Draw the picture into this file too; - for standard output alone");
  command.option("--width", request->width, "Columns of text")
      .called("40..1000")
      .check(wrong_width);
  add_common(command, request->common, "Element type that bytes are counted for");
  command.on_run([request] { show(*request); });
}

void add_moves(Command layout) {
  const auto request = std::make_shared<MovesRequest>();
  Command command = layout.add("plan", "Find cheap moves from one layout to another");
  command.option("SOURCE", request->source, "How the data lies, as in \"(64:8@gpu, 128)\"")
      .required();
  command.option("TARGET", request->target, "How it should lie").required();
  command.option("--memory", request->memory, "Most bytes on a device during a move, as in 16GB")
      .check(wrong_size);
  command.flag("--check", request->check,
               "Execute the plan on tagged elements and compare (small tensors)");
  add_common(command, request->common, "Type of the elements");
  command.on_run([request] { plan_moves(*request); });
}

}  // namespace

void add_layout(Command app) {
  Command layout = app.add("layout", "Look at layouts and at plans between them");
  add_show(layout);
  add_moves(layout);
  layout.on_run([layout] {
    if (layout.is_alone()) write_stdout(layout.help());
  });
}

}  // namespace heddle::cli
