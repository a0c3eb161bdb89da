// What CUDA text of a thread's place is for one thread: "(int)threadIdx.x / 8 % 4 * 2 + ...".
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

namespace heddle::examples {

inline std::int64_t computed(const std::string& text, std::int64_t thread) {
  std::int64_t sum = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(" + ", at), text.size());
    std::istringstream words(text.substr(at, end - at));
    std::string word;
    words >> word;
    std::int64_t value = word == "(int)threadIdx.x" ? thread : std::stoll(word);
    for (std::int64_t number = 0; words >> word >> number;)
      value = word == "/" ? value / number : word == "%" ? value % number : value * number;
    sum += value;
    at = end + 3;
  }
  return sum;
}

}  // namespace heddle::examples
