#include "parallel/data_arguments.h"

#include <algorithm>

namespace heddle {

bool is_random_key(const Type& type) {
  return type.is_tensor() && type.dtype == DType::ui32 && type.rank() == 1 &&
         (type.shape[0] == 2 || type.shape[0] == 4);
}

std::vector<std::size_t> data_arguments(const Program& program, const Function& function) {
  const std::vector<ValueId>& arguments = program.region(function.body).args;
  std::vector<std::size_t> state, data, indices;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = program.type_of(arguments[i]);
    if (!type.is_tensor() || type.rank() == 0 || is_random_key(type)) continue;
    const bool is_state =
        std::ranges::any_of(function.results, [&](TypeId t) { return program.type(t) == type; });
    (is_state ? state : data).push_back(i);
    if (!is_float(type.dtype)) indices.push_back(i);
  }
  if (state.empty()) return indices.size() < data.size() ? indices : std::vector<std::size_t>{};
  return data;
}

}  // namespace heddle
