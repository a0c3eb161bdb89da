// Custom calls whose function lives in the program around Heddle, such as those of
// jax.pure_callback: who runs a program says what they do.
#pragma once

#include <functional>
#include <span>

#include "heddle/array.h"
#include "heddle/program.h"

namespace heddle {

struct HostCall {
  const Program& program;
  const Op& op;                     // stablehlo.custom_call
  std::span<const Array> operands;  // a token is an empty array
};
// Gives the results, an empty array for a token. May be called from several threads at once.
using HostCaller = std::function<Expected<std::vector<Array>>(const HostCall&)>;

}  // namespace heddle
