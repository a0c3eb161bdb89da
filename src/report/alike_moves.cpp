#include "report/alike_moves.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle::report {

std::vector<AlikeMoves> alike_moves(const std::vector<PlannedFunction::Moved>& moved) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                         std::int64_t, int, int>;
  std::map<Key, AlikeMoves> alike;
  for (const PlannedFunction::Moved& m : moved) {
    const std::string_view needed_by(m.needed_by);
    AlikeMoves& one = alike[{m.kind, m.over, m.value, needed_by.substr(0, needed_by.find(" at ")),
                             m.bytes, m.loops, m.stage}];
    if (one.first == nullptr) one.first = &m;
    one.count += static_cast<std::size_t>(m.times);
    one.seconds += static_cast<double>(m.times) * m.seconds;
  }
  std::vector<AlikeMoves> all;
  for (const auto& [key, one] : alike) all.push_back(one);
  std::ranges::stable_sort(all, std::ranges::greater(), &AlikeMoves::seconds);
  return all;
}

}  // namespace heddle::report
