// heddle layout: looks at layouts, and at plans between them.
#include "commands.h"
#include "layout_commands.h"

namespace heddle::cli {

void add_layout_options(CLI::App& command, LayoutOptions& options) {
  command.add_option("--mesh", options.said.mesh,
                     "Axes of the devices and their sizes: node=2,gpu=8");
  command.add_option("--bind", options.said.bindings, "Numbers for symbolic sizes: n=16,m=4")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_report_options(command, options.report);
}

void add_layout(CLI::App& app) {
  auto* const layout = app.add_subcommand("layout", "Look at layouts and at plans between them");
  add_layout_show(*layout);
  add_layout_plan(*layout);
  layout->callback([layout] {
    if (layout->get_subcommands().empty())
      write_stdout(layout->help(layout->get_parent()->get_name()));
  });
}

}  // namespace heddle::cli
