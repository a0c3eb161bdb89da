// A layout in words and as a picture; and the moves from one layout to another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/dtype.h"
#include "heddle/layout.h"
#include "heddle/layout_world.h"
#include "heddle/plan.h"
#include "heddle/style.h"

namespace heddle {

struct LayoutReport {
  LayoutWorld world;
  Layout layout;
  DType type = DType::f32;        // that bytes are counted for
  std::vector<AxisId> axes = {};  // whose positions are drawn; empty: all that hold something
  std::string notation = {};      // the layout as text
  std::string drawn_in = {};      // a file with svg(), for the other reports to name

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
  // A whole SVG file.
  std::string svg() const;
};

// "(64:8@gpu, 128)" on a mesh that is said, or that the layout itself names.
Expected<LayoutReport> layout_report(const std::string& layout, const WorldText& said = {},
                                     DType type = DType::f32,
                                     const std::vector<std::string>& axes = {});

struct MovesReport {
  LayoutWorld world;
  Plan plan;
  bool checked = false;

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
  // Executes the plan on tagged elements. A reason where it is too large for that.
  Verdict check();
};

// The cheapest moves that are found, with at most so many bytes on a device.
Expected<MovesReport> moves_report(const std::string& source, const std::string& target,
                                   const WorldText& said = {}, DType type = DType::f32,
                                   std::optional<std::int64_t> memory = {});

}  // namespace heddle
