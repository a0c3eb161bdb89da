// What was found for a cost-function network.
#include "base/json.h"
#include "base/text.h"
#include "heddle/solve_report.h"
#include "report/words.h"

namespace heddle {

std::string SolveReport::text(const Style& style) const {
  std::string text = fmt::format("{} {}", style.bold("cost"), solution.cost);
  text += solution.is_optimal()
              ? ", which is the least\n"
              : fmt::format(", at least {} (gap {:.2f} %)\n", solution.bound, 100 * solution.gap());
  if (limit != CostNetwork::kNoLimit)
    text +=
        fmt::format("takes {} of {} at most, found in {}\n", peak, limit, format_seconds(seconds));
  else
    text += fmt::format("found in {}\n", format_seconds(seconds));
  return text + fmt::format("[{}]\n", fmt::join(solution.values, ","));
}

std::string SolveReport::json() const {
  const Json report = {{"cost", solution.cost},
                       {"bound", solution.bound},
                       {"gap", solution.gap()},
                       {"optimal", solution.is_optimal()},
                       {"peak", peak},
                       {"seconds", seconds},
                       {"solution", solution.values}};
  return print_json(report) + "\n";
}

}  // namespace heddle
