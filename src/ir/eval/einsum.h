// The equation of einsum and unary_einsum.
#pragma once

#include <string>
#include <vector>

#include "heddle/op.h"

namespace heddle {

// "ab,bc->ac"; without a comma for one operand.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

Expected<Equation> read_equation(const Program& program, const Op& op);

}  // namespace heddle
