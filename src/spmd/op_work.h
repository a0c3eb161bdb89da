// How much work an op is, without the figures of any device: what a first guess needs.
#pragma once

#include "heddle/program.h"

namespace heddle {

double work_of(const Program& program, const Op& op);

}  // namespace heddle
