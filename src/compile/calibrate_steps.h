// Measures what steps of compiled programs take on devices of this machine: short programs whose
// steps are counted as those of any program are, so that the figures give back what was measured.
#pragma once

#include <span>

#include "compile/trial.h"
#include "heddle/machine.h"
#include "heddle/step_work.h"

namespace heddle {

// `sharers` devices share the machine; `memory_rate` is what a device gets of it.
Expected<StepFigures> measure_steps(const TrialPlace& place, const MachineFigures& machine,
                                    std::int64_t sharers, double memory_rate);

// Products that were timed, each by one worker; for tests.
struct TimedProduct {
  ProductWork product;
  double seconds = 0;
};
// Sets what a call of a product takes, and the rates of laying out and of multiplying, so that the
// relative errors are least; none of them is negative.
void fit_products(std::span<const TimedProduct> timed, StepFigures& figures);

}  // namespace heddle
