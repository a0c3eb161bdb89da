// Results of a run in files.
#pragma once

#include <string>
#include <vector>

#include "heddle/array.h"

namespace heddle {

// out.0.npy, … in a folder, or all in one file where `target` ends in .safetensors. A folder that
// is missing is made, where the folder around it is there. Says what was written.
Expected<std::string> write_results(const std::string& target, const std::vector<Array>& results);
// What would keep write_results from writing, so that no long run is lost; the second one where the
// types of the results are known.
Verdict check_output(const std::string& target);
Verdict check_output(const std::string& target, const std::vector<Type>& types);

// out.0, out.1, ... of a .safetensors file: what results of these types are compared with. A reason
// where one is missing, too many, or of another type.
Expected<std::vector<Array>> recorded_results(const std::string& file,
                                              const std::vector<Type>& types,
                                              const std::string& function);

}  // namespace heddle
