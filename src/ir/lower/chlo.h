// How client ops are written in core ops.
#pragma once

#include "heddle/op.h"
#include "ir/rewrite.h"

namespace heddle::chlo {

// By name without dialect; null where there is none.
Lower lowering(std::string_view short_name);

// The families behind it.
Lower function_lowering(std::string_view short_name);    // erf, asinh, …: lower_chlo_functions.cpp
Lower structured_lowering(std::string_view short_name);  // top_k, …: lower_chlo_structured.cpp

}  // namespace heddle::chlo
