// What the next run of a function takes from the last one: which results are which arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/parallel.h"
#include "heddle/program.h"

namespace heddle::cli {

inline constexpr std::string_view kCarrySaid = "--carry";

struct CarryPlan {
  std::vector<Carried> pairs;  // by argument
  std::string because;         // "--carry", "names", ...: how it was found
  std::string suggestion;      // where it was not: what could be meant
  std::string text() const;    // "arg0-85 = result1-86"
  bool takes(std::size_t argument) const;
  bool gives(std::size_t result) const;
};

// As --carry says: "arg0-85=result1-86", "arg3=result0,arg4=result2"; without a word, or with
// "evident", what is. Throws what is wrong; where nothing is evident, only if it is `needed`.
CarryPlan carry_of(const Program& program, const Function& function,
                   const std::vector<std::string>& said, bool needed);

// Throws what is wrong.
CarryPlan parse_carry(const Program& program, const Function& function,
                      const std::vector<std::string>& said);

// Where names or the order of types make it evident; no pairs where they do not, and then `because`
// says what stands against it.
CarryPlan evident_carry(const Program& program, const Function& function);

}  // namespace heddle::cli
