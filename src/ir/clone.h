// Copies ops and regions from one program into another, or within one.
#pragma once

#include <unordered_map>

#include "heddle/program.h"

namespace heddle {

// Which value of the new program stands for a value of the old one.
using ValueMap = std::unordered_map<ValueId, ValueId>;

// A copy of a region. Values from around it must be in `values`; those that it defines are added.
RegionId clone_region(Program& out, const Program& from, RegionId region, ValueMap& values);
// Appends a copy of an op, its regions included.
OpId clone_op(Program& out, RegionId at, const Program& from, const Op& op, ValueMap& values);

// The attributes that a copy has: those of the op, and for one that draws random numbers the stream
// that it draws them from, kStreamAttr.
AttrDict copied_attrs(const Program& from, const Op& op);
// In place of what was there under that name.
void set_attr(AttrDict& attrs, std::string_view name, Attr value);
inline constexpr std::string_view kStreamAttr = "heddle.stream";

}  // namespace heddle
