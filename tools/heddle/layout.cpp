// heddle layout: looks at layouts, and at plans between them.
#include <algorithm>
#include <charconv>
#include <map>

#include "commands.h"
#include "heddle/notation.h"
#include "layout_commands.h"

namespace heddle::cli {
namespace {

// Axes that a text names behind '@' and nobody knows: they join the mesh with an open size.
std::vector<AxisId> declare_axes(const std::string& text, AxisRegistry& axes) {
  std::vector<AxisId> added;
  for (std::size_t at = text.find('@'); at != text.npos; at = text.find('@', at + 1)) {
    const std::size_t from = text.find_first_not_of(" \t\n", at + 1);
    if (from == text.npos) break;
    std::size_t to = from;
    while (to < text.size() && is_name("a" + text.substr(from, std::min(to + 1 - from, 70UL))))
      ++to;
    const std::string name = text.substr(from, to - from);
    if (!is_name(name) || axes.find(name)) continue;  // the parser will say what is wrong
    added.push_back(axes.add({name, AxisKind::mesh, Scope::world, Scope::device, 0}).value());
  }
  return added;
}

std::map<SymbolId, std::int64_t> read_bindings(const LayoutOptions& options,
                                               const AxisRegistry& axes) {
  std::map<SymbolId, std::int64_t> values;
  for (const std::string& binding : options.bindings) {
    const std::size_t equals = std::min(binding.find('='), binding.size());
    const std::string name = binding.substr(0, equals);
    const std::string number = binding.substr(std::min(equals + 1, binding.size()));
    std::int64_t value = 0;
    const char* const end = number.data() + number.size();
    const auto [stop, problem] = std::from_chars(number.data(), end, value);
    if (!is_name(name) || number.empty() || problem != std::errc() || stop != end || value < 1)
      throw Error(fmt::format("--bind {}: write NAME=SIZE with a size of at least 1, as in n=16",
                              shortened(binding, 60)));
    const auto symbol = axes.find_symbol(name);
    if (!symbol)
      throw Error(fmt::format("--bind {}: no size in the layout is named {}", binding, name));
    if (values.contains(*symbol)) throw Error(fmt::format("--bind gives {} twice", name));
    values[*symbol] = value;
  }
  return values;
}

// The last position on the axis that a layout reaches, plus one.
std::int64_t reach(const std::vector<Layout>& layouts, AxisId axis) {
  std::int64_t size = 1;
  for (const Layout& layout : layouts) {
    std::int64_t last = layout.offset_on(axis).factor();
    for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
      for (const Iter& i : *list)
        if (i.axis == axis && i.stride.factor() > 0)
          last += i.stride.factor() * (i.extent.factor() - 1);
    size = std::max(size, last + 1);
  }
  return size;
}

// Elements without a place have a meaning and are surely a mistake.
void check_covered(const Layout& layout, const std::string& text) {
  if (const auto ok = check_covers(layout); !ok)
    throw Error(fmt::format("{}: {}", shortened(text, 60), ok.reason()));
}

// An axis whose size nobody gave, cut twice the same way: as two parts of it, or by mistake?
void check_used_once(const Layout& layout, AxisId axis, const AxisRegistry& axes) {
  std::vector<Iter> uses;
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list)
      if (i.axis == axis) uses.push_back(i);
  for (std::size_t i = 0; i < uses.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (uses[i].extent == uses[j].extent)
        throw Error(fmt::format(
            "axis {0} is used twice with {1} positions: one axis does one thing at a time; use two "
            "axes, or give --mesh {0}=SIZE if these are parts of it",
            axes[axis].name, uses[i].extent.factor()));
}

}  // namespace

void add_layout_options(CLI::App& command, LayoutOptions& options) {
  command.add_option("--mesh", options.mesh, "Axes of the devices and their sizes: node=2,gpu=8");
  command.add_option("--bind", options.bindings, "Numbers for symbolic sizes: n=16,m=4")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_report_options(command, options.report);
}

Layout LayoutWorld::read(const std::string& text) {
  const auto bound = bind_sizes(parse_layout(text, axes).value(), sizes);
  if (!bound)
    throw Error(fmt::format("{}: {}", shortened(text, 60), with_names(bound.reason(), axes)));
  check_covered(*bound, text);
  return *bound;
}

void add_kernel_axes(LayoutWorld& world, const LayoutOptions& options,
                     const std::vector<Layout>& layouts) {
  for (const Layout& layout : layouts)
    if (!layout.concrete()) return;  // how far it reaches is open
  std::string mesh = options.mesh;
  if (mesh.empty() && !world.mesh.axes().empty()) mesh = world.mesh.str();
  std::string added;
  for (const AxisId axis : world.axes.ids()) {
    const std::int64_t size = reach(layouts, axis);
    if (world.axes[axis].kind != AxisKind::kernel || size == 1 || world.mesh.find(axis) != nullptr)
      continue;
    const std::string& name = world.axes[axis].name;
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : ",", name, size);
    added += (added.empty() ? "" : ",") + name;
  }
  if (added.empty()) return;
  world.mesh = Mesh::parse(mesh, world.axes).value();
  if (!options.mesh.empty()) world.inferred_axes = added;
  world.inferred = true;
}

LayoutWorld make_world(const LayoutOptions& options, const std::vector<std::string>& texts) {
  LayoutWorld world{AxisRegistry::standard(), {}, false, {}, {}};
  world.mesh = Mesh::parse(options.mesh, world.axes).value();
  std::vector<AxisId> added;
  if (options.mesh.empty())
    for (const std::string& text : texts)
      for (const AxisId axis : declare_axes(text, world.axes)) added.push_back(axis);
  std::vector<Layout> layouts;
  for (const std::string& text : texts) layouts.push_back(world.read(text));
  world.sizes = read_bindings(options, world.axes);
  for (Layout& layout : layouts) {
    layout = bind_sizes(layout, world.sizes).value();
    if (!layout.concrete()) return world;  // how far it reaches is open
  }
  if (added.empty()) return world;
  for (const AxisId axis : added)
    for (const Layout& layout : layouts) check_used_once(layout, axis, world.axes);
  std::string mesh;
  for (const AxisId axis : added)
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : ",", world.axes[axis].name,
                        reach(layouts, axis));
  world.mesh = Mesh::parse(mesh, world.axes).value();
  world.inferred = true;
  return world;
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
