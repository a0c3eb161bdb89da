// What one element of an op costs, in instructions by class; loads and stores are the kernel's.
#pragma once

#include "heddle/machine.h"
#include "heddle/program.h"

namespace heddle {

struct Instructions {
  double light = 0;  // additions, products, comparisons, index arithmetic, guards
  double heavy = 0;  // in exponentials

  double seconds(const MachineFigures& machine) const {
    return light / machine.light_rate + heavy / machine.heavy_rate;
  }
};

Instructions instructions_of(const Program& program, const Op& op);

}  // namespace heddle
