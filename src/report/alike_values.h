// Arguments or results of a plan that lie alike, as one.
#pragma once

#include "heddle/plan_report.h"

namespace heddle::report {

struct AlikeValues {
  std::vector<std::size_t> numbers;  // which of the values
  std::string name;  // of all of them: "params['blocks'][*]['up']", or of the first one
};

// Values of one type, layout and stages, in the order of the first ones; where names differ in more
// than the numbers in them, values are apart.
std::vector<AlikeValues> alike_values(const std::vector<PlannedFunction::Value>& values);

}  // namespace heddle::report
