// Which function calls which.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/program.h"

namespace heddle {

// The attribute that names the function of a func.call or stablehlo.composite; empty for other ops.
std::string_view callee_key(const Op& op);

// "@f -> @g -> @h"; of a long chain only the ends, and how many lie between.
std::string chain_text(const std::vector<const Function*>& chain);

class CallGraph {
 public:
  explicit CallGraph(const Program& program);

  // The function that a call or composite names; null for other ops and for unknown names.
  const Function* callee(const Op& op) const;
  // A reason, at the call that closes it, where functions call one another in a circle.
  Verdict without_circles() const;

 private:
  struct Call {
    OpId op;
    const Function* to;
  };
  void collect(RegionId region, std::vector<Call>& calls) const;

  const Program& program_;
  std::unordered_map<std::string_view, const Function*> by_name_;
  std::unordered_map<const Function*, std::vector<Call>> calls_;
};

}  // namespace heddle
