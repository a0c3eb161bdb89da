// Programs as HLO can say them.
#pragma once

#include "heddle/program.h"

namespace heddle::pjrt {

// Ops of Heddle's own, as LAPACK's routines, become custom calls, which HLO has a word for.
Expected<Program> in_hlo_words(const Program& program);

}  // namespace heddle::pjrt
