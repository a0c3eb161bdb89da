// Laws of the text notation: what is printed reads back as the same layout.
#include <gtest/gtest.h>

#include "heddle/notation.h"
#include "symbolic.h"

namespace heddle::property {
namespace {

void require_reads_back(const Layout& layout, const AxisRegistry& axes) {
  for (const bool full : {false, true}) {
    const std::string text = full ? print_layout_full(layout, axes) : print_layout(layout, axes);
    AxisRegistry scratch = axes;
    const auto again = parse_layout(text, scratch);
    require(again && *again == layout, [&] { return text + show(layout) + show(again); });
    require(scratch.size() == axes.size(), [&] { return "an axis appeared: " + text; });
    const std::string twice = full ? print_layout_full(*again, axes) : print_layout(*again, axes);
    require(twice == text, [&] { return text + "\n" + twice; });
  }
}

HEDDLE_LAW_REFUSING(Notation, ReadsBackWhatItPrints, 0.1) {
  LayoutParts parts = random_parts(choices, {});
  if (choices.one_in(4))
    for (DimInfo& dim : parts.dims) {
      dim.halo_lo = choices.below(3);
      dim.halo_hi = choices.below(3);
    }
  const auto layout = Layout::make(parts);
  if (!layout) leave_out();
  require_reads_back(*layout, world().axes);
}

// Without a mesh nothing is replicated by default.
HEDDLE_LAW_REFUSING(Notation, ReadsBackWithoutAMesh, 0.1) {
  static const AxisRegistry bare = AxisRegistry::standard();
  LayoutParts parts = random_parts(choices, {});
  auto move_off_the_mesh = [](AxisId& axis) {
    if (axis != kNoAxis && world().axes[axis].kind == AxisKind::mesh) axis = world().warp;
  };
  for (auto* list : {&parts.digits, &parts.replicas, &parts.partials})
    for (Iter& i : *list) move_off_the_mesh(i.axis);
  for (AxisOffset& o : parts.offset) move_off_the_mesh(o.axis);
  const auto layout = Layout::make(parts);
  if (!layout) leave_out();
  require_reads_back(*layout, bare);
}

// Digits packed as the notation fills them in, so that the short form is what gets printed.
HEDDLE_LAW_REFUSING(Notation, ReadsBackShardings, 0.05) {
  const World& w = world();
  LayoutParts parts;
  std::vector<AxisId> left = {w.gpu, w.tp, w.node, w.warp};
  choices.shuffle(left);
  for (std::int64_t rank = choices.below(4); rank > 0; --rank) {
    std::int64_t extent = 1;
    DimInfo dim;
    for (std::int64_t n = choices.below(3); n > 0 && !left.empty(); --n) {
      const std::int64_t size =
          choices.one_in(2) ? 2 : std::max<std::int64_t>(w.axes[left.back()].size, 2);
      parts.digits.push_back({size, 1, left.back()});
      if (!choices.one_in(4)) left.pop_back();
      extent *= size;
    }
    parts.digits.push_back({choices.between(1, 5), 1, w.mem});
    extent *= number(parts.digits.back().extent);
    dim.size = dim.padded = extent;
    if (choices.one_in(4)) dim.size = choices.between(1, extent);
    if (choices.one_in(4)) dim.halo_lo = dim.halo_hi = choices.below(3);
    if (choices.one_in(6)) dim.origin = choices.between(-3, 3);
    parts.dims.push_back(dim);
  }
  for (const AxisId axis : left) {
    const std::int64_t size = std::max<std::int64_t>(w.axes[axis].size, 1);
    if (choices.one_in(3))
      parts.replicas.push_back({size, 1, axis});
    else if (choices.one_in(3))
      parts.partials.push_back({size, 1, axis});
    else if (choices.one_in(3))
      parts.offset.push_back({axis, choices.below(size)});
  }
  // Left to right, slowest to fastest; a halo makes its run wider and starts after it.
  std::map<AxisId, std::int64_t> room;
  for (auto* list : {&parts.partials, &parts.replicas, &parts.digits})
    for (std::size_t i = list->size(); i-- > 0;) {
      Iter& iter = (*list)[i];
      std::int64_t& next = room.emplace(iter.axis, 1).first->second;
      iter.stride = next;
      next *= number(iter.extent);
    }
  const auto layout = Layout::make(parts);
  if (!layout) leave_out();
  require_reads_back(*layout, w.axes);
}

HEDDLE_LAW_REFUSING(Notation, ReadsBackUnknownSizes, 0.2) {
  const Layout layout = random_symbolic(choices, static_cast<int>(choices.below(4)));
  require_reads_back(layout, world().axes);
}

// The names of sizes are told to a registry that has never heard of them.
HEDDLE_LAW_REFUSING(Notation, NewNamesOfSizesAreLearnt, 0.2) {
  const Layout layout = random_symbolic(choices, static_cast<int>(choices.below(4)));
  AxisRegistry fresh = AxisRegistry::standard();
  (void)Mesh::parse("node=2,gpu=4,tp=3", fresh).value();
  const std::string text = print_layout(layout, world().axes);
  const auto again = parse_layout(text, fresh);
  require(again && again->concrete() == layout.concrete(), [&] { return text + show(again); });
  // Both mean the same once n and m are numbers.
  const Values values = random_values(choices);
  Values fresh_values;
  for (const auto& [symbol, value] : values)
    fresh_values[fresh.symbol(world().axes.symbol_name(symbol))] = value;
  const auto here = bind_sizes(layout, values);
  const auto there = bind_sizes(*again, fresh_values);
  require(here.ok() == there.ok() && (!here || *here == *there),
          [&] { return text + show(here) + show(there); });
}

// Any text at all: an answer, never an exception, and a reason that shows a place.
HEDDLE_LAW(Notation, AnswersAnyText) {
  static const std::vector<std::string> pieces = {"(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  ",",
                                                  ":",
                                                  "@",
                                                  "+",
                                                  "-",
                                                  "S[",
                                                  "R[",
                                                  "P[",
                                                  "Z[",
                                                  "gpu",
                                                  "mem",
                                                  "tp",
                                                  "lane",
                                                  "n",
                                                  "8",
                                                  "2",
                                                  "0",
                                                  "-1",
                                                  "pad=",
                                                  "halo=",
                                                  "origin=",
                                                  "sum ",
                                                  "max ",
                                                  "*",
                                                  " ",
                                                  "4@gpu",
                                                  "64:8@gpu",
                                                  "3,3,3",
                                                  "(2:1@gpu)",
                                                  "9223372036854775807",
                                                  "4611686018427387904",
                                                  "é",
                                                  "warp",
                                                  "16*n",
                                                  ".",
                                                  "="};
  std::string text = choices.one_in(2) ? "(" : choices.one_in(2) ? "[8] S[(8):(1)]" : "";
  for (std::int64_t n = choices.below(14); n > 0; --n) text += choices.pick(pieces);
  AxisRegistry scratch = world().axes;
  const auto layout = parse_layout(text, scratch);
  if (layout) {
    require_reads_back(*layout, scratch);
    (void)validate(*layout, scratch);
  } else {
    require(layout.reason().find("column") != std::string::npos &&
                layout.reason().find('^') != std::string::npos,
            [&] { return text + "\n" + layout.reason(); });
  }
}

}  // namespace
}  // namespace heddle::property
