// A mesh with its axes, and layouts and plans on it from text.
#pragma once

#include "heddle/notation.h"
#include "heddle/plan.h"

namespace heddle {

struct World {
  AxisRegistry axes = AxisRegistry::standard();
  Mesh mesh;
  explicit World(const char* text) : mesh(Mesh::parse(text, axes).value()) {}
  Layout layout(std::string_view text) { return parse_layout(text, axes).value(); }
  Plan plan(std::string_view from, std::string_view to, const PlanOptions& options = {}) {
    return plan_redistribution(layout(from), layout(to), mesh, axes, options).value();
  }
};

}  // namespace heddle
