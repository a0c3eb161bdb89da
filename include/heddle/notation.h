// Text notation of layouts. docs/layouts.md has the grammar.
//
//   (64:8@gpu, 128)                      64 split 8 ways over gpu, 128 whole; other mesh axes
//   replicate (10{pad=12}:4@gpu) + P[sum tp]       blocks of 3, the last one short; a pending sum
//   over tp [8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp] + 5@warp      every
//   digit in full
#pragma once

#include <string>
#include <string_view>

#include "heddle/layout.h"

namespace heddle {

// Reads either form. New names of sizes become symbols of the registry. A reason shows the place.
Expected<Layout> parse_layout(std::string_view text, AxisRegistry& axes);

// The shortest form that reads back as the same layout with the same registry.
std::string print_layout(const Layout& layout, const AxisRegistry& axes);
// The form with every digit in full.
std::string print_layout_full(const Layout& layout, const AxisRegistry& axes);
std::string print_dim(const Dim& dim, const AxisRegistry& axes);
// The algebra knows no registry: its reasons call unknown sizes $1 and axes @#3. With their names.
std::string with_names(std::string_view reason, const AxisRegistry& axes);

}  // namespace heddle
