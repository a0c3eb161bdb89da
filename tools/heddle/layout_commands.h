// What `heddle layout show` and `heddle layout plan` share.
#pragma once

#include <CLI/CLI.hpp>

#include "layout/world.h"
#include "terminal.h"

namespace heddle::cli {

void add_layout_show(CLI::App& layout);
void add_layout_plan(CLI::App& layout);

// --mesh, --bind, --json, --plain
struct LayoutOptions {
  ReportOptions report;
  WorldText said;
};
void add_layout_options(CLI::App& command, LayoutOptions& options);

// The value, or what is wrong with --bind, thrown.
template <typename T>
T layout_value(Expected<T> expected) {
  if (expected) return *std::move(expected);
  throw Error((expected.reason().starts_with("bind") ? "--" : "") + expected.reason());
}

}  // namespace heddle::cli
