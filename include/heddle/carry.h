// What the next run of a function takes from the last one: which results are which arguments.
#pragma once

#include <string>
#include <vector>

#include "heddle/parallel.h"
#include "heddle/program.h"

namespace heddle {

struct CarryPlan {
  std::vector<Carried> pairs;  // by argument
  bool said = false;           // by somebody, not found
  std::string because;         // "names", ...: how it was found; or what stands against it
  std::string suggestion;      // where it was not found: what could be meant
  std::string text() const;    // "arg0-85=result1-86"
  bool takes(std::size_t argument) const;
  bool gives(std::size_t result) const;
};

// "arg0-85=result1-86", "arg3=result0,arg4=result2"; or by names, params['w']=result[1]['w'], and
// params=result[1] for all that is in it.
Expected<CarryPlan> parse_carry(const Program& program, const Function& function,
                                const std::vector<std::string>& said);

// Where names or the order of types make it evident; no pairs where they do not, and then `because`
// says what stands against it.
CarryPlan evident_carry(const Program& program, const Function& function);

// As said; without a word, or with "evident", what is. Where nothing is evident, that is a reason
// only if it is `needed`.
Expected<CarryPlan> find_carry(const Program& program, const Function& function,
                               const std::vector<std::string>& said, bool needed = true);

}  // namespace heddle
