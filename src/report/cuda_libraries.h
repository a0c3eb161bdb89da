// What a GPU's programs are compiled and computed with, for `heddle doctor`.
#pragma once

#include "heddle/machine_report.h"

namespace heddle::report {

// Looked for apart from us, as all that touches drivers.
std::vector<DoctorReport::Library> cuda_libraries();
std::string libraries_text(const std::vector<DoctorReport::Library>& libraries, const Style& style);

}  // namespace heddle::report
