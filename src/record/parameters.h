// Parameters of operations on arrays.
#pragma once

#include <string_view>

#include "heddle/attr.h"

namespace heddle::record {

// Whole numbers; an Error where there are none of the name, or no number at all.
const Attr::Integers& integers(const AttrDict& parameters, std::string_view name);

}  // namespace heddle::record
