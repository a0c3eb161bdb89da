#include "kernel/cuda_round.h"

#include <algorithm>

namespace heddle {

std::string cuda_first(const Round& round, std::size_t dim) {
  std::int64_t threads = 1;
  for (std::size_t d = 0; d < round.rank(); ++d)
    for (const Iter& digit : round.digits(d))
      if (digit.axis == kernel_axis(RoundAxis::thread))
        threads = std::max(threads, digit.extent.factor() * digit.stride.factor());
  std::string text;
  std::int64_t inner = 1;
  const Digits& digits = round.digits(dim);
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i].axis == kernel_axis(RoundAxis::vec)) continue;
    const std::int64_t extent = digits[i].extent.factor(), apart = digits[i].stride.factor();
    if (digits[i].axis == kernel_axis(RoundAxis::thread)) {
      std::string value = "(int)threadIdx.x";
      if (apart > 1) value += fmt::format(" / {}", apart);
      if (extent * apart < threads) value += fmt::format(" % {}", extent);
      if (inner > 1) value += fmt::format(" * {}", inner);
      text = text.empty() ? value : value + " + " + text;
    }
    inner *= extent;
  }
  return text.empty() ? "0" : text;
}

}  // namespace heddle
